/* What the package itself refuses: values of a wrong type, options that are none. */
import { createRequire } from 'node:module';
import test from 'node:test';
import { Config, Context, Dataset, Decoder, Model, Optimizer, Tokenizer, Trainer, checkVersion, memory, statusName, useLibrary }
  from 'lib3pt';
import { assert, small } from './support.mjs';

function stage() {
  const context = Context.create({ threads: 1 }), config = small(), model = Model.createSync(config, { seed: 1 });
  const trainer = Trainer.createSync(model), optimizer = Optimizer.createSync(trainer);
  const decoder = Decoder.createSync(model), data = Dataset.fromTokensSync([1, 2, 3, 4]);
  return { context, config, model, trainer, optimizer, decoder, data, tokenizer: Tokenizer.bytesSync() };
}

/* A message in both forms of a method. */
async function refused(object, name, args, message) {
  await assert.rejects(async () => object[name](...args), { message });
  assert.throws(() => object[`${name}Sync`](...args), { message });
}

const WRONG = [['3', '"3" (a string)'], [3n, '3n (a bigint)'], [[3], '[ 3 ] (an array)'], [true, 'true (a boolean)'],
  [null, 'null'], [NaN, 'NaN'], [-1, '-1'], [1.5, '1.5'], [Symbol('3'), 'Symbol(3) (a symbol)'],
  [{ valueOf: () => 3 }, '{ valueOf: [Function: valueOf] } (an object)'], [() => 3, '[Function (anonymous)] (a function)'],
  [new Int32Array(6), 'Int32Array(6) [ 0, 0, 0, 0, ... 2 more items ] (an object)'], [new Map(), 'Map(0) {} (an object)'],
  ['x'.repeat(99), `"${'x'.repeat(60)}"... (a string)`], ['a\nb', '"a\\nb" (a string)']];

test('a value of a wrong type is shown with its type', async () => {
  const { decoder } = stage();
  for (const [value, said] of WRONG) {
    const allowed = value === -1 ? 'it cannot be negative' : 'a whole number from 0 on is allowed';
    await refused(decoder, 'generate', [value], `count is ${said}; ${allowed}`);
    if (!Array.isArray(value))
      await refused(decoder, 'generate', [2, { into: value }], `into is ${said}; an array is allowed`);
    if (value === -1) continue; // is one of 32 bits
    await refused(decoder, 'generate', [2, { stop: value }], `stop is ${said}; a whole number of 32 bits is allowed`);
    await refused(decoder, 'feed', [[value]], `tokens[0] is ${said}; a whole number of 32 bits is allowed`);
  }
  await refused(decoder, 'generate', [], 'count is undefined; a whole number from 0 on is allowed');
});

