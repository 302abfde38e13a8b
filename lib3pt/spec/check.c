/* The rules between the keys of a description, and whether two descriptions are of one model. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "spec/keys.h"

enum { RULE_KEYS = 3, LINES_TEXT = 80, VALUE_TEXT = 48 };

typedef struct rule {
  bool (*holds)(const tpti_spec *spec);
  const char *keys[RULE_KEYS];
  const char *text;
} rule;

static bool phases_fit(const tpti_spec *s) { return s->model.D % s->model.N == 0; }
static bool phase_is_even(const tpti_spec *s) { return tpti_dims_P(&s->model) % 2 == 0; }
static bool heads_fit(const tpti_spec *s) { return s->model.D % s->model.H == 0; }
static bool head_is_even(const tpti_spec *s) { return tpti_dims_E(&s->model) % 2 == 0; }
static bool heads_are_shared(const tpti_spec *s) { return s->model.H % s->model.K == 0; }

static bool query_heads_are_aligned(const tpti_spec *s) {
  return !s->model.phase_aligned || s->model.H % s->model.N == 0;
}

static bool key_heads_are_aligned(const tpti_spec *s) {
  return !s->model.phase_aligned || s->model.K % s->model.N == 0;
}

static bool profile_is_long_enough(const tpti_spec *s) {
  return s->model.dc != TPTI_DC_LIST || s->model.dc_count >= s->model.max_seq_len;
}

static bool angle_for_each_layer(const tpti_spec *s) {
  return s->model.schedule != TPTI_SCHEDULE_LIST || s->model.schedule_count == s->model.L;
}

static bool sequence_fits(const tpti_spec *s) { return s->train.seq_len <= s->model.max_seq_len; }
static bool warmup_ends(const tpti_spec *s) { return s->train.warmup < s->train.steps; }

/* Rows are counted in int32 by some of what stands below. */
static bool tokens_are_countable(const tpti_spec *s) {
  size_t tokens;
  return tpti_mul(&tokens, s->train.batch, s->train.seq_len) && tokens <= INT32_MAX;
}

/* Weights, gradients and both moments are addressable. */
static bool parameters_are_addressable(const tpti_spec *s) {
  size_t count, bytes;
  return tpti_count_parameters(&s->model, &count) && tpti_mul(&bytes, count, 4 * sizeof(float)) &&
         bytes <= PTRDIFF_MAX;
}

/* In this order: a rule may rely on those before it. */
static const rule rules[] = {
    {phases_fit, {"model.d_model", "model.n_phases"}, "d_model must be a multiple of n_phases"},
    {phase_is_even, {"model.d_model", "model.n_phases"}, "d_model / n_phases must be even"},
    {heads_fit, {"model.d_model", "model.n_q_heads"}, "d_model must be a multiple of n_q_heads"},
    {head_is_even, {"model.d_model", "model.n_q_heads"}, "d_model / n_q_heads must be even"},
    {heads_are_shared,
     {"model.n_q_heads", "model.n_kv_heads"},
     "n_q_heads must be a multiple of n_kv_heads"},
    {query_heads_are_aligned,
     {"model.n_q_heads", "model.n_phases", "model.attention.phase_aligned"},
     "n_q_heads must be a multiple of n_phases, or phase_aligned false"},
    {key_heads_are_aligned,
     {"model.n_kv_heads", "model.n_phases", "model.attention.phase_aligned"},
     "n_kv_heads must be a multiple of n_phases, or phase_aligned false"},
    {profile_is_long_enough,
     {"model.dc.profile", "model.max_seq_len"},
     "the list must have at least max_seq_len numbers"},
    {angle_for_each_layer,
     {"model.rotation.schedule", "model.n_layers"},
     "the list must have n_layers numbers"},
    {sequence_fits, {"train.seq_len", "model.max_seq_len"}, "seq_len must be at most max_seq_len"},
    {warmup_ends, {"train.warmup", "train.steps"}, "warmup must be less than steps"},
    {tokens_are_countable,
     {"train.batch", "train.seq_len"},
     "batch times seq_len must be at most 2147483647"},
    {parameters_are_addressable,
     {"model.vocab_size", "model.d_model", "model.n_layers"},
     "the parameters must fit the address space"},
};

