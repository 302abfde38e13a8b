/* Every public function with what it must refuse: each pointer NULL in turn, handles of another
 * kind, counts off by one, numbers at their ends. The status is the documented one, the message
 * names the argument, the handle says the same, and no result has been touched. */
#include "api/hostile.h"

START_TEST(contexts) {
  cast c = gather();
  tpt_context *x = c.s.context;
  refused(NULL, tpt_context_create(NULL), BAD, "context");
  FIRST(tpt_context_set_threads, tpt_context, "context", 1);
  FIRST(tpt_context_threads, tpt_context, "context", &number);
  FIRST(tpt_context_set_allocator, tpt_context, "context", NULL);
  FIRST(tpt_context_set_log, tpt_context, "context", NULL, NULL, NULL);
  FIRST(tpt_context_set_progress, tpt_context, "context", NULL, NULL, NULL);
  FIRST(tpt_context_cancel, tpt_context, "context", 1);
  refused(x, tpt_context_threads(x, NULL), BAD, "threads");
  refused(x, tpt_context_set_threads(x, -1), BAD, "threads");
  refused(x, tpt_context_set_threads(x, 257), BAD, "threads");
  refused(x, tpt_context_set_threads(x, INT32_MIN), BAD, "threads");
  refused(x, tpt_context_set_allocator(x, NULL), BAD, "allocator");
  tpt_allocator a = {.size = sizeof a};
  refused(x, tpt_context_set_allocator(x, &a), BAD, "allocate");
  FIRST(tpt_error_of, const void, "", text, sizeof text, NULL);
  refused(NULL, tpt_error_of(NULL, text, sizeof text, &size), BAD, "handle");
  ck_assert_int_eq(tpt_error_of(x, text, sizeof text, NULL), BAD);
  ck_assert_int_eq(tpt_error_of(x, NULL, 1, &size), BAD);
  ck_assert_str_eq(tpt_status_name((tpt_status)99), tpt_status_name((tpt_status)-1));
  part(&c);
}
END_TEST

START_TEST(descriptions) {
  cast c = gather();
  tpt_config *d = c.s.config;
  c.stranger = c.s.model;
  refused(NULL, tpt_config_create(NULL), BAD, "config");
  MAKES(NULL, tpt_config, BAD, "name", tpt_config_preset(NULL, &made));
  refused(NULL, tpt_config_preset("3pt-5m", NULL), BAD, "config");
  ck_assert_int_ne(tpt_config_preset("3pt-6m", &(tpt_config *){NULL}), TPT_OK);
  MAKES(NULL, tpt_config, BAD, "path", tpt_config_load(NULL, &made));
  MAKES(NULL, tpt_config, TPT_E_IO, "/none/at/all", tpt_config_load("/none/at/all", &made));
  MAKES(NULL, tpt_config, BAD, "yaml", tpt_config_parse(NULL, 1, &made));
  refused(NULL, tpt_config_parse("", 0, NULL), BAD, "config");
  MAKES(NULL, tpt_config, BAD, "config", tpt_config_copy(NULL, &made));
  MAKES(NULL, tpt_config, BAD, "config", tpt_config_copy(c.stranger, &made));
  refused(d, tpt_config_copy(d, NULL), BAD, "copy");
  FIRST(tpt_config_set, tpt_config, "config", "model.d_ff", "1");
  refused(d, tpt_config_set(d, NULL, "1"), BAD, "key");
  refused(d, tpt_config_set(d, "model.d_ff", NULL), BAD, "value");
  FIRST(tpt_config_get, tpt_config, "config", "model.d_ff", text, sizeof text, &size);
  refused(d, tpt_config_get(d, NULL, text, sizeof text, &size), BAD, "key");
  refused(d, tpt_config_get(d, "model.d_ff", NULL, 1, &size), BAD, "text");
  refused(d, tpt_config_get(d, "model.d_ff", text, sizeof text, NULL), BAD, "length");
  FIRST(tpt_config_format, tpt_config, "config", text, sizeof text, &size);
  refused(d, tpt_config_format(d, NULL, 1, &size), BAD, "text");
  refused(d, tpt_config_format(d, text, 1, NULL), BAD, "length");
  refused(NULL, tpt_config_check(NULL), BAD, "config");
  refused(NULL, tpt_config_check(c.stranger), BAD, "config");
  FIRST(tpt_config_parameter_count, tpt_config, "config", &size);
  refused(d, tpt_config_parameter_count(d, NULL), BAD, "count");
  FIRST(tpt_config_memory, tpt_config, "config", TPT_MEMORY_TRAINING, &size);
  refused(d, tpt_config_memory(d, (tpt_memory_use)-1, &size), BAD, "use");
  part(&c);
}
END_TEST

