/* What a test asks of a folder. */
#ifndef TPTI_TESTS_SUPPORT_FOLDER_H
#define TPTI_TESTS_SUPPORT_FOLDER_H

#include <stddef.h>

/* Entries but "." and ".."; ends the running test where the folder cannot be read. Of
 * /proc/self/task: threads; of /proc/self/fd: descriptors, the one that reads it among them. */
size_t tpti_test_entries(const char *path);

/* With the files and empty folders that it holds. */
void tpti_test_remove_folder(const char *path);

#endif
