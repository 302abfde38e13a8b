/* As test_hostile.c, for what trains, decodes and measures. */
#include "api/hostile.h"

#include <math.h>

START_TEST(trainers) {
  cast c = gather();
  tpt_model *m = c.s.model;
  tpt_trainer *t = c.s.trainer;
  const int32_t *ids = c.s.tokens;
  const float *borrowed = floats;
  float *values = floats;
  MAKES(NULL, tpt_trainer, BAD, "model", tpt_trainer_create(NULL, NULL, &made));
  MAKES(NULL, tpt_trainer, BAD, "model", tpt_trainer_create(c.stranger, NULL, &made));
  MAKES(m, tpt_trainer, BAD, "config", tpt_trainer_create(m, (tpt_config *)t, &made));
  refused(m, tpt_trainer_create(m, NULL, NULL), BAD, "trainer");
  FIRST(tpt_trainer_forward, tpt_trainer, "trainer", ids, 1, 1);
  refused(t, tpt_trainer_forward(t, NULL, 1, 1), BAD, "tokens");
  refused(t, tpt_trainer_forward(t, ids, SIZE_MAX, 1), BAD, "batch");
  refused(t, tpt_trainer_forward(t, ids, SIZE_MAX, SIZE_MAX), BAD, "seq");
  refused(t, tpt_trainer_forward(t, ids, SIZE_MAX / MOST + 2, MOST), BAD, "batch");
  ok(tpt_trainer_forward(t, ids, BATCH, MOST));
  FIRST(tpt_trainer_logits, tpt_trainer, "trainer", &borrowed);
  refused(t, tpt_trainer_logits(t, NULL), BAD, "logits");
  FIRST(tpt_trainer_loss, tpt_trainer, "trainer", ids, doubles);
  refused(t, tpt_trainer_loss(t, NULL, doubles), BAD, "targets");
  refused(t, tpt_trainer_loss(t, ids, NULL), BAD, "loss");
  refused(NULL, tpt_trainer_backward(NULL), BAD, "trainer");
  refused(NULL, tpt_trainer_backward(c.stranger), BAD, "trainer");
  FIRST(tpt_trainer_backward_logits, tpt_trainer, "trainer", floats, ROWS * V);
  refused(t, tpt_trainer_backward_logits(t, NULL, ROWS * V), BAD, "dlogits");
  refused(t, tpt_trainer_backward_logits(t, floats, ROWS * V - 1), BAD, "count");
  refused(t, tpt_trainer_backward_logits(t, floats, ROWS * V + 1), BAD, "count");
  refused(t, tpt_trainer_backward_logits(t, floats, 0), BAD, "count");
  refused(t, tpt_trainer_backward_logits(t, floats, SIZE_MAX), BAD, "count");
  FIRST(tpt_trainer_accumulate, tpt_trainer, "trainer", ids, ids, 1, 1, doubles);
  refused(t, tpt_trainer_accumulate(t, NULL, ids, 1, 1, doubles), BAD, "tokens");
  refused(t, tpt_trainer_accumulate(t, ids, NULL, 1, 1, doubles), BAD, "targets");
  refused(t, tpt_trainer_accumulate(t, ids, ids, 1, 1, NULL), BAD, "loss");
  refused(t, tpt_trainer_accumulate(t, ids, ids, SIZE_MAX, MOST, doubles), BAD, "batch");
  refused(NULL, tpt_trainer_zero_gradients(NULL), BAD, "trainer");
  refused(NULL, tpt_trainer_zero_gradients(c.stranger), BAD, "trainer");
  FIRST(tpt_trainer_gradients, tpt_trainer, "trainer", &values, &size);
  refused(t, tpt_trainer_gradients(t, NULL, &size), BAD, "values");
  refused(t, tpt_trainer_gradients(t, &values, NULL), BAD, "count");
  FIRST(tpt_trainer_get_gradient, const tpt_trainer, "trainer", "head.weight", floats, D *V);
  refused(t, tpt_trainer_get_gradient(t, NULL, floats, D * V), BAD, "name");
  refused(t, tpt_trainer_get_gradient(t, "head.weight", NULL, D * V), BAD, "values");
  FIRST(tpt_trainer_activation, tpt_trainer, "trainer", TPT_POINT_BLOCK, 0, &borrowed, &size);
  refused(t, tpt_trainer_activation(t, TPT_POINT_BLOCK, 0, NULL, &size), BAD, "values");
  refused(t, tpt_trainer_activation(t, TPT_POINT_BLOCK, 0, &borrowed, NULL), BAD, "count");
  refused(t, tpt_trainer_activation(t, (tpt_point)-1, 0, &borrowed, &size), BAD, "point");
  ck_assert(values == floats && borrowed == floats);
  part(&c);
}
END_TEST

