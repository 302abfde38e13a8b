/* The matrix products of one training step, and how fast they can be made. */
#ifndef BENCH_PRODUCTS_H
#define BENCH_PRODUCTS_H

#include "base/threads.h"
#include "model/acts.h"

enum { BENCH_PRODUCTS = 15 }; /* five linear maps, three products each */

/* y = x W^T, dx = dy W, dW = dy^T x of one map. */
typedef enum bench_kind { BENCH_FORWARD, BENCH_INPUT, BENCH_WEIGHT } bench_kind;

typedef struct bench_product {
  const char *map;
  bench_kind kind;
  size_t rows, out, in; /* of the whole step; W [out, in] */
  size_t times;         /* a step has this many of them */
  size_t cut;           /* the library does so many rows at once */
  bool whole;           /* all rows at once are worth a try */
} bench_product;

typedef struct bench_products {
  bench_product list[BENCH_PRODUCTS];
  size_t count;
  size_t turns; /* of each; the median counts */
  tpti_run *run;
  float *y, *x, *w; /* as large as the largest product needs: */
  size_t y_count, x_count, w_count;
  void *packed;
} bench_products;

/* Those of a step over M rows, with what `acts` cuts it into; run and turns are set by the caller,
 * the run's pack here. */
void bench_products_list(bench_products *p, const tpti_dims *dims, const tpti_acts *acts, size_t M);

double bench_product_flop(const bench_product *product); /* of the whole step */

/* Seconds that product i takes in a whole step: by the library's own product, the rows and the
 * packing that are fastest, and by BLIS with whatever kernels it takes in this process. */
double bench_product_own(const bench_products *p, size_t i);
double bench_product_blis(const bench_products *p, size_t i);

#endif
