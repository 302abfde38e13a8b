/* What a description amounts to: its settings, sizes and memory. */
#include "common.h"

static const char *config_path;
static int presets, quiet;

static const option OPTIONS[] = {
    {"--presets", FLAG, &presets, "list the presets"},
    {"--sizes", FLAG, &quiet, "leave out the settings"},
    {"--config", TEXT, &config_path, "the description of a model file that has none"},
    {NULL, FLAG, NULL, NULL}};

static const program PROGRAM = {
    "describe",
    "[options] DESCRIPTION [key=value ...]",
    "DESCRIPTION is a YAML file, a preset or a model file; key=value changes it. The settings are\n"
    "printed as YAML that can be kept and edited, the sizes as comments below it.",
    OPTIONS,
    0,
    MAX_WORDS};

static void show_settings(const tpt_config *config) {
  size_t length;
  check(tpt_config_format(config, NULL, 0, &length));
  char *yaml = malloc(length + 1);
  if (!yaml) die("there is no memory for %zu bytes", length);
  check(tpt_config_format(config, yaml, length + 1, &length));
  printf("%s\n", yaml);
  free(yaml);
}

static void show_sizes(const tpt_config *config) {
  size_t parameters, running, training;
  check(tpt_config_parameter_count(config, &parameters));
  check(tpt_config_memory(config, TPT_MEMORY_INFERENCE, &running));
  check(tpt_config_memory(config, TPT_MEMORY_TRAINING, &training));
  printf("# parameters          %zu\n", parameters);
  printf("# model file          %.1f MB\n", (double)parameters * 4 / 1e6);
  printf("# memory to run       %.1f MB (model and one decoder)\n", (double)running / 1e6);
  printf("# memory to train     %.1f MB (model, trainer, optimizer)\n", (double)training / 1e6);
  printf("# tokens a step       %llu\n",
         (unsigned long long)(count_setting(config, "train.batch") *
                              count_setting(config, "train.seq_len") *
                              count_setting(config, "train.grad_accum")));
}

static void show_presets(int words) {
  refuse_idle((const char *const[]){"--sizes", "--config", NULL}, "with --presets");
  if (words) wrong_call("--presets lists all presets: no DESCRIPTION goes with it");
  for (size_t i = 0; tpt_config_preset_name(i); i++) puts(tpt_config_preset_name(i));
}

/* With --config a model file, which must be what that describes. */
static tpt_config *open_description(const char *name) {
  if (!config_path) return read_description(name);
  tpt_config *given = read_description(config_path), *config = model_description(name, given);
  tpt_config_destroy(given);
  return config;
}

static void show_description(const char **words, int count) {
  if (count == 0) wrong_call("name a YAML file, a model file, or one of the presets (--presets)");
  check_uses((file_use[]){
      {"DESCRIPTION", words[0], READS}, {"--config", config_path, READS}, {NULL, NULL, READS}});
  tpt_config *config = open_description(words[0]);
  change_description(config, words + 1, count - 1);
  if (!quiet) show_settings(config);
  show_sizes(config);
  tpt_config_destroy(config);
}

int main(int argc, char **argv) {
  const char *words[MAX_WORDS] = {0};
  int count = read_call(&PROGRAM, argc, argv, words);
  if (presets)
    show_presets(count);
  else
    show_description(words, count);
  flush_output();
  return 0;
}
