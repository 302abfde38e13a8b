/* Products of the training step, by each of our tables and by BLIS: GFLOP/s, medians.
 *
 *   gemm [threads]     in one sitting on an idle machine; BLIS takes the kernels it chooses itself
 *                      unless BLIS_ARCH_TYPE says otherwise (0: AVX-512, 3: Haswell's) */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/cpu.h"
#include "base/random.h"
#include "kernel/kernel.h"
#include "op/linear.h"

typedef struct shape {
  const char *use;
  char kind; /* f: y = x W^T, i: dx = dy W, w: dW += dy^T x; F, I: with W packed beforehand */
  size_t M, out, in;
} shape;

static const shape shapes[] = {
    {"5m qkv block", 'F', 512, 384, 192},      {"5m qkv dx block", 'I', 512, 384, 192},
    {"5m up block", 'F', 512, 1024, 192},      {"5m up dx block", 'I', 512, 1024, 192},
    {"5m up dw block", 'w', 512, 1024, 192},   {"123m up block", 'F', 256, 4096, 768},
    {"5m qkv", 'f', 8192, 384, 192},           {"5m qkv dx", 'i', 8192, 384, 192},
    {"5m qkv dw", 'w', 8192, 384, 192},        {"5m o", 'f', 8192, 192, 192},
    {"5m o dw", 'w', 8192, 192, 192},          {"5m gate up", 'f', 8192, 1024, 192},
    {"5m gate up dx", 'i', 8192, 1024, 192},   {"5m gate up dw", 'w', 8192, 1024, 192},
    {"5m down", 'f', 8192, 192, 512},          {"5m down dx", 'i', 8192, 192, 512},
    {"5m down dw", 'w', 8192, 192, 512},       {"5m head", 'f', 800, 10000, 192},
    {"5m head dx", 'i', 800, 10000, 192},      {"5m head dw", 'w', 800, 10000, 192},
    {"123m qkv", 'f', 1024, 1152, 768},        {"123m qkv dx", 'i', 1024, 1152, 768},
    {"123m qkv dw", 'w', 1024, 1152, 768},     {"123m gate up", 'f', 1024, 4096, 768},
    {"123m gate up dx", 'i', 1024, 4096, 768}, {"123m gate up dw", 'w', 1024, 4096, 768},
    {"123m down", 'f', 1024, 768, 2048},       {"123m down dx", 'i', 1024, 768, 2048},
    {"123m down dw", 'w', 1024, 768, 2048},    {"123m head", 'f', 256, 32000, 768},
    {"123m head dx", 'i', 256, 32000, 768},    {"123m head dw", 'w', 256, 32000, 768},
    {"cube 1024", 'f', 1024, 1024, 1024},      {"square 64", 'f', 64, 64, 64}};

enum { SHAPES = sizeof shapes / sizeof shapes[0], REPEATS = 7 };

typedef struct arrays {
  float *y, *x, *w; /* [M, out], [M, in], [out, in] */
  void *packed;     /* W, for F and I */
} arrays;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static float *noise(size_t count, uint64_t seed) {
  float *values = aligned_alloc(64, (count * sizeof(float) + 63) / 64 * 64);
  if (!values) exit(1);
  tpti_random_uniform(tpti_random_stream(seed, 0), values, count, 1.0);
  return values;
}

static void once(tpti_run *run, const shape *s, const arrays *a) {
  tpti_weight w = {.w = a->w};
  if (s->kind == 'F') w.forward = a->packed;
  if (s->kind == 'I') w.input = a->packed;
  if (s->kind == 'f' || s->kind == 'F')
    tpti_linear_forward(run, a->y, NULL, a->x, w, s->M, s->out, s->in);
  if (s->kind == 'i' || s->kind == 'I')
    tpti_linear_backward_input(run, a->x, NULL, a->y, w, s->M, s->out, s->in);
  if (s->kind == 'w') tpti_linear_backward_weight(run, a->w, a->w, a->y, a->x, s->M, s->out, s->in);
}

static void pack_weight(tpti_run *run, const shape *s, const arrays *a) {
  if (s->kind == 'F') tpti_linear_pack_forward(run, a->packed, a->w, s->out, s->in);
  if (s->kind == 'I') tpti_linear_pack_input(run, a->packed, a->w, s->out, s->in);
}

static size_t most_pack(void) {
  size_t most = 0;
  for (const shape *s = shapes; s < shapes + SHAPES; s++) {
    size_t bytes = tpti_linear_pack(TPTI_PRECISION_F32, s->M, s->out, s->in, true);
    if (bytes > most) most = bytes;
  }
  return most;
}

/* GFLOP/s of the median of REPEATS times of at least 2 ms each. */
static double rate(tpti_run *run, const shape *s, const arrays *a) {
  double flop = 2.0 * (double)s->M * (double)s->out * (double)s->in, times[REPEATS];
  int calls = 1 + (int)(2e-3 / (flop / 1e11));
  pack_weight(run, s, a);
  once(run, s, a);
  for (int i = 0; i < REPEATS; i++) {
    double start = now();
    for (int c = 0; c < calls; c++) once(run, s, a);
    times[i] = (now() - start) / calls;
  }
  qsort(times, REPEATS, sizeof times[0], ascending);
  return flop / times[REPEATS / 2] / 1e9;
}

int main(int argc, char **argv) {
  int32_t threads = argc > 1 ? atoi(argv[1]) : 1;
  tpti_pool *pool = tpti_pool_create(&tpti_memory_default);
  void *scratch = tpti_take(&tpti_memory_default, TPTI_SCRATCH);
  void *pack = tpti_take(&tpti_memory_default, most_pack());
  if (!pool || !scratch || !pack) return 1;
  tpti_pool_set_threads(pool, threads);
  tpti_run run = {.pool = pool, .scratch = scratch, .pack = pack};
  printf("# GFLOP/s, %d thread(s)\n%-18s", (int)threads, "# product");
  const tpti_kernels *k;
  for (size_t t = 0; (k = tpti_kernels_list(t)); t++) printf("%12s", tpti_gemm_name(k));
  printf("\n");
  for (size_t i = 0; i < SHAPES; i++) {
    const shape *s = &shapes[i];
    size_t packed = tpti_linear_packed_bytes(TPTI_PRECISION_F32, s->out, s->in) / sizeof(float);
    arrays a = {noise(s->M * s->out, 1), noise(s->M * s->in, 2), noise(s->out * s->in, 3),
                noise(packed, 4)};
    printf("%-18s", s->use);
    for (size_t t = 0; (k = tpti_kernels_list(t)); t++) {
      run.kernels = k;
      bool can = (k->needs & ~tpti_cpu_flags()) == 0;
      printf("%12.1f", can ? rate(&run, s, &a) : 0.0);
      fflush(stdout);
    }
    printf("\n");
    free(a.y), free(a.x), free(a.w), free(a.packed);
  }
  tpti_give(&tpti_memory_default, pack, most_pack());
  tpti_give(&tpti_memory_default, scratch, TPTI_SCRATCH);
  tpti_pool_destroy(pool);
  return 0;
}
