/* How well a model predicts a text: loss, perplexity, and bits a byte. */
#include "common.h"

static const char *text_path, *tokenizer_path = "tokenizer.json", *tokens_path, *config_path;
static const char *weights = "f32";
static uint64_t seq, windows, threads;

static const option OPTIONS[] = {
    {"--text", TEXT, &text_path, "the text (- is standard input)"},
    {"--tokenizer", TEXT, &tokenizer_path, "what it was trained with (tokenizer.json)"},
    {"--tokens", TEXT, &tokens_path, "a token file instead; no bits a byte then"},
    {"--seq", COUNT, &seq, "tokens a window; 0: the model's longest (0)"},
    {"--windows", COUNT, &windows, "look at the first so many windows only; 0: all (0)"},
    {"--weights", TEXT, &weights, "how the weights are held: f32, bf16 or int8 (f32)"},
    {"--config", TEXT, &config_path, "the model's description, where its file has none"},
    {"--threads", THREADS, &threads, "0: as many as there are processors (0)"},
    {NULL, FLAG, NULL, NULL}};

static const program PROGRAM = {
    "evaluate",
    "[options] MODEL --text TEXT",
    "Cuts the text into windows that do not overlap and asks the model for every next token.\n"
    "Bits a byte = loss / ln 2 x tokens / bytes: comparable between tokenizers and with xz.",
    OPTIONS,
    1,
    1};

/* bytes: of the text, 0 where only tokens are known. */
static tpt_dataset *open_data(tpt_context *context, const tpt_model *model, size_t *bytes) {
  tpt_dataset *data;
  *bytes = 0;
  if (tokens_path)
    return open_tokens(context, tokens_path,
                       count_setting(tpt_model_config(model), "model.vocab_size"));
  char *text = NULL;
  size_t count;
  tpt_tokenizer *tokenizer = load_tokenizer_of(model, context, tokenizer_path);
  read_text(text_path, &text, bytes);
  int32_t *ids = encode(tokenizer, text_path, text, *bytes, &count);
  check(tpt_dataset_from_tokens(context, ids, count, &data));
  free(ids);
  free(text);
  tpt_tokenizer_destroy(tokenizer);
  return data;
}

static void check_call(void) {
  if (!text_path == !tokens_path)
    wrong_call("say what to look at: --text FILE or --tokens FILE, one of them");
  if (tokens_path)
    refuse_idle((const char *const[]){"--tokenizer", NULL}, "with --tokens: there is no text");
  check_weights(weights);
}

/* Weights of f32 are evaluated as they are, not folded: as in training, to the last bit. */
static tpt_model *open_model(tpt_context *context, const char *path) {
  tpt_model *model = load_described(context, path, config_path);
  uint64_t longest = count_setting(tpt_model_config(model), "model.max_seq_len");
  want_range("--seq", seq, 0, longest, " (model.max_seq_len)");
  if (!seq) seq = longest;
  return strcmp(weights, "f32") == 0 ? model : convert_model(model, weights);
}

int main(int argc, char **argv) {
  const char *words[MAX_WORDS] = {0};
  read_call(&PROGRAM, argc, argv, words);
  check_call();
  check_uses((file_use[]){{"MODEL", words[0], READS},
                          {"--text", text_path, READS},
                          {"--tokens", tokens_path, READS},
                          {"--tokenizer", text_path ? tokenizer_path : NULL, READS},
                          {"--config", config_path, READS},
                          {NULL, NULL, READS}});
  tpt_context *context = make_context(threads);
  tpt_model *model = open_model(context, words[0]);
  size_t bytes, count;
  tpt_dataset *data = open_data(context, model, &bytes);
  tpt_evaluation e;
  e.size = sizeof e;
  check_file_as(tokens_path ? tokens_path : text_path,
                tokens_path ? tokens_path : "the dataset in memory",
                tpt_evaluate(model, NULL, data, seq, windows, &e));
  check(tpt_dataset_count(data, &count));
  printf("tokens          %llu of %zu\nloss            %.4f nats a token\nperplexity      %.2f\n",
         (unsigned long long)e.tokens, count, e.loss, e.perplexity);
  if (bytes) printf("bits a byte     %.3f\n", e.loss / log(2.0) * (double)count / (double)bytes);
  tpt_model_destroy(model);
  tpt_dataset_destroy(data);
  tpt_context_destroy(context);
  flush_output();
  return 0;
}