static bool has(const size_t *lines, size_t count, size_t line) {
  for (size_t i = 0; i < count; i++)
    if (lines[i] == line) return true;
  return false;
}

/* "lines 3, 7: ", as far as known, each once. */
static void print_lines(const rule *broken, const size_t *lines, char text[LINES_TEXT]) {
  size_t found[RULE_KEYS], known = 0;
  for (size_t i = 0; lines && i < RULE_KEYS && broken->keys[i]; i++) {
    size_t line = lines[tpti_key_find(broken->keys[i]) - tpti_keys];
    if (line && !has(found, known, line)) found[known++] = line;
  }
  text[0] = '\0';
  if (known == 0) return;
  int used = snprintf(text, LINES_TEXT, known > 1 ? "lines" : "line");
  for (size_t i = 0; i < known; i++)
    used += snprintf(text + used, LINES_TEXT - (size_t)used, "%s %zu", i ? "," : "", found[i]);
  snprintf(text + used, LINES_TEXT - (size_t)used, ": ");
}

/* A value for a message: a list by its length. Without memory it stays out of the message. */
static void print_value(const tpti_spec *spec, const tpti_key *key, char text[VALUE_TEXT]) {
  tpti_buffer value;
  if (tpti_key_has_list(spec, key)) {
    snprintf(text, VALUE_TEXT, "a list of length %zu", tpti_key_list_count(spec, key));
    return;
  }
  tpti_buffer_init(&value, &tpti_memory_default);
  bool printed = tpti_key_print(spec, key, &value);
  snprintf(text, VALUE_TEXT, "%.*s", printed ? (int)value.used : 1, printed ? value.data : "?");
  tpti_buffer_free(&value);
}

static tpt_status fail_rule(const tpti_spec *spec, const rule *broken, const size_t *lines) {
  char place[LINES_TEXT], values[RULE_KEYS * 100] = "", value[VALUE_TEXT];
  int used = 0;
  print_lines(broken, lines, place);
  for (size_t i = 0; i < RULE_KEYS && broken->keys[i]; i++) {
    print_value(spec, tpti_key_find(broken->keys[i]), value);
    used += snprintf(values + used, sizeof values - (size_t)used, "%s%s is %s", i ? ", " : "",
                     broken->keys[i], value);
  }
  return tpti_fail(TPT_E_CONFIG, "%s%s: %s", place, values, broken->text);
}

tpt_status tpti_spec_check_lines(const tpti_spec *spec, const size_t *lines) {
  for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
    if (!rules[i].holds(spec)) return fail_rule(spec, &rules[i], lines);
  return TPT_OK;
}

tpt_status tpti_spec_check(const tpti_spec *spec) { return tpti_spec_check_lines(spec, NULL); }

tpt_status tpti_spec_same_model(const tpti_spec *spec, const tpti_spec *against,
                                const char *other) {
  for (size_t i = 0; i < TPTI_KEYS; i++) {
    const tpti_key *key = &tpti_keys[i];
    if (strncmp(key->name, "model.", 6) != 0 || tpti_key_equal(spec, against, key)) continue;
    char ours[VALUE_TEXT], theirs[VALUE_TEXT];
    print_value(spec, key, ours);
    print_value(against, key, theirs);
    if (strcmp(ours, theirs) == 0)
      return tpti_fail(TPT_E_CONFIG, "%s is %s, and %s has other numbers in it", key->name, ours,
                       other);
    return tpti_fail(TPT_E_CONFIG, "%s is %s, and %s in %s", key->name, ours, theirs, other);
  }
  return TPT_OK;
}
