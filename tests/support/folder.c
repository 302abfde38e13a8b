/* See folder.h. */
#include "support/folder.h"

#include <check.h>
#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* The next entry but "." and ".."; NULL after the last. */
static const char *next(DIR *open) {
  const struct dirent *entry;
  do entry = readdir(open);
  while (entry && (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")));
  return entry ? entry->d_name : NULL;
}

static DIR *opened(const char *path) {
  DIR *open = opendir(path);
  ck_assert_msg(open != NULL, "%s cannot be read", path);
  return open;
}

size_t tpti_test_entries(const char *path) {
  size_t count = 0;
  DIR *open = opened(path);
  while (next(open)) count++;
  closedir(open);
  return count;
}

void tpti_test_remove_folder(const char *path) {
  DIR *open = opened(path);
  for (const char *name; (name = next(open));)
    if (unlinkat(dirfd(open), name, 0)) unlinkat(dirfd(open), name, AT_REMOVEDIR);
  closedir(open);
  rmdir(path);
}
