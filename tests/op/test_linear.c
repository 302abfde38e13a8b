/* Linear maps against their equations in float64. */
#include "op/linear.h"
#include "op/linear_rows.h"

#include "base/cpu.h"
#include "gradient.h"
#include "kernel/kernel.h"
#include "support/runner.h"

typedef struct shape {
  size_t M, out, in;
} shape;

static const shape shapes[] = {{1, 1, 1},    {2, 3, 5},      {3, 1, 2},
                               {5, 7, 3},    {7, 2, 7},      {33, 17, 70},
                               {64, 96, 40}, {130, 50, 300}, {1100, 130, 70}};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

typedef enum base_kind { NO_BASE, OTHER_BASE, OWN_BASE, BASES } base_kind;

/* out [rows, cols] = base + sum over p of a(row, p) b(p, col), strides of p and of the other index.
 */
typedef struct view {
  const float *x;
  size_t line, step;
} view;

static double *equation(arrays *hold, const float *base, view a, view b, size_t rows, size_t cols,
                        size_t terms) {
  double *out = zeros(hold, rows * cols);
  for (size_t i = 0; i < rows * cols; i++) {
    size_t r = i / cols, c = i % cols;
    if (base) out[i] = (double)base[i];
    for (size_t p = 0; p < terms; p++) {
      out[i] += (double)a.x[r * a.line + p * a.step] * (double)b.x[c * b.line + p * b.step];
    }
  }
  return out;
}

/* An output and its base: output is NaN unless it is its own base. */
static float *output(arrays *hold, const float *other, size_t count, base_kind kind) {
  return kind == OWN_BASE ? copied(hold, other, count) : poisoned(hold, count);
}
static const float *base_of(const float *own, const float *other, base_kind kind) {
  return kind == NO_BASE ? NULL : kind == OWN_BASE ? own : other;
}

START_TEST(forward_is_the_equation) {
  const shape *s = &shapes[_i / BASES];
  base_kind kind = (base_kind)(_i % BASES);
  arrays a = {0};
  tpti_run *run = tpti_test_run(2);
  float *x = filled(&a, s->M * s->in, 1), *w = filled(&a, s->out * s->in, 2);
  float *other = filled(&a, s->M * s->out, 3), *y = output(&a, other, s->M * s->out, kind);
  tpti_linear_forward(run, y, base_of(y, other, kind), x, (tpti_weight){.w = w}, s->M, s->out,
                      s->in);
  double *want = equation(&a, kind == NO_BASE ? NULL : other, (view){x, s->in, 1},
                          (view){w, s->in, 1}, s->M, s->out, s->in);
  tpti_test_near(y, want, s->M * s->out, near_forward);
  tpti_test_run_free(run);
  arrays_free(&a);
}
END_TEST

START_TEST(backward_input_is_the_equation) {
  const shape *s = &shapes[_i / BASES];
  base_kind kind = (base_kind)(_i % BASES);
  arrays a = {0};
  tpti_run *run = tpti_test_run(2);
  float *dy = filled(&a, s->M * s->out, 1), *w = filled(&a, s->out * s->in, 2);
  float *other = filled(&a, s->M * s->in, 3), *dx = output(&a, other, s->M * s->in, kind);
  tpti_linear_backward_input(run, dx, base_of(dx, other, kind), dy, (tpti_weight){.w = w}, s->M,
                             s->out, s->in);
  double *want = equation(&a, kind == NO_BASE ? NULL : other, (view){dy, s->out, 1},
                          (view){w, 1, s->in}, s->M, s->in, s->out);
  tpti_test_near(dx, want, s->M * s->in, near_backward);
  tpti_test_run_free(run);
  arrays_free(&a);
}
END_TEST

