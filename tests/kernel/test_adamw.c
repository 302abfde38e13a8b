/* AdamW: the plain kernel against its equation in float64, every variant against the plain one. */
#include "kernel/adamw.h"

#include "variants.h"

enum { LONGEST = 70, STEPS = 3 };

static tpti_adamw_step step_of(int t) {
  return (tpti_adamw_step){.gradient_scale = 0.75,
                           .beta1 = 0.9,
                           .beta2 = 0.999,
                           .lr = 1e-2,
                           .decay = 1e-3,
                           .eps = 1e-8,
                           .bias1 = 1 / (1 - pow(0.9, t)),
                           .bias2 = 1 / (1 - pow(0.999, t))};
}

static void reference(double *p, double *m, double *v, const float *g, size_t n,
                      const tpti_adamw_step *s) {
  for (size_t i = 0; i < n; i++) {
    double d = s->gradient_scale * (double)g[i];
    p[i] -= s->decay * p[i];
    m[i] = s->beta1 * m[i] + (1 - s->beta1) * d;
    v[i] = s->beta2 * v[i] + (1 - s->beta2) * d * d;
    p[i] -= s->lr * (m[i] * s->bias1) / (sqrt(v[i] * s->bias2) + s->eps);
  }
}

START_TEST(plain_is_the_equation) {
  float p[LONGEST], m[LONGEST] = {0}, v[LONGEST] = {0}, g[LONGEST], unchanged[LONGEST];
  double p64[LONGEST], m64[LONGEST] = {0}, v64[LONGEST] = {0};
  tpti_test_fill(p, LONGEST, 1);
  for (size_t i = 0; i < LONGEST; i++) p64[i] = (double)p[i];
  for (int t = 1; t <= STEPS; t++) {
    tpti_adamw_step s = step_of(t);
    tpti_test_fill(g, LONGEST, 10 + (uint64_t)t);
    g[3] = 0; /* a parameter that nothing reaches: 0 / eps */
    memcpy(unchanged, g, sizeof g);
    tpti_adamw_plain(p, m, v, g, LONGEST, &s);
    reference(p64, m64, v64, g, LONGEST, &s);
    ck_assert_uint_eq(tpti_test_first_difference(g, unchanged, LONGEST), LONGEST);
  }
  tpti_test_near(p, p64, LONGEST, 2e-7);
  tpti_test_near(m, m64, LONGEST, 3e-7);
  tpti_test_near(v, v64, LONGEST, 3e-7);
}
END_TEST

static void compare(size_t n, int _i) {
  guarded a = {0};
  float *p = guarded_take(&a, n, 1), *m = guarded_take(&a, n, 2), *v = guarded_take(&a, n, 3);
  float *p0 = guarded_take(&a, n, 1), *m0 = guarded_take(&a, n, 2), *v0 = guarded_take(&a, n, 3);
  float *g = guarded_take(&a, n, 4);
  for (size_t i = 0; i < n; i++) {
    v[i] = v0[i] = n % 2 ? 0 : fabsf(v[i]); /* the first steps, and later ones */
    if (n % 2) m[i] = m0[i] = 0;
  }
  g[n / 2] = 0;
  for (int t = 1; t <= STEPS; t++) {
    tpti_adamw_step s = step_of(t);
    tpti_adamw_plain(p0, m0, v0, g, n, &s);
    variant((size_t)_i)->adamw(p, m, v, g, n, &s);
  }
  same_values(p, p0, n, 3e-7);
  same_values(m, m0, n, 3e-7);
  same_values(v, v0, n, 3e-7);
  guarded_end(&a);
}

START_TEST(variants_are_the_plain_one) {
  for (size_t n = 1; n <= LONGEST; n++) compare(n, _i);
}
END_TEST

static Suite *suite(void) {
  Suite *s = suite_create("adamw");
  TCase *c = tcase_create("adamw");
  tcase_add_test(c, plain_is_the_equation);
  tcase_add_loop_test(c, variants_are_the_plain_one, 0, variant_count());
  suite_add_tcase(s, c);
  return s;
}

int main(void) { return tpti_test_main(suite()); }
