/* step [--profile] JOB SIZE [WORD ...] [against JOB SIZE [WORD ...]]
 *
 * Tokens a second of one job as a JSON line: median, best, spread (half of all runs lie within this
 * share of the median), peak memory of the process. With `against`: both in one process by turns,
 * and the ratio of their speeds. With --profile: where the time of a run goes, by operation. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jobs.h"
#include "profile.h"

enum { MOST = 4096, WARM_UP = 2 };

/* A turn of a comparison lasts at least this long: what one subject left in the caches is a small
 * part of the other's turn. */
static const double turn_seconds = 0.05;

/* Seconds a token of every run. */
typedef struct times {
  double all[MOST], sum;
  size_t count;
} times;

static bool enough(const times *t, const bench_subject *s, size_t count) {
  if (s->runs) return count == s->runs || count == MOST;
  return count == MOST || (count >= 3 && t->sum >= s->seconds);
}

static void warm_up(const bench_job *job, bench_work *work, const bench_subject *s) {
  for (int i = 0; i < (s->runs == 1 ? 1 : WARM_UP); i++) job->once(work);
}

static void measure(times *t, const bench_job *job, bench_work *work, bool profile) {
  warm_up(job, work, &work->subject);
  if (profile) bench_profile_begin();
  while (!enough(t, &work->subject, t->count)) {
    double seconds = job->once(work);
    t->sum += seconds;
    t->all[t->count++] = seconds / job->tokens(work);
  }
}

static void turn(times *t, const bench_job *job, bench_work *work) {
  double seconds = 0, tokens = 0;
  while (seconds < turn_seconds) {
    seconds += job->once(work);
    tokens += job->tokens(work);
  }
  t->sum += seconds;
  t->all[t->count++] = seconds / tokens;
}

static void print_speed(const char *prefix, times *t) {
  double middle = bench_quantile(t->all, t->count, 0.5);
  double half = bench_quantile(t->all, t->count, 0.75) - bench_quantile(t->all, t->count, 0.25);
  printf("\"%stokens_per_s\": %.6g, \"%sbest_tokens_per_s\": %.6g, \"%sspread\": %.4f, ", prefix,
         1 / middle, prefix, 1 / t->all[0], prefix, half / middle);
}

static void print_subject(const char *prefix, const bench_subject *s) {
  printf("\"%sjob\": \"%s\", \"%ssize\": \"%s\", \"%sprecision\": \"%s\", ", prefix, s->job, prefix,
         s->size->name, prefix, s->precision);
}

static void print_process(bench_work *work, size_t runs) {
  int32_t threads;
  bench_need(tpt_context_threads(work->context, &threads));
  printf("\"threads\": %d, \"runs\": %zu, \"rss_gb\": %.3f, \"build\": \"%s\"}\n", (int)threads,
         runs, bench_rss_gb(), tpt_build_info());
}

static void alone(const bench_subject *s, bool profile) {
  static bench_work work;
  static times t;
  const bench_job *job = bench_job_of(s);
  bench_work_begin(&work, s);
  measure(&t, job, &work, profile);
  if (profile) bench_profile_print(t.count, t.sum / (double)t.count);
  printf("{\"peer\": \"lib3pt\", ");
  print_subject("", s);
  print_speed("", &t);
  print_process(&work, t.count);
  bench_work_end(&work);
}

/* The ratio of each pair of turns: the first's speed over the second's. */
static void print_ratio(const times *a, const times *b) {
  static double ratios[MOST];
  for (size_t i = 0; i < a->count; i++) ratios[i] = b->all[i] / a->all[i];
  printf("\"ratio\": %.4f, ", bench_quantile(ratios, a->count, 0.5));
  printf("\"ratio_low\": %.4f, ", bench_quantile(ratios, a->count, 0.25));
  printf("\"ratio_high\": %.4f, ", bench_quantile(ratios, a->count, 0.75));
}

static void by_turns(const bench_subject subjects[2]) {
  static bench_work works[2];
  static times t[2];
  const bench_job *jobs[2] = {bench_job_of(&subjects[0]), bench_job_of(&subjects[1])};
  for (int i = 0; i < 2; i++) {
    bench_work_begin(&works[i], &subjects[i]);
    warm_up(jobs[i], &works[i], &subjects[0]);
  }
  while (!enough(&t[0], &subjects[0], t[0].count)) {
    size_t first = t[0].count % 2; /* each goes first in every second pair */
    turn(&t[first], jobs[first], &works[first]);
    turn(&t[1 - first], jobs[1 - first], &works[1 - first]);
  }
  printf("{\"peer\": \"lib3pt\", ");
  print_ratio(&t[0], &t[1]);
  print_subject("", &subjects[0]);
  print_speed("", &t[0]);
  print_subject("against_", &subjects[1]);
  print_speed("against_", &t[1]);
  print_process(&works[0], t[0].count);
  for (int i = 0; i < 2; i++) bench_work_end(&works[i]);
}

static int usage(void) {
  fprintf(stderr,
          "usage: bench_step [--profile] JOB SIZE [WORD ...] [against JOB SIZE [WORD ...]]\n");
  for (size_t i = 0; bench_job_at(i); i++)
    fprintf(stderr, "  %-10s %s\n", bench_job_at(i)->name, bench_job_at(i)->about);
  fprintf(stderr, "%s", bench_words);
  fprintf(stderr,
          "--profile, of train or prompt, times each operation alone, where it stands in the run; "
          "times of\nseveral threads are added and divided by their number, bytes are what an "
          "operation must read\nand write once, whether a cache has it or not.\n");
  return 2;
}

int main(int argc, char **argv) {
  bench_subject subjects[2];
  bool profile = argc > 1 && !strcmp(argv[1], "--profile");
  char **words = argv + 1 + profile;
  int count = argc - 1 - profile;
  if (count < 2) return usage();
  int used = bench_read(&subjects[0], words, count);
  if (used == count) {
    alone(&subjects[0], profile);
    return 0;
  }
  if (profile) bench_die("--profile is of one job alone");
  used++;
  if (used + bench_read(&subjects[1], words + used, count - used) != count)
    bench_die("against may come once");
  by_turns(subjects);
  return 0;
}
