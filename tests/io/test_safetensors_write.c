/* Writing safetensors, and reading back what was written. */
#include <signal.h>
#include <sys/resource.h>

#include "io/files.h"
#include "io/image.h"
#include "io/yaml.h"
#include "support/allocator.h"
#include "support/runner.h"

static const float weights[6] = {1, -2, 3, -4, 5, -6};
static const int64_t steps[1] = {INT64_MIN};
static const tpti_output outputs[] = {{"steps", TPTI_I64, 0, {0}, steps},
                                      {"w \"\xc3\xa9\"", TPTI_F32, 2, {2, 3}, weights},
                                      {"none", TPTI_F32, 2, {0, 4}, NULL},
                                      {"user", TPTI_U8, 1, {3}, "xyz"}};
static const tpti_metadata metadata[] = {{"3pt.config", "a: 1\n\"b\"\t\\"}, {"format", "pt"}};
enum { OUTPUTS = 4, METADATA = 2, DATA = 8 + 24 + 3 };

static void check_content(const tpti_safetensors *tensors) {
  float got[6];
  char user[3];
  int64_t step;
  ck_assert_uint_eq(tpti_safetensors_count(tensors), OUTPUTS);
  ck_assert_str_eq(tpti_safetensors_metadata(tensors, "3pt.config"), metadata[0].value);
  ck_assert_str_eq(tpti_safetensors_metadata(tensors, "format"), "pt");
  const tpti_entry *w = tpti_safetensors_find(tensors, outputs[1].name);
  ck_assert_uint_eq(w->shape[0], 2);
  ck_assert_uint_eq(w->shape[1], 3);
  ck_assert_int_eq(tpti_safetensors_floats(tensors, w, NULL, got), TPT_OK);
  ck_assert_mem_eq(got, weights, sizeof got);
  tpti_safetensors_bytes(tensors, tpti_safetensors_find(tensors, "user"), user);
  ck_assert_mem_eq(user, "xyz", 3);
  tpti_safetensors_bytes(tensors, tpti_safetensors_find(tensors, "steps"), &step);
  ck_assert(step == INT64_MIN);
}

static size_t write_memory(void *data, size_t capacity) {
  size_t length = 0;
  ck_assert_int_eq(tpti_safetensors_write_memory(data, capacity, &length, &tpti_memory_default,
                                                 outputs, OUTPUTS, metadata, METADATA, NULL),
                   TPT_OK);
  return length;
}

START_TEST(memory_reads_back) {
  image to = {.size = write_memory(NULL, 0)};
  to.bytes = malloc(to.size);
  ck_assert_uint_eq(write_memory(to.bytes, to.size), to.size);
  tpti_safetensors *tensors;
  ck_assert_int_eq(open_image(&to, OUTPUTS, &tensors), TPT_OK);
  check_content(tensors);
  tpti_safetensors_close(tensors);
  free(to.bytes);
}
END_TEST

START_TEST(short_memory_holds_the_start) {
  char whole[1024], part[1024];
  size_t length = write_memory(whole, sizeof whole);
  ck_assert_uint_lt(length, sizeof whole);
  for (size_t capacity = 0; capacity < length; capacity++) {
    memset(part, '#', sizeof part);
    ck_assert_uint_eq(write_memory(part, capacity), length);
    ck_assert_mem_eq(part, whole, capacity);
    ck_assert_int_eq(part[capacity], '#');
  }
}
END_TEST

START_TEST(file_is_the_same_as_memory) {
  char whole[1024];
  const char *path = in_folder("a");
  size_t length = write_memory(whole, sizeof whole);
  ck_assert_int_eq(tpti_safetensors_write(path, &tpti_memory_default, outputs, OUTPUTS, metadata,
                                          METADATA, NULL),
                   TPT_OK);
  check_file(path, whole, length);
  tpti_file file;
  tpti_safetensors *tensors;
  ck_assert_int_eq(tpti_file_open(path, &file), TPT_OK);
  tpti_source source = {&file, path, NULL, file.size};
  ck_assert_int_eq(tpti_safetensors_open(&source, &tpti_memory_default, OUTPUTS, &tensors), TPT_OK);
  check_content(tensors);
  tpti_safetensors_close(tensors);
  tpti_file_close(&file);
}
END_TEST

/* The text itself: other readers, and the same bytes in every version. */
START_TEST(header_text_and_padding) {
  static const char want[] = "{\"__metadata__\":{\"format\":\"pt\"},"
                             "\"a\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[0,24]},"
                             "\"b\":{\"dtype\":\"I64\",\"shape\":[],\"data_offsets\":[24,32]}}";
  const tpti_output two[] = {{"a", TPTI_F32, 2, {2, 3}, weights}, {"b", TPTI_I64, 0, {0}, steps}};
  tpti_buffer header;
  uint64_t size, length;
  tpti_buffer_init(&header, &tpti_memory_default);
  ck_assert_int_eq(tpti_safetensors_header(two, 2, metadata + 1, 1, &header, &size), TPT_OK);
  ck_assert_uint_eq(header.used % 8, 0);
  ck_assert_uint_eq(size, header.used + 32);
  memcpy(&length, header.data, 8);
  ck_assert_uint_eq(length, header.used - 8);
  ck_assert_uint_ge(length, sizeof want - 1);
  ck_assert_mem_eq(header.data + 8, want, sizeof want - 1);
  for (size_t i = 8 + sizeof want - 1; i < header.used; i++) ck_assert_int_eq(header.data[i], ' ');
  tpti_buffer_free(&header);
}
END_TEST