/* Ids at the ends of their range, as tokens and as targets, first and last. */
START_TEST(foreign_ids) {
  static const int32_t bad[] = {-1, V, INT32_MAX, INT32_MIN, -2};
  cast c = gather();
  tpt_trainer *t = c.s.trainer;
  for (size_t i = 0; i < 5; i++) {
    for (size_t at = 0; at < ROWS; at += ROWS - 1) {
      int32_t ids[ROWS] = {0};
      char word[40];
      ids[at] = bad[i];
      snprintf(word, sizeof word, "tokens[%zu] is %ld", at, (long)bad[i]);
      refused(t, tpt_trainer_forward(t, ids, BATCH, MOST), BAD, word);
      refused(t, tpt_trainer_accumulate(t, ids, c.s.targets, BATCH, MOST, doubles), BAD, word);
      if (at < MOST) refused(c.decoder, tpt_decoder_feed(c.decoder, ids, MOST, NULL), BAD, word);
      if (at < MOST)
        refused(c.decoder, tpt_decoder_score(c.decoder, ids, MOST, doubles), BAD, word);
      if (bad[i] == -1) continue; /* the default ignore_index: a target that is allowed */
      memcpy(word, "targets", 7);
      snprintf(word, sizeof word, "targets[%zu] is %ld", at, (long)bad[i]);
      ok(tpt_trainer_forward(t, c.s.tokens, BATCH, MOST));
      refused(t, tpt_trainer_loss(t, ids, doubles), BAD, word);
      refused(t, tpt_trainer_accumulate(t, c.s.tokens, ids, BATCH, MOST, doubles), BAD, word);
    }
  }
  part(&c);
}
END_TEST

START_TEST(optimizers_and_checkpoints) {
  cast c = gather();
  tpt_trainer *t = c.s.trainer;
  tpt_optimizer *o = c.s.optimizer;
  uint64_t steps = 77;
  MAKES(NULL, tpt_optimizer, BAD, "trainer", tpt_optimizer_create(NULL, NULL, &made));
  MAKES(NULL, tpt_optimizer, BAD, "trainer", tpt_optimizer_create(c.stranger, NULL, &made));
  MAKES(t, tpt_optimizer, BAD, "config", tpt_optimizer_create(t, (tpt_config *)t, &made));
  refused(t, tpt_optimizer_create(t, NULL, NULL), BAD, "optimizer");
  FIRST(tpt_optimizer_step, tpt_optimizer, "optimizer", doubles);
  FIRST(tpt_optimizer_set_lr, tpt_optimizer, "optimizer", 1.0);
  refused(o, tpt_optimizer_set_lr(o, -0x1p-1074), BAD, "lr");
  refused(o, tpt_optimizer_set_lr(o, HUGE_VAL), BAD, "lr");
  FIRST(tpt_optimizer_lr, const tpt_optimizer, "optimizer", doubles);
  refused(o, tpt_optimizer_lr(o, NULL), BAD, "lr");
  FIRST(tpt_optimizer_step_count, const tpt_optimizer, "optimizer", &steps);
  refused(o, tpt_optimizer_step_count(o, NULL), BAD, "steps");
  FIRST(tpt_checkpoint_save, const tpt_trainer, "trainer", o, "/none/none", NULL, 0);
  refused(t, tpt_checkpoint_save(t, NULL, "/none/none", NULL, 0), BAD, "optimizer");
  refused(t, tpt_checkpoint_save(t, c.stranger, "/none/none", NULL, 0), BAD, "optimizer");
  refused(t, tpt_checkpoint_save(t, o, NULL, NULL, 0), BAD, "path");
  refused(t, tpt_checkpoint_save(t, o, "/none/none", NULL, 1), BAD, "user");
  FIRST(tpt_checkpoint_load, tpt_trainer, "trainer", o, "/none/none", text, 1, &size);
  refused(t, tpt_checkpoint_load(t, NULL, "/none/none", text, 1, &size), BAD, "optimizer");
  refused(t, tpt_checkpoint_load(t, o, NULL, text, 1, &size), BAD, "path");
  refused(t, tpt_checkpoint_load(t, o, "/none/none", NULL, 1, &size), BAD, "user");
  refused(t, tpt_checkpoint_load(t, o, "/none/none", text, 1, &size), TPT_E_IO, "/none/none");
  ck_assert_uint_eq(steps, 77);
  part(&c);
}
END_TEST

