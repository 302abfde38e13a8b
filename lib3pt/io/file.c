/* Files: reading by pread, so that threads share a descriptor; every call is taken up again where a
 * signal interrupted it. */
#include "io/file.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/descriptor.h"

_Static_assert(sizeof(off_t) == 8, "compile with -D_FILE_OFFSET_BITS=64");

/* Bytes of one system call: Linux moves no more than 2^31 - 4096. */
enum { PIECE = 1 << 30 };

/* The path comes last: it alone may be longer than a message, whose end is then cut.
 * strerrordesc_np needs no buffer, no lock and no locale. */
tpt_status tpti_fail_system(const char *action, const char *path) {
  int error = errno;
  const char *reason = strerrordesc_np(error), *name = *path ? path : "the path is empty";
  if (!reason) return tpti_fail(TPT_E_IO, "cannot %s (error %d): %s", action, error, name);
  return tpti_fail(TPT_E_IO, "cannot %s (%s): %s", action, reason, name);
}

/* Without O_NONBLOCK a pipe nobody writes to would hold the caller for ever. */
static int open_for_reading(const char *path) {
  return tpti_open(AT_FDCWD, path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
}

tpt_status tpti_file_open(const char *path, tpti_file *file) {
  *file = (tpti_file){.descriptor = open_for_reading(path)};
  if (file->descriptor < 0) return tpti_fail_system("open for reading", path);
  struct stat info;
  tpt_status status = TPT_OK;
  if (fstat(file->descriptor, &info)) {
    status = tpti_fail_system("ask the size", path);
  } else if (!S_ISREG(info.st_mode)) {
    status = tpti_fail(TPT_E_IO, "cannot read (%s): %s",
                       S_ISDIR(info.st_mode) ? "it is a folder" : "it is no regular file", path);
  } else {
    file->size = (uint64_t)info.st_size;
  }
  if (status) tpti_file_close(file);
  return status;
}

void tpti_file_close(tpti_file *file) {
  if (file->descriptor >= 0) close(file->descriptor);
  file->descriptor = -1;
}

tpt_status tpti_file_read(const tpti_file *file, const char *path, uint64_t offset, void *data,
                          size_t bytes) {
  char *to = data;
  size_t done = 0;
  if (offset > (uint64_t)INT64_MAX - bytes) {
    return tpti_fail(TPT_E_FORMAT, "byte %llu is past the end of any file: %s",
                     (unsigned long long)offset, path);
  }
  while (done < bytes) {
    size_t piece = bytes - done < PIECE ? bytes - done : PIECE;
    ssize_t got = pread(file->descriptor, to + done, piece, (off_t)(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return tpti_fail_system("read", path);
    if (got == 0) {
      return tpti_fail(TPT_E_FORMAT,
                       "the file ends before byte %llu where %zu bytes from %llu on are "
                       "needed (was it cut while in use?): %s",
                       (unsigned long long)(offset + done), bytes, (unsigned long long)offset,
                       path);
    }
    done += (size_t)got;
  }
  return TPT_OK;
}

size_t tpti_file_head(const tpti_file *file, char head[TPTI_LOOK_BYTES]) {
  ssize_t got;
  do {
    got = file->descriptor < 0 ? 0 : pread(file->descriptor, head, TPTI_LOOK_BYTES, 0);
  } while (got < 0 && errno == EINTR);
  return got < 0 ? 0 : (size_t)got;
}

static tpt_status fail_size(const tpti_file *file, const char *path, size_t limit,
                            tpti_want wanted) {
  char head[TPTI_LOOK_BYTES];
  tpti_fail(TPT_E_FORMAT, "the file has %llu bytes; at most %zu are allowed",
            (unsigned long long)file->size, limit);
  tpti_fail_looks(TPT_E_FORMAT, wanted, head, tpti_file_head(file, head));
  return tpti_fail_in(TPT_E_FORMAT, path);
}

static tpt_status read_all(const tpti_file *file, const char *path, tpti_buffer *text) {
  size_t bytes = (size_t)file->size;
  if (bytes == 0) return TPT_OK;
  void *room = tpti_buffer_reserve(text, bytes);
  if (!room) return tpti_fail_memory(bytes);
  tpt_status status = tpti_file_read(file, path, 0, room, bytes);
  if (!status) text->used += bytes;
  return status;
}

tpt_status tpti_file_slurp(const char *path, size_t limit, tpti_want wanted, tpti_buffer *text) {
  tpti_file file;
  tpt_status status = tpti_file_open(path, &file);
  if (status) return status;
  status = file.size > limit ? fail_size(&file, path, limit, wanted) : read_all(&file, path, text);
  tpti_file_close(&file);
  return status;
}
