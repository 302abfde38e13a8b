/* What a token costs: node bench.mjs SECONDS. As bindings/conformance/overhead.c. */
import { Config, Context, Decoder, Model } from 'lib3pt';

const TOKENS = 127;
const seconds = Number(process.argv[2] ?? 1);
const context = Context.create();
const model = Model.createSync(Config.preset('3pt-5m'), { context, seed: 1 });
const decoder = Decoder.createSync(model);

function round() {
  const start = performance.now();
  let token = 0;
  for (let i = 0; i < TOKENS; i++) {
    decoder.feedSync([token]);
    token = decoder.sample();
  }
  decoder.rewind(0);
  return performance.now() - start;
}

const rounds = [], end = performance.now() + seconds * 1000;
do rounds.push(round());
while (performance.now() < end);
rounds.sort((a, b) => a - b);
const rate = TOKENS / (rounds[rounds.length >> 1] / 1000);
console.log(`{"tokens_per_s": ${rate.toFixed(1)}}`);
