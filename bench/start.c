/* start [SIZE [FOLDER]]: what it costs to begin.
 *
 * A program that makes and destroys a context (bench_context, beside this one) against one that
 * does nothing and knows no library (bench_nothing), from spawn to the end, by turns. Then loading
 * a model of SIZE (123m) against reading the same file into fresh memory, by turns, the file being
 * in the page cache; FOLDER (/tmp) takes the file for that time. A JSON line each. */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

enum { STARTS = 200, LOADS = 9, PATH = 4096 };

extern char **environ;

/* ---- from spawn to the end ---- */

/* The program `name` beside this one. */
static void path_beside(char path[PATH], const char *name) {
  ssize_t length = readlink("/proc/self/exe", path, PATH - 64);
  if (length < 0) bench_die("/proc/self/exe cannot be read");
  path[length] = '\0';
  strcpy(strrchr(path, '/') + 1, name);
}

static double run(char *path) {
  pid_t child;
  int status;
  double from = bench_now();
  if (posix_spawn(&child, path, NULL, NULL, (char *[]){path, NULL}, environ)) bench_die(path);
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  if (status) bench_die(path);
  return bench_now() - from;
}

static void starts(void) {
  char with[PATH], without[PATH];
  double a[STARTS], b[STARTS];
  path_beside(with, "bench_context");
  path_beside(without, "bench_nothing");
  for (int i = 0; i < STARTS; i++) a[i] = run(with), b[i] = run(without);
  double middle = bench_quantile(a, STARTS, 0.5), nothing = bench_quantile(b, STARTS, 0.5);
  printf("{\"peer\": \"lib3pt\", \"job\": \"start\", \"ms\": %.3f, \"best_ms\": %.3f, "
         "\"context_ms\": %.3f, \"nothing_ms\": %.3f, \"runs\": %d}\n",
         1e3 * (middle - nothing), 1e3 * (a[0] - b[0]), 1e3 * middle, 1e3 * nothing, STARTS);
}

/* ---- loading ---- */

static void save_model(const char *size, const char *path, tpt_context *context) {
  char *words[] = {(char[]){"start"}, (char *)(uintptr_t)size};
  bench_subject s;
  tpt_model *model;
  bench_read(&s, words, 2);
  bench_need(tpt_model_create(context, s.config, 1, &model));
  bench_need(tpt_model_save(model, path));
  tpt_model_destroy(model);
  tpt_config_destroy(s.config);
}

static double load(tpt_context *context, const char *path) {
  tpt_model *model;
  double from = bench_now();
  bench_need(tpt_model_load(context, path, NULL, &model));
  double seconds = bench_now() - from;
  tpt_model_destroy(model);
  return seconds;
}

/* Into memory that no one has touched, as a loader's is. */
static double read_whole(const char *path, size_t *bytes) {
  struct stat state;
  double from = bench_now();
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0 || fstat(file, &state)) bench_die(path);
  char *data = malloc((size_t)state.st_size);
  size_t done = 0;
  for (ssize_t got = 1; data && got > 0; done += (size_t)got) {
    got = read(file, data + done, (size_t)state.st_size - done);
    if (got < 0) bench_die(path);
  }
  close(file);
  double seconds = bench_now() - from;
  free(data);
  *bytes = done;
  return seconds;
}

static void loads(const char *size, const char *folder) {
  char path[PATH];
  double a[LOADS], b[LOADS], ratios[LOADS];
  size_t bytes = 0;
  tpt_context *context;
  bench_need(tpt_context_create(&context));
  snprintf(path, sizeof path, "%s/bench_start.%ld.safetensors", folder, (long)getpid());
  save_model(size, path, context);
  load(context, path); /* threads begin, the page cache is warm */
  for (int i = 0; i < LOADS; i++) {
    a[i] = load(context, path);
    b[i] = read_whole(path, &bytes);
    ratios[i] = a[i] / b[i];
  }
  unlink(path);
  tpt_context_destroy(context);
  double ratio = bench_quantile(ratios, LOADS, 0.5);
  double ours = bench_quantile(a, LOADS, 0.5), theirs = bench_quantile(b, LOADS, 0.5);
  printf("{\"peer\": \"lib3pt\", \"job\": \"load\", \"size\": \"%s\", \"bytes\": %zu, \"ratio\": "
         "%.3f, "
         "\"best_ratio\": %.3f, \"load_ms\": %.1f, \"read_ms\": %.1f, \"runs\": %d}\n",
         size, bytes, ratio, a[0] / b[0], 1e3 * ours, 1e3 * theirs, LOADS);
}

int main(int argc, char **argv) {
  starts();
  fflush(stdout);
  loads(argc > 1 ? argv[1] : "123m", argc > 2 ? argv[2] : "/tmp");
  return 0;
}
