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

/* c [M, n] = base + a [M, k] B, rows without gaps. */
static void multiply(tpti_run *run, tpti_gemm operand, const void *packed, float *c,
                     const float *base, const float *a, size_t M) {
  tpti_gemm g = operand;
  g.packed = packed;
  g.c = c, g.c_row = g.n;
  g.base = base, g.base_row = g.n;
  g.a = a, g.a_row = g.k, g.a_col = 1;
  g.m = M;
  tpti_gemm_run(run, &g);
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
