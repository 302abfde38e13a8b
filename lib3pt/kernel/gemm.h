/* Matrix products.   C [m, n] = base + A [m, k] B [k, n] */
#ifndef TPTI_KERNEL_GEMM_H
#define TPTI_KERNEL_GEMM_H

#include "base/size.h"
#include "base/threads.h"
#include "kernel/matrix.h"

/* Element (i, p) of A is a[i a_row + p a_col], of B (p, j) b[p b_row + j b_col], of C and base
 * c[i c_row + j] and base[i base_row + j]. base may be NULL (0; C is not read) or C itself. */
typedef struct tpti_gemm {
  float *c;
  const float *base, *a, *b;
  const void
      *packed; /* the whole of B as tpti_gemm_pack_b left it, or NULL; b is given either way */
  const tpti_matrix *held; /* where B is of another form than float32, the columns of B as its rows
                              [n, k], or NULL; then not in float32, b is NULL, b_row 1, b_col k */
  size_t c_row, base_row, a_row, a_col, b_row, b_col;
  size_t m, n, k;
  size_t round; /* where k is a part of a longer sum, that begins with a round of it:
                   tpti_gemm_round of the whole sum; else 0 */
} tpti_gemm;

/* A strip of 12 rows takes 12 KiB then, a panel of 32 columns 32 KiB. */
enum { TPTI_GEMM_ROUND = 256 };

/* Our kernels add so many products of a sum at once, the last time the rest, and then to C. By k
 * alone, so that the bits are too. At least 1. */
static inline size_t tpti_gemm_round(size_t k) {
  size_t rounds = k <= TPTI_GEMM_ROUND ? 1 : tpti_ceil_div(k, TPTI_GEMM_ROUND);
  return k == 0 ? 1 : tpti_ceil_div(k, rounds);
}

/* Columns from..end of the product on this thread; from is a multiple of the table's nr. scratch is
 * TPTI_SCRATCH bytes; one stride each of A and B is 1. */
typedef void tpti_gemm_tile_fn(const tpti_gemm *g, size_t from, size_t end, void *scratch);

/* Columns that one item of packing takes: a multiple of every nr. */
enum { TPTI_PACK_COLUMNS = 96 };

/* Columns from..end of B into their place in packed; from is a multiple of TPTI_PACK_COLUMNS,
 * end too, or n. */
typedef void tpti_gemm_pack_b_fn(void *packed, const tpti_gemm *g, size_t from, size_t end);

/* The same for operands that lie in the first or second cache level, read where they are: b_col is
 * 1, the strides of A are any. */
typedef void tpti_product_fn(const tpti_gemm *g);

/* out [columns, out_row] = in [rows, in_row] with rows and columns exchanged. */
typedef void tpti_transpose_fn(float *out, size_t out_row, const float *in, size_t in_row,
                               size_t rows, size_t columns);

tpti_gemm_tile_fn tpti_gemm_tile_plain;
tpti_gemm_pack_b_fn tpti_gemm_pack_b_plain;
tpti_product_fn tpti_product_plain;
tpti_transpose_fn tpti_transpose_plain;

/* By BLIS on one thread; for processors without kernels of our own. */
tpti_gemm_tile_fn tpti_gemm_tile_blis;

/* The product on the threads of the run, cut into tiles. run->pack holds tpti_gemm_pack(precision,
 * m, n, k) bytes; it may be NULL where that is 0, and in float32 where a_col is 1 or B is packed.
 *
 * Where a_col is 1 (rows of A lie in memory) a row of C has the same bits in any number of rows,
 * with B packed or not; then, with B packed, run->scratch is not touched (all this in float32). */
void tpti_gemm_run(tpti_run *run, const tpti_gemm *g);

/* Where such a product may be cut along k, in float32 and with B not packed, into parts that go on
 * from C: at multiples of this. k: nowhere. */
size_t tpti_gemm_depth(const tpti_run *run, size_t k);

/* Bytes of run->pack. Never less for larger sizes. In float32 at most 3 MiB, and 0 for small
 * products. */
size_t tpti_gemm_pack(tpti_precision precision, size_t m, size_t n, size_t k);

/* B, the b, b_row, b_col, n and k of g, packed once on the threads of the run for many products
 * with the run's kernels and precision. */
void tpti_gemm_pack_b(tpti_run *run, void *packed, const tpti_gemm *g);

/* Bytes of such a B, the same for every processor. */
size_t tpti_gemm_packed_bytes(tpti_precision precision, size_t n, size_t k);

/* What multiplies with this table: "own avx512", "blis". */
const char *tpti_gemm_name(const struct tpti_kernels *kernels);

/* BLIS allocates its pools at the first overlapping calls: lets all threads of the run meet in a
 * product once. false where the product is wrong: a BLIS that misjudges its processor. Nothing, and
 * true, where the products are our own. */
bool tpti_gemm_warm(tpti_run *run);

#endif
