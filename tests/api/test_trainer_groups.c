/* Batches larger than what goes through a block at a time (some thousand rows): the sum of their
 * parts, whichever way they are cut. */
#include "session.h"

/* 2,560 rows: groups of 32 and 8 sequences of 64. */
enum { SEQUENCES = 40, SEQ = 64 };

static const char description[] =
    "model: {vocab_size: 50, d_model: 12, n_layers: 2, n_q_heads: 6, n_kv_heads: 3, d_ff: 10,\n"
    "  max_seq_len: 64}\n"
    "train: {batch: 40, aux_coef: 0.1, recompute: none}\n";

typedef struct trained {
  tpt_config *config;
  tpt_model *model;
  tpt_trainer *trainer;
  const float *gradients;
  size_t count;
} trained;

static trained begin_large(tpt_context *context, const char *recompute) {
  trained t;
  float *gradients;
  ok(tpt_config_parse(description, strlen(description), &t.config));
  ok(tpt_config_set(t.config, "train.recompute", recompute));
  ok(tpt_model_create(context, t.config, 3, &t.model));
  ok(tpt_trainer_create(t.model, NULL, &t.trainer));
  ok(tpt_trainer_gradients(t.trainer, &gradients, &t.count));
  t.gradients = gradients;
  return t;
}

static void end_large(trained *t) {
  tpt_trainer_destroy(t->trainer);
  tpt_model_destroy(t->model);
  tpt_config_destroy(t->config);
}

static void tokens_of(int32_t *tokens, int32_t *targets) {
  tpti_test_tokens(tokens, SEQUENCES * SEQ, 50, 1);
  tpti_test_tokens(targets, SEQUENCES * SEQ, 50, 2);
}

START_TEST(a_large_batch_is_the_sum_of_its_parts) {
  static int32_t tokens[SEQUENCES * SEQ], targets[SEQUENCES * SEQ];
  trained whole = begin_large(NULL, "none"), parts = begin_large(NULL, "none");
  double loss, part, sum = 0;
  tokens_of(tokens, targets);
  ok(tpt_trainer_accumulate(whole.trainer, tokens, targets, SEQUENCES, SEQ, &loss));
  for (size_t b = 0; b < SEQUENCES; b += 5) {
    ok(tpt_trainer_accumulate(parts.trainer, tokens + b * SEQ, targets + b * SEQ, 5, SEQ, &part));
    sum += part;
  }
  ck_assert_double_eq_tol(loss, sum / 8, 1e-6 * loss);
  double *want = malloc(parts.count * sizeof *want);
  for (size_t i = 0; i < parts.count; i++) want[i] = (double)parts.gradients[i] / 8;
  tpti_test_near(whole.gradients, want, whole.count, 2e-6);
  free(want);
  end_large(&whole);
  end_large(&parts);
}
END_TEST

START_TEST(recompute_gives_the_same_bits) {
  static int32_t tokens[SEQUENCES * SEQ], targets[SEQUENCES * SEQ];
  trained keep = begin_large(NULL, "none"), again = begin_large(NULL, "block");
  double a, b;
  tokens_of(tokens, targets);
  ok(tpt_trainer_accumulate(keep.trainer, tokens, targets, SEQUENCES, SEQ, &a));
  ok(tpt_trainer_accumulate(again.trainer, tokens, targets, SEQUENCES, SEQ, &b));
  ck_assert(a == b);
  ck_assert_uint_eq(tpti_test_first_difference(keep.gradients, again.gradients, keep.count),
                    keep.count);
  end_large(&keep);
  end_large(&again);
}
END_TEST

START_TEST(one_call_and_three_give_the_same_bits) {
  static int32_t tokens[SEQUENCES * SEQ], targets[SEQUENCES * SEQ];
  trained one = begin_large(NULL, "none"), three = begin_large(NULL, "none");
  double a, b;
  tokens_of(tokens, targets);
  ok(tpt_trainer_accumulate(one.trainer, tokens, targets, SEQUENCES, SEQ, &a));
  ok(tpt_trainer_forward(three.trainer, tokens, SEQUENCES, SEQ));
  ok(tpt_trainer_loss(three.trainer, targets, &b));
  ok(tpt_trainer_backward(three.trainer));
  ck_assert(a == b);
  ck_assert_uint_eq(tpti_test_first_difference(one.gradients, three.gradients, one.count),
                    one.count);
  end_large(&one);
  end_large(&three);
}
END_TEST

START_TEST(threads_do_not_change_bits) {
  static int32_t tokens[SEQUENCES * SEQ], targets[SEQUENCES * SEQ];
  tpt_context *contexts[2];
  trained t[2];
  double loss[2];
  tokens_of(tokens, targets);
  for (int i = 0; i < 2; i++) {
    ok(tpt_context_create(&contexts[i]));
    ok(tpt_context_set_threads(contexts[i], 1 + 2 * i));
    t[i] = begin_large(contexts[i], "none");
    ok(tpt_trainer_accumulate(t[i].trainer, tokens, targets, SEQUENCES, SEQ, &loss[i]));
  }
  ck_assert(loss[0] == loss[1]);
  ck_assert_uint_eq(tpti_test_first_difference(t[0].gradients, t[1].gradients, t[0].count),
                    t[0].count);
  for (int i = 0; i < 2; i++) {
    end_large(&t[i]);
    tpt_context_destroy(contexts[i]);
  }
}
END_TEST

int main(void) {
  Suite *suite = suite_create("api trainer groups");
  TCase *tests = tcase_create("groups");
  tcase_add_test(tests, a_large_batch_is_the_sum_of_its_parts);
  tcase_add_test(tests, recompute_gives_the_same_bits);
  tcase_add_test(tests, one_call_and_three_give_the_same_bits);
  tcase_add_test(tests, threads_do_not_change_bits);
  suite_add_tcase(suite, tests);
  return tpti_test_main(suite);
}
