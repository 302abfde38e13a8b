/* What the tests share: vector files, their encodings, the training that several scenarios need. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Config, Context, Dataset, Model, Optimizer, Tokenizer, Trainer } from 'lib3pt';

export function vector(name) {
  return JSON.parse(readFileSync(join(process.env.LIB3PT_VECTORS, `${name}.json`), 'utf8'));
}

export function bytesOf(array) {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}

/* FNV-1a 64 in halves of 32 bits: BigInt would take seconds. The prime is 2^40 + 0x1b3. */
export function fnv(array) {
  let high = 0xcbf29ce4, low = 0x84222325;
  for (const byte of bytesOf(array)) {
    low = (low ^ byte) >>> 0;
    const product = low * 0x1b3; // below 2^41
    high = (Math.imul(high, 0x1b3) + Math.floor(product / 2 ** 32) + (low << 8)) >>> 0;
    low = product >>> 0;
  }
  return high.toString(16).padStart(8, '0') + low.toString(16).padStart(8, '0');
}

export const hash = array => fnv(array);
export const file = bytes => ({ size: bytes.length, hash: fnv(bytes) });
export const f32s = floats => Array.from(new Uint32Array(floats.buffer, floats.byteOffset, floats.length));

export function f64(number) {
  const room = Buffer.alloc(8);
  room.writeDoubleBE(number);
  return room.toString('hex');
}

export const f64s = numbers => Array.from(numbers, f64);

/* A folder for the time of a test. */
export function scratch(t) {
  const folder = mkdtempSync(join(tmpdir(), 'lib3pt-node-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return name => join(folder, name);
}

export function fresh(training, seed = training.seed) {
  const context = Context.create({ threads: training.threads });
  const tokenizer = Tokenizer.bytesSync({ context });
  const data = Dataset.fromTokensSync(tokenizer.encodeSync(training.text), { context });
  const config = Config.parse(training.yaml);
  const model = Model.createSync(config, { context, seed: BigInt(seed) });
  const trainer = Trainer.createSync(model);
  const optimizer = Optimizer.createSync(trainer);
  return { context, tokenizer, data, config, model, trainer, optimizer, state: BigInt(training.random_state) };
}

/* Steps on this thread, or with promises. */
export function learn(stage, training, steps) {
  const losses = [], norms = [];
  for (let i = 0; i < steps; i++) {
    const { tokens, targets, state } = stage.data.randomSync(stage.state, training.batch, training.seq);
    stage.state = state;
    stage.trainer.zeroGradientsSync();
    losses.push(f64(stage.trainer.accumulateSync(tokens, targets, training.batch, training.seq)));
    norms.push(f64(stage.optimizer.stepSync()));
  }
  return { losses, norms };
}

export async function learnAway(stage, training, steps) {
  const losses = [], norms = [];
  for (let i = 0; i < steps; i++) {
    const { tokens, targets, state } = await stage.data.random(stage.state, training.batch, training.seq);
    stage.state = state;
    await stage.trainer.zeroGradients();
    losses.push(f64(await stage.trainer.accumulate(tokens, targets, training.batch, training.seq)));
    norms.push(f64(await stage.optimizer.step()));
  }
  return { losses, norms };
}

export function trained(training) {
  const stage = fresh(training);
  return { ...stage, ...learn(stage, training, training.steps), state: stage.state };
}

export function small(changes = {}) {
  const config = Config.parse('model: {vocab_size: 256, d_model: 24, n_layers: 2, n_q_heads: 3, n_kv_heads: 3, ' +
    'd_ff: 40, max_seq_len: 32}\ntrain: {batch: 2}\n');
  for (const [key, value] of Object.entries(changes)) config.set(key, value);
  return config;
}

export { assert };
