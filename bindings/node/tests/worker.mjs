/* What the test of worker threads runs in one. */
import { parentPort } from 'node:worker_threads';
import { Config, Decoder, Model } from 'lib3pt';

const config = Config.parse('model: {vocab_size: 8, d_model: 24, n_layers: 1, n_q_heads: 3, n_kv_heads: 3, d_ff: 48, ' +
  'max_seq_len: 8}');
const decoder = await Decoder.create(await Model.create(config));
parentPort.postMessage(await decoder.feed([1], { logits: true }));
