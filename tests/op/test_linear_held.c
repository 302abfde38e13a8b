/* Linear maps of held weights: the bits of the same map by the weights as floats. */
#include "op/linear_held.h"

#include <math.h>
#include <string.h>

#include "gradient.h"
#include "kernel/bf16.h"
#include "kernel/kernel.h"
#include "op/linear.h"
#include "support/runner.h"

/* More and fewer rows than outputs; more outputs than are expanded at a time; k of one round and of
 * several; rows of scales that end within a block. */
typedef struct shape {
  size_t M, out, in;
} shape;
static const shape shapes[] = {{17, 1, 1},    {33, 70, 65},    {70, 33, 129},  {20, 45, 31},
                               {40, 700, 96}, {18, 130, 1200}, {90, 20, 3000}, {18, 300, 2111}};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

typedef enum base_kind { NO_BASE, OTHER_BASE, OWN_BASE, BASES } base_kind;

static bool always(void) { return true; }

static const struct {
  tpti_precision precision;
  bool (*here)(void);
} ways[] = {{TPTI_PRECISION_F32, always},
            {TPTI_PRECISION_BF16_VECTORS, tpti_bf16_vectors_here},
            {TPTI_PRECISION_BF16, tpti_amx_permit},
            {TPTI_PRECISION_BF16X3, tpti_amx_permit},
            {TPTI_PRECISION_BF16X6, tpti_amx_permit}};
enum { WAYS = sizeof ways / sizeof ways[0] };

/* ---- weights ---- */

/* Held, and the same values as floats. */
typedef struct weights {
  tpti_matrix held;
  float *floats;
} weights;

/* The upper half of every float. Some are not normal: a denormal, an infinity, a NaN. */
static void fill_bf16(uint16_t *values, const float *floats, size_t count) {
  static const uint16_t special[] = {0x0001, 0x7f80, 0x7fa1};
  for (size_t i = 0; i < count; i++) {
    uint32_t bits;
    memcpy(&bits, floats + i, sizeof bits);
    values[i] = (uint16_t)(bits >> 16);
  }
  for (size_t i = 0; i < 3 && count > 500; i++) values[100 * i] = special[i];
}

static void fill_int8(int8_t *values, const float *floats, size_t count) {
  for (size_t i = 0; i < count; i++) values[i] = (int8_t)(127 * floats[i]);
}

static weights make(arrays *hold, tpti_form form, size_t out, size_t in) {
  size_t count = out * in;
  weights w = {.floats = filled(hold, count, 2)};
  /* room for the smaller values, in floats */
  void *values = filled(hold, count, 0);
  const float *scales = filled(hold, out * tpti_scales(in), 3);
  if (form == TPTI_FORM_BF16)
    fill_bf16(values, w.floats, count);
  else
    fill_int8(values, w.floats, count);
  w.held = (tpti_matrix){form, values, form == TPTI_FORM_INT8 ? scales : NULL};
  tpti_kernels_plain.expand(w.floats, &w.held, out, in);
  return w;
}

/* ---- the map ---- */

/* run->pack, with room for what the map asks for. */
static void *room(tpti_run *run, arrays *hold, size_t bytes) {
  float *block = filled(hold, bytes / sizeof(float) + 32, 0);
  void *old = run->pack;
  run->pack = (char *)block + (64 - (uintptr_t)block % 64) % 64;
  return old;
}

static void held_map(tpti_run *run, arrays *hold, float *y, const float *base, const float *x,
                     const weights *w, const shape *s) {
  size_t floats = tpti_linear_held_floats(run->precision, s->out, s->in);
  float *space = floats ? filled(hold, floats, 0) : NULL;
  void *old = room(run, hold, tpti_linear_held_pack(run->precision, s->M, s->out, s->in));
  tpti_linear_held(run, y, base, x, &w->held, space, s->M, s->out, s->in);
  run->pack = old;
}

static void float_map(tpti_run *run, arrays *hold, float *y, const float *base, const float *x,
                      const weights *w, const shape *s) {
  void *old = room(run, hold, tpti_linear_pack(run->precision, s->M, s->out, s->in, false));
  tpti_linear_forward(run, y, base, x, (tpti_weight){.w = w->floats}, s->M, s->out, s->in);
  run->pack = old;
}

static bool same(float a, float b) {
  return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

static void check(tpti_precision precision, int32_t threads, tpti_form form, const shape *s,
                  base_kind kind) {
  arrays hold = {0};
  size_t count = s->M * s->out;
  tpti_run *run = tpti_test_run(threads);
  run->precision = precision;
  const weights w = make(&hold, form, s->out, s->in);
  const float *x = filled(&hold, s->M * s->in, 1);
  float *got = filled(&hold, count, 4), *want = filled(&hold, count, 4);
  const float *other = filled(&hold, count, 5);
  held_map(run, &hold, got, kind == NO_BASE ? NULL : kind == OWN_BASE ? got : other, x, &w, s);
  float_map(run, &hold, want, kind == NO_BASE ? NULL : kind == OWN_BASE ? want : other, x, &w, s);
  size_t i = 0;
  while (i < count && same(got[i], want[i])) i++;
  ck_assert_msg(i == count, "precision %d, form %d, %zu x %zu x %zu, %d threads: [%zu] %a, not %a",
                (int)precision, (int)form, s->M, s->out, s->in, threads, i, (double)got[i],
                (double)want[i]);
  tpti_test_run_free(run);
  arrays_free(&hold);
}

START_TEST(bits_are_those_of_the_floats) {
  const shape *s = &shapes[_i % SHAPES];
  tpti_form form = _i / SHAPES % 2 ? TPTI_FORM_INT8 : TPTI_FORM_BF16;
  size_t way = (size_t)_i / SHAPES / 2;
  if (!ways[way].here()) return;
  for (int32_t threads = 1; threads <= 3; threads++)
    check(ways[way].precision, threads, form, s, (base_kind)((_i + threads) % BASES));
}
END_TEST

/* What is packed as it lies needs no room for floats. */
START_TEST(only_float32_expands) {
  ck_assert_uint_eq(tpti_linear_held_floats(TPTI_PRECISION_F32, 5000, 512), 512 * 512);
  for (int p = TPTI_PRECISION_BF16X3; p <= TPTI_PRECISION_BF16_VECTORS; p++)
    ck_assert_uint_eq(tpti_linear_held_floats((tpti_precision)p, 5000, 512), 0);
}
END_TEST

int main(void) {
  Suite *s = suite_create("op linear held");
  TCase *c = tcase_create("held");
  tcase_add_loop_test(c, bits_are_those_of_the_floats, 0, 2 * SHAPES * WAYS);
  tcase_add_test(c, only_float32_expands);
  suite_add_tcase(s, c);
  return tpti_test_main(s);
}
