/* Reading safetensors: the frame, hostile sizes, and values of every dtype. */
#include <math.h>

#include "io/files.h"
#include "io/image.h"
#include "support/allocator.h"
#include "support/run.h"
#include "support/runner.h"

/* Two entries out of order, an empty one, and metadata; 14 bytes of data. */
static const char small[] =
    "{\"__metadata__\":{\"k\":\"v\"},"
    "\"late\":{\"dtype\":\"BF16\",\"shape\":[1],\"data_offsets\":[12,14]},"
    "\"early\":{\"dtype\":\"F32\",\"shape\":[3,1],\"data_offsets\":[0,12]},"
    "\"none\":{\"dtype\":\"F64\",\"shape\":[0],\"data_offsets\":[12,12]}}  ";

static image small_image(void) { return make_image(small, sizeof small - 1, 14); }

START_TEST(length_word_rules) {
  static const struct {
    uint64_t word;
    const char *reason;
  } rows[] = {{0, "header"},
              {1, "line 1"},
              {3, "only 2 follow"},
              {100000000, "only 2 follow"},
              {100000001, "at most 100000000"},
              {UINT64_C(1) << 63, "at most 100000000"},
              {UINT64_MAX - 7, "at most 100000000"},
              {UINT64_MAX, "at most 100000000"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    image from = make_image("{}", 2, 0);
    memcpy(from.bytes, &rows[i].word, 8);
    ck_assert_int_eq(try_image(&from), TPT_E_FORMAT);
    ck_assert_message(rows[i].reason);
    free(from.bytes);
  }
  for (size_t size = 0; size < 8; size++) {
    image from = {calloc(1, size + 1), size};
    ck_assert_int_eq(try_image(&from), TPT_E_FORMAT);
    ck_assert_message("too few for its length word");
    ck_assert_message("; a safetensors file is wanted, this looks like ");
    free(from.bytes);
  }
}
END_TEST

START_TEST(every_shorter_file_is_refused) {
  image whole = small_image();
  ck_assert_int_eq(try_image(&whole), TPT_OK);
  for (size_t size = 0; size < whole.size; size++) {
    image part = {malloc(size + 1), size}; /* malloc(0) may be NULL */
    memcpy(part.bytes, whole.bytes, size);
    ck_assert_int_eq(try_image(&part), TPT_E_FORMAT);
    free(part.bytes);
  }
  free(whole.bytes);
}
END_TEST

/* Whatever a file says, reading what it offers stays inside it (a sanitizer watches). */
START_TEST(flipped_bytes_do_no_harm) {
  uint64_t state = 1;
  size_t opened = 0;
  for (int round = 0; round < 2000; round++) {
    image from = small_image();
    for (int flips = round % 3; flips >= 0; flips--) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      from.bytes[(state >> 33) % from.size] ^= (char)(1 << (state >> 60) % 8);
    }
    tpti_safetensors *tensors;
    if (open_image(&from, 10, &tensors) == TPT_OK) {
      opened++;
      float values[64];
      for (size_t i = 0; i < tpti_safetensors_count(tensors); i++) {
        tpti_safetensors_floats(tensors, tpti_safetensors_at(tensors, i), NULL, values);
        tpti_safetensors_bytes(tensors, tpti_safetensors_at(tensors, i), values);
      }
      tpti_safetensors_close(tensors);
    }
    free(from.bytes);
  }
  ck_assert_uint_gt(opened, 0); /* flips in names and data */
  ck_assert_uint_lt(opened, 2000);
}
END_TEST

