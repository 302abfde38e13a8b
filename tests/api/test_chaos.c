/* Memory that runs out: each allocation of each call fails in turn, from the context's allocator
 * and from the C library. The call says TPT_E_MEMORY, keeps nothing, and works afterwards. */
#include "api/session.h"

#include <errno.h>
#include <unistd.h>

#include "support/allocator.h"

/* ---- the C library's functions: of the whole process, also as libyaml and PCRE2 see them; under a
 * sanitizer, whose own they are, as the library's own objects do (-Wl,--wrap) ---- */

static size_t until;    /* allocations that still work, while armed */
static int armed, once; /* once: only the next one fails */
static size_t refusals; /* since it was armed */

#ifdef WRAPPED
#define REPLACED(name) __wrap_##name
#define REAL(name)     __real_##name
#else
#define REPLACED(name) name
#define REAL(name)     __libc_##name
#endif
void *REAL(malloc)(size_t bytes);
void *REAL(calloc)(size_t count, size_t bytes);
void *REAL(realloc)(void *block, size_t bytes);
void *REAL(memalign)(size_t alignment, size_t bytes);
void *REPLACED(malloc)(size_t bytes);
void *REPLACED(calloc)(size_t count, size_t bytes);
void *REPLACED(realloc)(void *block, size_t bytes);
int REPLACED(posix_memalign)(void **block, size_t alignment, size_t bytes);

static int fails(void) {
  if (!armed) return 0;
  if (until > 0) {
    until--;
    return 0;
  }
  armed = !once;
  refusals++;
  errno = ENOMEM;
  return 1;
}

void *REPLACED(malloc)(size_t bytes) { return fails() ? NULL : REAL(malloc)(bytes); }
void *REPLACED(calloc)(size_t count, size_t bytes) {
  return fails() ? NULL : REAL(calloc)(count, bytes);
}
void *REPLACED(realloc)(void *block, size_t bytes) {
  return fails() ? NULL : REAL(realloc)(block, bytes);
}

int REPLACED(posix_memalign)(void **block, size_t alignment, size_t bytes) {
  if (fails()) return ENOMEM;
  *block = REAL(memalign)(alignment, bytes);
  return *block ? 0 : ENOMEM;
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
  char path[64], json[64];  /* a model, a tokenizer */
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

static char saved[1 << 16]; /* the tokenizer of the world's file */
static size_t saved_length;

static void save_tokenizer(world *w) {
  tpt_tokenizer *tokenizer;
  ok(tpt_tokenizer_bpe(w->s.context, words, sizeof words - 1, 270, &tokenizer));
  ok(tpt_tokenizer_save(tokenizer, w->json));
  ok(tpt_tokenizer_format(tokenizer, saved, sizeof saved, &saved_length));
  tpt_tokenizer_destroy(tokenizer);
}

static void check_loaded(world *w, const tpt_tokenizer *tokenizer) {
  static char text[sizeof saved];
  size_t length = 0;
  armed = 0;
  tpti_test_allocator_fail_at(&w->memory, 0);
  ok(tpt_tokenizer_format(tokenizer, text, sizeof text, &length));
  ck_assert_uint_eq(length, saved_length);
  ck_assert_mem_eq(text, saved, length);
}

static tpt_status load_tokenizer(world *w) {
  tpt_tokenizer *tokenizer = NULL;
  tpt_status status = tpt_tokenizer_load(context_of(w), w->json, &tokenizer);
  if (!status) check_loaded(w, tokenizer);
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
           {"tokenizer_load", load_tokenizer},
           {"context_create", make_context},
           {"config", describe_all}};
enum { OPS = sizeof ops / sizeof *ops, CHECKPOINT_SAVE = 12 };

static void make_file(char path[64]) {
  strcpy(path, "/tmp/3pt-test-XXXXXX");
  int file = mkstemp(path);
  ck_assert_int_ge(file, 0);
  close(file);
}

static world begin(void) {
  world w = {0};
  tpt_context *context;
  ok(tpt_context_create(&context));
  ok(tpt_context_set_threads(context, 2));
  w.s.context = context;
  make_file(w.path);
  make_file(w.json);
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
  save_tokenizer(w);
}

static void finish(world *w) {
  for (int i = 0; i < 3; i++) tpt_decoder_destroy(w->decoders[i]);
  tpt_dataset_destroy(w->dataset);
  free(w->image);
  remove(w->path);
  remove(w->json);
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

/* What malloc and its like refuse, here with contexts of the objects' own too. What it leaks shows
 * under valgrind and AddressSanitizer. */
static void refuse_in_turn(int op, int which) {
  world w = begin();
  furnish(&w);
  w.which = which;
  ok(ops[op].call(&w));
  size_t live = tpti_test_allocator_live(&w.memory);
  refusals = 1;
  for (size_t n = 0; refusals; n++) {
    until = n;
    refusals = 0;
    armed = 1;
    tpt_status status = ops[op].call(&w);
    armed = 0;
    if (status) check_failure(&w, op, n, status);
    ck_assert_uint_eq(tpti_test_allocator_live(&w.memory), live);
    ck_assert_uint_lt(n, 20000);
  }
  ok(ops[op].call(&w));
  finish(&w);
}

START_TEST(from_the_c_library) {
  once = 0;
  for (int which = 0; which < 2; which++) refuse_in_turn(_i, which);
}
END_TEST

/* Only one fails: what goes on all the same must not go on with other data. */
START_TEST(once_from_the_c_library) {
  once = 1;
  for (int which = 0; which < 2; which++) refuse_in_turn(_i, which);
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
  tcase_add_loop_test(tests, once_from_the_c_library, 0, OPS);
  tcase_add_test(tests, threads_that_cannot_be);
  suite_add_tcase(suite, tests);
  return suite;
}

int main(void) { return tpti_test_main(suite()); }
