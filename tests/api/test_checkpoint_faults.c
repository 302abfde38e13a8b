/* Checkpoints that cannot be loaded or saved: every handle and file stays as it was. */
#include "api/one_file.h"
#include "api/session.h"
#include "support/file.h"

/* Everything that a load might change. */
typedef struct facts {
  unsigned char *image;
  size_t length, count;
  float *gradients;
  double lr;
  uint64_t steps;
} facts;

static facts facts_of(session *s) {
  facts f = {0};
  f.image = image_of(s->model, &f.length);
  f.gradients = copy_gradients(s->trainer, &f.count);
  ok(tpt_optimizer_lr(s->optimizer, &f.lr));
  ok(tpt_optimizer_step_count(s->optimizer, &f.steps));
  return f;
}

static void same_facts(session *s, const facts *want) {
  facts now = facts_of(s);
  ck_assert_uint_eq(now.length, want->length);
  ck_assert(memcmp(now.image, want->image, now.length) == 0);
  ck_assert_uint_eq(tpti_test_first_difference(now.gradients, want->gradients, now.count),
                    now.count);
  ck_assert(now.lr == want->lr && now.steps == want->steps);
  free(now.image);
  free(now.gradients);
}

/* After a failed load: as before, and the moments too, which a further step shows. */
static void refuse_file(session *s, const facts *before, const unsigned char *data, size_t length) {
  unsigned char user[8] = "unmoved";
  size_t size = 77;
  tpti_test_write_file(path, data, length);
  tpt_status status = tpt_checkpoint_load(s->trainer, s->optimizer, path, user, sizeof user, &size);
  ck_assert_msg(status == TPT_E_FORMAT || status == TPT_E_CONFIG, "%zu bytes: %s: %s", length,
                tpt_status_name(status), tpt_error_message());
  ck_assert_str_ne(tpt_error_message(), "");
  ck_assert(size == 77);
  same_facts(s, before);
}

START_TEST(truncated_files) {
  session s = start("");
  size_t length;
  train_step(&s, 1);
  ok(tpt_checkpoint_save(s.trainer, s.optimizer, path, "12345678", 8));
  unsigned char *data = tpti_test_read_file(path, &length);
  session other = start("");
  train_step(&other, 5);
  train_step(&other, 6);
  session twin = start("");
  train_step(&twin, 5);
  train_step(&twin, 6);
  facts before = facts_of(&other);
  for (size_t cut = 0; cut < length; cut += 1 + length / 37)
    refuse_file(&other, &before, data, cut);
  refuse_file(&other, &before, data, length - 1);
  train_step(&other, 7);
  train_step(&twin, 7);
  ck_assert(same_model_bytes(other.model, twin.model));
  free(before.image);
  free(before.gradients);
  free(data);
  end(&twin);
  end(&other);
  end(&s);
}
END_TEST

/* One word of the header spoiled, each time another. */
START_TEST(corrupt_files) {
  static const char *const words[] = {"3pt.step",    "3pt.lr",     "3pt.adamw.m",    "3pt.adamw.v",
                                      "3pt.user",    "3pt.config", "3pt.checkpoint", "head.weight",
                                      "blocks.1.pr", "d_model",    "data_offsets",   "dtype"};
  session s = start("");
  size_t length;
  train_step(&s, 1);
  ok(tpt_checkpoint_save(s.trainer, s.optimizer, path, "12345678", 8));
  unsigned char *data = tpti_test_read_file(path, &length);
  facts before = facts_of(&s);
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    unsigned char *at = memmem(data, length, words[i], strlen(words[i]));
    ck_assert_msg(at != NULL, "%s is not in the file", words[i]);
    at[strlen(words[i]) - 1] ^= 1;
    refuse_file(&s, &before, data, length);
    at[strlen(words[i]) - 1] ^= 1;
  }
  tpti_test_write_file(path, data, length);
  ok(tpt_checkpoint_load(s.trainer, s.optimizer, path, NULL, 0, NULL));
  free(before.image);
  free(before.gradients);
  free(data);
  end(&s);
}
END_TEST

/* The file with `old` in its header become `new`. */
static unsigned char *edited(const unsigned char *data, size_t *length, const char *old,
                             const char *new) {
  uint64_t header;
  memcpy(&header, data, sizeof header);
  const unsigned char *at = memmem(data, *length, old, strlen(old));
  ck_assert_msg(at != NULL, "%s is not in the file", old);
  size_t before = (size_t)(at - data), rest = *length - before - strlen(old);
  unsigned char *to = malloc(*length + strlen(new));
  ck_assert_ptr_nonnull(to);
  memcpy(to, data, before);
  memcpy(to + before, new, strlen(new));
  memcpy(to + before + strlen(new), at + strlen(old), rest);
  header += strlen(new) - strlen(old);
  memcpy(to, &header, sizeof header);
  *length = before + strlen(new) + rest;
  return to;
}

