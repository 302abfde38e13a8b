/* Decoder: a sequence in progress, and text that comes piece by piece. */
'use strict';
const { Cell, refuseClosed } = require('./cell.js');
const { Plan, both, call, callSync, signalOf, takes, takesNoSignal } = require('./call.js');
const { Handle, CELL, cellOf, made } = require('./handle.js');
const { copyFloats } = require('./memory.js');
const { Model } = require('./model.js');
const { checkStack } = require('./native.js');
const { optionsOf } = require('./options.js');
const { checkReceivers } = require('./receiver.js');
const { TextStream } = require('./stream.js');
const { Tokenizer } = require('./tokenizer.js');
const values = require('./values.js');

/* The plans of a token a call, which are kept: to make new ones would cost more than to carry them out. */
function stepOf(cell) {
  if (cell.step) return cell.step;
  const token = new Int32Array(1);
  const feed = new Plan('tpt_decoder_feed', [cell, token, 1, null]);
  const sample = new Plan('tpt_decoder_sample', [cell, token], () => token[0]);
  return (cell.step = { token, feed, sample });
}

/* The plan that feeds one token of an array; null for all else, and while a call may still read its token. */
function feedOne(given, options) {
  const cell = this[CELL], token = given?.[0];
  if (cell.alone || logitsOf(options) || !Array.isArray(given) || given.length !== 1) return null;
  if (!values.isInt32(token)) return null;
  const { token: place, feed } = stepOf(cell);
  place[0] = token;
  return feed;
}

function logitsOf(options) {
  const { logits = false } = options ?? {};
  return values.flag(logits, 'logits');
}

function feedPlan(cell, tokens, place, done) {
  return new Plan('tpt_decoder_feed', [cell, values.pointer(tokens), tokens.length, place], done);
}

/* by: whom a call in the meantime is to wait for. */
function feedAway(cell, ids, signal, by) {
  checkStack();
  return call(Object.assign(feedPlan(cell, Int32Array.from(ids), null), { by }), signal);
}

/* What pieces and stream are given, checked before anything is fed. */
function piecesOf(tokenizer, prompt, options) {
  const { count = Infinity, stop = [], ...rest } = optionsOf(options, ['count', 'stop', 'signal']);
  refuseClosed(cellOf(tokenizer, Tokenizer));
  return {
    tokenizer,
    ids: Array.from(values.tokens(prompt, 'prompt')),
    count: count === Infinity ? count : values.size(count, 'count'),
    ends: new Set(values.tokens(stop, 'stop')),
    signal: signalOf(rest),
  };
}

class Decoder extends Handle {
  /* Positions, cache, logits and sampler of this one go into target, which is of the same model. */
  copyTo(target) {
    callSync(new Plan('tpt_decoder_copy', [this[CELL], cellOf(target, Decoder)]));
  }

  rewind(position) {
    callSync(new Plan('tpt_decoder_rewind', [this[CELL], values.size(position, 'position')]));
  }

  position() {
    const position = made();
    return callSync(new Plan('tpt_decoder_position', [this[CELL], position], () => Number(position[0])));
  }

  /* Temperature 0 is greedy; top_k 0 and top_p 1 are off. */
  setSampling(options) {
    const { temperature = 1, topK = 0, topP = 1, seed = 0 } =
      optionsOf(options, ['temperature', 'topK', 'topP', 'seed']);
    callSync(new Plan('tpt_decoder_set_sampling', [this[CELL], values.number(temperature, 'temperature'),
      values.int32(topK, 'topK'), values.number(topP, 'topP'), values.uint64(seed, 'seed')]));
  }

  /* The next token, which is not fed. Fast, so it is made at once. */
  sample() {
    return callSync(stepOf(this[CELL]).sample);
  }

  /* Feeds a prompt (ids) and then what it samples: { id, text } each. Ends after `count` tokens, after one
   * of `stop`, or where the room of the decoder ends. */
  pieces(tokenizer, prompt, options) {
    const given = piecesOf(tokenizer, prompt, options);
    return this.#pieces(given, given.signal, 'pieces: await their next() first');
  }

