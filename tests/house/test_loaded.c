/* The library as a program loads it that was not linked to it: by dlopen, more than once, beside a
 * second copy, for all to see. Nothing of it is linked to this program; its path is an argument. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <3pt/3pt.h>

#include "support/folder.h"
#include "support/runner.h"

static const char *library;

/* ---- the functions of one copy ---- */

/* It would move these lines again each time. */
/* clang-format off */
#define FUNCTIONS(F) \
  F(version) F(check_version) F(error_message) F(context_create) F(context_set_threads) \
  F(context_destroy) F(config_parse) F(config_destroy) F(model_create) F(model_destroy) \
  F(trainer_create) F(trainer_destroy) F(trainer_accumulate) F(trainer_zero_gradients) \
  F(optimizer_create) F(optimizer_step) F(optimizer_destroy) F(decoder_create) \
  F(decoder_feed) F(decoder_destroy)
/* clang-format on */

typedef struct copy {
  void *loaded;
#define F(name) __typeof__(&tpt_##name) name;
  FUNCTIONS(F)
#undef F
} copy;

static void find(void *loaded, const char *name, void *function) {
  void *found = dlsym(loaded, name);
  ck_assert_msg(found != NULL, "%s is not there", name);
  memcpy(function, &found, sizeof found);
}

static copy load(const char *path, int flags) {
  copy c = {.loaded = dlopen(path, RTLD_NOW | flags)};
  ck_assert_msg(c.loaded != NULL, "%s", dlerror());
#define F(name) find(c.loaded, "tpt_" #name, &c.name);
  FUNCTIONS(F)
#undef F
  return c;
}

static void unload(copy *c) { ck_assert_int_eq(dlclose(c->loaded), 0); }

/* ---- a life with it ---- */

enum { SEQ = 16, V = 23 };

typedef struct life {
  tpt_context *context;
  tpt_config *config;
  tpt_model *model;
  tpt_trainer *trainer;
  tpt_optimizer *optimizer;
  double loss;
  float logits[V];
} life;

static void ok(const copy *c, tpt_status status) {
  if (status != TPT_OK) ck_abort_msg("%d: %s", status, c->error_message());
}

static life begin(const copy *c) {
  static const char text[] = "{model: {vocab_size: 23, d_model: 24, n_layers: 2, n_q_heads: 6, "
                             "n_kv_heads: 3, d_ff: 20, max_seq_len: 16}, train: {batch: 1}}";
  life l = {0};
  ok(c, c->context_create(&l.context));
  ok(c, c->context_set_threads(l.context, 3));
  ok(c, c->config_parse(text, sizeof text - 1, &l.config));
  ok(c, c->model_create(l.context, l.config, 1, &l.model));
  ok(c, c->trainer_create(l.model, NULL, &l.trainer));
  ok(c, c->optimizer_create(l.trainer, NULL, &l.optimizer));
  return l;
}

static void step(const copy *c, life *l) {
  int32_t tokens[SEQ];
  for (int32_t i = 0; i < SEQ; i++) tokens[i] = i * 5 % V;
  ok(c, c->trainer_zero_gradients(l->trainer));
  ok(c, c->trainer_accumulate(l->trainer, tokens, tokens, 1, SEQ, &l->loss));
  ok(c, c->optimizer_step(l->optimizer, NULL));
}

static void finish(const copy *c, life *l) {
  tpt_decoder *decoder;
  const float *logits;
  ok(c, c->decoder_create(l->model, 0, &decoder));
  ok(c, c->decoder_feed(decoder, &(int32_t){7}, 1, &logits));
  memcpy(l->logits, logits, sizeof l->logits);
  c->decoder_destroy(decoder);
  c->optimizer_destroy(l->optimizer);
  c->trainer_destroy(l->trainer);
  c->model_destroy(l->model);
  c->config_destroy(l->config);
  c->context_destroy(l->context);
}

static life whole_life(const copy *c) {
  life l = begin(c);
  for (int i = 0; i < 3; i++) step(c, &l);
  finish(c, &l);
  return l;
}

static void same(const life *a, const life *b) {
  ck_assert(a->loss == b->loss);
  ck_assert_mem_eq(a->logits, b->logits, sizeof a->logits);
}

/* ---- tests ---- */

