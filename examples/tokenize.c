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
    {"--tokenizer", TEXT, &existing, "use this tokenizer.json, in place of the four above"},
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
static void check_files(const texts *t, int wide) {
  target to;
  name_target(&to, wide);
  file_use uses[MAX_WORDS + 5] = {{"--tokenizer", existing, READS},
                                  {"--save", existing ? NULL : save, REPLACES},
                                  {"--out", to.path, REPLACES},
                                  {"the unfinished tokens", to.part, REPLACES}};
  for (int i = 0; i < t->count; i++) uses[4 + i] = (file_use){"TEXT", t->paths[i], READS};
  check_uses(uses);
  check_new(to.part);
}

/* ---- the tokenizer ---- */

enum { BYTE_VALUES = 256 };

static tpt_status make_bytes(tpt_context *context, const char *text, size_t length, size_t size,
                             tpt_tokenizer **tokenizer) {
  (void)text, (void)length, (void)size;
  return tpt_tokenizer_bytes(context, tokenizer);
}

static tpt_status (*make)(tpt_context *, const char *, size_t, size_t, tpt_tokenizer **);

/* Sets `make`. */
static void check_call(void) {
  enum { BPE, WORDS, BYTES };
  size_t which = want_choice("--kind", kind, (const char *const[]){"bpe", "words", "bytes", NULL});
  if (existing)
    refuse_idle((const char *const[]){"--kind", "--vocab", "--save", "--force", NULL},
                "with --tokenizer: no tokenizer is made");
  if (which == BPE) want_range("--vocab", vocab, BYTE_VALUES, INT32_MAX, " for bpe");
  if (which == WORDS) want_range("--vocab", vocab, 1, INT32_MAX, "");
  if (which == BYTES)
    refuse_idle((const char *const[]){"--vocab", NULL}, "with --kind bytes: one token each");
  make = which == BPE ? tpt_tokenizer_bpe : which == WORDS ? tpt_tokenizer_words : make_bytes;
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
  if (replaced) tell("%s: replaced", save);
}

int main(int argc, char **argv) {
  texts t = {0};
  t.count = read_call(&PROGRAM, argc, argv, t.paths);
  check_call();
  target to;
  size_t count, size = make == make_bytes ? BYTE_VALUES : (size_t)vocab;
  tpt_tokenizer *tokenizer = existing ? load_tokenizer(NULL, existing) : NULL;
  if (existing) check(tpt_tokenizer_vocab_size(tokenizer, &size));
  check_files(&t, size > NARROW);
  read_texts(&t);
  refuse_empty(&t, t.length, "the text is empty");
  if (!existing) check_texts(&t, make(NULL, t.text, t.length, size, &tokenizer));
  check(tpt_tokenizer_vocab_size(tokenizer, &size));
  check_files(&t, size > NARROW); /* a new one can be smaller than was asked for */
  int32_t *ids;
  check_texts(&t, try_encode(tokenizer, t.text, t.length, &ids, &count));
  refuse_empty(&t, count, "the tokenizer makes no token of it");
  name_target(&to, size > NARROW);
  keep(tokenizer, &to, ids, count, size > NARROW ? 4 : 2);
  tell("%s: %zu tokens of %zu bytes, %.2f bytes a token", to.path, count, t.length,
       (double)t.length / (double)count);
  tell("%s: %zu tokens to choose from (model.vocab_size)", existing ? existing : save, size);
  free(ids);
  free(t.text);
  tpt_tokenizer_destroy(tokenizer);
  flush_output();
  return 0;
}
