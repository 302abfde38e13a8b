/* The host's process is not ours: nothing is printed, also where the standard descriptors are
 * closed; no environment variable is read; threads, signals and locale are left alone. */
#include "api/session.h"

#include <fcntl.h>
#include <fenv.h>
#include <locale.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "support/folder.h"
#include "support/standard.h"

/* ---- who asks for the environment ---- */

extern char **environ;
static char asked[512]; /* names, while watching */
static int watching;

static char *look_up(const char *name) {
  size_t length = strlen(name);
  if (watching && strlen(asked) + length + 2 < sizeof asked) strcat(strcat(asked, name), " ");
  for (char **at = environ; at && *at; at++)
    if (strncmp(*at, name, length) == 0 && (*at)[length] == '=') return *at + length + 1;
  return NULL;
}

char *getenv(const char *name) { return look_up(name); }
char *secure_getenv(const char *name) { return look_up(name); }

/* ---- who opens files ---- */

static char opened[4096]; /* paths, while watching */

static int open_and_note(int at, const char *path, int flags, mode_t mode) {
  if (watching && strlen(opened) + strlen(path) + 2 < sizeof opened)
    strcat(strcat(opened, path), "\n");
  return (int)syscall(SYS_openat, at, path, flags, mode);
}

/* Of a file that is made. */
static mode_t mode_of(int flags, va_list rest) {
  return flags & O_CREAT ? (mode_t)va_arg(rest, unsigned) : 0;
}

/* In place of the C library's, which has two names of each: the second for large files. */
#define OPENS(ours, name)                                                                          \
  int ours(const char *path, int flags, ...) __asm__(name);                                        \
  int ours(const char *path, int flags, ...) {                                                     \
    va_list rest;                                                                                  \
    va_start(rest, flags);                                                                         \
    mode_t mode = mode_of(flags, rest);                                                            \
    va_end(rest);                                                                                  \
    return open_and_note(AT_FDCWD, path, flags, mode);                                             \
  }
#define OPENS_AT(ours, name)                                                                       \
  int ours(int at, const char *path, int flags, ...) __asm__(name);                                \
  int ours(int at, const char *path, int flags, ...) {                                             \
    va_list rest;                                                                                  \
    va_start(rest, flags);                                                                         \
    mode_t mode = mode_of(flags, rest);                                                            \
    va_end(rest);                                                                                  \
    return open_and_note(at, path, flags, mode);                                                   \
  }
OPENS(our_open, "open")
OPENS(our_open64, "open64")
OPENS_AT(our_openat, "openat")
OPENS_AT(our_openat64, "openat64")

/* ---- a whole life: train, save, load, decode, evaluate, fail ---- */

static char folder[64];

