/* Files that appear whole or not at all. */
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "io/file.h"
#include "io/files.h"
#include "support/allocator.h"
#include "support/runner.h"

static tpt_status save(const char *path, const char *text, size_t bytes) {
  tpti_writer *writer;
  tpt_status status = tpti_writer_open(path, &tpti_memory_default, &writer);
  if (status) {
    ck_assert_ptr_null(writer);
    return status;
  }
  status = tpti_writer_append(writer, text, bytes);
  if (!status) return tpti_writer_commit(writer);
  tpti_writer_abandon(writer);
  return status;
}

static mode_t mode_of(const char *path) {
  struct stat info;
  ck_assert_int_eq(lstat(path, &info), 0);
  return info.st_mode;
}

START_TEST(appears_only_when_committed) {
  const char *path = in_folder("new");
  tpti_writer *writer;
  ck_assert_int_eq(tpti_writer_open(path, &tpti_memory_default, &writer), TPT_OK);
  ck_assert_int_eq(tpti_writer_append(writer, "abc", 3), TPT_OK);
  ck_assert_int_eq(tpti_writer_append(writer, NULL, 0), TPT_OK);
  ck_assert_int_eq(tpti_writer_append(writer, "de", 2), TPT_OK);
  ck_assert_int_ne(access(path, F_OK), 0);
  ck_assert_int_eq(tpti_writer_commit(writer), TPT_OK);
  check_file(path, "abcde", 5);
  ck_assert_uint_eq(files_in_folder(), 1);
}
END_TEST

START_TEST(abandon_leaves_the_old_file) {
  const char *path = in_folder("old");
  tpti_test_write_file(path, "old", 3);
  tpti_writer *writer;
  ck_assert_int_eq(tpti_writer_open(path, &tpti_memory_default, &writer), TPT_OK);
  ck_assert_int_eq(tpti_writer_append(writer, "new one", 7), TPT_OK);
  check_file(path, "old", 3);
  ck_assert_uint_eq(files_in_folder(), 2);
  tpti_writer_abandon(writer);
  tpti_writer_abandon(NULL);
  check_file(path, "old", 3);
  ck_assert_uint_eq(files_in_folder(), 1);
}
END_TEST

START_TEST(mode_is_kept_or_of_the_umask) {
  const char *old = in_folder("old"), *new = in_folder("new");
  tpti_test_write_file(old, "old", 3);
  ck_assert_int_eq(chmod(old, 0642), 0);
  umask(027);
  ck_assert_int_eq(save(old, "a", 1), TPT_OK);
  ck_assert_int_eq(save(new, "a", 1), TPT_OK);
  ck_assert_int_eq(mode_of(old) & 07777, 0642);
  ck_assert_int_eq(mode_of(new) & 07777, 0640);
}
END_TEST

START_TEST(links_are_followed) {
  const char *file = in_folder("file"), *link = in_folder("link"), *loose = in_folder("loose");
  tpti_test_write_file(file, "old", 3);
  ck_assert_int_eq(symlink("file", link), 0);
  ck_assert_int_eq(symlink("nothing", loose), 0);
  ck_assert_int_eq(save(link, "new", 3), TPT_OK);
  check_file(file, "new", 3);
  ck_assert(S_ISLNK(mode_of(link)));
  ck_assert_int_eq(save(loose, "own", 3), TPT_OK);
  check_file(loose, "own", 3);
  ck_assert(S_ISREG(mode_of(loose)));
  ck_assert_int_ne(access(in_folder("nothing"), F_OK), 0);
}
END_TEST

START_TEST(targets_that_are_refused) {
  char long_name[320];
  memset(long_name, 'n', sizeof long_name);
  long_name[sizeof long_name - 1] = '\0';
  static const struct {
    const char *name, *reason;
  } rows[] = {{"no/such/folder", "No such file"},
              {".", "folder"},
              {"", "folder"},
              {"sub", "folder"},
              {"sub/", "folder"},
              {"new/", "missing"},
              {"file/x", "Not a directory"},
              {"pipe", "no regular"}};
  ck_assert_int_eq(mkdir(in_folder("sub"), 0700), 0);
  ck_assert_int_eq(mkfifo(in_folder("pipe"), 0600), 0);
  tpti_test_write_file(in_folder("file"), "x", 1);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const char *path = in_folder(rows[i].name);
    ck_assert_msg(save(path, "a", 1) == TPT_E_IO, "%s", rows[i].name);
    ck_assert_message(rows[i].reason);
    ck_assert_message(path);
  }
  ck_assert_int_eq(save(in_folder(long_name), "a", 1), TPT_E_IO);
  ck_assert_message("too long");
  ck_assert_int_eq(save("/dev/full", "a", 1), TPT_E_IO);
  ck_assert_message("no regular file");
  ck_assert_int_eq(save("", "a", 1), TPT_E_IO);
  ck_assert_uint_eq(files_in_folder(), 3);
}
END_TEST

