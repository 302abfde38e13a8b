/* A file that appears whole or not at all: written under another name in the same folder, synced,
 * renamed, and the folder synced. The folder is held open, so that a change of the working
 * directory meanwhile does not matter.
 *
 * Where the target is a symbolic link to a file, that file is replaced and the link stays, as with
 * a file that is opened and written; a link to nothing is replaced itself. */
#include "io/file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/random.h"

/* ".3pt-" with 16 hexadecimal digits and ".tmp"; of fixed length, since a target's name may be as
 * long as the file system allows. Another draw after a name that exists. */
enum { TEMPORARY_NAME = 32, DRAWS = 64, PIECE = 1 << 30 };

struct tpti_writer {
  tpti_memory memory;
  size_t bytes; /* of this block */
  int folder;   /* descriptors; -1: closed */
  int descriptor;
  bool failed;
  char temporary[TEMPORARY_NAME]; /* "" where none exists */
  const char *path;               /* as the caller gave it, for messages */
  const char *name;               /* of the target, in its folder */
};

static void close_once(int *descriptor) {
  if (*descriptor >= 0) close(*descriptor);
  *descriptor = -1;
}

/* What is at the target now: *mode is 0 where nothing is. A file that its owner protected against
 * writing is not replaced, though the folder would allow it. */
static tpt_status look(const char *path, mode_t *mode) {
  struct stat info;
  *mode = 0;
  if (stat(path, &info)) return errno == ENOENT ? TPT_OK : tpti_fail_system("write", path);
  if (S_ISREG(info.st_mode)) {
    *mode = info.st_mode;
    return faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) ? tpti_fail_system("write", path) : TPT_OK;
  }
  return tpti_fail(TPT_E_IO, "cannot write (%s): %s",
                   S_ISDIR(info.st_mode) ? "it is a folder" : "it is no regular file", path);
}

/* The path that is renamed to: links are followed where they lead to a file. */
static tpt_status resolve(const char *path, bool exists, char resolved[PATH_MAX]) {
  if (exists) return realpath(path, resolved) ? TPT_OK : tpti_fail_system("write", path);
  size_t length = strlen(path);
  if (length == 0 || length >= PATH_MAX) {
    errno = length ? ENAMETOOLONG : ENOENT;
    return tpti_fail_system("write", path);
  }
  memcpy(resolved, path, length + 1);
  return TPT_OK;
}

static tpt_status make_writer(const char *path, const char *name, const tpti_memory *memory,
                              tpti_writer **result) {
  size_t path_bytes = strlen(path) + 1, name_bytes = strlen(name) + 1;
  size_t bytes = sizeof(tpti_writer) + path_bytes + name_bytes;
  tpti_writer *writer = tpti_take(memory, bytes);
  if (!writer) return tpti_fail_memory(bytes);
  *writer = (tpti_writer){.memory = *memory, .bytes = bytes, .folder = -1, .descriptor = -1};
  char *text = (char *)(writer + 1);
  writer->path = memcpy(text, path, path_bytes);
  writer->name = memcpy(text + path_bytes, name, name_bytes);
  *result = writer;
  return TPT_OK;
}

/* Opens the folder of `resolved`, in which it ends. */
static tpt_status open_folder(tpti_writer *writer, char *resolved) {
  char *slash = strrchr(resolved, '/');
  if (slash) slash[slash == resolved] = '\0'; /* of "/name" the slash stays */
  writer->folder = tpti_open(AT_FDCWD, slash ? resolved : ".", O_RDONLY | O_DIRECTORY, 0);
  return writer->folder < 0 ? tpti_fail_system("open the folder of", writer->path) : TPT_OK;
}

/* Nobody can guess it; where the system gives no random bytes, O_EXCL alone must do. */
static void draw_name(tpti_writer *writer) {
  snprintf(writer->temporary, sizeof writer->temporary, ".3pt-%016llx.tmp",
           (unsigned long long)tpti_random_system());
}

