/* What reads foreign bytes, given any bytes: libFuzzer's entry. The first byte picks the reader. A
 * failure is no fault; a crash, a leak or a sanitizer's word is.
 *
 *   fuzz -runs=10000 -seed=1 CORPUS    (built by clang, -Dfuzz=true) */
#include <3pt/3pt.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PARAMETERS = 1 << 20 };

/* A description may ask for more memory than a test should take: only small models are made. */
static int is_small(const tpt_config *config) {
  size_t count;
  return tpt_config_parameter_count(config, &count) == TPT_OK && count <= MOST_PARAMETERS;
}

static void a_description(const char *text, size_t size) {
  tpt_config *config, *again;
  char yaml[1 << 14];
  size_t length;
  if (tpt_config_parse(text, size, &config)) return;
  if (tpt_config_format(config, yaml, sizeof yaml, &length) == TPT_OK && length < sizeof yaml) {
    if (tpt_config_parse(yaml, length, &again)) abort(); /* what it wrote, it reads */
    tpt_config_destroy(again);
  }
  tpt_config_destroy(config);
}

static void a_model(const char *data, size_t size) {
  tpt_model *model;
  float values[8];
  if (tpt_model_load_memory(NULL, data, size, NULL, &model)) return;
  if (is_small(tpt_model_config(model))) (void)tpt_model_get_tensor(model, "none", values, 8);
  tpt_model_destroy(model);
}

static void a_tokenizer(const char *json, size_t size) {
  static const char text[] = "Three phases, 3 x 120\xc2\xb0: \xe2\x88\x91 = 0.\n\t  end";
  tpt_tokenizer *tokenizer;
  int32_t ids[256];
  char back[1024];
  size_t count, length;
  if (tpt_tokenizer_parse(NULL, json, size, &tokenizer)) return;
  if (tpt_tokenizer_encode(tokenizer, text, sizeof text - 1, ids, 256, &count) == TPT_OK &&
      count <= 256)
    (void)tpt_tokenizer_decode(tokenizer, ids, count, back, sizeof back, &length);
  tpt_tokenizer_destroy(tokenizer);
}

/* The text of a tokenizer's own making, encoded: whatever the bytes are. */
static void a_text(const char *text, size_t size) {
  tpt_tokenizer *tokenizer;
  int32_t ids[512];
  size_t count;
  if (tpt_tokenizer_bpe(NULL, text, size, 300, &tokenizer)) return;
  if (tpt_tokenizer_encode(tokenizer, text, size, ids, 512, &count)) abort();
  tpt_tokenizer_destroy(tokenizer);
}

typedef void reader(const char *data, size_t size);
static reader *const readers[] = {a_description, a_model, a_tokenizer, a_text};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size > 0) readers[data[0] % 4]((const char *)data + 1, size - 1);
  return 0;
}
