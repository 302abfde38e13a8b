/* Functions of JavaScript that the library calls. */
import { execFileSync } from 'node:child_process';
import test from 'node:test';
import { Context, Dataset, Decoder, Model, memory } from 'lib3pt';
import { assert, small } from './support.mjs';

const LONG = { timeout: 60000 }, SEQ = 32;

function stage(progress) {
  const context = Context.create({ threads: 2, progress }), model = Model.createSync(small(), { context, seed: 1 });
  return { context, model, data: Dataset.fromTokensSync(new Int32Array(3200000), { context }) };
}

for (const form of ['', 'Sync']) {
  const where = form ? 'this thread' : 'another thread';

  test(`progress is told on ${where}`, LONG, async () => {
    const told = [], { model, data } = stage(done => void told.push(done));
    told.length = 0;
    await model[`evaluate${form}`](data, { seq: SEQ, maxWindows: 4000 });
    assert.ok(told.length > 0 && told.every(done => Number.isNaN(done) || (done >= 0 && done <= 1)), String(told));
  });

  test(`progress ends a call on ${where}`, LONG, async () => {
    let wanted = false;
    const { model, data } = stage(() => wanted);
    wanted = true;
    await assert.rejects(async () => model[`evaluate${form}`](data, { seq: SEQ }), { code: 'TPT_E_CANCELLED' });
  });

  test(`a promise of progress is an error of the call on ${where}`, LONG, async () => {
    let wanted = false;
    const { model, data } = stage(() => (wanted ? Promise.reject(new Error('nobody hears of it')) : undefined));
    wanted = true;
    await assert.rejects(async () => model[`evaluate${form}`](data, { seq: SEQ }),
      { name: 'TypeError', message: /^progress gave a promise; / });
  });

  test(`an exception of progress is the call's on ${where}`, LONG, async () => {
    let wanted = false;
    const { model, data } = stage(() => {
      if (wanted) throw new RangeError('mine');
    });
    wanted = true;
    await assert.rejects(async () => model[`evaluate${form}`](data, { seq: SEQ }), { name: 'RangeError', message: 'mine' });
    wanted = false;
    assert.equal(model.evaluateSync(data, { seq: SEQ, maxWindows: 2 }).tokens, 64n);
  });

  test(`log is told, and its exception is the call's, on ${where}`, async () => {
    const lines = [], context = Context.create({ threads: 1, log: (level, text) => void lines.push([level, text]) });
    (await Model[`create${form}`](small(), { context })).close();
    assert.ok(lines.length > 0 && lines.every(([level, text]) => level === 2 && text.length > 0), String(lines));
    context.setLog(() => {
      throw new RangeError('mine');
    });
    await assert.rejects(async () => Model[`create${form}`](small(), { context }), { name: 'RangeError', message: 'mine' });
    context.setLog(null);
    (await Model[`create${form}`](small(), { context })).close();
  });
}

test('a callback may use other handles, and not its own', LONG, async () => {
  const model = Model.createSync(small(), { seed: 1 }), decoder = Decoder.createSync(model);
  let other, own;
  const { model: busy, context, data } = stage(() => {
    other ??= decoder.feedSync([1], { logits: true });
    try {
      context.setThreads(1);
    } catch (error) {
      own = error;
    }
  });
  busy.evaluateSync(data, { seq: SEQ, maxWindows: 4000 });
  assert.equal(other.length, 256);
  assert.equal(own.code, 'ERR_TPT_BUSY');
});

test('a call with a progress function waits for a busy main thread, and ends', LONG, async () => {
  let told = 0;
  const { model, data } = stage(() => void told++);
  told = 0;
  const evaluate = model.evaluate(data, { seq: SEQ, maxWindows: 4000 });
  for (const end = performance.now() + 100; performance.now() < end; ) Math.sqrt(2);
  assert.equal(told, 0);
  assert.equal((await evaluate).tokens, 128000n);
  assert.ok(told > 0);
});

