/* Models in files and in memory: whole or not at all, what is read, what is refused and how it is
 * named. */
#include "api/session.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- files ---- */

static char folder[64], path[96];

static void make_folder(void) {
  strcpy(folder, "/tmp/3pt-test-XXXXXX");
  ck_assert_ptr_nonnull(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/model.safetensors", folder);
}

static void remove_folder(void) {
  char name[400];
  DIR *open = opendir(folder);
  for (struct dirent *entry; open && (entry = readdir(open));) {
    snprintf(name, sizeof name, "%s/%s", folder, entry->d_name);
    remove(name);
  }
  closedir(open);
  rmdir(folder);
}

static size_t files(void) {
  size_t count = 0;
  DIR *open = opendir(folder);
  while (open && readdir(open)) count++;
  closedir(open);
  return count - 2; /* "." and ".." */
}

static unsigned char *read_file(size_t *length) {
  FILE *file = fopen(path, "rb");
  ck_assert_ptr_nonnull(file);
  fseek(file, 0, SEEK_END);
  *length = (size_t)ftell(file);
  rewind(file);
  unsigned char *data = malloc(*length + 1);
  ck_assert_ptr_nonnull(data);
  ck_assert_uint_eq(fread(data, 1, *length, file), *length);
  fclose(file);
  return data;
}

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
  return tpt_model_load_memory(NULL, i->data, i->length, config, model);
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

/* ---- there and back ---- */

START_TEST(there_and_back) {
  session s = start("model.dc.profile=learned; train.lr=0.125; model.rotation.schedule=[1, 0.1]");
  train_step(&s, 1), train_step(&s, 2);
  image memory = image_from(s.model);
  size_t length;
  tpt_model *loaded;
  ok(tpt_model_save(s.model, path));
  unsigned char *file = read_file(&length);
  ck_assert(length == memory.length && memcmp(file, memory.data, length) == 0);
  ok(tpt_model_load(s.context, path, NULL, &loaded));
  ck_assert(same_model_bytes(loaded, s.model));
  char text[20];
  ok(tpt_config_get(tpt_model_config(loaded), "train.lr", text, sizeof text, &length));
  ck_assert_str_eq(text, "0.125");
  accept_same(&memory, s.model);
  ck_assert_uint_eq(files(), 1);
  tpt_model_destroy(loaded);
  free(file);
  free(memory.data);
  end(&s);
}
END_TEST

START_TEST(short_buffers) {
  session s = start("");
  image whole = image_from(s.model);
  unsigned char *part = malloc(whole.length + 8);
  ck_assert_ptr_nonnull(part);
  for (size_t capacity = 0; capacity <= whole.length + 8; capacity += 1 + whole.length / 23) {
    size_t length = 77, kept = capacity < whole.length ? capacity : whole.length;
    memset(part, 0xee, whole.length + 8);
    ok(tpt_model_save_memory(s.model, part, capacity, &length));
    ck_assert_uint_eq(length, whole.length);
    ck_assert(memcmp(part, whole.data, kept) == 0);
    for (size_t i = kept; i < whole.length + 8; i++) ck_assert(part[i] == 0xee);
  }
  refused(s.model, tpt_model_save_memory(s.model, NULL, 1, &whole.length), TPT_E_ARGUMENT, "data");
  refused(s.model, tpt_model_save_memory(s.model, part, 1, NULL), TPT_E_ARGUMENT, "length");
  free(part);
  free(whole.data);
  end(&s);
}
END_TEST

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

/* Each byte of the header another one: refused, or read as something that is whole. */
START_TEST(every_header_byte) {
  session s = start("model.n_layers=1; model.vocab_size=2; model.d_model=6; model.n_q_heads=3;"
                    "model.n_kv_heads=3; model.d_ff=1; model.max_seq_len=2");
  image i = image_from(s.model);
  for (size_t at = 0; at < 8 + header_of(&i); at++) {
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

/* ---- a state_dict of the published code ---- */

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

/* ---- descriptions ---- */

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

/* ---- places ---- */

START_TEST(a_failed_save_leaves_the_old_file) {
  session s = start("");
  size_t length, again;
  ok(tpt_model_save(s.model, path));
  unsigned char *old = read_file(&length);
  train_step(&s, 1), train_step(&s, 2);
  ok(tpt_context_cancel(s.context, 1));
  refused(s.model, tpt_model_save(s.model, path), TPT_E_CANCELLED, "cancel");
  ok(tpt_context_cancel(s.context, 0));
  unsigned char *now = read_file(&again);
  ck_assert(length == again && memcmp(old, now, length) == 0);
  ck_assert_uint_eq(files(), 1);
  free(now);
  ok(tpt_model_save(s.model, path));
  now = read_file(&again);
  ck_assert(length == again && memcmp(old, now, length) != 0);
  free(old);
  free(now);
  end(&s);
}
END_TEST

START_TEST(places_that_cannot_be) {
  session s = start("");
  tpt_model *model = s.model;
  char inside[128];
  snprintf(inside, sizeof inside, "%s/none/model", folder);
  refused(s.model, tpt_model_save(s.model, inside), TPT_E_IO, inside);
  refused(s.context, tpt_model_load(s.context, inside, NULL, &model), TPT_E_IO, inside);
  ck_assert_ptr_null(model);
  ck_assert_int_eq(tpt_model_save(s.model, folder), TPT_E_IO);
  ck_assert_int_ne(tpt_model_load(s.context, folder, NULL, &model), TPT_OK);
  ck_assert_int_ne(tpt_model_save(s.model, ""), TPT_OK);
  ck_assert_int_ne(tpt_model_load(s.context, "", NULL, &model), TPT_OK);
  ck_assert_int_ne(tpt_model_load(s.context, "/dev/null", NULL, &model), TPT_OK);
  ck_assert_uint_eq(files(), 0);
  FILE *empty = fopen(path, "wb");
  ck_assert_ptr_nonnull(empty);
  fclose(empty);
  refused(s.context, tpt_model_load(s.context, path, NULL, &model), TPT_E_FORMAT, path);
  end(&s);
}
END_TEST

/* A path is bytes: no UTF-8, and relative to where the host is. */
START_TEST(paths_are_bytes) {
  session s = start("");
  tpt_model *model;
  char odd[128], before[512];
  snprintf(odd, sizeof odd, "%s/\xff\xfe name", folder);
  ok(tpt_model_save(s.model, odd));
  ok(tpt_model_load(NULL, odd, NULL, &model));
  tpt_model_destroy(model);
  ck_assert_ptr_nonnull(getcwd(before, sizeof before));
  ck_assert_int_eq(chdir(folder), 0);
  tpt_status status = tpt_model_save(s.model, "here"),
             loaded = tpt_model_load(NULL, "here", NULL, &model);
  ck_assert_int_eq(chdir(before), 0);
  ok(status);
  ok(loaded);
  tpt_model_destroy(model);
  ck_assert_uint_eq(files(), 2);
  end(&s);
}
END_TEST

static Suite *suite(void) {
  Suite *suite = suite_create("api/model_file");
  TCase *tests = tcase_create("model_file");
  tcase_add_checked_fixture(tests, make_folder, remove_folder);
  tcase_add_test(tests, there_and_back);
  tcase_add_test(tests, short_buffers);
  tcase_add_test(tests, every_truncation);
  tcase_add_test(tests, every_header_byte);
  tcase_add_test(tests, buffers_are_ignored);
  tcase_add_test(tests, unknown_tensors);
  tcase_add_test(tests, missing_tensors_and_wrong_shapes);
  tcase_add_test(tests, a_file_without_a_description);
  tcase_add_test(tests, two_descriptions);
  tcase_add_test(tests, a_failed_save_leaves_the_old_file);
  tcase_add_test(tests, places_that_cannot_be);
  tcase_add_test(tests, paths_are_bytes);
  suite_add_tcase(suite, tests);
  return suite;
}

int main(void) { return tpti_test_main(suite()); }
