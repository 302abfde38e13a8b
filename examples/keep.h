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

/* Bytes of a name that go before .unsaved: with a number, and with what the library adds while it
 * writes, the whole fits into the 255 of NAME_MAX. No character is cut. */
static inline int stem_length(const char *name) {
  enum { STEM_MOST = 200 };
  size_t length = strlen(name);
  if (length <= STEM_MOST) return (int)length;
  for (length = STEM_MOST; length > STEM_MOST - 4 && ((unsigned char)name[length] & 0xc0) == 0x80;)
    length--;
  return (int)length;
}

/* Saves in the folder under the name of `path` with .unsaved at its end, never over a file. */
static inline int keep_beside(const keeping *k, const char *folder, const char *path,
                              char why[WHY_MOST]) {
  char name[2 * PATH_MAX + 16];
  const char *slash = strrchr(path, '/'), *last = slash ? slash + 1 : path;
  int end = snprintf(name, sizeof name, "%s/%.*s.unsaved", folder, stem_length(last), last);
  for (int i = 2; i < 100 && is_there(name); i++)
    snprintf(name + end, sizeof name - (size_t)end, "%d", i);
  if (is_there(name)) {
    snprintf(why, WHY_MOST, "%.*s: is there already, as are the others of this name", PATH_MAX,
             name);
    return 0;
  }
  if (!k->save(k->of, name, why)) return 0;
  warn("%s: %s is kept here", name, k->what);
  return 1;
}

/* Saves, or says why not and keeps the work in another place: beside the file, where the program
 * was started, or in a new folder of /tmp.
 *   returns   whether it is where it was to be */
static inline int keep_safe(const keeping *k, const char *path) {
  static char why[3][WHY_MOST]; /* of each place: told where all have failed */
  char folder[PATH_MAX], fresh[] = "/tmp/3pt-XXXXXX";
  if (keep_try(k, path)) return 1;
  folder_of(path, folder);
  if (keep_beside(k, folder, path, why[0]) || keep_beside(k, ".", path, why[1])) return 0;
  if (mkdtemp(fresh)) {
    if (keep_beside(k, fresh, path, why[2])) return 0;
    rmdir(fresh);
  } else {
    snprintf(why[2], WHY_MOST, "/tmp: no folder can be made: %s", strerror(errno));
  }
  for (int i = 0; i < 3; i++) warn("%s", why[i]);
  warn("%s: could not be kept in any other place", path);
  return 0;
}

#endif
