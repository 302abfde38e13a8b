/* Models: creation, tensors by name and as one array, folding and conversion. */
#include "api/session.h"

#include <math.h>

static tpt_model *make(const char *settings, uint64_t seed) {
  tpt_config *config = describe(settings);
  tpt_model *model;
  ok(tpt_model_create(NULL, config, seed, &model));
  tpt_config_destroy(config);
  return model;
}

static tpt_tensor_info info_of(const tpt_model *model, size_t index) {
  tpt_tensor_info info = {.size = sizeof info};
  ok(tpt_model_tensor_info(model, index, &info));
  return info;
}

static const char *key_of(const tpt_model *model, const char *key) {
  static char text[400];
  size_t length;
  ok(tpt_config_get(tpt_model_config(model), key, text, sizeof text, &length));
  return text;
}

START_TEST(a_function_of_the_seed) {
  session s = start("");
  tpt_model *same = make("", 7), *other = make("", 8), *recipe = make("train.lr=1", 7);
  float *a, *b;
  size_t count;
  ck_assert(same_model_bytes(s.model, same));
  ck_assert(!same_model_bytes(s.model, other));
  ok(tpt_model_parameters(same, &a, &count));
  ok(tpt_model_parameters(recipe, &b, &count)); /* training settings do not matter */
  ck_assert_uint_eq(tpti_test_first_difference(a, b, count), count);
  tpt_model_destroy(same);
  tpt_model_destroy(other);
  tpt_model_destroy(recipe);
  end(&s);
}
END_TEST

static const char *const in_order[] = {"embedding.token_emb.weight", "embedding.dc_profile",
                                       "blocks.0.attn.q.weight",     "blocks.0.attn.k.weight",
                                       "blocks.0.attn.v.weight",     "blocks.0.attn.o.weight",
                                       "blocks.0.ff.gate.weight",    "blocks.0.ff.up.weight",
                                       "blocks.0.ff.down.weight",    "blocks.0.n1.norms.0.weight",
                                       "blocks.0.n1.norms.1.weight", "blocks.0.n1.norms.2.weight",
                                       "blocks.0.n2.norms.0.weight", "blocks.0.n2.norms.1.weight",
                                       "blocks.0.n2.norms.2.weight", "blocks.0.pr.theta",
                                       "norm_f.norms.0.weight",      "norm_f.norms.1.weight",
                                       "norm_f.norms.2.weight",      "head.weight"};
enum { IN_ORDER = sizeof in_order / sizeof *in_order };

START_TEST(names_shapes_and_no_gaps) {
  tpt_model *model = make("model.n_layers=1; model.dc.profile=learned", 1);
  size_t count = 0, tensors, end_of = 0, described;
  float *values;
  ok(tpt_model_tensor_count(model, &tensors));
  ok(tpt_model_parameters(model, &values, &count));
  ck_assert_uint_eq(tensors, IN_ORDER);
  for (size_t i = 0; i < tensors; i++) {
    tpt_tensor_info info = info_of(model, i);
    ck_assert_str_eq(info.name, in_order[i]);
    ck_assert(info.offset == end_of && (info.ndim == 1 || info.ndim == 2));
    ck_assert_uint_eq(info.count, info.shape[0] * info.shape[1]);
    ck_assert(info.shape[2] == 1 && info.shape[3] == 1 && (info.ndim == 2 || info.shape[1] == 1));
    end_of += info.count;
  }
  ck_assert_uint_eq(end_of, count);
  ok(tpt_config_parameter_count(tpt_model_config(model), &described));
  ck_assert_uint_eq(described, count);
  tpt_tensor_info info = {.size = sizeof info, .count = 77};
  refused(model, tpt_model_tensor_info(model, tensors, &info), TPT_E_ARGUMENT, "index");
  refused(model, tpt_model_tensor_info(model, SIZE_MAX, &info), TPT_E_ARGUMENT, "index");
  ck_assert_uint_eq(info.count, 77);
  tpt_model_destroy(model);
}
END_TEST

/* The sizes that the paper gives. */
START_TEST(counts_of_the_paper) {
  static const struct {
    const char *preset;
    size_t count;
  } known[] = {{"3pt-5m", 5463872}, {"3pt-123m", 123490560}, {"rope-only-123m", 123489024}};
  for (int i = 0; i < 3; i++) {
    tpt_config *config;
    size_t count;
    ok(tpt_config_preset(known[i].preset, &config));
    ok(tpt_config_parameter_count(config, &count));
    ck_assert_uint_eq(count, known[i].count);
    if (i == 1) {
      set_all(config, "model.n_phases=1");
      ok(tpt_config_parameter_count(config, &count));
      ck_assert_uint_eq(count, 123493632);
    }
    tpt_config_destroy(config);
  }
}
END_TEST

