/* Trains a tiny model on a sentence that repeats, and prints its loss. */
import { Config, Dataset, Model, Optimizer, Tokenizer, Trainer } from 'lib3pt';

const BATCH = 4, SEQ = 32, STEPS = 60;
const text = 'Three phases turn and sum to zero. '.repeat(4);
const config = Config.parse(`model: {vocab_size: 256, d_model: 24, n_layers: 2, n_q_heads: 3,
  n_kv_heads: 3, d_ff: 48, max_seq_len: 32}
train: {batch: 4, steps: 1000, warmup: 1, lr: 1e-2}
`);
const tokenizer = await Tokenizer.bytes();
const data = await Dataset.fromTokens(await tokenizer.encode(text));
const model = await Model.create(config, { seed: 1 });
const trainer = await Trainer.create(model);
const optimizer = await Optimizer.create(trainer);

console.log(`${config.parameterCount()} parameters, ${data.count()} tokens`);
let state = 1n;
for (let step = 1; step <= STEPS; step++) {
  const batch = await data.random(state, BATCH, SEQ);
  state = batch.state;
  await trainer.zeroGradients();
  const loss = await trainer.accumulate(batch.tokens, batch.targets, BATCH, SEQ);
  await optimizer.step();
  if (step === 1 || step % 20 === 0) console.log(`step ${step}: loss ${loss.toFixed(2)}`);
}
for (const handle of [optimizer, trainer, model, data, tokenizer, config]) handle.close();
