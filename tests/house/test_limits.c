/* What the system refuses, and what the process itself shows: threads that cannot be, memory that
 * is given back, threads that sleep, and small files that ask for much. Each test is a process of
 * its own, whose limits are lowered. */
#include "api/session.h"

#include <dirent.h>
#include <malloc.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { MIB = 1 << 20 };

/* Bytes of the process: field 0 of statm is all that is mapped, 1 what is resident. */
static size_t process_bytes(int field) {
  unsigned long pages[2];
  FILE *file = fopen("/proc/self/statm", "r");
  ck_assert_ptr_nonnull(file);
  ck_assert_int_eq(fscanf(file, "%lu %lu", &pages[0], &pages[1]), 2);
  fclose(file);
  return pages[field] * (size_t)sysconf(_SC_PAGESIZE);
}
static size_t mapped(void) { return process_bytes(0); }
static size_t resident(void) { return process_bytes(1); }

/* From here on the process may map so much more. */
static void allow(size_t more) {
  struct rlimit limit = {mapped() + more, RLIM_INFINITY};
  ck_assert_int_eq(setrlimit(RLIMIT_AS, &limit), 0);
}

/* ---- threads ---- */

/* A stack is 512 KiB and a scratch 1 MiB, so 20 MiB are enough for some and too little for 100. */
START_TEST(threads_that_the_system_refuses) {
  session few = start(""), many = start("");
  train_step(&few, 1);
  ok(tpt_context_set_threads(many.context, 100));
  allow(20 * MIB);
  double loss = train_step(&many, 1);
  int32_t threads;
  ok(tpt_context_threads(many.context, &threads));
  ck_assert_msg(threads >= 2 && threads < 100, "%d threads", threads);
  ck_assert_double_gt(loss, 0);
  ck_assert(same_model_bytes(few.model, many.model));
  end(&many);
  end(&few);
}
END_TEST

/* Nanoseconds that the threads beside this one have run; how many there are, and sleep. */
typedef struct others_seen {
  unsigned long long ran;
  size_t count, asleep;
} others_seen;

static void look_at(const char *task, others_seen *seen) {
  char path[300], state = '?';
  unsigned long long ran = 0;
  snprintf(path, sizeof path, "/proc/self/task/%.20s/schedstat", task);
  FILE *file = fopen(path, "r");
  if (file && fscanf(file, "%llu", &ran) == 1) seen->ran += ran;
  if (file) fclose(file);
  snprintf(path, sizeof path, "/proc/self/task/%.20s/stat", task);
  file = fopen(path, "r");
  if (file && fscanf(file, "%*d (%*[^)]) %c", &state) == 1) seen->asleep += state == 'S';
  if (file) fclose(file);
  seen->count++;
}

static others_seen other_threads(void) {
  others_seen seen = {0};
  DIR *tasks = opendir("/proc/self/task");
  for (struct dirent *task; tasks && (task = readdir(tasks));)
    if (task->d_name[0] != '.' && atoi(task->d_name) != (int)getpid()) look_at(task->d_name, &seen);
  closedir(tasks);
  return seen;
}

static void rest(int milliseconds) {
  nanosleep(&(struct timespec){0, milliseconds * 1000000L}, NULL);
}

/* Between calls all of them sleep, and run not at all: more of them than there are processors cost
 * nothing. */
START_TEST(threads_sleep_between_calls) {
  session s = start("");
  ok(tpt_context_set_threads(s.context, 40));
  for (uint64_t i = 0; i < 3; i++) train_step(&s, i);
  others_seen before = other_threads();
  for (int i = 0; i < 100 && before.asleep < before.count; i++) rest(10), before = other_threads();
  ck_assert_uint_eq(before.count, 39);
  ck_assert_uint_eq(before.asleep, 39);
  rest(100);
  others_seen after = other_threads();
  ck_assert_uint_eq(after.asleep, 39);
  ck_assert_msg(after.ran == before.ran, "they ran for %llu ns", after.ran - before.ran);
  end(&s);
}
END_TEST

/* ---- memory ---- */

START_TEST(a_refusal_keeps_nothing) {
  session s = start("");
  tpt_config *large = describe("model.vocab_size=400000; model.d_model=384; model.d_ff=384");
  train_step(&s, 1);
  allow(200 * MIB);
  for (int i = 0; i < 3; i++) {
    tpt_model *model;
    size_t all = mapped(), held = resident();
    refused(s.context, tpt_model_create(s.context, large, 1, &model), TPT_E_MEMORY, "");
    ck_assert_ptr_null(model);
    ck_assert_uint_le(mapped(), all);
    ck_assert_uint_lt(resident(), held + MIB / 4);
  }
  train_step(&s, 2);
  tpt_config_destroy(large);
  end(&s);
}
END_TEST

static void a_life(void) {
  session s = start("model.vocab_size=2000; model.d_model=96");
  tpt_decoder *decoder;
  ok(tpt_decoder_create(s.model, 0, &decoder));
  ok(tpt_decoder_feed(decoder, s.tokens, 5, NULL));
  train_step(&s, 1);
  tpt_decoder_destroy(decoder);
  end(&s);
}

/* Whole lives, threads and all, of some 10 MB each; malloc keeps what it has once got. */
START_TEST(the_process_does_not_grow) {
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  for (int i = 0; i < 20; i++) a_life();
  size_t before = resident();
  for (int i = 0; i < 80; i++) a_life();
  size_t after = resident();
  ck_assert_msg(after < before + 2 * MIB, "%zu bytes more after 80 lives", after - before);
}
END_TEST