START_TEST(the_version_before_all_else) {
  copy c = load(library, RTLD_LOCAL);
  char text[32];
  snprintf(text, sizeof text, "%d.%d.%d", TPT_VERSION_MAJOR, TPT_VERSION_MINOR, TPT_VERSION_PATCH);
  ck_assert_str_eq(c.version(), text);
  ok(&c, c.check_version(TPT_VERSION_MAJOR, TPT_VERSION_MINOR, TPT_VERSION_PATCH));
  ck_assert_int_eq(c.check_version(TPT_VERSION_MAJOR, TPT_VERSION_MINOR + 1, 0), TPT_E_UNSUPPORTED);
  unload(&c);
}
END_TEST

/* Opened, used, closed, and again: it is gone in between, with its threads and descriptors. */
START_TEST(again_and_again) {
  size_t threads = tpti_test_entries("/proc/self/task"), files = 0;
  life first = {0};
  for (int i = 0; i < 4; i++) {
    copy c = load(library, RTLD_LOCAL);
    life l = whole_life(&c);
    unload(&c);
    ck_assert_ptr_null(dlopen(library, RTLD_NOW | RTLD_NOLOAD));
    ck_assert_uint_eq(tpti_test_entries("/proc/self/task"), threads);
    if (i == 0) first = l, files = tpti_test_entries("/proc/self/fd");
    ck_assert_uint_eq(tpti_test_entries("/proc/self/fd"), files);
    same(&l, &first);
  }
}
END_TEST

static void copy_file(const char *from, const char *to) {
  char bytes[4096];
  FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
  ck_assert(in && out);
  for (size_t n; (n = fread(bytes, 1, sizeof bytes, in));) fwrite(bytes, 1, n, out);
  fclose(in);
  ck_assert_int_eq(fclose(out), 0);
}

/* Two copies in one process, as two plug-ins bring them along: neither sees the other. */
START_TEST(two_copies_at_once) {
  char folder[] = "/tmp/3pt-test-XXXXXX", path[64];
  ck_assert_ptr_nonnull(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/other.so", folder);
  copy_file(library, path);
  copy a = load(library, _i ? RTLD_GLOBAL : RTLD_LOCAL),
       b = load(path, _i ? RTLD_GLOBAL : RTLD_LOCAL);
  ck_assert(a.model_create != b.model_create);
  life want = whole_life(&a), x = begin(&a), y = begin(&b);
  for (int i = 0; i < 3; i++) step(&a, &x), step(&b, &y);
  ck_assert_int_ne(a.trainer_accumulate(x.trainer, NULL, NULL, 1, 1, &x.loss), TPT_OK);
  ck_assert_str_ne(a.error_message(), "");
  ck_assert_str_eq(b.error_message(), "");
  finish(&a, &x);
  unload(&a);
  finish(&b, &y); /* goes on without the other */
  same(&x, &want);
  same(&y, &want);
  unload(&b);
  remove(path);
  ck_assert_int_eq(rmdir(folder), 0);
}
END_TEST

/* ---- names of the host that the library has inside: this program exports them ---- */

static int taken;
void tpti_gemm_run(void);
void tpti_fail(void);
void tpti_parallel(void);
void *tpti_take(void);
void tpti_gemm_run(void) { taken++; }
void tpti_fail(void) { taken++; }
void tpti_parallel(void) { taken++; }
void *tpti_take(void) {
  taken++;
  return NULL;
}

START_TEST(for_all_to_see) {
  copy c = load(library, RTLD_GLOBAL);
  ck_assert_ptr_null(dlsym(c.loaded, "tpti_gemm_run"));
  void *mine = dlsym(RTLD_DEFAULT, "tpti_gemm_run");
  ck_assert_ptr_nonnull(mine); /* else the host's names were not there to be taken */
  life l = whole_life(&c);
  ck_assert_int_ne(c.config_parse("{", 1, &l.config), TPT_OK);
  ck_assert_int_eq(taken, 0);
  unload(&c);
}
END_TEST

static Suite *suite(void) {
  Suite *suite = suite_create("house/loaded");
  TCase *tests = tcase_create("loaded");
  tcase_add_test(tests, the_version_before_all_else);
  tcase_add_test(tests, again_and_again);
  tcase_add_loop_test(tests, two_copies_at_once, 0, 2);
  tcase_add_test(tests, for_all_to_see);
  suite_add_tcase(suite, tests);
  return suite;
}

int main(int argc, char **argv) {
  if (argc != 2) return EXIT_FAILURE;
  library = argv[1];
  return tpti_test_main(suite());
}
