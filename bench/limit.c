/* limit train|decode SIZE [WORD ...]: what the machine allows, as a JSON line.
 *
 * train: the time of exactly a step's matrix products (forward, and both gradients of every linear
 * map), each by the fastest of the library's own product and BLIS; attention's causal ones, of
 * T (T + 1) / 2 pairs, are counted at the same rate, and where the weights are many, one pass of
 * AdamW over memory. A map is multiplied again and again with the same weights, which is easier
 * than a step's many different ones.
 *
 * decode: reading every weight that a token needs once, at the bandwidth measured. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cpu.h"
#include "bench.h"
#include "kernel/bf16.h"
#include "kernel/kernel.h"
#include "kernel/matrix.h"
#include "products.h"
#include "spec/spec.h"
#include "train/flat.h"

enum { TURNS = 5, MOST_TURNS = 64 }; /* where runs= says nothing; the median counts */

/* Below so many weights AdamW's pass stays within the caches of the processor, or nearly. */
static const size_t many_weights = (size_t)16 << 20;

typedef struct limit {
  bench_subject subject;
  tpti_dims dims;
  size_t M, T, parameters, turns;
  tpti_run run;
  bench_products products;
} limit;

/* Two products forward and four backward, over the pairs that a causal mask leaves. */
static double attention_flop(const limit *l) {
  const tpti_dims *d = &l->dims;
  double pairs = (double)l->M * (double)(l->T + 1) / 2;
  return 6 * 2.0 * pairs * (double)d->D * (double)d->L;
}

/* ---- BLIS in a process of its own, where its choice of kernels can be set ---- */

/* The child's part: seconds of every product, a line each. */
static void blis_lines(const limit *l) {
  for (size_t i = 0; i < l->products.count; i++) {
    printf("%.9g\n", bench_product_blis(&l->products, i));
    fflush(stdout);
  }
}

static void become_blis(char **argv, int pipe_in) {
  dup2(pipe_in, STDOUT_FILENO);
  argv[1] = (char[]){"blis"};
  /* BLIS does not know every processor by name; 0 is its AVX-512 set (SKX). */
  if (tpti_cpu_flags() & TPTI_CPU_AVX512) setenv("BLIS_ARCH_TYPE", "0", 1);
  execv("/proc/self/exe", argv);
  _exit(1);
}

/* Fills seconds[count], product by product; 0 where BLIS failed. */
static void ask_blis(char **argv, double *seconds, size_t count) {
  int ends[2];
  if (pipe(ends)) bench_die("no pipe");
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) become_blis(argv, ends[1]);
  close(ends[1]);
  FILE *lines = fdopen(ends[0], "r");
  for (size_t i = 0; i < count; i++)
    if (!lines || fscanf(lines, "%lf", &seconds[i]) != 1) seconds[i] = 0;
  if (lines) fclose(lines);
  waitpid(child, NULL, 0);
}

/* ---- AdamW over memory ---- */

typedef struct update {
  tpti_adamw_fn *adamw;
  float *arrays[4];
  size_t count;
} update;

static void update_block(void *argument, size_t item, void *scratch) {
  (void)scratch;
  const update *u = argument;
  const tpti_adamw_step step = {.gradient_scale = 1,
                                .beta1 = 0.9,
                                .beta2 = 0.95,
                                .lr = 1e-4,
                                .decay = 1e-5,
                                .eps = 1e-8,
                                .bias1 = 1,
                                .bias2 = 1};
  size_t at = item * TPTI_FLAT_BLOCK;
  u->adamw(u->arrays[0] + at, u->arrays[1] + at, u->arrays[2] + at, u->arrays[3] + at,
           tpti_flat_size(u->count, item), &step);
}

static double adamw_seconds(limit *l) {
  double times[MOST_TURNS];
  update u = {.adamw = l->run.kernels->adamw, .count = l->parameters};
  for (int i = 0; i < 4; i++) u.arrays[i] = bench_take(l->parameters * sizeof(float));
  for (size_t i = 0; i < l->turns; i++) {
    double from = bench_now();
    tpti_parallel(&l->run, tpti_flat_blocks(u.count), update_block, &u);
    times[i] = bench_now() - from;
  }
  for (int i = 0; i < 4; i++) free(u.arrays[i]);
  return bench_quantile(times, l->turns, 0.5);
}

