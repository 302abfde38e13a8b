/* Files of the example programs: what they are, whether they can be written, and that none is
 * overwritten which is read. A message begins with the file, as those of other tools. */
#ifndef EXAMPLES_FILES_H
#define EXAMPLES_FILES_H

#include <limits.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "call.h"

static inline int is_there(const char *path) {
  struct stat found;
  return lstat(path, &found) == 0;
}

static inline const char *shown_name(const char *path) {
  return strcmp(path, "-") == 0 ? "standard input" : path;
}

/* What the library said of a file, which it names last, and we first.
 *   called    the library's name of it */
static inline void complain_as(const char *path, const char *called, char *text, size_t size) {
  const char *said = tpt_error_message();
  size_t all = strlen(said), name = strlen(called);
  if (all > name + 2 && strcmp(said + all - name, called) == 0) all -= name + 2; /* ": " */
  snprintf(text, size, "%s: %.*s", path, (int)all, said);
}

static inline void complain_of(const char *path, char *text, size_t size) {
  complain_as(path, path, text, size);
}

static inline void check_file_as(const char *path, const char *called, tpt_status status) {
  char text[PATH_MAX + 1024];
  if (status == TPT_OK) return;
  complain_as(shown_name(path), called, text, sizeof text);
  die("%s", text);
}

static inline void check_file(const char *path, tpt_status status) {
  check_file_as(path, path, status);
}

/* ---- what a file is ---- */

typedef enum file_kind { NO_FILE, EMPTY_FILE, A_MODEL, ANOTHER_FILE } file_kind;

/* By what is in it, whatever its name is. A model file (safetensors) has eight bytes of a length,
 * the high ones 0 as in no text, and a JSON object. What cannot be read twice is no file here, and
 * left to its reader, who says why. */
static inline file_kind kind_of(const char *path) {
  char head[9];
  struct stat found;
  if (stat(path, &found) || !S_ISREG(found.st_mode)) return NO_FILE;
  FILE *file = fopen(path, "rb");
  if (!file) return NO_FILE;
  size_t got = fread(head, 1, sizeof head, file);
  fclose(file);
  if (got == 0) return EMPTY_FILE;
  return got == sizeof head && head[6] == 0 && head[7] == 0 && head[8] == '{' ? A_MODEL
                                                                              : ANOTHER_FILE;
}

static inline int ends_with(const char *text, const char *end) {
  size_t n = strlen(text), m = strlen(end);
  return n >= m && strcmp(text + n - m, end) == 0;
}

/* ---- writing ---- */

/* The folder of a path, as the library finds it: a link to a file is followed. */
static inline void folder_of(const char *path, char folder[PATH_MAX]) {
  if (!realpath(path, folder)) snprintf(folder, PATH_MAX, "%s", path);
  char *slash = strrchr(folder, '/');
  if (!slash) snprintf(folder, PATH_MAX, ".");
  if (slash) slash[slash == folder] = 0;
}

/* Finds out before hours of work whether a file can be written, and leaves all as it was: opens
 * what is there, and makes a file beside it, as the library does, which renames it at the end.
 *   replaced  whether it is written in that way: then only a regular file can be there */
static inline void check_target(const char *path, int replaced) {
  char trial[PATH_MAX + 16], folder[PATH_MAX];
  struct stat found;
  int is = stat(path, &found) == 0, file;
  if (!is && errno != ENOENT) die("%s: cannot be written: %s", path, strerror(errno));
  if (!*path || ends_with(path, "/"))
    die("%s: cannot be written: the name of a file is missing", path);
  if (is && S_ISDIR(found.st_mode)) die("%s: cannot be written: it is a folder", path);
  if (is && !S_ISREG(found.st_mode)) {
    if (replaced) die("%s: cannot be written: it is no regular file", path);
    return;
  }
  if (is && (file = open(path, O_WRONLY | O_CLOEXEC)) < 0)
    die("%s: cannot be written: %s", path, strerror(errno));
  if (is) close(file);
  if (is && !replaced) return;
  folder_of(path, folder);
  snprintf(trial, sizeof trial, "%s/.3pt-XXXXXX", folder);
  if ((file = mkstemp(trial)) < 0)
    die("%s: cannot be written: its folder: %s", path, strerror(errno));
  close(file);
  remove(trial);
}

static inline void check_writable(const char *path) { check_target(path, 1); }

/* Whether the disk has room for so many bytes now. */
static inline void check_room(const char *path, double bytes) {
  char folder[PATH_MAX];
  struct statvfs disk;
  folder_of(path, folder);
  if (statvfs(folder, &disk) || disk.f_blocks == 0) return; /* it does not tell */
  double room = (double)disk.f_bavail * (double)disk.f_frsize;
  if (room < bytes)
    die("%s: cannot be written: it takes %.1f MB, and the disk has %.1f MB left", path, bytes / 1e6,
        room / 1e6);
}

/* ---- what a program reads and writes ---- */

/* REPLACES: a new file is renamed to it, as the library does. */
typedef enum use { READS, WRITES, REPLACES } use;

typedef struct file_use {
  const char *role, *path; /* role: "--out"; NULL ends the table. path: NULL where not used */
  use use;
} file_use;

/* One that is not there yet is known by its folder and its name. "-" is read from standard input.
 *   returns   the name in the folder, "" for a file that is there, NULL: it cannot collide */
static inline const char *identify(const file_use *f, struct stat *found) {
  char folder[PATH_MAX];
  int in = f->use == READS && strcmp(f->path, "-") == 0;
  if ((in ? fstat(STDIN_FILENO, found) : stat(f->path, found)) == 0)
    return S_ISREG(found->st_mode) ? "" : NULL;
  folder_of(f->path, folder);
  const char *slash = strrchr(f->path, '/');
  return stat(folder, found) ? NULL : slash ? slash + 1 : f->path;
}

static inline int same_file(const file_use *a, const file_use *b) {
  struct stat at, bt;
  const char *an = a->path ? identify(a, &at) : NULL, *bn = b->path ? identify(b, &bt) : NULL;
  return an && bn && strcmp(an, bn) == 0 && at.st_dev == bt.st_dev && at.st_ino == bt.st_ino;
}

/* `program my.yaml > my.yaml`: the shell has emptied the file by now. */
static inline void check_output(const file_use *f) {
  struct stat found, output;
  if (f->path && !fstat(STDOUT_FILENO, &output) && S_ISREG(output.st_mode) && identify(f, &found) &&
      found.st_dev == output.st_dev && found.st_ino == output.st_ino)
    die("%s: %s and the output are the same file: write to another one", f->path, f->role);
}

/* Refuses what would overwrite a file that is read or written elsewhere, and what cannot be
 * written. Nothing has been touched then. */
static inline void check_uses(const file_use *uses) {
  for (const file_use *a = uses; a->role; a++) {
    check_output(a);
    for (const file_use *b = uses; b < a; b++)
      if ((a->use != READS || b->use != READS) && same_file(a, b))
        die("%s: %s and %s are the same file: give another name to what is written", a->path,
            b->role, a->role);
  }
  for (const file_use *a = uses; a->role; a++)
    if (a->path && a->use != READS) check_target(a->path, a->use == REPLACES);
}

#endif