START_TEST(models) {
  cast c = gather();
  tpt_context *x = c.s.context;
  const tpt_config *d = c.s.config;
  tpt_model *m = c.s.model;
  MAKES(x, tpt_model, BAD, "config", tpt_model_create(x, NULL, 1, &made));
  MAKES(x, tpt_model, BAD, "config", tpt_model_create(x, (tpt_config *)m, 1, &made));
  MAKES(NULL, tpt_model, BAD, "context", tpt_model_create(c.stranger, d, 1, &made));
  refused(x, tpt_model_create(x, d, 1, NULL), BAD, "model");
  MAKES(x, tpt_model, BAD, "path", tpt_model_load(x, NULL, d, &made));
  MAKES(x, tpt_model, BAD, "config", tpt_model_load(x, "/none", (tpt_config *)m, &made));
  MAKES(NULL, tpt_model, BAD, "context", tpt_model_load(c.stranger, "/none", d, &made));
  refused(x, tpt_model_load(x, "/none", d, NULL), BAD, "model");
  MAKES(x, tpt_model, BAD, "data", tpt_model_load_memory(x, NULL, 9, d, &made));
  MAKES(x, tpt_model, TPT_E_FORMAT, "", tpt_model_load_memory(x, "", 0, d, &made));
  MAKES(NULL, tpt_model, BAD, "context", tpt_model_load_memory(c.stranger, "", 1, d, &made));
  refused(x, tpt_model_load_memory(x, "", 1, d, NULL), BAD, "model");
  FIRST(tpt_model_save, const tpt_model, "model", "/none/none");
  refused(m, tpt_model_save(m, NULL), BAD, "path");
  FIRST(tpt_model_save_memory, const tpt_model, "model", text, 1, &size);
  ck_assert_ptr_null(tpt_model_config(c.stranger));
  MAKES(NULL, tpt_model, BAD, "model", tpt_model_fold(NULL, &made));
  MAKES(NULL, tpt_model, BAD, "model", tpt_model_fold(c.stranger, &made));
  refused(m, tpt_model_fold(m, NULL), BAD, "folded");
  MAKES(m, tpt_model, BAD, "precision", tpt_model_convert(m, NULL, &made));
  refused(m, tpt_model_convert(m, "f32", NULL), BAD, "converted");
  FIRST(tpt_model_tensor_count, const tpt_model, "model", &size);
  refused(m, tpt_model_tensor_count(m, NULL), BAD, "count");
  FIRST(tpt_model_tensor_info, const tpt_model, "model", 0, &info);
  FIRST(tpt_model_get_tensor, const tpt_model, "model", "head.weight", floats, D *V);
  refused(m, tpt_model_get_tensor(m, NULL, floats, D * V), BAD, "name");
  refused(m, tpt_model_get_tensor(m, "head.weight", NULL, D * V), BAD, "values");
  FIRST(tpt_model_set_tensor, tpt_model, "model", "head.weight", floats, D * V);
  refused(m, tpt_model_set_tensor(m, NULL, floats, D * V), BAD, "name");
  refused(m, tpt_model_set_tensor(m, "head.weight", NULL, D * V), BAD, "values");
  float *values = floats;
  FIRST(tpt_model_parameters, tpt_model, "model", &values, &size);
  refused(m, tpt_model_parameters(m, NULL, &size), BAD, "values");
  refused(m, tpt_model_parameters(m, &values, NULL), BAD, "count");
  ck_assert_ptr_eq(values, floats);
  part(&c);
}
END_TEST

