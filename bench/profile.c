/* Operations through a clock. An operation called with the run's pool keeps all its threads busy,
 * one called inside an item (base/threads.h) only its own: times are thread-seconds over threads,
 * so that they add up to the run, and what is missing is waiting and work not listed here.
 *
 * bench/meson.build hands the names to the linker: a call of NAME in the library comes to
 * __wrap_NAME, and __real_NAME is the operation. The declarations below take the types from the
 * library's own headers, so that another signature there does not compile here. */
#include "profile.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/threads.h"
#include "bench.h"
#include "kernel/gemm.h"
#include "op/attention.h"
#include "op/cross_entropy.h"
#include "op/dc_inject.h"
#include "op/phase_norm.h"
#include "op/phase_rotate.h"
#include "op/rope.h"
#include "op/swiglu.h"
#include "train/adamw.h"
#include "train/clip.h"
#include "train/flat.h"

/* ---- the record ---- */

typedef struct entry {
  char name[40];
  size_t calls;
  double seconds, bytes, flop;
} entry;

enum { MOST = 96 };
static bool on;
static entry entries[MOST];
static size_t entry_count;
static int32_t threads_seen = 1;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Of this thread: seconds of operations called by the one in progress. */
static _Thread_local double inside;

void bench_profile_begin(void) {
  on = true;
  entry_count = 0;
}

/* What an operation must read, write and compute. */
typedef struct cost {
  const char *name;
  double floats, flop;
} cost;

typedef struct watch {
  double from, outside;
} watch;

static watch begin(void) {
  if (!on) return (watch){0, 0};
  watch w = {bench_now(), inside};
  inside = 0;
  return w;
}

static entry *entry_called(const char *name) {
  for (size_t i = 0; i < entry_count; i++)
    if (!strcmp(entries[i].name, name)) return &entries[i];
  if (entry_count == MOST) bench_die("more operations than the profile has room for");
  entry *e = &entries[entry_count++];
  *e = (entry){0};
  snprintf(e->name, sizeof e->name, "%s", name);
  return e;
}

static void end(watch w, const tpti_run *run, cost c) {
  if (!on) return;
  double all = bench_now() - w.from, own = all - inside;
  int32_t threads = run->pool ? tpti_pool_threads(run->pool) : 1;
  inside = w.outside + all;
  pthread_mutex_lock(&lock);
  if (threads > threads_seen) threads_seen = threads;
  entry *e = entry_called(c.name);
  e->calls++;
  e->seconds += own * threads;
  e->bytes += c.floats * sizeof(float);
  e->flop += c.flop;
  pthread_mutex_unlock(&lock);
}

/* ---- the operations ---- */

#define REAL(name) __typeof__(name) __real_##name, __wrap_##name

/* An operation that returns nothing: its parameters, the same as arguments, its cost. */
#define WRAP(name, parameters, arguments, cost)                                                    \
  REAL(name);                                                                                      \
  void __wrap_##name parameters {                                                                  \
    watch w = begin();                                                                             \
    __real_##name arguments;                                                                       \
    end(w, run, cost);                                                                             \
  }

/* Floats of arrays of that shape, how many times each. */
static double of(double times, size_t rows, size_t columns) {
  return times * (double)rows * (double)columns;
}

static cost moves(const char *name, double floats) { return (cost){name, floats, 0}; }

/* W of a product, by how its operands lie: y = x W^T, dx = dy W, dW = dy^T x. */
static cost product_cost(const tpti_gemm *g, char *name, size_t size) {
  if (g->a_row == 1 && g->a_col != 1)
    snprintf(name, size, "dW = dy^T x   [%zu, %zu]", g->m, g->n);
  else if (g->b_row == 1)
    snprintf(name, size, "y = x W^T     [%zu, %zu]", g->n, g->k);
  else
    snprintf(name, size, "dx = dy W     [%zu, %zu]", g->k, g->n);
  double result = of(g->base ? 2 : 1, g->m, g->n);
  return (cost){name, result + of(1, g->m, g->k) + of(1, g->k, g->n),
                of(2, g->m, g->n) * (double)g->k};
}

