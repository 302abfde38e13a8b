/* Few rows times a matrix (dots.h). Four rows of w are read at once, four streams of memory, for
 * some rows of x at a time; each sum is one vector along the row, its lanes then added in a fixed
 * order, whatever the rows beside it. */
#include "kernel/dots.h"

/* Rows of w and of x whose sums are in registers: 16 and 9 more, or 8 and 5 more where there are
 * but 16 registers. */
enum { DOTS_W = 4, DOTS_X = V_LANES == 8 ? 2 : 4 };

/* The rows of w of one tile, `stride` bytes apart; int8: and their scales, `scales` apart. */
typedef struct dots_weights {
  const char *row;
  const float *scale;
  size_t stride, scales;
} dots_weights;

ALWAYS_INLINE size_t dots_width(const tpti_form form) { return tpti_form_bytes(form); }

/* The V_LANES weights from number i on, of a block whose scale is s. */
ALWAYS_INLINE v_f32 dots_values(const tpti_form form, const char *row, size_t i, v_f32 s) {
  const void *at = row + i * dots_width(form);
  if (form == TPTI_FORM_F32) return v_load(at);
  if (form == TPTI_FORM_BF16) return v_load_bf16(at);
  return v_mul(v_load_i8(at), s);
}

/* The last n of a row, n below V_LANES; the lanes beyond are 0. */
ALWAYS_INLINE v_f32 dots_last(const tpti_form form, const char *row, size_t i, size_t n, v_f32 s) {
  char lanes[V_LANES * sizeof(float)] = {0};
  __builtin_memcpy(lanes, row + i * dots_width(form), n * dots_width(form));
  return dots_values(form, lanes, 0, s);
}

ALWAYS_INLINE v_f32 dots_scale(const tpti_form form, const float *scale, size_t i) {
  return form == TPTI_FORM_INT8 ? v_set1(scale[i / TPTI_SCALE_BLOCK]) : v_zero();
}

ALWAYS_INLINE const float *dots_scales(const tpti_form form, const dots_weights *w, size_t q) {
  return form == TPTI_FORM_INT8 ? w->scale + q * w->scales : NULL;
}

/* What a tile asks for while it works: rows [from, to) of a later stripe of w, into the second
 * cache level. Hardware does not follow a stream across pages. */
typedef struct dots_next {
  const char *row; /* the first of the stripe; NULL: nothing */
  size_t stride, from, to;
} dots_next;

ALWAYS_INLINE void dots_fetch(const tpti_form form, const dots_next *next, size_t i) {
  for (size_t q = next->from; q < next->to; q++) {
    UNROLL
    for (size_t line = 0; line < TPTI_SCALE_BLOCK * dots_width(form); line += 64)
      __builtin_prefetch(next->row + q * next->stride + i * dots_width(form) + line, 0, 2);
  }
}

/* sums [rows, DOTS_W] add one block of TPTI_SCALE_BLOCK weights. */
ALWAYS_INLINE void dots_block(const tpti_form form, const size_t rows, v_f32 *sums,
                              const dots_weights *w, const float *x, size_t x_row, size_t i) {
  v_f32 s[DOTS_W];
  UNROLL
  for (size_t q = 0; q < DOTS_W; q++) s[q] = dots_scale(form, dots_scales(form, w, q), i);
  UNROLL
  for (size_t v = 0; v < TPTI_SCALE_BLOCK; v += V_LANES) {
    v_f32 y[DOTS_W];
    UNROLL
    for (size_t q = 0; q < DOTS_W; q++)
      y[q] = dots_values(form, w->row + q * w->stride, i + v, s[q]);
    UNROLL
    for (size_t r = 0; r < rows; r++) {
      v_f32 a = v_load(x + r * x_row + i + v);
      UNROLL
      for (size_t q = 0; q < DOTS_W; q++)
        sums[r * DOTS_W + q] = v_fma(a, y[q], sums[r * DOTS_W + q]);
    }
  }
}