START_TEST(longest_name_works) {
  char name[256];
  memset(name, 'n', 255);
  name[255] = '\0';
  ck_assert_int_eq(save(in_folder(name), "a", 1), TPT_OK);
  check_file(in_folder(name), "a", 1);
}
END_TEST

START_TEST(relative_path_survives_a_change_of_folder) {
  char back[512];
  ck_assert_ptr_nonnull(getcwd(back, sizeof back));
  ck_assert_int_eq(chdir(folder), 0);
  tpti_writer *writer;
  ck_assert_int_eq(tpti_writer_open("here", &tpti_memory_default, &writer), TPT_OK);
  ck_assert_int_eq(chdir(back), 0);
  ck_assert_int_eq(tpti_writer_append(writer, "a", 1), TPT_OK);
  ck_assert_int_eq(tpti_writer_commit(writer), TPT_OK);
  check_file(in_folder("here"), "a", 1);
}
END_TEST

/* A full disk, as a limit of the process: the first write is short, the next one fails. */
START_TEST(failed_write_leaves_nothing) {
  const char *path = in_folder("old");
  tpti_test_write_file(path, "old", 3);
  signal(SIGXFSZ, SIG_IGN);
  struct rlimit before, small;
  ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
  small = (struct rlimit){1000, before.rlim_max};
  static char much[3000];
  ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
  tpti_writer *writer;
  tpt_status opened = tpti_writer_open(path, &tpti_memory_default, &writer);
  tpt_status status = opened ? opened : tpti_writer_append(writer, much, sizeof much);
  ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
  ck_assert_int_eq(opened, TPT_OK);
  ck_assert_int_eq(status, TPT_E_IO);
  ck_assert_message("File too large");
  ck_assert_message(path);
  ck_assert_int_eq(tpti_writer_commit(writer), TPT_E_IO); /* not half a file */
  check_file(path, "old", 3);
  ck_assert_uint_eq(files_in_folder(), 1);
}
END_TEST

START_TEST(failed_rename_leaves_nothing) {
  const char *path = in_folder("name");
  tpti_writer *writer;
  ck_assert_int_eq(tpti_writer_open(path, &tpti_memory_default, &writer), TPT_OK);
  ck_assert_int_eq(tpti_writer_append(writer, "a", 1), TPT_OK);
  ck_assert_int_eq(mkdir(path, 0700), 0);
  ck_assert_int_eq(tpti_writer_commit(writer), TPT_E_IO);
  ck_assert_message("rename");
  ck_assert_uint_eq(files_in_folder(), 1);
}
END_TEST

/* Root may do anything: it becomes nobody meanwhile. */
START_TEST(permissions_are_respected) {
  const char *locked = in_folder("locked");
  tpti_test_write_file(locked, "old", 3);
  ck_assert_int_eq(chmod(locked, 0444), 0);
  ck_assert_int_eq(chmod(folder, 0777), 0);
  uid_t user = geteuid();
  if (user == 0) ck_assert_int_eq(seteuid(65534), 0);
  tpt_status open_folder = save(in_folder("free"), "a", 1);
  tpt_status locked_file = save(locked, "new", 3);
  ck_assert_message("Permission denied");
  if (user == 0) ck_assert_int_eq(seteuid(0), 0);
  ck_assert_int_eq(chmod(folder, 0555), 0);
  if (user == 0) ck_assert_int_eq(seteuid(65534), 0);
  tpt_status locked_folder = save(in_folder("more"), "a", 1);
  ck_assert_message("Permission denied");
  if (user == 0) ck_assert_int_eq(seteuid(user), 0);
  ck_assert_int_eq(chmod(folder, 0755), 0);
  ck_assert_int_eq(open_folder, TPT_OK);
  ck_assert_int_eq(locked_file, TPT_E_IO);
  ck_assert_int_eq(locked_folder, TPT_E_IO);
  check_file(locked, "old", 3);
  ck_assert_uint_eq(files_in_folder(), 2);
}
END_TEST

START_TEST(no_memory_no_file) {
  tpti_test_allocator a;
  tpti_test_allocator_init(&a);
  tpti_test_allocator_fail_at(&a, 1);
  tpti_writer *writer;
  ck_assert_int_eq(tpti_writer_open(in_folder("new"), &a.memory, &writer), TPT_E_MEMORY);
  ck_assert_uint_eq(files_in_folder(), 0);
  tpti_test_allocator_fail_at(&a, 0);
  ck_assert_int_eq(tpti_writer_open(in_folder("new"), &a.memory, &writer), TPT_OK);
  tpti_writer_abandon(writer);
  ck_assert_uint_eq(tpti_test_allocator_live(&a), 0);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {appears_only_when_committed,
                                abandon_leaves_the_old_file,
                                mode_is_kept_or_of_the_umask,
                                links_are_followed,
                                targets_that_are_refused,
                                longest_name_works,
                                relative_path_survives_a_change_of_folder,
                                failed_write_leaves_nothing,
                                failed_rename_leaves_nothing,
                                permissions_are_respected,
                                no_memory_no_file};
  return tpti_test_main(suite_of("writer", tests, sizeof tests / sizeof *tests));
}