START_TEST(decoders) {
  cast c = gather();
  tpt_model *m = c.s.model;
  tpt_decoder *d = c.decoder;
  const int32_t *ids = c.s.tokens;
  const float *borrowed = floats;
  MAKES(NULL, tpt_decoder, BAD, "model", tpt_decoder_create(NULL, 0, &made));
  MAKES(NULL, tpt_decoder, BAD, "model", tpt_decoder_create(c.stranger, 0, &made));
  refused(m, tpt_decoder_create(m, 0, NULL), BAD, "decoder");
  FIRST(tpt_decoder_copy, const tpt_decoder, "source", d);
  refused(d, tpt_decoder_copy(d, NULL), BAD, "target");
  refused(d, tpt_decoder_copy(d, c.stranger), BAD, "target");
  FIRST(tpt_decoder_feed, tpt_decoder, "decoder", ids, 1, &borrowed);
  refused(d, tpt_decoder_feed(d, NULL, 1, &borrowed), BAD, "tokens");
  refused(d, tpt_decoder_feed(d, ids, SIZE_MAX, &borrowed), BAD, "count");
  FIRST(tpt_decoder_score, tpt_decoder, "decoder", ids, 1, doubles);
  refused(d, tpt_decoder_score(d, NULL, 1, doubles), BAD, "tokens");
  refused(d, tpt_decoder_score(d, ids, 0, doubles), BAD, "count");
  refused(d, tpt_decoder_score(d, ids, MOST + 1, doubles), BAD, "count");
  refused(d, tpt_decoder_score(d, ids, 1, NULL), BAD, "log_probability");
  FIRST(tpt_decoder_rewind, tpt_decoder, "decoder", 0);
  refused(d, tpt_decoder_rewind(d, 1), BAD, "position");
  refused(d, tpt_decoder_rewind(d, SIZE_MAX), BAD, "position");
  FIRST(tpt_decoder_position, const tpt_decoder, "decoder", &size);
  refused(d, tpt_decoder_position(d, NULL), BAD, "position");
  FIRST(tpt_decoder_set_sampling, tpt_decoder, "decoder", 1.0, 0, 1.0, 1);
  static const double no_temperature[] = {NAN, -1e-300, INFINITY, -INFINITY};
  static const double no_share[] = {NAN, -0.1, 1.0000001, INFINITY};
  for (int i = 0; i < 4; i++) {
    refused(d, tpt_decoder_set_sampling(d, no_temperature[i], 0, 1, 1), BAD, "temperature");
    refused(d, tpt_decoder_set_sampling(d, 1, 0, no_share[i], 1), BAD, "top_p");
  }
  refused(d, tpt_decoder_set_sampling(d, 1, -1, 1, 1), BAD, "top_k");
  refused(d, tpt_decoder_set_sampling(d, 1, INT32_MIN, 1, 1), BAD, "top_k");
  ok(tpt_decoder_set_sampling(d, 1e300, INT32_MAX, 0, 1)); /* odd, but allowed */
  FIRST(tpt_decoder_sample, tpt_decoder, "decoder", &number);
  refused(d, tpt_decoder_sample(d, &number), TPT_E_STATE, "logits");
  ok(tpt_decoder_feed(d, ids, 1, NULL));
  refused(d, tpt_decoder_sample(d, NULL), BAD, "token");
  int32_t token = -1;
  ok(tpt_decoder_sample(d, &token));
  size_t made = 1;
  FIRST(tpt_decoder_generate, tpt_decoder, "decoder", -1, &token, 1, &made);
  refused(d, tpt_decoder_generate(d, -1, NULL, 1, &made), BAD, "tokens");
  refused(d, tpt_decoder_generate(d, -1, &token, 1, NULL), BAD, "made");
  refused(d, tpt_decoder_generate(d, -1, &token, 0, &made), BAD, "count");
  refused(d, tpt_decoder_generate(d, -1, &token, MOST, &made), BAD, "count");
  refused(d, tpt_decoder_generate(d, -1, &token, SIZE_MAX, &made), BAD, "count");
  refused(d, tpt_decoder_generate(d, -2, &token, 1, &made), BAD, "stop");
  refused(d, tpt_decoder_generate(d, V, &token, 1, &made), BAD, "stop");
  ok(tpt_decoder_rewind(d, 0));
  refused(d, tpt_decoder_generate(d, -1, &token, 1, &made), TPT_E_STATE, "logits");
  ck_assert_uint_eq(made, 0);
  ck_assert(borrowed == floats && token >= 0 && token < V);
  part(&c);
}
END_TEST