static void check_start(const tpt_model *model, const tpt_tensor_info *t, const float *w) {
  double sum = 0, squares = 0, most = 0;
  for (size_t i = 0; i < t->count; i++) {
    sum += (double)w[i];
    squares += (double)w[i] * (double)w[i];
    most = fmax(most, fabs((double)w[i]));
  }
  double mean = sum / (double)t->count, square = squares / (double)t->count;
  if (strstr(t->name, "norm")) {
    ck_assert(mean == 1 && square == 1);
  } else if (strstr(t->name, "emb")) {
    ck_assert_double_eq_tol(mean, 0, 0.2);
    ck_assert_double_eq_tol(square, 1, 0.25);
  } else if (t->ndim == 2) {
    double bound = 1 / sqrt((double)t->shape[1]);
    ck_assert_double_le(most, bound * (1 + 1e-6));
    ck_assert_double_gt(most, 0.95 * bound);
    ck_assert_double_eq_tol(square, bound * bound / 3, 0.2 * bound * bound);
  }
  (void)model;
}

START_TEST(how_weights_start) {
  tpt_model *model = make("", 3);
  size_t tensors, count;
  float *values;
  ok(tpt_model_tensor_count(model, &tensors));
  ok(tpt_model_parameters(model, &values, &count));
  for (size_t i = 0; i < tensors; i++) {
    tpt_tensor_info info = info_of(model, i);
    check_start(model, &info, values + info.offset);
  }
  tpt_model_destroy(model);
}
END_TEST

START_TEST(tensors_by_name) {
  tpt_model *model = make("", 3);
  size_t tensors, count;
  float *all, one[D * D], changed[D * D];
  ok(tpt_model_tensor_count(model, &tensors));
  ok(tpt_model_parameters(model, &all, &count));
  for (size_t i = 0; i < tensors; i++) {
    tpt_tensor_info info = info_of(model, i);
    ok(tpt_model_get_tensor(model, info.name, one, info.count));
    ck_assert_mem_eq(one, all + info.offset, info.count * sizeof *one);
    tpti_test_fill(changed, info.count, i);
    ok(tpt_model_set_tensor(model, info.name, changed, info.count));
    ck_assert_mem_eq(changed, all + info.offset, info.count * sizeof *one);
    refused(model, tpt_model_set_tensor(model, info.name, one, info.count - 1), TPT_E_ARGUMENT,
            info.name);
    refused(model, tpt_model_get_tensor(model, info.name, one, info.count + 1), TPT_E_ARGUMENT,
            info.name);
    refused(model, tpt_model_set_tensor(model, info.name, one, 0), TPT_E_ARGUMENT, "count");
    ck_assert_mem_eq(changed, all + info.offset, info.count * sizeof *one);
  }
  refused(model, tpt_model_get_tensor(model, "head.wight", one, 1), TPT_E_ARGUMENT, "head.wight");
  refused(model, tpt_model_set_tensor(model, "", one, 1), TPT_E_ARGUMENT, "");
  tpt_model_destroy(model);
}
END_TEST

/* A fixed profile becomes a list at once: for decoders, in the description, and in a saved file. */
START_TEST(a_profile_that_is_set) {
  session s = start("model.dc.profile=ramp");
  tpt_decoder *decoder;
  const float *logits;
  float profile[MOST], before[V], back[MOST];
  size_t length;
  ok(tpt_decoder_create(s.model, 0, &decoder));
  ok(tpt_decoder_feed(decoder, s.tokens, 1, &logits));
  memcpy(before, logits, sizeof before);
  for (size_t p = 0; p < MOST; p++) profile[p] = 0.1f * (float)p - 0.7f;
  ok(tpt_model_set_tensor(s.model, "embedding.dc_profile", profile, MOST));
  ok(tpt_decoder_rewind(decoder, 0));
  ok(tpt_decoder_feed(decoder, s.tokens, 1, &logits));
  ck_assert_uint_ne(tpti_test_first_difference(before, logits, V), V);
  ck_assert_int_eq(key_of(s.model, "model.dc.profile")[0], '[');
  unsigned char *image = image_of(s.model, &length);
  tpt_model *loaded;
  ok(tpt_model_load_memory(NULL, image, length, NULL, &loaded));
  ok(tpt_model_get_tensor(loaded, "embedding.dc_profile", back, MOST));
  ck_assert_mem_eq(back, profile, sizeof profile);
  ok(tpt_geometry_dc_profile(loaded, 0, back, MOST));
  ck_assert_mem_eq(back, profile, sizeof profile);
  refused(s.model, tpt_model_set_tensor(s.model, "embedding.dc_profile", profile, MOST - 1),
          TPT_E_ARGUMENT, "count");
  free(image);
  tpt_model_destroy(loaded);
  tpt_decoder_destroy(decoder);
  end(&s);
}
END_TEST

