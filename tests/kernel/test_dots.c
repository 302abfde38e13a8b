/* Few rows times a matrix, and a matrix as floats: every variant against plain loops, in every form
 * of the weights; and what the decoder is promised of bits. */
#include "base/memory.h"
#include "variants.h"

static const double near = 1e-6;

/* Below, at and above a vector, a block of a scale, and the columns that are held at once. */
static const size_t widths[] = {1,  3,   7,   8,   15,  16,  17,  31,  63,   64,
                                65, 100, 128, 192, 448, 513, 577, 768, 1024, 1700};
enum { WIDTHS = sizeof widths / sizeof widths[0], FORMS = 3, GAP = 2, MOST_ROWS = 21 };
static const size_t outs[] = {1, 3, 4, 5, 7, 16, 18, 67, 71};
enum { OUTS = sizeof outs / sizeof outs[0], MOST_OUT = 71 };

/* Weights of a form, at addresses without alignment but their own. */
typedef struct weights {
  tpti_matrix m;
  void *block;
} weights;

static uint32_t bits_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static weights make_weights(guarded *g, tpti_form form, size_t out, size_t in) {
  size_t count = out * in;
  float *values = guarded_take(g, count, 2);
  weights w = {.m = {.form = form, .values = values}};
  if (form == TPTI_FORM_F32) return w;
  char *block = malloc((count + 1) * 2);
  ck_assert_ptr_nonnull(block);
  w.block = block;
  w.m.values = form == TPTI_FORM_BF16 ? block + 2 : block + 1;
  for (size_t i = 0; i < count && form == TPTI_FORM_BF16; i++)
    ((uint16_t *)(void *)(block + 2))[i] = (uint16_t)(bits_of(values[i]) >> 16);
  if (form == TPTI_FORM_BF16) return w;
  for (size_t i = 0; i < count; i++) {
    float q = roundf(values[i] * 50);
    ((int8_t *)block)[1 + i] = (int8_t)(i % 97 == 0 ? 127 : i % 89 == 0 ? -127 : fmodf(q, 128));
  }
  w.m.scales = guarded_take(g, out * tpti_scales(in), 5);
  return w;
}

/* y [rows, out + GAP]. */
static void call(tpti_dots_fn *kernel, float *y, const float *base, const float *x, tpti_matrix w,
                 size_t rows, size_t out, size_t in) {
  static _Alignas(TPTI_ALIGNMENT) char work[TPTI_DOTS_WORK];
  tpti_dots d = {.y = y,
                 .base = base,
                 .x = x,
                 .w = w,
                 .y_row = out + GAP,
                 .rows = rows,
                 .out = out,
                 .in = in,
                 .work = rows == 1 ? NULL : work};
  kernel(&d);
}

/* The gaps between the rows of y stay as they were: want is made from the same values. */
static void check_case(int _i, tpti_form form, size_t rows, size_t out, size_t in, bool based) {
  const tpti_kernels *k = variant((size_t)_i);
  size_t count = rows * (out + GAP);
  guarded g = {0};
  weights w = make_weights(&g, form, out, in);
  float *x = guarded_take(&g, rows * in, 1), *base = guarded_take(&g, count, 3);
  float *y = guarded_take(&g, count, 4), *want = guarded_take(&g, count, 4);
  call(k->dots, y, based ? base : NULL, x, w.m, rows, out, in);
  call(tpti_dots_plain, want, based ? base : NULL, x, w.m, rows, out, in);
  same_values(y, want, count, near);
  free(w.block);
  guarded_end(&g);
}

START_TEST(dots_are_plain) {
  for (size_t c = 0; c < FORMS * WIDTHS * MOST_ROWS; c++) {
    size_t in = widths[c / FORMS % WIDTHS], rows = c / FORMS / WIDTHS + 1;
    check_case(_i, (tpti_form)(c % FORMS), rows, 5, in, c % 2);
  }
}
END_TEST

START_TEST(of_every_number_of_outputs) {
  for (size_t c = 0; c < FORMS * OUTS * 6; c++) {
    size_t rows = c / FORMS / OUTS * 4 + 1;
    check_case(_i, (tpti_form)(c % FORMS), rows, outs[c / FORMS % OUTS], c % 2 ? 577 : 96, c % 2);
  }
}
END_TEST

START_TEST(a_row_has_the_bits_it_has_alone) {
  const tpti_kernels *k = variant((size_t)_i);
  for (size_t c = 0; c < FORMS * WIDTHS * OUTS; c++) {
    size_t in = widths[c / FORMS % WIDTHS], out = outs[c / FORMS / WIDTHS], row = out + GAP;
    guarded g = {0};
    weights w = make_weights(&g, (tpti_form)(c % FORMS), out, in);
    float *x = guarded_take(&g, MOST_ROWS * in, 1);
    float *y = guarded_nan(&g, MOST_ROWS * row), *alone = guarded_nan(&g, MOST_ROWS * row);
    for (size_t r = 0; r < MOST_ROWS; r++)
      call(k->dots, alone + r * row, NULL, x + r * in, w.m, 1, out, in);
    for (size_t rows = 1; rows <= MOST_ROWS; rows++) {
      size_t first = MOST_ROWS - rows; /* other neighbours, another place among them */
      call(k->dots, y, NULL, x + first * in, w.m, rows, out, in);
      for (size_t r = 0; r < rows; r++)
        ck_assert_mem_eq(alone + (first + r) * row, y + r * row, out * sizeof(float));
    }
    free(w.block);
    guarded_end(&g);
  }
}
END_TEST

