/* What loading takes while it works and holds afterwards, by a counting allocator; and that saving
 * never touches a file that somebody still reads. */
#include "api/session.h"

#include <sys/mman.h>
#include <unistd.h>

#include "support/allocator.h"

/* Some 5 MB of weights, so that a second copy of them cannot hide. */
#define WIDE "model.vocab_size=3000; model.d_model=192; model.d_ff=384"

static char folder[64], path[96];

static void make_folder(void) {
  strcpy(folder, "/tmp/3pt-test-XXXXXX");
  ck_assert_ptr_nonnull(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/file", folder);
}

static void remove_folder(void) {
  remove(path);
  rmdir(folder);
}

static session counted(tpti_test_allocator *a) {
  tpt_context *context;
  tpti_test_allocator_init(a);
  ok(tpt_context_create(&context));
  ok(tpt_context_set_threads(context, 2));
  ok(tpt_context_set_allocator(context, &a->allocator));
  return start_in(context, WIDE);
}

/* The most that a call had beyond what was there. */
static size_t peak_over(tpti_test_allocator *a, size_t live) {
  size_t peak = atomic_load(&a->peak);
  return peak > live ? peak - live : 0;
}

static void from_here(tpti_test_allocator *a) {
  atomic_store(&a->peak, tpti_test_allocator_live(a));
}

/* A loaded model is as large as a made one, and was never larger by more than a buffer. */
START_TEST(a_model_is_read_into_its_place) {
  tpti_test_allocator a;
  session s = counted(&a);
  tpt_model *made, *loaded;
  ok(tpt_model_save(s.model, path));
  size_t before = tpti_test_allocator_live(&a);
  ok(tpt_model_create(s.context, s.config, 1, &made));
  size_t size = tpti_test_allocator_live(&a) - before;
  tpt_model_destroy(made);
  for (int i = 0; i < 2; i++) {
    from_here(&a);
    ok(tpt_model_load(s.context, path, i ? s.config : NULL, &loaded));
    ck_assert_uint_eq(tpti_test_allocator_live(&a) - before, size);
    ck_assert_uint_lt(peak_over(&a, before), size + (1 << 20));
    tpt_model_destroy(loaded);
    ck_assert_uint_eq(tpti_test_allocator_live(&a), before);
  }
  end(&s);
}
END_TEST

/* A checkpoint is read beside the handles, all or nothing, and nothing of that is kept. */
START_TEST(a_checkpoint_leaves_nothing_behind) {
  tpti_test_allocator a;
  session s = counted(&a);
  size_t weights, length;
  train_step(&s, 1);
  ok(tpt_config_parameter_count(s.config, &weights));
  ok(tpt_checkpoint_save(s.trainer, s.optimizer, path, "place", 5));
  size_t before = tpti_test_allocator_live(&a);
  for (int i = 0; i < 3; i++) {
    char bytes[8];
    from_here(&a);
    ok(tpt_checkpoint_load(s.trainer, s.optimizer, path, bytes, sizeof bytes, &length));
    ck_assert_uint_eq(tpti_test_allocator_live(&a), before);
    ck_assert_uint_lt(peak_over(&a, before), 3 * sizeof(float) * weights + (1 << 20));
  }
  end(&s);
}
END_TEST

/* Another process may have the old file mapped: its bytes stay what they were. */
START_TEST(a_mapped_file_keeps_its_bytes) {
  session s = start("");
  size_t length;
  ok(tpt_model_save(s.model, path));
  unsigned char *image = image_of(s.model, &length);
  FILE *file = fopen(path, "rb");
  ck_assert_ptr_nonnull(file);
  unsigned char *old = mmap(NULL, length, PROT_READ, MAP_SHARED, fileno(file), 0);
  fclose(file);
  ck_assert(old != MAP_FAILED && memcmp(old, image, length) == 0);
  train_step(&s, 1);
  ok(tpt_model_save(s.model, path));
  ok(tpt_checkpoint_save(s.trainer, s.optimizer, path, NULL, 0));
  ck_assert_int_eq(memcmp(old, image, length), 0);
  munmap(old, length);
  free(image);
  end(&s);
}
END_TEST

static Suite *suite(void) {
  Suite *suite = suite_create("api/load_memory");
  TCase *tests = tcase_create("load_memory");
  tcase_add_checked_fixture(tests, make_folder, remove_folder);
  tcase_add_test(tests, a_model_is_read_into_its_place);
  tcase_add_test(tests, a_checkpoint_leaves_nothing_behind);
  tcase_add_test(tests, a_mapped_file_keeps_its_bytes);
  suite_add_tcase(suite, tests);
  return suite;
}

int main(void) { return tpti_test_main(suite()); }