/* In a process of its own: in this one contexts of other tests are open. */
function alone(program) {
  const code = `const koffi = require('koffi'), { Config, Context, Model, memory } = require('lib3pt');
    const { setImmediate: turn } = require('node:timers/promises'), count = () => koffi.stats().callbacks;
    const config = Config.parse('model: {vocab_size: 8, d_model: 24, n_layers: 1, n_q_heads: 3, n_kv_heads: 3, d_ff: 48}');
    (async () => { ${program} })();`;
  return execFileSync(process.execPath, ['-e', code], { encoding: 'utf8', cwd: new URL('.', import.meta.url) });
}

test('what was registered is released with the last of those that it serves', () => {
  const text = alone(`const context = Context.create({ log() {}, progress() {} }), second = Context.create({ log() {} });
    context.setLog(() => {});
    context.setProgress(null);
    const model = Model.createSync(config, { context });
    context.close(); second.close(); await turn();
    console.log(count());
    model.close(); await turn(); await turn();
    console.log(count());
    Context.create({ log: (level, text) => console.log('again'), threads: 1 }).close();
    const other = Context.create({ log: () => console.log('told') });
    Model.createSync(config, { context: other });`);
  assert.equal(text, '3\n0\ntold\n');
});

test('there are as many contexts with functions as a program wants', LONG, () => {
  const text = alone(`const told = new Map(), contexts = Array.from({ length: 5000 }, (_, i) => {
      const context = Context.create({ threads: 1, log: () => told.set(i, (told.get(i) ?? 0) + 1), progress() {} });
      context.setAllocator(memory);
      return context;
    });
    console.log(count());
    for (const i of [0, 4999, 17]) Model.createSync(config, { context: contexts[i] }).close();
    console.log([...told.keys()].join());
    for (const context of contexts) context.close();
    await turn(); await turn();
    console.log(count());`);
  assert.equal(text, '5\n0,4999,17\n0\n');
});

test('where koffi has no room for a function, a sentence says so', LONG, () => {
  const text = alone(`const type = koffi.pointer(koffi.proto('void', []));
    try { for (;;) koffi.register(() => {}, type); } catch {}
    try { Context.create({ log() {} }); } catch ({ message }) { console.log(message); }`);
  assert.match(text, /^koffi cannot register a function \(Too many callbacks .+8192\)\); lib3pt needs 5 in all, so other/);
});

test('an allocator serves both threads and gets all back', async () => {
  const held = new Map(), context = Context.create({ threads: 1 });
  context.setAllocator({
    allocate(bytes, alignment) {
      const address = memory.allocate(bytes, alignment);
      held.set(address, bytes);
      return address;
    },
    release(address, bytes) {
      assert.equal(held.get(address), bytes);
      held.delete(address);
      memory.release(address);
    },
  });
  assert.throws(() => context.setThreads(2), RangeError);
  const model = await Model.create(small(), { context }), decoder = Decoder.createSync(model);
  await decoder.feed([1, 2, 3]);
  assert.ok(held.size > 0);
  for (const handle of [model, decoder, context]) handle.close();
  assert.equal(held.size, 0);
  assert.throws(() => Context.create({ threads: 2 }).setAllocator({ allocate() {}, release() {} }), RangeError);
});

test('an allocator is not async', () => {
  const context = Context.create({ threads: 1 }), message = /neither of them async, is allowed$/;
  assert.throws(() => context.setAllocator({ async allocate() {}, release() {} }), { name: 'TypeError', message });
  assert.throws(() => context.setAllocator({ allocate() {}, async release() {} }), { name: 'TypeError', message });
});

test('an allocator that throws has no memory', () => {
  const context = Context.create({ threads: 1 });
  const throwing = { allocate() { throw new Error('mine'); }, release() {} };
  assert.throws(() => context.setAllocator(throwing), { code: 'TPT_E_MEMORY' });
});