/* The rest of a row, less than a block. */
ALWAYS_INLINE void dots_rest(const tpti_form form, const size_t rows, v_f32 *sums,
                             const dots_weights *w, const float *x, size_t x_row, size_t columns,
                             size_t i) {
  for (; i < columns; i += V_LANES) {
    size_t n = columns - i;
    UNROLL
    for (size_t q = 0; q < DOTS_W; q++) {
      const char *row = w->row + q * w->stride;
      v_f32 s = dots_scale(form, dots_scales(form, w, q), i);
      v_f32 y = n < V_LANES ? dots_last(form, row, i, n, s) : dots_values(form, row, i, s);
      UNROLL
      for (size_t r = 0; r < rows; r++) {
        const float *at = x + r * x_row + i;
        v_f32 a = n < V_LANES ? v_load_n(at, n) : v_load(at);
        sums[r * DOTS_W + q] = v_fma(a, y, sums[r * DOTS_W + q]);
      }
    }
  }
}

/* sums [rows, DOTS_W] add `columns` columns: `rows` rows of x, `x_row` floats apart, by the rows of
 * w. next is in the form `later`. */
ALWAYS_INLINE void dots_tile(const tpti_form form, const size_t rows, v_f32 *sums,
                             const dots_weights *w, const float *x, size_t x_row, size_t columns,
                             const tpti_form later, const dots_next *next) {
  size_t i = 0, whole = columns / TPTI_SCALE_BLOCK * TPTI_SCALE_BLOCK;
  if (next->row) {
    for (; i < whole; i += TPTI_SCALE_BLOCK) {
      dots_fetch(later, next, i);
      dots_block(form, rows, sums, w, x, x_row, i);
    }
  } else {
    for (; i < whole; i += TPTI_SCALE_BLOCK) dots_block(form, rows, sums, w, x, x_row, i);
  }
  if (i < columns) dots_rest(form, rows, sums, w, x, x_row, columns, i);
}

/* w is read as DOTS_W parts, so many streams that each run on from page to page: the stripe at o is
 * a row of each. What is left over is read row by row: there the first row DOTS_W times. */
ALWAYS_INLINE size_t dots_part(const tpti_dots *d, size_t o) {
  size_t part = d->out / DOTS_W;
  return o < part * DOTS_W ? part : 0;
}

ALWAYS_INLINE size_t dots_row(const tpti_dots *d, size_t o) {
  return dots_part(d, o) ? o / DOTS_W : o;
}

ALWAYS_INLINE dots_weights dots_rows_of_w(const tpti_form form, const tpti_dots *d, size_t o) {
  size_t part = dots_part(d, o), scales = form == TPTI_FORM_INT8 ? tpti_scales(d->in) : 0;
  size_t width = d->in * dots_width(form), row = dots_row(d, o);
  return (dots_weights){.row = (const char *)d->w.values + row * width,
                        .scale = form == TPTI_FORM_INT8 ? d->w.scales + row * scales : NULL,
                        .stride = part * width,
                        .scales = part * scales};
}

/* The rows of w to do next: DOTS_W, or one by one where fewer are left. */
ALWAYS_INLINE size_t dots_stripe(const tpti_dots *d, size_t o) {
  return o + DOTS_W <= d->out ? DOTS_W : 1;
}

/* How far ahead memory is asked for, in bytes: some hundred nanoseconds at its speed. */
enum { DOTS_AHEAD = 3 << 10 };

/* The stripe of w to ask for while the one at o is at work; nothing where that is not the caller's:
 * it is some other thread's. */
ALWAYS_INLINE dots_next dots_next_of(const tpti_form form, const tpti_dots *d, size_t o) {
  size_t width = d->in * dots_width(form), stripes = DOTS_AHEAD / (DOTS_W * width) + 1;
  size_t at = dots_row(d, o) + stripes, part = dots_part(d, o);
  if (at >= part) return (dots_next){.row = NULL};
  return (dots_next){(const char *)d->w.values + at * width, part * width, 0, DOTS_W};
}