/* The longest description there can be, every second character of it escaped. */
START_TEST(what_is_written_can_be_read) {
  char *text = malloc(TPTI_YAML_BYTES + 1);
  ck_assert_ptr_nonnull(text);
  for (size_t i = 0; i < TPTI_YAML_BYTES; i++) text[i] = i % 2 ? '1' : '\n';
  text[TPTI_YAML_BYTES] = '\0';
  const tpti_metadata longest = {"3pt.config", text};
  tpti_buffer header;
  uint64_t size;
  tpti_buffer_init(&header, &tpti_memory_default);
  ck_assert_int_eq(tpti_safetensors_header(NULL, 0, &longest, 1, &header, &size), TPT_OK);
  const image from = {header.data, header.used};
  tpti_safetensors *tensors;
  ck_assert_int_eq(open_image(&from, 1, &tensors), TPT_OK);
  ck_assert(strcmp(tpti_safetensors_metadata(tensors, "3pt.config"), text) == 0);
  tpti_safetensors_close(tensors);
  tpti_buffer_free(&header);
  free(text);
}
END_TEST

START_TEST(nothing_to_write_is_a_file_too) {
  char bytes[16];
  size_t length = 0;
  ck_assert_int_eq(tpti_safetensors_write_memory(bytes, sizeof bytes, &length, &tpti_memory_default,
                                                 NULL, 0, NULL, 0, NULL),
                   TPT_OK);
  ck_assert_uint_eq(length, 16);
  ck_assert_mem_eq(bytes, "\x08\0\0\0\0\0\0\0{}      ", 16);
}
END_TEST

START_TEST(sizes_that_do_not_fit) {
  const tpti_output huge = {"a", TPTI_F32, 2, {SIZE_MAX / 2, 2}, weights};
  const tpti_output half = {"a", TPTI_F32, 2, {SIZE_MAX / 8, 1}, weights};
  const tpti_output three[] = {half, half, half};
  tpti_buffer header;
  tpti_buffer_init(&header, &tpti_memory_default);
  ck_assert_int_eq(tpti_safetensors_header(&huge, 1, NULL, 0, &header, NULL), TPT_E_ARGUMENT);
  ck_assert_int_eq(tpti_safetensors_header(three, 3, NULL, 0, &header, NULL), TPT_E_ARGUMENT);
  const tpti_output other = {"a", TPTI_F16, 1, {1}, weights};
  ck_assert_int_eq(tpti_safetensors_header(&other, 1, NULL, 0, &header, NULL), TPT_E_INTERNAL);
  tpti_buffer_free(&header);
}
END_TEST

static tpt_status write_large(const char *path, tpti_run *run) {
  static float large[2 << 20]; /* 8 MiB: two pieces */
  const tpti_output output = {"a", TPTI_F32, 1, {2 << 20}, large};
  return tpti_safetensors_write(path, &tpti_memory_default, &output, 1, NULL, 0, run);
}

START_TEST(failed_write_leaves_the_old_file) {
  const char *path = in_folder("a");
  tpti_test_write_file(path, "old", 3);
  signal(SIGXFSZ, SIG_IGN);
  struct rlimit before, small;
  ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
  small = (struct rlimit){1 << 20, before.rlim_max};
  ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
  tpt_status status = write_large(path, NULL);
  ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
  ck_assert_int_eq(status, TPT_E_IO);
  check_file(path, "old", 3);
  ck_assert_uint_eq(files_in_folder(), 1);
  ck_assert_int_eq(write_large(in_folder("no/such"), NULL), TPT_E_IO);
}
END_TEST

static int32_t stop_late(void *user, const void *handle, double done) {
  (void)handle;
  *(double *)user = done;
  return done > 0.4;
}

START_TEST(cancelled_write_leaves_nothing) {
  double seen = 0;
  tpti_run run = {.progress = stop_late, .progress_user = &seen, .last_tick = INT64_MIN / 2};
  ck_assert_int_eq(write_large(in_folder("a"), &run), TPT_E_CANCELLED);
  ck_assert(seen > 0.4 && seen <= 1);
  ck_assert_uint_eq(files_in_folder(), 0);
}
END_TEST

START_TEST(every_allocation_may_fail) {
  tpti_test_allocator a;
  tpti_test_allocator_init(&a);
  const char *path = in_folder("a");
  size_t n = 1;
  for (;; n++) {
    tpti_test_allocator_fail_at(&a, n);
    tpt_status status =
        tpti_safetensors_write(path, &a.memory, outputs, OUTPUTS, metadata, METADATA, NULL);
    ck_assert_uint_eq(tpti_test_allocator_live(&a), 0);
    if (status == TPT_OK) break;
    ck_assert_int_eq(status, TPT_E_MEMORY);
    ck_assert_uint_eq(files_in_folder(), 0);
  }
  ck_assert_uint_gt(n, 2);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {
      memory_reads_back,        short_memory_holds_the_start,     file_is_the_same_as_memory,
      header_text_and_padding,  what_is_written_can_be_read,      nothing_to_write_is_a_file_too,
      sizes_that_do_not_fit,    failed_write_leaves_the_old_file, cancelled_write_leaves_nothing,
      every_allocation_may_fail};
  return tpti_test_main(suite_of("safetensors write", tests, sizeof tests / sizeof *tests));
}