static void make_folder(void) {
  strcpy(folder, "/tmp/3pt-test-XXXXXX");
  ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void remove_folder(void) { tpti_test_remove_folder(folder); }

/* The first failure of the calls below, or 0: standard error may be elsewhere, so nothing is
 * asserted. */
static int train_and_save(session *s, const char *model, const char *checkpoint) {
  double loss;
  for (int i = 0; i < 3; i++) {
    if (tpt_trainer_zero_gradients(s->trainer)) return 1;
    if (tpt_trainer_accumulate(s->trainer, s->tokens, s->targets, BATCH, MOST, &loss)) return 2;
    if (tpt_optimizer_step(s->optimizer, NULL)) return 3;
  }
  if (tpt_model_save(s->model, model)) return 4;
  return tpt_checkpoint_save(s->trainer, s->optimizer, checkpoint, "x", 1) ? 5 : 0;
}

static int load_and_decode(const char *model, const char *checkpoint, session *s) {
  tpt_model *loaded = NULL, *none = NULL;
  tpt_decoder *decoder = NULL;
  tpt_tokenizer *tokenizer = NULL;
  tpt_config *config = NULL;
  int32_t token;
  if (tpt_checkpoint_load(s->trainer, s->optimizer, checkpoint, NULL, 0, NULL)) return 10;
  if (tpt_model_load(NULL, model, NULL, &loaded)) return 11;
  if (tpt_decoder_create(loaded, 0, &decoder)) return 12;
  if (tpt_decoder_feed(decoder, s->tokens, 5, NULL)) return 13;
  if (tpt_decoder_sample(decoder, &token)) return 14;
  if (tpt_tokenizer_bytes(NULL, &tokenizer)) return 15;
  if (!tpt_model_load(NULL, "/none/there", NULL, &none)) return 16;
  if (!tpt_model_load_memory(NULL, "junk junk junk", 14, NULL, &none)) return 17;
  if (!tpt_config_parse("model: {d_model: seven}", 23, &config)) return 18;
  tpt_tokenizer_destroy(tokenizer);
  tpt_decoder_destroy(decoder);
  tpt_model_destroy(loaded);
  return 0;
}

static int whole_life(const char *model, const char *checkpoint) {
  session s = start("");
  int failed = train_and_save(&s, model, checkpoint);
  if (!failed) failed = load_and_decode(model, checkpoint, &s);
  end(&s);
  return failed;
}

static void in_folder(char path[128], const char *name) {
  snprintf(path, 128, "%s/%s", folder, name);
}

/* ---- tests ---- */

START_TEST(nothing_is_printed) {
  char model[128], checkpoint[128], output[128];
  in_folder(model, "model");
  in_folder(checkpoint, "checkpoint");
  in_folder(output, "output");
  fflush(stdout);
  int kept[2] = {dup(1), dup(2)}, file = open(output, O_CREAT | O_RDWR, 0600);
  ck_assert(file >= 0 && kept[0] >= 0 && kept[1] >= 0);
  dup2(file, 1);
  dup2(file, 2);
  int failed = whole_life(model, checkpoint);
  fflush(NULL); /* what stdio may hold back */
  struct stat facts;
  int told = fstat(file, &facts);
  dup2(kept[0], 1);
  dup2(kept[1], 2);
  close(kept[0]), close(kept[1]), close(file);
  ck_assert_int_eq(failed, 0);
  ck_assert(told == 0 && facts.st_size == 0);
}
END_TEST

/* Descriptors 0 to 2 closed: a file gets one of them, and must not be written into by anybody. */
START_TEST(closed_descriptors) {
  char model[128], checkpoint[128];
  in_folder(model, "model");
  in_folder(checkpoint, "checkpoint");
  tpti_test_standard standard = tpti_test_close_standard();
  int failed = whole_life(model, checkpoint), left = tpti_test_open_standard(&standard);
  ck_assert_int_eq(failed, 0);
  ck_assert_int_eq(left, 0); /* all that was opened was closed */
  session s = start("");
  tpt_model *loaded, *from_checkpoint;
  ck_assert_int_eq(train_and_save(&s, model, checkpoint), 0);
  ok(tpt_model_load(NULL, model, NULL, &loaded));
  ok(tpt_model_load(NULL, checkpoint, NULL, &from_checkpoint));
  ck_assert(same_model_bytes(loaded, s.model) && same_model_bytes(from_checkpoint, s.model));
  tpt_model_destroy(loaded);
  tpt_model_destroy(from_checkpoint);
  end(&s);
}
END_TEST

/* Notes what is asked for, or opened, meanwhile. */
static void watch_a_life(char *noted) {
  char model[128], checkpoint[128];
  in_folder(model, "model");
  in_folder(checkpoint, "checkpoint");
  noted[0] = '\0';
  watching = 1;
  int failed = whole_life(model, checkpoint);
  watching = 0;
  ck_assert_int_eq(failed, 0);
}

/* Matrix products may come from BLIS, which has variables of its own; so has Check. */
START_TEST(the_environment_is_not_read) {
  watch_a_life(asked);
  char *rest = asked;
  for (char *name; (name = strtok_r(rest, " ", &rest));)
    ck_assert_msg(!strncmp(name, "BLIS_", 5) || !strncmp(name, "CK_", 3), "%s was read", name);
}
END_TEST

/* But what it was given: the files of the test, and what tells of processors. */
START_TEST(no_other_file_is_opened) {
  watch_a_life(opened);
  char model[128];
  in_folder(model, "model");
  ck_assert_ptr_nonnull(strstr(opened, model)); /* they are seen */
  char *rest = opened;
  for (char *path; (path = strtok_r(rest, "\n", &rest));)
    ck_assert_msg(!strncmp(path, folder, strlen(folder)) || !strncmp(path, ".3pt-", 5) ||
                      !strcmp(path, "/none/there") || !strncmp(path, "/proc/self/", 11) ||
                      !strncmp(path, "/sys/fs/cgroup", 14),
                  "%s was opened", path);
}
END_TEST

/* Threads and descriptors are gone with their handles; handlers, masks, locale and rounding are as
 * before. */
START_TEST(nothing_is_left) {
  char model[128], checkpoint[128];
  in_folder(model, "model");
  in_folder(checkpoint, "checkpoint");
  ck_assert_int_eq(whole_life(model, checkpoint), 0); /* once for what others keep */
  size_t threads = tpti_test_entries("/proc/self/task"), files = tpti_test_entries("/proc/self/fd");
  struct sigaction before[32], after;
  sigset_t mask, mask_after;
  memset(before, 0, sizeof before);
  for (int i = 1; i < 32; i++) sigaction(i, NULL, &before[i]);
  sigprocmask(SIG_SETMASK, NULL, &mask);
  char locale[64];
  strcpy(locale, setlocale(LC_ALL, NULL));
  ck_assert_int_eq(whole_life(model, checkpoint), 0);
  ck_assert_uint_eq(tpti_test_entries("/proc/self/task"), threads);
  ck_assert_uint_eq(tpti_test_entries("/proc/self/fd"), files);
  for (int i = 1; i < 32; i++) {
    sigaction(i, NULL, &after);
    ck_assert(after.sa_handler == before[i].sa_handler);
  }
  sigprocmask(SIG_SETMASK, NULL, &mask_after);
  for (int i = 1; i < 32; i++) ck_assert_int_eq(sigismember(&mask, i), sigismember(&mask_after, i));
  ck_assert_str_eq(setlocale(LC_ALL, NULL), locale);
  ck_assert_int_eq(fegetround(), FE_TONEAREST);
}
END_TEST

/* The folder of a save holds what was asked for and nothing else. */
START_TEST(no_other_file) {
  char model[128], checkpoint[128];
  in_folder(model, "model");
  in_folder(checkpoint, "checkpoint");
  for (int i = 0; i < 2; i++) ck_assert_int_eq(whole_life(model, checkpoint), 0);
  ck_assert_uint_eq(tpti_test_entries(folder), 2);
}
END_TEST

/* Numbers with a comma, where this machine has such a locale; else C, which must hold as well. */
START_TEST(locale_of_the_host) {
  static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "de_DE", "fr_FR.UTF-8", "C"};
  char model[128], checkpoint[128], text[4000], other[4000];
  size_t length;
  session s = start("model.dc.tau=2.5; model.dc.profile=exponential; train.lr=1.5e-3");
  ok(tpt_config_format(s.config, text, sizeof text, &length));
  for (size_t i = 0; i < sizeof names / sizeof *names && !setlocale(LC_ALL, names[i]); i++)
    continue;
  in_folder(model, "model");
  in_folder(checkpoint, "checkpoint");
  int failed = whole_life(model, checkpoint);
  tpt_config *parsed = NULL;
  tpt_status status = tpt_config_parse(text, length, &parsed);
  if (!status) status = tpt_config_format(parsed, other, sizeof other, &length);
  setlocale(LC_ALL, "C");
  ck_assert_int_eq(failed, 0);
  ck_assert_int_eq(status, TPT_OK);
  ck_assert_str_eq(text, other);
  tpt_config_destroy(parsed);
  end(&s);
}
END_TEST

static Suite *suite(void) {
  Suite *suite = suite_create("api/quiet");
  TCase *tests = tcase_create("quiet");
  tcase_add_checked_fixture(tests, make_folder, remove_folder);
  tcase_add_test(tests, nothing_is_printed);
  tcase_add_test(tests, closed_descriptors);
  tcase_add_test(tests, the_environment_is_not_read);
  tcase_add_test(tests, no_other_file_is_opened);
  tcase_add_test(tests, nothing_is_left);
  tcase_add_test(tests, no_other_file);
  tcase_add_test(tests, locale_of_the_host);
  suite_add_tcase(suite, tests);
  return suite;
}

int main(void) { return tpti_test_main(suite()); }