START_TEST(datasets) {
  cast c = gather();
  tpt_context *x = c.s.context;
  const tpt_dataset *d = c.dataset;
  int32_t ids[ROWS], also[ROWS];
  uint64_t state = 5;
  MAKES(x, tpt_dataset, BAD, "path", tpt_dataset_open(x, NULL, &made));
  MAKES(NULL, tpt_dataset, BAD, "context", tpt_dataset_open(c.stranger, "/none.u16", &made));
  MAKES(x, tpt_dataset, TPT_E_IO, "/none.u16", tpt_dataset_open(x, "/none.u16", &made));
  refused(x, tpt_dataset_open(x, "/none.u16", NULL), BAD, "dataset");
  MAKES(x, tpt_dataset, BAD, "tokens", tpt_dataset_from_tokens(x, NULL, 1, &made));
  MAKES(NULL, tpt_dataset, BAD, "context", tpt_dataset_from_tokens(c.stranger, ids, 0, &made));
  refused(x, tpt_dataset_from_tokens(x, c.s.tokens, 1, NULL), BAD, "dataset");
  FIRST(tpt_dataset_count, const tpt_dataset, "dataset", &size);
  refused(d, tpt_dataset_count(d, NULL), BAD, "tokens");
  FIRST(tpt_dataset_random, const tpt_dataset, "dataset", &state, 1, 1, ids, also);
  refused(d, tpt_dataset_random(d, NULL, 1, 1, ids, also), BAD, "random_state");
  refused(d, tpt_dataset_random(d, &state, 1, 1, NULL, also), BAD, "tokens");
  refused(d, tpt_dataset_random(d, &state, 1, 1, ids, NULL), BAD, "targets");
  refused(d, tpt_dataset_random(d, &state, 0, 1, ids, also), BAD, "batch");
  refused(d, tpt_dataset_random(d, &state, 1, ROWS, ids, also), BAD, "seq");
  refused(d, tpt_dataset_random(d, &state, SIZE_MAX, SIZE_MAX, ids, also), BAD, "batch");
  FIRST(tpt_dataset_window_count, const tpt_dataset, "dataset", 1, &size);
  refused(d, tpt_dataset_window_count(d, 0, &size), BAD, "seq");
  refused(d, tpt_dataset_window_count(d, 1, NULL), BAD, "count");
  FIRST(tpt_dataset_window, const tpt_dataset, "dataset", 0, 1, ids, also);
  refused(d, tpt_dataset_window(d, ROWS - 1, 1, ids, also), BAD, "window");
  refused(d, tpt_dataset_window(d, SIZE_MAX, 2, ids, also), BAD, "window");
  refused(d, tpt_dataset_window(d, 0, 1, NULL, also), BAD, "tokens");
  refused(d, tpt_dataset_window(d, 0, 1, ids, NULL), BAD, "targets");
  FIRST(tpt_evaluate, const tpt_model, "model", NULL, d, 4, 0, &evaluation);
  refused(c.s.model, tpt_evaluate(c.s.model, (tpt_config *)c.s.model, d, 4, 0, &evaluation), BAD,
          "config");
  refused(c.s.model, tpt_evaluate(c.s.model, NULL, c.stranger, 4, 0, &evaluation), BAD, "dataset");
  ck_assert_uint_eq(state, 5);
  part(&c);
}
END_TEST

