/* Whole descriptions from YAML and to YAML. */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "spec/spec.h"
#include "support/runner.h"

static void parses(const char *yaml, tpti_spec *spec) {
  tpt_status status = tpti_spec_parse(yaml, strlen(yaml), spec);
  ck_assert_msg(status == TPT_OK, "%s: %s", yaml, tpti_error_text());
}

static void formats(const tpti_spec *spec, tpti_buffer *text) {
  tpti_buffer_init(text, &tpti_memory_default);
  ck_assert_int_eq(tpti_spec_format(spec, text), TPT_OK);
}

/* Parsed, the text of `spec` is `spec` again, and its text the same. */
static void comes_back(const tpti_spec *spec) {
  tpti_buffer first, second;
  tpti_spec again;
  formats(spec, &first);
  ck_assert_msg(tpti_spec_parse(first.data, first.used, &again) == TPT_OK, "%s", tpti_error_text());
  formats(&again, &second);
  ck_assert_uint_eq(first.used, second.used);
  ck_assert_mem_eq(first.data, second.data, first.used);
  ck_assert_msg(tpti_spec_same_model(spec, &again, "again") == TPT_OK, "%s", tpti_error_text());
  tpti_buffer_free(&first);
  tpti_buffer_free(&second);
  tpti_spec_free(&again);
}

START_TEST(nothing_is_all_defaults) {
  tpti_spec spec, defaults;
  tpti_buffer text, expected;
  tpti_spec_init(&defaults);
  formats(&defaults, &expected);
  parses("# nothing\n", &spec);
  formats(&spec, &text);
  ck_assert_uint_eq(text.used, expected.used);
  ck_assert_mem_eq(text.data, expected.data, text.used);
  tpti_buffer_free(&text);
  tpti_buffer_free(&expected);
}
END_TEST

START_TEST(the_text_is_nested_and_has_every_key) {
  tpti_spec spec;
  tpti_buffer text;
  parses("{model: {dc: {profile: [1, 0.25]}, max_seq_len: 2}}", &spec);
  formats(&spec, &text);
  tpti_buffer_append(&text, "", 1);
  ck_assert_str_eq(text.data,
                   "model:\n  vocab_size: 10000\n  d_model: 192\n  n_layers: 4\n  n_q_heads: 6\n"
                   "  n_kv_heads: 3\n  d_ff: 512\n  n_phases: 3\n  max_seq_len: 2\n  rope:\n"
                   "    base: 10000\n  norm:\n    eps: 1.0e-06\n  attention:\n"
                   "    phase_aligned: true\n  embedding:\n    scale: none\n  dc:\n"
                   "    profile: [1, 0.25]\n    tau: 0.5\n  rotation:\n    mode: replace\n"
                   "    schedule: linear\ntrain:\n  seq_len: 2\n  batch: 64\n  grad_accum: 1\n"
                   "  steps: 20000\n  warmup: 500\n  lr: 0.0003\n  lr_floor: 0.1\n"
                   "  theta_lr: 0.0003\n  beta1: 0.9\n  beta2: 0.999\n  eps: 1.0e-08\n"
                   "  weight_decay: 0.01\n  decay: all\n  clip: 1\n  ignore_index: -1\n"
                   "  aux_coef: 0\n  precision: f32\n  recompute: none\n  seed: 1\n"
                   "  eval_every: 1000\n  checkpoint_every: 1000\n");
  tpti_buffer_free(&text);
  tpti_spec_free(&spec);
}
END_TEST

START_TEST(every_preset_comes_back) {
  for (size_t i = 0; tpti_spec_preset_name(i); i++) {
    tpti_spec spec;
    ck_assert_int_eq(tpti_spec_preset(tpti_spec_preset_name(i), &spec), TPT_OK);
    comes_back(&spec);
  }
}
END_TEST

START_TEST(odd_numbers_come_back) {
  tpti_spec spec;
  parses(
      "model: {n_layers: 2, max_seq_len: 3, rope: {base: 12345.678901234567}, norm: {eps: 1e-20},"
      " dc: {profile: [0.1, -3.3333333333333335e-29, 5e-324]},"
      " rotation: {schedule: [3.141592653589793, 0]}}\n"
      "train: {lr: 0.30000000000000004, seed: 18446744073709551615, ignore_index: 0}\n",
      &spec);
  ck_assert_double_eq(spec.model.dc_values[2], 5e-324);
  ck_assert_double_eq(spec.train.lr, 0.1 + 0.2);
  comes_back(&spec);
  tpti_spec_free(&spec);
}
END_TEST

