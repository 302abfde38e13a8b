/* Stored numbers to float32, one element at a time: reading the file takes longer. */
#include "io/convert.h"

#include <stdint.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "files are little-endian");

static float from_bits(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

void tpti_convert_f64(const void *raw, float *values, size_t count) {
  const char *bytes = raw;
  for (size_t i = 0; i < count; i++) {
    double value;
    memcpy(&value, bytes + i * sizeof value, sizeof value);
    values[i] = (float)value; /* IEEE 754: an infinity beyond the range */
  }
}

/* Sign 1, exponent 5 (bias 15), fraction 10. */
static float from_f16(uint16_t half) {
  uint32_t sign = (uint32_t)(half & 0x8000) << 16;
  uint32_t exponent = half >> 10 & 0x1f, fraction = half & 0x3ffu;
  if (exponent == 0x1f) return from_bits(sign | 0x7f800000u | fraction << 13);
  if (exponent > 0) return from_bits(sign | (exponent + 127 - 15) << 23 | fraction << 13);
  float small = (float)fraction * 0x1p-24f; /* subnormal: a multiple of 2^-24, exact here */
  return sign ? -small : small;
}

void tpti_convert_f16(const void *raw, float *values, size_t count) {
  const char *bytes = raw;
  for (size_t i = 0; i < count; i++) {
    uint16_t half;
    memcpy(&half, bytes + i * sizeof half, sizeof half);
    values[i] = from_f16(half);
  }
}

/* The upper half of a float32. */
void tpti_convert_bf16(const void *raw, float *values, size_t count) {
  const char *bytes = raw;
  for (size_t i = 0; i < count; i++) {
    uint16_t half;
    memcpy(&half, bytes + i * sizeof half, sizeof half);
    values[i] = from_bits((uint32_t)half << 16);
  }
}
