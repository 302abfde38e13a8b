/* Few rows times a matrix: every variant against plain loops. */
#include "variants.h"

static const double near = 1e-6;

static const size_t widths[] = {1, 3, 7, 8, 15, 16, 17, 31, 64, 65, 100, 192, 513};
enum { WIDTHS = sizeof widths / sizeof widths[0], OUT = 5, MOST_ROWS = 9, GAP = 2 };

/* y [rows, OUT + GAP] of rows from number `first` on. */
static void call(tpti_dots_fn *kernel, float *y, const float *base, const float *x, const float *w,
                 size_t rows, size_t in) {
  tpti_dots d = {
      .y = y, .base = base, .x = x, .w = w, .y_row = OUT + GAP, .rows = rows, .out = OUT, .in = in};
  kernel(&d);
}

START_TEST(dots_are_plain) {
  const tpti_kernels *k = variant((size_t)_i);
  for (size_t c = 0; c < WIDTHS * MOST_ROWS; c++) {
    size_t in = widths[c / MOST_ROWS], rows = c % MOST_ROWS + 1, count = rows * (OUT + GAP);
    guarded g = {0};
    float *x = guarded_take(&g, rows * in, 1), *w = guarded_take(&g, OUT * in, 2);
    float *base = guarded_take(&g, count, 3), *y = guarded_take(&g, count, 4);
    float *want = guarded_take(&g, count, 4);
    call(k->dots, y, c % 2 ? base : NULL, x, w, rows, in);
    call(tpti_dots_plain, want, c % 2 ? base : NULL, x, w, rows, in);
    same_values(y, want, count, near);
    guarded_end(&g);
  }
}
END_TEST

START_TEST(a_row_has_the_bits_it_has_alone) {
  const tpti_kernels *k = variant((size_t)_i);
  for (size_t c = 0; c < WIDTHS; c++) {
    size_t in = widths[c], count = MOST_ROWS * (OUT + GAP);
    guarded g = {0};
    float *x = guarded_take(&g, MOST_ROWS * in, 1), *w = guarded_take(&g, OUT * in, 2);
    float *y = guarded_nan(&g, count), *alone = guarded_nan(&g, OUT + GAP);
    for (size_t rows = 1; rows <= MOST_ROWS; rows++) {
      call(k->dots, y, NULL, x, w, rows, in);
      call(k->dots, alone, NULL, x + (rows - 1) * in, w, 1, in);
      ck_assert_mem_eq(alone, y + (rows - 1) * (OUT + GAP), OUT * sizeof(float));
    }
    guarded_end(&g);
  }
}
END_TEST

START_TEST(y_may_be_its_own_base) {
  const tpti_kernels *k = variant((size_t)_i);
  guarded g = {0};
  float *x = guarded_take(&g, 2 * 50, 1), *w = guarded_take(&g, OUT * 50, 2);
  float *y = guarded_take(&g, 2 * (OUT + GAP), 3), *want = guarded_take(&g, 2 * (OUT + GAP), 3);
  call(k->dots, y, y, x, w, 2, 50);
  call(tpti_dots_plain, want, want, x, w, 2, 50);
  same_values(y, want, 2 * (OUT + GAP), near);
  guarded_end(&g);
}
END_TEST

static Suite *suite(void) {
  Suite *s = suite_create("kernel dots");
  TCase *tests = tcase_create("dots");
  tcase_add_loop_test(tests, dots_are_plain, 0, variant_count());
  tcase_add_loop_test(tests, a_row_has_the_bits_it_has_alone, 0, variant_count());
  tcase_add_loop_test(tests, y_may_be_its_own_base, 0, variant_count());
  suite_add_tcase(s, tests);
  return s;
}

int main(void) { return variants_main(suite()); }
