/* Tokenizer: text to ids and back. Immutable: calls may share one. */
'use strict';
const { Cell } = require('./cell.js');
const { Plan, both, callSync, textPlan, takes, takesNoSignal } = require('./call.js');
const { contextOf } = require('./context.js');
const { Handle, CELL, made } = require('./handle.js');
const { checkReceivers } = require('./receiver.js');
const values = require('./values.js');

function make(name, args, options) {
  const place = made(), context = contextOf(options);
  return new Plan(name, [context, ...args, place],
    () => new Tokenizer(new Cell('tokenizer', Number(place[0]), context)));
}

function makeOfText(name, text, rest, options) {
  const content = values.bytes(text, 'text');
  return make(name, [values.pointer(content), content.length, ...rest], options);
}

/* Ids of a text: a text has at most as many as bytes, save where a word of one byte becomes several. */
function encodePlan(name, cell, content, room) {
  const ids = new Int32Array(room), count = made();
  const args = [cell, values.pointer(content), content.length, values.pointer(ids), room, count];
  return new Plan(name, args, () => {
    const all = Number(count[0]);
    return all > room ? encodePlan(name, cell, content, all) : ids.slice(0, all);
  });
}

class Tokenizer extends Handle {
  vocabSize() {
    const count = made();
    return callSync(new Plan('tpt_tokenizer_vocab_size', [this[CELL], count], () => Number(count[0])));
  }

  id(token) {
    const id = new Int32Array(1);
    return callSync(new Plan('tpt_tokenizer_id', [this[CELL], values.terminated(token, 'token'), id], () => id[0]));
  }

  token(id) {
    return callSync(textPlan('tpt_tokenizer_token', [this[CELL], values.int32(id, 'id')]));
  }
}

checkReceivers(Tokenizer);

both(Tokenizer, 'bytes', takesNoSignal(0, 'context'), options => make('tpt_tokenizer_bytes', [], options));
both(Tokenizer, 'words', takes(2, 'context'), (text, vocab, options) =>
  makeOfText('tpt_tokenizer_words', text, [values.size(vocab, 'vocab')], options));
both(Tokenizer, 'bpe', takes(2, 'context'), (text, vocab, options) =>
  makeOfText('tpt_tokenizer_bpe', text, [values.size(vocab, 'vocab')], options));
both(Tokenizer, 'load', takes(1, 'context'), (path, options) =>
  make('tpt_tokenizer_load', [values.path(path)], options));
both(Tokenizer, 'parse', takes(1, 'context'), (json, options) => makeOfText('tpt_tokenizer_parse', json, [], options));

both(Tokenizer.prototype, 'save', takes(1), function (path) {
  return new Plan('tpt_tokenizer_save', [this[CELL], values.path(path)]);
});

/* tokenizer.json */
both(Tokenizer.prototype, 'format', takes(0), function () {
  return textPlan('tpt_tokenizer_format', [this[CELL]], { room: 65536 });
});

both(Tokenizer.prototype, 'encode', takes(1), function (text) {
  const content = values.bytes(text, 'text');
  return encodePlan('tpt_tokenizer_encode', this[CELL], content, content.length);
});

/* Special tokens are plain text: for text of a stranger. */
both(Tokenizer.prototype, 'encodeText', takes(1), function (text) {
  const content = values.bytes(text, 'text');
  return encodePlan('tpt_tokenizer_encode_text', this[CELL], content, content.length);
});

/* A text, or with { bytes: true } a Buffer. */
both(Tokenizer.prototype, 'decode', takes(1, 'bytes'), function (ids, options) {
  const all = values.tokens(ids, 'ids');
  return textPlan('tpt_tokenizer_decode', [this[CELL], values.pointer(all), all.length], options);
});

/* What the ids from `done` on add to the text of those before. */
both(Tokenizer.prototype, 'decodeTail', takes(2, 'bytes'), function (ids, done, options) {
  const all = values.tokens(ids, 'ids');
  const head = [this[CELL], values.pointer(all), all.length, values.size(done, 'done')];
  return textPlan('tpt_tokenizer_decode_tail', head, options);
});

module.exports = { Tokenizer };
