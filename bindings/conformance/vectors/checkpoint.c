/* A run that is stopped, stored, loaded into fresh objects and goes on with the same bits. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "run.h"

enum { USER_ROOM = 32 }; /* a random state has at most 20 digits */

static json_t *losses_of(run *r, size_t steps) {
  double *losses = take(steps, sizeof *losses);
  run_steps(r, steps, losses, NULL);
  json_t *made = of_f64(losses, steps);
  free(losses);
  return made;
}

static void put_unbroken(const json_t *training, json_t *results) {
  run r = run_start(training, u64_at(training, "seed"));
  put(results, "losses", losses_of(&r, r.steps));
  put(results, "parameters", parameters_of(r.model));
  run_end(&r);
}

static void store(const json_t *training, size_t steps, const char *path) {
  run r = run_start(training, u64_at(training, "seed"));
  char user[USER_ROOM];
  run_steps(&r, steps, NULL, NULL);
  int size = snprintf(user, sizeof user, "%" PRIu64, r.random_state);
  check(tpt_checkpoint_save(r.trainer, r.optimizer, path, user, (size_t)size));
  run_end(&r);
}

static void load(run *r, const char *path, json_t *results) {
  char user[USER_ROOM] = "";
  size_t size;
  uint64_t step_count;
  double lr;
  check(tpt_checkpoint_load(r->trainer, r->optimizer, path, user, sizeof user - 1, &size));
  check(tpt_optimizer_step_count(r->optimizer, &step_count));
  check(tpt_optimizer_lr(r->optimizer, &lr));
  put(results, "user", of_text(user, size));
  put(results, "step_count", of_u64(step_count));
  put(results, "lr", of_double(lr));
  r->random_state = strtoull(user, NULL, 10);
}

void checkpoint(const json_t *inputs, json_t *results, const char *scratch) {
  const json_t *training = at(inputs, "training");
  size_t steps = size_at(inputs, "at");
  char *path = scratch_file(scratch, ".safetensors");
  put_unbroken(training, results);
  store(training, steps, path);
  bytes file = read_file(path);
  put(results, "file", of_file(file.values, file.size));
  free(file.values);
  run r = run_start(training, u64_at(inputs, "fresh_seed"));
  load(&r, path, results);
  put(results, "resumed_losses", losses_of(&r, r.steps - steps));
  put(results, "resumed_parameters", parameters_of(r.model));
  run_end(&r);
  drop_file(path);
}