START_TEST(table_of_a_file) {
  image from = small_image();
  tpti_safetensors *tensors;
  ck_assert_int_eq(open_image(&from, 3, &tensors), TPT_OK);
  ck_assert_uint_eq(tpti_safetensors_count(tensors), 3);
  ck_assert_str_eq(tpti_safetensors_at(tensors, 0)->name, "early"); /* by place */
  ck_assert_str_eq(tpti_safetensors_at(tensors, 1)->name, "none");
  ck_assert_str_eq(tpti_safetensors_at(tensors, 2)->name, "late");
  ck_assert_ptr_null(tpti_safetensors_at(tensors, 3));
  const tpti_entry *early = tpti_safetensors_find(tensors, "early");
  ck_assert_ptr_eq(early, tpti_safetensors_at(tensors, 0));
  ck_assert_int_eq(early->dtype, TPTI_F32);
  ck_assert_str_eq(early->dtype_name, "F32");
  ck_assert_uint_eq(early->ndim, 2);
  ck_assert_uint_eq(early->shape[0], 3);
  ck_assert_uint_eq(early->shape[1], 1);
  ck_assert_ptr_eq(tpti_safetensors_find(tensors, "late"), tpti_safetensors_at(tensors, 2));
  ck_assert_ptr_eq(tpti_safetensors_find(tensors, "none"), tpti_safetensors_at(tensors, 1));
  ck_assert_ptr_null(tpti_safetensors_find(tensors, "lat"));
  ck_assert_ptr_null(tpti_safetensors_find(tensors, "__metadata__"));
  ck_assert_str_eq(tpti_safetensors_metadata(tensors, "k"), "v");
  ck_assert_ptr_null(tpti_safetensors_metadata(tensors, "absent"));
  char bytes[2];
  ck_assert_int_eq(tpti_safetensors_bytes(tensors, tpti_safetensors_at(tensors, 2), bytes), TPT_OK);
  ck_assert_mem_eq(bytes, "\x0c\x0d", 2);
  tpti_safetensors_close(tensors);
  free(from.bytes);
}
END_TEST

START_TEST(more_tensors_than_can_be_used) {
  image from = small_image();
  tpti_safetensors *tensors;
  ck_assert_int_eq(open_image(&from, 2, &tensors), TPT_E_FORMAT);
  ck_assert_ptr_null(tensors);
  ck_assert_message("holds 3 tensors; at most 2");
  free(from.bytes);
}
END_TEST

/* 18 MiB of spaces, and many values: neither is parsed. */
START_TEST(headers_larger_than_their_use_are_refused) {
  size_t length = 18 << 20;
  char *header = malloc(length);
  memset(header, ' ', length);
  memcpy(header, "{}", 2);
  image from = make_image(header, length, 0);
  tpti_safetensors *tensors;
  ck_assert_int_eq(open_image(&from, 1000, &tensors), TPT_E_FORMAT);
  ck_assert_message("more than 1000 tensors can need");
  ck_assert_int_eq(open_image(&from, 2000, &tensors), TPT_OK);
  tpti_safetensors_close(tensors);
  free(from.bytes);
  size_t at = (size_t)sprintf(header, "{\"a\":[0");
  for (int i = 0; i < 10000; i++) at += (size_t)sprintf(header + at, ",0");
  at += (size_t)sprintf(header + at, "]}");
  from = make_image(header, at, 0);
  ck_assert_int_eq(open_image(&from, 1, &tensors), TPT_E_FORMAT);
  ck_assert_message("too many values");
  free(from.bytes);
  free(header);
}
END_TEST

/* Nothing known of the model: the header's own size bounds what is parsed, and no entry is so short
 * that it is refused. */
