/* Continuations in one call: the tokens of sample and feed, and nothing lost where the call ends early. */
import test from 'node:test';
import { Context, Dataset, Decoder, Model } from 'lib3pt';
import { assert, small } from './support.mjs';

const LONG = { timeout: 60000 };
const PROMPT = [65, 66], COUNT = 20;
const GREEDY = { temperature: 0 }, SAMPLED = { temperature: 1, topK: 200, topP: 0.99, seed: 5 };
const LONG_COUNT = 1000; // takes many times as long as progress is silent

function prompted(model, sampling) {
  const decoder = Decoder.createSync(model);
  decoder.setSampling(sampling);
  decoder.feedSync(PROMPT);
  return decoder;
}

function byHand(decoder, count) {
  return Array.from({ length: count }, () => {
    const token = decoder.sample();
    decoder.feedSync([token]);
    return token;
  });
}

function stage(options) {
  const context = Context.create({ threads: 2, ...options });
  const config = small({ 'model.d_model': 96, 'model.max_seq_len': 1024, 'train.batch': 1 });
  return { context, model: Model.createSync(config, { context, seed: 1 }) };
}

for (const [name, sampling] of Object.entries({ greedy: GREEDY, sampled: SAMPLED })) {
  test(`generate is sample and feed, ${name}`, async () => {
    const model = Model.createSync(small(), { seed: 1 });
    const wanted = byHand(prompted(model, sampling), COUNT + 1), next = wanted.pop();
    const first = prompted(model, sampling), second = prompted(model, sampling), into = [...PROMPT];
    const made = await first.generate(COUNT, { into });
    assert.ok(made instanceof Int32Array);
    assert.deepEqual(Array.from(made), wanted);
    assert.deepEqual(into, [...PROMPT, ...wanted]);
    const parts = [...second.generateSync(1), ...(await second.generate(COUNT - 1))];
    assert.deepEqual(parts, wanted);
    for (const decoder of [first, second]) {
      assert.equal(decoder.position(), PROMPT.length + COUNT);
      assert.equal(decoder.sample(), next);
    }
  });
}

test('generate ends after stop', async () => {
  const model = Model.createSync(small(), { seed: 1 }), wanted = byHand(prompted(model, SAMPLED), COUNT);
  for (const stop of new Set(wanted)) {
    const until = wanted.slice(0, wanted.indexOf(stop) + 1), decoder = prompted(model, SAMPLED), into = [];
    assert.deepEqual(Array.from(await decoder.generate(COUNT, { stop, into })), until);
    assert.deepEqual(into, until);
    assert.equal(decoder.position(), PROMPT.length + until.length);
    assert.deepEqual(Array.from(prompted(model, SAMPLED).generateSync(COUNT, { stop })), until);
  }
});

test('generate refuses in the words of the library', async () => {
  const decoder = prompted(Model.createSync(small(), { seed: 1 }), GREEDY), into = [];
  const refusals = [
    [31, {}, 'count is 31; the decoder holds 2 tokens and has room for 32 (max_positions)'],
    [Number.MAX_SAFE_INTEGER, {}, /^count is 9007199254740991; /],
    [0, {}, 'count is 0; at least 1 is allowed'],
    [1, { stop: 256 }, 'stop is 256; 0 to 255 (model.vocab_size less 1), or -1 for none, is allowed'],
    [1, { stop: -2 }, /^stop is -2; /],
  ];
  for (const [count, options, message] of refusals) {
    const wanted = { code: 'TPT_E_ARGUMENT', message };
    await assert.rejects(decoder.generate(count, { ...options, into }), wanted);
    assert.throws(() => decoder.generateSync(count, { ...options, into }), wanted);
  }
  const wrong = [[-1, {}, RangeError], [1.5, {}, RangeError], ['2', {}, RangeError], [1, { stop: 0.5 }, RangeError],
    [1, { into: new Int32Array(1) }, TypeError], [1, { into: 7 }, TypeError]];
  for (const [count, options, type] of wrong) {
    await assert.rejects(decoder.generate(count, options), type);
    assert.throws(() => decoder.generateSync(count, options), type);
  }
  decoder.rewind(0);
  assert.throws(() => decoder.generateSync(1, { into }), { code: 'TPT_E_STATE' });
  assert.deepEqual(into, []);
});

