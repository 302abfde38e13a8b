/* Every status on purpose: the same number and the same text as in C, on this thread and on another one. */
import test from 'node:test';
import { Config, Context, Dataset, Decoder, Model, Optimizer, Tokenizer, Trainer, TptError, checkVersion, memory, statusName }
  from 'lib3pt';
import { assert, small, vector } from './support.mjs';

const FEW = [1, 2, 3], NEXT = [2, 3, 4], WEIGHTS = 'blocks.1.attn.q.weight';

function stageOf(inputs) {
  const context = Context.create({ threads: inputs.threads }), config = Config.parse(inputs.yaml);
  const seed = BigInt(inputs.seed), tokenizer = Tokenizer.bytesSync({ context });
  const data = Dataset.fromTokensSync(tokenizer.encodeSync(inputs.text), { context });
  const model = Model.createSync(config, { context, seed }), trainer = Trainer.createSync(model);
  const optimizer = Optimizer.createSync(trainer), decoder = Decoder.createSync(model);
  return { context, config, seed, tokenizer, data, model, trainer, optimizer, decoder };
}

function setWeights({ config, model }, value) {
  model.setTensor(WEIGHTS, new Float32Array(Number(config.get('model.d_model')) ** 2).fill(value));
}

const BEFORE = {
  cancel: s => s.context.cancel(),
  forward: s => s.trainer.forwardSync(FEW, 1, FEW.length),
  loss: s => s.trainer.lossSync(NEXT),
  backward: s => s.trainer.backwardSync(),
  feed: s => s.decoder.feedSync([1]),
  rewind: s => s.decoder.rewind(1),
  convert: s => (s.model = s.model.convertSync('int8')),
  fold: s => (s.model = s.model.foldSync()),
  nan: s => setWeights(s, NaN),
  weights: s => setWeights(s, 0),
  spoil: s => {
    s.context.cancel();
    assert.throws(() => s.trainer.accumulateSync(FEW, NEXT, 1, FEW.length), { code: 'TPT_E_CANCELLED' });
    s.context.cancel(false);
  },
};

/* Never gives more than `budget` bytes at a time. */
function within(context, budget) {
  let held = 0;
  context.setAllocator({
    allocate(bytes, alignment) {
      if (bytes > budget - held) return 0;
      held += bytes;
      return memory.allocate(bytes, alignment);
    },
    release(address, bytes) {
      held -= bytes;
      memory.release(address);
    },
  });
  return context;
}

