/* Cutting a text at matches. The pieces between matches and the matches themselves come in turn;
 * what the behaviors merge is held back by one piece. */
#include "text/step.h"

typedef struct splitter {
  tpti_behavior behavior;
  bool inverted;
  tpti_piece_fn piece;
  void *user;
  bool holding, held_match; /* a piece waits for the next; it is a match */
  bool previous_match;
  size_t start, end; /* of the piece that waits */
} splitter;

static tpt_status give(splitter *s, size_t start, size_t end) {
  return start < end ? s->piece(s->user, start, end) : TPT_OK;
}

static tpt_status give_held(splitter *s) {
  bool holding = s->holding;
  s->holding = false;
  return holding ? give(s, s->start, s->end) : TPT_OK;
}

/* Does this piece lengthen the one that waits? */
static bool joins(const splitter *s, bool match) {
  if (!s->holding) return false;
  if (s->behavior == TPTI_CONTIGUOUS) return match == s->held_match;
  if (s->behavior == TPTI_MERGED_WITH_NEXT) return s->held_match && !match;
  return match && !s->previous_match; /* MERGED_WITH_PREVIOUS */
}

static tpt_status hold(splitter *s, size_t start, size_t end, bool match) {
  tpt_status status = TPT_OK;
  if (joins(s, match)) {
    s->end = end;
  } else {
    status = give_held(s);
    s->start = start;
    s->end = end;
    s->holding = true;
  }
  s->held_match = s->previous_match = match;
  return status;
}

static tpt_status take(splitter *s, size_t start, size_t end, bool match) {
  match = match != s->inverted;
  if (s->behavior == TPTI_ISOLATED) return give(s, start, end);
  if (s->behavior == TPTI_REMOVED) return match ? TPT_OK : give(s, start, end);
  return hold(s, start, end, match);
}

tpt_status tpti_step_split(const tpti_step *step, tpti_matcher *matcher, const char *text,
                           size_t length, tpti_piece_fn piece, void *user) {
  tpti_matches matches = {.matcher = matcher, .text = text, .size = length};
  splitter s = {.behavior = step->behavior, .inverted = step->flag, .piece = piece, .user = user};
  size_t done = 0, start, end;
  tpt_status status = TPT_OK;
  for (bool found = true; found && !status;) {
    status = tpti_matches_next(&matches, &found, &start, &end);
    if (status || !found) break;
    if (done < start) status = take(&s, done, start, false);
    if (!status) status = take(&s, start, end, true);
    done = end;
  }
  if (!status && done < length) status = take(&s, done, length, false);
  return status ? status : give_held(&s);
}