  async *#pieces({ tokenizer, ids, count, ends }, signal, by) {
    const cell = this[CELL], { most } = cell;
    refuseClosed(cellOf(tokenizer, Tokenizer)); // again: this runs when the first piece is asked for
    await feedAway(cell, ids, signal, by);
    for (let i = 0; i < count; i++) {
      const id = this.sample();
      ids.push(id);
      yield { id, text: tokenizer.decodeTailSync(ids, ids.length - 1) };
      if (ends.has(id) || i + 1 >= count || this.position() >= most) return;
      await feedAway(cell, [id], signal, by);
    }
  }

  /* The text of pieces as a stream. */
  stream(tokenizer, prompt, options) {
    const given = piecesOf(tokenizer, prompt, options), by = "a stream of its text: await the stream's event 'close' first";
    return new TextStream(signal => this.#pieces(given, signal, by), given.signal);
  }
}

checkReceivers(Decoder);

both(Decoder, 'create', takesNoSignal(1, 'maxPositions'), (model, options) => {
  const place = made(), parent = cellOf(model, Model), { maxPositions = 0 } = options ?? {};
  const most = maxPositions || parent.sizes.most;
  return new Plan('tpt_decoder_create', [parent, values.size(maxPositions, 'maxPositions'), place],
    () => new Decoder(Object.assign(new Cell('decoder', Number(place[0]), parent), { most, step: null })));
});

/* With { logits: true } a copy of the logits [V] after the last token. */
both(Decoder.prototype, 'feed', takes(1, 'logits'), function (given, options) {
  const tokens = values.tokens(given), cell = this[CELL], place = logitsOf(options) ? made() : null;
  return feedPlan(cell, tokens, place,
    () => (place ? copyFloats(Number(place[0]), cell.parent.sizes.V) : undefined));
}, feedOne);

/* Samples and feeds `count` times in one call, or until the token `stop` has come: the tokens. The array
 * `into` is given them too, also where the call fails. A call that is repeated makes what is left. */
both(Decoder.prototype, 'generate', takes(1, 'stop', 'into'), function (count, options) {
  const { stop = -1, into = [] } = options ?? {}, cell = this[CELL], more = made();
  values.growing(into, 'into');
  const tokens = values.pointer(new Int32Array(Math.min(values.size(count, 'count'), cell.most)));
  let done = 0;
  const args = [cell, values.int32(stop, 'stop'), tokens, count, more];
  const plan = new Plan('tpt_decoder_generate', args, () => tokens.slice(0, done));
  plan.ended = () => {
    const before = done;
    done += Number(more[0]);
    for (const token of tokens.subarray(before, done)) into.push(token);
    plan.args.splice(2, 2, tokens.subarray(done), count - done);
  };
  return plan;
});

/* One token to each of several decoders of a model; logits as of feed, one array for each. */
both(Decoder, 'feedMany', takes(2, 'logits'), (decoders, given, options) => {
  const cells = Array.from(values.list(decoders, 'decoders', 'decoders'), one => cellOf(one, Decoder));
  const tokens = values.counted(values.tokens(given), cells.length, 'tokens', 'one for each decoder');
  const addresses = BigUint64Array.from(cells, cell => BigInt(cell.address));
  const places = logitsOf(options) ? new BigUint64Array(cells.length) : null;
  const args = [values.pointer(addresses), cells.length, values.pointer(tokens), places && values.pointer(places)];
  return new Plan('tpt_decoder_feed_many', args,
    () => (places ? cells.map((cell, i) => copyFloats(Number(places[i]), cell.parent.sizes.V)) : undefined), cells);
});

/* ln P of each token, given those before it. */
both(Decoder.prototype, 'score', takes(1), function (given) {
  const tokens = values.tokens(given), scores = new Float64Array(tokens.length);
  return new Plan('tpt_decoder_score', [this[CELL], values.pointer(tokens), tokens.length, values.pointer(scores)],
    () => scores);
});

module.exports = { Decoder };
