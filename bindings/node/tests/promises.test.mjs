/* Calls away from the main thread: at once, alone, ended. */
import { getEventListeners, once } from 'node:events';
import { pipeline } from 'node:stream/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import test from 'node:test';
import { Config, Context, Dataset, Decoder, Model, Optimizer, Tokenizer, Trainer } from 'lib3pt';
import { assert, small } from './support.mjs';

const LONG = { timeout: 60000 };
const MANY = 300; // more than koffi takes at once
const SEQ = 32;

function goOnSync(decoder, count) {
  const ids = [];
  for (let i = 0; i < count; i++) decoder.feedSync([ids[ids.push(decoder.sample()) - 1]]);
  return ids;
}

async function goOn(decoder, count) {
  const ids = [];
  for (let i = 0; i < count; i++) await decoder.feed([ids[ids.push(decoder.sample()) - 1]]);
  return ids;
}

/* A dataset on which an evaluation takes many seconds: a cancel ends it long before. */
function endless(context) {
  return Dataset.fromTokensSync(new Int32Array(3200000), { context });
}

function stage() {
  const context = Context.create({ threads: 2 }), config = small();
  const model = Model.createSync(config, { context, seed: 1 }), other = Model.createSync(config, { context, seed: 2 });
  return { context, config, model, other, endless: endless(context) };
}

test('two decoders over one model at once', async () => {
  const model = Model.createSync(small(), { seed: 1 }), prompts = [[1, 2, 3], [200, 100]];
  const decoders = prompts.map(prompt => {
    const decoder = Decoder.createSync(model);
    decoder.setSampling({ temperature: 1, seed: 3 });
    decoder.feedSync(prompt);
    return decoder;
  });
  const alone = decoders.map((decoder, i) => {
    const copy = Decoder.createSync(model);
    decoder.copyTo(copy);
    return goOnSync(copy, 20 + i);
  });
  assert.deepEqual(await Promise.all(decoders.map((decoder, i) => goOn(decoder, 20 + i))), alone);
});

test('more calls than koffi takes', async () => {
  const model = Model.createSync(small(), { seed: 1 });
  const decoders = Array.from({ length: MANY }, () => Decoder.createSync(model));
  const logits = await Promise.all(decoders.map(decoder => decoder.feed([5], { logits: true })));
  for (const one of logits) assert.deepEqual(one, logits[0]);
});

test('in a worker thread', async () => {
  const worker = new Worker(new URL('worker.mjs', import.meta.url));
  const logits = await new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject));
  assert.equal(logits.length, 8);
  await worker.terminate();
});

test('the event loop stays free', async () => {
  const { model, endless: data } = stage();
  let turns = 0;
  const count = setInterval(() => turns++, 1);
  await model.evaluate(data, { seq: SEQ, maxWindows: 400 });
  clearInterval(count);
  assert.ok(turns > 0);
});

test('a handle in use refuses a second call', async () => {
  const { context, model, endless: data } = stage();
  const decoder = Decoder.createSync(model), trainer = Trainer.createSync(model), optimizer = Optimizer.createSync(trainer);
  const feed = decoder.feed([1, 2, 3]);
  const busy = { name: 'HandleError', code: 'ERR_TPT_BUSY' };
  assert.throws(() => decoder.sample(), { ...busy, message: 'this decoder is in use by tpt_decoder_feed: await that call first' });
  await assert.rejects(decoder.feed([4]), busy);
  model.theta(0); // a call that has ended is nobody to wait for
  trainer.zeroGradientsSync();
  assert.throws(() => optimizer.stepSync(), { ...busy, message: 'this model is in use by tpt_decoder_feed: await that call first' });
  assert.throws(() => context.setThreads(1), busy);
  await feed;
  assert.equal(decoder.position(), 3);
  const accumulate = trainer.accumulate([1, 2], [2, 3], 1, 2);
  await assert.rejects(optimizer.step(), busy);
  await accumulate;
  const controller = new AbortController();
  const evaluate = model.evaluate(data, { seq: SEQ, signal: controller.signal });
  assert.throws(() => model.setTensor('blocks.0.attn.q.weight', [1]), busy);
  await assert.rejects(optimizer.step(), busy);
  await decoder.feed([5]);
  controller.abort();
  await assert.rejects(evaluate, { name: 'AbortError' });
});

