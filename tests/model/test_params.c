/* The table of parameters: names, order, shapes, offsets, and the counts of the paper. */
#include <stdlib.h>
#include <string.h>

#include "model/params.h"
#include "spec/spec.h"
#include "support/runner.h"

/* The table of a preset with some values set; freed by the caller with free(params.tensors). */
static tpti_params table_of(tpti_spec *spec) {
  tpti_params params;
  tpti_plan plan = {0};
  tpti_params_layout(&params, &spec->model, &plan);
  ck_assert(!plan.overflow);
  plan = (tpti_plan){.base = aligned_alloc(TPTI_ALIGNMENT, plan.used)};
  ck_assert_ptr_nonnull(plan.base);
  tpti_params_layout(&params, &spec->model, &plan);
  return params;
}

static tpti_params preset_table(const char *preset, const char *key, const char *value) {
  tpti_spec spec;
  ck_assert_int_eq(tpti_spec_preset(preset, &spec), TPT_OK);
  if (key) ck_assert_int_eq(tpti_spec_set(&spec, key, value), TPT_OK);
  tpti_params params = table_of(&spec);
  tpti_spec_free(&spec);
  return params;
}

static const struct {
  const char *preset, *key, *value;
  size_t count;
} papers[] = {
    {"3pt-123m", NULL, NULL, 123490560},       {"3pt-123m", "model.n_phases", "1", 123493632},
    {"rope-only-123m", NULL, NULL, 123489024}, {"3pt-5m", NULL, NULL, 5463872},
    {"rope-only-5m", NULL, NULL, 5463744},
};

START_TEST(counts_of_the_paper) {
  tpti_params p = preset_table(papers[_i].preset, papers[_i].key, papers[_i].value);
  ck_assert_uint_eq(p.count, papers[_i].count);
  free(p.tensors);
}
END_TEST

START_TEST(no_gaps_and_in_order) {
  tpti_params p = preset_table("3pt-5m", "model.dc.profile", "learned");
  size_t offset = 0;
  for (size_t i = 0; i < p.tensor_count; i++) {
    const tpti_tensor *t = &p.tensors[i];
    ck_assert_uint_eq(t->offset, offset);
    ck_assert_uint_eq(t->count, t->shape[0] * t->shape[1]);
    offset += t->count;
  }
  ck_assert_uint_eq(offset, p.count);
  free(p.tensors);
}
END_TEST

START_TEST(names_of_the_published_code) {
  static const char *const first[] = {
      "embedding.token_emb.weight", "embedding.dc_profile",       "blocks.0.attn.q.weight",
      "blocks.0.attn.k.weight",     "blocks.0.attn.v.weight",     "blocks.0.attn.o.weight",
      "blocks.0.ff.gate.weight",    "blocks.0.ff.up.weight",      "blocks.0.ff.down.weight",
      "blocks.0.n1.norms.0.weight", "blocks.0.n1.norms.1.weight", "blocks.0.n1.norms.2.weight",
      "blocks.0.n2.norms.0.weight", "blocks.0.n2.norms.1.weight", "blocks.0.n2.norms.2.weight",
      "blocks.0.pr.theta",          "blocks.1.attn.q.weight"};
  tpti_params p = preset_table("3pt-5m", "model.dc.profile", "learned");
  for (size_t i = 0; i < sizeof first / sizeof *first; i++)
    ck_assert_str_eq(p.tensors[i].name, first[i]);
  ck_assert_str_eq(p.tensors[p.tensor_count - 1].name, "head.weight");
  ck_assert_str_eq(p.tensors[p.tensor_count - 2].name, "norm_f.norms.2.weight");
  free(p.tensors);
}
END_TEST

START_TEST(blocks_are_found_by_arithmetic) {
  tpti_params p = preset_table("3pt-5m", NULL, NULL);
  float *base = malloc(p.count * sizeof *base);
  ck_assert_ptr_nonnull(base);
  tpti_block_params b = tpti_params_block(&p, base, 2);
  ck_assert_uint_eq((size_t)(b.qkv - base), tpti_params_find(&p, "blocks.2.attn.q.weight")->offset);
  ck_assert_uint_eq((size_t)(b.gate_up - base),
                    tpti_params_find(&p, "blocks.2.ff.gate.weight")->offset);
  ck_assert_uint_eq((size_t)(b.n2 - base),
                    tpti_params_find(&p, "blocks.2.n2.norms.0.weight")->offset);
  ck_assert_uint_eq((size_t)(b.theta - base), tpti_params_find(&p, "blocks.2.pr.theta")->offset);
  ck_assert_ptr_null(tpti_params_find(&p, "blocks.4.pr.theta"));
  free(base);
  free(p.tensors);
}
END_TEST

START_TEST(no_angles_without_rotation) {
  tpti_params p = preset_table("rope-only-5m", NULL, NULL);
  ck_assert_ptr_null(tpti_params_find(&p, "blocks.0.pr.theta"));
  ck_assert_uint_eq(p.theta, SIZE_MAX);
  free(p.tensors);
}
END_TEST

START_TEST(every_name_finds_its_tensor) {
  static const char *const none[] = {"",
                                     "head",
                                     "head.weight ",
                                     "blocks.4.pr.theta",
                                     "blocks.00.pr.theta",
                                     "blocks.0.n1.norms.3.weight",
                                     "embedding.dc_profile"};
  tpti_params p = preset_table("3pt-5m", NULL, NULL);
  for (size_t i = 0; i < p.tensor_count; i++)
    ck_assert_ptr_eq(tpti_params_find(&p, p.tensors[i].name), &p.tensors[i]);
  for (size_t i = 0; i < sizeof none / sizeof *none; i++)
    ck_assert_ptr_null(tpti_params_find(&p, none[i]));
  free(p.tensors);
}
END_TEST

/* Counting takes a shortcut, to the same numbers. */
START_TEST(counting_is_placing) {
  tpti_spec spec;
  ck_assert_int_eq(tpti_spec_preset("3pt-5m", &spec), TPT_OK);
  tpti_dims *d = &spec.model;
  for (d->L = 1; d->L < 7; d->L += 2) {
    d->dc = d->L > 1 ? TPTI_DC_LEARNED : TPTI_DC_NONE;
    d->rotation = d->L > 3 ? TPTI_ROTATION_NONE : TPTI_ROTATION_REPLACE;
    tpti_plan plan = {0};
    tpti_params counted, placed = table_of(&spec);
    tpti_params_layout(&counted, d, &plan);
    const tpti_tensor *last = &placed.tensors[placed.tensor_count - 1];
    ck_assert_str_eq(last->name, "head.weight");
    ck_assert_uint_eq(last->offset + last->count, counted.count);
    counted.tensors = placed.tensors;
    counted.slots = placed.slots;
    ck_assert_mem_eq(&counted, &placed, sizeof counted);
    free(placed.tensors);
  }
  tpti_spec_free(&spec);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("model params");
  TCase *tests = tcase_create("params");
  tcase_add_loop_test(tests, counts_of_the_paper, 0, sizeof papers / sizeof *papers);
  tcase_add_test(tests, no_gaps_and_in_order);
  tcase_add_test(tests, names_of_the_published_code);
  tcase_add_test(tests, blocks_are_found_by_arithmetic);
  tcase_add_test(tests, no_angles_without_rotation);
  tcase_add_test(tests, every_name_finds_its_tensor);
  tcase_add_test(tests, counting_is_placing);
  suite_add_tcase(suite, tests);
  return tpti_test_main(suite);
}
