/* tpt_config_memory is what a counting allocator sees, at every size; and all of it comes back. */
#include "api/session.h"

#include <math.h>

#include "support/allocator.h"

/* A description that is not the small one only. */
static const char *const sizes[] = {
    "",
    "model.vocab_size=2; model.d_model=2; model.n_layers=1; model.n_phases=1; model.n_q_heads=1;"
    "model.n_kv_heads=1; model.d_ff=1; model.max_seq_len=1; train.batch=1",
    "model.vocab_size=2; model.d_model=6; model.n_layers=1; model.n_q_heads=3; model.n_kv_heads=3;"
    "model.d_ff=1; model.max_seq_len=2; train.batch=1",
    "model.n_layers=7; train.recompute=block",
    "model.vocab_size=3000; model.max_seq_len=3; train.batch=1",
    "model.max_seq_len=300; train.seq_len=20",
    "model.max_seq_len=300; model.dc.profile=learned; train.batch=1",
    "model.d_model=96; model.d_ff=256; train.batch=16",
    "model.n_phases=1; model.n_q_heads=1; model.n_kv_heads=1; model.rotation.mode=none",
    "model.dc.profile=none; model.rotation.mode=residual; train.aux_coef=1; train.batch=20",
    "model.d_model=192; model.n_layers=1; model.vocab_size=500; train.batch=2; "
    "train.recompute=block",
    "train.precision=bf16",
    "model.vocab_size=3000; model.d_model=192; model.d_ff=501; train.precision=bf16; train.batch=2",
    "model.d_model=96; model.d_ff=256; train.batch=16; train.precision=bf16x3",
    "model.vocab_size=3000; train.precision=bf16x6; train.recompute=block",
};
enum { SIZES = sizeof sizes / sizeof *sizes };

static tpt_context *counted(tpti_test_allocator *a) {
  tpt_context *context;
  tpti_test_allocator_init(a);
  ok(tpt_context_create(&context));
  ok(tpt_context_set_threads(context, 2));
  ok(tpt_context_set_allocator(context, &a->allocator));
  return context;
}

static void within(size_t said, size_t seen, const char *what) {
  double off = fabs((double)said - (double)seen) / (double)seen;
  ck_assert_msg(off <= 0.05, "%s: %zu said, %zu seen: %.1f%% off", what, said, seen, 100 * off);
}

static size_t said_for(const tpt_config *config, tpt_memory_use use) {
  size_t bytes = 0;
  ok(tpt_config_memory(config, use, &bytes));
  return bytes;
}

START_TEST(inference) {
  tpti_test_allocator a;
  tpt_context *context = counted(&a);
  tpt_config *config = describe(sizes[_i]);
  tpt_model *model;
  tpt_decoder *decoder;
  static const int32_t tokens[300];
  char text[32];
  size_t length;
  ok(tpt_config_get(config, "model.max_seq_len", text, sizeof text, &length));
  ok(tpt_model_create(context, config, 1, &model));
  ok(tpt_decoder_create(model, 0, &decoder));
  ok(tpt_decoder_feed(decoder, tokens, (size_t)strtoul(text, NULL, 10), NULL));
  within(said_for(config, TPT_MEMORY_INFERENCE), atomic_load(&a.peak), sizes[_i]);
  tpt_decoder_destroy(decoder);
  tpt_model_destroy(model);
  tpt_config_destroy(config);
  tpt_context_destroy(context);
  ck_assert_uint_eq(tpti_test_allocator_live(&a), 0);
}
END_TEST

START_TEST(training) {
  tpti_test_allocator a;
  tpt_context *context = counted(&a);
  tpt_config *config = describe(sizes[_i]);
  tpt_model *model;
  tpt_trainer *trainer;
  tpt_optimizer *optimizer;
  static const int32_t tokens[20 * 16];
  char text[32];
  size_t length, batch, seq, most;
  double loss;
  ok(tpt_config_get(config, "train.batch", text, sizeof text, &length));
  batch = (size_t)strtoul(text, NULL, 10);
  ok(tpt_config_get(config, "model.max_seq_len", text, sizeof text, &length));
  most = (size_t)strtoul(text, NULL, 10);
  seq = most < 16 ? most : 16;
  ok(tpt_model_create(context, config, 1, &model));
  ok(tpt_trainer_create(model, NULL, &trainer));
  ok(tpt_optimizer_create(trainer, NULL, &optimizer));
  for (int i = 0; i < 2; i++) {
    ok(tpt_trainer_zero_gradients(trainer));
    ok(tpt_trainer_accumulate(trainer, tokens, tokens, batch, seq, &loss));
    ok(tpt_optimizer_step(optimizer, NULL));
  }
  within(said_for(config, TPT_MEMORY_TRAINING), atomic_load(&a.peak), sizes[_i]);
  tpt_optimizer_destroy(optimizer);
  tpt_trainer_destroy(trainer);
  tpt_model_destroy(model);
  tpt_config_destroy(config);
  tpt_context_destroy(context);
  ck_assert_uint_eq(tpti_test_allocator_live(&a), 0);
}
END_TEST