/* ---- one row ---- */

/* Tiles whose sums are added up over their lanes together. */
enum { DOTS_TILES = V_LANES / DOTS_W };

/* Sums [DOTS_W, tiles] of rows o + t of each of the DOTS_W parts of w, `part` rows each. */
ALWAYS_INLINE void dots_finish_parts(v_f32 *sums, const tpti_dots *d, size_t part, size_t o,
                                     size_t tiles) {
  float lanes[V_LANES];
  v_store(lanes, v_sums(sums));
  for (size_t q = 0; q < DOTS_W; q++) {
    for (size_t t = 0; t < tiles; t++) {
      size_t at = q * part + o + t;
      float sum = lanes[q * DOTS_TILES + t];
      d->y[at] = d->base ? d->base[at] + sum : sum;
    }
  }
}

/* The rows o of each part; the weights that come soon are asked for. */
ALWAYS_INLINE void dots_parts_tile(const tpti_form form, const tpti_dots *d, size_t o, v_f32 *sums,
                                   size_t t) {
  const dots_weights w = dots_rows_of_w(form, d, o * DOTS_W);
  const dots_next next = dots_next_of(form, d, o * DOTS_W);
  v_f32 four[DOTS_W];
  UNROLL
  for (size_t q = 0; q < DOTS_W; q++) four[q] = v_zero();
  dots_tile(form, 1, four, &w, d->x, d->in, d->in, form, &next);
  UNROLL
  for (size_t q = 0; q < DOTS_W; q++) sums[q * DOTS_TILES + t] = four[q];
}

ALWAYS_INLINE void dots_one(const tpti_form form, const tpti_dots *d) {
  size_t part = d->out / DOTS_W;
  v_f32 sums[V_LANES];
  for (size_t k = 0; k < V_LANES; k++) sums[k] = v_zero();
  for (size_t o = 0; o < part; o += DOTS_TILES) {
    size_t tiles = part - o < DOTS_TILES ? part - o : DOTS_TILES;
    for (size_t t = 0; t < tiles; t++) dots_parts_tile(form, d, o + t, sums, t);
    dots_finish_parts(sums, d, part, o, tiles);
  }
  for (size_t o = part * DOTS_W; o < d->out; o++) {
    const dots_weights w = dots_rows_of_w(form, d, o);
    v_f32 four[DOTS_W];
    for (size_t q = 0; q < DOTS_W; q++) four[q] = v_zero();
    dots_tile(form, 1, four, &w, d->x, d->in, d->in, form, &(dots_next){.row = NULL});
    float sum = v_sum(four[0]);
    d->y[o] = d->base ? d->base[o] + sum : sum;
  }
}

/* ---- more rows ---- */

/* Columns of x that stay near for DOTS_HELD rows: 48 KB, the first-level cache or little more.
 * Their sums up to there wait in an array, of so many rows of w that the copy of x is repaid. */
enum { DOTS_COLUMNS = 768, DOTS_HELD = 16, DOTS_STRIPES = 16 };
_Static_assert(DOTS_COLUMNS % TPTI_SCALE_BLOCK == 0, "whole blocks");
_Static_assert(DOTS_X *DOTS_W % V_LANES == 0, "a tile's sums are added up together");

typedef struct dots_panel {
  float held[DOTS_HELD * DOTS_COLUMNS]; /* a copy of x: rows of a power of 2 would collide */
  float w[DOTS_W * DOTS_COLUMNS];       /* of another form as floats */
  v_f32 sums[DOTS_STRIPES][DOTS_HELD * DOTS_W];
  const tpti_dots *d;
  const float *x;        /* [rows, columns] */
  size_t first, columns; /* of w and x that are at work */
  size_t row, rows;      /* of x */
} dots_panel;
_Static_assert(sizeof(dots_panel) <= TPTI_DOTS_WORK, "the panel fits the work space");

