/* Products of every variant, and BLIS's, against plain loops. */
#include "support/run.h"
#include "variants.h"

static const double near = 2e-6; /* float sums of up to 700 terms, relative to the norm */

typedef struct shape {
  size_t m, n, k;
} shape;

/* Around the sizes of registers (6, 8, 12 rows; 12, 16, 32 columns), strips (8 of them), blocks
 * (384 columns) and rounds (256 of k). */
static const shape shapes[] = {
    {1, 1, 1},     {2, 3, 5},    {7, 5, 3},     {5, 7, 1},   {12, 32, 16}, {13, 33, 17},
    {11, 31, 15},  {6, 16, 8},   {1, 40, 9},    {40, 1, 9},  {25, 64, 70}, {97, 100, 31},
    {24, 49, 256}, {9, 17, 257}, {30, 20, 700}, {3, 385, 5}, {14, 800, 7}};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

typedef enum base_kind { NO_BASE, OTHER_BASE, OWN_BASE, BASES } base_kind;

/* A product with gaps between the rows of everything. */
typedef struct product_case {
  tpti_gemm g;
  guarded arrays;
  float *c, *want, *base, *a, *b;
} product_case;

/* Strides of a view with gaps between its lines; how many floats it takes. */
static size_t view(size_t *row, size_t *col, size_t rows, size_t cols, bool turned) {
  size_t gap = 3, line = (turned ? rows : cols) + gap;
  *row = turned ? 1 : line;
  *col = turned ? line : 1;
  return line * (turned ? cols : rows);
}

static void make(product_case *p, const shape *s, bool a_turned, bool b_turned, base_kind base) {
  *p = (product_case){.g = {.m = s->m, .n = s->n, .k = s->k, .c_row = s->n + 5}};
  size_t count = p->g.m * p->g.c_row;
  p->a = guarded_take(&p->arrays, view(&p->g.a_row, &p->g.a_col, s->m, s->k, a_turned), 1);
  p->b = guarded_take(&p->arrays, view(&p->g.b_row, &p->g.b_col, s->k, s->n, b_turned), 2);
  p->base = guarded_take(&p->arrays, count, 3);
  p->c = guarded_nan(&p->arrays, count);
  p->want = guarded_nan(&p->arrays, count);
  if (base == OWN_BASE) {
    memcpy(p->c, p->base, count * sizeof(float));
    memcpy(p->want, p->base, count * sizeof(float));
  }
  p->g.a = p->a;
  p->g.b = p->b;
  p->g.c = p->c;
  p->g.base = base == NO_BASE ? NULL : base == OWN_BASE ? p->c : p->base;
  p->g.base_row = p->g.c_row;
  tpti_gemm plain = p->g;
  plain.c = p->want;
  if (base == OWN_BASE) plain.base = p->want;
  tpti_product_plain(&plain);
}

/* The rows as they should be; what lies between them as it was. */
static void check(product_case *p, const char *who) {
  const tpti_gemm *g = &p->g;
  float *got = guarded_nan(&p->arrays, g->m * g->n), *want = guarded_nan(&p->arrays, g->m * g->n);
  for (size_t i = 0; i < g->m; i++) {
    memcpy(got + i * g->n, p->c + i * g->c_row, g->n * sizeof(float));
    memcpy(want + i * g->n, p->want + i * g->c_row, g->n * sizeof(float));
    size_t gap = i * g->c_row + g->n;
    ck_assert_msg(memcmp(p->c + gap, p->want + gap, (g->c_row - g->n) * sizeof(float)) == 0,
                  "%s: written between rows %zu and %zu", who, i, i + 1);
  }
  double error = tpti_test_error_float(got, want, g->m * g->n);
  ck_assert_msg(error <= near, "%s, %zu x %zu x %zu, a_col %zu, b_col %zu: error %.3g", who, g->m,
                g->n, g->k, g->a_col, g->b_col, error);
  guarded_end(&p->arrays);
}

/* Every shape, both ways of A and B, every base, through one kernel. */
static void all_cases(tpti_gemm_tile_fn *tile, const char *who) {
  guarded g = {0};
  float *scratch = guarded_nan(&g, TPTI_SCRATCH / sizeof(float));
  for (size_t c = 0; c < SHAPES * 4 * BASES; c++) {
    product_case p;
    make(&p, &shapes[c / 4 / BASES], c & 1, c & 2, (base_kind)(c / 4 % BASES));
    tile(&p.g, 0, p.g.n, scratch);
    check(&p, who);
  }
  guarded_end(&g);
}

