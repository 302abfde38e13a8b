/* A model's geometry: DC profile and angles from its weights, phases from a forward over tokens. */
#include "csv.h"
#include "inspect_text.h"
#include "json.h"

static const char *format = "text";
static uint64_t batch, seq, threads;
static int ascii;

static const option OPTIONS[] = {
    {"--format", TEXT, &format, "text, csv or json (text)"},
    {"--batch", COUNT, &batch, "sequences of TOKENS to measure on (train.batch)"},
    {"--seq", COUNT, &seq, "tokens of a sequence (train.seq_len)"},
    {"--ascii", FLAG, &ascii, "draw with letters and signs alone"},
    {"--threads", COUNT, &threads, "0: as many as there are processors (0)"},
    {NULL, FLAG, NULL, NULL}};

static const program PROGRAM = {
    "inspect",
    "[options] MODEL [TOKENS]",
    "Shows the DC profile and the rotation angles of a model. With TOKENS, a .u16 or .u32 file, "
    "it\n"
    "also measures the phases of the residual stream on sequences drawn from the file, always the\n"
    "same ones.",
    OPTIONS,
    1,
    2};

enum { SEED = 1 }; /* of the sequences: two models are measured on the same ones */

/* ---- measuring ---- */

static void set_count(tpt_config *config, const char *key, uint64_t value) {
  char text[32];
  if (!value) return;
  snprintf(text, sizeof text, "%llu", (unsigned long long)value);
  check(tpt_config_set(config, key, text));
}

/* A trainer keeps the stream at every point. Its matrix products are those of float32. */
static tpt_trainer *make_trainer(tpt_model *model) {
  tpt_config *config;
  tpt_trainer *trainer;
  check(tpt_config_copy(tpt_model_config(model), &config));
  set_count(config, "train.batch", batch);
  set_count(config, "train.seq_len", seq);
  check(tpt_config_set(config, "train.recompute", "none"));
  check(tpt_config_set(config, "train.precision", "f32"));
  check(tpt_config_check(config));
  batch = count_setting(config, "train.batch");
  seq = count_setting(config, "train.seq_len");
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
  puts("measure,point,layer,phase,index,value");
  for (int i = 0; i < MEASURES; i++) csv_measure(stdout, g, &measures[i]);
}

typedef void show_format(const geometry *g, const char *model, const char *tokens);

static show_format *find_format(void) {
  static const struct {
    const char *name;
    show_format *show;
  } FORMATS[] = {{"text", show_text}, {"csv", show_csv}, {"json", show_json}};
  for (size_t i = 0; i < sizeof FORMATS / sizeof *FORMATS; i++)
    if (strcmp(format, FORMATS[i].name) == 0) return FORMATS[i].show;
  wrong_call("--format must be text, csv or json, not '%s'", format);
}

int main(int argc, char **argv) {
  const char *words[2] = {0};
  read_call(&PROGRAM, argc, argv, words);
  show_format *show = find_format();
  if (!words[1] && (batch || seq))
    wrong_call("--batch and --seq are of TOKENS, which is not given");
  check_uses(
      (file_use[]){{"MODEL", words[0], READS}, {"TOKENS", words[1], READS}, {NULL, NULL, READS}});
  tpt_context *context = make_context(threads);
  tpt_model *model = load_model(context, words[0], NULL);
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
