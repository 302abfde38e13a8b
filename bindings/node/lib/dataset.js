/* Dataset: a sequence of token ids, in memory or in a file. */
'use strict';
const { Cell } = require('./cell.js');
const { Plan, both, callSync, takes, takesNoSignal } = require('./call.js');
const { contextOf } = require('./context.js');
const { Handle, CELL, made } = require('./handle.js');
const { checkReceivers } = require('./receiver.js');
const values = require('./values.js');

function make(name, args, options) {
  const place = made(), context = contextOf(options);
  return new Plan(name, [context, ...args, place],
    () => new Dataset(new Cell('dataset', Number(place[0]), context)));
}

class Dataset extends Handle {
  count() {
    const count = made();
    return callSync(new Plan('tpt_dataset_count', [this[CELL], count], () => Number(count[0])));
  }

  windowCount(seq) {
    const count = made();
    return callSync(new Plan('tpt_dataset_window_count', [this[CELL], values.size(seq, 'seq'), count],
      () => Number(count[0])));
  }
}

checkReceivers(Dataset);

both(Dataset, 'open', takes(1, 'context'), (path, options) => make('tpt_dataset_open', [values.path(path)], options));

both(Dataset, 'fromTokens', takes(1, 'context'), (given, options) => {
  const tokens = values.tokens(given);
  return make('tpt_dataset_from_tokens', [values.pointer(tokens), tokens.length], options);
});

/* { tokens, targets, state }: the state is to be given to the next call. */
both(Dataset.prototype, 'random', takesNoSignal(3), function (state, batch, seq) {
  const next = BigUint64Array.of(values.uint64(state, 'state'));
  const { count, what } = values.area(batch, seq);
  const tokens = values.zeros(Int32Array, count, what), targets = values.zeros(Int32Array, count, what);
  const args = [this[CELL], next, batch, seq, values.pointer(tokens), values.pointer(targets)];
  return new Plan('tpt_dataset_random', args, () => ({ tokens, targets, state: next[0] }));
});

/* { tokens, targets } */
both(Dataset.prototype, 'window', takesNoSignal(2), function (index, seq) {
  const what = `seq, ${values.size(seq, 'seq')},`;
  const tokens = values.zeros(Int32Array, seq, what), targets = values.zeros(Int32Array, seq, what);
  const args = [this[CELL], values.size(index, 'index'), seq, values.pointer(tokens), values.pointer(targets)];
  return new Plan('tpt_dataset_window', args, () => ({ tokens, targets }));
});

module.exports = { Dataset };
