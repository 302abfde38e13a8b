/* What train has learned is kept: checkpoints, the model, and both where they cannot be written any
 * more after hours of work. */
#ifndef EXAMPLES_KEEP_H
#define EXAMPLES_KEEP_H

#include "session.h"

static inline tpt_status session_model(const session *s, const char *path) {
  return tpt_model_save(s->model, path);
}

static inline tpt_status session_checkpoint(const session *s, const char *path) {
  place here = s->place;
  here.seconds += now() - s->report.began;
  return tpt_checkpoint_save(s->trainer, s->optimizer, path, &here, sizeof here);
}

typedef tpt_status session_saver(const session *s, const char *path);

/* Saves, or warns with the reason. */
static inline int session_try(const session *s, session_saver *save, const char *path) {
  char text[PATH_MAX + 1024];
  if (save(s, path) == TPT_OK) return 1;
  complain_of(path, text, sizeof text);
  report_clear();
  warn("%s", text);
  return 0;
}

/* Saves in the folder under the name of `path` with .unsaved at its end, never over a file. */
static inline int save_beside(const session *s, session_saver *save, const char *folder,
                              const char *path) {
  char name[2 * PATH_MAX + 16];
  const char *slash = strrchr(path, '/');
  int end = snprintf(name, sizeof name, "%s/%s.unsaved", folder, slash ? slash + 1 : path);
  for (int i = 2; i < 100 && is_there(name); i++)
    snprintf(name + end, sizeof name - (size_t)end, "%d", i);
  if (is_there(name) || save(s, name) != TPT_OK) return 0;
  warn("%s: all after step %llu is kept here", name, (unsigned long long)s->figures.step);
  return 1;
}

/* Saves, or says why not and keeps the work in another place: beside the file, where the program
 * was started, or in a new folder of /tmp.
 *   returns   whether it is where it was to be */
static inline int session_keep(const session *s, session_saver *save, const char *path) {
  char folder[PATH_MAX], fresh[] = "/tmp/3pt-XXXXXX";
  if (session_try(s, save, path)) return 1;
  folder_of(path, folder);
  if (save_beside(s, save, folder, path) || save_beside(s, save, ".", path)) return 0;
  if (mkdtemp(fresh)) {
    if (save_beside(s, save, fresh, path)) return 0;
    rmdir(fresh);
  }
  warn("%s: could not be kept in any other place", path);
  return 0;
}

#endif
