/* Stored numbers to float32. */
#include "io/convert.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "support/runner.h"

static uint32_t bits_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

/* By the definition, in double; not as the code does it. */
static double f16_by_definition(uint16_t half) {
  int exponent = half >> 10 & 0x1f, fraction = half & 0x3ff;
  double sign = half & 0x8000 ? -1 : 1;
  if (exponent == 31) return fraction ? NAN : sign * HUGE_VAL;
  if (exponent == 0) return sign * ldexp(fraction, -24);
  return sign * ldexp(1024 + fraction, exponent - 25);
}

enum { HALVES = 65536 };
static uint16_t halves[HALVES];
static float floats[HALVES];

static void make_halves(void) {
  for (uint32_t i = 0; i < HALVES; i++) halves[i] = (uint16_t)i;
}

START_TEST(every_f16) {
  tpti_convert_f16(halves, floats, HALVES);
  for (uint32_t i = 0; i < HALVES; i++) {
    double want = f16_by_definition(halves[i]), got = floats[i];
    int right = isnan(want) ? isnan(got) : got == want && !signbit(got) == !signbit(want);
    if (!right) ck_abort_msg("%x gives %g", i, got);
  }
}
END_TEST

START_TEST(every_bf16) {
  tpti_convert_bf16(halves, floats, HALVES);
  for (uint32_t i = 0; i < HALVES; i++) {
    if (bits_of(floats[i]) != i << 16) ck_abort_msg("%x gives %g", i, (double)floats[i]);
  }
}
END_TEST

START_TEST(f64_is_rounded_to_nearest) {
  static const struct {
    double from;
    float want;
  } rows[] = {{1.0 + 0x1p-24, 1.0f},
              {1.0 + 0x1.8p-23, 1.0f + 0x1p-22f},
              {1.0 + 0x1.00001p-24, 1.0f + 0x1p-23f},
              {-0.1, -0.1f},
              {0x1p-149, 0x1p-149f},
              {0x1p-150, 0.0f},
              {0x1.8p-150, 0x1p-149f},
              {0x1.fffffe8p127, 0x1.fffffep127f},
              {0x1.ffffffp127, INFINITY},
              {-1e300, -INFINITY},
              {-INFINITY, -INFINITY},
              {-0.0, -0.0f}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    float got;
    tpti_convert_f64(&rows[i].from, &got, 1);
    ck_assert_msg(bits_of(got) == bits_of(rows[i].want), "row %zu: %a", i, got);
  }
  double nothing = NAN;
  float got = 0;
  tpti_convert_f64(&nothing, &got, 1);
  ck_assert(isnan(got));
}
END_TEST

START_TEST(source_need_not_be_aligned) {
  char raw[1 + 2 * sizeof(double)];
  const double want[2] = {1.5, -2.25};
  float got[2];
  memcpy(raw + 1, want, sizeof want);
  tpti_convert_f64(raw + 1, got, 2);
  ck_assert(got[0] == 1.5f && got[1] == -2.25f);
  const uint16_t two[2] = {0x3c00, 0xc000};
  memcpy(raw + 1, two, sizeof two);
  tpti_convert_f16(raw + 1, got, 2);
  ck_assert(got[0] == 1.0f && got[1] == -2.0f);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("convert");
  TCase *group = tcase_create("convert");
  tcase_add_checked_fixture(group, make_halves, NULL);
  tcase_add_test(group, every_f16);
  tcase_add_test(group, every_bf16);
  tcase_add_test(group, f64_is_rounded_to_nearest);
  tcase_add_test(group, source_need_not_be_aligned);
  suite_add_tcase(suite, group);
  return tpti_test_main(suite);
}