START_TEST(backward_weight_adds_the_equation) {
  const shape *s = &shapes[_i];
  arrays a = {0};
  tpti_run *run = tpti_test_run(2);
  float *dy = filled(&a, s->M * s->out, 1), *x = filled(&a, s->M * s->in, 2);
  float *was = filled(&a, s->out * s->in, 3), *dw = copied(&a, was, s->out * s->in);
  tpti_linear_backward_weight(run, dw, dw, dy, x, s->M, s->out, s->in);
  double *want = equation(&a, was, (view){dy, 1, s->out}, (view){x, 1, s->in}, s->out, s->in, s->M);
  tpti_test_near(dw, want, s->out * s->in, near_backward);
  tpti_test_run_free(run);
  arrays_free(&a);
}
END_TEST

static tpti_matrix floats_of(const float *w) { return (tpti_matrix){.values = w}; }

START_TEST(rows_are_forward) {
  const shape *s = &shapes[_i / BASES];
  base_kind kind = (base_kind)(_i % BASES);
  arrays a = {0};
  tpti_run *run = tpti_test_run(3);
  float *x = filled(&a, s->M * s->in, 1), *w = filled(&a, s->out * s->in, 2);
  float *other = filled(&a, s->M * s->out, 3), *y = output(&a, other, s->M * s->out, kind);
  tpti_linear_rows_run(run, &(tpti_linear_rows){y, base_of(y, other, kind), x, floats_of(w), s->out,
                                                s->M, s->out, s->in});
  double *want = equation(&a, kind == NO_BASE ? NULL : other, (view){x, s->in, 1},
                          (view){w, s->in, 1}, s->M, s->out, s->in);
  tpti_test_near(y, want, s->M * s->out, near_forward);
  tpti_test_run_free(run);
  arrays_free(&a);
}
END_TEST

START_TEST(a_row_has_the_bits_it_has_alone) {
  enum { M = 9, OUT = 700, IN = 130 };
  arrays a = {0};
  tpti_run *run = tpti_test_run(2);
  float *x = filled(&a, M * IN, 1), *w = filled(&a, OUT * IN, 2);
  float *y = poisoned(&a, M * OUT), *alone = poisoned(&a, OUT);
  tpti_linear_rows_run(run, &(tpti_linear_rows){y, NULL, x, floats_of(w), OUT, M, OUT, IN});
  for (size_t m = 0; m < M; m++) {
    tpti_linear_rows_run(
        run, &(tpti_linear_rows){alone, NULL, x + m * IN, floats_of(w), OUT, 1, OUT, IN});
    same_bits(alone, y + m * OUT, (size_t)OUT);
  }
  tpti_test_run_free(run);
  arrays_free(&a);
}
END_TEST

/* Many tiles, and a weight gradient whose rows are cut into slices. */
/* Items of few rows: every row of W is in one of them, and none is more than there is room for. */
START_TEST(items_of_rows_cover_the_matrix) {
  static const size_t sizes[] = {1, 3, 4, 5, 63, 64, 192, 500, 768, 2048, 2304, 32000, 150000};
  enum { SIZES = sizeof sizes / sizeof sizes[0] };
  for (size_t c = 0; c < SIZES * SIZES * 12; c++) {
    const tpti_linear_rows map = {.M = c % 2 ? 16 : 1,
                                  .out = sizes[c / 12 % SIZES],
                                  .in = sizes[c / 12 / SIZES],
                                  .w.form = (tpti_form)(c / 2 % 3)};
    const tpti_rows_cut cut = tpti_linear_rows_cut(&map, c / 6 % 2 + 1);
    size_t next = 0;
    for (size_t item = 0; item < cut.items; item++) {
      const tpti_rows_span at = tpti_linear_rows_span(&cut, item);
      ck_assert_uint_eq(at.first, next);
      ck_assert(at.count > 0 && at.count <= TPTI_LINEAR_STEP);
      ck_assert(at.count % 4 == 0 || item + 1 == cut.items);
      next += at.count;
    }
    ck_assert_uint_eq(next, map.out);
  }
}
END_TEST

