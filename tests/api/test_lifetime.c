/* Handles in every order of destruction, kept alive by what was made from them, and the contexts of
 * objects that were given none. */
#include "api/session.h"

#include "support/allocator.h"

enum { KINDS = 8 };

/* One of each, made from one another: context, config, model, trainer, optimizer, decoder, dataset,
 * tokenizer. */
static void make(tpti_test_allocator *a, void *h[KINDS]) {
  tpt_context *context;
  tpti_test_allocator_init(a);
  ok(tpt_context_create(&context));
  ok(tpt_context_set_threads(context, 2));
  ok(tpt_context_set_allocator(context, &a->allocator));
  session s = start_in(context, "");
  train_step(&s, 1);
  tpt_decoder *decoder;
  tpt_dataset *dataset;
  tpt_tokenizer *tokenizer;
  ok(tpt_decoder_create(s.model, 0, &decoder));
  ok(tpt_decoder_feed(decoder, s.tokens, 2, NULL));
  ok(tpt_dataset_from_tokens(context, s.tokens, ROWS, &dataset));
  ok(tpt_tokenizer_bytes(context, &tokenizer));
  void *all[KINDS] = {context,     s.config, s.model, s.trainer,
                      s.optimizer, decoder,  dataset, tokenizer};
  memcpy(h, all, sizeof all);
}

static void destroy(int kind, void *handle) {
  switch (kind) {
  case 0:
    tpt_context_destroy(handle);
    break;
  case 1:
    tpt_config_destroy(handle);
    break;
  case 2:
    tpt_model_destroy(handle);
    break;
  case 3:
    tpt_trainer_destroy(handle);
    break;
  case 4:
    tpt_optimizer_destroy(handle);
    break;
  case 5:
    tpt_decoder_destroy(handle);
    break;
  case 6:
    tpt_dataset_destroy(handle);
    break;
  default:
    tpt_tokenizer_destroy(handle);
    break;
  }
}

/* The k-th of the permutations of the model's family (5 kinds); the rest in between. */
static void permutation(int k, int order[KINDS]) {
  static const int family[5] = {0, 2, 3, 4, 5}, others[3] = {1, 6, 7};
  int left[5];
  memcpy(left, family, sizeof left);
  for (int i = 0, n = 5, divisor = 24; i < 5; i++, n--) {
    int pick = k / divisor;
    order[i] = left[pick];
    for (int j = pick; j < n - 1; j++) left[j] = left[j + 1];
    k %= divisor;
    if (n > 1) divisor /= n - 1;
  }
  for (int i = 0; i < 3; i++) order[5 + i] = others[i];
}

/* Every fifth of the 120: each kind comes first and last. */
START_TEST(many_orders) {
  for (int k = 0; k < 120; k += 5) {
    tpti_test_allocator a;
    void *h[KINDS];
    int order[KINDS];
    make(&a, h);
    permutation(k, order);
    for (int i = 0; i < KINDS; i++) {
      int at = k % 2 ? i : KINDS - 1 - i; /* also the others first */
      destroy(order[at], h[order[at]]);
    }
    ck_assert_uint_eq(tpti_test_allocator_live(&a), 0);
  }
}
END_TEST

START_TEST(null_is_accepted) {
  for (int kind = 0; kind < KINDS; kind++) destroy(kind, NULL);
}
END_TEST

/* The wrong kind is refused and left alone. */
START_TEST(the_wrong_destroy) {
  tpti_test_allocator a;
  void *h[KINDS];
  make(&a, h);
  for (int kind = 0; kind < KINDS; kind++)
    for (int other = 0; other < KINDS; other++)
      if (kind != other) destroy(kind, h[other]);
  size_t count;
  ok(tpt_model_tensor_count(h[2], &count));
  for (int kind = 0; kind < KINDS; kind++) destroy(kind, h[kind]);
  ck_assert_uint_eq(tpti_test_allocator_live(&a), 0);
}
END_TEST

START_TEST(kept_alive) {
  session s = start("train.warmup=0");
  tpt_decoder *decoder;
  double norm, loss;
  const float *logits;
  ok(tpt_decoder_create(s.model, 0, &decoder));
  tpt_config_destroy(s.config);
  tpt_context_destroy(s.context);
  tpt_model_destroy(s.model);
  ok(tpt_trainer_accumulate(s.trainer, s.tokens, s.targets, BATCH, MOST, &loss));
  tpt_trainer_destroy(s.trainer);
  ok(tpt_optimizer_step(s.optimizer, &norm)); /* its trainer, that one's model and context live */
  ck_assert_double_gt(norm, 0);
  tpt_optimizer_destroy(s.optimizer);
  ok(tpt_decoder_feed(decoder, s.tokens, MOST, &logits));
  tpt_decoder_destroy(decoder);
}
END_TEST