START_TEST(tile_is_plain) { all_cases(variant((size_t)_i)->gemm_tile, variant((size_t)_i)->name); }
END_TEST

START_TEST(blis_is_plain) { all_cases(tpti_gemm_tile_blis, "blis"); }
END_TEST

START_TEST(product_is_plain) {
  const tpti_kernels *k = variant((size_t)_i);
  for (size_t c = 0; c < SHAPES * 2 * BASES; c++) {
    product_case p;
    make(&p, &shapes[c / 2 / BASES], c & 1, false, (base_kind)(c / 2 % BASES));
    k->product(&p.g);
    check(&p, k->name);
  }
}
END_TEST

/* The score products of attention: both strides of A other than 1. */
START_TEST(product_takes_any_stride_of_a) {
  guarded arrays = {0};
  float *a = guarded_take(&arrays, 13 * 200, 1), *b = guarded_take(&arrays, 9 * 20, 2);
  float *c = guarded_nan(&arrays, 13 * 20), *want = guarded_nan(&arrays, 13 * 20);
  tpti_gemm g = {.c = c,
                 .a = a,
                 .b = b,
                 .c_row = 20,
                 .a_row = 200,
                 .a_col = 7,
                 .b_row = 20,
                 .b_col = 1,
                 .m = 13,
                 .n = 20,
                 .k = 9};
  variant((size_t)_i)->product(&g);
  g.c = want;
  tpti_product_plain(&g);
  same_values(c, want, 13 * 20, near);
  guarded_end(&arrays);
}
END_TEST

START_TEST(transpose_is_plain) {
  const tpti_kernels *k = variant((size_t)_i);
  static const size_t sizes[] = {1, 2, 7, 8, 9, 16, 17, 31, 33};
  for (size_t s = 0; s < 81; s++) {
    size_t rows = sizes[s / 9], columns = sizes[s % 9], count = columns * (rows + 2);
    guarded g = {0};
    float *in = guarded_take(&g, rows * (columns + 1), s), *out = guarded_nan(&g, count);
    float *want = guarded_nan(&g, count);
    k->transpose(out, rows + 2, in, columns + 1, rows, columns);
    tpti_transpose_plain(want, rows + 2, in, columns + 1, rows, columns);
    ck_assert_mem_eq(out, want, count * sizeof(float));
    guarded_end(&g);
  }
}
END_TEST

/* base NULL means that C is not read; k 0 leaves base alone. */
START_TEST(no_terms_give_base) {
  const tpti_kernels *k = variant((size_t)_i);
  guarded arrays = {0};
  float *scratch = guarded_nan(&arrays, TPTI_SCRATCH / sizeof(float));
  float *base = guarded_take(&arrays, 33, 1), *c = guarded_nan(&arrays, 33);
  tpti_gemm g = {.c = c,
                 .base = base,
                 .a = base,
                 .b = base,
                 .c_row = 11,
                 .base_row = 11,
                 .a_row = 1,
                 .a_col = 1,
                 .b_row = 1,
                 .b_col = 1,
                 .m = 3,
                 .n = 11,
                 .k = 0};
  k->gemm_tile(&g, 0, g.n, scratch);
  ck_assert_mem_eq(c, base, 33 * sizeof(float));
  g.base = NULL;
  k->product(&g);
  for (size_t i = 0; i < 33; i++) ck_assert(c[i] == 0);
  guarded_end(&arrays);
}
END_TEST

/* A NaN and an infinity reach their row and column and nothing else, padding included. */
START_TEST(special_values_stay_in_their_row) {
  const tpti_kernels *k = variant((size_t)_i);
  shape s = {19, 37, 21};
  product_case p;
  make(&p, &s, false, true, NO_BASE);
  float *scratch = guarded_nan(&p.arrays, TPTI_SCRATCH / sizeof(float));
  p.a[5 * p.g.a_row + 20] = NAN;
  p.b[36 * p.g.b_col + 2] = INFINITY;
  k->gemm_tile(&p.g, 0, p.g.n, scratch);
  for (size_t i = 0; i < s.m; i++) {
    for (size_t j = 0; j < s.n; j++) {
      float x = p.c[i * p.g.c_row + j];
      ck_assert_msg(isfinite(x) == (i != 5 && j != 36), "%s: %g at %zu, %zu", k->name, (double)x, i,
                    j);
    }
  }
  guarded_end(&p.arrays);
}
END_TEST