/* Of each call: the owner (for its last error) and a function of the form of call, '' or 'Sync'. */
const CALLS = {
  check_version: (s, c) => [null, () => checkVersion(c.major, c.minor, c.patch)],
  config_preset: (s, c) => [null, () => Config.preset(c.preset)],
  config_parse: (s, c) => [null, () => Config.parse(c.yaml)],
  config_load: (s, c) => [null, () => Config.load(c.path)],
  config_set: (s, c) => [s.config, () => s.config.set(c.key, c.value)],
  config_get: (s, c) => [s.config, () => s.config.get(c.key)],
  config_check: (s, c) => [s.config, () => s.config.set(c.key, c.value).check()],
  context_set_threads: (s, c) => [s.context, () => s.context.setThreads(c.threads)],
  context_set_allocator: (s, c) => {
    const context = Context.create({ threads: 1 });
    return [context, () => within(context, c.budget)];
  },
  context_set_allocator_late: s => [s.context, () => within(s.context, Infinity)],
  model_create_within: (s, c, form) => {
    const context = within(Context.create({ threads: 1 }), c.budget);
    return [context, () => Model[`create${form}`](Config.preset(c.preset), { context, seed: 1 })];
  },
  model_create: (s, c, form) => [s.context, () => Model[`create${form}`](s.config, { context: s.context, seed: s.seed })],
  model_load: (s, c, form) => [s.context, () => Model[`load${form}`](c.path, { context: s.context })],
  model_load_memory: (s, c, form) => [s.context, () => Model[`loadMemory${form}`](c.text, { context: s.context })],
  model_save: (s, c, form) => [s.model, () => s.model[`save${form}`](c.path)],
  model_save_memory: (s, c, form) => [s.model, () => s.model[`saveMemory${form}`]()],
  model_convert: (s, c, form) => [s.model, () => s.model[`convert${form}`](c.precision)],
  model_fold: (s, c, form) => [s.model, () => s.model[`fold${form}`]()],
  model_get_tensor: (s, c) => [s.model, () => s.model.getTensor(c.tensor)],
  trainer_create: (s, c, form) => [s.model, () => Trainer[`create${form}`](s.model)],
  trainer_forward: (s, c, form) => [s.trainer, () => s.trainer[`forward${form}`](c.tokens, c.batch, c.seq)],
  trainer_accumulate: (s, c, form) => [s.trainer, () => s.trainer[`accumulate${form}`](c.tokens, c.targets, c.batch, c.seq)],
  trainer_loss: (s, c, form) => [s.trainer, () => s.trainer[`loss${form}`](c.targets)],
  trainer_logits: (s, c, form) => [s.trainer, () => s.trainer[`logits${form}`]()],
  trainer_backward: (s, c, form) => [s.trainer, () => s.trainer[`backward${form}`]()],
  trainer_get_gradient: (s, c) => [s.trainer, () => s.trainer.getGradient(c.tensor)],
  trainer_activation: (s, c) => [s.trainer, () => s.trainer.activation(c.point, c.layer)],
  optimizer_step: (s, c, form) => [s.optimizer, () => s.optimizer[`step${form}`]()],
  optimizer_set_lr: (s, c) => [s.optimizer, () => s.optimizer.setLr(Number(c.lr))],
  checkpoint_save: (s, c, form) => [s.trainer, () => s.trainer[`saveCheckpoint${form}`](s.optimizer, c.path)],
  checkpoint_load: (s, c, form) => [s.trainer, () => s.trainer[`loadCheckpoint${form}`](s.optimizer, c.path)],
  decoder_create: (s, c, form) => [s.model, () => Decoder[`create${form}`](s.model, { maxPositions: c.max_positions })],
  decoder_feed: (s, c, form) => [s.decoder, () => s.decoder[`feed${form}`](c.tokens)],
  decoder_score: (s, c, form) => [s.decoder, () => s.decoder[`score${form}`](c.tokens)],
  decoder_feed_many_twice: (s, c, form) =>
    [s.decoder, () => Decoder[`feedMany${form}`]([s.decoder, s.decoder], [c.token, c.token])],
  decoder_rewind: (s, c) => [s.decoder, () => s.decoder.rewind(c.position)],
  decoder_set_sampling: (s, c) => [s.decoder, () => s.decoder.setSampling({ temperature: Number(c.temperature),
    topK: c.top_k, topP: Number(c.top_p), seed: BigInt(c.seed) })],
  decoder_sample: s => [s.decoder, () => s.decoder.sample()],
  dataset_open: (s, c, form) => [s.context, () => Dataset[`open${form}`](c.path, { context: s.context })],
  dataset_from_tokens: (s, c, form) => [s.context, () => Dataset[`fromTokens${form}`](c.tokens, { context: s.context })],
  dataset_random: (s, c, form) => [s.data, () => s.data[`random${form}`](1n, c.batch, c.seq)],
  dataset_window: (s, c, form) => [s.data, () => s.data[`window${form}`](c.index, c.seq)],
  dataset_window_count: (s, c) => [s.data, () => s.data.windowCount(c.seq)],
  evaluate: (s, c, form) => [s.model, () => s.model[`evaluate${form}`](s.data, { seq: c.seq, maxWindows: c.max_windows })],
  tokenizer_words: (s, c, form) => [s.context, () => Tokenizer[`words${form}`](c.text, c.vocab, { context: s.context })],
  tokenizer_bpe: (s, c, form) => [s.context, () => Tokenizer[`bpe${form}`](c.text, c.vocab, { context: s.context })],
  tokenizer_load: (s, c, form) => [s.context, () => Tokenizer[`load${form}`](c.path, { context: s.context })],
  tokenizer_parse: (s, c, form) => [s.context, () => Tokenizer[`parse${form}`](c.json, { context: s.context })],
  tokenizer_decode: (s, c, form) => [s.tokenizer, () => s.tokenizer[`decode${form}`](c.ids)],
  tokenizer_id: (s, c) => [s.tokenizer, () => s.tokenizer.id(c.token)],
  tokenizer_token: (s, c) => [s.tokenizer, () => s.tokenizer.token(c.id)],
  geometry_dc_profile: (s, c) => [s.model, () => s.model.dcProfile(c.first, c.count)],
  geometry_theta: (s, c) => [s.model, () => s.model.theta(c.layer)],
  geometry_angles: (s, c) => [s.model, () => s.model.angles(c.layer, c.phase)],
  geometry_drift: (s, c) => [s.model, () => s.model.drift(c.layer)],
  geometry_phase_means: (s, c) => [s.trainer, () => s.trainer.phaseMeans(c.point, c.layer)],
  geometry_zero_sum: s => [s.trainer, () => s.trainer.zeroSum()],
};