/* Memory is asked for within the rows alone; that it is changes nothing. */
START_TEST(fetching_pieces_of_rows) {
  enum { OUT = 40, IN = 300, FIRST = 7, ROWS = 30 };
  arrays a = {0};
  float *w = filled(&a, (size_t)OUT * IN, 1), *same = copied(&a, w, (size_t)OUT * IN);
  const tpti_matrix m = floats_of(w);
  size_t pieces = tpti_linear_rows_pieces(&m, IN, ROWS);
  ck_assert_uint_eq(pieces, (ROWS * IN * sizeof(float) - 1) / TPTI_FETCH_BYTES + 1);
  ck_assert_uint_eq(tpti_linear_rows_pieces(&m, IN, 0), 0);
  for (size_t piece = 0; piece < pieces + 3; piece++)
    tpti_linear_rows_fetch(&m, IN, (tpti_rows_span){FIRST, ROWS}, piece);
  ck_assert_mem_eq(w, same, (size_t)OUT * IN * sizeof *w);
  arrays_free(&a);
}
END_TEST

START_TEST(threads_do_not_change_bits) {
  enum { M = 2100, OUT = 60, IN = 100 };
  arrays a = {0};
  float *x = filled(&a, M * IN, 1), *w = filled(&a, OUT * IN, 2), *dy = filled(&a, M * OUT, 3);
  float *y[THREAD_COUNTS], *dx[THREAD_COUNTS], *dw[THREAD_COUNTS];
  ck_assert_uint_gt(tpti_linear_pack(TPTI_PRECISION_F32, M, OUT, IN, true), 0);
  for (size_t t = 0; t < THREAD_COUNTS; t++) {
    tpti_run *run = tpti_test_run(thread_counts[t]);
    y[t] = poisoned(&a, M * OUT);
    dx[t] = poisoned(&a, M * IN);
    dw[t] = copied(&a, w, OUT * IN);
    tpti_linear_forward(run, y[t], NULL, x, (tpti_weight){.w = w}, M, OUT, IN);
    tpti_linear_backward_input(run, dx[t], NULL, dy, (tpti_weight){.w = w}, M, OUT, IN);
    tpti_linear_backward_weight(run, dw[t], dw[t], dy, x, M, OUT, IN);
    same_bits(y[t], y[0], (size_t)M * OUT);
    same_bits(dx[t], dx[0], (size_t)M * IN);
    same_bits(dw[t], dw[0], (size_t)OUT * IN);
    tpti_test_run_free(run);
  }
  arrays_free(&a);
}
END_TEST

START_TEST(pack_is_for_training_and_large_sums) {
  ck_assert_uint_eq(tpti_linear_pack(TPTI_PRECISION_F32, 8, 64, 64, true), 0);
  ck_assert_uint_eq(tpti_linear_pack(TPTI_PRECISION_F32, 8192, 384, 192, false), 0);
  ck_assert_uint_gt(tpti_linear_pack(TPTI_PRECISION_F32, 8192, 384, 192, true), 0);
  ck_assert_uint_le(tpti_linear_pack(TPTI_PRECISION_F32, 8192, 32000, 768, true), 8u << 20);
}
END_TEST

/* Multiplications of the longest tile that a product was cut into, and of all. */
static struct { double longest, all; } seen;

static void only_count(const tpti_gemm *g, size_t from, size_t end, void *scratch) {
  double work = (double)g->m * (double)(end - from) * (double)g->k;
  (void)scratch;
  if (work > seen.longest) seen.longest = work;
  seen.all += work;
}

/* Progress is called between tiles: on a thread that has all the work they are short too. Of a head
 * with 256 rows and 1024, of a prompt, and of a narrow map. */