START_TEST(entries_are_bounded_by_the_header) {
  static const char entry[] = "\"%c\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[%d,%d]},";
  char header[26 * 64] = "{";
  size_t length = 1;
  for (int i = 0; i < 26; i++) length += (size_t)sprintf(header + length, entry, 'a' + i, i, i + 1);
  header[length - 1] = '}';
  image from = make_image(header, length, 26);
  tpti_safetensors *tensors;
  ck_assert_int_eq(open_image(&from, TPTI_ANY_ENTRIES, &tensors), TPT_OK);
  ck_assert_uint_eq(tpti_safetensors_count(tensors), 26);
  tpti_safetensors_close(tensors);
  free(from.bytes);
  char *many = malloc(10 * 2000 + 2);
  length = (size_t)sprintf(many, "{");
  for (int i = 0; i < 2000; i++) length += (size_t)sprintf(many + length, "\"%d\":{},", i);
  many[length - 1] = '}';
  from = make_image(many, length, 0);
  ck_assert_int_eq(open_image(&from, TPTI_ANY_ENTRIES, &tensors), TPT_E_FORMAT);
  ck_assert_message("2001 objects and 0 arrays");
  free(from.bytes);
  free(many);
}
END_TEST

/* What a run is told goes through its span as the tensor is read. */
START_TEST(reading_tells_how_far_it_is) {
  image from = small_image();
  tpti_safetensors *tensors;
  float values[3];
  tpti_run run = {.from = 0.25, .to = 0.5};
  ck_assert_int_eq(open_image(&from, 3, &tensors), TPT_OK);
  for (size_t i = 0; i < 3; i += 2) { /* copied, converted */
    run.done = 0.25;
    ck_assert_int_eq(
        tpti_safetensors_floats(tensors, tpti_safetensors_at(tensors, i), &run, values), TPT_OK);
    ck_assert_double_eq(run.done, 0.5);
  }
  tpti_safetensors_close(tensors);
  free(from.bytes);
}
END_TEST

/* 5000 elements of a dtype: more than one piece of the conversion. */
static void check_dtype(const char *dtype, size_t width, const void *one, float want) {
  enum { COUNT = 5000 };
  static char bytes[8 + 128 + COUNT * 8];
  char header[129];
  int length = snprintf(header, sizeof header,
                        "{\"a\":{\"dtype\":\"%s\",\"shape\":[5000],\"data_offsets\":[0,%zu]}}",
                        dtype, COUNT * width);
  uint64_t word = (uint64_t)length;
  memcpy(bytes, &word, 8);
  memcpy(bytes + 8, header, (size_t)length);
  char *data = bytes + 8 + length;
  memset(data, 0, COUNT * width);
  memcpy(data + (COUNT - 1) * width, one, width);
  memcpy(data, one, width);
  tpti_test_write_file(in_folder("a"), bytes, 8 + (size_t)length + COUNT * width);
  tpti_file file;
  tpti_safetensors *tensors;
  static float values[COUNT + 1];
  values[COUNT] = 77;
  ck_assert_int_eq(tpti_file_open(in_folder("a"), &file), TPT_OK);
  tpti_source source = {&file, in_folder("a"), NULL, file.size};
  ck_assert_int_eq(tpti_safetensors_open(&source, &tpti_memory_default, 1, &tensors), TPT_OK);
  const tpti_entry *entry = tpti_safetensors_at(tensors, 0);
  ck_assert_int_eq(tpti_safetensors_floats(tensors, entry, NULL, values), TPT_OK);
  ck_assert(values[0] == want && values[1] == 0 && values[COUNT - 1] == want);
  ck_assert(values[COUNT] == 77);
  tpti_safetensors_close(tensors);
  tpti_file_close(&file);
}

START_TEST(floats_of_every_dtype) {
  const double d = 1.25;
  const float f = -3.5f;
  check_dtype("F64", 8, &d, 1.25f);
  check_dtype("F32", 4, &f, -3.5f);
  check_dtype("F16", 2, "\x00\x7c", INFINITY);
  check_dtype("F16", 2, "\x01\x80", -0x1p-24f);
  check_dtype("BF16", 2, "\x01\x00", 0x1p-133f);
}
END_TEST

