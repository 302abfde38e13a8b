/* tpt_context_cancel: every function whose comment in 3pt.h names CANCELLED can be ended by it. */
#include "api/session.h"

#include <unistd.h>

/* All that the calls below need, made before. */
typedef struct stage {
  session s;
  tpt_decoder *decoder, *generating; /* empty; with logits */
  tpt_dataset *dataset;
  tpt_tokenizer *bytes, *bpe;
  unsigned char *image;
  size_t length;
  char file[64], json[64];
} stage;

static const char text[] = "a b c, a b";

static void make_file(char name[64]) {
  strcpy(name, "/tmp/3pt-test-XXXXXX");
  int file = mkstemp(name);
  ck_assert_int_ge(file, 0);
  close(file);
}

static stage prepare(void) {
  stage t = {.s = start("")};
  double loss;
  make_file(t.file);
  make_file(t.json);
  ok(tpt_checkpoint_save(t.s.trainer, t.s.optimizer, t.file, NULL, 0));
  t.image = image_of(t.s.model, &t.length);
  ok(tpt_decoder_create(t.s.model, 0, &t.decoder));
  ok(tpt_decoder_create(t.s.model, 0, &t.generating));
  ok(tpt_decoder_feed(t.generating, t.s.tokens, 1, NULL));
  ok(tpt_dataset_from_tokens(t.s.context, t.s.tokens, ROWS, &t.dataset));
  ok(tpt_tokenizer_bytes(t.s.context, &t.bytes));
  ok(tpt_tokenizer_bpe(t.s.context, text, sizeof text - 1, 260, &t.bpe));
  ok(tpt_tokenizer_save(t.bpe, t.json));
  ok(tpt_trainer_forward(t.s.trainer, t.s.tokens, BATCH, MOST));
  ok(tpt_trainer_loss(t.s.trainer, t.s.targets, &loss));
  return t;
}

static void finish(stage *t) {
  tpt_tokenizer_destroy(t->bpe);
  tpt_tokenizer_destroy(t->bytes);
  tpt_dataset_destroy(t->dataset);
  tpt_decoder_destroy(t->generating);
  tpt_decoder_destroy(t->decoder);
  remove(t->file);
  remove(t->json);
  free(t->image);
  end(&t->s);
}

/* ---- the calls ---- */

/* Of what makes a handle: NULL after the failure. */
#define MAKES(name, kind, call)                                                                    \
  static tpt_status name(stage *t) {                                                               \
    kind *made = (kind *)(void *)t;                                                                \
    tpt_status status = call;                                                                      \
    if (status) ck_assert_ptr_null(made);                                                          \
    return status;                                                                                 \
  }
#define CALLS(name, call)                                                                          \
  static tpt_status name(stage *t) { return call; }

static double number, numbers[ROWS];
static float floats[ROWS * V];
static const float *logits;
static int32_t ids[64];
static char written[4096];
static size_t size;
static tpt_evaluation evaluation = {.size = sizeof evaluation};

MAKES(create, tpt_model, tpt_model_create(t->s.context, t->s.config, 1, &made))
MAKES(load, tpt_model, tpt_model_load(t->s.context, t->file, NULL, &made))
MAKES(load_memory, tpt_model, tpt_model_load_memory(t->s.context, t->image, t->length, NULL, &made))
CALLS(save, tpt_model_save(t->s.model, t->file))
CALLS(save_memory, tpt_model_save_memory(t->s.model, t->image, t->length, &size))
MAKES(fold, tpt_model, tpt_model_fold(t->s.model, &made))
MAKES(convert_f32, tpt_model, tpt_model_convert(t->s.model, "f32", &made))
MAKES(convert_bf16, tpt_model, tpt_model_convert(t->s.model, "bf16", &made))
MAKES(convert_int8, tpt_model, tpt_model_convert(t->s.model, "int8", &made))
MAKES(trainer_create, tpt_trainer, tpt_trainer_create(t->s.model, NULL, &made))
CALLS(forward, tpt_trainer_forward(t->s.trainer, t->s.tokens, BATCH, MOST))
CALLS(trainer_logits, tpt_trainer_logits(t->s.trainer, &logits))
CALLS(loss, tpt_trainer_loss(t->s.trainer, t->s.targets, &number))
CALLS(backward, tpt_trainer_backward(t->s.trainer))
CALLS(backward_logits, tpt_trainer_backward_logits(t->s.trainer, floats, ROWS *V))
CALLS(accumulate,
      tpt_trainer_accumulate(t->s.trainer, t->s.tokens, t->s.targets, BATCH, MOST, &number))
