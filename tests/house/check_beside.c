/* A program that has OpenBLAS and BLIS for itself and trains with lib3pt besides.
 *
 *   check_beside alone|beside     prints what must be the same in both, and what must not change
 * while lib3pt works */
#include <3pt/3pt.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of openblas and blis, by their documentation: both have a cblas.h, and only one can be installed.
 */
enum { ROWS_FIRST = 101, AS_IT_IS = 111, BLIS_AS_IT_IS = 0 };
void cblas_sgemm(int order, int of_a, int of_b, int m, int n, int k, float alpha, const float *a,
                 int a_row, const float *b, int b_row, float beta, float *c, int c_row);
void openblas_set_num_threads(int n);
int openblas_get_num_threads(void);
char *openblas_get_config(void);
void bli_sgemm(int of_a, int of_b, int64_t m, int64_t n, int64_t k, float *alpha, float *a,
               int64_t a_row, int64_t a_col, float *b, int64_t b_row, int64_t b_col, float *beta,
               float *c, int64_t c_row, int64_t c_col);
void bli_thread_set_num_threads(int64_t n);
int64_t bli_thread_get_num_threads(void);
int64_t bli_thread_get_jc_nt(void);

enum { N = 400, OPENBLAS_THREADS = 2, BLIS_THREADS = 3, STEPS = 6, BATCH = 4, SEQ = 32 };
static float a[N * N], b[N * N];

static void ok(tpt_status s) {
  if (s) fprintf(stderr, "%s\n", tpt_error_message()), exit(1);
}

/* FNV-1a of the bits. */
static uint64_t hash(const void *data, size_t size) {
  const unsigned char *at = data;
  uint64_t h = 14695981039346656037u;
  for (size_t i = 0; i < size; i++) h = (h ^ at[i]) * 1099511628211u;
  return h;
}

static void fill(float *x, uint32_t state) {
  for (int i = 0; i < N * N; i++) {
    state = state * 1664525u + 1013904223u;
    x[i] = (float)(int32_t)state / 2147483648.0f;
  }
}

static uint64_t by_openblas(void) {
  static _Thread_local float c[N * N];
  cblas_sgemm(ROWS_FIRST, AS_IT_IS, AS_IT_IS, N, N, N, 1, a, N, b, N, 0, c, N);
  return hash(c, sizeof c);
}

static uint64_t by_blis(void) {
  static _Thread_local float c[N * N];
  float one = 1, zero = 0;
  bli_sgemm(BLIS_AS_IT_IS, BLIS_AS_IT_IS, N, N, N, &one, a, N, 1, b, N, 1, &zero, c, N, 1);
  return hash(c, sizeof c);
}

typedef struct {
  uint64_t openblas, blis;
  int openblas_threads;
  int64_t blis_threads, blis_jc;
} others;

static others look(void) {
  others o = {by_openblas(), by_blis(), openblas_get_num_threads(), bli_thread_get_num_threads(),
              bli_thread_get_jc_nt()};
  return o;
}

static void show(const char *when, others o) {
  printf("%s: %016llx on %d, %016llx on %lld, jc %lld\n", when, (unsigned long long)o.openblas,
         o.openblas_threads, (unsigned long long)o.blis, (long long)o.blis_threads,
         (long long)o.blis_jc);
}

static int same(others x, others y) {
  return x.openblas == y.openblas && x.blis == y.blis && x.openblas_threads == y.openblas_threads &&
         x.blis_threads == y.blis_threads && x.blis_jc == y.blis_jc;
}

/* The losses of a few steps, then a token: their bits. */
static uint64_t by_lib3pt(void) {
  static const char text[] =
      "{model: {vocab_size: 96, d_model: 96, n_layers: 2, n_q_heads: 6, n_kv_heads: 3,"
      " d_ff: 192, max_seq_len: 32}, train: {batch: 4, warmup: 1, lr: 1e-2}}";
  tpt_context *context;
  tpt_config *config;
  tpt_model *model;
  tpt_trainer *trainer;
  tpt_optimizer *optimizer;
  tpt_decoder *decoder;
  int32_t in[BATCH * SEQ], out[BATCH * SEQ], token;
  double result[2 * STEPS + 1];
  for (int i = 0; i < BATCH * SEQ; i++) in[i] = i * 7 % 96, out[i] = (i + 1) * 7 % 96;
  ok(tpt_context_create(&context)), ok(tpt_context_set_threads(context, 2));
  ok(tpt_config_parse(text, sizeof text - 1, &config)),
      ok(tpt_model_create(context, config, 1, &model));
  ok(tpt_trainer_create(model, NULL, &trainer)),
      ok(tpt_optimizer_create(trainer, NULL, &optimizer));
  for (int i = 0; i < STEPS; i++) {
    ok(tpt_trainer_zero_gradients(trainer));
    ok(tpt_trainer_accumulate(trainer, in, out, BATCH, SEQ, &result[2 * i]));
    ok(tpt_optimizer_step(optimizer, &result[2 * i + 1]));
  }
  ok(tpt_decoder_create(model, 0, &decoder)), ok(tpt_decoder_feed(decoder, in, SEQ - 1, NULL));
  ok(tpt_decoder_sample(decoder, &token));
  result[2 * STEPS] = token;
  tpt_decoder_destroy(decoder), tpt_optimizer_destroy(optimizer), tpt_trainer_destroy(trainer);
  tpt_model_destroy(model), tpt_config_destroy(config), tpt_context_destroy(context);
  return hash(result, sizeof result);
}

static others before;
static atomic_int done, looks, changes;

/* The host goes on with its own products while another thread trains. */
static void *work_on(void *unused) {
  do {
    if (!same(look(), before)) changes++;
    looks++;
  } while (!done);
  return unused;
}

static const char *library_of(void *function) {
  Dl_info info = {0};
  return dladdr(function, &info) && info.dli_fname ? info.dli_fname : "?";
}

/* A function's address as dladdr wants it, which ISO C has no cast for. */
#define ADDRESS(function) dlsym(RTLD_DEFAULT, #function)

int main(int argc, char **argv) {
  int beside = argc > 1 && !strcmp(argv[1], "beside");
  pthread_t thread;
  if (beside) {
    fill(a, 1), fill(b, 2);
    openblas_set_num_threads(OPENBLAS_THREADS);
    bli_thread_set_num_threads(BLIS_THREADS);
    before = look();
    printf("libraries: %s %s %s\n", library_of(ADDRESS(cblas_sgemm)),
           library_of(ADDRESS(bli_sgemm)), library_of(ADDRESS(tpt_version)));
    show("before", before);
    if (pthread_create(&thread, NULL, work_on, NULL)) return 1;
  }
  printf("lib3pt: %016llx by %s\n", (unsigned long long)by_lib3pt(), tpt_build_info());
  if (beside) {
    done = 1;
    pthread_join(thread, NULL);
    printf("during: %d of %d changed\n", changes, looks);
    show("after", look());
  }
  return 0;
}
