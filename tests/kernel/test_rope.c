/* Every variant of the rotary embedding's kernel against the plain one. */
#include "kernel/rope.h"

#include "variants.h"

enum { LONGEST = 70 };

static void compare(size_t half, bool back, int _i) {
  size_t heads = 1 + half % 3, count = heads * 2 * half;
  guarded g = {0};
  float *x = guarded_take(&g, count, 1), *want = guarded_take(&g, count, 1);
  float *cosine = guarded_take(&g, half, 2), *sine = guarded_take(&g, half, 3);
  tpti_rope_plain(want, cosine, sine, heads, half, back);
  variant((size_t)_i)->rope(x, cosine, sine, heads, half, back);
  same_values(x, want, count, 2e-7);
  guarded_end(&g);
}

START_TEST(forward) {
  for (size_t half = 1; half <= LONGEST; half++) compare(half, false, _i);
}
END_TEST

START_TEST(backward) {
  for (size_t half = 1; half <= LONGEST; half++) compare(half, true, _i);
}
END_TEST

static Suite *suite(void) {
  Suite *s = suite_create("rope");
  TCase *c = tcase_create("rope");
  tcase_add_loop_test(c, forward, 0, variant_count());
  tcase_add_loop_test(c, backward, 0, variant_count());
  suite_add_tcase(s, c);
  return s;
}

int main(void) { return variants_main(suite()); }
