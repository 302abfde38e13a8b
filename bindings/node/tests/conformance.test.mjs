/* The scenarios of bindings/conformance, value by value as C gives them. */
import { readFileSync, writeFileSync } from 'node:fs';
import test from 'node:test';
import { Config, Context, Dataset, Decoder, MemoryUse, Model, Tokenizer, Trainer } from 'lib3pt';
import { assert, bytesOf, f32s, f64, f64s, file, fresh, hash, learn, learnAway, scratch, trained, vector } from './support.mjs';

test('conformance train', async () => {
  const { inputs: { training }, results } = vector('train');
  const stage = fresh(training);
  const { losses, norms } = await learnAway(stage, training, training.steps);
  const { model, optimizer } = stage;
  const tensors = model.tensors();
  assert.deepEqual({
    tokens: stage.data.count(), losses, norms, random_state: String(stage.state),
    step_count: String(optimizer.stepCount()), lr: f64(optimizer.lr()),
    parameter_count: stage.config.parameterCount(), parameters: hash(model.parameters()),
    gradients: hash(stage.trainer.gradients()), file: file(await model.saveMemory()), tensors,
    first_tensor: hash(model.getTensor(tensors[0].name)),
  }, results);
  assert.equal(model.parameters().length, results.parameter_count);
  assert.deepEqual(learn(fresh(training), training, training.steps), { losses, norms });
});

async function goOn(decoder, count) {
  const ids = [];
  for (let i = 0; i < count; i++) {
    ids.push(decoder.sample());
    await decoder.feed([ids[i]]);
  }
  return ids;
}

function sampledDecoder(model, { temperature, top_k: topK, top_p: topP, seed }, prompt) {
  const decoder = Decoder.createSync(model);
  decoder.setSampling({ temperature: Number(temperature), topK, topP: Number(topP), seed: BigInt(seed) });
  decoder.feedSync(prompt);
  return decoder;
}

const STOP_AT = 7;

async function decodeSteps(stage, model, inputs, prompt) {
  const { sampling } = inputs, results = {};
  const decoder = await Decoder.create(model);
  results.logits = f32s(await decoder.feed(prompt, { logits: true }));
  results.greedy = await goOn(decoder, inputs.greedy);
  results.greedy_text = (await stage.tokenizer.decode(results.greedy, { bytes: true })).toString('hex');
  results.position = decoder.position();
  const first = sampledDecoder(model, sampling, prompt), second = Decoder.createSync(model);
  first.copyTo(second);
  [results.sampled, results.copied] = await Promise.all([goOn(first, inputs.sampled), goOn(second, inputs.sampled)]);
  first.rewind(0);
  first.feedSync(prompt);
  results.resampled = await goOn(first, inputs.sampled);
  const third = sampledDecoder(model, sampling, prompt), stop = results.sampled[STOP_AT];
  results.generated = Array.from(await third.generate(inputs.sampled, { stop }));
  results.score = f64s(await Decoder.createSync(model).score(stage.tokenizer.encodeSync(inputs.score)));
  const many = inputs.many.prompts.map(text => {
    const one = Decoder.createSync(model);
    one.feedSync(stage.tokenizer.encodeSync(text));
    return one;
  });
  results.many = (await Decoder.feedMany(many, inputs.many.tokens, { logits: true })).map(hash);
  return results;
}

async function snapshotSteps(model, name, prompt, greedy) {
  const decoder = await Decoder.create(await (name === 'fold' ? model.fold() : model.convert(name)));
  const logits = await decoder.feed(prompt, { logits: true });
  return { name, logits: hash(logits), greedy: await goOn(decoder, greedy) };
}

test('conformance decode', async t => {
  const { inputs, results } = vector('decode');
  const stage = trained(inputs.training), path = scratch(t)('model.safetensors');
  await stage.model.save(path);
  const bytes = readFileSync(path);
  const model = await Model.load(path, { context: stage.context });
  const prompt = stage.tokenizer.encodeSync(inputs.prompt);
  const got = await decodeSteps(stage, model, inputs, prompt);
  got.file = file(bytes);
  got.parameters = hash(model.parameters());
  got.from_memory = hash((await Model.loadMemory(bytes, { context: stage.context })).parameters());
  got.snapshots = [];
  for (const name of inputs.snapshots) got.snapshots.push(await snapshotSteps(model, name, prompt, inputs.greedy));
  assert.deepEqual(got, results);
});

