/* Datasets: token ids in a file, read as needed, or in memory, and the windows that training and
 * evaluation take from them. Nothing changes after creation, so any number of threads may read. */
#include <stdio.h>
#include <string.h>

#include "api/objects.h"
#include "base/random.h"
#include "io/tokens.h"

/* Tokens copied between two looks at cancellation: about a millisecond. */
enum { PIECE = 1 << 20 };

struct tpt_dataset {
  tpti_handle head;
  tpt_context *context;
  size_t bytes;       /* of this block: the struct, then the path or the ids */
  tpti_tokens file;   /* of the ids where they are in a file */
  const int32_t *ids; /* NULL: in the file */
  size_t count;
};

/* A dataset with `bytes` after it; holds the context. */
static tpt_status make_dataset(tpt_context *context, size_t bytes, tpt_dataset **result) {
  size_t total;
  if (!tpti_add(&total, sizeof(tpt_dataset), bytes)) return tpti_fail_memory(SIZE_MAX);
  tpt_context *held;
  tpt_status status = tpti_context_hold(context, &held);
  if (status) return status;
  tpt_dataset *dataset = tpti_take(&held->memory, total);
  if (!dataset) {
    tpti_context_release(held);
    return tpti_fail_memory(total);
  }
  memset(dataset, 0, sizeof *dataset);
  tpti_handle_init(&dataset->head, TPTI_DATASET);
  dataset->context = held;
  dataset->bytes = total;
  dataset->file.file.descriptor = -1;
  *result = dataset;
  return TPT_OK;
}

void tpt_dataset_destroy(tpt_dataset *dataset) {
  if (!dataset || !tpti_handle_is(dataset, TPTI_DATASET, "dataset")) return;
  if (!tpti_handle_release(&dataset->head)) return;
  tpt_context *context = dataset->context;
  tpti_tokens_close(&dataset->file);
  tpti_give(&context->memory, dataset, dataset->bytes);
  tpti_context_release(context);
}

static tpt_status open_file(tpt_context *context, const char *path, tpt_dataset **dataset) {
  TPTI_NEED(path);
  size_t bytes = strlen(path) + 1;
  tpt_dataset *made = NULL;
  tpt_status status = make_dataset(context, bytes, &made);
  if (status) return status;
  status = tpti_tokens_open(memcpy(made + 1, path, bytes), &made->file);
  if (status) {
    tpt_dataset_destroy(made);
    return status;
  }
  made->count = made->file.count;
  *dataset = made;
  return TPT_OK;
}

static tpt_status check_ids(const int32_t *tokens, size_t begin, size_t end) {
  for (size_t i = begin; i < end; i++) {
    if (tokens[i] >= 0) continue;
    return tpti_fail(TPT_E_ARGUMENT, "tokens[%zu] is %ld; 0 to 2147483647 is allowed", i,
                     (long)tokens[i]);
  }
  return TPT_OK;
}

static tpt_status copy_ids(tpti_run *run, const int32_t *tokens, size_t count, int32_t *copy) {
  for (size_t at = 0; at < count;) {
    if (!tpti_run_tick(run)) return tpti_run_status(run);
    size_t end = count - at < PIECE ? count : at + PIECE;
    tpt_status status = check_ids(tokens, at, end);
    if (status) return status;
    memcpy(copy + at, tokens + at, (end - at) * sizeof *copy);
    at = end;
  }
  return TPT_OK;
}

static tpt_status copy_tokens(tpt_context *context, const int32_t *tokens, size_t count,
                              tpt_dataset **dataset) {
  if (count > 0) TPTI_NEED(tokens);
  size_t bytes;
  if (!tpti_mul(&bytes, count, sizeof *tokens)) return tpti_fail_memory(SIZE_MAX);
  tpt_dataset *made = NULL;
  tpt_status status = make_dataset(context, bytes, &made);
  if (status) return status;
  int32_t *copy = (int32_t *)(made + 1);
  tpti_run run = tpti_context_run(made->context, context, NULL, NULL);
  status = copy_ids(&run, tokens, count, copy);
  if (status) {
    tpt_dataset_destroy(made);
    return status;
  }
  made->ids = copy;
  made->count = count;
  *dataset = made;
  return TPT_OK;
}

/* ids[first, first + count), which the caller knows to be there. */
static tpt_status read_ids(const tpt_dataset *dataset, size_t first, size_t count, int32_t *ids) {
  if (!dataset->ids) return tpti_tokens_read(&dataset->file, first, count, ids);
  memcpy(ids, dataset->ids + first, count * sizeof *ids);
  return TPT_OK;
}

/* seq + 1 tokens from `first`: all but the last, and all but the first. */
static tpt_status read_window(const tpt_dataset *dataset, size_t first, size_t seq, int32_t *tokens,
                              int32_t *targets) {
  tpt_status status = read_ids(dataset, first, seq, tokens);
  if (status) return status;
  memcpy(targets, tokens + 1, (seq - 1) * sizeof *targets);
  return read_ids(dataset, first + seq, 1, targets + seq - 1);
}