test('every method shows a value of a wrong type', async () => {
  const { context, config, model, trainer, optimizer, decoder, data, tokenizer } = stage(), wrong = { a: 1 };
  const calls = {
    status: () => statusName(wrong), minor: () => checkVersion(1, wrong, 0), file: () => useLibrary(wrong),
    threads: () => context.setThreads(wrong), log: () => context.setLog(wrong), progress: () => context.setProgress(wrong),
    allocator: () => context.setAllocator(wrong), name: () => Config.preset(wrong), index: () => Config.presetName(wrong),
    path: () => Config.load(wrong), key: () => config.get(wrong), value: () => config.set('train.lr', wrong),
    use: () => config.memory(wrong), seed: () => Model.createSync(config, { seed: wrong }),
    data: () => Model.loadMemorySync(wrong), precision: () => model.convertSync(wrong),
    seq: () => model.evaluateSync(data, { seq: wrong }),
    maxWindows: () => model.evaluateSync(data, { seq: 1, maxWindows: wrong }),
    values: () => model.setTensor('embedding.weight', wrong), first: () => model.dcProfile(wrong, 1),
    count: () => model.dcProfile(0, wrong), layer: () => model.theta(wrong), phase: () => model.angles(0, wrong),
    point: () => trainer.activation(wrong, 0), batch: () => trainer.forwardSync([1], wrong, 1),
    targets: () => trainer.lossSync(wrong), dlogits: () => trainer.backwardLogitsSync(wrong), lr: () => optimizer.setLr(wrong),
    user: () => trainer.saveCheckpointSync(optimizer, 'a', wrong),
    maxPositions: () => Decoder.createSync(model, { maxPositions: wrong }), tokens: () => decoder.scoreSync(wrong),
    position: () => decoder.rewind(wrong), temperature: () => decoder.setSampling({ temperature: wrong }),
    topK: () => decoder.setSampling({ topK: wrong }), topP: () => decoder.setSampling({ topP: wrong }),
    prompt: () => decoder.pieces(tokenizer, wrong), stop: () => decoder.pieces(tokenizer, [1], { stop: wrong }),
    state: () => data.randomSync(wrong, 1, 1), text: () => tokenizer.encodeSync(wrong),
    vocab: () => Tokenizer.wordsSync('a', wrong), token: () => tokenizer.id(wrong), id: () => tokenizer.token(wrong),
    ids: () => tokenizer.decodeSync(wrong), done: () => tokenizer.decodeTailSync([65], wrong),
    'a Config': () => Model.createSync(wrong), 'a Model': () => Decoder.createSync(wrong),
    'a Context': () => Tokenizer.bytesSync({ context: wrong }),
  };
  for (const [name, call] of Object.entries(calls)) assert.throws(call, ({ message }) => {
    assert.ok(message.startsWith(name) && message.includes('{ a: 1 } (an object)'), `${name}: ${message}`);
    return true;
  });
  assert.throws(() => config.set('train.steps', 5n), { name: 'TypeError', message: /^value is 5n \(a bigint\); / });
  assert.throws(() => decoder.pieces(tokenizer, [1], { stop: ['5'] }), { message: /^stop\[0\] is "5" \(a string\); / });
  assert.throws(() => decoder.pieces(tokenizer, [1], { count: '5' }), { message: /^count is "5" \(a string\); / });
  for (const falsy of [0, '', false, null])
    assert.throws(() => Model.loadMemorySync('', { config: falsy }), { message: /^a Config is wanted here, not / });
  assert.equal(config.set('train.lr', 0.25).get('train.lr'), '0.25');
});

test('null is no value that was left out', () => {
  const { config, model, decoder, data } = stage();
  assert.throws(() => Model.createSync(config, { seed: null }), { message: /^seed is null; / });
  assert.throws(() => decoder.setSampling({ seed: null }), { message: /^seed is null; / });
  assert.throws(() => model.evaluateSync(data, { seq: 1, maxWindows: null }), { message: /^maxWindows is null; / });
  assert.throws(() => decoder.feedSync([1], { logits: null }), { message: /^logits is null; / });
  assert.throws(() => Decoder.createSync(model, { maxPositions: null }), { message: /^maxPositions is null; / });
});

test('a signal that is none is refused before the call', async () => {
  const { decoder, tokenizer } = stage();
  for (const signal of [null, {}, { throwIfAborted() {} }, { throwIfAborted() {}, addEventListener() {} }]) {
    await assert.rejects(decoder.feed([1], { signal }), { message: /an AbortSignal is allowed$/ });
    assert.throws(() => decoder.pieces(tokenizer, [1], { signal }), { message: /an AbortSignal is allowed$/ });
    assert.throws(() => decoder.stream(tokenizer, [1], { signal }), { message: /an AbortSignal is allowed$/ });
  }
  assert.equal(decoder.position(), 0);
});

test('pieces and stream refuse what is no open tokenizer before anything is fed', async () => {
  const { decoder, tokenizer, model } = stage();
  for (const name of ['pieces', 'stream'])
    for (const wrong of [undefined, {}, model])
      assert.throws(() => decoder[name](wrong, [1]), { name: 'TypeError', message: /^a Tokenizer is wanted here, not / });
  const pieces = decoder.pieces(tokenizer, [1]), stream = decoder.stream(tokenizer, [1]);
  tokenizer.close();
  for (const name of ['pieces', 'stream']) assert.throws(() => decoder[name](tokenizer, [1]), { code: 'ERR_TPT_CLOSED' });
  await assert.rejects(pieces.next(), { code: 'ERR_TPT_CLOSED' });
  await assert.rejects(stream.toArray(), { code: 'ERR_TPT_CLOSED' });
  assert.equal(decoder.position(), 0);
});

