/* Products of bf16 against float64: of the parts, and of the numbers themselves.
 *
 *   test_bf16 tiles|vectors     on that unit */
#include "kernel/bf16.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/run.h"
#include "variants.h"

/* What multiplies: its precisions, of one part, of two, of three. */
typedef struct unit {
  const char *name;
  bool (*here)(void);
  int precisions;
  tpti_precision precision[3];
} unit;

static const unit units[] = {
    {"tiles",
     tpti_amx_permit,
     3,
     {TPTI_PRECISION_BF16, TPTI_PRECISION_BF16X3, TPTI_PRECISION_BF16X6}},
    {"vectors", tpti_bf16_vectors_here, 1, {TPTI_PRECISION_BF16_VECTORS}},
};
enum { TILES, VECTORS, UNITS };

static const unit *tested;

/* The norm of the error relative to that of C: to the products of the parts, of which the sums are
 * float; and to the numbers' own, for which random signs average the errors of the factors. */
static const double near_parts = 5e-7, near_exact[] = {4e-3, 1.2e-5, 5e-7};

typedef struct shape {
  size_t m, n, k;
} shape;

typedef enum base_kind { NO_BASE, OTHER_BASE, OWN_BASE, BASES } base_kind;

/* ---- a product and its truth ---- */

/* The nearest bf16, ties to even. */
static float nearest(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000u;
  memcpy(&x, &bits, sizeof x);
  return x;
}

enum { PARTS = 3 };

static void split(float *part, float x) {
  for (int i = 0; i < PARTS; i++) {
    part[i] = nearest(x);
    x -= part[i];
  }
}

/* The products of parts i and j that a precision with so many parts counts, i + j below it; those
 * of the numbers themselves where parts is 0. */
static double product(float x, float y, const float *x_part, const float *y_part, int parts) {
  if (parts == 0) return (double)x * (double)y;
  double sum = 0;
  for (int i = 0; i < parts; i++) {
    for (int j = 0; i + j < parts; j++) sum += (double)x_part[i] * (double)y_part[j];
  }
  return sum;
}

typedef struct product_case {
  tpti_gemm g;
  guarded arrays;
  float *c, *base, *a, *b;
  size_t count;  /* of C, with the gaps */
  int precision; /* of the unit */
} product_case;

/* Strides of a view with gaps between its lines; how many floats it takes. */
static size_t view(size_t *row, size_t *col, size_t rows, size_t cols, bool turned) {
  size_t gap = 3, line = (turned ? rows : cols) + gap;
  *row = turned ? 1 : line;
  *col = turned ? line : 1;
  return line * (turned ? cols : rows);
}

static void make(product_case *p, const shape *s, int ways, base_kind base, int precision) {
  *p = (product_case){.g = {.m = s->m, .n = s->n, .k = s->k, .c_row = s->n + 5}};
  tpti_gemm *g = &p->g;
  p->precision = precision;
  p->count = g->m * g->c_row;
  p->a = guarded_take(&p->arrays, view(&g->a_row, &g->a_col, s->m, s->k, ways & 1), 1);
  p->b = guarded_take(&p->arrays, view(&g->b_row, &g->b_col, s->k, s->n, ways & 2), 2);
  p->base = guarded_take(&p->arrays, p->count, 3);
  p->c = guarded_nan(&p->arrays, p->count);
  if (base == OWN_BASE) memcpy(p->c, p->base, p->count * sizeof(float));
  g->a = p->a;
  g->b = p->b;
  g->c = p->c;
  g->base = base == NO_BASE ? NULL : base == OWN_BASE ? p->c : p->base;
  g->base_row = g->c_row;
}

/* The parts of a column of B after another. */
static float *split_b(const tpti_gemm *g) {
  float *parts = malloc((g->n * g->k * PARTS + 1) * sizeof *parts);
  ck_assert_ptr_nonnull(parts);
  for (size_t i = 0; i < g->n * g->k; i++)
    split(parts + i * PARTS, g->b[i % g->k * g->b_row + i / g->k * g->b_col]);
  return parts;
}

/* What C should be, without gaps; scale is the same of the sizes of all terms. */
static void truth(const product_case *p, int parts, double *want, double *scale) {
  const tpti_gemm *g = &p->g;
  float *b_parts = split_b(g), a_part[PARTS];
  for (size_t i = 0; i < g->m * g->n; i++)
    want[i] = g->base ? (double)p->base[i / g->n * g->c_row + i % g->n] : 0;
  for (size_t i = 0; i < g->m * g->n; i++) scale[i] = fabs(want[i]);
  for (size_t i = 0; i < g->m; i++) {
    for (size_t k = 0; k < g->k; k++) {
      float x = g->a[i * g->a_row + k * g->a_col];
      split(a_part, x);
      for (size_t j = 0; j < g->n; j++) {
        float y = g->b[k * g->b_row + j * g->b_col];
        double term = product(x, y, a_part, b_parts + (j * g->k + k) * PARTS, parts);
        want[i * g->n + j] += term;
        scale[i * g->n + j] += fabs(term);
      }
    }
  }
  free(b_parts);
}

