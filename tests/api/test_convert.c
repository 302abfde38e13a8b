/* Converted models: what they hold, what they compute, and what they refuse. The measure of their
 * decoding is an ordinary model whose weights are the values in use. */
#include "api/session.h"

#include <math.h>

#include "support/allocator.h"

static const char *const forms[] = {"bf16", "int8"};

/* Sizes around a block of a scale, learned vectors, rotations that do not fold. */
static const char *const variants[] = {
    "", "model.rotation.mode=residual; model.dc.profile=learned",
    "model.rotation.mode=none; model.dc.profile=none; model.n_phases=1; model.norm.eps=1e-5",
    "model.d_model=96; model.d_ff=200; model.embedding.scale=sqrt_d; model.dc.profile=ramp"};
enum { FORMS = 2, VARIANTS = 4, CASES = FORMS * VARIANTS };

/* A model, it converted, and its twin: a folded model with the values in use. */
typedef struct pair {
  session s;
  tpt_model *small, *twin;
} pair;

static void copy_tensor(const tpt_model *from, tpt_model *to, const char *name, size_t count) {
  float *values = malloc(count * sizeof *values);
  ck_assert_ptr_nonnull(values);
  ok(tpt_model_get_tensor(from, name, values, count));
  ok(tpt_model_set_tensor(to, name, values, count));
  free(values);
}

static pair convert_in(session s, const char *form) {
  pair p = {.s = s};
  size_t tensors;
  for (uint64_t i = 0; i < 3; i++) train_step(&p.s, i); /* gains and angles that do something */
  ok(tpt_model_convert(p.s.model, form, &p.small));
  ok(tpt_model_fold(p.s.model, &p.twin));
  ok(tpt_model_tensor_count(p.twin, &tensors));
  for (size_t i = 0; i < tensors; i++) {
    tpt_tensor_info info = {.size = sizeof info};
    ok(tpt_model_tensor_info(p.small, i, &info));
    copy_tensor(p.small, p.twin, info.name, info.count);
  }
  return p;
}

static pair convert(int c) { return convert_in(start(variants[c / FORMS]), forms[c % FORMS]); }

static void finish(pair *p) {
  tpt_model_destroy(p->small);
  tpt_model_destroy(p->twin);
  end(&p->s);
}

/* ---- what it holds ---- */

/* At most the distance of two neighbours at a value: of bf16, or the scale of its 64. */
static float step_at(const float *row, size_t columns, size_t i, const char *form) {
  if (!strcmp(form, "bf16")) return fabsf(row[i]) / 128 + 1e-38f;
  float most = 0;
  for (size_t j = i / 64 * 64; j < columns && j < i / 64 * 64 + 64; j++)
    most = fmaxf(most, fabsf(row[j]));
  return most / 127 * 1.00001f;
}

static double largest_error(const tpt_model *small, const tpt_model *folded, const char *form,
                            const tpt_tensor_info *info) {
  double largest = 0;
  size_t columns = info->shape[1];
  float *got = malloc(info->count * sizeof *got), *want = malloc(info->count * sizeof *want);
  ck_assert(got && want);
  ok(tpt_model_get_tensor(small, info->name, got, info->count));
  ok(tpt_model_get_tensor(folded, info->name, want, info->count));
  for (size_t i = 0; i < info->count; i++) {
    double off = fabs((double)got[i] - want[i]);
    if (info->ndim == 1) ck_assert_msg(off == 0, "%s is rounded", info->name);
    off /= (double)step_at(want + i / columns * columns, columns, i % columns, form);
    largest = fmax(largest, off);
  }
  free(got), free(want);
  return largest;
}