test('conformance forward', async () => {
  const { inputs, results } = vector('forward');
  const { batch, seq, tokens, targets, tensor, points, dlogits: rule } = inputs;
  const context = Context.create({ threads: inputs.threads });
  const model = await Model.create(Config.parse(inputs.yaml), { context, seed: BigInt(inputs.seed) });
  const trainer = await Trainer.create(model);
  await trainer.forward(tokens, batch, seq);
  const logits = await trainer.logits(), vocab = logits.length / (batch * seq);
  const activations = points.map(({ point, layer }) => {
    const values = trainer.activation(point, layer);
    return { point, layer, count: values.length, values: hash(values) };
  });
  const loss = f64(await trainer.loss(targets));
  await trainer.backward();
  const gradients = hash(trainer.gradients()), gradient = trainer.getGradient(tensor);
  const dlogits = Float32Array.from(logits, (_, i) => (i * rule.multiplier % rule.modulus - rule.offset) / rule.divisor);
  await trainer.zeroGradients();
  await trainer.forward(tokens, batch, seq);
  await trainer.backwardLogits(dlogits);
  assert.deepEqual({
    logits: hash(logits), first_logits: f32s(logits.slice(0, vocab)), activations, loss, gradients,
    gradient: { count: gradient.length, values: hash(gradient) }, dlogits: hash(dlogits),
    gradients_of_logits: hash(trainer.gradients()),
  }, results);
});

test('conformance checkpoint', async t => {
  const { inputs: { training, at, fresh_seed: seed }, results } = vector('checkpoint');
  const path = scratch(t)('run.safetensors'), whole = trained(training), half = fresh(training);
  learn(half, training, at);
  await half.trainer.saveCheckpoint(half.optimizer, path, String(half.state));
  const resumed = fresh(training, seed);
  const user = (await resumed.trainer.loadCheckpoint(resumed.optimizer, path)).toString();
  resumed.state = BigInt(user);
  const got = { losses: whole.losses, parameters: hash(whole.model.parameters()), file: file(readFileSync(path)), user,
    step_count: String(resumed.optimizer.stepCount()), lr: f64(resumed.optimizer.lr()) };
  got.resumed_losses = learn(resumed, training, training.steps - at).losses;
  got.resumed_parameters = hash(resumed.model.parameters());
  assert.deepEqual(got, results);
});

function ofLayer(model, layer, phases) {
  const { start, mean, l2, max } = model.drift(layer);
  return {
    theta: f32s(model.theta(layer)), drift: { start: f64(start), mean: f64(mean), l2: f64(l2), max: f64(max) },
    angles: Array.from({ length: phases }, (_, phase) => f32s(model.angles(layer, phase))),
  };
}

test('conformance geometry', () => {
  const { inputs, results } = vector('geometry'), { training, profile } = inputs;
  const { model, trainer, data, state } = trained(training);
  const config = model.config(), layers = Array(Number(config.get('model.n_layers'))).fill(0);
  const { tokens, targets } = data.randomSync(state, training.batch, training.seq);
  trainer.zeroGradientsSync();
  trainer.accumulateSync(tokens, targets, training.batch, training.seq);
  const each = layers.map((_, layer) => ofLayer(model, layer, Number(config.get('model.n_phases'))));
  const { measured, analytic } = trainer.zeroSum();
  assert.deepEqual({
    dc_profile: f32s(model.dcProfile(profile.first, profile.count)), theta: each.map(one => one.theta),
    angles: each.map(one => one.angles), drift: each.map(one => one.drift),
    displacement: layers.map((_, layer) => f64(trainer.displacement(layer))),
    zero_sum: { measured: f64(measured), analytic: f64(analytic) },
    points: inputs.points.map(({ point, layer }) => ({
      point, layer, phase_means: f64s(trainer.phaseMeans(point, layer)), phase_rms: f64s(trainer.phaseRms(point, layer)),
      phase_cosine: f64s(trainer.phaseCosine(point, layer)), dc_energy: f64s(trainer.dcEnergy(point, layer)),
      dc: f32s(trainer.dc(point, layer)),
    })),
  }, results);
});

