/* A wrong description, a file that is not there, a token that the model has not: what each says. */
import { Config, Decoder, Model } from 'lib3pt';

const show = error => console.log(`${error.code}: ${error.message}`);

try {
  Config.parse('model: {d_model: 25}\n');
} catch (error) {
  show(error);
}
await Model.load('no-such-folder/model.safetensors').catch(show);
const config = Config.parse(`model: {vocab_size: 256, d_model: 24, n_layers: 1, n_q_heads: 3,
  n_kv_heads: 3, d_ff: 48, max_seq_len: 8}
`);
const model = await Model.create(config, { seed: 1 });
const decoder = await Decoder.create(model);
await decoder.feed([256]).catch(show);
for (const handle of [decoder, model, config]) handle.close();