START_TEST(special_floats_pass_unchanged) {
  static const uint32_t bits[] = {0x7f800000, 0xff800000, 0x7fc00001, 0x00000001, 0x80000000};
  const char header[] = "{\"a\":{\"dtype\":\"F32\",\"shape\":[5],\"data_offsets\":[0,20]}}";
  image from = make_image(header, sizeof header - 1, 20);
  memcpy(from.bytes + 8 + sizeof header - 1, bits, 20);
  tpti_safetensors *tensors;
  float values[5];
  ck_assert_int_eq(open_image(&from, 1, &tensors), TPT_OK);
  const tpti_entry *entry = tpti_safetensors_at(tensors, 0);
  ck_assert_int_eq(tpti_safetensors_floats(tensors, entry, NULL, values), TPT_OK);
  ck_assert_mem_eq(values, bits, 20);
  tpti_safetensors_close(tensors);
  free(from.bytes);
}
END_TEST

START_TEST(other_dtypes_are_no_floats) {
  const char header[] = "{\"mask\":{\"dtype\":\"BOOL\",\"shape\":[4],\"data_offsets\":[0,4]}}";
  image from = make_image(header, sizeof header - 1, 4);
  tpti_safetensors *tensors;
  float values[4];
  ck_assert_int_eq(open_image(&from, 1, &tensors), TPT_OK);
  const tpti_entry *entry = tpti_safetensors_at(tensors, 0);
  ck_assert_int_eq(tpti_safetensors_floats(tensors, entry, NULL, values), TPT_E_FORMAT);
  ck_assert_message("tensor \"mask\": dtype BOOL; allowed here are F32, F64, F16, BF16");
  tpti_safetensors_close(tensors);
  free(from.bytes);
}
END_TEST

START_TEST(file_cut_while_in_use) {
  image whole = small_image();
  tpti_test_write_file(in_folder("a"), whole.bytes, whole.size);
  tpti_file file;
  tpti_safetensors *tensors;
  float values[3];
  ck_assert_int_eq(tpti_file_open(in_folder("a"), &file), TPT_OK);
  tpti_source source = {&file, in_folder("a"), NULL, file.size};
  ck_assert_int_eq(tpti_safetensors_open(&source, &tpti_memory_default, 3, &tensors), TPT_OK);
  ck_assert_int_eq(truncate(in_folder("a"), (off_t)whole.size - 8), 0);
  const tpti_entry *early = tpti_safetensors_find(tensors, "early");
  ck_assert_int_eq(tpti_safetensors_floats(tensors, early, NULL, values), TPT_E_FORMAT);
  ck_assert_message("cut while in use");
  tpti_safetensors_close(tensors);
  tpti_file_close(&file);
  free(whole.bytes);
}
END_TEST

/* Elements of the entries below: more than one report of 32 MiB, or of pieces of 1 MiB, and no
 * whole number of either. */
enum { MANY = (9 << 20) + 1234 };

/* MANY numbers whose upper halves count up and begin again at no power of 2. */
static char *large_image(const char *dtype, size_t width, size_t *size) {
  char header[128];
  int length = snprintf(header, sizeof header,
                        "{\"a\":{\"dtype\":\"%s\",\"shape\":[%d],\"data_offsets\":[0,%zu]}}", dtype,
                        MANY, MANY * width);
  image made = make_image(header, (size_t)length, MANY * width);
  char *data = made.bytes + 8 + length;
  memset(data, 0, MANY * width);
  for (size_t i = 0; i < MANY; i++) {
    uint16_t upper = (uint16_t)(i % 30011);
    memcpy(data + (i + 1) * width - 2, &upper, 2);
  }
  *size = made.size;
  return made.bytes;
}

/* The first value that is another; one assertion a value would take minutes. */
static size_t first_wrong(const float *values) {
  size_t i = 0;
  for (; i < MANY; i++) {
    uint32_t bits;
    memcpy(&bits, values + i, 4);
    if (bits != (uint32_t)(i % 30011) << 16) break;
  }
  return i;
}

