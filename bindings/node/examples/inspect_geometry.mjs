/* What a model's phases look like: profile, angles, and the sum of the phase means. */
import { Config, Model, Trainer } from 'lib3pt';

const BATCH = 1, SEQ = 32, PHASES = 3, LAYERS = 2;
const config = Config.parse(`model: {vocab_size: 256, d_model: 24, n_layers: 2, n_q_heads: 3,
  n_kv_heads: 3, d_ff: 48, max_seq_len: 32}
train: {batch: 1}
`);
const model = await Model.create(config, { seed: 1 });
const profile = Array.from(model.dcProfile(0, 4), value => value.toFixed(3));
console.log(`profile ${profile.join(' ')}`);
for (let layer = 0; layer < LAYERS; layer++)
  for (let phase = 0; phase < PHASES; phase++) {
    const [angle] = model.angles(layer, phase);
    console.log(`layer ${layer}, phase ${phase}: ${(angle / (Math.PI / 180)).toFixed(1)} degrees`);
  }
const trainer = await Trainer.create(model);
await trainer.forward(Array.from({ length: SEQ }, (_, i) => i), BATCH, SEQ);
const { measured, analytic } = trainer.zeroSum();
console.log(`sum of the phase means ${measured.toFixed(4)}, by the profile ${analytic.toFixed(4)}`);
for (const handle of [trainer, model, config]) handle.close();