/* ---- reading ---- */

enum { READ_BLOCK = 1 << 20 };

typedef struct reading {
  const uint64_t *words;
  size_t bytes;
  uint64_t *sums; /* one a block, so that nothing is left out */
} reading;

/* Eight places at once, and fetched some lines ahead: on some machines a processor that reads one
 * place after the other gets two thirds of what memory can give. */
enum { STREAMS = 8, LINE_WORDS = 8, AHEAD = 16 };

static void read_block(void *argument, size_t item, void *scratch) {
  (void)scratch;
  const reading *r = argument;
  size_t from = item * READ_BLOCK, left = r->bytes - from;
  const uint64_t *w = r->words + from / 8;
  size_t stride = (left < READ_BLOCK ? left : READ_BLOCK) / 8 / STREAMS / LINE_WORDS * LINE_WORDS;
  uint64_t sum[LINE_WORDS] = {0};
  for (size_t i = 0; i < stride; i += LINE_WORDS)
    for (size_t s = 0; s < STREAMS; s++) {
      const uint64_t *line = w + s * stride + i;
      __builtin_prefetch(line + AHEAD * LINE_WORDS);
      for (size_t j = 0; j < LINE_WORDS; j++) sum[j] ^= line[j];
    }
  for (size_t j = 0; j < LINE_WORDS; j++) r->sums[item] ^= sum[j];
}

/* Bytes a second of reading so many again and again, on pages as large as the system gives. */
static double bandwidth(limit *l, size_t bytes) {
  size_t blocks = (bytes + READ_BLOCK - 1) / READ_BLOCK, room = (blocks + 2) * READ_BLOCK;
  enum { READS = 25 };
  double times[READS];
  void *words = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (words == MAP_FAILED) bench_die("no memory");
  madvise(words, room, MADV_HUGEPAGE);
  memset(words, 1, room);
  reading r = {words, bytes, bench_take(blocks * sizeof *r.sums)};
  for (size_t i = 0; i < READS; i++) {
    double from = bench_now();
    tpti_parallel(&l->run, blocks, read_block, &r);
    times[i] = bench_now() - from;
  }
  free(r.sums);
  munmap(words, room);
  return (double)bytes / bench_quantile(times, READS, 0.5);
}

/* Every matrix but the embedding, of which a token reads one row. */
static size_t weights_read(const tpti_dims *d) {
  size_t block = (2 * d->D + 2 * d->K * tpti_dims_E(d)) * d->D + 3 * d->F * d->D;
  return d->L * block + d->V * d->D;
}

/* As tpt_model_convert holds them, int8 with its scales. */
static size_t bytes_read(const tpti_dims *d, const char *precision) {
  size_t weights = weights_read(d);
  if (!strcmp(precision, "int8")) return weights + weights / TPTI_SCALE_BLOCK * sizeof(float);
  return weights * (strcmp(precision, "bf16") ? 4 : 2);
}

/* ---- the program ---- */

