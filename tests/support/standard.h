/* A while without the standard descriptors: 0 to 2. Nothing can be told meanwhile, so what is found
 * is kept and asserted afterwards. */
#ifndef TPTI_TESTS_SUPPORT_STANDARD_H
#define TPTI_TESTS_SUPPORT_STANDARD_H

typedef struct tpti_test_standard {
  int kept[3]; /* where they are meanwhile; below 0: was closed before */
} tpti_test_standard;

tpti_test_standard tpti_test_close_standard(void);

/* Opens them again. How many of the three were open by then. */
int tpti_test_open_standard(const tpti_test_standard *standard);

#endif
