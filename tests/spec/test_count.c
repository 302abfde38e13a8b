/* Parameter counts, against the paper's figures. */
#include <string.h>

#include "spec/spec.h"
#include "support/runner.h"

typedef struct size {
  const char *preset;
  const char *pairs[8];
  size_t count;
} size;

static const size sizes[] = {
    {"3pt-5m", {NULL}, 5463872},
    {"3pt-5m", {"model.max_seq_len", "129", "model.dc.profile", "learned"}, 5464001},
    {"rope-only-5m", {NULL}, 5463744},
    {"3pt-123m", {NULL}, 123490560},
    {"3pt-123m", {"model.n_phases", "1"}, 123493632},
    {"3pt-123m", {"model.rotation.mode", "residual"}, 123490560},
    {"rope-only-123m", {NULL}, 123489024},
    {"3pt-1b", {NULL}, 1039352064},
};

START_TEST(counts_are_the_papers) {
  tpti_spec spec;
  size_t count = 0;
  ck_assert_int_eq(tpti_spec_preset(sizes[_i].preset, &spec), TPT_OK);
  for (const char *const *pair = sizes[_i].pairs; *pair; pair += 2)
    ck_assert_int_eq(tpti_spec_set(&spec, pair[0], pair[1]), TPT_OK);
  ck_assert(tpti_count_parameters(&spec.model, &count));
  ck_assert_uint_eq(count, sizes[_i].count);
}
END_TEST

/* Each size alone made too large for any machine. */
START_TEST(overflow_is_seen) {
  for (int i = 0; i < 6; i++) {
    tpti_spec spec;
    tpti_spec_init(&spec);
    size_t *const dims[] = {&spec.model.V, &spec.model.D,           &spec.model.L,
                            &spec.model.F, &spec.model.max_seq_len, &spec.model.K};
    spec.model.dc = TPTI_DC_LEARNED;
    *dims[i] = SIZE_MAX - 191;
    size_t count = 0;
    ck_assert_msg(!tpti_count_parameters(&spec.model, &count), "size %d", i);
    ck_assert_uint_eq(count, SIZE_MAX);
  }
}
END_TEST

static Suite *suite(void) {
  Suite *s = suite_create("count");
  TCase *c = tcase_create("parameters");
  tcase_add_loop_test(c, counts_are_the_papers, 0, (int)(sizeof sizes / sizeof *sizes));
  tcase_add_test(c, overflow_is_seen);
  suite_add_tcase(s, c);
  return s;
}

int main(void) { return tpti_test_main(suite()); }