START_TEST(geometry) {
  cast c = gather();
  tpt_model *m = c.s.model;
  tpt_trainer *t = c.s.trainer;
  ok(tpt_trainer_forward(t, c.s.tokens, BATCH, MOST));
  FIRST(tpt_geometry_dc_profile, const tpt_model, "model", 0, floats, 1);
  refused(m, tpt_geometry_dc_profile(m, 0, NULL, 1), BAD, "values");
  FIRST(tpt_geometry_theta, const tpt_model, "model", 0, floats, P / 2);
  refused(m, tpt_geometry_theta(m, 0, NULL, P / 2), BAD, "values");
  FIRST(tpt_geometry_angles, const tpt_model, "model", 0, 0, floats, P / 2);
  refused(m, tpt_geometry_angles(m, 0, 0, NULL, P / 2), BAD, "values");
  refused(m, tpt_geometry_angles(m, SIZE_MAX, 0, floats, P / 2), BAD, "layer");
  FIRST(tpt_geometry_drift, const tpt_model, "model", 0, &drift);
  refused(m, tpt_geometry_drift(m, L, &drift), BAD, "layer");
  refused(m, tpt_geometry_drift(m, 0, NULL), BAD, "drift");
  FIRST(tpt_geometry_phase_means, const tpt_trainer, "trainer", TPT_POINT_BLOCK, 0, doubles, N);
  refused(t, tpt_geometry_phase_means(t, TPT_POINT_BLOCK, 0, NULL, N), BAD, "values");
  FIRST(tpt_geometry_phase_rms, const tpt_trainer, "trainer", TPT_POINT_BLOCK, 0, doubles, N);
  refused(t, tpt_geometry_phase_rms(t, TPT_POINT_BLOCK, 0, NULL, N), BAD, "values");
  FIRST(tpt_geometry_phase_cosine, const tpt_trainer, "trainer", TPT_POINT_BLOCK, 0, doubles, N *N);
  refused(t, tpt_geometry_phase_cosine(t, TPT_POINT_BLOCK, 0, NULL, N * N), BAD, "values");
  FIRST(tpt_geometry_dc_energy, const tpt_trainer, "trainer", TPT_POINT_BLOCK, 0, doubles, N);
  refused(t, tpt_geometry_dc_energy(t, TPT_POINT_BLOCK, 0, NULL, N), BAD, "values");
  FIRST(tpt_geometry_dc, const tpt_trainer, "trainer", TPT_POINT_BLOCK, 0, floats, MOST);
  refused(t, tpt_geometry_dc(t, TPT_POINT_BLOCK, 0, NULL, MOST), BAD, "values");
  FIRST(tpt_geometry_zero_sum, const tpt_trainer, "trainer", doubles, doubles + 1);
  refused(t, tpt_geometry_zero_sum(t, NULL, doubles), BAD, "measured");
  refused(t, tpt_geometry_zero_sum(t, doubles, NULL), BAD, "analytic");
  FIRST(tpt_geometry_displacement, const tpt_trainer, "trainer", 0, doubles);
  refused(t, tpt_geometry_displacement(t, 0, NULL), BAD, "mean");
  refused(t, tpt_geometry_displacement(t, SIZE_MAX, doubles), BAD, "layer");
  part(&c);
}
END_TEST

static Suite *suite(void) {
  Suite *suite = suite_create("api/hostile_use");
  TCase *tests = tcase_create("hostile");
  tcase_add_test(tests, trainers);
  tcase_add_test(tests, foreign_ids);
  tcase_add_test(tests, optimizers_and_checkpoints);
  tcase_add_test(tests, decoders);
  tcase_add_test(tests, geometry);
  suite_add_tcase(suite, tests);
  return suite;
}

int main(void) { return tpti_test_main(suite()); }
