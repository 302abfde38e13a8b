/* Weights in smaller forms: the rounding itself, and that every parameter has a place of its own.
 */
#include "model/held.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/kernel.h"
#include "support/compare.h"
#include "support/runner.h"

/* ---- rounding ---- */

static float from_bits(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* The bf16 next to `value`, ties to even, by trying both neighbours. */
static float nearest_bf16(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  float low = from_bits(bits & 0xffff0000u), high = from_bits((bits & 0xffff0000u) + 0x10000u);
  double down = fabs((double)value - low), up = fabs((double)high - value);
  if (down != up) return down < up ? low : high;
  return bits >> 16 & 1 ? high : low;
}

static float stored_bf16(float value) {
  uint16_t out = 0;
  const tpti_matrix m = {.form = TPTI_FORM_BF16, .values = &out};
  tpti_held_store(&m, 1, 0, 0, &value, 1);
  return from_bits((uint32_t)out << 16);
}

START_TEST(bf16_is_the_nearest) {
  static const uint32_t some[] = {0x3f800000, 0x3f808000, 0x3f818000, 0x3f808001,
                                  0x3f807fff, 0x00000001, 0x00008000, 0x00008001,
                                  0x7f7f0000, 0x80000000, 0xbf808000, 0xc2f18000};
  for (size_t i = 0; i < sizeof some / sizeof *some; i++)
    ck_assert(stored_bf16(from_bits(some[i])) == nearest_bf16(from_bits(some[i])));
  float values[1000];
  tpti_test_fill(values, 1000, 3);
  for (size_t i = 0; i < 1000; i++) ck_assert(stored_bf16(values[i]) == nearest_bf16(values[i]));
}
END_TEST

START_TEST(bf16_of_what_is_not_finite) {
  ck_assert(isinf(stored_bf16(INFINITY)) && stored_bf16(-INFINITY) < 0);
  ck_assert(isinf(stored_bf16(from_bits(0x7f7fffff)))); /* beyond the largest: as rounding does */
  ck_assert(isnan(stored_bf16(NAN)));
  ck_assert(isnan(stored_bf16(from_bits(0x7f800001)))); /* a payload that rounding would lose */
  ck_assert(isnan(stored_bf16(from_bits(0xffffffff))));
}
END_TEST

enum { WIDE = 150 }; /* two blocks and a part */

typedef struct quantized {
  int8_t q[WIDE];
  float scales[3];
} quantized;

static quantized store_int8(const float *values) {
  quantized s;
  const tpti_matrix m = {.form = TPTI_FORM_INT8, .values = s.q, .scales = s.scales};
  tpti_held_store(&m, WIDE, 0, 0, values, WIDE);
  return s;
}

START_TEST(int8_is_the_nearest_of_its_block) {
  float values[WIDE];
  tpti_test_fill(values, WIDE, 4);
  for (size_t i = 64; i < 128; i++) values[i] *= 1e-3f;
  values[130] = -9;
  const quantized s = store_int8(values);
  for (size_t b = 0; b < 3; b++) {
    float most = 0;
    size_t end = b == 2 ? WIDE : b * 64 + 64;
    for (size_t i = b * 64; i < end; i++) most = fmaxf(most, fabsf(values[i]));
    ck_assert(s.scales[b] == most / 127);
    for (size_t i = b * 64; i < end; i++) {
      double off = fabs((double)s.q[i] * s.scales[b] - values[i]);
      ck_assert_msg(off <= 0.50001 * s.scales[b], "%zu: off by %g of %g", i, off, s.scales[b]);
    }
  }
  ck_assert_int_eq(s.q[130], -127);
}
END_TEST

START_TEST(int8_of_special_blocks) {
  float values[WIDE] = {0};
  quantized s = store_int8(values);
  for (size_t i = 0; i < WIDE; i++) ck_assert(s.q[i] == 0 && s.scales[i / 64] == 0);
  values[3] = 1e-44f, values[4] = -1e-44f; /* a scale that is subnormal, or 0 */
  values[70] = 3e38f;
  s = store_int8(values);
  ck_assert(s.q[3] >= 0 && s.q[3] <= 127 && s.q[4] == -s.q[3]);
  ck_assert(s.q[70] == 127 && isfinite(s.scales[1]));
  static const float bad[] = {NAN, INFINITY, -INFINITY};
  for (size_t k = 0; k < 3; k++) {
    values[5] = bad[k];
    s = store_int8(values);
    ck_assert(!isfinite((float)s.q[5] * s.scales[0]));
    ck_assert(isfinite((float)s.q[70] * s.scales[1]));
  }
}
END_TEST

/* ---- places ---- */

/* Every parameter of a network gets a value of its own through its place, and has it still when
 * all have theirs. */
static void each_its_own(const tpti_dims *d, tpti_form form) {
  tpti_plan plan = {0};
  tpti_params params;
  tpti_held held;
  for (int pass = 0; pass < 2; pass++) {
    tpti_params_layout(&params, d, &plan);
    tpti_held_layout(&held, form, &params, d, &plan);
    if (pass == 0) plan = (tpti_plan){.base = aligned_alloc(64, (plan.used + 63) / 64 * 64)};
  }
  char *block = plan.base;
  ck_assert(!plan.overflow && block);
  for (int pass = 0; pass < 2; pass++) {
    for (size_t i = 0; i < params.tensor_count; i++) {
      const tpti_tensor *t = &params.tensors[i];
      size_t columns = t->shape[1], rows = t->shape[0];
      for (size_t r = 0; r < rows && t->ndim == 2; r++) {
        float values[300], got[300];
        const tpti_matrix m = tpti_held_matrix(&held, &params, d, t->offset);
        for (size_t c = 0; c < columns; c++) values[c] = (float)((i * 31 + r * 7) % 113 + 1);
        if (pass == 0) tpti_held_store(&m, columns, r, 0, values, columns);
        const tpti_matrix row = tpti_matrix_from(m, columns, r);
        tpti_expand_plain(got, &row, 1, columns);
        for (size_t c = 0; c < columns; c++) ck_assert(fabsf(got[c] - values[c]) < 1e-4f);
      }
      if (t->ndim == 2) continue;
      float *v = tpti_held_vector(&held, &params, d, t->offset);
      for (size_t c = 0; c < t->count; c++) {
        if (pass == 0) v[c] = (float)(t->offset + c);
        ck_assert(v[c] == (float)(t->offset + c));
      }
    }
  }
  free(block);
}

START_TEST(places) {
  static const tpti_form forms[] = {TPTI_FORM_F32, TPTI_FORM_BF16, TPTI_FORM_INT8};
  tpti_dims d = {.V = 11, .D = 24, .L = 3, .H = 6, .K = 3, .F = 20, .N = 3, .max_seq_len = 9};
  for (size_t f = 0; f < 3; f++) {
    d.D = 24, d.F = 20, d.dc = TPTI_DC_HORN, d.rotation = TPTI_ROTATION_REPLACE;
    each_its_own(&d, forms[f]);
    d.dc = TPTI_DC_LEARNED, d.rotation = TPTI_ROTATION_RESIDUAL;
    each_its_own(&d, forms[f]);
    d.D = 96, d.F = 131, d.rotation = TPTI_ROTATION_NONE;
    each_its_own(&d, forms[f]);
  }
}
END_TEST

START_TEST(bytes) {
  const tpti_dims d = {.V = 100,
                       .D = 192,
                       .L = 4,
                       .H = 6,
                       .K = 3,
                       .F = 512,
                       .N = 3,
                       .max_seq_len = 9,
                       .rotation = TPTI_ROTATION_NONE};
  size_t used[3];
  for (size_t f = 0; f < 3; f++) {
    tpti_plan plan = {0};
    tpti_params params;
    tpti_held held;
    tpti_params_layout(&params, &d, &plan);
    size_t before = plan.used;
    tpti_held_layout(&held, (tpti_form)f, &params, &d, &plan);
    used[f] = plan.used - before;
  }
  ck_assert_uint_lt(used[1], used[0] / 2 + used[0] / 100);
  ck_assert_uint_lt(used[2], used[0] / 64 * 17 + used[0] / 100);
}
END_TEST

static Suite *suite(void) {
  Suite *s = suite_create("model/held");
  TCase *tests = tcase_create("held");
  tcase_add_test(tests, bf16_is_the_nearest);
  tcase_add_test(tests, bf16_of_what_is_not_finite);
  tcase_add_test(tests, int8_is_the_nearest_of_its_block);
  tcase_add_test(tests, int8_of_special_blocks);
  tcase_add_test(tests, places);
  tcase_add_test(tests, bytes);
  suite_add_tcase(s, tests);
  return s;
}

int main(void) { return tpti_test_main(suite()); }