/* Every method, without its object and on one of another class: the library would take any address. */
test('a method without its object is a sentence', async () => {
  const all = stage();
  let calls = 0;
  for (const object of Object.values(all)) {
    const other = object === all.model ? all.decoder : all.model, type = object.constructor;
    for (const name of Object.getOwnPropertyNames(type.prototype).filter(one => one !== 'constructor')) {
      const method = object[name];
      for (const receiver of [undefined, 5, {}, other])
        await assert.rejects(async () => method.call(receiver), ({ name: kind, message }) => {
          assert.equal(kind, 'TypeError');
          assert.ok(message.startsWith(`${name} was called without its object: `), message);
          return message.includes(` ${type.name} is wanted here, not `);
        });
      calls++;
    }
  }
  assert.ok(calls > 90, `${calls} methods`);
  const { close } = all.model, { create } = Decoder;
  assert.throws(() => close(), { message: /^close was called without its object: / });
  assert.equal((await create(all.model)).position(), 0);
});

test('a handle of another copy of the package is told of as such', () => {
  const require = createRequire(import.meta.url), cached = { ...require.cache };
  for (const file of Object.keys(cached)) if (/lib3pt[/]/.test(file)) delete require.cache[file];
  const copy = require('lib3pt');
  Object.assign(require.cache, cached);
  assert.notEqual(copy.Model, Model);
  const model = copy.Model.createSync(copy.Config.preset('3pt-5m')), { trainer } = stage();
  assert.throws(() => Decoder.createSync(model), { message: 'a Model of this copy of lib3pt is wanted here, not one of ' +
    'another copy: the package is loaded twice' });
  assert.throws(() => Optimizer.createSync({}), { message: 'a Trainer is wanted here, not {} (an object)' });
  assert.throws(() => trainer.saveCheckpointSync({}, 'a'), { message: 'an Optimizer is wanted here, not {} (an object)' });
});

class Options {}

/* Of each method the arguments before its options, and what is allowed: on this thread, and of a promise. */
function methods() {
  const { model, trainer, optimizer, decoder, data, tokenizer, config } = stage();
  const context = ['context'], both = ['context', 'config'];
  return [
    [Model, 'create', [config], ['context', 'seed']], [Model, 'load', ['a'], both], [Model, 'loadMemory', ['a'], both],
    [model, 'save', ['a'], []], [model, 'saveMemory', [], []], [model, 'fold', [], []], [model, 'convert', ['f32'], []],
    [model, 'evaluate', [data], ['seq', 'maxWindows', 'config']], [Trainer, 'create', [model], ['config']],
    [trainer, 'forward', [[1], 1, 1], []], [trainer, 'logits', [], []], [trainer, 'loss', [[1]], []],
    [trainer, 'backward', [], []], [trainer, 'backwardLogits', [[1]], []],
    [trainer, 'accumulate', [[1], [1], 1, 1], []], [trainer, 'zeroGradients', [], []],
    [trainer, 'saveCheckpoint', [optimizer, 'a', ''], []], [trainer, 'loadCheckpoint', [optimizer, 'a'], []],
    [Optimizer, 'create', [trainer], ['config']], [optimizer, 'step', [], [], []],
    [Decoder, 'create', [model], ['maxPositions'], ['maxPositions']], [decoder, 'feed', [[1]], ['logits']],
    [decoder, 'generate', [4], ['stop', 'into']], [Decoder, 'feedMany', [[decoder], [1]], ['logits']],
    [decoder, 'score', [[1]], []], [Dataset, 'open', ['a'], context], [Dataset, 'fromTokens', [[1, 2]], context],
    [data, 'random', [1n, 1, 1], [], []], [data, 'window', [0, 1], [], []], [Tokenizer, 'bytes', [], context, context],
    [Tokenizer, 'words', ['a', 9], context], [Tokenizer, 'bpe', ['a', 300], context], [Tokenizer, 'load', ['a'], context],
    [Tokenizer, 'parse', ['a'], context], [tokenizer, 'save', ['a'], []], [tokenizer, 'format', [], []],
    [tokenizer, 'encode', ['a'], []], [tokenizer, 'encodeText', ['a'], []], [tokenizer, 'decode', [[65]], ['bytes']],
    [tokenizer, 'decodeTail', [[65], 0], ['bytes']],
  ];
}

const allowed = known =>
  (known.length ? `a plain object is allowed, with any of ${known.join(', ')}` : 'no options are allowed here');

