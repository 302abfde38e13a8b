/* Memory that runs out: each allocation of each call fails in turn, from the context's allocator
 * and from the C library. The call says TPT_E_MEMORY, keeps nothing, and works afterwards. */
#include "api/session.h"

#include <errno.h>
#include <unistd.h>

#include "support/allocator.h"

/* ---- the C library's functions as the library's own objects see them (-Wl,--wrap) ---- */

static size_t until; /* allocations that still work, while armed */
static int armed;

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *block, size_t bytes);
int __real_posix_memalign(void **block, size_t alignment, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *block, size_t bytes);
int __wrap_posix_memalign(void **block, size_t alignment, size_t bytes);

static int fails(void) {
  if (!armed) return 0;
  if (until == 0) return 1;
  until--;
  return 0;
}

void *__wrap_malloc(size_t bytes) { return fails() ? NULL : __real_malloc(bytes); }
void *__wrap_calloc(size_t count, size_t bytes) {
  return fails() ? NULL : __real_calloc(count, bytes);
}
void *__wrap_realloc(void *block, size_t bytes) {
  return fails() ? NULL : __real_realloc(block, bytes);
}

int __wrap_posix_memalign(void **block, size_t alignment, size_t bytes) {
  return fails() ? ENOMEM : __real_posix_memalign(block, alignment, bytes);
}

/* ---- what is swept ---- */

typedef struct world {
  session s;
  tpti_test_allocator memory;
  tpt_decoder *decoders[3];
  tpt_dataset *dataset;
  tpt_optimizer *optimizer;
  unsigned char *image;
  size_t length;
  char path[64], json[64];
  tpt_context *contexts[2]; /* the world's, and NULL */
  int which;
  bool kept; /* a result after a failure; Check's own allocations fail as well while armed */
} world;

static tpt_context *context_of(const world *w) { return w->contexts[w->which]; }

static tpt_status create_model(world *w) {
  tpt_model *model = NULL;
  tpt_status status = tpt_model_create(context_of(w), w->s.config, 3, &model);
  w->kept |= status && model;
  tpt_model_destroy(model);
  return status;
}

static tpt_status load_model(world *w) {
  tpt_model *model = NULL;
  tpt_status status = tpt_model_load(context_of(w), w->path, NULL, &model);
  w->kept |= status && model;
  tpt_model_destroy(model);
  return status;
}

static tpt_status load_image(world *w) {
  tpt_model *model = NULL;
  tpt_status status =
      tpt_model_load_memory(context_of(w), w->image, w->length, w->s.config, &model);
  w->kept |= status && model;
  tpt_model_destroy(model);
  return status;
}

static tpt_status save_model(world *w) { return tpt_model_save(w->s.model, w->path); }

static tpt_status save_image(world *w) {
  return tpt_model_save_memory(w->s.model, w->image, w->length, &w->length);
}

static tpt_status fold(world *w) {
  tpt_model *model = NULL;
  tpt_status status = tpt_model_fold(w->s.model, &model);
  tpt_model_destroy(model);
  return status;
}

static tpt_status convert(world *w) {
  tpt_model *model = NULL;
  tpt_status status = tpt_model_convert(w->s.model, "f32", &model);
  tpt_model_destroy(model);
  return status;
}

static tpt_status set_profile(world *w) {
  float profile[MOST];
  tpti_test_fill(profile, MOST, 1);
  return tpt_model_set_tensor(w->s.model, "embedding.dc_profile", profile, MOST);
}

static tpt_status create_trainer(world *w) {
  tpt_trainer *trainer = NULL;
  tpt_status status = tpt_trainer_create(w->s.model, w->s.config, &trainer);
  tpt_trainer_destroy(trainer);
  return status;
}

static tpt_status first_logits(world *w) {
  tpt_trainer *trainer = NULL;
  const float *logits;
  tpt_status status = tpt_trainer_create(w->s.model, NULL, &trainer);
  if (!status) status = tpt_trainer_forward(trainer, w->s.tokens, BATCH, MOST);
  if (!status) status = tpt_trainer_logits(trainer, &logits);
  tpt_trainer_destroy(trainer);
  return status;
}

static tpt_status create_optimizer(world *w) {
  tpt_optimizer *optimizer = NULL;
  tpt_status status = tpt_optimizer_create(w->s.trainer, NULL, &optimizer);
  tpt_optimizer_destroy(optimizer);
  return status;
}

static tpt_status step(world *w) {
  double loss;
  tpt_status status = tpt_trainer_zero_gradients(w->s.trainer);
  if (!status)
    status = tpt_trainer_accumulate(w->s.trainer, w->s.tokens, w->s.targets, BATCH, MOST, &loss);
  return status ? status : tpt_optimizer_step(w->s.optimizer, NULL);
}