/* From a file: whole, then cut after it was opened, where the message must be the caller's own. */
static void read_large(const char *dtype, size_t width, int32_t threads) {
  size_t size;
  char *bytes = large_image(dtype, width, &size);
  tpti_test_write_file(in_folder("a"), bytes, size);
  tpti_run *run = tpti_test_run(threads);
  float *values = malloc((MANY + 1) * sizeof *values);
  values[MANY] = 77;
  tpti_file file;
  tpti_safetensors *tensors;
  ck_assert_int_eq(tpti_file_open(in_folder("a"), &file), TPT_OK);
  tpti_source source = {&file, in_folder("a"), NULL, file.size};
  ck_assert_int_eq(tpti_safetensors_open(&source, &tpti_memory_default, 1, &tensors), TPT_OK);
  const tpti_entry *entry = tpti_safetensors_at(tensors, 0);
  run->to = 1;
  ck_assert_int_eq(tpti_safetensors_floats(tensors, entry, run, values), TPT_OK);
  ck_assert_uint_eq(first_wrong(values), MANY);
  ck_assert(values[MANY] == 77 && run->done == 1);
  ck_assert_int_eq(truncate(in_folder("a"), (off_t)size - 5 * (1 << 20)), 0);
  ck_assert_int_eq(tpti_safetensors_floats(tensors, entry, run, values), TPT_E_FORMAT);
  ck_assert_message("cut while in use");
  tpti_safetensors_close(tensors);
  tpti_file_close(&file);
  tpti_test_run_free(run);
  free(values);
  free(bytes);
}

START_TEST(many_threads_read_one_entry) {
  for (int32_t threads = 1; threads <= 3; threads++) {
    read_large("F32", 4, threads);
    read_large("BF16", 2, threads);
  }
}
END_TEST

START_TEST(cancelled_read_says_so) {
  image from = small_image();
  tpti_safetensors *tensors;
  float values[3];
  atomic_int cancel = 1;
  tpti_run run = {.cancel = &cancel};
  ck_assert_int_eq(open_image(&from, 3, &tensors), TPT_OK);
  for (size_t i = 0; i < 3; i += 2) { /* copied, converted */
    run.stopped = false;
    const tpti_entry *entry = tpti_safetensors_at(tensors, i);
    ck_assert_int_eq(tpti_safetensors_floats(tensors, entry, &run, values), TPT_E_CANCELLED);
  }
  tpti_safetensors_close(tensors);
  free(from.bytes);
}
END_TEST

START_TEST(every_allocation_may_fail) {
  image from = small_image();
  tpti_source source = {NULL, "the data in memory", from.bytes, from.size};
  tpti_test_allocator a;
  tpti_test_allocator_init(&a);
  tpti_safetensors *tensors;
  size_t n = 1;
  for (;; n++) {
    tpti_test_allocator_fail_at(&a, n);
    tpt_status status = tpti_safetensors_open(&source, &a.memory, 3, &tensors);
    if (status == TPT_OK) break;
    ck_assert_int_eq(status, TPT_E_MEMORY);
    ck_assert_ptr_null(tensors);
    ck_assert_uint_eq(tpti_test_allocator_live(&a), 0);
  }
  ck_assert_uint_gt(n, 2);
  tpti_safetensors_close(tensors);
  ck_assert_uint_eq(tpti_test_allocator_live(&a), 0);
  free(from.bytes);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {length_word_rules,
                                every_shorter_file_is_refused,
                                flipped_bytes_do_no_harm,
                                table_of_a_file,
                                more_tensors_than_can_be_used,
                                headers_larger_than_their_use_are_refused,
                                entries_are_bounded_by_the_header,
                                reading_tells_how_far_it_is,
                                floats_of_every_dtype,
                                special_floats_pass_unchanged,
                                other_dtypes_are_no_floats,
                                file_cut_while_in_use,
                                many_threads_read_one_entry,
                                cancelled_read_says_so,
                                every_allocation_may_fail};
  return tpti_test_main(suite_of("safetensors", tests, sizeof tests / sizeof *tests));
}
