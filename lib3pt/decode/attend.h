/* Attention of new rows of one sequence: their keys and values go into its cache, and their queries
 * are answered from it. */
#ifndef TPTI_DECODE_ATTEND_H
#define TPTI_DECODE_ATTEND_H

#include "decode/sequence.h"

/* Rows at consecutive positions, whole or a part of their heads: some key/value heads, and the
 * queries that read them. */
typedef struct tpti_attend {
  const tpti_network *net;
  const tpti_sequence *sequence;
  size_t layer, first, count; /* rows at positions first .. first + count - 1 */
  size_t head, heads;         /* key/value heads head .. head + heads - 1 */
  float *qkv;                 /* [count, D + 2 K E] all heads of the first row on */
  float *y;                   /* [count, D] */
} tpti_attend;

/* y of these heads; their q and k are turned by their positions in place. */
void tpti_decode_attend(tpti_run *run, const tpti_attend *a);

#endif