/* Whatever was made, whatever it went through: all of it comes back, with its size. */
START_TEST(nothing_stays) {
  tpti_test_allocator a;
  session s = start_in(counted(&a), "");
  const float *logits;
  tpt_model *folded, *loaded;
  tpt_decoder *decoder;
  tpt_dataset *dataset;
  tpt_tokenizer *tokenizer;
  size_t length;
  train_step(&s, 1);
  ok(tpt_trainer_forward(s.trainer, s.tokens, BATCH, MOST));
  ok(tpt_trainer_logits(s.trainer, &logits));
  ok(tpt_model_fold(s.model, &folded));
  unsigned char *image = image_of(folded, &length);
  ok(tpt_model_load_memory(s.context, image, length, NULL, &loaded));
  ok(tpt_decoder_create(loaded, 5, &decoder));
  ok(tpt_decoder_feed(decoder, s.tokens, 5, NULL));
  ok(tpt_dataset_from_tokens(s.context, s.tokens, ROWS, &dataset));
  tpt_evaluation result = {.size = sizeof result};
  ok(tpt_evaluate(folded, NULL, dataset, 4, 0, &result));
  ok(tpt_tokenizer_bytes(s.context, &tokenizer));
  ck_assert_uint_gt(tpti_test_allocator_live(&a), 0);
  tpt_tokenizer_destroy(tokenizer);
  tpt_dataset_destroy(dataset);
  tpt_decoder_destroy(decoder);
  tpt_model_destroy(loaded);
  tpt_model_destroy(folded);
  free(image);
  end(&s);
  ck_assert_uint_eq(tpti_test_allocator_live(&a), 0);
}
END_TEST

/* ---- a host that gives 64 MiB at most ---- */

static void *give_little(void *user, size_t bytes, size_t alignment) {
  (void)user;
  void *block = NULL;
  if (bytes > 64u << 20 || posix_memalign(&block, alignment, bytes)) return NULL;
  return block;
}

static void take_back(void *user, void *memory, size_t bytes, size_t alignment) {
  (void)user;
  (void)bytes;
  (void)alignment;
  free(memory);
}

START_TEST(what_does_not_fit) {
  static const char *const large[] = {"model.d_model=600000", "model.vocab_size=2000000000",
                                      "model.n_layers=4096; model.d_ff=2000",
                                      "model.d_ff=16000000"};
  tpt_context *context;
  tpt_allocator little = {.size = sizeof little, .allocate = give_little, .release = take_back};
  ok(tpt_context_create(&context));
  ok(tpt_context_set_allocator(context, &little));
  for (int i = 0; i < 4; i++) {
    tpt_config *config = describe(large[i]);
    tpt_model *model = (tpt_model *)config;
    refused(context, tpt_model_create(context, config, 1, &model), TPT_E_MEMORY, "");
    ck_assert_ptr_null(model);
    tpt_config_destroy(config);
  }
  session s = start_in(context, "model.max_seq_len=1000000; train.seq_len=16");
  tpt_decoder *decoder = (tpt_decoder *)s.model;
  refused(s.model, tpt_decoder_create(s.model, 0, &decoder), TPT_E_MEMORY, "");
  ck_assert_ptr_null(decoder);
  ok(tpt_decoder_create(s.model, 10, &decoder)); /* a shorter one does */
  tpt_config *wide = describe("model.max_seq_len=1000000; train.batch=1000; train.seq_len=1000");
  tpt_trainer *trainer = s.trainer;
  refused(s.model, tpt_trainer_create(s.model, wide, &trainer), TPT_E_MEMORY, "");
  ck_assert_ptr_null(trainer);
  train_step(&s, 1);
  tpt_config_destroy(wide);
  tpt_decoder_destroy(decoder);
  end(&s);
}
END_TEST