START_TEST(no_tile_is_long) {
  static const shape large[] = {
      {256, 32000, 768}, {1024, 32000, 768}, {512, 4096, 768}, {1000, 5, 3000}};
  enum { MOST = 3 << 29 }; /* some 20 ms; the whole of the first is 100 */
  const shape *s = &large[_i];
  const double all = (double)s->M * (double)s->out * (double)s->in;
  tpti_run *run = tpti_test_run(1);
  tpti_kernels counting = *run->kernels;
  arrays a = {0};
  size_t bytes = s->M * (s->out > s->in ? s->out : s->in) * sizeof(float);
  float *x = arrays_take(&a, bytes), *w = arrays_take(&a, s->out * s->in * sizeof *w);
  counting.gemm_tile = only_count;
  run->kernels = &counting;
  for (int back = 0; back < 2; back++) {
    seen.longest = seen.all = 0;
    if (back)
      tpti_linear_backward_input(run, x, NULL, x, (tpti_weight){.w = w}, s->M, s->out, s->in);
    else
      tpti_linear_forward(run, x, NULL, x, (tpti_weight){.w = w}, s->M, s->out, s->in);
    ck_assert_double_eq(seen.all, all);
    ck_assert_msg(seen.longest <= MOST, "%.0f multiplications in one tile", seen.longest);
  }
  tpti_test_run_free(run);
  arrays_free(&a);
}
END_TEST

/* So large that one thread does it in pieces: of a long sum and of columns, and of rows. */
static const shape long_shapes[] = {{300, 20000, 200}, {8500, 384, 256}};
enum { LONG_SHAPES = sizeof long_shapes / sizeof long_shapes[0] };

START_TEST(pieces_do_not_change_bits) {
  const shape s = long_shapes[_i];
  arrays a = {0};
  float *dx[2], *y[2];
  float *dy = filled(&a, s.M * s.out, 1), *w = filled(&a, s.out * s.in, 2);
  for (int32_t threads = 1; threads <= 2; threads++) {
    tpti_run *run = tpti_test_run(threads);
    float *to = dx[threads - 1] = filled(&a, s.M * s.in, 3);
    tpti_linear_backward_input(run, to, to, dy, (tpti_weight){.w = w}, s.M, s.out, s.in);
    y[threads - 1] = poisoned(&a, s.M * s.out);
    tpti_linear_forward(run, y[threads - 1], dy, to, (tpti_weight){.w = w}, s.M, s.out, s.in);
    tpti_test_run_free(run);
  }
  ck_assert_uint_eq(tpti_test_first_difference(dx[0], dx[1], s.M * s.in), s.M * s.in);
  ck_assert_uint_eq(tpti_test_first_difference(y[0], y[1], s.M * s.out), s.M * s.out);
  arrays_free(&a);
}
END_TEST

static Suite *suite(void) {
  Suite *s = suite_create("op linear");
  TCase *tests = tcase_create("linear");
  tcase_add_loop_test(tests, forward_is_the_equation, 0, SHAPES * BASES);
  tcase_add_loop_test(tests, backward_input_is_the_equation, 0, SHAPES * BASES);
  tcase_add_loop_test(tests, backward_weight_adds_the_equation, 0, SHAPES);
  tcase_add_loop_test(tests, rows_are_forward, 0, SHAPES * BASES);
  tcase_add_test(tests, a_row_has_the_bits_it_has_alone);
  tcase_add_test(tests, items_of_rows_cover_the_matrix);
  tcase_add_test(tests, fetching_pieces_of_rows);
  tcase_add_test(tests, threads_do_not_change_bits);
  const char *name = tpti_gemm_name(tpti_kernels_choose(tpti_cpu_flags()));
  if (strcmp(name, "blis"))
    tcase_add_loop_test(tests, no_tile_is_long, 0, 4); /* BLIS's are its own */
  tcase_add_loop_test(tests, pieces_do_not_change_bits, 0, LONG_SHAPES);
  tcase_add_test(tests, pack_is_for_training_and_large_sums);
  suite_add_tcase(s, tests);
  return s;
}

int main(void) { return tpti_test_main(suite()); }