START_TEST(tokenizers) {
  cast c = gather();
  tpt_context *x = c.s.context;
  const tpt_tokenizer *t = c.tokenizer;
  const int32_t some[2] = {65, 66};
  refused(x, tpt_tokenizer_bytes(x, NULL), BAD, "tokenizer");
  MAKES(NULL, tpt_tokenizer, BAD, "context", tpt_tokenizer_bytes(c.stranger, &made));
  MAKES(x, tpt_tokenizer, BAD, "text", tpt_tokenizer_words(x, NULL, 1, 5, &made));
  MAKES(x, tpt_tokenizer, BAD, "vocab", tpt_tokenizer_words(x, "a", 1, 0, &made));
  MAKES(x, tpt_tokenizer, BAD, "text", tpt_tokenizer_bpe(x, NULL, 1, 300, &made));
  MAKES(x, tpt_tokenizer, BAD, "vocab", tpt_tokenizer_bpe(x, "a", 1, 255, &made));
  MAKES(x, tpt_tokenizer, BAD, "text", tpt_tokenizer_bpe(x, "\xff", 1, 300, &made));
  MAKES(x, tpt_tokenizer, BAD, "path", tpt_tokenizer_load(x, NULL, &made));
  MAKES(x, tpt_tokenizer, TPT_E_IO, "/none", tpt_tokenizer_load(x, "/none", &made));
  MAKES(x, tpt_tokenizer, BAD, "json", tpt_tokenizer_parse(x, NULL, 1, &made));
  MAKES(x, tpt_tokenizer, TPT_E_FORMAT, "", tpt_tokenizer_parse(x, "{", 1, &made));
  FIRST(tpt_tokenizer_save, const tpt_tokenizer, "tokenizer", "/none/none");
  refused(t, tpt_tokenizer_save(t, NULL), BAD, "path");
  FIRST(tpt_tokenizer_format, const tpt_tokenizer, "tokenizer", text, 1, &size);
  refused(t, tpt_tokenizer_format(t, NULL, 1, &size), BAD, "text");
  refused(t, tpt_tokenizer_format(t, text, 1, NULL), BAD, "length");
  FIRST(tpt_tokenizer_vocab_size, const tpt_tokenizer, "tokenizer", &size);
  refused(t, tpt_tokenizer_vocab_size(t, NULL), BAD, "count");
  FIRST(tpt_tokenizer_encode, const tpt_tokenizer, "tokenizer", "a", 1, &number, 1, &size);
  refused(t, tpt_tokenizer_encode(t, NULL, 1, &number, 1, &size), BAD, "text");
  refused(t, tpt_tokenizer_encode(t, "a", 1, NULL, 1, &size), BAD, "ids");
  refused(t, tpt_tokenizer_encode(t, "a", 1, &number, 1, NULL), BAD, "count");
  FIRST(tpt_tokenizer_encode_text, const tpt_tokenizer, "tokenizer", "a", 1, &number, 1, &size);
  refused(t, tpt_tokenizer_encode_text(t, NULL, 1, &number, 1, &size), BAD, "text");
  FIRST(tpt_tokenizer_decode, const tpt_tokenizer, "tokenizer", some, 2, text, 2, &size);
  refused(t, tpt_tokenizer_decode(t, NULL, 2, text, 2, &size), BAD, "ids");
  refused(t, tpt_tokenizer_decode(t, some, 2, NULL, 2, &size), BAD, "text");
  refused(t, tpt_tokenizer_decode(t, some, 2, text, 2, NULL), BAD, "length");
  refused(t, tpt_tokenizer_decode(t, (int32_t[]){65, 256}, 2, text, 2, &size), BAD, "ids[1]");
  refused(t, tpt_tokenizer_decode(t, (int32_t[]){-1}, 1, text, 2, &size), BAD, "ids[0]");
  refused(t, tpt_tokenizer_decode_tail(t, some, 2, 3, text, 2, &size), BAD, "done");
  refused(t, tpt_tokenizer_id(t, NULL, &number), BAD, "token");
  refused(t, tpt_tokenizer_id(t, "a", NULL), BAD, "id");
  refused(t, tpt_tokenizer_token(t, 256, text, 2, &size), BAD, "id");
  refused(t, tpt_tokenizer_token(t, INT32_MIN, text, 2, &size), BAD, "id");
  memset(text, 0x5a, sizeof text); /* an array may be partly written */
  part(&c);
}
END_TEST

static Suite *suite(void) {
  Suite *suite = suite_create("api/hostile");
  TCase *tests = tcase_create("hostile");
  tcase_add_test(tests, contexts);
  tcase_add_test(tests, descriptions);
  tcase_add_test(tests, models);
  tcase_add_test(tests, datasets);
  tcase_add_test(tests, tokenizers);
  suite_add_tcase(suite, tests);
  return suite;
}

int main(void) { return tpti_test_main(suite()); }
