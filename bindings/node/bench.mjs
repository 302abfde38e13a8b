/* What a token costs: node bench.mjs SECONDS. As bindings/conformance/overhead.c. */
import { Config, Context, Decoder, Model } from 'lib3pt';

const TOKENS = 127;
const WARM = 4; // seconds, until V8 has compiled what is called
const seconds = Number(process.argv[2] ?? 1);
const context = Context.create();
const model = Model.createSync(Config.preset('3pt-5m'), { context, seed: 1 });
const decoder = Decoder.createSync(model);

/* A token a call. */
function stepByStep() {
  let token = 0;
  for (let i = 0; i < TOKENS; i++) {
    decoder.feedSync([token]);
    token = decoder.sample();
  }
}

/* As many are fed, in one call but for the first. */
function inOneCall() {
  decoder.feedSync([0]);
  decoder.generateSync(TOKENS - 1);
}

function round(run) {
  const start = performance.now();
  run();
  decoder.rewind(0);
  return performance.now() - start;
}

/* Tokens a second in the round of median length. */
function rate(run, seconds) {
  const rounds = [], end = performance.now() + seconds * 1000;
  do rounds.push(round(run));
  while (performance.now() < end);
  rounds.sort((a, b) => a - b);
  return (TOKENS / (rounds[rounds.length >> 1] / 1000)).toFixed(1);
}

rate(stepByStep, WARM);
console.log(`{"tokens_per_s": ${rate(stepByStep, seconds / 2)}, "generated_per_s": ${rate(inOneCall, seconds / 2)}}`);