/* A number that no description can say is refused, and everything stays. */
START_TEST(a_profile_that_is_no_number) {
  tpt_model *model = make("", 1), *loaded = NULL;
  float profile[MOST] = {NAN, INFINITY};
  size_t length;
  tpt_status status = tpt_model_set_tensor(model, "embedding.dc_profile", profile, MOST);
  unsigned char *image = image_of(model, &length);
  ok(tpt_model_load_memory(NULL, image, length, NULL, &loaded)); /* what it saves, it reads */
  if (status) ck_assert_str_eq(key_of(model, "model.dc.profile"), "horn");
  free(image);
  tpt_model_destroy(loaded);
  tpt_model_destroy(model);
}
END_TEST

START_TEST(no_profile_to_set) {
  tpt_model *model = make("model.dc.profile=none", 1);
  float profile[MOST] = {0};
  refused(model, tpt_model_set_tensor(model, "embedding.dc_profile", profile, MOST), TPT_E_ARGUMENT,
          "embedding.dc_profile");
  tpt_model_destroy(model);
}
END_TEST

START_TEST(folding) {
  session s = start(_i ? "model.rotation.mode=residual" : "");
  train_step(&s, 1), train_step(&s, 2);
  tpt_model *folded, *back;
  size_t tensors, length, before_length;
  unsigned char *before = image_of(s.model, &before_length);
  ok(tpt_model_fold(s.model, &folded));
  ck_assert_str_eq(key_of(folded, "model.rotation.mode"), _i ? "residual" : "none");
  ok(tpt_model_tensor_count(folded, &tensors));
  for (size_t i = 0; i < tensors; i++) {
    tpt_tensor_info info = info_of(folded, i);
    float gain[P];
    if (!strstr(info.name, "norm")) continue;
    ok(tpt_model_get_tensor(folded, info.name, gain, P));
    for (size_t c = 0; c < P; c++) ck_assert(gain[c] == 1.0f);
  }
  unsigned char *image = image_of(folded, &length), *after = image_of(s.model, &length);
  ck_assert(length == before_length && memcmp(before, after, length) == 0); /* a snapshot */
  ok(tpt_model_save_memory(folded, NULL, 0, &length));
  ok(tpt_model_load_memory(NULL, image, length, NULL, &back));
  ck_assert(same_model_bytes(back, folded));
  tpt_trainer *trainer;
  double loss;
  ok(tpt_trainer_create(folded, NULL, &trainer)); /* an ordinary model: it trains */
  ok(tpt_trainer_accumulate(trainer, s.tokens, s.targets, BATCH, MOST, &loss));
  tpt_trainer_destroy(trainer);
  tpt_model_destroy(back);
  tpt_model_destroy(folded);
  free(before), free(after), free(image);
  end(&s);
}
END_TEST

/* test_convert.c has the smaller forms. */
START_TEST(conversion) {
  session s = start("");
  tpt_model *model, *folded;
  ok(tpt_model_convert(s.model, "f32", &model));
  ok(tpt_model_fold(s.model, &folded));
  ck_assert(same_model_bytes(model, folded));
  tpt_model_destroy(folded);
  tpt_model_destroy(model);
  model = s.model;
  refused(s.model, tpt_model_convert(s.model, "f16", &model), TPT_E_ARGUMENT, "f16");
  ck_assert_ptr_null(model);
  end(&s);
}
END_TEST

START_TEST(descriptions_are_copied) {
  tpt_config *config = describe("");
  tpt_model *model, *none = (tpt_model *)config;
  ok(tpt_model_create(NULL, config, 1, &model));
  set_all(config, "model.d_ff=28; model.d_model=25");
  ck_assert_str_eq(key_of(model, "model.d_ff"), "20");
  refused(NULL, tpt_model_create(NULL, config, 1, &none), TPT_E_CONFIG, "d_model");
  ck_assert_ptr_null(none);
  ck_assert_ptr_null(tpt_model_config(NULL));
  tpt_config_destroy(config);
  tpt_model_destroy(model);
}
END_TEST

static Suite *suite(void) {
  Suite *suite = suite_create("api/model");
  TCase *tests = tcase_create("model");
  tcase_add_test(tests, a_function_of_the_seed);
  tcase_add_test(tests, names_shapes_and_no_gaps);
  tcase_add_test(tests, counts_of_the_paper);
  tcase_add_test(tests, how_weights_start);
  tcase_add_test(tests, tensors_by_name);
  tcase_add_test(tests, a_profile_that_is_set);
  tcase_add_test(tests, a_profile_that_is_no_number);
  tcase_add_test(tests, no_profile_to_set);
  tcase_add_loop_test(tests, folding, 0, 2);
  tcase_add_test(tests, conversion);
  tcase_add_test(tests, descriptions_are_copied);
  suite_add_tcase(suite, tests);
  return suite;
}

int main(void) { return tpti_test_main(suite()); }