START_TEST(the_longest_list_comes_back) {
  tpti_spec spec;
  tpti_spec_init(&spec);
  spec.model.dc = TPTI_DC_LIST;
  spec.model.dc_count = 262144;
  spec.model.dc_values = malloc(spec.model.dc_count * sizeof(double));
  ck_assert_ptr_nonnull(spec.model.dc_values);
  for (size_t i = 0; i < spec.model.dc_count; i++) spec.model.dc_values[i] = i % 2 ? 0.5 : -3;
  comes_back(&spec);
  tpti_spec_free(&spec);
}
END_TEST

/* As where all of a section's keys are commented out. */
START_TEST(a_section_with_nothing_in_it_gives_no_key) {
  static const char *const texts[] = {
      "model:\ntrain:\n", "model: ~\ntrain: null\n", "model: Null\ntrain: NULL\n",
      "model:\n  dc:\n  rope: ~\ntrain: # none\n", "model: {dc: , rotation: null}"};
  tpti_spec defaults, spec;
  tpti_spec_init(&defaults);
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    tpt_status status = tpti_spec_parse(texts[i], strlen(texts[i]), &spec);
    ck_assert_msg(status == TPT_OK, "%s: %s", texts[i], tpti_error_text());
    ck_assert_int_eq(tpti_spec_same_model(&spec, &defaults, "the defaults"), TPT_OK);
    ck_assert_uint_eq(spec.given, 0);
    tpti_spec_free(&spec);
  }
  tpti_spec_free(&defaults);
}
END_TEST

