/* The tables: which one a processor gets, and that each is whole. */
#include "variants.h"

START_TEST(no_flags_give_the_plain_table) {
  ck_assert_ptr_eq(tpti_kernels_choose(0), &tpti_kernels_plain);
  ck_assert_ptr_eq(tpti_kernels_list(0), &tpti_kernels_plain);
}
END_TEST

/* Features are taken away one by one: what is chosen never needs more than is there. */
START_TEST(the_newest_table_that_fits_is_chosen) {
  for (uint32_t flags = 0; flags < 8; flags++) {
    const tpti_kernels *chosen = tpti_kernels_choose(flags), *k, *want = NULL;
    for (size_t t = 0; (k = tpti_kernels_list(t)) != NULL; t++) {
      if ((k->needs & ~flags) == 0) want = k;
    }
    ck_assert_ptr_eq(chosen, want);
  }
}
END_TEST

START_TEST(every_table_is_whole) {
  const tpti_kernels *k;
  for (size_t t = 0; (k = tpti_kernels_list(t)) != NULL; t++) {
    ck_assert_ptr_nonnull(k->name);
    ck_assert(k->mr > 0 && k->nr > 0);
#define K(word) ck_assert_msg(k->word != NULL, "%s lacks " #word, k->name);
#include "kernel/kernels.inc"
#undef K
  }
}
END_TEST

START_TEST(products_have_a_name) {
  const tpti_kernels *k;
  for (size_t t = 0; (k = tpti_kernels_list(t)) != NULL; t++) {
    const char *name = tpti_gemm_name(k);
    bool own = strncmp(name, "own ", 4) == 0 && strcmp(name + 4, k->name) == 0;
    ck_assert_msg(own || strcmp(name, "blis") == 0, "%s has products '%s'", k->name, name);
  }
  ck_assert_str_eq(tpti_gemm_name(&tpti_kernels_plain), "blis");
}
END_TEST

static Suite *suite(void) {
  Suite *s = suite_create("kernel choose");
  TCase *tests = tcase_create("choose");
  tcase_add_test(tests, no_flags_give_the_plain_table);
  tcase_add_test(tests, the_newest_table_that_fits_is_chosen);
  tcase_add_test(tests, every_table_is_whole);
  tcase_add_test(tests, products_have_a_name);
  suite_add_tcase(s, tests);
  return s;
}

int main(void) { return tpti_test_main(suite()); }
