/* A whole life of the library in one number, for check_environment.py: whatever surrounds the
 * process, the bits are the same.
 *
 *   life FOLDER RESULT    files go to FOLDER; one line to RESULT: the number and the decimal point
 */
#include <inttypes.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <3pt/3pt.h>

#include "kernel/kernel.h"
#include "support/compare.h"

enum { V = 60, SEQ = 24, BATCH = 4, ROWS = BATCH * SEQ };

static const char description[] =
    "{model: {vocab_size: 60, d_model: 48, d_ff: 100, n_layers: 2, n_q_heads: 6, n_kv_heads: 3,"
    " max_seq_len: 24, dc: {profile: exponential, tau: 2.5}}, train: {batch: 4, lr: 1.5e-3}}";

static uint64_t sum = 14695981039346656037u; /* FNV-1a */

static void add(const void *bytes, size_t count) {
  const unsigned char *at = bytes;
  for (size_t i = 0; i < count; i++) sum = (sum ^ at[i]) * 1099511628211u;
}

static void ok(tpt_status status) {
  if (status == TPT_OK) return;
  add(tpt_error_message(), strlen(tpt_error_message()));
  exit(EXIT_FAILURE);
}

static void train(tpt_model *model) {
  tpt_trainer *trainer;
  tpt_optimizer *optimizer;
  int32_t tokens[ROWS], targets[ROWS];
  double loss, norm;
  ok(tpt_trainer_create(model, NULL, &trainer));
  ok(tpt_optimizer_create(trainer, NULL, &optimizer));
  for (uint64_t i = 0; i < 3; i++) {
    tpti_test_tokens(tokens, ROWS, V, 2 * i);
    tpti_test_tokens(targets, ROWS, V, 2 * i + 1);
    ok(tpt_trainer_zero_gradients(trainer));
    ok(tpt_trainer_accumulate(trainer, tokens, targets, BATCH, SEQ, &loss));
    ok(tpt_optimizer_step(optimizer, &norm));
    add(&loss, sizeof loss);
    add(&norm, sizeof norm);
  }
  tpt_optimizer_destroy(optimizer);
  tpt_trainer_destroy(trainer);
}

static void decode(const tpt_model *model) {
  tpt_decoder *decoder;
  const float *logits;
  int32_t token = 7;
  ok(tpt_decoder_create(model, 0, &decoder));
  ok(tpt_decoder_set_sampling(decoder, 0.8, 10, 0.95, 5));
  for (int i = 0; i < SEQ; i++) {
    ok(tpt_decoder_feed(decoder, &token, 1, &logits));
    add(logits, V * sizeof *logits);
    ok(tpt_decoder_sample(decoder, &token));
    add(&token, sizeof token);
  }
  tpt_decoder_destroy(decoder);
}

/* Every text that the library writes and reads again. */
static void texts(const tpt_config *config, tpt_context *context) {
  static const char words[] = "one two three two one two";
  static char text[1 << 16];
  size_t length;
  tpt_config *again;
  tpt_tokenizer *tokenizer, *parsed;
  ok(tpt_config_format(config, text, sizeof text, &length));
  add(text, length);
  ok(tpt_config_parse(text, length, &again));
  ok(tpt_config_get(again, "train.lr", text, sizeof text, &length));
  add(text, length);
  tpt_config_destroy(again);
  ok(tpt_tokenizer_bpe(context, words, sizeof words - 1, 262, &tokenizer));
  ok(tpt_tokenizer_format(tokenizer, text, sizeof text, &length));
  add(text, length);
  ok(tpt_tokenizer_parse(context, text, length, &parsed));
  tpt_tokenizer_destroy(parsed);
  tpt_tokenizer_destroy(tokenizer);
}

/* BLIS, which processors with kernels of our own do not come to. */
static void product(void) {
  enum { M = 200, N = 90, K = 5000 };
  tpti_run run = {.pool = tpti_pool_create(&tpti_memory_default), .kernels = &tpti_kernels_plain};
  size_t pack = tpti_gemm_pack(TPTI_PRECISION_F32, M, N, K);
  float *a = malloc(M * K * sizeof *a), *b = malloc(K * N * sizeof *b);
  float *c = malloc(M * N * sizeof *c);
  run.scratch = malloc(TPTI_SCRATCH);
  run.pack = malloc(pack + 1);
  if (!run.pool || !run.scratch || !run.pack || !a || !b || !c) exit(EXIT_FAILURE);
  tpti_pool_set_threads(run.pool, 3);
  for (size_t i = 0; i < M * K; i++) a[i] = (float)(i % 251) - 125;
  for (size_t i = 0; i < K * N; i++) b[i] = 1 / (float)(i % 241 + 1);
  tpti_gemm_run(&run, &(tpti_gemm){.c = c,
                                   .a = a,
                                   .b = b,
                                   .c_row = N,
                                   .a_row = K,
                                   .a_col = 1,
                                   .b_row = N,
                                   .b_col = 1,
                                   .m = M,
                                   .n = N,
                                   .k = K});
  add(c, M * N * sizeof *c);
  tpti_pool_destroy(run.pool);
  free(run.scratch), free(run.pack);
  free(a), free(b), free(c);
}

int main(int argc, char **argv) {
  char path[4096];
  tpt_context *context;
  tpt_config *config;
  tpt_model *model, *loaded;
  if (argc != 3) return EXIT_FAILURE;
  setlocale(LC_ALL, "");
  ok(tpt_context_create(&context));
  ok(tpt_context_set_threads(context, 3));
  ok(tpt_config_parse(description, sizeof description - 1, &config));
  ok(tpt_model_create(context, config, 1, &model));
  train(model);
  snprintf(path, sizeof path, "%s/model", argv[1]);
  ok(tpt_model_save(model, path));
  ok(tpt_model_load(context, path, NULL, &loaded));
  decode(loaded);
  texts(config, context);
  product();
  tpt_model_destroy(loaded);
  tpt_model_destroy(model);
  tpt_config_destroy(config);
  tpt_context_destroy(context);
  FILE *result = fopen(argv[2], "w");
  if (!result) return EXIT_FAILURE;
  fprintf(result, "%016" PRIx64 " %s\n", sum, localeconv()->decimal_point);
  return fclose(result) ? EXIT_FAILURE : EXIT_SUCCESS;
}