/* Many tiles, and k cut into slices (the second, where A is turned). */
static const shape threaded[] = {{530, 400, 70}, {100, 90, 3000}, {64, 64, 64}, {3, 1500, 300}};
enum { THREADED = sizeof threaded / sizeof threaded[0] };

typedef struct threaded_case {
  guarded arrays;
  tpti_gemm g;
  size_t count; /* of C */
} threaded_case;

static void make_threaded(threaded_case *t, const shape *s, bool a_turned) {
  *t = (threaded_case){.count = s->m * s->n};
  t->g = (tpti_gemm){.c_row = s->n,
                     .a_row = a_turned ? 1 : s->k,
                     .a_col = a_turned ? s->m : 1,
                     .b_row = s->n,
                     .b_col = 1,
                     .m = s->m,
                     .n = s->n,
                     .k = s->k};
  t->g.a = guarded_take(&t->arrays, s->m * s->k, 1);
  t->g.b = guarded_take(&t->arrays, s->n * s->k, 2);
}

/* B packed for this run in an array of its own bytes. */
static void pack(tpti_run *run, guarded *arrays, tpti_gemm *g) {
  size_t bytes = tpti_gemm_packed_bytes(TPTI_PRECISION_F32, g->n, g->k);
  ck_assert_uint_eq(bytes % sizeof(float), 0);
  void *packed = guarded_nan(arrays, bytes / sizeof(float));
  tpti_gemm_pack_b(run, packed, g);
  g->packed = packed;
}

/* threads 0: no pool. */
static const float *run_threads(threaded_case *t, const tpti_kernels *k, int32_t threads,
                                bool packed) {
  tpti_run *run = tpti_test_run(threads ? threads : 1);
  tpti_pool *pool = run->pool;
  run->kernels = k;
  tpti_gemm g = t->g;
  g.c = guarded_nan(&t->arrays, t->count);
  tpti_gemm_warm(run);
  if (!threads) run->pool = NULL;
  if (packed) pack(run, &t->arrays, &g);
  tpti_gemm_run(run, &g);
  run->pool = pool;
  tpti_test_run_free(run);
  return g.c;
}

/* Every table, the plain one too, whose products BLIS does. */
static const tpti_kernels *any_table(int i) {
  return i == 0 ? tpti_kernels_list(0) : variant((size_t)i - 1);
}

START_TEST(threads_do_not_change_bits) {
  static const int32_t threads[] = {0, 2, 3, 7};
  for (size_t i = 0; i < THREADED * 4; i++) {
    bool packed = i & 2;
    threaded_case t;
    make_threaded(&t, &threaded[i / 4], i & 1);
    const float *one = run_threads(&t, any_table(_i), 1, packed);
    for (size_t j = 0; j < sizeof threads / sizeof threads[0]; j++) {
      const float *many = run_threads(&t, any_table(_i), threads[j], packed);
      ck_assert_uint_eq(tpti_test_first_difference(one, many, t.count), t.count);
    }
    guarded_end(&t.arrays);
  }
}
END_TEST

/* Cut into tiles and slices, the product is still the product. */
START_TEST(run_is_plain) {
  for (size_t i = 0; i < THREADED * 4; i++) {
    threaded_case t;
    make_threaded(&t, &threaded[i / 4], i & 1);
    const float *got = run_threads(&t, any_table(_i), 2, i & 2);
    float *want = t.g.c = guarded_nan(&t.arrays, t.count);
    tpti_product_plain(&t.g);
    double error = tpti_test_error_float(got, want, t.count);
    ck_assert_msg(error <= near, "%s, case %zu: error %.3g", any_table(_i)->name, i, error);
    guarded_end(&t.arrays);
  }
}
END_TEST

