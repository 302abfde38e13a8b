/* Linear maps without bias (linear.h). */
#include "op/linear.h"

#include "base/size.h"
#include "kernel/kernel.h"

/* B of y = x B is W^T, of dx = dy B it is W. */
static tpti_gemm forward_operand(const float *w, size_t out, size_t in) {
  return (tpti_gemm){.b = w, .b_row = 1, .b_col = in, .n = out, .k = in};
}
static tpti_gemm input_operand(const float *w, size_t out, size_t in) {
  return (tpti_gemm){.b = w, .b_row = in, .b_col = 1, .n = in, .k = out};
}

/* A thread alone takes all columns of a product at once (kernel/gemm.h), those of a head for a
 * tenth of a second. Here it takes pieces of at most PIECE multiplications, some 10 ms, between
 * which progress is called: of WIDE columns, as many as a kernel packs at once, of as many rows as
 * fit, at least ROWS, or B would be packed for too little, and of as many rounds of the sum. Where
 * that is all of it, more columns. */
enum { PIECE = 3 << 28, WIDE = 4 * TPTI_PACK_COLUMNS, ROWS = 256 };

typedef struct piece {
  size_t rows, columns, depth;
} piece;

/* As many units of the whole as there is room for, at least one. */
static size_t fit(size_t whole, size_t unit, size_t room) {
  return tpti_least(whole, tpti_most(room / unit, 1) * unit);
}

static piece piece_of(const tpti_run *run, const tpti_gemm *g) {
  bool alone = !run->pool || tpti_pool_threads(run->pool) == 1;
  piece p = {g->m, g->n, g->k};
  if (!alone || g->packed || run->precision != TPTI_PRECISION_F32 || g->k == 0) return p;
  size_t unit = tpti_gemm_depth(run, g->k), wide = tpti_least(g->n, WIDE);
  p.rows = fit(g->m, ROWS, PIECE / wide / unit);
  p.depth = fit(g->k, unit, PIECE / wide / p.rows);
  p.columns = p.depth < g->k ? wide : fit(g->n, wide, PIECE / p.rows / p.depth);
  return p;
}

/* Rows i, columns o and products p of the sum. */
static tpti_gemm part_of(const tpti_gemm *whole, const piece *size, size_t i, size_t o, size_t p) {
  tpti_gemm g = *whole;
  g.m = tpti_least(size->rows, whole->m - i);
  g.n = tpti_least(size->columns, whole->n - o);
  g.k = tpti_least(size->depth, whole->k - p);
  if (size->depth < whole->k) g.round = tpti_gemm_round(whole->k);
  g.a += i * g.a_row + p * g.a_col;
  g.b += p * g.b_row + o * g.b_col;
  g.c += i * g.c_row + o;
  if (g.base) g.base += i * g.base_row + o;
  if (p > 0) g.base = g.c, g.base_row = g.c_row;
  return g;
}

/* Of a product of which rows of A lie in memory: then no bit depends on how many rows and columns
 * are done together, nor on a cut between two rounds of the sum. */
static void multiply_by_pieces(tpti_run *run, const tpti_gemm *whole) {
  if (whole->m == 0 || whole->n == 0) return;
  const piece size = piece_of(run, whole);
  for (size_t o = 0; o < whole->n; o += size.columns) {
    size_t p = 0;
    do { /* at least once: k may be 0 */
      for (size_t i = 0; i < whole->m && !run->stopped; i += size.rows) {
        tpti_gemm g = part_of(whole, &size, i, o, p);
        tpti_gemm_run(run, &g);
      }
      p += size.depth;
    } while (p < whole->k);
  }
}

/* c [M, n] = base + a [M, k] B, rows without gaps. */
static void multiply(tpti_run *run, tpti_gemm operand, const void *packed, float *c,
                     const float *base, const float *a, size_t M) {
  tpti_gemm g = operand;
  g.packed = packed;
  g.c = c, g.c_row = g.n;
  g.base = base, g.base_row = g.n;
  g.a = a, g.a_row = g.k, g.a_col = 1;
  g.m = M;
  multiply_by_pieces(run, &g);
}

void tpti_linear_forward(tpti_run *run, float *y, const float *base, const float *x, tpti_weight w,
                         size_t M, size_t out, size_t in) {
  multiply(run, forward_operand(w.w, out, in), w.forward, y, base, x, M);
}

void tpti_linear_backward_input(tpti_run *run, float *dx, const float *base, const float *dy,
                                tpti_weight w, size_t M, size_t out, size_t in) {
  multiply(run, input_operand(w.w, out, in), w.input, dx, base, dy, M);
}

void tpti_linear_pack_forward(tpti_run *run, void *packed, const float *w, size_t out, size_t in) {
  const tpti_gemm operand = forward_operand(w, out, in);
  tpti_gemm_pack_b(run, packed, &operand);
}

void tpti_linear_pack_input(tpti_run *run, void *packed, const float *w, size_t out, size_t in) {
  const tpti_gemm operand = input_operand(w, out, in);
  tpti_gemm_pack_b(run, packed, &operand);
}

size_t tpti_linear_packed_bytes(tpti_precision precision, size_t out, size_t in) {
  return tpti_most(tpti_gemm_packed_bytes(precision, out, in),
                   tpti_gemm_packed_bytes(precision, in, out));
}

void tpti_linear_backward_weight(tpti_run *run, float *dw, const float *base, const float *dy,
                                 const float *x, size_t M, size_t out, size_t in) {
  tpti_gemm g = {.c = dw,
                 .base = base,
                 .a = dy,
                 .b = x,
                 .c_row = in,
                 .base_row = in,
                 .a_row = 1,
                 .a_col = out,
                 .b_row = in,
                 .b_col = 1,
                 .m = out,
                 .n = in,
                 .k = M};
  tpti_gemm_run(run, &g);
}

size_t tpti_linear_pack(tpti_precision precision, size_t M, size_t out, size_t in, bool training) {
  size_t forward = tpti_gemm_pack(precision, M, out, in);
  if (!training) return forward;
  size_t input = tpti_gemm_pack(precision, M, in, out);
  return tpti_most(forward, tpti_most(input, tpti_gemm_pack(precision, out, in, M)));
}
