/* A BLIS that multiplies wrongly is found out before anything is computed with it: this program's
 * own bli_sgemm_ex stands before the library's. */
#include <3pt/3pt.h>
#include <stdbool.h>
#include <string.h>

#include "api/api.h"
#include "kernel/kernel.h"
#include "support/runner.h"

static bool wrong;
static int calls;

/* As BLIS declares it, in the types behind its own. */
void bli_sgemm_ex(int transa, int transb, int64_t m, int64_t n, int64_t k, float *alpha, float *a,
                  int64_t a_row, int64_t a_col, float *b, int64_t b_row, int64_t b_col, float *beta,
                  float *c, int64_t c_row, int64_t c_col, void *cntx, void *rntm);

void bli_sgemm_ex(int transa, int transb, int64_t m, int64_t n, int64_t k, float *alpha, float *a,
                  int64_t a_row, int64_t a_col, float *b, int64_t b_row, int64_t b_col, float *beta,
                  float *c, int64_t c_row, int64_t c_col, void *cntx, void *rntm) {
  (void)transa, (void)transb, (void)alpha, (void)beta, (void)c_col, (void)cntx, (void)rntm;
  __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
  for (int64_t i = 0; i < m; i++) {
    for (int64_t p = 0; p < k; p++) {
      for (int64_t j = 0; j < n; j++)
        c[i * c_row + j] += a[i * a_row + p * a_col] * b[p * b_row + j * b_col];
    }
    if (wrong && n > 100) c[i * c_row + 100] += 1;
  }
}

/* A small model whose products are BLIS's on every processor. */
static tpt_model *model_on_blis(void) {
  static const char yaml[] =
      "{model: {vocab_size: 32, d_model: 12, n_layers: 1, n_q_heads: 3, n_kv_heads: 3, d_ff: 16, "
      "max_seq_len: 8}, train: {batch: 1}}";
  tpt_context *context;
  tpt_config *config;
  tpt_model *model;
  ck_assert_int_eq(tpt_context_create(&context), TPT_OK);
  context->kernels = &tpti_kernels_plain;
  ck_assert_int_eq(tpt_config_parse(yaml, sizeof yaml - 1, &config), TPT_OK);
  ck_assert_int_eq(tpt_model_create(context, config, 1, &model), TPT_OK);
  tpt_config_destroy(config);
  tpt_context_destroy(context);
  return model;
}

START_TEST(right_products_pass) {
  tpt_model *model = model_on_blis();
  tpt_trainer *trainer;
  tpt_decoder *decoder;
  wrong = false;
  calls = 0;
  ck_assert_int_eq(tpt_trainer_create(model, NULL, &trainer), TPT_OK);
  ck_assert_int_gt(calls, 0);
  ck_assert_int_eq(tpt_decoder_create(model, 0, &decoder), TPT_OK);
  tpt_decoder_destroy(decoder);
  tpt_trainer_destroy(trainer);
  tpt_model_destroy(model);
}
END_TEST

START_TEST(wrong_products_make_no_handle) {
  tpt_model *model = model_on_blis();
  tpt_trainer *trainer = (tpt_trainer *)model;
  tpt_decoder *decoder = (tpt_decoder *)model;
  wrong = true;
  ck_assert_int_eq(tpt_trainer_create(model, NULL, &trainer), TPT_E_INTERNAL);
  ck_assert_ptr_null(trainer);
  ck_assert_ptr_nonnull(strstr(tpt_error_message(), "BLIS"));
  ck_assert_int_eq(tpt_decoder_create(model, 0, &decoder), TPT_E_INTERNAL);
  ck_assert_ptr_null(decoder);
  ck_assert_ptr_nonnull(strstr(tpt_error_message(), "BLIS"));
  tpt_model_destroy(model);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("api products");
  TCase *tests = tcase_create("products");
  tcase_add_test(tests, right_products_pass);
  tcase_add_test(tests, wrong_products_make_no_handle);
  suite_add_tcase(suite, tests);
  return tpti_test_main(suite);
}
