/* What a program has learned is kept, also where it cannot be written to its place any more after
 * hours of work; and what is there already is not replaced unasked. */
#ifndef EXAMPLES_KEEP_H
#define EXAMPLES_KEEP_H

#include "files.h"

/* ---- at the start ---- */

/* path: NULL where the option is not given. */
static inline void check_name(const char *name, const char *path) {
  if (path && !*path) wrong_call("%s needs the name of a file", name);
}

/* Whether something would be lost with it: a file without a byte, a pipe and a device hold nothing.
 */
static inline int is_filled(const char *path) {
  struct stat found;
  return stat(path, &found) == 0 && S_ISREG(found.st_mode) && found.st_size > 0;
}

static inline void check_unused(const char *name, const char *path) {
  if (is_filled(path))
    die("%s: is there already: --force replaces it, and %s gives the new one another name", path,
        name);
}

/* ---- at the end ---- */

enum { WHY_MOST = PATH_MAX + 1024 };

typedef struct keeping {
  /* Returns 0 where it failed; why begins with the path then. */
  int (*save)(const void *of, const char *path, char why[WHY_MOST]);
  const void *of;
  char what[64];       /* for messages: "all after step 12" */
  void (*clear)(void); /* what moves on the screen, before a message; may be NULL */
} keeping;

/* Saves, or warns with the reason. */
static inline int keep_try(const keeping *k, const char *path) {
  char why[WHY_MOST];
  if (k->save(k->of, path, why)) return 1;
  if (k->clear) k->clear();
  warn("%s", why);
  return 0;
}

/* Saves in the folder under the name of `path` with .unsaved at its end, never over a file. */
static inline int keep_beside(const keeping *k, const char *folder, const char *path) {
  char name[2 * PATH_MAX + 16], why[WHY_MOST];
  const char *slash = strrchr(path, '/');
  int end = snprintf(name, sizeof name, "%s/%s.unsaved", folder, slash ? slash + 1 : path);
  for (int i = 2; i < 100 && is_there(name); i++)
    snprintf(name + end, sizeof name - (size_t)end, "%d", i);
  if (is_there(name) || !k->save(k->of, name, why)) return 0;
  warn("%s: %s is kept here", name, k->what);
  return 1;
}

/* Saves, or says why not and keeps the work in another place: beside the file, where the program
 * was started, or in a new folder of /tmp.
 *   returns   whether it is where it was to be */
static inline int keep_safe(const keeping *k, const char *path) {
  char folder[PATH_MAX], fresh[] = "/tmp/3pt-XXXXXX";
  if (keep_try(k, path)) return 1;
  folder_of(path, folder);
  if (keep_beside(k, folder, path) || keep_beside(k, ".", path)) return 0;
  if (mkdtemp(fresh)) {
    if (keep_beside(k, fresh, path)) return 0;
    rmdir(fresh);
  }
  warn("%s: could not be kept in any other place", path);
  return 0;
}

#endif