static const struct {
  const char *old, *new, *word; /* word: of the message; NULL: accepted */
} values[] = {
    {"\"3pt.step\":\"1\"", "\"3pt.step\":\"18446744073709551615\"", "3pt.step"},
    {"\"3pt.step\":\"1\"", "\"3pt.step\":\"9007199254740993\"", "2^53"},
    {"\"3pt.step\":\"1\"", "\"3pt.step\":\"9007199254740992\"", NULL},
    {"\"3pt.step\":\"1\"", "\"3pt.step\":\"-1\"", "3pt.step"},
    {"\"3pt.checkpoint\":\"1\"", "\"3pt.checkpoint\":\"2\"", "is version \"2\""},
    {"\"3pt.checkpoint\":\"1\"", "\"3pt.checkpoint\":\"\"", "is version \"\""},
    {"\"3pt.lr\":\".nan\"", "\"3pt.lr\":\"1e300\"", "3pt.lr"},
    {"\"3pt.lr\":\".nan\"", "\"3pt.lr\":\".inf\"", "3pt.lr"},
    {"\"3pt.lr\":\".nan\"", "\"3pt.lr\":\"-0.5\"", "3pt.lr"},
    {"\"3pt.lr\":\".nan\"", "\"3pt.lr\":\"0.5\"", NULL},
};

START_TEST(values_out_of_bounds) {
  session s = start("");
  size_t length;
  train_step(&s, 1);
  ok(tpt_checkpoint_save(s.trainer, s.optimizer, path, NULL, 0));
  unsigned char *data = tpti_test_read_file(path, &length);
  unsigned char *other = edited(data, &length, values[_i].old, values[_i].new);
  facts before = facts_of(&s);
  if (values[_i].word) {
    refuse_file(&s, &before, other, length);
    refused(s.trainer, TPT_E_FORMAT, TPT_E_FORMAT, values[_i].word);
  } else {
    tpti_test_write_file(path, other, length);
    ok(tpt_checkpoint_load(s.trainer, s.optimizer, path, NULL, 0, NULL));
  }
  free(before.image);
  free(before.gradients);
  free(other);
  free(data);
  end(&s);
}
END_TEST

/* A cancelled save leaves the old file; a cancelled load the handles. */
START_TEST(cancelled) {
  session s = start("");
  size_t length, again, size = 77;
  train_step(&s, 1);
  ok(tpt_checkpoint_save(s.trainer, s.optimizer, path, NULL, 0));
  unsigned char *old = tpti_test_read_file(path, &length);
  train_step(&s, 2);
  facts before = facts_of(&s);
  ok(tpt_context_cancel(s.context, 1));
  refused(s.trainer, tpt_checkpoint_save(s.trainer, s.optimizer, path, NULL, 0), TPT_E_CANCELLED,
          "cancel");
  refused(s.trainer, tpt_checkpoint_load(s.trainer, s.optimizer, path, NULL, 0, &size),
          TPT_E_CANCELLED, "cancel");
  ok(tpt_context_cancel(s.context, 0));
  ck_assert_uint_eq(size, 77);
  same_facts(&s, &before);
  unsigned char *now = tpti_test_read_file(path, &again);
  ck_assert(again == length && memcmp(old, now, length) == 0);
  free(before.image);
  free(before.gradients);
  free(old);
  free(now);
  end(&s);
}
END_TEST

/* What differs is said, also where the other model has more tensors than there is room for here. */
START_TEST(another_model) {
  static const char *const others[][2] = {{"model.n_layers=9", "model.n_layers is 2, and 9"},
                                          {"model.n_layers=1", "model.n_layers is 2, and 1"},
                                          {"model.d_ff=24", "model.d_ff is 20, and 24"}};
  session s = start(""), other = start(others[_i][0]);
  tpt_model *model = s.model;
  facts before = facts_of(&s);
  ok(tpt_checkpoint_save(other.trainer, other.optimizer, path, NULL, 0));
  refused(s.trainer, tpt_checkpoint_load(s.trainer, s.optimizer, path, NULL, 0, NULL), TPT_E_CONFIG,
          others[_i][1]);
  same_facts(&s, &before);
  refused(s.context, tpt_model_load(s.context, path, s.config, &model), TPT_E_CONFIG,
          others[_i][1]);
  ck_assert_ptr_null(model);
  free(before.image);
  free(before.gradients);
  end(&other);
  end(&s);
}
END_TEST

START_TEST(places_that_cannot_be) {
  session s = start("");
  refused(s.trainer, tpt_checkpoint_load(s.trainer, s.optimizer, "/tmp/3pt-none/x", NULL, 0, NULL),
          TPT_E_IO, "/tmp/3pt-none/x");
  refused(s.trainer, tpt_checkpoint_save(s.trainer, s.optimizer, "/tmp/3pt-none/x", NULL, 0),
          TPT_E_IO, "/tmp/3pt-none/x");
  ck_assert_int_ne(tpt_checkpoint_save(s.trainer, s.optimizer, "/tmp", NULL, 0), TPT_OK);
  ck_assert_int_ne(tpt_checkpoint_load(s.trainer, s.optimizer, "/tmp", NULL, 0, NULL), TPT_OK);
  ck_assert_int_ne(tpt_checkpoint_save(s.trainer, s.optimizer, "", NULL, 0), TPT_OK);
  end(&s);
}
END_TEST

static Suite *suite(void) {
  Suite *suite = suite_create("api/checkpoint_faults");
  TCase *tests = tcase_create("faults");
  tcase_add_checked_fixture(tests, make_path, remove_path);
  tcase_add_test(tests, truncated_files);
  tcase_add_test(tests, corrupt_files);
  tcase_add_loop_test(tests, values_out_of_bounds, 0, sizeof values / sizeof *values);
  tcase_add_test(tests, cancelled);
  tcase_add_loop_test(tests, another_model, 0, 3);
  tcase_add_test(tests, places_that_cannot_be);
  suite_add_tcase(suite, tests);
  return suite;
}

int main(void) { return tpti_test_main(suite()); }
