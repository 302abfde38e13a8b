/* A model's geometry: DC profile and angles from its weights, phases from a forward over tokens. */
#include "csv.h"
#include "inspect_text.h"
#include "json.h"

static const char *format = "text", *config_path;
static uint64_t batch, seq, threads;
static int ascii;

static const option OPTIONS[] = {
    {"--format", TEXT, &format, "text, csv or json (text)"},
    {"--batch", COUNT, &batch, "sequences of TOKENS to measure on; 0: train.batch (0)"},
    {"--seq", COUNT, &seq, "tokens of a sequence; 0: train.seq_len (0)"},
    {"--ascii", FLAG, &ascii, "draw with letters and signs alone"},
    {"--config", TEXT, &config_path, "the model's description, where its file has none"},
    {"--threads", THREADS, &threads, "0: as many as there are processors (0)"},
    {NULL, FLAG, NULL, NULL}};

static const program PROGRAM = {
    "inspect",
    "[options] MODEL [TOKENS]",
    "Shows the DC profile and the rotation angles of a model. With TOKENS, a .u16, .bin or .u32\n"
    "file, it also measures the phases of the residual stream on sequences drawn from the file,\n"
    "always the same ones.",
    OPTIONS,
    1,
    2};

/* ---- measuring ---- */

enum { SEED = 1 }; /* of the sequences: two models are measured on the same ones */

static void check_batch(tpt_status status) {
  if (status != TPT_OK) wrong_call("--batch: %s", tpt_error_message());
}

/* The description's sizes where none were given. */
static void choose_sizes(tpt_config *config) {
  want_range("--seq", seq, 0, count_setting(config, "model.max_seq_len"), " (model.max_seq_len)");
  if (!seq) seq = count_setting(config, "train.seq_len");
  if (!batch) batch = count_setting(config, "train.batch");
  check(set_count(config, "train.seq_len", seq));
  check_batch(set_count(config, "train.batch", batch));
  check_batch(tpt_config_check(config));
}

/* A trainer keeps the stream at every point. Its matrix products are those of float32. */
static tpt_trainer *make_trainer(tpt_model *model) {
  tpt_config *config;
  tpt_trainer *trainer;
  check(tpt_config_copy(tpt_model_config(model), &config));
  choose_sizes(config);
  check(tpt_config_set(config, "train.recompute", "none"));
  check(tpt_config_set(config, "train.precision", "f32"));
  check(tpt_trainer_create(model, config, &trainer));
  tpt_config_destroy(config);
  return trainer;
}

static tpt_trainer *run_forward(tpt_context *context, tpt_model *model, const char *path) {
  uint64_t random_state = SEED;
  tpt_trainer *trainer = make_trainer(model);
  tpt_dataset *data =
      open_tokens(context, path, count_setting(tpt_model_config(model), "model.vocab_size"));
  int32_t *tokens = calloc(batch * seq, 2 * sizeof *tokens);
  if (!tokens)
    die("there is no memory for %llu sequences: lower --batch", (unsigned long long)batch);
  check_file(path,
             tpt_dataset_random(data, &random_state, batch, seq, tokens, tokens + batch * seq));
  check(tpt_trainer_forward(trainer, tokens, batch, seq));
  free(tokens);
  tpt_dataset_destroy(data);
  return trainer;
}

/* ---- the formats ---- */

static void show_text(const geometry *g, const char *model, const char *tokens) {
  paper p = paper_for(ascii);
  show_model(&p, g, model);
  putchar('\n');
  show_profile(&p, g);
  putchar('\n');
  show_rotation(&p, g);
  if (!tokens) return;
  putchar('\n');
  say(&p, "%s: measured on %llu sequences of %llu tokens", tokens, (unsigned long long)batch,
      (unsigned long long)seq);
  show_stream(&p, g);
}

static void show_json(const geometry *g, const char *model, const char *tokens) {
  size_t parameters;
  check(tpt_config_parameter_count(tpt_model_config(g->model), &parameters));
  printf("{\"model\":");
  json_text(stdout, model);
  printf(",\n\"parameters\":%zu,\n\"config\":", parameters);
  json_config(stdout, tpt_model_config(g->model));
  printf(",\n\"tokens\":");
  json_text(stdout, tokens);
  if (tokens)
    printf(",\n\"batch\":%llu,\n\"seq\":%llu", (unsigned long long)batch, (unsigned long long)seq);
  else
    printf(",\n\"batch\":null,\n\"seq\":null");
  for (int i = 0; i < MEASURES; i++) {
    fputs(",\n", stdout);
    json_measure(stdout, g, &measures[i]);
  }
  puts("}");
}

static void show_csv(const geometry *g, const char *model, const char *tokens) {
  (void)model, (void)tokens;
  csv_measures(stdout, g);
}

typedef void show_format(const geometry *g, const char *model, const char *tokens);

static show_format *check_call(const char *tokens) {
  static show_format *const SHOW[] = {show_text, show_csv, show_json};
  show_format *show =
      SHOW[want_choice("--format", format, (const char *const[]){"text", "csv", "json", NULL})];
  if (show != show_text)
    refuse_idle((const char *const[]){"--ascii", NULL}, "with csv and json: nothing is drawn");
  if (!tokens) refuse_idle((const char *const[]){"--batch", "--seq", NULL}, "without TOKENS");
  return show;
}

int main(int argc, char **argv) {
  const char *words[2] = {0};
  read_call(&PROGRAM, argc, argv, words);
  show_format *show = check_call(words[1]);
  check_uses((file_use[]){{"MODEL", words[0], READS},
                          {"TOKENS", words[1], READS},
                          {"--config", config_path, READS},
                          {NULL, NULL, READS}});
  tpt_context *context = make_context(threads);
  tpt_model *model = load_described(context, words[0], config_path);
  tpt_trainer *trainer = words[1] ? run_forward(context, model, words[1]) : NULL;
  geometry g = geometry_open(model);
  if (trainer) geometry_of_stream(&g, trainer, seq, 1);
  show(&g, words[0], words[1]);
  geometry_close(&g);
  tpt_trainer_destroy(trainer);
  tpt_model_destroy(model);
  tpt_context_destroy(context);
  flush_output();
  return 0;
}
