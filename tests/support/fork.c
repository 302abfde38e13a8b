/* See fork.h. */
#include "support/fork.h"

#include <check.h>
#include <dirent.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Of /proc/self/task/ID/stat: the letter after the name, which stands in brackets. A thread that
 * has ended meanwhile is at rest. */
static bool sleeps(const char *thread) {
  char path[320], text[256] = "";
  snprintf(path, sizeof path, "/proc/self/task/%s/stat", thread);
  FILE *file = fopen(path, "r");
  if (!file) return true;
  size_t length = fread(text, 1, sizeof text - 1, file);
  fclose(file);
  const char *name_end = strrchr(text, ')');
  return length == 0 || (name_end && name_end[1] == ' ' && name_end[2] == 'S');
}

static bool others_sleep(void) {
  bool all = true;
  DIR *threads = opendir("/proc/self/task");
  ck_assert_ptr_nonnull(threads);
  for (const struct dirent *entry; (entry = readdir(threads));)
    if (entry->d_name[0] != '.' && atol(entry->d_name) != (long)gettid())
      all = sleeps(entry->d_name) && all;
  closedir(threads);
  return all;
}

pid_t tpti_test_fork(void) {
  while (!others_sleep()) sched_yield();
  return fork();
}