/* y of rows [r, r + rows) and the columns of a stripe from o on. */
ALWAYS_INLINE void dots_finish(const size_t rows, v_f32 *sums, const tpti_dots *d, size_t o,
                               size_t r) {
  float lanes[DOTS_X * DOTS_W];
  size_t step = dots_stripe(d, o);
  if (rows == DOTS_X) {
    UNROLL
    for (size_t k = 0; k < DOTS_X * DOTS_W; k += V_LANES) v_store(lanes + k, v_sums(sums + k));
  } else {
    for (size_t k = 0; k < rows * DOTS_W; k++) lanes[k] = v_sum(sums[k]);
  }
  for (size_t i = 0; i < rows; i++) {
    size_t at = (r + i) * d->y_row + dots_row(d, o), part = dots_part(d, o);
    for (size_t q = 0; q < step; q++, at += part)
      d->y[at] = d->base ? d->base[at] + lanes[i * DOTS_W + q] : lanes[i * DOTS_W + q];
  }
}

/* The tile of rows [r, r + rows) of the panel by the stripe at o. */
ALWAYS_INLINE void dots_panel_tile(const tpti_form form, const size_t rows, const dots_panel *p,
                                   v_f32 *kept, const dots_weights *w, size_t o, size_t r,
                                   const dots_next *next) {
  v_f32 sums[DOTS_X * DOTS_W];
  UNROLL
  for (size_t k = 0; k < rows * DOTS_W; k++) sums[k] = p->first ? kept[k] : v_zero();
  dots_tile(TPTI_FORM_F32, rows, sums, w, p->x + r * p->columns, p->columns, p->columns, form,
            next);
  if (p->first + p->columns == p->d->in) {
    dots_finish(rows, sums, p->d, o, p->row + r);
    return;
  }
  UNROLL
  for (size_t k = 0; k < rows * DOTS_W; k++) kept[k] = sums[k];
}

/* All rows of the panel by one stripe. Each tile fetches its share of the next, so that memory is
 * at work all the time. */
ALWAYS_INLINE void dots_panel_stripe(const tpti_form form, const dots_panel *p, v_f32 *kept,
                                     const dots_weights *w, size_t o, dots_next next) {
  size_t r = 0, tiles = p->rows / DOTS_X;
  for (size_t t = 0; t < tiles; t++, r += DOTS_X) {
    next.from = t * DOTS_W / tiles;
    next.to = (t + 1) * DOTS_W / tiles;
    dots_panel_tile(form, DOTS_X, p, kept + r * DOTS_W, w, o, r, &next);
  }
  if (tiles > 0) next.row = NULL;
  for (; r < p->rows; r++, next.row = NULL)
    dots_panel_tile(form, 1, p, kept + r * DOTS_W, w, o, r, &next);
}

/* Columns of a row of w, whole blocks but for the last, as floats. */
ALWAYS_INLINE void dots_expand(const tpti_form form, float *out, const char *row,
                               const float *scale, size_t columns) {
  for (size_t i = 0; i < columns; i += V_LANES) {
    size_t n = columns - i;
    v_f32 s = dots_scale(form, scale, i);
    if (n < V_LANES)
      v_store_n(out + i, dots_last(form, row, i, n, s), n);
    else
      v_store(out + i, dots_values(form, row, i, s));
  }
}

/* The panel's columns of the stripe at o: where they lie, or as floats. */
ALWAYS_INLINE dots_weights dots_panel_weights(const tpti_form form, dots_panel *p, size_t o) {
  dots_weights w = dots_rows_of_w(form, p->d, o);
  w.row += p->first * dots_width(form);
  if (form == TPTI_FORM_F32) return w;
  if (form == TPTI_FORM_INT8) w.scale += p->first / TPTI_SCALE_BLOCK;
  for (size_t q = 0; q < DOTS_W; q++)
    dots_expand(form, p->w + q * p->columns, w.row + q * w.stride, dots_scales(form, &w, q),
                p->columns);
  return (dots_weights){.row = (const char *)p->w, .stride = p->columns * sizeof(float)};
}