test('calls that fail at once have their own texts', async () => {
  const context = Context.create(), paths = Array.from({ length: 8 }, (_, i) => `no-such-folder/${i}.safetensors`);
  const all = await Promise.allSettled(paths.map(path => Model.load(path, { context })));
  all.forEach((one, i) => assert.ok(one.reason.message.endsWith(paths[i]), one.reason.message));
});

test('a signal ends its call', LONG, async () => {
  const { model, endless: data } = stage(), reason = new Error('enough');
  await assert.rejects(model.evaluate(data, { seq: SEQ, signal: AbortSignal.abort(reason) }), reason);
  await assert.rejects(model.evaluate(data, { seq: SEQ, signal: AbortSignal.timeout(30) }), { name: 'TimeoutError' });
  assert.equal((await model.evaluate(data, { seq: SEQ, maxWindows: 2 })).tokens, 64n);
});

test('a signal ends no other call', LONG, async () => {
  const { model, other, endless: data } = stage(), controller = new AbortController();
  const wanted = other.evaluateSync(data, { seq: SEQ, maxWindows: 3000 });
  const ended = assert.rejects(model.evaluate(data, { seq: SEQ, signal: controller.signal }), { name: 'AbortError' });
  const kept = other.evaluate(data, { seq: SEQ, maxWindows: 3000 });
  await wait(5);
  controller.abort();
  await ended;
  assert.deepEqual(await kept, wanted);
});

test('a signal waits for a call that cannot be repeated', LONG, async () => {
  const { context, model, other, endless: data } = stage(), controller = new AbortController();
  const large = Config.parse('model: {vocab_size: 256, d_model: 96, n_layers: 4, n_q_heads: 6, n_kv_heads: 3, ' +
    'd_ff: 256, max_seq_len: 128}\ntrain: {batch: 8}\n');
  const trainer = Trainer.createSync(Model.createSync(large, { context, seed: 1 }));
  const tokens = Array.from({ length: 1024 }, (_, i) => i % 256);
  const loss = trainer.accumulateSync(tokens, tokens, 8, 128);
  const ended = assert.rejects(model.evaluate(data, { seq: SEQ, signal: controller.signal }), { name: 'AbortError' });
  const accumulate = trainer.accumulate(tokens, tokens, 8, 128);
  await wait(5);
  controller.abort();
  assert.equal(other.evaluateSync(data, { seq: SEQ, maxWindows: 2 }).tokens, 64n);
  assert.equal(await accumulate, loss);
  await ended;
});

test('a call on this thread is not ended by a signal of another one', LONG, async () => {
  const { context, model, endless: data } = stage(), controller = new AbortController();
  const tokenizer = Tokenizer.bytesSync({ context });
  const ended = assert.rejects(model.evaluate(data, { seq: SEQ, signal: controller.signal }), { name: 'AbortError' });
  await wait(5);
  controller.abort();
  assert.equal(tokenizer.encodeSync('abc').length, 3);
  assert.equal(model.evaluateSync(data, { seq: SEQ, maxWindows: 2 }).tokens, 64n);
  await ended;
});

test('an aborted accumulate spoils the gradients', LONG, async () => {
  const trainer = Trainer.createSync(Model.createSync(Config.preset('3pt-5m').set('train.batch', 64), { seed: 1 }));
  const tokens = new Int32Array(64 * 128);
  await assert.rejects(trainer.accumulate(tokens, tokens, 64, 128, { signal: AbortSignal.timeout(20) }), { name: 'TimeoutError' });
  await assert.rejects(trainer.backward(), { code: 'TPT_E_STATE' });
  await trainer.zeroGradients();
});

test('a context ends what runs in it', LONG, async () => {
  const { context, model, endless: data } = stage();
  const ended = assert.rejects(model.evaluate(data, { seq: SEQ }), { code: 'TPT_E_CANCELLED' });
  await wait(5);
  context.cancel();
  await ended;
  assert.throws(() => model.foldSync(), { code: 'TPT_E_CANCELLED' });
  context.cancel(false);
  model.foldSync().close();
});

