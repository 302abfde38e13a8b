/* Runs the scenarios through 3pt.h and writes what came of each: README.md.
 *
 *   vectors SCENARIOS OUT [THREADS]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vectors/run.h"

static const struct {
  const char *name;
  scenario *go;
} SCENARIOS[] = {{"train", train},           {"decode", decode},     {"forward", forward},
                 {"checkpoint", checkpoint}, {"geometry", geometry}, {"tokenizer", tokenizer},
                 {"config", config},         {"evaluate", evaluate}, {"errors", errors}};

static char *path_of(const char *folder, const char *name, const char *ending) {
  size_t size = strlen(folder) + strlen(name) + strlen(ending) + 2;
  char *path = take(size, 1);
  snprintf(path, size, "%s/%s%s", folder, name, ending);
  return path;
}

static json_t *read_scenario(const char *folder, const char *name) {
  json_error_t error;
  char *path = path_of(folder, name, ".json");
  json_t *read = json_load_file(path, 0, &error);
  if (!read) die(error.text, path);
  if (strcmp(text_at(read, "scenario"), name) != 0) die("is another scenario", path);
  free(path);
  return read;
}

static void write_vector(const char *folder, const char *name, const json_t *whole) {
  char *path = path_of(folder, name, ".json");
  if (json_dump_file(whole, path, JSON_INDENT(1) | JSON_PRESERVE_ORDER)) die("cannot write", path);
  free(path);
}

/* In the inputs, or in the training that they have. */
static void set_threads(json_t *inputs, const char *threads) {
  json_t *training = json_object_get(inputs, "training");
  json_t *owner = training ? training : inputs;
  if (threads && json_object_get(owner, "threads"))
    put(owner, "threads", json_integer(strtol(threads, NULL, 10)));
}

int main(int argc, char **argv) {
  if (argc < 3 || argc > 4) {
    fputs("usage: vectors SCENARIOS OUT [THREADS]\n", stderr);
    return 2;
  }
  for (size_t i = 0; i < sizeof SCENARIOS / sizeof *SCENARIOS; i++) {
    const char *name = SCENARIOS[i].name;
    json_t *whole = read_scenario(argv[1], name), *results = json_object();
    char *scratch = path_of(argv[2], name, "_scratch");
    set_threads(json_object_get(whole, "inputs"), argv[3]);
    SCENARIOS[i].go(at(whole, "inputs"), results, scratch);
    put(whole, "results", results);
    write_vector(argv[2], name, whole);
    json_decref(whole);
    free(scratch);
  }
  return 0;
}