static double norm(const double *values, size_t count) {
  double sum = 0;
  for (size_t i = 0; i < count; i++) sum += values[i] * values[i];
  return sqrt(sum);
}

/* Relative to C, and where `by_terms` to what its terms would sum to without signs. */
static double error_of(const product_case *p, int parts, bool by_terms) {
  const tpti_gemm *g = &p->g;
  size_t count = g->m * g->n;
  double *want = calloc(2 * count + 1, sizeof *want), *scale = want + count;
  ck_assert_ptr_nonnull(want);
  truth(p, parts, want, scale);
  double size = norm(by_terms ? scale : want, count);
  for (size_t i = 0; i < count; i++) want[i] -= (double)p->c[i / g->n * g->c_row + i % g->n];
  double error = norm(want, count) / size;
  free(want);
  return error;
}

/* Nothing between the rows is written. */
static void check_gaps(const product_case *p, const float *before) {
  const tpti_gemm *g = &p->g;
  size_t row = 0, size = (g->c_row - g->n) * sizeof(float);
  while (row < g->m && !memcmp(p->c + row * g->c_row + g->n, before + row * g->c_row + g->n, size))
    row++;
  ck_assert_msg(row == g->m, "written behind row %zu", row);
}

static void check_within(product_case *p, const char *who, const double *bounds, bool by_terms) {
  const tpti_gemm *g = &p->g;
  int number = p->precision + 1;
  double parts = error_of(p, number, by_terms), exact = error_of(p, 0, by_terms);
  ck_assert_msg(parts <= near_parts && exact <= bounds[p->precision],
                "%s, %zu x %zu x %zu, %d parts, strides %zu %zu: error %.3g, of parts %.3g", who,
                g->m, g->n, g->k, number, g->a_col, g->b_col, exact, parts);
}

/* A sum may be all but 0. A part leaves 2^-9 of what it is of at most, so that products leave
 * twice that of one part, three times its square of two. */
static void check(product_case *p, const char *who) {
  static const double bounds[] = {0x2p-9, 0x3p-18, 2e-7};
  check_within(p, who, bounds, true);
}

/* ---- running it ---- */

enum { FENCE = 4096 };

typedef struct fenced {
  unsigned char *block;
  size_t bytes;
} fenced;

/* Bytes at 64, between fences. */
static void *fenced_take(fenced *f, size_t bytes) {
  f->bytes = bytes;
  f->block = aligned_alloc(64, (bytes + 2 * FENCE + 63) / 64 * 64);
  ck_assert_ptr_nonnull(f->block);
  memset(f->block, 0xa5, bytes + 2 * FENCE);
  return f->block + FENCE;
}

static void fenced_end(fenced *f) {
  bool whole = true;
  for (size_t i = 0; i < FENCE; i++)
    whole = whole && f->block[i] == 0xa5 && f->block[FENCE + f->bytes + i] == 0xa5;
  ck_assert(whole);
  free(f->block);
}

/* A run with the scratch and the room between fences. */
typedef struct bench {
  tpti_run run;
  tpti_run *own;
  fenced scratch;
} bench;

/* 0: no pool. */
static bench bench_take(int32_t threads) {
  bench b = {.own = tpti_test_run(threads ? threads : 1)};
  b.run = *b.own;
  b.run.scratch = fenced_take(&b.scratch, TPTI_SCRATCH);
  if (threads == 0) b.run.pool = NULL;
  return b;
}

static void bench_end(bench *b) {
  fenced_end(&b->scratch);
  tpti_test_run_free(b->own);
}

static void run_case(bench *b, product_case *p, bool packed) {
  tpti_gemm *g = &p->g;
  fenced pack, of_b;
  b->run.precision = tested->precision[p->precision];
  void *room = fenced_take(&pack, tpti_bf16_pack(b->run.precision, g->m, g->n, g->k));
  void *operand = fenced_take(&of_b, tpti_bf16_packed_bytes(b->run.precision, g->n, g->k));
  if (packed) tpti_bf16_pack_b(&b->run, operand, g);
  b->run.pack = packed ? NULL : room;
  g->packed = packed ? operand : NULL;
  tpti_bf16_run(&b->run, g);
  g->packed = NULL;
  fenced_end(&pack);
  fenced_end(&of_b);
}

