/* Text to tokens: makes a tokenizer from the text, or takes one that is there, and writes the ids.
 */
#include "common.h"

static const char *kind = "bpe", *existing, *save = "tokenizer.json", *out = "tokens";
static uint64_t vocab = 2048;
static int force;

static const option OPTIONS[] = {
    {"--kind", TEXT, &kind, "bpe, words or bytes: the tokenizer to make (bpe)"},
    {"--vocab", COUNT, &vocab, "how many tokens bpe and words may use (2048)"},
    {"--save", TEXT, &save, "where the new tokenizer goes (tokenizer.json)"},
    {"--force", FLAG, &force, "replace a tokenizer that is there"},
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

enum { NARROW = 65536 }; /* so many tokens fit 16 bits */

/* Where tokens go, and where they are until they are whole: a link to a file is followed. */
typedef struct target {
  char path[PATH_MAX], part[PATH_MAX + 8];
} target;

static void name_target(target *t, int wide) {
  char found[PATH_MAX];
  if (snprintf(t->path, PATH_MAX, "%s.u%d", out, wide ? 32 : 16) >= PATH_MAX)
    die("--out is too long");
  snprintf(t->part, sizeof t->part, "%s.part", realpath(t->path, found) ? found : t->path);
}

/* A tokenizer is not replaced unasked: the models made with it need it. */
static void check_new(const char *part) {
  if (is_there(part))
    die("%s: is there already: where it is the rest of a run that was ended, remove it", part);
  if (!existing && !force && is_there(save))
    die("%s: is there already: --force replaces it, --save gives the new one another name, and "
        "--tokenizer uses the one that is there",
        save);
}

/* Before any work: nothing that is read is written, and all can be written.
 *   wide      whether ids may need 32 bits */
static void check_files(const char **texts, int count, int wide) {
  target to;
  name_target(&to, wide);
  file_use uses[MAX_WORDS + 5] = {{"--tokenizer", existing, READS},
                                  {"--save", existing ? NULL : save, REPLACES},
                                  {"--out", to.path, REPLACES},
                                  {"the unfinished tokens", to.part, REPLACES}};
  for (int i = 0; i < count; i++) uses[4 + i] = (file_use){"TEXT", texts[i], READS};
  check_uses(uses);
  check_new(to.part);
}

static tpt_status make(const char *text, size_t length, tpt_tokenizer **tokenizer) {
  if (strcmp(kind, "bpe") == 0) return tpt_tokenizer_bpe(NULL, text, length, vocab, tokenizer);
  if (strcmp(kind, "words") == 0) return tpt_tokenizer_words(NULL, text, length, vocab, tokenizer);
  return tpt_tokenizer_bytes(NULL, tokenizer);
}

static void check_kind(void) {
  if (strcmp(kind, "bpe") && strcmp(kind, "words") && strcmp(kind, "bytes"))
    wrong_call("--kind must be bpe, words or bytes, not '%s'", kind);
}

static void write_ids(const char *path, const int32_t *ids, size_t count, size_t width) {
  FILE *file = fopen(path, "wbx");
  if (!file) die("%s: cannot be written: %s", path, strerror(errno));
  for (size_t i = 0; i < count; i++) {
    uint32_t id = (uint32_t)ids[i];
    for (size_t byte = 0; byte < width; byte++) putc((int)(id >> 8 * byte & 255), file);
  }
  if (ferror(file) | fclose(file)) {
    remove(path);
    die("%s: could not be written whole: is the disk full?", path);
  }
}

/* The tokens are written under another name, then comes the tokenizer, then their name: either both
 * are there, or all is as before. */
static void keep(const tpt_tokenizer *tokenizer, const target *to, const int32_t *ids, size_t count,
                 size_t width) {
  char found[PATH_MAX];
  write_ids(to->part, ids, count, width);
  int replaced = !existing && is_there(save);
  tpt_status status = existing ? TPT_OK : tpt_tokenizer_save(tokenizer, save);
  if (status != TPT_OK) remove(to->part);
  check_file(save, status);
  if (rename(to->part, realpath(to->path, found) ? found : to->path))
    die("%s: cannot be written: %s", to->path, strerror(errno));
  if (replaced) printf("%s: replaced\n", save);
}

int main(int argc, char **argv) {
  const char *words[MAX_WORDS] = {0};
  int texts = read_call(&PROGRAM, argc, argv, words);
  char *text = NULL;
  target to;
  size_t length = 0, count, size = (size_t)vocab;
  check_kind();
  tpt_tokenizer *tokenizer = existing ? load_tokenizer(NULL, existing) : NULL;
  if (existing) check(tpt_tokenizer_vocab_size(tokenizer, &size));
  check_files(words, texts, size > NARROW);
  for (int i = 0; i < texts; i++) read_text(words[i], &text, &length);
  if (!existing) check_texts(words, texts, make(text, length, &tokenizer));
  check(tpt_tokenizer_vocab_size(tokenizer, &size));
  check_files(words, texts, size > NARROW); /* a new one can be smaller than was asked for */
  int32_t *ids;
  check_texts(words, texts, try_encode(tokenizer, text, length, &ids, &count));
  name_target(&to, size > NARROW);
  keep(tokenizer, &to, ids, count, size > NARROW ? 4 : 2);
  printf("%s: %zu tokens of %zu bytes, %.2f bytes a token\n", to.path, count, length,
         count ? (double)length / (double)count : 0.0);
  printf("%s: %zu tokens to choose from (model.vocab_size)\n", existing ? existing : save, size);
  free(ids);
  free(text);
  tpt_tokenizer_destroy(tokenizer);
  flush_output();
  return 0;
}