/* The panel's columns of x; all of them lie right where they are. */
static void dots_panel_take(dots_panel *p) {
  const tpti_dots *d = p->d;
  p->x = d->x + p->row * d->in;
  if (p->columns == d->in) return;
  for (size_t r = 0; r < p->rows; r++)
    __builtin_memcpy(p->held + r * p->columns, p->x + r * d->in + p->first,
                     p->columns * sizeof(float));
  p->x = p->held;
}

/* Columns to do next: even parts, whole blocks. */
static size_t dots_panel_columns(const dots_panel *p) {
  size_t left = p->d->in - p->first, parts = (left + DOTS_COLUMNS - 1) / DOTS_COLUMNS;
  size_t part = (left / parts + TPTI_SCALE_BLOCK - 1) / TPTI_SCALE_BLOCK * TPTI_SCALE_BLOCK;
  return parts == 1 ? left : part;
}

/* The panel's rows by the stripes of [o, end). */
ALWAYS_INLINE void dots_panel_all(const tpti_form form, dots_panel *p, size_t o, size_t end) {
  for (p->first = 0; p->first < p->d->in; p->first += p->columns) {
    size_t stripe = 0;
    p->columns = dots_panel_columns(p);
    dots_panel_take(p);
    for (size_t at = o; at < end; at += dots_stripe(p->d, at)) {
      const dots_weights w = dots_panel_weights(form, p, at);
      dots_next next = dots_next_of(form, p->d, at);
      next.row = p->row || !next.row ? NULL : next.row + p->first * dots_width(form);
      dots_panel_stripe(form, p, p->sums[stripe++], &w, at, next);
    }
  }
}

/* Where the first DOTS_STRIPES stripes from o on end. */
static size_t dots_panel_end(const tpti_dots *d, size_t o) {
  for (size_t s = 0; s < DOTS_STRIPES && o < d->out; s++) o += dots_stripe(d, o);
  return o;
}

ALWAYS_INLINE void dots_many(const tpti_form form, const tpti_dots *d) {
  dots_panel *p = d->work;
  for (size_t o = 0, end; o < d->out; o = end) {
    end = dots_panel_end(d, o);
    for (size_t row = 0; row < d->rows; row += DOTS_HELD) {
      p->d = d;
      p->row = row;
      p->rows = d->rows - row < DOTS_HELD ? d->rows - row : DOTS_HELD;
      dots_panel_all(form, p, o, end);
    }
  }
}

static void dots_f32(const tpti_dots *d) { dots_many(TPTI_FORM_F32, d); }
static void dots_bf16(const tpti_dots *d) { dots_many(TPTI_FORM_BF16, d); }
static void dots_int8(const tpti_dots *d) { dots_many(TPTI_FORM_INT8, d); }
static void dots_one_f32(const tpti_dots *d) { dots_one(TPTI_FORM_F32, d); }
static void dots_one_bf16(const tpti_dots *d) { dots_one(TPTI_FORM_BF16, d); }
static void dots_one_int8(const tpti_dots *d) { dots_one(TPTI_FORM_INT8, d); }

static void dots(const tpti_dots *d) {
  static tpti_dots_fn *const one[] = {dots_one_f32, dots_one_bf16, dots_one_int8};
  static tpti_dots_fn *const many[] = {dots_f32, dots_bf16, dots_int8};
  (d->rows == 1 ? one : many)[d->w.form](d);
}

/* ---- as floats ---- */

static void expand(float *values, const tpti_matrix *w, size_t rows, size_t columns) {
  for (size_t o = 0; o < rows; o++) {
    const tpti_matrix at = tpti_matrix_from(*w, columns, o);
    float *out = values + o * columns;
    if (at.form == TPTI_FORM_F32)
      dots_expand(TPTI_FORM_F32, out, at.values, NULL, columns);
    else if (at.form == TPTI_FORM_BF16)
      dots_expand(TPTI_FORM_BF16, out, at.values, NULL, columns);
    else
      dots_expand(TPTI_FORM_INT8, out, at.values, at.scales, columns);
  }
}