START_TEST(values_are_the_folded_ones_rounded) {
  pair p = convert(_i);
  tpt_model *folded;
  size_t tensors, small_tensors;
  ok(tpt_model_fold(p.s.model, &folded));
  ok(tpt_model_tensor_count(folded, &tensors));
  ok(tpt_model_tensor_count(p.small, &small_tensors));
  ck_assert_uint_eq(tensors, small_tensors);
  for (size_t i = 0; i < tensors; i++) {
    tpt_tensor_info info = {.size = sizeof info}, small = info;
    ok(tpt_model_tensor_info(folded, i, &info));
    ok(tpt_model_tensor_info(p.small, i, &small));
    ck_assert_str_eq(info.name, small.name);
    ck_assert(info.count == small.count && info.offset == small.offset);
    double error = largest_error(p.small, folded, forms[_i % FORMS], &info);
    ck_assert_msg(error <= 0.5001, "%s: %g steps off", info.name, error);
    if (info.ndim == 2) ck_assert_msg(error > 0.3, "%s: not rounded", info.name);
  }
  tpt_model_destroy(folded);
  finish(&p);
}
END_TEST

/* Half, and a quarter and one in sixteen of it; and all of it comes back. */
START_TEST(memory) {
  tpti_test_allocator a;
  tpt_context *context;
  tpt_model *model, *folded, *small;
  tpti_test_allocator_init(&a);
  ok(tpt_context_create(&context));
  ok(tpt_context_set_threads(context, 1));
  ok(tpt_context_set_allocator(context, &a.allocator));
  tpt_config *config = describe("model.vocab_size=3000; model.d_model=192; model.d_ff=512");
  ok(tpt_model_create(context, config, 1, &model));
  size_t values = 2 * (2 * (192 * 384 + 192 * 192 + 3 * 192 * 512) / 2 + 3000 * 192);
  size_t begin = tpti_test_allocator_live(&a);
  ok(tpt_model_fold(model, &folded));
  size_t whole = tpti_test_allocator_live(&a) - begin;
  ok(tpt_model_convert(model, forms[_i], &small));
  size_t part = tpti_test_allocator_live(&a) - begin - whole;
  double saved = (double)values * (_i ? 4 - 1.0625 : 2);
  ck_assert_msg(fabs((double)(whole - part) - saved) < 1024, "%zu bytes of %zu", part, whole);
  tpt_model_destroy(model);
  tpt_model_destroy(folded);
  size_t left = tpti_test_allocator_live(&a);
  ck_assert_uint_lt(left, part + 2000); /* the pool's own struct */
  tpt_model_destroy(small);
  tpt_config_destroy(config);
  tpt_context_destroy(context);
  ck_assert_uint_eq(tpti_test_allocator_live(&a), 0);
}
END_TEST

START_TEST(a_snapshot_that_says_what_it_is) {
  pair p = convert(_i);
  char mode[40];
  size_t length;
  float before, after;
  ok(tpt_config_get(tpt_model_config(p.small), "model.rotation.mode", mode, sizeof mode, &length));
  ck_assert_str_eq(mode, _i / FORMS == 1 ? "residual" : "none");
  float *weights, all[V * 96];
  size_t count, head = V * (_i / FORMS == 3 ? 96 : D);
  ok(tpt_model_get_tensor(p.small, "head.weight", all, head));
  before = all[3];
  ok(tpt_model_parameters(p.s.model, &weights, &count));
  for (size_t i = 0; i < count; i++) weights[i] = 7;
  ok(tpt_model_get_tensor(p.small, "head.weight", all, head));
  after = all[3];
  ck_assert(before == after);
  finish(&p);
}
END_TEST

/* ---- what it computes ---- */

/* One token after the other, the bits of the twin; in one prompt to rounding, which matrix units
 * that take bf16 alone make coarser. */
