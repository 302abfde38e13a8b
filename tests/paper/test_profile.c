/* Other profiles in the DC channel (3.4, 4.9, 7): a list in the description, and one that the host
 * gives to a model with a learned profile. What becomes of a fixed profile that the host sets is in
 * tests/api/test_model.c. */
#include "api/session.h"

/* At the embedding the mean of position p is r(p), and the residual N times their mean. */
static void check_profile(const session *s, const float *r, size_t batch, size_t length) {
  double measured = -1, analytic = -1, sum = 0;
  float dc[MOST];
  ok(tpt_trainer_forward(s->trainer, s->tokens, batch, length));
  ok(tpt_geometry_dc(s->trainer, TPT_POINT_EMBEDDING, 0, dc, length));
  for (size_t p = 0; p < length; p++) {
    ck_assert_float_eq_tol(dc[p], r[p], 1e-6f);
    sum += (double)r[p];
  }
  ok(tpt_geometry_zero_sum(s->trainer, &measured, &analytic));
  ck_assert_double_eq_tol(analytic, N * sum / (double)length, 1e-6);
  ck_assert_double_eq_tol(measured, analytic, 1e-6);
}

/* Numbers past max_seq_len are not used, nor those past the sequence. */
START_TEST(a_list) {
  static const float r[MOST] = {0.5f,  -0.25f, 2,       0, 1e-3f, 1, -1, 3,
                                0.75f, 5,      -0.125f, 0, 0,     1, 2,  -2};
  session s = start("train.warmup=0; model.dc.profile=[0.5, -0.25, 2, 0, 1e-3, 1, -1, 3, 0.75, 5, "
                    "-0.125, 0, 0, 1, 2, -2, 77]");
  for (uint64_t i = 0; i < 3; i++) {
    check_profile(&s, r, BATCH, MOST);
    check_profile(&s, r, 2, 5);
    train_step(&s, i);
  }
  end(&s);
}
END_TEST

/* r(0) = 1 starts a learned profile, the horn; the host's numbers take its place, are used, go on
 * learning from there, and come back with the model, which still says that it is learned. */
START_TEST(a_learned_one_from_the_host) {
  session s = start("model.dc.profile=learned; train.warmup=0");
  float given[MOST], learned[MOST], back[MOST];
  char text[40];
  size_t length;
  ok(tpt_geometry_dc_profile(s.model, 0, back, MOST));
  for (size_t p = 0; p < MOST; p++) {
    ck_assert_float_eq_tol(back[p], 1 / (float)(p + 1), 1e-7f);
    given[p] = 0.3f * (float)p - 2;
  }
  ok(tpt_model_set_tensor(s.model, "embedding.dc_profile", given, MOST));
  check_profile(&s, given, BATCH, MOST);
  for (uint64_t i = 0; i < 3; i++) train_step(&s, i);
  ok(tpt_geometry_dc_profile(s.model, 0, learned, MOST));
  for (size_t p = 0; p < MOST; p++) {
    ck_assert_float_ne(learned[p], given[p]);
    ck_assert_float_eq_tol(learned[p], given[p], 0.2f); /* 3 steps of lr 1e-2, decay besides */
  }
  check_profile(&s, learned, BATCH, MOST);
  unsigned char *image = image_of(s.model, &length);
  tpt_model *loaded;
  ok(tpt_model_load_memory(NULL, image, length, NULL, &loaded));
  ok(tpt_model_get_tensor(loaded, "embedding.dc_profile", back, MOST));
  ck_assert_mem_eq(back, learned, sizeof learned);
  ok(tpt_config_get(tpt_model_config(loaded), "model.dc.profile", text, sizeof text, &length));
  ck_assert_str_eq(text, "learned");
  tpt_model_destroy(loaded);
  free(image);
  end(&s);
}
END_TEST

/* Horn and list are no parameters: training leaves every bit of them. */
START_TEST(a_fixed_one_keeps_its_bits) {
  session s = start(_i ? "train.warmup=0; model.dc.profile=ramp" : "train.warmup=0; train.lr=0.1");
  float before[MOST], after[MOST];
  ok(tpt_geometry_dc_profile(s.model, 0, before, MOST));
  for (uint64_t i = 0; i < 5; i++) train_step(&s, i);
  ok(tpt_geometry_dc_profile(s.model, 0, after, MOST));
  ck_assert_mem_eq(before, after, sizeof before);
  check_profile(&s, before, BATCH, MOST);
  end(&s);
}
END_TEST

static Suite *suite(void) {
  Suite *suite = suite_create("paper/profile");
  TCase *tests = tcase_create("profile");
  tcase_add_test(tests, a_list);
  tcase_add_test(tests, a_learned_one_from_the_host);
  tcase_add_loop_test(tests, a_fixed_one_keeps_its_bits, 0, 2);
  suite_add_tcase(suite, tests);
  return suite;
}

int main(void) { return tpti_test_main(suite()); }
