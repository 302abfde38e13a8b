/* Nothing is allocated once a loop runs: neither from the context's allocator nor, by anybody in
 * the process, from the C library. */
#include "api/session.h"

#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>

#include "support/allocator.h"

/* ---- every allocation of the process is counted, where no sanitizer has its own functions ---- */

static atomic_size_t taken;

#if defined __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||                         \
    __has_feature(memory_sanitizer)
#define SANITIZED 1
#endif
#endif
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__ || !defined __GLIBC__
#define SANITIZED 1
#endif

#ifndef SANITIZED
extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t count, size_t bytes);
extern void *__libc_realloc(void *block, size_t bytes);
extern void *__libc_memalign(size_t alignment, size_t bytes);

void *malloc(size_t bytes) {
  atomic_fetch_add(&taken, 1);
  return __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes) {
  atomic_fetch_add(&taken, 1);
  return __libc_calloc(count, bytes);
}

void *realloc(void *block, size_t bytes) {
  atomic_fetch_add(&taken, 1);
  return __libc_realloc(block, bytes);
}

void *memalign(size_t alignment, size_t bytes) {
  atomic_fetch_add(&taken, 1);
  return __libc_memalign(alignment, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes) { return memalign(alignment, bytes); }

int posix_memalign(void **block, size_t alignment, size_t bytes) {
  *block = memalign(alignment, bytes);
  return *block ? 0 : ENOMEM;
}
#endif

/* ---- loops ---- */

static session counted_with(tpti_test_allocator *a, int32_t threads, const char *settings) {
  tpt_context *context;
  tpti_test_allocator_init(a);
  ok(tpt_context_create(&context));
  ok(tpt_context_set_threads(context, threads));
  ok(tpt_context_set_allocator(context, &a->allocator));
  return start_in(context, settings);
}

static session counted(tpti_test_allocator *a, int32_t threads) {
  return counted_with(a, threads, "");
}

typedef struct tally {
  size_t process, context, live;
} tally;

/* The process comes last here and first below: Check's own assertions allocate. */
static tally now(tpti_test_allocator *a) {
  tally t = {.live = tpti_test_allocator_live(a), .context = atomic_load(&a->total)};
  t.process = atomic_load(&taken);
  return t;
}

static void nothing_since(const tally *before, tpti_test_allocator *a) {
  size_t process = atomic_load(&taken) - before->process;
  tally after = now(a);
  ck_assert_msg(after.context == before->context, "%zu from the context's allocator",
                after.context - before->context);
  ck_assert_msg(process == 0, "%zu in the process", process);
  ck_assert_uint_eq(after.live, before->live);
}

START_TEST(the_counter_counts) {
#ifndef SANITIZED
  size_t before = atomic_load(&taken);
  void *volatile block = malloc(10);
  ok(TPT_OK);
  size_t seen = atomic_load(&taken) - before;
  ck_assert_uint_le(seen, 1); /* 0 under valgrind, whose malloc is its own */
  free(block);
#endif
}
END_TEST

/* The first step warms the pool's workers and the products' buffers. */
START_TEST(training) {
  static const char *const settings[] = {"", "train.precision=bf16x3", "train.precision=bf16"};
  tpti_test_allocator a;
  session s = counted_with(&a, 1 + _i, settings[_i]);
  for (uint64_t i = 0; i < 2; i++) train_step(&s, i);
  tally before = now(&a);
  for (uint64_t i = 0; i < 20; i++) train_step(&s, i);
  nothing_since(&before, &a);
  end(&s);
}
END_TEST

START_TEST(training_in_three_calls) {
  tpti_test_allocator a;
  session s = counted(&a, 2);
  tally before = {0};
  for (int i = 0; i < 5; i++) {
    const float *logits, *values;
    size_t count;
    double loss, measure[N * N];
    ok(tpt_trainer_forward(s.trainer, s.tokens, BATCH, MOST));
    ok(tpt_trainer_logits(s.trainer, &logits));
    ok(tpt_trainer_loss(s.trainer, s.targets, &loss));
    ok(tpt_trainer_backward(s.trainer));
    ok(tpt_optimizer_step(s.optimizer, NULL));
    ok(tpt_trainer_activation(s.trainer, TPT_POINT_BLOCK, 1, &values, &count));
    ok(tpt_geometry_phase_cosine(s.trainer, TPT_POINT_BLOCK, 1, measure, N * N));
    if (i == 1) before = now(&a);
  }
  nothing_since(&before, &a);
  end(&s);
}
END_TEST

START_TEST(decoding) {
  tpti_test_allocator a;
  session s = counted(&a, 1 + _i);
  tpt_decoder *decoder;
  tally before = {0};
  ok(tpt_decoder_create(s.model, 0, &decoder));
  ok(tpt_decoder_set_sampling(decoder, 1, 5, 0.9, 1));
  for (int i = 0; i < 34; i++) {
    int32_t token;
    size_t position;
    double score[2];
    if (i % 8 == 0) ok(tpt_decoder_rewind(decoder, 0));
    if (i % 8 == 0) ok(tpt_decoder_feed(decoder, s.tokens, 3, NULL));
    ok(tpt_decoder_sample(decoder, &token));
    ok(tpt_decoder_feed(decoder, &token, 1, NULL));
    ok(tpt_decoder_position(decoder, &position));
    if (i % 8 == 0) ok(tpt_decoder_score(decoder, s.tokens, 2, score));
    if (i % 8 == 4) ok(tpt_decoder_generate(decoder, -1, &token, 1, &position));
    if (i == 3) before = now(&a);
  }
  nothing_since(&before, &a);
  tpt_decoder_destroy(decoder);
  end(&s);
}
END_TEST

START_TEST(decoding_many) {
  tpti_test_allocator a;
  session s = counted(&a, 2);
  tpt_decoder *many[20];
  tally before = {0};
  for (int i = 0; i < 20; i++) ok(tpt_decoder_create(s.model, 0, &many[i]));
  for (int i = 0; i < 16; i++) {
    const float *logits[20];
    ok(tpt_decoder_feed_many(many, 20, s.tokens, logits));
    if (i == 1) before = now(&a);
  }
  for (int i = 1; i < 20; i++) ok(tpt_decoder_copy(many[0], many[i]));
  nothing_since(&before, &a);
  for (int i = 0; i < 20; i++) tpt_decoder_destroy(many[i]);
  end(&s);
}
END_TEST

/* Failing costs nothing either: an error's text goes to fixed places. */
START_TEST(failing) {
  tpti_test_allocator a;
  session s = counted(&a, 2);
  train_step(&s, 1);
  tally before = now(&a);
  int failed = 0;
  for (int i = 0; i < 5; i++) {
    char text[200];
    size_t length;
    failed += tpt_trainer_forward(s.trainer, s.tokens, 99, 99) == TPT_E_ARGUMENT;
    ok(tpt_error_of(s.trainer, text, sizeof text, &length));
    failed += tpt_optimizer_set_lr(s.optimizer, -1) == TPT_E_ARGUMENT;
    failed += tpt_model_get_tensor(s.model, "none", NULL, 0) == TPT_E_ARGUMENT;
  }
  nothing_since(&before, &a);
  ck_assert_int_eq(failed, 15);
  end(&s);
}
END_TEST

static Suite *suite(void) {
  Suite *suite = suite_create("api/steady");
  TCase *tests = tcase_create("steady");
  tcase_add_test(tests, the_counter_counts);
  tcase_add_loop_test(tests, training, 0, 3);
  tcase_add_test(tests, training_in_three_calls);
  tcase_add_loop_test(tests, decoding, 0, 3);
  tcase_add_test(tests, decoding_many);
  tcase_add_test(tests, failing);
  suite_add_tcase(suite, tests);
  return suite;
}

int main(void) { return tpti_test_main(suite()); }
