/* Operands packed from the form in which weights are held, against the same values as floats: the
 * same pairs, of one part, of two and of three. What is read ends where the values end, which only
 * the address sanitizer sees. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/bf16.h"
#include "kernel/bf16_parts.h"
#include "kernel/dots.h"
#include "support/compare.h"
#include "support/runner.h"

/* The most lines and k; pairs of such an operand. */
enum { MOST_LINES = 70, MOST_K = 200 };
enum { STRIPS = (MOST_LINES + TPTI_BF16_LINES - 1) / TPTI_BF16_LINES };
enum { STEPS = (MOST_K + TPTI_BF16_DEPTH - 1) / TPTI_BF16_DEPTH };
enum { MOST_PAIRS = STRIPS * STEPS * TPTI_BF16_PARTS * TPTI_BF16_PART };

/* Below, at and above a vector, a step, a block of a scale. */
static const size_t line_counts[] = {1, 15, 16, 17, 32, 33, 70};
static const size_t k_counts[] = {1, 15, 16, 17, 31, 32, 33, 63, 64, 65, 96, 127, 129, 200};
enum { LINE_COUNTS = sizeof line_counts / sizeof line_counts[0] };
enum { K_COUNTS = sizeof k_counts / sizeof k_counts[0] };

static const tpti_form forms[] = {TPTI_FORM_F32, TPTI_FORM_BF16, TPTI_FORM_INT8};
enum { FORMS = 3 };

static void *take(size_t bytes) {
  void *block = malloc(bytes);
  ck_assert_ptr_nonnull(block);
  return block;
}

/* A matrix and the same as floats. */
typedef struct weights {
  size_t rows, columns;
  tpti_matrix held;
  float *floats, *scales;
  void *values;
} weights;

static void set_value(weights *w, tpti_form form, size_t i, float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  if (form == TPTI_FORM_F32) ((float *)w->values)[i] = x;
  if (form == TPTI_FORM_BF16) ((uint16_t *)w->values)[i] = (uint16_t)(bits >> 16);
  if (form == TPTI_FORM_INT8) ((int8_t *)w->values)[i] = (int8_t)(127 * x);
}

static weights make(tpti_form form, size_t rows, size_t columns) {
  size_t count = rows * columns, blocks = rows * tpti_scales(columns);
  weights w = {.rows = rows, .columns = columns};
  w.floats = take(count * sizeof *w.floats);
  w.scales = take(blocks * sizeof *w.scales);
  w.values = take(count * tpti_form_bytes(form));
  tpti_test_fill(w.scales, blocks, 5);
  tpti_test_fill(w.floats, count, 6);
  for (size_t i = 0; i < count; i++) set_value(&w, form, i, w.floats[i]);
  w.held = (tpti_matrix){form, w.values, form == TPTI_FORM_INT8 ? w.scales : NULL};
  tpti_expand_plain(w.floats, &w.held, rows, columns);
  return w;
}

static void end(weights *w) {
  free(w->floats);
  free(w->scales);
  free(w->values);
}

/* Lines from `first` on, and of them k from `from` on, packed; what was there before is overwritten
 * up to the end of the last step. */
static void pack(uint32_t *out, const weights *w, tpti_matrix x, size_t first, size_t from,
                 size_t parts) {
  tpti_bf16_operand o = {.x = x, .line = w->columns, .deep = 1, .columns = true};
  o.x = tpti_bf16_from(&o, first, from);
  o.lines = w->rows - first;
  o.k = w->columns - from;
  memset(out, 0xa5, MOST_PAIRS * sizeof *out);
  tpti_bf16_pack_operand(out, tpti_ceil_div(o.k, TPTI_BF16_DEPTH) * parts * TPTI_BF16_PART, &o,
                         parts);
}

static void check(const weights *w, size_t first, size_t from, size_t parts) {
  uint32_t *got = aligned_alloc(64, MOST_PAIRS * sizeof *got);
  uint32_t *want = aligned_alloc(64, MOST_PAIRS * sizeof *want);
  ck_assert(got != NULL && want != NULL);
  pack(got, w, w->held, first, from, parts);
  pack(want, w, (tpti_matrix){.values = w->floats}, first, from, parts);
  ck_assert_msg(memcmp(got, want, MOST_PAIRS * sizeof *got) == 0,
                "form %d, %zu rows from %zu on, %zu columns from %zu on, %zu parts",
                (int)w->held.form, w->rows, first, w->columns, from, parts);
  free(got);
  free(want);
}

START_TEST(pairs_are_those_of_the_floats) {
  for (size_t c = 0; c < LINE_COUNTS * K_COUNTS; c++) {
    weights w = make(forms[_i], line_counts[c % LINE_COUNTS], k_counts[c / LINE_COUNTS]);
    for (size_t parts = 1; parts <= TPTI_BF16_PARTS; parts++) check(&w, 0, 0, parts);
    end(&w);
  }
}
END_TEST

/* Each row and each block of a scale has its own. */
START_TEST(a_part_has_its_own_rows_and_scales) {
  weights w = make(forms[_i], MOST_LINES, MOST_K);
  for (size_t from = 0; from < MOST_K; from += TPTI_SCALE_BLOCK) {
    for (size_t first = 0; first < MOST_LINES; first += 23) check(&w, first, from, 1);
  }
  end(&w);
}
END_TEST

/* Of an infinite scale, as of an infinite float: nothing of it comes into the padding. */
START_TEST(padding_is_zero_whatever_the_scale) {
  uint32_t *out = aligned_alloc(64, MOST_PAIRS * sizeof *out);
  ck_assert_ptr_nonnull(out);
  weights w = make(TPTI_FORM_INT8, 1, 5);
  w.scales[0] = INFINITY;
  pack(out, &w, w.held, 0, 0, 1);
  for (size_t p = 5; p < TPTI_BF16_LANES; p++)
    for (size_t l = 0; l < TPTI_BF16_LANES; l++) ck_assert_uint_eq(out[p * TPTI_BF16_LANES + l], 0);
  end(&w);
  free(out);
}
END_TEST

static Suite *suite(void) {
  Suite *s = suite_create("kernel bf16 pack");
  TCase *c = tcase_create("held");
  tcase_add_loop_test(c, pairs_are_those_of_the_floats, 0, FORMS);
  tcase_add_loop_test(c, a_part_has_its_own_rows_and_scales, 0, FORMS);
  tcase_add_test(c, padding_is_zero_whatever_the_scale);
  suite_add_tcase(s, c);
  return s;
}

int main(void) {
  if (tpti_bf16_vectors_here()) return tpti_test_main(suite());
  srunner_free(srunner_create(suite()));
  return tpti_test_skip("no AVX512_BF16 here");
}