static void run_once(product_case *p, int32_t threads, bool packed) {
  bench b = bench_take(threads);
  run_case(&b, p, packed);
  bench_end(&b);
}

/* ---- tests ---- */

static const size_t sizes[] = {1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 65};
enum { SIZES = 13, WAYS = 4 };

/* Every pair of sizes, every way of the operands, every base. */
START_TEST(product_is_that_of_the_parts) {
  bench b = bench_take(1);
  for (size_t c = 0; c < SIZES * SIZES * WAYS * BASES; c++) {
    size_t i = c % SIZES, j = c / SIZES % SIZES, rest = c / SIZES / SIZES;
    shape s = {sizes[i], sizes[j], sizes[(3 * i + 7 * j + c / 7) % SIZES]};
    product_case p;
    make(&p, &s, (int)(rest % WAYS), (base_kind)(rest / WAYS), _i / 2);
    float *before = guarded_nan(&p.arrays, p.count);
    memcpy(before, p.c, p.count * sizeof(float));
    run_case(&b, &p, _i % 2);
    check(&p, _i % 2 ? "packed" : "not packed");
    check_gaps(&p, before);
    guarded_end(&p.arrays);
  }
  bench_end(&b);
}
END_TEST

/* k in rounds of the first level, of an item's scratch; many groups; as a step has them: weight
 * gradients, logits, the head's gradients. */
static const struct {
  shape s;
  int ways; /* 1: A turned, 2: B turned */
  base_kind base;
} steps[] = {{{128, 96, 2048}, 1, OWN_BASE}, {{96, 160, 1030}, 1, OWN_BASE},
             {{200, 330, 192}, 2, NO_BASE},  {{70, 96, 5000}, 0, OTHER_BASE},
             {{330, 96, 262}, 1, OWN_BASE},  {{7, 1500, 100}, 2, OTHER_BASE},
             {{600, 48, 70}, 0, NO_BASE}};
enum { STEPS = sizeof steps / sizeof steps[0] };

START_TEST(step_shapes_are_near) {
  for (int packed = 0; packed < 2; packed++) {
    product_case p;
    make(&p, &steps[_i / tested->precisions].s, steps[_i / tested->precisions].ways,
         steps[_i / tested->precisions].base, _i % tested->precisions);
    run_once(&p, 2, packed);
    check_within(&p, packed ? "packed" : "not packed", near_exact, false);
    guarded_end(&p.arrays);
  }
}
END_TEST

/* Also packed or not: only the k of a sum decides. */
START_TEST(threads_do_not_change_bits) {
  static const int32_t counts[] = {0, 1, 2, 3, 5, 7};
  float *first = NULL;
  size_t size = 0;
  for (size_t c = 0; c < 12; c++) {
    product_case p;
    make(&p, &steps[_i / tested->precisions].s, steps[_i / tested->precisions].ways,
         steps[_i / tested->precisions].base, _i % tested->precisions);
    if (steps[_i / tested->precisions].base != OWN_BASE) memset(p.c, 0, p.count * sizeof(float));
    run_once(&p, counts[c / 2], c % 2);
    if (!first) {
      size = p.count;
      first = malloc(size * sizeof(float));
      ck_assert_ptr_nonnull(first);
      memcpy(first, p.c, size * sizeof(float));
    }
    ck_assert_msg(tpti_test_first_difference(first, p.c, size) == size, "%d threads, packed %zu",
                  counts[c / 2], c % 2);
    guarded_end(&p.arrays);
  }
  free(first);
}
END_TEST

/* A caller that cuts the rows itself gets the bits of the whole. */
START_TEST(rows_alone_have_the_bits_of_all) {
  shape s = {300, 96, 700};
  product_case all, some;
  make(&all, &s, _i & 1, OTHER_BASE, _i / 2);
  make(&some, &s, _i & 1, OTHER_BASE, _i / 2);
  run_once(&all, 3, true);
  const tpti_gemm whole = some.g;
  for (size_t i = 0, rows; i < s.m; i += rows) {
    rows = i == 0 ? 77 : 64;
    if (rows > s.m - i) rows = s.m - i;
    some.g.m = rows;
    some.g.a = whole.a + i * whole.a_row;
    some.g.c = whole.c + i * whole.c_row;
    some.g.base = whole.base + i * whole.base_row;
    run_once(&some, 0, true);
  }
  for (size_t i = 0; i < s.m; i++)
    ck_assert_mem_eq(all.c + i * whole.c_row, some.c + i * whole.c_row, s.n * sizeof(float));
  guarded_end(&all.arrays);
  guarded_end(&some.arrays);
}
END_TEST