START_TEST(decodes_as_its_twin) {
  pair p = convert(_i);
  tpt_decoder *small, *twin;
  const float *got, *want;
  ok(tpt_decoder_create(p.small, 0, &small));
  ok(tpt_decoder_create(p.twin, 0, &twin));
  for (size_t i = 0; i < MOST; i++) {
    ok(tpt_decoder_feed(small, p.s.tokens + i, 1, &got));
    ok(tpt_decoder_feed(twin, p.s.tokens + i, 1, &want));
    ck_assert_uint_eq(tpti_test_first_difference(got, want, V), V);
  }
  float last[V];
  memcpy(last, want, sizeof last);
  for (size_t count = 1; count <= MOST; count++) {
    ok(tpt_decoder_rewind(small, 0));
    ok(tpt_decoder_rewind(twin, 0));
    ok(tpt_decoder_feed(small, p.s.tokens, count, &got));
    ok(tpt_decoder_feed(twin, p.s.tokens, count, &want));
    double error = tpti_test_error_float(got, want, V);
    ck_assert_msg(error <= (count <= 4 ? 0 : 2e-2), "%zu tokens: error %.3g", count, error);
  }
  ck_assert_double_le(tpti_test_error_float(got, last, V), 2e-2);
  tpt_decoder_destroy(small);
  tpt_decoder_destroy(twin);
  finish(&p);
}
END_TEST

/* Eight bits of mantissa, to the nearest, ties to even. */
static void round_to_bf16(float *row, size_t count) {
  for (size_t i = 0; i < count; i++) {
    int exponent;
    double mantissa = frexp((double)row[i], &exponent);
    row[i] = (float)ldexp(rint(mantissa * 256) / 256, exponent);
  }
}

/* Whole numbers times the scale of each 64. */
static void round_to_int8(float *row, size_t count) {
  for (size_t first = 0; first < count; first += 64) {
    size_t end = first + 64 < count ? first + 64 : count;
    float most = 0;
    for (size_t i = first; i < end; i++) most = fmaxf(most, fabsf(row[i]));
    double scale = (double)(most / 127);
    for (size_t i = first; i < end; i++) row[i] = (float)(rint((double)row[i] / scale) * scale);
  }
}

/* The folded model with its matrices rounded here, in double, as 3pt.h says. */
static tpt_model *emulated(const pair *p, const char *form) {
  tpt_model *model;
  size_t tensors;
  ok(tpt_model_fold(p->s.model, &model));
  ok(tpt_model_tensor_count(model, &tensors));
  for (size_t i = 0; i < tensors; i++) {
    tpt_tensor_info info = {.size = sizeof info};
    ok(tpt_model_tensor_info(model, i, &info));
    if (info.ndim == 1) continue;
    size_t columns = info.shape[1];
    float *values = malloc(info.count * sizeof *values);
    ck_assert_ptr_nonnull(values);
    ok(tpt_model_get_tensor(model, info.name, values, info.count));
    for (size_t at = 0; at < info.count; at += columns)
      (strcmp(form, "bf16") ? round_to_int8 : round_to_bf16)(values + at, columns);
    ok(tpt_model_set_tensor(model, info.name, values, info.count));
    free(values);
  }
  return model;
}

static double loss_of(const tpt_model *model, const tpt_dataset *dataset, size_t window) {
  tpt_evaluation got = {.size = sizeof got};
  ok(tpt_evaluate(model, NULL, dataset, window, 0, &got));
  ck_assert_uint_eq(got.tokens, (200 - 1) / window * window);
  return got.loss;
}

/* Windows of a few tokens compute with the weights in float32: the bits of the twin, and the loss
 * that the same rounding made in double gives. It costs little, but does something. Windows of more
 * may be products of bf16 (decodes_as_its_twin). */
