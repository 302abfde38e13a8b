/* Models in memory that others wrote or changed: cut, spoiled, with more tensors or fewer, with
 * another description. What is refused is named. */
#include "api/session.h"
#include "support/allocator.h"

static tpt_context *reader; /* of one thread: many loads in a row start none */

static void make_reader(void) {
  ok(tpt_context_create(&reader));
  ok(tpt_context_set_threads(reader, 1));
}

static void free_reader(void) { tpt_context_destroy(reader); }

/* ---- images, changed ---- */

typedef struct image {
  unsigned char *data;
  size_t length;
} image;

static image image_from(const tpt_model *model) {
  image i;
  i.data = image_of(model, &i.length);
  return i;
}

static size_t header_of(const image *i) {
  size_t size = 0;
  for (int b = 7; b >= 0; b--) size = size << 8 | i->data[b];
  return size;
}

/* `old` becomes `new` in the header, which may change its length; the data stay. */
static image replaced(const image *from, const char *old, const char *new) {
  size_t header = header_of(from), rest = from->length - 8 - header;
  unsigned char *at = memmem(from->data + 8, header, old, strlen(old));
  ck_assert_msg(at != NULL, "%s is not in the header", old);
  size_t before = (size_t)(at - from->data), after = 8 + header - before - strlen(old);
  size_t size = header + strlen(new) - strlen(old);
  image to = {malloc(8 + size + rest), 8 + size + rest};
  ck_assert_ptr_nonnull(to.data);
  for (int b = 0; b < 8; b++) to.data[b] = (unsigned char)(size >> 8 * b);
  memcpy(to.data + 8, from->data + 8, before - 8);
  memcpy(to.data + before, new, strlen(new));
  memcpy(to.data + before + strlen(new), at + strlen(old), after + rest);
  return to;
}

/* One more tensor of `bytes` bytes after the last. */
static image extended(const image *from, const char *name, const char *dtype, const char *shape,
                      size_t bytes) {
  char entry[400];
  size_t end_of = from->length - 8 - header_of(from);
  snprintf(entry, sizeof entry,
           "{\"%s\":{\"dtype\":\"%s\",\"shape\":%s,\"data_offsets\":[%zu,%zu]},", name, dtype,
           shape, end_of, end_of + bytes);
  image to = replaced(from, "{", entry);
  to.data = realloc(to.data, to.length + bytes);
  ck_assert_ptr_nonnull(to.data);
  memset(to.data + to.length, 1, bytes);
  to.length += bytes;
  return to;
}

static tpt_status load(const image *i, const tpt_config *config, tpt_model **model) {
  *model = (tpt_model *)i->data;
  return tpt_model_load_memory(reader, i->data, i->length, config, model);
}

static void refuse(const image *i, const tpt_config *config, tpt_status want, const char *word) {
  tpt_model *model;
  refused(NULL, load(i, config, &model), want, word);
  ck_assert_ptr_null(model);
}

static void accept_same(const image *i, const tpt_model *want) {
  tpt_model *model;
  ok(load(i, NULL, &model));
  ck_assert(same_model_bytes(model, want));
  tpt_model_destroy(model);
}

START_TEST(every_truncation) {
  session s = start("model.n_layers=1; model.vocab_size=2; model.d_model=6; model.n_q_heads=3;"
                    "model.n_kv_heads=3; model.d_ff=1; model.max_seq_len=2");
  image whole = image_from(s.model), cut = whole;
  for (cut.length = 0; cut.length < whole.length; cut.length++)
    refuse(&cut, NULL, TPT_E_FORMAT, "");
  accept_same(&whole, s.model);
  free(whole.data);
  end(&s);
}
END_TEST