CALLS(zero_gradients, tpt_trainer_zero_gradients(t->s.trainer))
MAKES(optimizer_create, tpt_optimizer, tpt_optimizer_create(t->s.trainer, NULL, &made))
CALLS(checkpoint_save, tpt_checkpoint_save(t->s.trainer, t->s.optimizer, t->file, NULL, 0))
CALLS(checkpoint_load, tpt_checkpoint_load(t->s.trainer, t->s.optimizer, t->file, NULL, 0, NULL))
CALLS(feed, tpt_decoder_feed(t->decoder, t->s.tokens, 5, NULL))
CALLS(feed_one, tpt_decoder_feed(t->decoder, t->s.tokens, 1, NULL))
CALLS(feed_many, tpt_decoder_feed_many(&t->decoder, 1, t->s.tokens, NULL))
CALLS(score, tpt_decoder_score(t->decoder, t->s.tokens, 5, numbers))
CALLS(generate, tpt_decoder_generate(t->generating, -1, ids, 3, &size))
CALLS(score_one, tpt_decoder_score(t->decoder, t->s.tokens, 1, numbers))
MAKES(from_tokens, tpt_dataset, tpt_dataset_from_tokens(t->s.context, t->s.tokens, ROWS, &made))
CALLS(evaluate, tpt_evaluate(t->s.model, NULL, t->dataset, 8, 0, &evaluation))
MAKES(words, tpt_tokenizer, tpt_tokenizer_words(t->s.context, text, sizeof text - 1, 9, &made))
MAKES(bpe, tpt_tokenizer, tpt_tokenizer_bpe(t->s.context, text, sizeof text - 1, 300, &made))
MAKES(tokenizer_load, tpt_tokenizer, tpt_tokenizer_load(t->s.context, t->json, &made))
MAKES(tokenizer_parse, tpt_tokenizer, tpt_tokenizer_parse(t->s.context, "{}", 2, &made))
CALLS(tokenizer_save, tpt_tokenizer_save(t->bpe, t->json))
CALLS(format, tpt_tokenizer_format(t->bpe, written, sizeof written, &size))
CALLS(encode, tpt_tokenizer_encode(t->bpe, text, 3, ids, 64, &size))
CALLS(encode_bytes, tpt_tokenizer_encode(t->bytes, text, 3, ids, 64, &size))
CALLS(encode_text, tpt_tokenizer_encode_text(t->bpe, text, 3, ids, 64, &size))
CALLS(decode, tpt_tokenizer_decode(t->bpe, t->s.tokens, 3, written, sizeof written, &size))
CALLS(decode_bytes, tpt_tokenizer_decode(t->bytes, t->s.tokens, 3, written, sizeof written, &size))
CALLS(decode_tail,
      tpt_tokenizer_decode_tail(t->bpe, t->s.tokens, 3, 1, written, sizeof written, &size))

#define ROW(call)                                                                                  \
  { #call, call }
static const struct {
  const char *name;
  tpt_status (*call)(stage *t);
} calls[] = {ROW(create),
             ROW(load),
             ROW(load_memory),
             ROW(save),
             ROW(save_memory),
             ROW(fold),
             ROW(convert_f32),
             ROW(convert_bf16),
             ROW(convert_int8),
             ROW(trainer_create),
             ROW(forward),
             ROW(trainer_logits),
             ROW(loss),
             ROW(backward),
             ROW(backward_logits),
             ROW(accumulate),
             ROW(zero_gradients),
             ROW(optimizer_create),
             ROW(checkpoint_save),
             ROW(checkpoint_load),
             ROW(feed),
             ROW(feed_one),
             ROW(feed_many),
             ROW(score),
             ROW(score_one),
             ROW(generate),
             ROW(from_tokens),
             ROW(evaluate),
             ROW(words),
             ROW(bpe),
             ROW(tokenizer_load),
             ROW(tokenizer_parse),
             ROW(tokenizer_save),
             ROW(format),
             ROW(encode),
             ROW(encode_bytes),
             ROW(encode_text),
             ROW(decode),
             ROW(decode_bytes),
             ROW(decode_tail)};

START_TEST(each_can_be_ended) {
  stage t = prepare();
  ok(tpt_context_cancel(t.s.context, 1));
  tpt_status status = calls[_i].call(&t);
  ck_assert_msg(status == TPT_E_CANCELLED, "%s: %s", calls[_i].name, tpt_status_name(status));
  ck_assert_ptr_nonnull(strstr(tpt_error_message(), "tpt_context_cancel"));
  ok(tpt_context_cancel(t.s.context, 0));
  finish(&t);
}
END_TEST

static Suite *suite(void) {
  Suite *suite = suite_create("api/cancel");
  TCase *tests = tcase_create("cancel");
  tcase_add_loop_test(tests, each_can_be_ended, 0, sizeof calls / sizeof *calls);
  suite_add_tcase(suite, tests);
  return suite;
}

int main(void) { return tpti_test_main(suite()); }