START_TEST(evaluates_as_its_twin) {
  pair p = convert(_i);
  tpt_dataset *dataset;
  int32_t tokens[200];
  tpt_model *rounded = emulated(&p, forms[_i % FORMS]);
  tpti_test_tokens(tokens, 200, V, 5);
  ok(tpt_dataset_from_tokens(NULL, tokens, 200, &dataset));
  double got = loss_of(p.small, dataset, 4), whole = loss_of(p.s.model, dataset, 4);
  ck_assert_double_eq(got, loss_of(p.twin, dataset, 4));
  ck_assert_double_eq_tol(got, loss_of(rounded, dataset, 4), 1e-7 * got);
  ck_assert_double_ne(got, whole);
  ck_assert_double_eq_tol(got, whole, 5e-4 * whole);
  double want = loss_of(p.twin, dataset, MOST);
  ck_assert_double_eq_tol(loss_of(p.small, dataset, MOST), want, 2e-3 * want);
  tpt_model_destroy(rounded);
  tpt_dataset_destroy(dataset);
  finish(&p);
}
END_TEST

enum { MANY = 20 };

/* Every grouping of a crowd gives each its own bits. */
START_TEST(many_have_the_bits_of_one) {
  pair p = convert(_i);
  tpt_decoder *many[MANY], *single[MANY];
  const float *got[MANY], *want;
  for (size_t i = 0; i < MANY; i++) {
    ok(tpt_decoder_create(p.small, 0, &many[i]));
    ok(tpt_decoder_create(p.small, 0, &single[i]));
  }
  for (size_t size = 1, round = 0; size <= MANY; size += size < 6 ? 1 : 7, round++) {
    int32_t tokens[MANY];
    tpti_test_tokens(tokens, MANY, V, round);
    for (size_t first = 0; first < MANY; first += size) {
      size_t n = MANY - first < size ? MANY - first : size;
      ok(tpt_decoder_feed_many(many + first, n, tokens + first, got + first));
    }
    for (size_t i = 0; i < MANY; i++) {
      ok(tpt_decoder_feed(single[i], &tokens[i], 1, &want));
      ck_assert_uint_eq(tpti_test_first_difference(got[i], want, V), V);
    }
  }
  for (size_t i = 0; i < MANY; i++) {
    tpt_decoder_destroy(many[i]);
    tpt_decoder_destroy(single[i]);
  }
  finish(&p);
}
END_TEST

static void decode_on(int32_t threads, const char *form, float logits[3][V]) {
  tpt_context *context;
  tpt_decoder *decoder;
  const float *got;
  ok(tpt_context_create(&context));
  ok(tpt_context_set_threads(context, threads));
  pair p = convert_in(start_in(context, "model.d_ff=300; model.d_model=48"), form);
  ok(tpt_decoder_create(p.small, 0, &decoder));
  for (size_t i = 0, at = 0; i < 3; i++) { /* 1, 4, and 9 tokens */
    size_t n = (i + 1) * (i + 1);
    ok(tpt_decoder_feed(decoder, p.s.tokens + at, n, &got));
    memcpy(logits[i], got, sizeof *logits);
    at += n;
  }
  tpt_decoder_destroy(decoder);
  finish(&p);
}

START_TEST(threads_do_not_change_bits) {
  float one[3][V], other[3][V];
  decode_on(1, forms[_i], one);
  for (int32_t threads = 2; threads < 8; threads += 2) {
    decode_on(threads, forms[_i], other);
    ck_assert_mem_eq(one, other, sizeof one);
  }
}
END_TEST

START_TEST(nothing_is_allocated_by_a_feed) {
  tpti_test_allocator a;
  tpt_context *context;
  tpt_decoder *decoders[3];
  tpti_test_allocator_init(&a);
  ok(tpt_context_create(&context));
  ok(tpt_context_set_threads(context, 2));
  ok(tpt_context_set_allocator(context, &a.allocator));
  pair p = convert_in(start_in(context, ""), forms[_i]);
  for (int i = 0; i < 3; i++) ok(tpt_decoder_create(p.small, 0, &decoders[i]));
  size_t before = atomic_load(&a.total);
  for (int i = 0; i < 3; i++) {
    double score[9];
    ok(tpt_decoder_rewind(decoders[0], 0));
    ok(tpt_decoder_feed(decoders[0], p.s.tokens, 9, NULL));
    ok(tpt_decoder_feed(decoders[0], p.s.tokens, 2, NULL));
    ok(tpt_decoder_feed(decoders[0], p.s.tokens, 1, NULL));
    ok(tpt_decoder_score(decoders[0], p.s.tokens, 2, score));
    ok(tpt_decoder_feed_many(decoders, 3, p.s.tokens, NULL));
  }
  ck_assert_uint_eq(atomic_load(&a.total), before);
  for (int i = 0; i < 3; i++) tpt_decoder_destroy(decoders[i]);
  finish(&p);
}
END_TEST