/* Bytes of the header, each time another one: refused, or read as something that is whole. */
START_TEST(every_header_byte) {
  session s = start("model.n_layers=1; model.vocab_size=2; model.d_model=6; model.n_q_heads=3;"
                    "model.n_kv_heads=3; model.d_ff=1; model.max_seq_len=2");
  image i = image_from(s.model);
  for (size_t at = 0; at < 8 + header_of(&i); at += at < 40 ? 1 : 3) {
    tpt_model *model;
    unsigned char right = i.data[at];
    i.data[at] = (unsigned char)(right ^ (1u << at % 7));
    tpt_status status = load(&i, NULL, &model);
    ck_assert(status == TPT_OK ? model != NULL : model == NULL);
    ck_assert(status == TPT_OK || status == TPT_E_FORMAT || status == TPT_E_CONFIG ||
              status == TPT_E_MEMORY);
    tpt_model_destroy(model);
    i.data[at] = right;
  }
  free(i.data);
  end(&s);
}
END_TEST

START_TEST(buffers_are_ignored) {
  static const char *const names[][4] = {
      {"mask", "BOOL", "[2,3]", "6"},
      {"embedding.horn_profile", "F64", "[2]", "16"},
      {"blocks.0.attn.rotary.inv_freq", "F32", "[1]", "4"},
      {"blocks.1.attn.rotary.cos_cached", "BF16", "[1,1,2]", "4"},
      {"blocks.1.attn.rotary.sin_cached", "I64", "[1]", "8"}};
  session s = start("");
  image whole = image_from(s.model), more = whole;
  for (size_t i = 0; i < 5; i++) {
    image next = extended(&more, names[i][0], names[i][1], names[i][2], (size_t)atoi(names[i][3]));
    if (i) free(more.data);
    more = next;
    accept_same(&more, s.model);
  }
  free(more.data);
  free(whole.data);
  end(&s);
}
END_TEST

START_TEST(unknown_tensors) {
  static const char *const names[] = {"head.bias",     "blocks.2.attn.rotary.inv_freq",
                                      "blocks.0.mask", "embedding.dc_profile",
                                      "3pt.adamw.m",   "blocks.00.pr.theta"};
  session s = start("");
  image whole = image_from(s.model);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    image more = extended(&whole, names[i], "F32", "[2]", 8);
    refuse(&more, NULL, TPT_E_FORMAT, names[i]);
    free(more.data);
  }
  free(whole.data);
  end(&s);
}
END_TEST

START_TEST(missing_tensors_and_wrong_shapes) {
  session s = start("");
  image whole = image_from(s.model);
  image renamed = replaced(&whole, "\"blocks.1.ff.up.weight\"", "\"mask\"");
  refuse(&renamed, NULL, TPT_E_FORMAT, "blocks.1.ff.up.weight");
  free(renamed.data);
  image turned = replaced(&whole, "\"shape\":[20,24]", "\"shape\":[24,20]");
  refuse(&turned, NULL, TPT_E_FORMAT, "24, 20");
  refuse(&turned, NULL, TPT_E_FORMAT, "20, 24");
  free(turned.data);
  image flat = replaced(&whole, "\"shape\":[20,24]", "\"shape\":[480]");
  refuse(&flat, NULL, TPT_E_FORMAT, "480");
  free(flat.data);
  image integers = replaced(&whole, "\"dtype\":\"F32\"", "\"dtype\":\"I32\"");
  refuse(&integers, NULL, TPT_E_FORMAT, "I32");
  free(integers.data);
  free(whole.data);
  end(&s);
}
END_TEST

START_TEST(a_file_without_a_description) {
  session s = start("");
  image whole = image_from(s.model), bare = replaced(&whole, "3pt.config", "3pt.confix");
  tpt_model *model;
  refuse(&bare, NULL, TPT_E_CONFIG, "config");
  ok(load(&bare, s.config, &model));
  ck_assert(same_model_bytes(model, s.model));
  tpt_model_destroy(model);
  free(bare.data);
  free(whole.data);
  end(&s);
}
END_TEST