static tpt_status save_checkpoint(world *w) {
  return tpt_checkpoint_save(w->s.trainer, w->s.optimizer, w->path, "abc", 3);
}

static tpt_status load_checkpoint(world *w) {
  char user[3];
  size_t size;
  return tpt_checkpoint_load(w->s.trainer, w->s.optimizer, w->path, user, 3, &size);
}

static tpt_status create_decoder(world *w) {
  tpt_decoder *decoder = NULL;
  tpt_status status = tpt_decoder_create(w->s.model, 0, &decoder);
  tpt_decoder_destroy(decoder);
  return status;
}

static tpt_status decode(world *w) {
  double scores[2];
  int32_t token;
  tpt_status status = TPT_OK;
  for (int i = 0; i < 3 && !status; i++) status = tpt_decoder_rewind(w->decoders[i], 0);
  if (!status) status = tpt_decoder_feed_many(w->decoders, 3, w->s.tokens, NULL);
  if (!status) status = tpt_decoder_feed(w->decoders[0], w->s.tokens, 9, NULL);
  if (!status) status = tpt_decoder_score(w->decoders[1], w->s.tokens, 2, scores);
  if (!status) status = tpt_decoder_copy(w->decoders[0], w->decoders[2]);
  return status ? status : tpt_decoder_sample(w->decoders[2], &token);
}

static tpt_status make_dataset(world *w) {
  tpt_dataset *dataset = NULL;
  tpt_status status = tpt_dataset_from_tokens(context_of(w), w->s.tokens, ROWS, &dataset);
  tpt_dataset_destroy(dataset);
  return status;
}

static tpt_status evaluate(world *w) {
  tpt_evaluation result = {.size = sizeof result};
  return tpt_evaluate(w->s.model, w->s.config, w->dataset, 8, 0, &result);
}

static const char words[] = "the cat sat on the mat, and the dog sat on the cat; and on and on";

static tpt_status train_bpe(world *w) {
  tpt_tokenizer *tokenizer = NULL;
  tpt_status status = tpt_tokenizer_bpe(context_of(w), words, sizeof words - 1, 270, &tokenizer);
  tpt_tokenizer_destroy(tokenizer);
  return status;
}

static tpt_status count_words(world *w) {
  tpt_tokenizer *tokenizer = NULL;
  tpt_status status = tpt_tokenizer_words(context_of(w), words, sizeof words - 1, 9, &tokenizer);
  tpt_tokenizer_destroy(tokenizer);
  return status;
}

static tpt_status make_context(world *w) {
  tpt_context *context = NULL;
  (void)w;
  tpt_status status = tpt_context_create(&context);
  tpt_context_destroy(context);
  return status;
}

static tpt_status describe_all(world *w) {
  tpt_config *config = NULL, *copy = NULL, *parsed = NULL;
  char text[4000];
  size_t length = 0;
  (void)w;
  tpt_status status = tpt_config_preset("3pt-123m", &config);
  if (!status)
    status = tpt_config_set(config, "model.rotation.schedule", "[1,2,3,4,5,6,7,8,9,10,11,12]");
  if (!status) status = tpt_config_copy(config, &copy);
  if (!status) status = tpt_config_format(copy, text, sizeof text, &length);
  if (!status) status = tpt_config_parse(text, length, &parsed);
  tpt_config_destroy(config);
  tpt_config_destroy(copy);
  tpt_config_destroy(parsed);
  return status;
}

static const struct {
  const char *name;
  tpt_status (*call)(world *w);
} ops[] = {{"model_create", create_model},
           {"model_load_memory", load_image},
           {"model_save", save_model},
           {"model_load", load_model},
           {"model_save_memory", save_image},
           {"model_fold", fold},
           {"model_convert", convert},
           {"model_set_tensor", set_profile},
           {"trainer_create", create_trainer},
           {"trainer_logits", first_logits},
           {"optimizer_create", create_optimizer},
           {"accumulate and step", step},
           {"checkpoint_save", save_checkpoint},
           {"checkpoint_load", load_checkpoint},
           {"decoder_create", create_decoder},
           {"decoding", decode},
           {"dataset_from_tokens", make_dataset},
           {"evaluate", evaluate},
           {"tokenizer_bpe", train_bpe},
           {"tokenizer_words", count_words},
           {"context_create", make_context},
           {"config", describe_all}};
enum { OPS = sizeof ops / sizeof *ops, CHECKPOINT_SAVE = 12 };

static world begin(void) {
  world w = {0};
  tpt_context *context;
  ok(tpt_context_create(&context));
  ok(tpt_context_set_threads(context, 2));
  w.s.context = context;
  strcpy(w.path, "/tmp/3pt-test-XXXXXX");
  int file = mkstemp(w.path);
  ck_assert_int_ge(file, 0);
  close(file);
  return w;
}