START_TEST(no_terms_give_base) {
  shape s = {37, 50, 0};
  for (int c = 0; c < 2 * BASES; c++) {
    product_case p;
    make(&p, &s, c & 3, (base_kind)(c / 2), _i);
    run_once(&p, 2, c % 2);
    bool same = true;
    for (size_t i = 0; i < s.m * p.g.c_row; i++) {
      if (i % p.g.c_row < s.n) same = same && p.c[i] == (c / 2 == NO_BASE ? 0 : p.base[i]);
    }
    ck_assert(same);
    guarded_end(&p.arrays);
  }
}
END_TEST

/* Whether row 5 and column 52 of C are not finite, and all else is. */
static bool only_the_cross(const product_case *p) {
  for (size_t i = 0; i < p->g.m; i++) {
    for (size_t j = 0; j < p->g.n; j++) {
      bool cross = i == 5 || j == 52;
      if (!!isfinite(p->c[i * p->g.c_row + j]) == cross) return false;
    }
  }
  return true;
}

/* What is not finite reaches its row and column, as something that is not finite, and nothing else,
 * padding included. */
START_TEST(special_values_stay_in_their_row) {
  static const float values[] = {NAN, INFINITY, -INFINITY};
  bench b = bench_take(1);
  for (int c = 0; c < 3 * WAYS * 2; c++) {
    shape s = {35, 53, 41};
    product_case p;
    make(&p, &s, c % WAYS, OTHER_BASE, _i);
    p.a[5 * p.g.a_row + 40 * p.g.a_col] = values[c / WAYS % 3];
    p.b[2 * p.g.b_row + 52 * p.g.b_col] = values[(c / WAYS + 1) % 3];
    run_case(&b, &p, c / WAYS / 3);
    ck_assert_msg(only_the_cross(&p), "case %d", c);
    guarded_end(&p.arrays);
  }
  bench_end(&b);
}
END_TEST

/* Terms of very different sizes that do not cancel: float's own error. */
START_TEST(six_products_are_as_good_as_float) {
  shape s = {64, 64, 2000};
  product_case p;
  make(&p, &s, 2, NO_BASE, 2);
  for (size_t i = 0; i < s.m * p.g.a_row; i++) p.a[i] *= expf(4 * p.a[i]);
  for (size_t i = 0; i < s.n * p.g.b_col; i++) p.b[i] = 1 + 0.01f * p.b[i];
  run_once(&p, 1, false);
  double error = error_of(&p, 0, false);
  ck_assert_msg(error <= 1e-7, "error %.3g", error);
  guarded_end(&p.arrays);
}
END_TEST

/* XINUSE, which says what of a thread's state is not in its first state. */
static uint32_t state_in_use(void) {
#if defined(__x86_64__)
  uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(1));
  return low;
#else
  return 0;
#endif
}

START_TEST(no_tile_state_is_left) {
  const uint32_t tiles = 3u << 17;
  for (int packed = 0; packed < 2; packed++) {
    product_case p;
    make(&p, &steps[_i].s, steps[_i].ways, steps[_i].base, 1);
    run_once(&p, packed ? 0 : 2, packed);
    ck_assert_uint_eq(state_in_use() & tiles, 0);
    guarded_end(&p.arrays);
  }
}
END_TEST

START_TEST(pack_grows_with_the_sizes_and_is_bounded) {
  static const size_t many[] = {1, 7, 64, 192, 193, 384, 700, 1024, 8192, 32000};
  for (size_t c = 0; c < 10 * 10 * 10; c++) {
    size_t m = many[c % 10], n = many[c / 10 % 10], k = many[c / 100];
    size_t bytes = tpti_bf16_pack(tested->precision[_i], m, n, k);
    ck_assert_uint_gt(bytes, 0);
    ck_assert_uint_le(bytes, tpti_bf16_pack(tested->precision[_i], m + 1, n, k));
    ck_assert_uint_le(bytes, tpti_bf16_pack(tested->precision[_i], m + 40, n + 33, k));
    ck_assert_uint_le(bytes, tpti_bf16_pack(tested->precision[_i], m, n + 1, k));
    ck_assert_uint_le(bytes, tpti_bf16_pack(tested->precision[_i], m, n, k + 1));
    ck_assert_uint_le(bytes, tpti_bf16_pack(tested->precision[_i], m, n, k + 100));
    if (m <= 4096 || n <= 4096) ck_assert_uint_le(bytes, 16 << 20);
  }
}
END_TEST