const char *tpti_dataset_name(const tpt_dataset *dataset) {
  return dataset->file.path ? dataset->file.path : "the dataset in memory";
}

tpt_status tpti_dataset_short(const tpt_dataset *dataset, size_t seq) {
  char wanted[32] = "one more";
  if (seq < SIZE_MAX) snprintf(wanted, sizeof wanted, "%zu (seq + 1)", seq + 1);
  return tpti_fail(TPT_E_ARGUMENT, "the dataset has %zu token%s; a window of seq %zu needs %s: %s",
                   dataset->count, dataset->count == 1 ? "" : "s", seq, wanted,
                   tpti_dataset_name(dataset));
}

static tpt_status random_windows(const tpt_dataset *dataset, uint64_t *random_state,
                                 const size_t shape[2], int32_t *tokens, int32_t *targets) {
  TPTI_NEED(random_state);
  TPTI_NEED(tokens);
  TPTI_NEED(targets);
  size_t batch = shape[0], seq = shape[1], bytes;
  bool fits = tpti_mul(&bytes, batch, seq) && tpti_mul(&bytes, bytes, sizeof *tokens);
  if (batch == 0 || seq == 0 || !fits) {
    return tpti_fail(TPT_E_ARGUMENT,
                     "batch %zu x seq %zu; at least 1 x 1 is allowed, and at most "
                     "what memory can hold",
                     batch, seq);
  }
  if (dataset->count <= seq) return tpti_dataset_short(dataset, seq);
  uint64_t state = *random_state; /* the caller's moves only with success */
  for (size_t b = 0; b < batch; b++) {
    size_t first = (size_t)tpti_random_below(&state, dataset->count - seq);
    tpt_status status = read_window(dataset, first, seq, tokens + b * seq, targets + b * seq);
    if (status) return status;
  }
  *random_state = state;
  return TPT_OK;
}

static tpt_status count_windows(const tpt_dataset *dataset, size_t seq, size_t *count) {
  TPTI_NEED(count);
  if (seq == 0) return tpti_fail(TPT_E_ARGUMENT, "seq is 0; at least 1 is allowed");
  *count = dataset->count > 0 ? (dataset->count - 1) / seq : 0;
  return TPT_OK;
}

static tpt_status one_window(const tpt_dataset *dataset, size_t index, size_t seq, int32_t *tokens,
                             int32_t *targets) {
  TPTI_NEED(tokens);
  TPTI_NEED(targets);
  size_t windows = 0;
  tpt_status status = count_windows(dataset, seq, &windows);
  if (status) return status;
  if (windows == 0) return tpti_dataset_short(dataset, seq);
  if (index >= windows) {
    return tpti_fail(
        TPT_E_ARGUMENT, "index is %zu; the dataset has %zu window%s of %zu token%s: %s", index,
        windows, windows == 1 ? "" : "s", seq, seq == 1 ? "" : "s", tpti_dataset_name(dataset));
  }
  return read_window(dataset, index * seq, seq, tokens, targets);
}

static tpt_status token_count(const tpt_dataset *dataset, size_t *tokens) {
  TPTI_NEED(tokens);
  *tokens = dataset->count;
  return TPT_OK;
}

/* ---- the interface ---- */

tpt_status tpt_dataset_open(tpt_context *context, const char *path, tpt_dataset **dataset) {
  return TPTI_MAKE_IN(context, dataset, open_file(context, path, dataset));
}

tpt_status tpt_dataset_from_tokens(tpt_context *context, const int32_t *tokens, size_t count,
                                   tpt_dataset **dataset) {
  return TPTI_MAKE_IN(context, dataset, copy_tokens(context, tokens, count, dataset));
}

tpt_status tpt_dataset_count(const tpt_dataset *dataset, size_t *tokens) {
  return TPTI_CALL(dataset, TPTI_DATASET, token_count(dataset, tokens));
}

tpt_status tpt_dataset_random(const tpt_dataset *dataset, uint64_t *random_state, size_t batch,
                              size_t seq, int32_t *tokens, int32_t *targets) {
  const size_t shape[2] = {batch, seq};
  return TPTI_CALL(dataset, TPTI_DATASET,
                   random_windows(dataset, random_state, shape, tokens, targets));
}

tpt_status tpt_dataset_window_count(const tpt_dataset *dataset, size_t seq, size_t *count) {
  return TPTI_CALL(dataset, TPTI_DATASET, count_windows(dataset, seq, count));
}

tpt_status tpt_dataset_window(const tpt_dataset *dataset, size_t index, size_t seq, int32_t *tokens,
                              int32_t *targets) {
  return TPTI_CALL(dataset, TPTI_DATASET, one_window(dataset, index, seq, tokens, targets));
}
