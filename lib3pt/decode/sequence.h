/* A sequence in progress: its keys and values, its last logits, its sampler, and the work space of
 * its feeds. Position p always reads r(p) and the rotary angles of p, so that feeding step by step
 * gives the logits of the full forward pass. */
#ifndef TPTI_DECODE_SEQUENCE_H
#define TPTI_DECODE_SEQUENCE_H

#include "decode/sample.h"
#include "model/network.h"

/* Work space for some rows at a time. */
typedef struct tpti_decode_work {
  size_t rows;                 /* the most rows of one pass through the blocks */
  size_t head_rows;            /* the most rows of logits at a time */
  float *h, *n, *y;            /* [rows, D] stream, norm's output, attention's output */
  float *qkv;                  /* [rows, D + 2 K E] */
  float *gate_up, *act;        /* [rows, 2 F], [rows, F] */
  float *cosine, *sine;        /* [L, D / 2] of the rotations */
  float *logits;               /* [head_rows, V] */
  float *floats;               /* expanded rows of weights (op/linear_held.h) */
  double *loss;                /* [head_rows] */
  int32_t *targets;            /* [head_rows] */
  struct tpti_sequence **list; /* [rows] the sequences of a pass */
  void *scratch, *pack;        /* of the run */
  tpti_precision precision;    /* of the run: what pack is for */
} tpti_decode_work;

typedef struct tpti_sequence {
  size_t room;           /* the most positions */
  size_t position;       /* tokens held */
  float *keys, *values;  /* [L, room, K E] */
  float *logits, *spare; /* [V] after the last token; of a feed that may still fail */
  bool has_logits;       /* false at the start and after a rewind */
  tpti_sampler sampler;
  tpti_decode_work work;
} tpti_sequence;

/* Of a network with matrices of this form; products of prompts are made in `precision`. */
void tpti_sequence_layout(tpti_sequence *sequence, const tpti_dims *dims, tpti_form form,
                          tpti_precision precision, size_t room, tpti_plan *plan);

/* In what the products of prompts are best made: float32 weights in float32, others in bf16 where
 * there are units for it that the process may use. */
tpti_precision tpti_sequence_precision(tpti_form form);

/* Feeds count tokens that have been checked and fit. Nothing moves where the run was stopped. */
tpt_status tpti_sequence_feed(tpti_run *run, const tpti_network *net, tpti_sequence *sequence,
                              const int32_t *tokens, size_t count);

/* The sequences of a call: the i-th of them. */
typedef tpti_sequence *tpti_sequence_at(void *user, size_t i);

/* One token to each of count different sequences, with the work space of the first; all or none
 * move. */
tpt_status tpti_sequence_feed_many(tpti_run *run, const tpti_network *net, tpti_sequence_at *at,
                                   void *user, size_t count, const int32_t *tokens);

/* As feed; loss [count] = -ln P(target | what is before it), of row i's target: targets[i], or
 * where targets is NULL tokens[i + 1]. It is 0 for ignore_index, and for the last row without a
 * target. */
tpt_status tpti_sequence_score(tpti_run *run, const tpti_network *net, tpti_sequence *sequence,
                               const int32_t *tokens, const int32_t *targets, int32_t ignore_index,
                               size_t count, double *loss);

/* -ln P(token) by the last logits. */
double tpti_sequence_surprise(tpti_run *run, const tpti_sequence *sequence, int32_t token,
                              size_t V);

/* Everything but the work space; target has room for it. */
void tpti_sequence_copy(const tpti_sequence *source, tpti_sequence *target, const tpti_dims *dims);

#endif
