#include "worker.h"

#include <pthread.h>

typedef struct job {
  struct job *next;
  char line[];
} job;

struct worker {
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t added;
  job *first, **last; /* the first one is being learned */
  size_t jobs;
  char status[STATUS_MOST];
  int ending;

  learner *learner; /* the thread's */
  suggester *suggester;
  void (*wake)(void);
};

/* What cannot be saved is said first: a small terminal has no room for all. */
static void publish(worker *w, tpt_status failed) {
  const char *trouble = w->learner->trouble;
  if (failed == TPT_E_CANCELLED) return;
  pthread_mutex_lock(&w->lock);
  size_t used = 0, most = sizeof w->status;
  if (*trouble) used = (size_t)snprintf(w->status, most, "not saved, tried again: %s  ", trouble);
  if (failed)
    snprintf(w->status + used, most - used, "not learned: %s", tpt_error_message());
  else
    memory_status(&w->learner->memory, w->status + used, most - used);
  pthread_mutex_unlock(&w->lock);
  w->wake();
}

static void learn(worker *w, const char *line) {
  tpt_status status = learn_score(w->learner, line);
  publish(w, status);
  if (status) return;
  if ((status = learn_line(w->learner, line))) {
    publish(w, status);
    return;
  }
  suggest_learned(w->suggester, w->learner->model);
  learn_save_now_and_then(w->learner);
  publish(w, TPT_OK);
}

/* Removes the first job. With the lock. */
static void drop(worker *w) {
  job *done = w->first;
  w->first = done->next;
  if (!w->first) w->last = &w->first;
  w->jobs--;
  free(done);
}

static void *work(void *user) {
  worker *w = user;
  pthread_mutex_lock(&w->lock);
  for (;;) {
    while (!w->first && !w->ending) pthread_cond_wait(&w->added, &w->lock);
    if (w->ending) break;
    const char *line = w->first->line;
    pthread_mutex_unlock(&w->lock);
    learn(w, line);
    pthread_mutex_lock(&w->lock);
    drop(w);
    w->wake();
  }
  while (w->first) drop(w);
  pthread_mutex_unlock(&w->lock);
  w->wake();
  return NULL;
}

worker *worker_start(learner *l, suggester *s, void (*wake)(void)) {
  worker *w = must_have(calloc(1, sizeof *w));
  w->learner = l, w->suggester = s, w->wake = wake;
  w->last = &w->first;
  memory_status(&l->memory, w->status, sizeof w->status);
  pthread_mutex_init(&w->lock, NULL);
  pthread_cond_init(&w->added, NULL);
  if (pthread_create(&w->thread, NULL, work, w)) leave("the system starts no thread");
  return w;
}

void worker_add(worker *w, const char *line) {
  job *j = must_have(malloc(sizeof *j + strlen(line) + 1));
  j->next = NULL;
  strcpy(j->line, line);
  pthread_mutex_lock(&w->lock);
  *w->last = j;
  w->last = &j->next;
  w->jobs++;
  pthread_cond_signal(&w->added);
  pthread_mutex_unlock(&w->lock);
}

size_t worker_status(worker *w, char *text) {
  pthread_mutex_lock(&w->lock);
  size_t jobs = w->jobs;
  strcpy(text, w->status);
  pthread_mutex_unlock(&w->lock);
  return jobs;
}

void worker_hurry(worker *w) {
  pthread_mutex_lock(&w->lock);
  w->ending = 1;
  must(tpt_context_cancel(w->learner->context, 1));
  pthread_cond_signal(&w->added);
  pthread_mutex_unlock(&w->lock);
}

void worker_end(worker *w) {
  worker_hurry(w);
  pthread_join(w->thread, NULL);
  must(tpt_context_cancel(w->learner->context, 0));
  free(w);
}
