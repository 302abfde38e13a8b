/* What tpt_config_memory says, by the growth of the process at the two presets (one sequence a
 * batch at 123M): within 5% once everything that was planned has been used. Each test is a process
 * of its own. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <3pt/3pt.h>

#include "support/compare.h"
#include "support/runner.h"

static const struct {
  const char *preset, *batch;
  tpt_memory_use use;
} cases[] = {{"3pt-5m", "64", TPT_MEMORY_INFERENCE},
             {"3pt-5m", "64", TPT_MEMORY_TRAINING},
             {"3pt-123m", "1", TPT_MEMORY_INFERENCE},
             {"3pt-123m", "1", TPT_MEMORY_TRAINING}};

static void ok(tpt_status status) {
  ck_assert_msg(status == TPT_OK, "%s: %s", tpt_status_name(status), tpt_error_message());
}

static size_t resident(void) {
  unsigned long pages, held;
  FILE *file = fopen("/proc/self/statm", "r");
  ck_assert_ptr_nonnull(file);
  ck_assert_int_eq(fscanf(file, "%lu %lu", &pages, &held), 2);
  fclose(file);
  return held * (size_t)sysconf(_SC_PAGESIZE);
}

static size_t number(const tpt_config *config, const char *key) {
  char text[32];
  size_t length;
  ok(tpt_config_get(config, key, text, sizeof text, &length));
  return (size_t)strtoull(text, NULL, 10);
}

static void infer(tpt_model *model, const tpt_config *config, const int32_t *tokens) {
  size_t count = number(config, "model.max_seq_len");
  double *scores = malloc(count * sizeof *scores);
  tpt_decoder *decoder;
  int32_t token;
  ok(tpt_decoder_create(model, 0, &decoder));
  ok(tpt_decoder_set_sampling(decoder, 1.0, 40, 0.9, 1));
  ok(tpt_decoder_score(decoder, tokens, count - 1, scores));
  ok(tpt_decoder_feed(decoder, tokens, 1, NULL));
  ok(tpt_decoder_sample(decoder, &token));
  free(scores);
}

static void train(tpt_model *model, const tpt_config *config, const int32_t *tokens) {
  tpt_trainer *trainer;
  tpt_optimizer *optimizer;
  double loss;
  ok(tpt_trainer_create(model, NULL, &trainer));
  ok(tpt_optimizer_create(trainer, NULL, &optimizer));
  ok(tpt_trainer_accumulate(trainer, tokens, tokens + 1, number(config, "train.batch"),
                            number(config, "train.seq_len"), &loss));
  ok(tpt_optimizer_step(optimizer, NULL));
}

START_TEST(growth_is_what_was_said) {
  tpt_context *context;
  tpt_config *config;
  tpt_model *model;
  size_t said;
  ok(tpt_context_create(&context));
  ok(tpt_context_set_threads(context, 2));
  ok(tpt_config_preset(cases[_i].preset, &config));
  ok(tpt_config_set(config, "train.batch", cases[_i].batch));
  ok(tpt_config_memory(config, cases[_i].use, &said));
  size_t count = number(config, "train.batch") * number(config, "train.seq_len") + 1;
  int32_t *tokens = malloc(count * sizeof *tokens);
  tpti_test_tokens(tokens, count, (int32_t)number(config, "model.vocab_size"), 3);

  size_t before = resident();
  ok(tpt_model_create(context, config, 1, &model));
  if (cases[_i].use == TPT_MEMORY_TRAINING)
    train(model, config, tokens);
  else
    infer(model, config, tokens);
  double ratio = (double)(resident() - before) / (double)said;
  ck_assert_msg(ratio > 0.95 && ratio < 1.05, "%s: the process grew by %.3f of what was said",
                cases[_i].preset, ratio);
  free(tokens);
}
END_TEST

int main(void) {
  const char *fork_mode = getenv("CK_FORK");
  if (fork_mode && fork_mode[0] == 'n') return tpti_test_skip("needs a process for each test");
  Suite *suite = suite_create("growth");
  TCase *tests = tcase_create("growth");
  tcase_add_loop_test(tests, growth_is_what_was_said, 0, sizeof cases / sizeof *cases);
  suite_add_tcase(suite, tests);
  return tpti_test_main(suite);
}