/* A context of its own, with the defaults, for whatever is made without one. */
START_TEST(without_a_context) {
  tpt_config *config = describe("");
  tpt_model *model, *loaded, *folded;
  tpt_trainer *trainer;
  tpt_dataset *dataset;
  tpt_tokenizer *tokenizer;
  tpt_evaluation result = {.size = sizeof result};
  int32_t tokens[ROWS];
  double loss;
  size_t length;
  tpti_test_tokens(tokens, ROWS, V, 1);
  ok(tpt_model_create(NULL, config, 7, &model));
  ok(tpt_trainer_create(model, NULL, &trainer));
  ok(tpt_trainer_accumulate(trainer, tokens, tokens, BATCH, MOST, &loss));
  unsigned char *image = image_of(model, &length);
  ok(tpt_model_load_memory(NULL, image, length, NULL, &loaded));
  tpt_model_destroy(model);
  ok(tpt_model_fold(loaded, &folded));
  tpt_model_destroy(loaded);
  ok(tpt_dataset_from_tokens(NULL, tokens, ROWS, &dataset));
  ok(tpt_evaluate(folded, NULL, dataset, 5, 0, &result));
  ok(tpt_tokenizer_bytes(NULL, &tokenizer));
  tpt_tokenizer_destroy(tokenizer);
  tpt_dataset_destroy(dataset);
  tpt_model_destroy(folded);
  tpt_trainer_destroy(trainer);
  tpt_config_destroy(config);
  free(image);
}
END_TEST

static void count_call(void *user) { ++*(int *)user; }

static void ignore_log(void *user, int32_t level, const char *text) {
  (void)user;
  (void)level;
  (void)text;
}

/* done comes once: with the pair's successor, or when the last holder is gone. */
START_TEST(done_functions) {
  session s = start("");
  int log_done = 0, progress_done = 0, second = 0;
  stop never = {0};
  ok(tpt_context_set_log(s.context, ignore_log, &log_done, count_call));
  ok(tpt_context_set_progress(s.context, stop_at, &progress_done, count_call));
  ck_assert(log_done == 0 && progress_done == 0);
  ok(tpt_context_set_log(s.context, NULL, &second, count_call));
  ck_assert(log_done == 1 && second == 0);
  ok(tpt_context_set_progress(s.context, stop_at, &never, NULL));
  ck_assert(progress_done == 1);
  tpt_context_destroy(s.context);
  s.context = NULL;
  ck_assert(second == 0); /* the model still holds it */
  train_step(&s, 1);
  end(&s);
  ck_assert(log_done == 1 && progress_done == 1 && second == 1);
}
END_TEST

/* Borrowed pointers that last until the caller's destroy. */
START_TEST(long_borrowings) {
  session s = start("");
  const tpt_config *config = tpt_model_config(s.model);
  tpt_tensor_info info = {.size = sizeof info};
  float *weights, *again, *gradients;
  size_t count;
  char text[16], name[64];
  ok(tpt_model_tensor_info(s.model, 3, &info));
  strcpy(name, info.name);
  ok(tpt_model_parameters(s.model, &weights, &count));
  ok(tpt_trainer_gradients(s.trainer, &gradients, &count));
  for (uint64_t i = 0; i < 3; i++) train_step(&s, i);
  ok(tpt_model_set_tensor(s.model, name, weights + info.offset, info.count));
  ok(tpt_config_get(config, "model.d_model", text, sizeof text, &count));
  ck_assert_str_eq(text, "24");
  ck_assert_str_eq(info.name, name);
  ok(tpt_model_parameters(s.model, &again, &count));
  ck_assert_ptr_eq(weights, again);
  ok(tpt_trainer_gradients(s.trainer, &again, &count));
  ck_assert_ptr_eq(gradients, again);
  ck_assert_uint_eq((size_t)weights % 64, 0);
  ck_assert_uint_eq((size_t)gradients % 64, 0);
  end(&s);
}
END_TEST

static Suite *suite(void) {
  Suite *suite = suite_create("api/lifetime");
  TCase *tests = tcase_create("lifetime");
  tcase_add_test(tests, many_orders);
  tcase_add_test(tests, null_is_accepted);
  tcase_add_test(tests, the_wrong_destroy);
  tcase_add_test(tests, kept_alive);
  tcase_add_test(tests, without_a_context);
  tcase_add_test(tests, done_functions);
  tcase_add_test(tests, long_borrowings);
  suite_add_tcase(suite, tests);
  return suite;
}

int main(void) { return tpti_test_main(suite()); }
