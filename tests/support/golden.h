/* The golden cases: what the float64 oracle (tests/oracle) says, read without the library. */
#ifndef TPTI_TESTS_SUPPORT_GOLDEN_H
#define TPTI_TESTS_SUPPORT_GOLDEN_H

#include <stddef.h>

typedef struct tpti_golden tpti_golden;

typedef struct tpti_golden_tensor {
  const char *name;
  size_t ndim, shape[4], count; /* unused entries of shape are 1 */
  const double *values;         /* F32, F64 and I32 alike */
} tpti_golden_tensor;

/* Case "three_phase" of tests/golden, or any file where the name has a slash. Ends the running test
 * with the reason where it cannot be read. */
tpti_golden *tpti_golden_open(const char *name);
void tpti_golden_close(tpti_golden *golden);

/* NULL past the last. */
const char *tpti_golden_case(size_t index);

size_t tpti_golden_count(const tpti_golden *golden);
const tpti_golden_tensor *tpti_golden_at(const tpti_golden *golden, size_t index);
/* NULL where there is none; _need ends the running test then. */
const tpti_golden_tensor *tpti_golden_find(const tpti_golden *golden, const char *name);
const tpti_golden_tensor *tpti_golden_need(const tpti_golden *golden, const char *name);

/* The case's description: a number, or a text ("horn"). Ends the running test where it is not
 * there. */
double tpti_golden_number(const tpti_golden *golden, const char *key);
const char *tpti_golden_text(const tpti_golden *golden, const char *key);

/* The same as a description in YAML, with the settings of the oracle's three AdamW steps; lives as
 * long as golden. */
const char *tpti_golden_yaml(tpti_golden *golden);

#endif
