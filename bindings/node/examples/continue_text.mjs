/* Trains a model on a sentence and lets it continue a prompt, by the likeliest byte each time. */
import { Config, Dataset, Decoder, Model, Optimizer, Tokenizer, Trainer } from 'lib3pt';

const BATCH = 4, SEQ = 40, STEPS = 60, ADDED = 29, PROMPT = 'Three';
const config = Config.parse(`model: {vocab_size: 256, d_model: 48, n_layers: 2, n_q_heads: 6,
  n_kv_heads: 3, d_ff: 96, max_seq_len: 40}
train: {batch: 4, steps: 1000, warmup: 1, lr: 1e-2}
`);
const tokenizer = await Tokenizer.bytes();
const data = await Dataset.fromTokens(await tokenizer.encode('Three phases turn and sum to zero. '.repeat(4)));
const model = await Model.create(config, { seed: 1 });
const trainer = await Trainer.create(model);
const optimizer = await Optimizer.create(trainer);
let state = 1n;
for (let step = 0; step < STEPS; step++) {
  const batch = await data.random(state, BATCH, SEQ);
  state = batch.state;
  await trainer.zeroGradients();
  await trainer.accumulate(batch.tokens, batch.targets, BATCH, SEQ);
  await optimizer.step();
}

const decoder = await Decoder.create(model);
await decoder.feed(await tokenizer.encode(PROMPT));
console.log(`${PROMPT}|${await tokenizer.decode(await decoder.generate(ADDED))}`);
for (const handle of [decoder, optimizer, trainer, model, data, tokenizer, config]) handle.close();
