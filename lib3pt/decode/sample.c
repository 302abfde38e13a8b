/* Sampling. Candidates come off a heap, largest logit first, so that a short list of a large
 * vocabulary costs V + k log V and no sort. */
#include "decode/sample.h"

#include <math.h>

#include "base/random.h"

void tpti_sampler_layout(tpti_sampler *sampler, size_t V, tpti_plan *plan) {
  *sampler = (tpti_sampler){.top_p = 1.0};
  sampler->order = tpti_place(plan, V, sizeof *sampler->order);
  sampler->weight = tpti_place(plan, V, sizeof *sampler->weight);
}

/* The largest logit's id, the lower of equals; V where one is NaN or the largest is not finite. */
static size_t largest(const float *logits, size_t V) {
  size_t best = 0;
  for (size_t v = 0; v < V; v++) {
    if (isnan(logits[v])) return V;
    if (logits[v] > logits[best]) best = v;
  }
  return isfinite(logits[best]) ? best : V;
}

/* Is candidate a drawn before b? */
static int before(const float *logits, uint32_t a, uint32_t b) {
  return logits[a] > logits[b] || (logits[a] == logits[b] && a < b);
}

static void sift_down(uint32_t *heap, size_t size, size_t at, const float *logits) {
  for (size_t child; (child = 2 * at + 1) < size; at = child) {
    if (child + 1 < size && before(logits, heap[child + 1], heap[child])) child++;
    if (!before(logits, heap[child], heap[at])) return;
    uint32_t swap = heap[at];
    heap[at] = heap[child];
    heap[child] = swap;
  }
}

/* Moves the first `most` candidates, or those whose weights reach `share`, to the end of `order`,
 * in order from its last entry down; their number. *sum is their weight. */
static size_t draw_candidates(tpti_sampler *s, const float *logits, size_t V, size_t most,
                              double share, double *sum) {
  for (size_t v = 0; v < V; v++) s->order[v] = (uint32_t)v;
  for (size_t at = V / 2; at-- > 0;) sift_down(s->order, V, at, logits);
  size_t taken = 0;
  *sum = 0.0;
  while (taken < most && (taken == 0 || *sum < share)) {
    size_t last = V - 1 - taken;
    uint32_t top = s->order[0];
    s->order[0] = s->order[last];
    s->order[last] = top;
    sift_down(s->order, last, 0, logits);
    *sum += s->weight[top];
    taken++;
  }
  return taken;
}

/* Of the candidates of draw_candidates, the smallest leading set whose weight reaches `share`. */
static size_t cut_candidates(const tpti_sampler *s, size_t V, size_t count, double share,
                             double *sum) {
  double reached = 0.0;
  size_t kept = 0;
  while (kept < count && (kept == 0 || reached < share))
    reached += s->weight[s->order[V - 1 - kept++]];
  *sum = reached;
  return kept;
}

static int32_t pick_from_all(tpti_sampler *s, size_t V, double total, size_t best) {
  double at = tpti_random_double(&s->random) * total, sum = 0.0;
  for (size_t v = 0; v < V; v++)
    if ((sum += s->weight[v]) > at) return (int32_t)v;
  return (int32_t)best; /* rounding left `at` at the very end */
}

static int32_t pick_from_candidates(tpti_sampler *s, size_t V, size_t count, double total) {
  double at = tpti_random_double(&s->random) * total, sum = 0.0;
  for (size_t i = 0; i < count; i++)
    if ((sum += s->weight[s->order[V - 1 - i]]) > at) return (int32_t)s->order[V - 1 - i];
  return (int32_t)s->order[V - 1];
}

tpt_status tpti_sample(tpti_sampler *s, const float *logits, size_t V, int32_t *token) {
  size_t best = largest(logits, V);
  if (best == V) return tpti_fail(TPT_E_NUMERIC, "the last logits are not finite");
  *token = (int32_t)best;
  if (s->temperature == 0.0) return TPT_OK;

  double total = 0.0;
  for (size_t v = 0; v < V; v++) {
    s->weight[v] = exp(((double)logits[v] - (double)logits[best]) / s->temperature);
    total += s->weight[v];
  }
  size_t most = s->top_k && s->top_k < V ? s->top_k : V;
  if (most == V && s->top_p >= 1.0) {
    *token = pick_from_all(s, V, total, best);
    return TPT_OK;
  }
  double share = most == V ? s->top_p * total : (double)INFINITY;
  size_t count = draw_candidates(s, logits, V, most, share, &total);
  if (most < V && s->top_p < 1.0) count = cut_candidates(s, V, count, s->top_p * total, &total);
  *token = pick_from_candidates(s, V, count, total);
  return TPT_OK;
}
