/* Files read and written whole; where that fails the running test ends. */
#ifndef TPTI_TESTS_SUPPORT_FILE_H
#define TPTI_TESTS_SUPPORT_FILE_H

#include <stddef.h>

/* To be freed; never NULL. */
unsigned char *tpti_test_read_file(const char *path, size_t *length);

void tpti_test_write_file(const char *path, const void *data, size_t length);

#endif
