#include "memory.h"

#include <math.h>

void memory_score(memory *m, score s) {
  m->scores = must_have(realloc(m->scores, (m->scored + 1) * sizeof *m->scores));
  m->scores[m->scored++] = s;
}

void memory_keep(memory *m, const char *line) {
  if (m->kept == LINES_KEPT) {
    free(m->lines[0]);
    memmove(m->lines, m->lines + 1, --m->kept * sizeof *m->lines);
  }
  m->lines[m->kept++] = must_have(strdup(line));
}

int memory_has(const memory *m, const char *line) {
  for (size_t i = 0; i < m->kept; i++)
    if (strcmp(m->lines[i], line) == 0) return 1;
  return 0;
}

void memory_free(memory *m) {
  while (m->kept) free(m->lines[--m->kept]);
  free(m->scores);
}

/* Knuth's linear congruential generator: its upper bits are good enough to pick a line. */
size_t memory_draw(memory *m, size_t most) {
  m->random_state = m->random_state * 6364136223846793005u + 1442695040888963407u;
  return (size_t)(m->random_state >> 33) % most;
}

/* ---- figures ---- */

double memory_perplexity(const memory *m, size_t begin, size_t end) {
  score sum = {0};
  for (size_t i = begin; i < end; i++) {
    sum.nats += m->scores[i].nats;
    sum.tokens += m->scores[i].tokens;
  }
  return sum.tokens ? exp(sum.nats / (double)sum.tokens) : 1;
}

void memory_status(const memory *m, char *text, size_t capacity) {
  size_t n = m->scored, ten = n < 10 ? n : 10;
  *text = 0;
  if (n == 0) return;
  snprintf(text, capacity, "line %zu: perplexity %.1f, last %zu: %.1f, first %zu: %.1f", n,
           memory_perplexity(m, n - 1, n), ten, memory_perplexity(m, n - ten, n), ten,
           memory_perplexity(m, 0, ten));
}

void memory_table(const memory *m, FILE *to) {
  size_t step = 1;
  while (m->scored > 10 * step) step = step < 10 ? 10 : step * 2;
  if (m->scored) fprintf(to, "%13s  perplexity before it was learned\n", "lines");
  for (size_t i = 0; i < m->scored; i += step) {
    char lines[64];
    size_t end = i + step < m->scored ? i + step : m->scored;
    snprintf(lines, sizeof lines, end > i + 1 ? "%zu-%zu" : "%zu", i + 1, end);
    fprintf(to, "%13s  %.1f\n", lines, memory_perplexity(m, i, end));
  }
}

/* ---- bytes ----
 *
 *   typeahead 1
 *   RANDOM SCORED KEPT            the counts of the two lists that follow
 *   NATS TOKENS                   a line each
 *   the kept lines
 *   tokenizer.json                up to the end */

static const char TITLE[] = "typeahead 1\n";

char *memory_pack(const memory *m, const char *tokenizer, size_t *size) {
  char *bytes = NULL;
  FILE *to = must_have(open_memstream(&bytes, size));
  fprintf(to, "%s%llu %zu %zu\n", TITLE, (unsigned long long)m->random_state, m->scored, m->kept);
  for (size_t i = 0; i < m->scored; i++)
    fprintf(to, "%.9g %llu\n", m->scores[i].nats, (unsigned long long)m->scores[i].tokens);
  for (size_t i = 0; i < m->kept; i++) fprintf(to, "%s\n", m->lines[i]);
  fputs(tokenizer, to);
  if (fclose(to)) leave("there is no memory left");
  return bytes;
}

static const char *next_line(const char *at) {
  const char *end = strchr(at, '\n');
  return end ? end + 1 : NULL;
}

static const char *unpack_scores(memory *m, const char *at, size_t count) {
  while (at && m->scored < count) {
    char *end;
    score s = {.nats = strtod(at, &end)};
    s.tokens = strtoull(end, &end, 10);
    if (*end != '\n' || !isfinite(s.nats)) return NULL;
    memory_score(m, s);
    at = end + 1;
  }
  return at;
}

static const char *unpack_lines(memory *m, const char *at, size_t count) {
  char line[LINE_MOST + 1];
  for (const char *end; at && m->kept < count; at = end) {
    if (!(end = next_line(at)) || (size_t)(end - at) > sizeof line) return NULL;
    memcpy(line, at, (size_t)(end - at));
    line[end - at - 1] = 0;
    memory_keep(m, line);
  }
  return at;
}

int memory_unpack(memory *m, const char *bytes, size_t size, const char **tokenizer) {
  if (strlen(bytes) != size || strncmp(bytes, TITLE, strlen(TITLE)) != 0) return 0;
  char *end;
  m->random_state = strtoull(bytes + strlen(TITLE), &end, 10);
  size_t scored = strtoull(end, &end, 10), kept = strtoull(end, &end, 10);
  if (*end != '\n' || kept > LINES_KEPT) return 0;
  *tokenizer = unpack_lines(m, unpack_scores(m, end + 1, scored), kept);
  return *tokenizer != NULL;
}