const NO_OPTIONS = [[5, '5'], ['x', '"x" (a string)'], [null, 'null'], [true, 'true (a boolean)'],
  [[7], '[ 7 ] (an array)'], [new Options(), 'Options {} (an object)'], [new Map(), 'Map(0) {} (an object)'],
  [() => 1, '[Function (anonymous)] (a function)']];

test('options that are no plain object, or have a key that is not known, are refused', async () => {
  const all = methods();
  for (const [object, name, args, sync, promise = [...sync, 'signal']] of all) {
    for (const [given, said] of [...NO_OPTIONS, [{ stopp: 5 }], [{ stopp: undefined }]]) {
      const what = said === undefined ? 'options has "stopp"' : `options is ${said}`;
      const wanted = known => ({ name: 'TypeError', message: `${what}; ${allowed(known)}` });
      assert.throws(() => object[`${name}Sync`](...args, given), wanted(sync));
      await assert.rejects(object[name](...args, given), wanted(promise));
    }
    assert.throws(() => object[`${name}Sync`](...args, { signal: AbortSignal.timeout(9) }), TypeError, name);
  }
  const names = [Context, Config, Model, Trainer, Optimizer, Decoder, Dataset, Tokenizer].flatMap(type =>
    [type, type.prototype].flatMap(one => Object.getOwnPropertyNames(one).filter(name => name.endsWith('Sync'))));
  assert.equal(all.length, names.length);
});

test('options of calls that have one form', () => {
  const { decoder, tokenizer } = stage(), sampling = allowed(['temperature', 'topK', 'topP', 'seed']);
  for (const [given, said] of [...NO_OPTIONS, [{ top_k: 5 }]]) {
    const what = said === undefined ? 'options has "top_k"' : `options is ${said}`;
    const wanted = known => ({ name: 'TypeError', message: `${what}; ${known}` });
    assert.throws(() => decoder.setSampling(given), wanted(sampling));
    assert.throws(() => decoder.pieces(tokenizer, [1], given), wanted(allowed(['count', 'stop', 'signal'])));
    assert.throws(() => decoder.stream(tokenizer, [1], given), wanted(allowed(['count', 'stop', 'signal'])));
    assert.throws(() => Context.create(given), wanted(allowed(['threads', 'log', 'progress'])));
  }
});

test('options may be without a prototype, and of undefined values', async () => {
  const { decoder } = stage();
  decoder.feedSync([1], undefined);
  const plain = Object.assign(Object.create(null), { stop: undefined, into: [] });
  assert.equal((await decoder.generate(2, plain)).length, 2);
  assert.equal(plain.into.length, 2);
});

test('an array is copied as it is, whatever its class says', () => {
  const { decoder } = stage();
  class Narrow extends Int32Array { static get [Symbol.species]() { return Int8Array; } }
  class Half extends Float32Array { static get [Symbol.species]() { return Uint8Array; } }
  const expected = decoder.feedSync([1, 2, 3], { logits: true });
  decoder.rewind(0);
  assert.deepEqual(decoder.feedSync(Narrow.from([1, 2, 3]), { logits: true }), expected);
  const { model } = stage(), { name, count } = model.tensors()[0];
  model.setTensor(name, Half.from(new Float32Array(count).fill(1.5)));
  assert.deepEqual(model.getTensor(name), new Float32Array(count).fill(1.5));
});

test('the name of the library is a path', () => {
  for (const wrong of ['', 'a\0b']) assert.throws(() => useLibrary(wrong), /^TypeError: file is .*; a path is allowed$/);
});

test('memory takes sizes, powers of two and addresses alone', () => {
  for (const wrong of [-1, NaN, 1.5, '64', undefined, null, 64n, {}]) {
    assert.throws(() => memory.allocate(wrong, 64), /^RangeError: bytes is /);
    assert.throws(() => memory.allocate(64, wrong), /^RangeError: alignment is .*; a power of two is allowed$/);
    assert.throws(() => memory.release(wrong), /^RangeError: address is /);
  }
  for (const wrong of [0, 3, 2 ** 60]) assert.throws(() => memory.allocate(64, wrong), /^RangeError: alignment is /);
  memory.release(memory.allocate(100, 64));
  memory.release(0);
});
