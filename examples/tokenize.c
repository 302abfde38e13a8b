/* Text to tokens: makes a tokenizer from the text, or takes one that is there, and writes the ids.
 */
#include "common.h"

static const char *kind = "bpe", *existing, *save = "tokenizer.json", *out = "tokens";
static uint64_t vocab = 2048;

static const option OPTIONS[] = {
    {"--kind", TEXT, &kind, "bpe, words or bytes: the tokenizer to make (bpe)"},
    {"--vocab", COUNT, &vocab, "how many tokens bpe and words may use (2048)"},
    {"--save", TEXT, &save, "where the new tokenizer goes (tokenizer.json)"},
    {"--tokenizer", TEXT, &existing, "use this tokenizer.json and make none"},
    {"--out", TEXT, &out, "the token file, without its ending (tokens)"},
    {NULL, FLAG, NULL, NULL}};

static const program PROGRAM = {
    "tokenize",
    "[options] TEXT...",
    "Joins the texts (- is standard input), and writes their tokens as flat little-endian\n"
    "numbers: OUT.u16, or OUT.u32 where an id does not fit 16 bits.",
    OPTIONS,
    1,
    MAX_WORDS};

static tpt_tokenizer *make(const char *text, size_t length) {
  tpt_tokenizer *tokenizer;
  if (existing) {
    check(tpt_tokenizer_load(NULL, existing, &tokenizer));
    return tokenizer;
  }
  if (strcmp(kind, "bpe") == 0)
    check(tpt_tokenizer_bpe(NULL, text, length, vocab, &tokenizer));
  else if (strcmp(kind, "words") == 0)
    check(tpt_tokenizer_words(NULL, text, length, vocab, &tokenizer));
  else if (strcmp(kind, "bytes") == 0)
    check(tpt_tokenizer_bytes(NULL, &tokenizer));
  else
    wrong_call("--kind must be bpe, words or bytes, not '%s'", kind);
  check(tpt_tokenizer_save(tokenizer, save));
  return tokenizer;
}

static void write_ids(const char *path, const int32_t *ids, size_t count, size_t width) {
  FILE *file = fopen(path, "wb");
  if (!file) die("%s cannot be written: %s", path, strerror(errno));
  for (size_t i = 0; i < count; i++) {
    uint32_t id = (uint32_t)ids[i];
    for (size_t byte = 0; byte < width; byte++) putc((int)(id >> 8 * byte & 255), file);
  }
  if (ferror(file) | fclose(file)) die("%s could not be written whole: is the disk full?", path);
}

int main(int argc, char **argv) {
  const char *words[MAX_WORDS] = {0};
  int texts = read_call(&PROGRAM, argc, argv, words);
  char *text = NULL, path[4096];
  size_t length = 0, ids_count, vocab_size;
  for (int i = 0; i < texts; i++) read_text(words[i], &text, &length);
  tpt_tokenizer *tokenizer = make(text, length);
  check(tpt_tokenizer_vocab_size(tokenizer, &vocab_size));
  int32_t *ids = encode(tokenizer, text, length, &ids_count);
  size_t width = vocab_size > 65536 ? 4 : 2;
  if ((size_t)snprintf(path, sizeof path, "%s.u%d", out, width == 4 ? 32 : 16) >= sizeof path)
    die("--out is too long");
  write_ids(path, ids, ids_count, width);
  printf("%s: %zu tokens of %zu bytes, %.2f bytes a token\n", path, ids_count, length,
         ids_count ? (double)length / (double)ids_count : 0.0);
  printf("%s: %zu tokens to choose from (model.vocab_size)\n", existing ? existing : save,
         vocab_size);
  free(ids);
  free(text);
  tpt_tokenizer_destroy(tokenizer);
  flush_output();
  return 0;
}