test('text comes piece by piece', async () => {
  const tokenizer = Tokenizer.bytesSync(), decoder = Decoder.createSync(Model.createSync(small(), { seed: 1 }));
  const copy = Decoder.createSync(Model.createSync(small(), { seed: 1 }), { maxPositions: 10 });
  const pieces = [];
  for await (const piece of decoder.pieces(tokenizer, [65, 66], { count: 6 })) pieces.push(piece);
  const ids = pieces.map(piece => piece.id), text = pieces.map(piece => piece.text).join('');
  copy.feedSync([65, 66]);
  assert.deepEqual(ids, goOnSync(copy, 6));
  copy.rewind(0);
  const chunks = await copy.stream(tokenizer, [65, 66], { count: 6 }).toArray();
  assert.equal(chunks.join(''), text);
  copy.rewind(0);
  const toTheEnd = [];
  for await (const { id } of copy.pieces(tokenizer, [65, 66])) toTheEnd.push(id);
  assert.equal(toTheEnd.length, 9); // 8 fed after the prompt, and one more sampled
  copy.rewind(0);
  const stopped = [];
  for await (const { id } of copy.pieces(tokenizer, [65, 66], { stop: [ids[2]] })) stopped.push(id);
  assert.deepEqual(stopped, ids.slice(0, ids.indexOf(ids[2]) + 1));
  const controller = new AbortController();
  await assert.rejects(async () => {
    copy.rewind(0);
    for await (const piece of copy.pieces(tokenizer, [65], { signal: controller.signal })) controller.abort(piece);
  }, piece => piece.id >= 0);
});

/* A decoder with much room, of a model that is not too fast. */
function streaming(maxPositions = 0, context = Context.create(), most = 1024) {
  const config = small({ 'model.d_model': 96, 'model.max_seq_len': most });
  const decoder = Decoder.createSync(Model.createSync(config, { seed: 1, context }), { maxPositions });
  decoder.setSampling({ seed: 3 });
  return { decoder, tokenizer: Tokenizer.bytesSync() };
}

test('after a loop over a stream the decoder is free', LONG, async () => {
  const { decoder, tokenizer } = streaming(), reason = new Error('mine');
  for (let i = 1; i < 12; i++) {
    let chunks = 0;
    const stream = decoder.stream(tokenizer, [65, 66]);
    for await (const chunk of stream) if (chunk.length > 0 && ++chunks === i) break;
    assert.equal(stream.closed, true);
    decoder.rewind(0);
    await assert.rejects(async () => {
      for await (const chunk of decoder.stream(tokenizer, [65, 66])) if (chunk.length > 0) throw reason;
    }, reason);
    decoder.rewind(0);
    await decoder.stream(tokenizer, [65, 66]).take(i).toArray();
    decoder.rewind(0);
  }
});

test('a stream that is destroyed ends its call, and closes after it', LONG, async () => {
  const context = Context.create(), { decoder, tokenizer } = streaming(0, context, 4096);
  const stream = decoder.stream(tokenizer, new Int32Array(4000).fill(65)), told = [];
  context.setProgress(() => { // the prompt is on its way
    if (stream.destroyed) return;
    stream.destroy();
    assert.throws(() => decoder.position(), error => told.push(error));
  });
  stream.resume();
  await once(stream, 'close');
  assert.equal(told[0].code, 'ERR_TPT_BUSY');
  assert.equal(told[0].message, "this decoder is in use by a stream of its text: await the stream's event 'close' first");
  assert.equal(decoder.position(), 0);
  context.setProgress(null);
  const pieces = decoder.pieces(tokenizer, [65]), first = pieces.next();
  assert.throws(() => decoder.position(), { message: 'this decoder is in use by pieces: await their next() first' });
  await first;
  assert.equal(decoder.position(), 1);
  const unread = decoder.stream(tokenizer, [65]);
  unread.destroy();
  await once(unread, 'close');
  assert.equal(decoder.position(), 1);
});

test('a signal ends a stream with its reason', LONG, async () => {
  const { decoder, tokenizer } = streaming(), controller = new AbortController(), reason = new Error('enough');
  await assert.rejects(async () => {
    for await (const chunk of decoder.stream(tokenizer, [65], { signal: controller.signal }))
      if (chunk) controller.abort(reason);
  }, reason);
  assert.ok(decoder.position() >= 1);
  await assert.rejects(decoder.stream(tokenizer, [65], { signal: AbortSignal.abort(reason) }).toArray(), reason);
  const chunks = [];
  const { signal } = new AbortController();
  await pipeline(decoder.stream(tokenizer, [65], { count: 5, signal }), async source => {
    for await (const chunk of source) chunks.push(chunk);
  });
  assert.equal(getEventListeners(signal, 'abort').length, 0);
  assert.ok(chunks.join('').length > 0);
});