/* In place: the allocator's address stays. */
static void furnish(world *w) {
  tpti_test_allocator_init(&w->memory);
  ok(tpt_context_set_allocator(w->s.context, &w->memory.allocator));
  w->s = start_in(w->s.context, "");
  w->contexts[0] = w->s.context;
  w->image = image_of(w->s.model, &w->length);
  ok(tpt_dataset_from_tokens(w->s.context, w->s.tokens, ROWS, &w->dataset));
  for (int i = 0; i < 3; i++) ok(tpt_decoder_create(w->s.model, 0, &w->decoders[i]));
  ok(save_checkpoint(w));
}

static void finish(world *w) {
  for (int i = 0; i < 3; i++) tpt_decoder_destroy(w->decoders[i]);
  tpt_dataset_destroy(w->dataset);
  free(w->image);
  remove(w->path);
  end(&w->s);
  ck_assert_uint_eq(tpti_test_allocator_live(&w->memory), 0);
}

static void check_failure(const world *w, int op, size_t n, tpt_status status) {
  ck_assert_msg(status == TPT_E_MEMORY, "%s, allocation %zu: %s: %s", ops[op].name, n,
                tpt_status_name(status), tpt_error_message());
  ck_assert_str_ne(tpt_error_message(), "");
  ck_assert_msg(!w->kept, "%s, allocation %zu: a result that is not NULL", ops[op].name, n);
}

/* Every allocation of the context's allocator. The pool was not used before: fewer threads are no
 * failure. */
START_TEST(from_the_allocator) {
  world w = begin();
  furnish(&w);
  ok(ops[_i].call(&w)); /* what stays by design: threads */
  size_t live = tpti_test_allocator_live(&w.memory);
  tpt_status status = TPT_E_MEMORY;
  for (size_t n = 1; status; n++) {
    tpti_test_allocator_fail_at(&w.memory, n);
    status = ops[_i].call(&w);
    tpti_test_allocator_fail_at(&w.memory, 0);
    if (status) check_failure(&w, _i, n, status);
    ck_assert_uint_eq(tpti_test_allocator_live(&w.memory), live);
    ck_assert_uint_lt(n, 5000);
  }
  ok(ops[_i].call(&w));
  double loss = train_step(&w.s, 1);
  ck_assert_double_gt(loss, 0);
  finish(&w);
}
END_TEST

/* Every malloc, calloc, realloc and posix_memalign of the library, here with contexts of the
 * objects' own too. What it leaks shows under valgrind and AddressSanitizer. */
START_TEST(from_the_c_library) {
  for (int which = 0; which < 2; which++) {
    world w = begin();
    furnish(&w);
    w.which = which;
    ok(ops[_i].call(&w));
    size_t live = tpti_test_allocator_live(&w.memory);
    tpt_status status = TPT_E_MEMORY;
    for (size_t n = 0; status; n++) {
      until = n;
      armed = 1;
      status = ops[_i].call(&w);
      armed = 0;
      if (status) check_failure(&w, _i, n, status);
      ck_assert_uint_eq(tpti_test_allocator_live(&w.memory), live);
      ck_assert_uint_lt(n, 5000);
    }
    ok(ops[_i].call(&w));
    finish(&w);
  }
}
END_TEST

/* A pool whose threads cannot have memory works with fewer, with the same bits. */
START_TEST(threads_that_cannot_be) {
  session want = start("");
  for (size_t n = 1; n < 8; n++) {
    tpti_test_allocator a;
    tpt_context *context;
    tpti_test_allocator_init(&a);
    ok(tpt_context_create(&context));
    ok(tpt_context_set_threads(context, 4));
    ok(tpt_context_set_allocator(context, &a.allocator));
    session s = start_in(context, "");
    tpti_test_allocator_fail_at(&a, n);
    double loss = train_step(&s, 5);
    tpti_test_allocator_fail_at(&a, 0);
    ck_assert_double_gt(loss, 0);
    if (n == 1) train_step(&want, 5);
    ck_assert(same_model_bytes(s.model, want.model));
    end(&s);
    ck_assert_uint_eq(tpti_test_allocator_live(&a), 0);
  }
  end(&want);
}
END_TEST

static Suite *suite(void) {
  Suite *suite = suite_create("api/chaos");
  TCase *tests = tcase_create("chaos");
  tcase_add_loop_test(tests, from_the_allocator, 0, OPS);
  tcase_add_loop_test(tests, from_the_c_library, 0, OPS);
  tcase_add_test(tests, threads_that_cannot_be);
  suite_add_tcase(suite, tests);
  return suite;
}

int main(void) { return tpti_test_main(suite()); }