REAL(tpti_gemm_run);
void __wrap_tpti_gemm_run(tpti_run *run, const tpti_gemm *g) {
  char name[40];
  watch w = begin();
  __real_tpti_gemm_run(run, g);
  end(w, run, product_cost(g, name, sizeof name));
}

WRAP(tpti_gemm_pack_b, (tpti_run * run, void *packed, const tpti_gemm *g), (run, packed, g),
     moves("weights packed", of(1, g->n, g->k)))

/* q, k, v and y each so many times; the causal products of so many pairs of positions. */
static cost attention_cost(const char *name, const tpti_attention *a, double arrays,
                           double products) {
  double pairs = (double)a->T * (double)(2 * a->first + a->T + 1) / 2;
  double floats = of(arrays, a->B * a->T, 2 * a->H * a->E + 2 * a->K * a->E);
  return (cost){name, floats, products * of(2, a->B, a->H * a->E) * pairs};
}

REAL(tpti_attention_forward);
void __wrap_tpti_attention_forward(tpti_run *run, float *y, double *lse, const float *q,
                                   const float *k, const float *v, const tpti_attention *a) {
  watch w = begin();
  __real_tpti_attention_forward(run, y, lse, q, k, v, a);
  end(w, run, attention_cost("attention", a, 1, 2));
}

REAL(tpti_attention_backward);
void __wrap_tpti_attention_backward(tpti_run *run, float *dq, float *dk, float *dv, float *work,
                                    const float *dy, const float *y, const double *lse,
                                    const float *q, const float *k, const float *v,
                                    const tpti_attention *a) {
  watch w = begin();
  __real_tpti_attention_backward(run, dq, dk, dv, work, dy, y, lse, q, k, v, a);
  end(w, run, attention_cost("attention, backward", a, 2, 4));
}

WRAP(tpti_phase_norm_forward,
     (tpti_run * run, float *n, float *rstd, const float *h, const float *gain, float eps, size_t M,
      size_t D, size_t N),
     (run, n, rstd, h, gain, eps, M, D, N), moves("phase norm", of(2, M, D)))

WRAP(tpti_phase_norm_backward,
     (tpti_run * run, float *dh, float *partial, const float *dn, const float *h, const float *rstd,
      const float *gain, size_t M, size_t D, size_t N),
     (run, dh, partial, dn, h, rstd, gain, M, D, N), moves("phase norm, backward", of(4, M, D)))

WRAP(tpti_phase_rotate_forward,
     (tpti_run * run, float *out, const float *h, const float *cosine, const float *sine,
      bool residual, size_t M, size_t D),
     (run, out, h, cosine, sine, residual, M, D), moves("phase rotation", of(2, M, D)))

WRAP(tpti_rope_forward,
     (tpti_run * run, float *x, size_t stride, size_t heads, const float *cosine, const float *sine,
      size_t first, size_t M, size_t T, size_t E),
     (run, x, stride, heads, cosine, sine, first, M, T, E), moves("RoPE", of(2, M, heads *E)))

WRAP(tpti_rope_backward,
     (tpti_run * run, float *dx, size_t stride, size_t heads, const float *cosine,
      const float *sine, size_t first, size_t M, size_t T, size_t E),
     (run, dx, stride, heads, cosine, sine, first, M, T, E),
     moves("RoPE, backward", of(2, M, heads *E)))

WRAP(tpti_swiglu_forward, (tpti_run * run, float *act, const float *gate_up, size_t M, size_t F),
     (run, act, gate_up, M, F), moves("SwiGLU", of(3, M, F)))

WRAP(tpti_phase_rotate_backward,
     (tpti_run * run, float *dh, float *partial, const float *dout, const float *h,
      const float *cosine, const float *sine, bool residual, size_t M, size_t D),
     (run, dh, partial, dout, h, cosine, sine, residual, M, D),
     moves("phase rotation, backward", of(3, M, D)))