/* Every shape, stride and base with B packed. */
START_TEST(packed_is_plain) {
  tpti_run *run = tpti_test_run(1);
  run->kernels = any_table(_i);
  for (size_t c = 0; c < SHAPES * 4 * BASES; c++) {
    product_case p;
    make(&p, &shapes[c / 4 / BASES], c & 1, c & 2, (base_kind)(c / 4 % BASES));
    pack(run, &p.arrays, &p.g);
    tpti_gemm_run(run, &p.g);
    check(&p, run->kernels->name);
  }
  tpti_test_run_free(run);
}
END_TEST

/* Around the widths of vectors, panels, strips and their groups. */
static const size_t around[] = {1, 2, 15, 16, 17, 31, 32, 33, 47, 48, 49, 63, 65, 129};
enum { AROUND = sizeof around / sizeof around[0] };

/* C of a case with B packed, against C of the same without, bit by bit. */
static void same_bits_packed(tpti_run *run, const shape *s, size_t kind) {
  product_case p;
  make(&p, s, kind & 1, kind & 2, (base_kind)(kind / 4));
  size_t count = s->m * p.g.c_row;
  float *start = guarded_nan(&p.arrays, count), *packed = guarded_nan(&p.arrays, count);
  memcpy(start, p.c, count * sizeof(float));
  tpti_gemm_run(run, &p.g);
  memcpy(packed, p.c, count * sizeof(float));
  memcpy(p.c, start, count * sizeof(float));
  pack(run, &p.arrays, &p.g);
  tpti_gemm_run(run, &p.g);
  ck_assert_msg(memcmp(packed, p.c, count * sizeof(float)) == 0, "%s, %zu x %zu x %zu, kind %zu",
                run->kernels->name, s->m, s->n, s->k, kind);
  guarded_end(&p.arrays);
}

START_TEST(packing_does_not_change_bits) {
  static const size_t depths[] = {1, 2, 17, 33, 129, 256, 257, 600};
  tpti_run *run = tpti_test_run(2);
  run->kernels = any_table(_i);
  for (size_t c = 0; c < AROUND * AROUND * 8; c++) {
    shape s = {around[c % AROUND], around[c / AROUND % AROUND], depths[c / AROUND / AROUND]};
    same_bits_packed(run, &s, c % 12); /* 12 and the counts above have few common divisors */
  }
  tpti_test_run_free(run);
}
END_TEST

/* The first m rows of a product alone, rows of A in memory: as forward in steps of the decoder. */
static void same_bits_of_rows(tpti_run *run, const tpti_gemm *whole, size_t m) {
  guarded arrays = {0};
  size_t count = m * whole->c_row;
  tpti_gemm g = *whole;
  g.m = m;
  for (int packed = 0; packed < 2; packed++) {
    g.c = guarded_nan(&arrays, count);
    if (!packed) g.packed = NULL;
    if (packed) pack(run, &arrays, &g);
    tpti_gemm_run(run, &g);
    ck_assert_msg(memcmp(g.c, whole->c, count * sizeof(float)) == 0,
                  "%s: %zu rows of %zu x %zu x %zu", run->kernels->name, m, whole->m, g.n, g.k);
  }
  guarded_end(&arrays);
}

START_TEST(a_row_has_the_same_bits_in_any_number) {
  static const shape wholes[] = {{300, 70, 300}, {600, 40, 2100}, {530, 400, 70}};
  static const size_t rows[] = {1, 2, 3, 5, 11, 12, 13, 17, 96, 97, 129, 300};
  tpti_run *run = tpti_test_run(2);
  run->kernels = any_table(_i);
  for (size_t i = 0; i < sizeof wholes / sizeof wholes[0]; i++) {
    threaded_case t;
    make_threaded(&t, &wholes[i], false);
    t.g.c = guarded_nan(&t.arrays, t.count);
    tpti_gemm_run(run, &t.g);
    for (size_t j = 0; j < sizeof rows / sizeof rows[0]; j++) same_bits_of_rows(run, &t.g, rows[j]);
    guarded_end(&t.arrays);
  }
  tpti_test_run_free(run);
}
END_TEST

