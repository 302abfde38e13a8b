/* Continues a text, and prints it as it is made. */
#include "common.h"

static const char *tokenizer_path = "tokenizer.json", *weights = "f32", *config_path;
static uint64_t threads, seed = 1, top_k = 0, tokens = 200;
static double temperature = 0.8, top_p = 0.95;

static const option OPTIONS[] = {
    {"--tokenizer", TEXT, &tokenizer_path, "what the model was trained with (tokenizer.json)"},
    {"--tokens", INT_COUNT, &tokens, "how many to add (200)"},
    {"--temperature", NUMBER, &temperature,
     "0: always the likeliest; 1: as the model has it (0.8)"},
    {"--top-k", INT_COUNT, &top_k, "choose among so many likeliest; 0: all (0)"},
    {"--top-p", SHARE, &top_p, "choose among the likeliest of this share; 1: all (0.95)"},
    {"--seed", COUNT, &seed, "another number, another text (1)"},
    {"--weights", TEXT, &weights, "how the weights are held: f32, bf16 or int8 (f32)"},
    {"--config", TEXT, &config_path, "the model's description, where its file has none"},
    {"--threads", THREADS, &threads, "0: as many as there are processors (0)"},
    {NULL, FLAG, NULL, NULL}};

static const program PROGRAM = {
    "generate",
    "[options] MODEL [PROMPT]",
    "Prints the prompt (standard input where there is none) and what the model adds to it.\n"
    "A text longer than the model's view is continued from the last half of the view.",
    OPTIONS,
    1,
    2};

/* The text so far as ids; what is printed already ends at `shown`. */
typedef struct story {
  int32_t *ids;
  size_t count, shown;
} story;

static void show(const tpt_tokenizer *tokenizer, story *s) {
  static char *text; /* grows: a token may be any length */
  static size_t room;
  size_t length, vocab;
  check(tpt_tokenizer_vocab_size(tokenizer, &vocab));
  if ((size_t)s->ids[s->count - 1] >= vocab)
    die("%s: the model wrote token %d, and this tokenizer has %zu: was it trained with another "
        "one?",
        tokenizer_path, (int)s->ids[s->count - 1], vocab);
  check(tpt_tokenizer_decode_tail(tokenizer, s->ids, s->count, s->shown, text, room, &length));
  if (length >= room) {
    free(text);
    room = length + 1;
    text = make_text(length);
    check(tpt_tokenizer_decode_tail(tokenizer, s->ids, s->count, s->shown, text, room, &length));
  }
  fwrite(text, 1, length, stdout);
  flush_output();
  s->shown = s->count;
}

/* Feeds what was added last; when the decoder is full, starts it again on the last half of it. */
static void feed(tpt_decoder *decoder, const story *s, size_t added, size_t room) {
  size_t position;
  check(tpt_decoder_position(decoder, &position));
  if (position + added > room) {
    check(tpt_decoder_rewind(decoder, 0));
    added = room / 2 > 0 ? room / 2 : 1;
    if (added > s->count) added = s->count;
  }
  check(tpt_decoder_feed(decoder, s->ids + s->count - added, added, NULL));
}

static story start(const tpt_tokenizer *tokenizer, const char *prompt) {
  char *text = NULL;
  size_t length = 0;
  story s = {0};
  if (prompt)
    s.ids = encode(tokenizer, "the prompt", prompt, strlen(prompt), &s.count);
  else
    read_text("-", &text, &length), s.ids = encode(tokenizer, "-", text, length, &s.count);
  if (s.count == 0) die("the prompt is empty: give a few words to start from");
  if (prompt)
    fputs(prompt, stdout);
  else
    fwrite(text, 1, length, stdout);
  s.shown = s.count;
  s.ids = realloc(s.ids, (s.count + tokens) * sizeof *s.ids);
  if (!s.ids) die("there is no memory for %llu tokens", (unsigned long long)tokens);
  free(text);
  return s;
}

int main(int argc, char **argv) {
  const char *words[MAX_WORDS] = {0};
  int given = read_call(&PROGRAM, argc, argv, words);
  check_weights(weights);
  check_uses((file_use[]){{"MODEL", words[0], READS},
                          {"--tokenizer", tokenizer_path, READS},
                          {"--config", config_path, READS},
                          {"the prompt", given > 1 ? NULL : "-", READS},
                          {NULL, NULL, READS}});
  tpt_context *context = make_context(threads);
  tpt_model *model = load_described(context, words[0], config_path);
  tpt_tokenizer *tokenizer = load_tokenizer_of(model, context, tokenizer_path);
  tpt_decoder *decoder;
  model = convert_model(model, weights); /* in f32 too: the same logits, less work */
  check(tpt_decoder_create(model, 0, &decoder));
  check(tpt_decoder_set_sampling(decoder, temperature, (int32_t)top_k, top_p, seed));
  size_t room = count_setting(tpt_model_config(model), "model.max_seq_len");
  story s = start(tokenizer, given > 1 ? words[1] : NULL);
  feed(decoder, &s, s.count, room);
  for (uint64_t i = 0; i < tokens; i++) {
    check(tpt_decoder_sample(decoder, &s.ids[s.count++]));
    show(tokenizer, &s);
    if (i + 1 < tokens) feed(decoder, &s, 1, room);
  }
  putchar('\n');
  free(s.ids);
  tpt_decoder_destroy(decoder);
  tpt_tokenizer_destroy(tokenizer);
  tpt_model_destroy(model);
  tpt_context_destroy(context);
  flush_output();
  return 0;
}