static tpt_status create_temporary(tpti_writer *writer, mode_t mode) {
  for (int draw = 0; writer->descriptor < 0 && draw < DRAWS; draw++) {
    draw_name(writer);
    writer->descriptor = tpti_open(writer->folder, writer->temporary,
                                   O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
    if (writer->descriptor < 0 && errno != EEXIST) break;
  }
  if (writer->descriptor >= 0) return TPT_OK;
  tpt_status status = tpti_fail_system("create a file in the folder of", writer->path);
  writer->temporary[0] = '\0';
  return status;
}

/* The mode of the file that is to be replaced, which the umask has no say in. */
static tpt_status keep_mode(const tpti_writer *writer, mode_t mode) {
  struct stat info;
  if (fstat(writer->descriptor, &info)) return tpti_fail_system("write", writer->path);
  if ((info.st_mode & 0777) == (mode & 0777)) return TPT_OK;
  if (fchmod(writer->descriptor, mode & 0777) == 0) return TPT_OK;
  return tpti_fail_system("keep the mode of", writer->path);
}

tpt_status tpti_writer_open(const char *path, const tpti_memory *memory, tpti_writer **writer) {
  *writer = NULL;
  char resolved[PATH_MAX];
  mode_t mode;
  tpt_status status = look(path, &mode);
  if (!status) status = resolve(path, mode != 0, resolved);
  if (status) return status;
  const char *slash = strrchr(resolved, '/');
  const char *name = slash ? slash + 1 : resolved;
  if (!*name) return tpti_fail(TPT_E_IO, "cannot write (the name of a file is missing): %s", path);
  tpti_writer *made = NULL;
  status = make_writer(path, name, memory, &made);
  if (status) return status;
  status = open_folder(made, resolved);
  if (!status) status = create_temporary(made, mode ? mode & 0777 : 0666);
  if (!status && mode) status = keep_mode(made, mode);
  if (status) {
    tpti_writer_abandon(made);
    return status;
  }
  *writer = made;
  return TPT_OK;
}

tpt_status tpti_writer_append(tpti_writer *writer, const void *data, size_t bytes) {
  const char *from = data;
  while (bytes > 0) {
    ssize_t put = write(writer->descriptor, from, bytes < PIECE ? bytes : PIECE);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) {
      if (put == 0) errno = ENOSPC; /* a file that takes nothing more */
      writer->failed = true;
      return tpti_fail_system("write", writer->path);
    }
    from += put;
    bytes -= (size_t)put;
  }
  return TPT_OK;
}

/* Some file systems cannot sync a folder and say EINVAL. */
static int sync_descriptor(int descriptor) {
  int result;
  do {
    result = fsync(descriptor);
  } while (result && errno == EINTR);
  return result && errno != EINVAL ? -1 : 0;
}

static tpt_status put_in_place(tpti_writer *writer) {
  if (writer->failed) {
    return tpti_fail(TPT_E_IO, "cannot finish (a write failed before): %s", writer->path);
  }
  if (sync_descriptor(writer->descriptor)) return tpti_fail_system("sync", writer->path);
  close_once(&writer->descriptor); /* synced: nothing is left that close could fail to write */
  if (renameat(writer->folder, writer->temporary, writer->folder, writer->name)) {
    return tpti_fail_system("rename to", writer->path);
  }
  writer->temporary[0] = '\0';
  if (sync_descriptor(writer->folder)) {
    return tpti_fail_system("sync the folder, though the file is in place, of", writer->path);
  }
  return TPT_OK;
}

tpt_status tpti_writer_commit(tpti_writer *writer) {
  tpt_status status = put_in_place(writer);
  tpti_writer_abandon(writer);
  return status;
}

void tpti_writer_abandon(tpti_writer *writer) {
  if (!writer) return;
  close_once(&writer->descriptor);
  if (writer->temporary[0]) unlinkat(writer->folder, writer->temporary, 0);
  close_once(&writer->folder);
  tpti_memory memory = writer->memory;
  tpti_give(&memory, writer, writer->bytes);
}