/* ---- small files that ask for gigabytes ---- */

typedef enum reader { MODEL, CHECKPOINT, DESCRIPTION, TOKENIZER, DATASET } reader;

/* `word`, where it is not 0, comes before the text: the header's length; else the text's own. */
typedef struct small_file {
  reader reader;
  unsigned long long word;
  const char *text;
} small_file;

#define ENTRY(shape, end)                                                                          \
  "{\"head.weight\":{\"dtype\":\"F32\",\"shape\":" shape ",\"data_offsets\":[0," end "]}}"
#define SAYS(yaml) "{\"__metadata__\":{\"3pt.config\":\"{" yaml "}\"}}"

static const small_file files[] = {
    {MODEL, 100000000, "{}"},
    {MODEL, 4000000000, "{}"},
    {MODEL, 1ULL << 63, "{}"},
    {MODEL, 0, ENTRY("[1000000,1000]", "4000000000")},
    {MODEL, 0, ENTRY("[4611686018427387904]", "0")},
    {MODEL, 0, ENTRY("[0,9223372036854775807]", "0")},
    {MODEL, 0, ENTRY("[0,24]", "0")},
    {MODEL, 0, SAYS("model: {vocab_size: 2000000000}")},
    {MODEL, 0, SAYS("model: {d_model: 600000, n_layers: 4000}")},
    {MODEL, 0, SAYS("model: {max_seq_len: 2000000000}")},
    {CHECKPOINT, 100000000, "{}"},
    {CHECKPOINT, 0, ENTRY("[1000000,1000]", "4000000000")},
    {CHECKPOINT, 0, SAYS("model: {vocab_size: 2000000000}")},
    {DESCRIPTION, 0, "model: {dc: {profile: list, values: [[[[[[[[[[[[[[[[[[[["},
    {DESCRIPTION, 0, "model: {n_layers: 99999999999999999999999999999999999999999}"},
    {DESCRIPTION, 0, "a: &a [1,1,1]\nb: &b [*a,*a,*a]\nc: &c [*b,*b,*b]\nd: [*c,*c,*c]"},
    {TOKENIZER, 0, "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":2000000000},\"merges\":[]}}"},
    {TOKENIZER, 0, "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":9223372036854775807}}}"},
    {TOKENIZER, 0, "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["},
    {DATASET, 0, "odd"},
};

static size_t write_file(const small_file *f, const char *path) {
  size_t length = strlen(f->text), written = 0;
  unsigned long long word = f->word ? f->word : length;
  FILE *file = fopen(path, "wb");
  ck_assert_ptr_nonnull(file);
  if (f->reader == MODEL || f->reader == CHECKPOINT) written = 8 * fwrite(&word, 8, 1, file);
  written += fwrite(f->text, 1, length, file);
  ck_assert_int_eq(fclose(file), 0);
  return written;
}

static tpt_status read_file(const small_file *f, const char *path, session *s) {
  tpt_model *model = NULL;
  tpt_config *config = NULL;
  tpt_tokenizer *tokenizer = NULL;
  tpt_dataset *dataset = NULL;
  switch (f->reader) {
  case MODEL:
    return tpt_model_load(s->context, path, NULL, &model);
  case CHECKPOINT:
    return tpt_checkpoint_load(s->trainer, s->optimizer, path, NULL, 0, NULL);
  case DESCRIPTION:
    return tpt_config_load(path, &config);
  case TOKENIZER:
    return tpt_tokenizer_load(s->context, path, &tokenizer);
  default:
    return tpt_dataset_open(s->context, path, &dataset);
  }
}

/* In a process that may map 8 MiB more: what is taken before the file is seen to be wrong would be
 * TPT_E_MEMORY. */
START_TEST(small_files_cost_nothing) {
  const small_file *f = &files[_i];
  char folder[] = "/tmp/3pt-test-XXXXXX", path[64];
  session s = start("");
  ck_assert_ptr_nonnull(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/small.u16", folder);
  ck_assert_uint_le(write_file(f, path), 160);
  size_t before = resident();
  allow(8 * MIB);
  tpt_status status = read_file(f, path, &s);
  ck_assert_msg(status == TPT_E_FORMAT || status == TPT_E_CONFIG, "%s: %s: %s", f->text,
                tpt_status_name(status), tpt_error_message());
  ck_assert_uint_lt(resident(), before + MIB);
  ck_assert_ptr_nonnull(strstr(tpt_error_message(), "small.u16"));
  remove(path);
  rmdir(folder);
  end(&s);
}
END_TEST

int main(void) {
  const char *fork_mode = getenv("CK_FORK");
  if (fork_mode && fork_mode[0] == 'n') return tpti_test_skip("needs a process for each test");
  Suite *suite = suite_create("house/limits");
  TCase *tests = tcase_create("limits");
  tcase_add_test(tests, threads_that_the_system_refuses);
  tcase_add_test(tests, threads_sleep_between_calls);
  tcase_add_test(tests, a_refusal_keeps_nothing);
  tcase_add_test(tests, the_process_does_not_grow);
  tcase_add_loop_test(tests, small_files_cost_nothing, 0, sizeof files / sizeof *files);
  suite_add_tcase(suite, tests);
  return tpti_test_main(suite);
}