/* What is not finite stays so. */
START_TEST(not_a_number) {
  session s = start("");
  tpt_model *small;
  tpt_decoder *decoder;
  float *weights;
  size_t count;
  int32_t token = 0;
  ok(tpt_model_parameters(s.model, &weights, &count));
  weights[count - 5] = NAN;
  ok(tpt_model_convert(s.model, forms[_i], &small));
  ok(tpt_decoder_create(small, 0, &decoder));
  ok(tpt_decoder_feed(decoder, &token, 1, NULL));
  refused(decoder, tpt_decoder_sample(decoder, &token), TPT_E_NUMERIC, "finite");
  tpt_decoder_destroy(decoder);
  tpt_model_destroy(small);
  end(&s);
}
END_TEST

/* ---- what it refuses, and stays as it is ---- */

#define NO TPT_E_UNSUPPORTED

START_TEST(refusals) {
  pair p = convert(_i);
  const char *form = forms[_i % FORMS];
  tpt_model *m = p.small, *made = p.s.model;
  tpt_trainer *trainer = p.s.trainer;
  float *values = NULL, all[V * 96] = {0};
  size_t count = 5, width = _i / FORMS == 3 ? 96 : D, length = 7;
  refused(m, tpt_model_parameters(m, &values, &count), NO, form);
  ck_assert(!values && count == 5);
  refused(m, tpt_model_set_tensor(m, "head.weight", all, V * width), NO, form);
  if (_i / FORMS != 2)
    refused(m, tpt_model_set_tensor(m, "embedding.dc_profile", all, MOST), NO, form);
  refused(m, tpt_model_save(m, "converted.safetensors"), NO, form);
  refused(m, tpt_model_save_memory(m, NULL, 0, &length), NO, form);
  ck_assert_uint_eq(length, 7);
  refused(m, tpt_trainer_create(m, NULL, &trainer), NO, form);
  ck_assert_ptr_null(trainer);
  refused(m, tpt_model_fold(m, &made), NO, form);
  ck_assert_ptr_null(made);
  for (int i = 0; i < 3; i++) {
    made = p.s.model;
    refused(m, tpt_model_convert(m, i == 2 ? "f32" : forms[i], &made), NO, form);
    ck_assert_ptr_null(made);
  }
  refused(m, tpt_model_convert(m, "int4", &made), TPT_E_ARGUMENT, "int4");
  refused(m, tpt_model_get_tensor(m, "head.weight", all, 3), TPT_E_ARGUMENT, "count");
  refused(m, tpt_model_get_tensor(m, "none", all, 3), TPT_E_ARGUMENT, "none");
  refused(m, tpt_model_get_tensor(m, "head.weight", NULL, V * width), TPT_E_ARGUMENT, "values");
  finish(&p);
}
END_TEST

/* Of the weights: a residual rotation's angles are there, others are folded. */
START_TEST(geometry) {
  pair p = convert(_i);
  float theta[96], want[96], profile[MOST];
  if (_i / FORMS == 1) {
    ok(tpt_geometry_theta(p.small, 1, theta, P / 2));
    ok(tpt_geometry_theta(p.s.model, 1, want, P / 2));
    ck_assert_mem_eq(theta, want, P / 2 * sizeof *theta);
    tpt_drift drift = {.size = sizeof drift};
    ok(tpt_geometry_drift(p.small, 1, &drift));
  } else {
    refused(p.small, tpt_geometry_theta(p.small, 1, theta, P / 2), NO, "rotation");
  }
  if (_i / FORMS != 2) ok(tpt_geometry_dc_profile(p.small, 0, profile, MOST));
  finish(&p);
}
END_TEST