/* Text, and a part of the message. */
static const char *const wrong[][2] = {
    {"3", "line 1: keys with values are allowed here"},
    {"~", "line 1: keys with values"},
    {"[]", "line 1: keys with values"},
    {"model", "line 1: keys with values"},
    {"model: 3", "line 1: model is a section of keys, not a key"},
    {"model: ''", "line 1: model is a section of keys"},
    {"model: \"null\"", "line 1: model is a section of keys"},
    {"model: nil", "line 1: model is a section of keys"},
    {"optimizer:", "line 1: unknown key \"optimizer\"; model and train are allowed"},
    {"model: [1]", "line 1: model is a section of keys"},
    {"model: {dc: horn}", "line 1: model.dc is a section of keys"},
    {"modle:\n  n_phases: 3\n", "line 1: unknown key \"modle\"; did you mean model?"},
    {"optimizer: {}", "line 1: unknown key \"optimizer\"; model and train are allowed"},
    {"n_phases: 3", "line 1: unknown key \"n_phases\"; did you mean model.n_phases?"},
    {"model.n_phases: 3", "line 1: unknown key \"model.n_phases\": each part"},
    {"model:\n  rope.base: 3", "line 2: unknown key \"rope.base\": each part"},
    {"model:\n  n_phase: 3", "line 2: unknown key \"model.n_phase\"; did you mean model.n_phases?"},
    {"model:\n  batch: 3", "line 2: unknown key \"model.batch\"; did you mean train.batch?"},
    {"Model: {}", "line 1: unknown key \"Model\"; did you mean model?"},
    {"train: {LR: 3}", "line 1: unknown key \"train.LR\""},
    {"<<: {}", "line 1: unknown key \"<<\""},
    {"model: {<<: {}}", "line 1: unknown key \"model.<<\""},
    {"? {a: b}\n: 3", "line 1: a key must be a single word"},
    {"model: {? [n] : 3}", "line 1: a key must be a single word"},
    {"\"\": 3", "line 1: unknown key \"\""},
    {"model:\n  n_phases: 3\n  d_ff: 512\n  n_phases: 3\n",
     "line 4: the key \"model.n_phases\" is given twice"},
    {"model: {}\ntrain: {}\nmodel: {}\n", "line 3: the key \"model\" is given twice"},
    {"model: {dc: {tau: 1}, dc: {tau: 2}}", "line 1: the key \"model.dc\" is given twice"},
    {"model:\n  n_phases: three\n",
     "line 2: model.n_phases is \"three\", an integer from 1 to 4096 is allowed"},
    {"model: {n_phases: '3'}", "line 1: model.n_phases is \"3\" in quotes, an integer"},
    {"model: {n_phases: \"3\"}", "in quotes"},
    {"model: {n_phases: |\n  3\n}", "line 1: this is not YAML"},
    {"model:\n  n_phases: |\n    3\n", "line 2: model.n_phases is \"3?\" in quotes"},
    {"model: {n_phases: 3.0}", "an integer from 1 to 4096"},
    {"model: {n_phases: 3e0}", "an integer from 1 to 4096"},
    {"model: {n_phases: 0x3}", "an integer from 1 to 4096"},
    {"model: {n_phases: 0o3}", "an integer from 1 to 4096"},
    {"model: {n_phases: 1_0}", "an integer from 1 to 4096"},
    {"model: {n_phases: -3}", "an integer from 1 to 4096"},
    {"model: {n_phases: 0}", "an integer from 1 to 4096"},
    {"model: {n_phases: 99999999999999999999999}", "an integer from 1 to 4096"},
    {"model: {n_phases: }", "model.n_phases is \"\", an integer"},
    {"model: {n_phases: null}", "model.n_phases is \"null\", an integer"},
    {"model: {n_phases: true}", "model.n_phases is \"true\", an integer"},
    {"model: {n_phases: [3]}", "model.n_phases is a list, an integer"},
    {"model: {n_phases: {a: 3}}", "model.n_phases is a section of keys, an integer"},
    {"model: {n_phases: 3 4}", "model.n_phases is \"3 4\", an integer"},
    {"model: {vocab_size: 2147483648}", "an integer from 1 to 2147483647"},
    {"train: {lr: fast}", "train.lr is \"fast\", a number from 0 to 1000000 is allowed"},
    {"train: {lr: '1'}", "train.lr is \"1\" in quotes, a number"},
    {"train: {lr: 1,5}", "line 1: unknown key \"train.5\""},
    {"train:\n  lr: 1,5", "line 2: train.lr is \"1,5\", a number"},
    {"train: {lr: .nan}", "a number from 0"},
    {"train: {lr: .inf}", "a number from 0"},
    {"train: {lr: inf}", "a number from 0"},
    {"train: {lr: nan}", "a number from 0"},
    {"train: {lr: 1e999}", "a number from 0"},
    {"train: {lr: 0x1p3}", "a number from 0"},
    {"train: {lr: 1e}", "a number from 0"},
    {"train: {lr: 3e-4f}", "a number from 0"},
    {"train: {lr: -1}", "a number from 0"},
    {"train: {beta1: 1}", "train.beta1 is \"1\", a number from 0 to below 1 is allowed"},
    {"train: {eps: 0}", "train.eps is \"0\", a number from 1.0e-30 to 1 is allowed"},
    {"train: {steps: 0}", "an integer from 1 to 9007199254740992"},
    {"train: {steps: -1}", "an integer from 1 to 9007199254740992"},
    {"train: {precision: fp16}", "one of f32, bf16x3, bf16x6, bf16 is allowed"},
    {"train: {precision: F32}", "one of f32"},
    {"train: {decay: [all]}", "train.decay is a list, one of all, matrices is allowed"},
    {"model: {attention: {phase_aligned: on}}", "true or false is allowed"},
    {"model: {attention: {phase_aligned: 1}}", "true or false is allowed"},
    {"model: {attention: {phase_aligned: \"true\"}}", "in quotes, true or false"},
    {"model: {dc: {profile: [1, [2]]}}", "line 1: a list may hold plain values only"},
    {"model: {dc: {profile: [1, x]}}", "has the entry \"x\" (1 from 0), a number from"},
    {"model: {dc: {profile: [1, ]}}", "is a list of length 1, model.max_seq_len is 128"},
    {"model: {dc: {profile: []}}", "model.dc.profile is an empty list"},
    {"model: {dc: {profile: {a: 1}}}", "model.dc.profile is a section of keys"},
    {"model: {dc: {tau: 0}}", "a number above 0 and up to 1.0e+30 is allowed"},
    {"model: &m {}", "anchors, aliases and tags are not allowed"},
    {"train: {lr: !!float 1}", "anchors, aliases and tags are not allowed"},
    {"train: {lr: *m}", "anchors, aliases and tags are not allowed"},
    {"model: {}\n---\ntrain: {}\n", "line 2: a second document is not allowed"},
    {"%YAML 1.2\n---\nmodel: {}\n", "line 1: a line that begins with %"},
    {"model:\n\tn_phases: 3\n", "line 2: a tab indents the line"},
    {"model: {n_phases: 3", "line 1: this is not YAML"},
    {"model:\n  n_phases: 3\n d_ff: 3\n", "line 3: this is not YAML"},
    {"train: {lr: @}", "line 1: this is not YAML"},
};