async function failure(inputs, what, form) {
  const stage = stageOf(inputs);
  for (const step of what.before) BEFORE[step](stage);
  const [owner, go] = CALLS[what.call](stage, what, form);
  try {
    await go();
  } catch (error) {
    assert.ok(error instanceof TptError, `${what.name}: ${error.stack}`);
    assert.equal(error.code, statusName(error.status));
    if (owner) assert.equal(owner.lastError(), error.message);
    return { name: what.name, status: error.status, message: error.message };
  } finally {
    for (const one of Object.values(stage)) one.close?.();
  }
  return assert.fail(`${what.name} did not fail`);
}

for (const [form, where] of [['Sync', 'this thread'], ['', 'another thread']])
  test(`errors on ${where}`, async () => {
    const { inputs, results } = vector('errors');
    for (const [i, what] of inputs.cases.entries())
      assert.deepEqual(await failure(inputs, what, form), results.cases[i]);
    assert.equal(inputs.cases.length, results.cases.length);
  });

test('what is no array of numbers is a TypeError before the library is called', async () => {
  const model = Model.createSync(small(), { seed: 1 }), decoder = Decoder.createSync(model), trainer = Trainer.createSync(model);
  const wrong = [5, '12', undefined, null, {}, { length: 3 }, new ArrayBuffer(8), () => 1];
  for (const given of wrong) {
    const calls = [() => decoder.feedSync(given), () => decoder.scoreSync(given), () => trainer.forwardSync(given, 1, 2),
      () => Dataset.fromTokensSync(given), () => model.setTensor('blocks.0.attn.q.weight', given),
      () => trainer.backwardLogitsSync(given), () => Decoder.feedManySync([decoder], given)];
    for (const call of calls) assert.throws(call, TypeError, `${call} of ${String(given)}`);
    await assert.rejects(decoder.feed(given), TypeError);
  }
  for (const given of [['1'], [undefined], [null], [true], [{}]]) {
    assert.throws(() => model.setTensor('blocks.0.attn.q.weight', given), { name: 'TypeError', message: /^values\[0\]/ });
    assert.throws(() => decoder.feedSync(given), { name: 'RangeError', message: /^tokens\[0\]/ });
  }
  decoder.feedSync(new Set([1, 2]));
  assert.throws(() => decoder.feedSync([-(2 ** 31)]), { code: 'TPT_E_ARGUMENT' });
  assert.throws(() => decoder.feedSync([2 ** 31]), RangeError);
});

test('what is no function is a TypeError where it is given', () => {
  const context = Context.create({ threads: 1 });
  for (const given of [5, 0, 'log', {}, true]) {
    assert.throws(() => Context.create({ log: given }), TypeError);
    assert.throws(() => Context.create({ progress: given }), TypeError);
    assert.throws(() => context.setLog(given), TypeError);
    assert.throws(() => context.setProgress(given), TypeError);
    assert.throws(() => context.setAllocator({ allocate: given, release() {} }), TypeError);
    assert.throws(() => context.setAllocator({ allocate() {}, release: given }), TypeError);
  }
  assert.throws(() => context.setAllocator({}), TypeError);
  context.setLog(null);
});