START_TEST(cancelled) {
  session s = start("");
  tpt_model *made = s.model;
  ok(tpt_context_cancel(s.context, 1));
  refused(s.model, tpt_model_convert(s.model, forms[_i], &made), TPT_E_CANCELLED, "cancel");
  ck_assert_ptr_null(made);
  ok(tpt_context_cancel(s.context, 0));
  ok(tpt_model_convert(s.model, forms[_i], &made));
  tpt_decoder *decoder;
  ok(tpt_decoder_create(made, 0, &decoder));
  ok(tpt_context_cancel(s.context, 1));
  refused(decoder, tpt_decoder_feed(decoder, s.tokens, 2, NULL), TPT_E_CANCELLED, "cancel");
  refused(decoder, tpt_decoder_feed(decoder, s.tokens, 9, NULL), TPT_E_CANCELLED, "cancel");
  ok(tpt_context_cancel(s.context, 0));
  ok(tpt_decoder_feed(decoder, s.tokens, 9, NULL));
  tpt_decoder_destroy(decoder);
  tpt_model_destroy(made);
  end(&s);
}
END_TEST

/* The n-th allocation fails: nothing is made, nothing is kept. */
START_TEST(short_of_memory) {
  tpti_test_allocator a;
  tpt_context *context;
  tpti_test_allocator_init(&a);
  ok(tpt_context_create(&context));
  ok(tpt_context_set_allocator(context, &a.allocator));
  session s = start_in(context, "");
  train_step(&s, 1); /* the pool has what it needs */
  size_t before = tpti_test_allocator_live(&a), tries = 0;
  for (tpt_model *made = NULL; !made; tries++) {
    tpti_test_allocator_fail_at(&a, tries + 1);
    tpt_status status = tpt_model_convert(s.model, forms[_i], &made);
    tpti_test_allocator_fail_at(&a, 0);
    if (status) refused(s.model, status, TPT_E_MEMORY, "");
    if (made) tpt_model_destroy(made);
    ck_assert_uint_eq(tpti_test_allocator_live(&a), before);
  }
  ck_assert_uint_ge(tries, 3);
  end(&s);
}
END_TEST

static Suite *suite(void) {
  Suite *suite = suite_create("api/convert");
  TCase *tests = tcase_create("convert");
  tcase_add_loop_test(tests, values_are_the_folded_ones_rounded, 0, CASES);
  tcase_add_loop_test(tests, memory, 0, FORMS);
  tcase_add_loop_test(tests, a_snapshot_that_says_what_it_is, 0, CASES);
  tcase_add_loop_test(tests, decodes_as_its_twin, 0, CASES);
  tcase_add_loop_test(tests, evaluates_as_its_twin, 0, CASES);
  tcase_add_loop_test(tests, many_have_the_bits_of_one, 0, CASES);
  tcase_add_loop_test(tests, threads_do_not_change_bits, 0, FORMS);
  tcase_add_loop_test(tests, nothing_is_allocated_by_a_feed, 0, FORMS);
  tcase_add_loop_test(tests, not_a_number, 0, FORMS);
  tcase_add_loop_test(tests, refusals, 0, CASES);
  tcase_add_loop_test(tests, geometry, 0, CASES);
  tcase_add_loop_test(tests, cancelled, 0, FORMS);
  tcase_add_loop_test(tests, short_of_memory, 0, FORMS);
  suite_add_tcase(suite, tests);
  return suite;
}

int main(void) { return tpti_test_main(suite()); }