async function sampleSteps(tokenizer, text) {
  const ids = Array.from(await tokenizer.encode(text)), pieces = [];
  for (let k = 1; k <= ids.length; k++)
    pieces.push((await tokenizer.decodeTail(ids.slice(0, k), k - 1, { bytes: true })).toString('hex'));
  return { ids, text_ids: Array.from(await tokenizer.encodeText(text)), decoded: await tokenizer.decode(ids), pieces };
}

function makeTokenizer({ kind, vocab }, text) {
  return kind === 'bytes' ? Tokenizer.bytes() : Tokenizer[kind](text, vocab);
}

const encodeAll = (tokenizer, texts) => Promise.all(texts.map(async text => Array.from(await tokenizer.encode(text))));

async function tokenizerSteps(wanted, { text, samples }, path) {
  const tokenizer = await makeTokenizer(wanted, text), tokens = wanted.ids.map(id => tokenizer.token(id));
  const format = await tokenizer.format();
  assert.deepEqual(tokens.map(token => tokenizer.id(token)), wanted.ids);
  await tokenizer.save(path);
  const results = [];
  for (const sample of samples) results.push(await sampleSteps(tokenizer, sample));
  return {
    kind: wanted.kind, vocab_size: tokenizer.vocabSize(), format: file(Buffer.from(format)), tokens, samples: results,
    parsed: await encodeAll(await Tokenizer.parse(format), samples), saved: file(readFileSync(path)),
    loaded: await encodeAll(await Tokenizer.load(path), samples),
  };
}

test('conformance tokenizer', async t => {
  const { inputs, results } = vector('tokenizer'), path = scratch(t)('tokenizer.json');
  const tokenizers = [];
  for (const wanted of inputs.tokenizers) tokenizers.push(await tokenizerSteps(wanted, inputs, path));
  const special = await Tokenizer.parse(inputs.special.json);
  const ids = Array.from(await special.encode(inputs.special.text));
  assert.deepEqual({ tokenizers, special: {
    vocab_size: special.vocabSize(), ids, text_ids: Array.from(await special.encodeText(inputs.special.text)),
    decoded: await special.decode(ids),
  } }, results);
});

test('conformance config', t => {
  const { inputs, results } = vector('config'), path = scratch(t)('model.yaml');
  const config = Config.parse(inputs.yaml);
  for (const { key, value } of inputs.set) config.set(key, value);
  const presets = Config.presetNames().map(name => {
    const preset = Config.preset(name);
    return { name, parameter_count: preset.parameterCount(), inference: preset.memory(MemoryUse.INFERENCE),
      training: preset.memory(MemoryUse.TRAINING) };
  });
  const format = config.format(), copy = config.copy();
  writeFileSync(path, format);
  copy.set(inputs.break.key, inputs.break.value);
  const status = one => {
    try {
      return one.check() ?? { status: 0 };
    } catch (error) {
      return error;
    }
  };
  const broken = status(copy);
  assert.deepEqual({
    presets, format, get: inputs.get.map(key => config.get(key)), parsed: Config.parse(format).format(),
    loaded: Config.load(path).format(), check: status(config).status,
    broken: { status: broken.status, message: broken.message }, unbroken: status(config).status,
  }, results);
});

test('conformance evaluate', async t => {
  const { inputs, results } = vector('evaluate'), { seq } = inputs, path = scratch(t)('text.u16');
  const { model, tokenizer, context } = trained(inputs.training);
  const ids = tokenizer.encodeSync(inputs.text);
  writeFileSync(path, bytesOf(Uint16Array.from(ids)));
  const all = async data => {
    const list = [];
    for (const maxWindows of inputs.max_windows) {
      const { loss, perplexity, tokens } = await model.evaluate(data, { seq, maxWindows });
      list.push({ loss: f64(loss), perplexity: f64(perplexity), tokens: String(tokens) });
    }
    return list;
  };
  const data = await Dataset.fromTokens(ids, { context }), { tokens, targets } = await data.window(inputs.window, seq);
  assert.deepEqual({
    count: data.count(), window_count: data.windowCount(seq),
    window: { tokens: Array.from(tokens), targets: Array.from(targets) }, evaluations: await all(data),
    from_file: await all(await Dataset.open(path, { context })),
  }, results);
});