WRAP(tpti_swiglu_backward,
     (tpti_run * run, float *dgate_up, float *act, const float *dact, const float *gate_up,
      size_t M, size_t F),
     (run, dgate_up, act, dact, gate_up, M, F), moves("SwiGLU, backward", of(6, M, F)))

WRAP(tpti_cross_entropy_forward,
     (tpti_run * run, double *loss, const float *logits, const int32_t *targets,
      int32_t ignore_index, size_t R, size_t V),
     (run, loss, logits, targets, ignore_index, R, V), moves("cross-entropy", of(1, R, V)))

WRAP(tpti_cross_entropy_both,
     (tpti_run * run, double *loss, float *logits, const int32_t *targets, int32_t ignore_index,
      float weight, size_t R, size_t V),
     (run, loss, logits, targets, ignore_index, weight, R, V),
     moves("cross-entropy and its gradient", of(2, R, V)))

WRAP(tpti_dc_inject_forward,
     (tpti_run * run, float *x, const int32_t *tokens, const float *embedding, const float *profile,
      float scale, size_t B, size_t T, size_t D),
     (run, x, tokens, embedding, profile, scale, B, T, D),
     moves("embedding and DC", of(2, B *T, D)))

WRAP(tpti_dc_inject_backward,
     (tpti_run * run, float *dembedding, float *dprofile, float *means, const float *dx,
      const int32_t *tokens, bool centred, float scale, size_t B, size_t T, size_t D),
     (run, dembedding, dprofile, means, dx, tokens, centred, scale, B, T, D),
     moves("embedding and DC, backward", of(3, B *T, D)))

WRAP(tpti_flat_clear, (tpti_run * run, float *values, size_t count), (run, values, count),
     moves("gradients cleared", (double)count))

REAL(tpti_global_norm);
double __wrap_tpti_global_norm(tpti_run *run, const float *values, size_t count, double *partial) {
  watch w = begin();
  double norm = __real_tpti_global_norm(run, values, count, partial);
  end(w, run, moves("norm of the gradients", (double)count));
  return norm;
}

REAL(tpti_adamw_step_all);
tpt_status __wrap_tpti_adamw_step_all(tpti_run *run, tpti_adamw *adamw, const tpti_recipe *recipe,
                                      float *weights, const float *gradients, double *norm) {
  watch w = begin();
  tpt_status status = __real_tpti_adamw_step_all(run, adamw, recipe, weights, gradients, norm);
  end(w, run, moves("AdamW", 7 * (double)adamw->params->count));
  return status;
}

/* ---- the table ---- */

static void swap_larger(entry *a, entry *b) {
  if (a->seconds >= b->seconds) return;
  entry kept = *a;
  *a = *b;
  *b = kept;
}

static void line(const char *name, double calls, double seconds, double whole, const entry *e,
                 double runs) {
  printf("%-30s %8.0f %9.3f %6.1f", name, calls, 1e3 * seconds, 100 * seconds / whole);
  if (!e) {
    printf("\n");
    return;
  }
  printf(" %9.1f %8.1f", e->bytes / runs / 1e6, e->bytes / runs / seconds / 1e9);
  if (e->flop > 0) printf(" %9.2f %8.0f", e->flop / runs / 1e9, e->flop / runs / seconds / 1e9);
  printf("\n");
}

void bench_profile_print(size_t runs, double seconds) {
  double n = (double)runs, listed = 0;
  for (size_t i = 0; i < entry_count; i++)
    for (size_t j = i + 1; j < entry_count; j++) swap_larger(&entries[i], &entries[j]);
  printf("%-30s %8s %9s %6s %9s %8s %9s %8s\n", "operation", "calls", "ms", "%", "MB", "GB/s",
         "GFLOP", "GFLOP/s");
  for (size_t i = 0; i < entry_count; i++) {
    const entry *e = &entries[i];
    double share = e->seconds / n / threads_seen;
    line(e->name, (double)e->calls / n, share, seconds, e, n);
    listed += share;
  }
  line("not listed, and waiting", 0, seconds - listed, seconds, NULL, n);
  line("the whole run", 0, seconds, seconds, NULL, n);
}