/* In a process whose signal stack is too small for tiles, one that has not asked before. */
static bool permitted_on_small_stack(void) {
  pid_t child = fork();
  if (child == 0) {
    static char stack[8192];
    stack_t small = {.ss_sp = stack, .ss_size = sizeof stack};
    if (sigaltstack(&small, NULL) != 0) _exit(0); /* the system refuses sooner */
    _exit(tpti_amx_permit() || tpti_amx_permit());
  }
  int status;
  return waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

static bool small_stack_permitted;

START_TEST(a_small_signal_stack_is_refused) { ck_assert(!small_stack_permitted); }
END_TEST

START_TEST(leave_stays_given) {
  ck_assert(tpti_amx_permit());
  ck_assert(tpti_amx_permit());
}
END_TEST

/* They would be a product of 1 else. */
START_TEST(denormals_count_as_zero) {
  shape s = {35, 53, 41};
  product_case p;
  make(&p, &s, 0, NO_BASE, _i);
  for (size_t i = 0; i < s.m * p.g.a_row; i++) p.a[i] = 0x1p-127f;
  for (size_t i = 0; i < s.k * p.g.b_row; i++) p.b[i] = 0x1p+127f;
  run_once(&p, 1, false);
  for (size_t i = 0; i < s.m * s.n; i++) ck_assert_float_eq(p.c[i / s.n * p.g.c_row + i % s.n], 0);
  guarded_end(&p.arrays);
}
END_TEST

/* What a recipe may want. */
static const tpti_precision wanted[] = {TPTI_PRECISION_F32, TPTI_PRECISION_BF16X3,
                                        TPTI_PRECISION_BF16X6, TPTI_PRECISION_BF16};
enum { WANTED = sizeof wanted / sizeof *wanted };

START_TEST(tiles_make_what_is_wanted) {
  for (size_t i = 0; i < WANTED; i++) ck_assert_int_eq(tpti_precision_here(wanted[i]), wanted[i]);
}
END_TEST

/* And that only where they are faster than float32. */
START_TEST(vectors_make_bf16_alone) {
  tpti_test_refuse_tiles();
  for (size_t i = 0; i + 1 < WANTED; i++)
    ck_assert_int_eq(tpti_precision_here(wanted[i]), TPTI_PRECISION_F32);
  bool fast = (tpti_cpu_flags() & TPTI_CPU_BF16_FAST) != 0;
  ck_assert_int_eq(tpti_precision_here(TPTI_PRECISION_BF16),
                   fast ? TPTI_PRECISION_BF16_VECTORS : TPTI_PRECISION_F32);
}
END_TEST

static void add_tiles(TCase *tests) {
  tcase_add_test(tests, six_products_are_as_good_as_float);
  tcase_add_loop_test(tests, no_tile_state_is_left, 0, STEPS);
  tcase_add_test(tests, a_small_signal_stack_is_refused);
  tcase_add_test(tests, leave_stays_given);
  tcase_add_test(tests, tiles_make_what_is_wanted);
}

static Suite *suite(void) {
  const int precisions = tested->precisions;
  Suite *s = suite_create("kernel bf16");
  TCase *tests = tcase_create(tested->name);
  tcase_add_loop_test(tests, product_is_that_of_the_parts, 0, 2 * precisions);
  tcase_add_loop_test(tests, step_shapes_are_near, 0, precisions * STEPS);
  tcase_add_loop_test(tests, threads_do_not_change_bits, 0, precisions * STEPS);
  tcase_add_loop_test(tests, rows_alone_have_the_bits_of_all, 0, 2 * precisions);
  tcase_add_loop_test(tests, no_terms_give_base, 0, precisions);
  tcase_add_loop_test(tests, special_values_stay_in_their_row, 0, precisions);
  tcase_add_loop_test(tests, denormals_count_as_zero, 0, precisions);
  tcase_add_loop_test(tests, pack_grows_with_the_sizes_and_is_bounded, 0, precisions);
  if (tested == &units[TILES])
    add_tiles(tests);
  else
    tcase_add_test(tests, vectors_make_bf16_alone);
  suite_add_tcase(s, tests);
  return s;
}

int main(int argc, char **argv) {
  for (size_t i = 0; i < UNITS; i++)
    if (argc == 2 && !strcmp(argv[1], units[i].name)) tested = &units[i];
  if (!tested) return 2;
  bool tiles = tested == &units[TILES];
  small_stack_permitted = tiles && permitted_on_small_stack();
  if (tested->here()) return tpti_test_main(suite());
  srunner_free(srunner_create(suite()));
  return tpti_test_skip(tiles ? "no leave to use AMX tiles here" : "no AVX512_BF16 here");
}