START_TEST(a_wrong_text_names_the_line_and_what_is_allowed) {
  const char *yaml = wrong[_i][0];
  tpti_spec spec;
  ck_assert_msg(tpti_spec_parse(yaml, strlen(yaml), &spec) == TPT_E_CONFIG, "accepted: %s", yaml);
  ck_assert_msg(strstr(tpti_error_text(), wrong[_i][1]), "%s: %s", yaml, tpti_error_text());
  ck_assert_ptr_eq(strstr(tpti_error_text(), "line "), tpti_error_text());
  ck_assert_ptr_null(spec.model.dc_values);
}
END_TEST

START_TEST(a_contradiction_names_the_lines_that_are_known) {
  static const char *const rows[][2] = {
      {"model:\n  n_phases: 5\n\n  d_model: 192\n",
       "lines 4, 2: model.d_model is 192, model.n_phases is 5: d_model must be a multiple of "
       "n_phases"},
      {"train:\n  warmup: 30000\n",
       "line 2: train.warmup is 30000, train.steps is 20000: warmup must be less than steps"},
      {"\nmodel: {n_phases: 5, d_model: 192}\n",
       "line 2: model.d_model is 192, model.n_phases is 5: d_model must be a multiple of "
       "n_phases"},
  };
  for (size_t i = 0; i < 3; i++) {
    tpti_spec spec;
    ck_assert_int_eq(tpti_spec_parse(rows[i][0], strlen(rows[i][0]), &spec), TPT_E_CONFIG);
    ck_assert_str_eq(tpti_error_text(), rows[i][1]);
  }
}
END_TEST

START_TEST(a_long_text_gives_a_short_message) {
  enum { LONG = 1000000 };
  tpti_spec spec;
  char *yaml = malloc(LONG + 1);
  ck_assert_ptr_nonnull(yaml);
  for (int c = '1'; c <= '9'; c += 8) {
    memset(yaml, c, LONG);
    memcpy(yaml, "train: {lr: ", 12);
    yaml[LONG - 1] = '}';
    ck_assert_int_eq(tpti_spec_parse(yaml, LONG, &spec), TPT_E_CONFIG);
    ck_assert_uint_lt(strlen(tpti_error_text()), 300);
  }
  memset(yaml, 'k', LONG);
  yaml[LONG - 2] = ':';
  yaml[LONG - 1] = '\n';
  ck_assert_int_eq(tpti_spec_parse(yaml, LONG, &spec), TPT_E_CONFIG);
  memset(yaml, '#', LONG);
  ck_assert_int_eq(tpti_spec_parse(yaml, LONG, &spec), TPT_OK);
  free(yaml);
}
END_TEST

START_TEST(a_decimal_comma_changes_nothing) {
  static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "de_DE", "fr_FR.UTF-8"};
  bool found = false;
  for (size_t i = 0; i < 4 && !found; i++) found = setlocale(LC_ALL, names[i]) != NULL;
  if (!found)
    fprintf(stderr, "no locale with a decimal comma here: checked in the C locale only\n");
  tpti_spec spec;
  parses("train: {lr: 2.5e-1, clip: 0.5}", &spec);
  ck_assert_double_eq(spec.train.lr, 0.25);
  comes_back(&spec);
  ck_assert_int_eq(tpti_spec_set(&spec, "train.lr", "0,5"), TPT_E_CONFIG);
  tpti_spec_set(&spec, "train.beta1", "1.5");
  ck_assert_ptr_nonnull(strstr(tpti_error_text(), "\"1.5\""));
  tpti_spec_set(&spec, "model.rope.base", "0");
  ck_assert_ptr_nonnull(strstr(tpti_error_text(), "from 1.0e-06 to 1.0e+30"));
  setlocale(LC_ALL, "C");
}
END_TEST

static Suite *suite(void) {
  Suite *s = suite_create("parse");
  TCase *c = tcase_create("texts");
  tcase_add_test(c, nothing_is_all_defaults);
  tcase_add_test(c, the_text_is_nested_and_has_every_key);
  tcase_add_test(c, every_preset_comes_back);
  tcase_add_test(c, odd_numbers_come_back);
  tcase_add_test(c, the_longest_list_comes_back);
  tcase_add_test(c, a_section_with_nothing_in_it_gives_no_key);
  tcase_add_loop_test(c, a_wrong_text_names_the_line_and_what_is_allowed, 0,
                      (int)(sizeof wrong / sizeof *wrong));
  tcase_add_test(c, a_contradiction_names_the_lines_that_are_known);
  tcase_add_test(c, a_long_text_gives_a_short_message);
  tcase_add_test(c, a_decimal_comma_changes_nothing);
  suite_add_tcase(s, c);
  return s;
}

int main(void) { return tpti_test_main(suite()); }