START_TEST(two_descriptions) {
  session s = start("train.lr=0.5");
  static const char *const others[][2] = {{"model.d_ff=28", "model.d_ff"},
                                          {"model.rope.base=500", "model.rope.base"},
                                          {"model.dc.profile=ramp", "model.dc.profile"},
                                          {"model.rotation.mode=residual", "model.rotation.mode"},
                                          {"model.max_seq_len=8", "model.max_seq_len"}};
  image whole = image_from(s.model);
  for (size_t i = 0; i < 5; i++) {
    tpt_config *other = describe(others[i][0]);
    refuse(&whole, other, TPT_E_CONFIG, others[i][1]);
    refuse(&whole, other, TPT_E_CONFIG, " the file: the data in memory");
    tpt_config_destroy(other);
  }
  tpt_config *recipe = describe("train.lr=0.25; train.batch=9");
  tpt_model *model;
  char text[20];
  size_t length;
  ok(load(&whole, recipe, &model)); /* its training part wins */
  ok(tpt_config_get(tpt_model_config(model), "train.lr", text, sizeof text, &length));
  ck_assert_str_eq(text, "0.25");
  tpt_model_destroy(model);
  ok(tpt_config_set(recipe, "model.d_model", "25"));
  refuse(&whole, recipe, TPT_E_CONFIG, "d_model");
  tpt_config_destroy(recipe);
  free(whole.data);
  end(&s);
}
END_TEST

/* What only the description asks for is not taken before the tensors are seen to be there. */
START_TEST(descriptions_of_more_than_is_there) {
  static const char *const rows[][3] = {
      {"d_ff: 20", "d_ff: 4194304", "the description wants [4194304, 24]"},
      {"n_layers: 2", "n_layers: 3", "blocks.2.attn.q.weight"},
      {"n_layers: 2", "n_layers: 4096", "the described model has "},
      {"vocab_size: 23", "vocab_size: 1000000", "embedding.token_emb.weight has shape [23, 24]"}};
  session s = start("");
  image whole = image_from(s.model);
  static tpti_test_allocator a; /* the reader outlives this function */
  tpti_test_allocator_init(&a);
  ok(tpt_context_set_allocator(reader, &a.allocator));
  size_t held = atomic_load(&a.blocks);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    image more = replaced(&whole, rows[i][0], rows[i][1]);
    refuse(&more, NULL, TPT_E_FORMAT, rows[i][2]);
    free(more.data);
  }
  ck_assert_uint_lt(atomic_load(&a.peak), 1 << 18);
  ck_assert_uint_eq(atomic_load(&a.blocks), held);
  free(whole.data);
  end(&s);
}
END_TEST

/* Tensors are compared, and tables made, only as long as the call is wanted. */
START_TEST(cancelled_loads) {
  session s = start("");
  image whole = image_from(s.model);
  ok(tpt_context_cancel(reader, 1));
  refuse(&whole, NULL, TPT_E_CANCELLED, "cancel");
  image renamed = replaced(&whole, "\"head.weight\"", "\"head.bias\"");
  refuse(&renamed, NULL, TPT_E_CANCELLED, "cancel");
  ok(tpt_context_cancel(reader, 0));
  refuse(&renamed, NULL, TPT_E_FORMAT, "head.bias");
  accept_same(&whole, s.model);
  free(renamed.data);
  free(whole.data);
  end(&s);
}
END_TEST

static Suite *suite(void) {
  Suite *suite = suite_create("api/model_foreign");
  TCase *tests = tcase_create("foreign");
  tcase_add_checked_fixture(tests, make_reader, free_reader);
  tcase_add_test(tests, every_truncation);
  tcase_add_test(tests, every_header_byte);
  tcase_add_test(tests, buffers_are_ignored);
  tcase_add_test(tests, unknown_tensors);
  tcase_add_test(tests, missing_tensors_and_wrong_shapes);
  tcase_add_test(tests, a_file_without_a_description);
  tcase_add_test(tests, two_descriptions);
  tcase_add_test(tests, descriptions_of_more_than_is_there);
  tcase_add_test(tests, cancelled_loads);
  suite_add_tcase(suite, tests);
  return suite;
}

int main(void) { return tpti_test_main(suite()); }
