/* What a description amounts to: its settings, sizes and memory. */
#include "common.h"

static int presets, quiet;

static const option OPTIONS[] = {{"--presets", FLAG, &presets, "list the presets"},
                                 {"--sizes", FLAG, &quiet, "leave out the settings"},
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

int main(int argc, char **argv) {
  const char *words[MAX_WORDS] = {0};
  int count = read_call(&PROGRAM, argc, argv, words);
  if (presets) {
    for (size_t i = 0; tpt_config_preset_name(i); i++) puts(tpt_config_preset_name(i));
    flush_output();
    return 0;
  }
  if (count == 0) wrong_call("name a YAML file, a model file, or one of the presets (--presets)");
  check_uses((file_use[]){{"DESCRIPTION", words[0], READS}, {NULL, NULL, READS}});
  tpt_config *config = read_description(words[0]);
  change_description(config, words + 1, count - 1);
  if (!quiet) show_settings(config);
  show_sizes(config);
  tpt_config_destroy(config);
  flush_output();
  return 0;
}