test('an array that cannot grow is refused before anything is made', async () => {
  const decoder = prompted(Model.createSync(small(), { seed: 1 }), GREEDY);
  const fixed = Object.defineProperty([], 'length', { writable: false });
  for (const into of [Object.freeze([]), Object.seal([1]), Object.preventExtensions([]), fixed]) {
    const wanted = { name: 'TypeError', message: /frozen or sealed; an array that can grow is allowed$/ };
    await assert.rejects(decoder.generate(3, { into }), wanted);
    assert.throws(() => decoder.generateSync(3, { into }), wanted);
  }
  assert.equal(decoder.position(), PROMPT.length);
});

test('a generation that is ended before it begins makes nothing, and goes on', async () => {
  const { context, model } = stage(), wanted = byHand(prompted(model, SAMPLED), COUNT);
  const decoder = prompted(model, SAMPLED), into = [], reason = new Error('enough');
  await assert.rejects(decoder.generate(COUNT, { into, signal: AbortSignal.abort(reason) }), reason);
  context.cancel();
  await assert.rejects(decoder.generate(COUNT, { into }), { code: 'TPT_E_CANCELLED' });
  assert.throws(() => decoder.generateSync(COUNT, { into }), { code: 'TPT_E_CANCELLED' });
  context.cancel(false);
  assert.deepEqual(into, []);
  assert.deepEqual(Array.from(await decoder.generate(COUNT)), wanted);
});

/* Ended as often as progress comes, with one token in peace after each end. */
async function inPieces(context, decoder, generate, progress) {
  const into = [];
  let ends = 0;
  while (into.length < LONG_COUNT) {
    context.setProgress(progress);
    await generate(LONG_COUNT - into.length, into).catch(() => ends++);
    context.setProgress(null);
    assert.equal(decoder.position(), PROMPT.length + into.length);
    if (into.length < LONG_COUNT) await generate(1, into);
  }
  assert.ok(ends > 0);
  return into;
}

test('what was made until an end is not lost', LONG, async () => {
  const { context, model } = stage(), wanted = Array.from(prompted(model, SAMPLED).generateSync(LONG_COUNT));
  const enough = () => true, throws = () => {
    throw new RangeError('mine');
  };
  let controller;
  const signal = () => (controller = new AbortController()).signal;
  const ways = [
    [decoder => (count, into) => decoder.generate(count, { into }), enough],
    [decoder => (count, into) => decoder.generate(count, { into }), throws],
    [decoder => async (count, into) => decoder.generateSync(count, { into }), enough],
    [decoder => (count, into) => decoder.generate(count, { into, signal: signal() }), () => controller.abort()],
  ];
  for (const [way, progress] of ways) {
    const decoder = prompted(model, SAMPLED);
    assert.deepEqual(await inPieces(context, decoder, way(decoder), progress), wanted);
  }
});

test('a generation that is hit by the signal of another call makes no token twice', LONG, async () => {
  let calls = NaN;
  const progress = () => {
    if (++calls === 8) controller.abort(); // both calls are on their way
  };
  const { context, model } = stage({ progress }), wanted = prompted(model, SAMPLED).generateSync(LONG_COUNT);
  const data = Dataset.fromTokensSync(new Int32Array(3200000), { context });
  const decoder = prompted(model, SAMPLED), into = [], controller = new AbortController();
  calls = 0;
  const ended = assert.rejects(model.evaluate(data, { seq: 32, signal: controller.signal }), { name: 'AbortError' });
  const made = await decoder.generate(LONG_COUNT, { into });
  await ended;
  assert.deepEqual(made, wanted);
  assert.deepEqual(into, Array.from(wanted));
});
