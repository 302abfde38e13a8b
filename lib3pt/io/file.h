/* Files: read as a whole or at an offset, never mapped; written beside, synced, and renamed, so
 * that a file appears whole or not at all. Messages hold the path and the system's reason. */
#ifndef TPTI_IO_FILE_H
#define TPTI_IO_FILE_H

#include <stdint.h>

#include "base/buffer.h"
#include "io/looks.h"

/* An open file for reading (O_CLOEXEC); regular files only. */
typedef struct tpti_file {
  int descriptor;
  uint64_t size;
} tpti_file;

/* TPT_E_IO from errno: "cannot ACTION (No such file or directory): PATH". */
tpt_status tpti_fail_system(const char *action, const char *path);

tpt_status tpti_file_open(const char *path, tpti_file *file);
void tpti_file_close(tpti_file *file);

/* Exactly `bytes` at `offset`, by pread (any number of threads at once); short is TPT_E_FORMAT. */
tpt_status tpti_file_read(const tpti_file *file, const char *path, uint64_t offset, void *data,
                          size_t bytes);

/* The first bytes of an open file, for what it looks like; how many there are is the result. No
 * message: nothing is said where it cannot be read. */
size_t tpti_file_head(const tpti_file *file, char head[TPTI_LOOK_BYTES]);

/* The whole of a small file; more than `limit` bytes is TPT_E_FORMAT, with what was wanted. */
tpt_status tpti_file_slurp(const char *path, size_t limit, tpti_want wanted, tpti_buffer *text);

/* A file being written. Until commit, nothing is at `path`; abandon removes what was written. The
 * temporary file lies in the same folder, its name made unique, and takes the mode of an existing
 * target. Where the path is a link to a file, that file is replaced, not the link; a target that is
 * no regular file is refused. */
typedef struct tpti_writer tpti_writer;
tpt_status tpti_writer_open(const char *path, const tpti_memory *memory, tpti_writer **writer);
tpt_status tpti_writer_append(tpti_writer *writer, const void *data, size_t bytes);
/* fsync, rename, fsync of the folder; frees the writer always. */
tpt_status tpti_writer_commit(tpti_writer *writer);
void tpti_writer_abandon(tpti_writer *writer); /* NULL is accepted */

#endif