/* Where the rows of w begin among others does not matter: threads take some of them each. */
START_TEST(an_output_has_the_bits_it_has_alone) {
  const tpti_kernels *k = variant((size_t)_i);
  enum { ROWS = 6, IN = 577 };
  for (size_t form = 0; form < FORMS; form++) {
    guarded g = {0};
    weights w = make_weights(&g, (tpti_form)form, MOST_OUT, IN);
    float *x = guarded_take(&g, ROWS * IN, 1), *y = guarded_nan(&g, ROWS * (MOST_OUT + GAP));
    float *alone = guarded_nan(&g, ROWS * (1 + GAP));
    call(k->dots, y, NULL, x, w.m, ROWS, MOST_OUT, IN);
    for (size_t o = 0; o < MOST_OUT; o++) {
      call(k->dots, alone, NULL, x, tpti_matrix_from(w.m, IN, o), ROWS, 1, IN);
      for (size_t r = 0; r < ROWS; r++)
        ck_assert_mem_eq(alone + r * (1 + GAP), y + r * (MOST_OUT + GAP) + o, sizeof(float));
    }
    free(w.block);
    guarded_end(&g);
  }
}
END_TEST

START_TEST(expansion_is_plain_and_gives_the_same_bits) {
  const tpti_kernels *k = variant((size_t)_i);
  enum { ROWS = 6, OUT = 7 };
  for (size_t c = 0; c < FORMS * WIDTHS; c++) {
    size_t in = widths[c / FORMS];
    guarded g = {0};
    weights w = make_weights(&g, (tpti_form)(c % FORMS), OUT, in);
    float *x = guarded_take(&g, ROWS * in, 1), *values = guarded_nan(&g, OUT * in);
    float *want = guarded_nan(&g, OUT * in), *y = guarded_nan(&g, ROWS * (OUT + GAP));
    float *same = guarded_nan(&g, ROWS * (OUT + GAP));
    k->expand(values, &w.m, OUT, in);
    tpti_expand_plain(want, &w.m, OUT, in);
    ck_assert_mem_eq(values, want, OUT * in * sizeof *want);
    for (size_t rows = 1; rows <= ROWS; rows += ROWS - 1) {
      call(k->dots, y, NULL, x, w.m, rows, OUT, in);
      call(k->dots, same, NULL, x, (tpti_matrix){.values = values}, rows, OUT, in);
      for (size_t r = 0; r < rows; r++)
        ck_assert_mem_eq(y + r * (OUT + GAP), same + r * (OUT + GAP), OUT * sizeof *y);
    }
    free(w.block);
    guarded_end(&g);
  }
}
END_TEST

START_TEST(y_may_be_its_own_base) {
  const tpti_kernels *k = variant((size_t)_i);
  for (size_t c = 0; c < OUTS * 2; c++) {
    size_t out = outs[c / 2], rows = c % 2 ? 6 : 1, count = rows * (out + GAP);
    guarded g = {0};
    weights w = make_weights(&g, TPTI_FORM_F32, out, 50);
    float *x = guarded_take(&g, rows * 50, 1);
    float *y = guarded_take(&g, count, 3), *want = guarded_take(&g, count, 3);
    call(k->dots, y, y, x, w.m, rows, out, 50);
    call(tpti_dots_plain, want, want, x, w.m, rows, out, 50);
    same_values(y, want, count, near);
    guarded_end(&g);
  }
}
END_TEST

START_TEST(no_rows) {
  const tpti_kernels *k = variant((size_t)_i);
  guarded g = {0};
  weights w = make_weights(&g, TPTI_FORM_F32, 5, 64);
  float *y = guarded_take(&g, 5, 3), *want = guarded_take(&g, 5, 3);
  call(k->dots, y, NULL, NULL, w.m, 0, 5, 64);
  ck_assert_mem_eq(y, want, 5 * sizeof *y);
  guarded_end(&g);
}
END_TEST

static Suite *suite(void) {
  Suite *s = suite_create("kernel dots");
  TCase *tests = tcase_create("dots");
  int count = variant_count();
  tcase_add_loop_test(tests, dots_are_plain, 0, count);
  tcase_add_loop_test(tests, of_every_number_of_outputs, 0, count);
  tcase_add_loop_test(tests, a_row_has_the_bits_it_has_alone, 0, count);
  tcase_add_loop_test(tests, an_output_has_the_bits_it_has_alone, 0, count);
  tcase_add_loop_test(tests, expansion_is_plain_and_gives_the_same_bits, 0, count);
  tcase_add_loop_test(tests, y_may_be_its_own_base, 0, count);
  tcase_add_loop_test(tests, no_rows, 0, count);
  suite_add_tcase(s, tests);
  return s;
}

int main(void) { return variants_main(suite()); }