/* The one in which a step is made on this processor. */
static tpti_precision precision_of(const char *name) {
  static const char *const names[] = {"f32", "bf16x3", "bf16x6", "bf16"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (!strcmp(name, names[i])) return tpti_precision_here((tpti_precision)i);
  bench_die("a step is made in f32, bf16x3, bf16x6 or bf16");
  return 0;
}

static void spec_of(const tpt_config *config, tpti_spec *spec) {
  static char text[1 << 16];
  size_t length;
  bench_need(tpt_config_format(config, text, sizeof text, &length));
  bench_need(tpti_spec_parse(text, length, spec));
}

static void begin(limit *l, const tpti_spec *spec) {
  const tpti_dims *d = &spec->model;
  l->dims = *d;
  l->turns = l->subject.runs && l->subject.runs < MOST_TURNS ? l->subject.runs : TURNS;
  l->T = spec->train.seq_len;
  l->M = spec->train.batch * l->T;
  if (!tpti_count_parameters(d, &l->parameters)) bench_die("too many parameters");
  l->run = (tpti_run){.pool = tpti_pool_create(&tpti_memory_default),
                      .kernels = tpti_kernels_choose(tpti_cpu_flags()),
                      .scratch = bench_take(TPTI_SCRATCH)};
  if (!l->run.pool) bench_die("no memory");
  tpti_pool_set_threads(l->run.pool, l->subject.threads);
}

static void begin_products(limit *l, const tpti_spec *spec) {
  tpti_plan counting = {0};
  tpti_acts acts;
  l->run.precision = precision_of(l->subject.precision);
  tpti_acts_layout(&acts, &spec->model, &spec->train, &counting);
  l->products.run = &l->run;
  l->products.turns = l->turns;
  bench_products_list(&l->products, &l->dims, &acts, l->M);
}

/* Seconds of all products by each and by the faster; prints a line for each product. */
typedef struct sums {
  double own, blis, best, flop;
} sums;

static sums time_products(limit *l, const double *by_blis) {
  static const char *const kinds[] = {"y = x W^T", "dx = dy W", "dW = dy^T x"};
  sums s = {0};
  printf("%-34s %10s %10s\n", "GFLOP/s", "own", "BLIS");
  for (size_t i = 0; i < l->products.count; i++) {
    const bench_product *p = &l->products.list[i];
    double flop = bench_product_flop(p), ours = bench_product_own(&l->products, i);
    double theirs = by_blis[i];
    printf("%-8s %-12s %5zu x %5zu %10.0f %10.0f\n", p->map, kinds[p->kind], p->out, p->in,
           flop / ours / 1e9, theirs > 0 ? flop / theirs / 1e9 : 0);
    s.flop += flop;
    s.own += ours;
    s.blis += theirs;
    s.best += theirs > 0 && theirs < ours ? theirs : ours;
  }
  return s;
}

static void print_common(const limit *l) {
  printf("{\"peer\": \"limit\", \"job\": \"%s\", \"size\": \"%s\", \"precision\": \"%s\", "
         "\"threads\": %d, ",
         l->subject.job, l->subject.size->name, l->subject.precision,
         (int)tpti_pool_threads(l->run.pool));
}

static void train(limit *l, char **argv) {
  double by_blis[BENCH_PRODUCTS] = {0};
  if (l->run.precision == TPTI_PRECISION_F32) ask_blis(argv, by_blis, l->products.count);
  sums s = time_products(l, by_blis);
  double attention = s.best * attention_flop(l) / s.flop;
  double adamw = l->parameters >= many_weights ? adamw_seconds(l) : 0, M = (double)l->M;
  print_common(l);
  printf("\"tokens_per_s\": %.1f, \"products_s\": %.6f, \"attention_s\": %.6f, \"adamw_s\": %.6f, "
         "\"own_gflops\": %.1f, \"blis_gflops\": %.1f, \"best_gflops\": %.1f, \"rss_gb\": %.3f}\n",
         M / (s.best + attention + adamw), s.best, attention, adamw, s.flop / s.own / 1e9,
         s.blis > 0 ? s.flop / s.blis / 1e9 : 0, s.flop / s.best / 1e9, bench_rss_gb());
}

static void decode(limit *l) {
  size_t bytes = bytes_read(&l->dims, l->subject.precision);
  double speed = bandwidth(l, bytes);
  print_common(l);
  printf("\"tokens_per_s\": %.1f, \"bytes\": %zu, \"gb_per_s\": %.2f, \"rss_gb\": %.3f}\n",
         speed / (double)bytes, bytes, speed / 1e9, bench_rss_gb());
}

int main(int argc, char **argv) {
  static limit l;
  tpti_spec spec;
  if (argc < 3) {
    fprintf(stderr, "usage: bench_limit train|decode SIZE [WORD ...]\n%s", bench_words);
    return 2;
  }
  char *words[64] = {0}; /* becomes the child's command line */
  for (int i = 0; i < argc && i < 63; i++) words[i] = argv[i];
  bench_read(&l.subject, argv + 1, argc - 1);
  spec_of(l.subject.config, &spec);
  begin(&l, &spec);
  bool decodes = !strcmp(argv[1], "decode"), child = !strcmp(argv[1], "blis");
  if (!decodes) begin_products(&l, &spec);
  if (decodes)
    decode(&l);
  else if (child)
    blis_lines(&l);
  else
    train(&l, words);
  tpti_pool_destroy(l.run.pool);
  return 0;
}
