/* Stored numbers to float32. F16 and BF16 are exact; F64 is rounded to nearest, ties to even, and
 * what is beyond the range of float32 becomes an infinity of its sign; a NaN stays a NaN. */
#ifndef TPTI_IO_CONVERT_H
#define TPTI_IO_CONVERT_H

#include <stddef.h>

/* `count` little-endian numbers from `raw`, which need not be aligned. */
void tpti_convert_f64(const void *raw, float *values, size_t count);
void tpti_convert_f16(const void *raw, float *values, size_t count);
void tpti_convert_bf16(const void *raw, float *values, size_t count);

#endif