/* A large refusal says for what it was, in words of the description. */
START_TEST(what_the_memory_was_for) {
  tpti_test_allocator a;
  session s = start_in(counted(&a), "");
  tpt_trainer *none;
  const float *logits;
  char path[] = "/tmp/3pt-test-XXXXXX";
  ck_assert_int_ge(mkstemp(path), 0);
  ok(tpt_checkpoint_save(s.trainer, s.optimizer, path, NULL, 0));
  ok(tpt_trainer_forward(s.trainer, s.tokens, BATCH, MOST));
  tpti_test_allocator_fail_at(&a, 1);
  refused(s.model, tpt_trainer_create(s.model, NULL, &none), TPT_E_MEMORY,
          " bytes, for a trainer of 3 x 16 tokens (train.batch x train.seq_len)");
  refused(s.trainer, tpt_trainer_logits(s.trainer, &logits), TPT_E_MEMORY,
          " bytes, for the logits of 48 tokens");
  tpt_status status = TPT_E_MEMORY;
  for (size_t n = 1; status; n++) {
    tpti_test_allocator_fail_at(&a, n);
    status = tpt_checkpoint_load(s.trainer, s.optimizer, path, NULL, 0, NULL);
    if (strstr(tpt_error_message(), ", for the checkpoint's weights and both moments")) break;
  }
  ck_assert_int_eq(status, TPT_E_MEMORY);
  remove(path);
  end(&s);
}
END_TEST

/* Every refusal tells its size, the text of the description's too. */
START_TEST(a_save_tells_what_was_refused) {
  tpti_test_allocator a;
  session s = start_in(counted(&a), "");
  char path[] = "/tmp/3pt-test-XXXXXX";
  ck_assert_int_ge(mkstemp(path), 0);
  tpt_status status = TPT_E_MEMORY;
  size_t n = 0;
  while (status) {
    tpti_test_allocator_fail_at(&a, ++n);
    status = tpt_model_save(s.model, path);
    if (status) refused(s.model, status, TPT_E_MEMORY, "the allocator refused ");
  }
  ck_assert_uint_gt(n, 1);
  tpti_test_allocator_fail_at(&a, 0);
  remove(path);
  end(&s);
}
END_TEST

START_TEST(what_cannot_be_described) {
  tpt_config *config = describe("");
  size_t bytes = 77;
  refused(config, tpt_config_memory(config, (tpt_memory_use)2, &bytes), TPT_E_ARGUMENT, "use");
  refused(config, tpt_config_memory(config, TPT_MEMORY_TRAINING, NULL), TPT_E_ARGUMENT, "bytes");
  ok(tpt_config_set(config, "model.d_model", "25"));
  refused(config, tpt_config_memory(config, TPT_MEMORY_TRAINING, &bytes), TPT_E_CONFIG, "d_model");
  ck_assert_uint_eq(bytes, 77);
  tpt_config_destroy(config);
}
END_TEST

/* 1,000 of each, one after the other: what is held does not grow. */
START_TEST(a_thousand_lives) {
  tpti_test_allocator a;
  session s = start_in(counted(&a), "");
  train_step(&s, 1);
  size_t before = tpti_test_allocator_live(&a);
  for (int i = 0; i < 1000; i++) {
    tpt_model *model;
    tpt_trainer *trainer;
    tpt_optimizer *optimizer;
    tpt_decoder *decoder;
    ok(tpt_model_create(s.context, s.config, (uint64_t)i, &model));
    ok(tpt_trainer_create(model, NULL, &trainer));
    ok(tpt_optimizer_create(trainer, NULL, &optimizer));
    ok(tpt_decoder_create(model, 0, &decoder));
    tpt_model_destroy(model);
    tpt_trainer_destroy(trainer);
    tpt_decoder_destroy(decoder);
    tpt_optimizer_destroy(optimizer);
    ck_assert_uint_eq(tpti_test_allocator_live(&a), before);
  }
  end(&s);
}
END_TEST

static Suite *suite(void) {
  Suite *suite = suite_create("api/memory");
  TCase *tests = tcase_create("memory");
  tcase_add_loop_test(tests, inference, 0, SIZES);
  tcase_add_loop_test(tests, training, 0, SIZES);
  tcase_add_test(tests, nothing_stays);
  tcase_add_test(tests, what_does_not_fit);
  tcase_add_test(tests, what_the_memory_was_for);
  tcase_add_test(tests, a_save_tells_what_was_refused);
  tcase_add_test(tests, what_cannot_be_described);
  tcase_add_test(tests, a_thousand_lives);
  suite_add_tcase(suite, tests);
  return suite;
}

/* With any argument: where the system refuses matrix units. */
int main(int argc, char **argv) {
  (void)argv;
  if (argc > 1) tpti_test_refuse_tiles();
  return tpti_test_main(suite());
}
