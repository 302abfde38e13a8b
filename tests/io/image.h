/* safetensors files made by hand in memory: a length word, a header, and data of increasing bytes.
 */
#ifndef TPTI_TESTS_IO_IMAGE_H
#define TPTI_TESTS_IO_IMAGE_H

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "io/safetensors.h"

typedef struct image {
  char *bytes;
  size_t size;
} image;

/* The header of `length` bytes with `data` bytes after it; the block is exactly as long, so that a
 * sanitizer sees a read past it. */
static inline image make_image(const char *header, size_t length, size_t data) {
  image made = {malloc(8 + length + data), 8 + length + data};
  ck_assert_ptr_nonnull(made.bytes);
  uint64_t word = length;
  memcpy(made.bytes, &word, 8);
  memcpy(made.bytes + 8, header, length);
  for (size_t i = 0; i < data; i++) made.bytes[8 + length + i] = (char)i;
  return made;
}

static inline tpt_status open_image(const image *from, size_t most, tpti_safetensors **tensors) {
  tpti_source source = {NULL, "the data in memory", from->bytes, from->size};
  return tpti_safetensors_open(&source, &tpti_memory_default, most, tensors);
}

/* Opens, forgets, and says how it went. */
static inline tpt_status try_image(const image *from) {
  tpti_safetensors *tensors;
  tpt_status status = open_image(from, 100, &tensors);
  ck_assert(!status == (tensors != NULL));
  tpti_safetensors_close(tensors);
  return status;
}

#endif