/* Threads pack the same; nothing of B is needed afterwards, but by BLIS, which reads B itself. */
START_TEST(packed_b_is_all_of_b) {
  if (strcmp(tpti_gemm_name(variant((size_t)_i)), "blis") == 0) return;
  shape s = {20, 400, 300};
  threaded_case t;
  make_threaded(&t, &s, false);
  const float *want = run_threads(&t, variant((size_t)_i), 1, false);
  tpti_run *run = tpti_test_run(3);
  run->kernels = variant((size_t)_i);
  tpti_gemm g = t.g;
  float *b = guarded_take(&t.arrays, s.n * s.k, 2);
  g.b = b;
  pack(run, &t.arrays, &g);
  for (size_t i = 0; i < s.n * s.k; i++) b[i] = NAN;
  g.c = guarded_nan(&t.arrays, t.count);
  tpti_gemm_run(run, &g);
  ck_assert_uint_eq(tpti_test_first_difference(want, g.c, t.count), t.count);
  tpti_test_run_free(run);
  guarded_end(&t.arrays);
}
END_TEST

START_TEST(packed_bytes_hold_b) {
  ck_assert_uint_eq(tpti_gemm_packed_bytes(TPTI_PRECISION_F32, 0, 7), 0);
  for (size_t i = 0; i < AROUND * AROUND; i++) {
    size_t n = around[i / AROUND], k = around[i % AROUND];
    size_t bytes = tpti_gemm_packed_bytes(TPTI_PRECISION_F32, n, k);
    ck_assert_uint_ge(bytes, n * k * sizeof(float));
    ck_assert_uint_le(bytes, (n + 31) * k * sizeof(float));
  }
}
END_TEST

START_TEST(pack_grows_with_the_sizes_and_is_bounded) {
  static const size_t sizes[] = {1, 7, 64, 192, 193, 384, 700, 1024, 8192, 32000};
  for (size_t i = 0; i < 10; i++) {
    for (size_t j = 0; j < 10; j++) {
      for (size_t p = 0; p + 1 < 10; p++) {
        size_t bytes = tpti_gemm_pack(TPTI_PRECISION_F32, sizes[i], sizes[j], sizes[p]);
        ck_assert_uint_le(bytes,
                          tpti_gemm_pack(TPTI_PRECISION_F32, sizes[i], sizes[j], sizes[p + 1]));
        ck_assert_uint_le(bytes,
                          tpti_gemm_pack(TPTI_PRECISION_F32, sizes[i], sizes[j] + 1, sizes[p]));
        ck_assert_uint_le(bytes, 16 * 256 * 192 * sizeof(float));
      }
    }
  }
  ck_assert_uint_eq(tpti_gemm_pack(TPTI_PRECISION_F32, 64, 64, 64), 0);
  ck_assert_uint_eq(tpti_gemm_pack(TPTI_PRECISION_F32, 1, 1, 32000), 0);
}
END_TEST

static Suite *suite(void) {
  Suite *s = suite_create("kernel gemm");
  TCase *tests = tcase_create("gemm");
  tcase_add_loop_test(tests, tile_is_plain, 0, variant_count());
  tcase_add_loop_test(tests, product_is_plain, 0, variant_count());
  tcase_add_loop_test(tests, product_takes_any_stride_of_a, 0, variant_count());
  tcase_add_loop_test(tests, transpose_is_plain, 0, variant_count());
  tcase_add_loop_test(tests, no_terms_give_base, 0, variant_count());
  tcase_add_loop_test(tests, special_values_stay_in_their_row, 0, variant_count());
  tcase_add_loop_test(tests, threads_do_not_change_bits, 0, variant_count() + 1);
  tcase_add_loop_test(tests, run_is_plain, 0, variant_count() + 1);
  tcase_add_loop_test(tests, packed_is_plain, 0, variant_count() + 1);
  tcase_add_loop_test(tests, packing_does_not_change_bits, 0, variant_count() + 1);
  tcase_add_loop_test(tests, a_row_has_the_same_bits_in_any_number, 0, variant_count() + 1);
  tcase_add_loop_test(tests, packed_b_is_all_of_b, 0, variant_count());
  tcase_add_test(tests, packed_bytes_hold_b);
  tcase_add_test(tests, blis_is_plain);
  tcase_add_test(tests, pack_grows_with_the_sizes_and_is_bounded);
  suite_add_tcase(s, tests);
  return s;
}

int main(void) { return tpti_test_main(suite()); }
