/* The end of a process, or of a worker, while a promise's call runs. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import test from 'node:test';
import { Context, Decoder, Model, Tokenizer } from 'lib3pt';
import { assert, small } from './support.mjs';

const LIMIT = 20000; // milliseconds, of a process that ends in less than one

const RUNS = `const { Config, Context, Model, Trainer } = require('lib3pt');
  const context = Context.create({ progress() {} }), model = Model.createSync(Config.preset('3pt-5m'), { seed: 1, context });
  const trainer = Trainer.createSync(model), ids = new Int32Array(64 * 128);`;

function run(program) {
  return spawnSync(process.execPath, ['-e', RUNS + program], { encoding: 'utf8', timeout: LIMIT });
}

for (const [name, end, status, said] of [['exit', 'process.exit(3)', 3, /^$/],
  ['an exception', "throw new Error('uncaught')", 1, /uncaught/]])
  test(`${name} ends a process while progress is told`, () => {
    const { status: got, stdout, stderr } = run(`setTimeout(() => {
      process.on('exit', () => console.log('last'));
      ${end}; }, 100); trainer.accumulate(ids, ids, 64, 128).catch(() => {});`);
    assert.deepEqual([got, stdout], [status, 'last\n']);
    assert.match(stderr, said);
  });

test('a worker refuses a promise of a context with a function', () => {
  const { status, stdout } = run(`const { Worker } = require('node:worker_threads');
    const worker = new Worker(${'`'}${RUNS.replaceAll('`', '')}
      trainer.accumulate(ids, ids, 64, 128).catch(error => require('node:worker_threads').parentPort.postMessage(error.message));
    ${'`'}, { eval: true }); worker.on('message', async text => { console.log(text, await worker.terminate()); });`);
  assert.equal(status, 0);
  assert.match(stdout, /^in a worker, a promise .+ is refused/);
});

/* Little work: the library's threads have hardly begun to run when Node unloads what koffi has loaded. */
const LEFT_OPEN = `const { Config, Context, Decoder, Model } = require('lib3pt');
  const config = Config.parse('model: {vocab_size: 256, d_model: 48, n_layers: 2, n_q_heads: 6, n_kv_heads: 3, ' +
    'd_ff: 96, max_seq_len: 40}');
  const model = Model.createSync(config, { context: Context.create({ threads: 3 }) });
  Decoder.createSync(model).feedSync([1, 2, 3, 4, 5, 6, 7, 8]);`;

function worker(program) {
  return `await new Promise((resolve, reject) => new (require('node:worker_threads').Worker)(${JSON.stringify(program)},
    { eval: true }).on('exit', resolve).on('error', reject));`;
}

test('a process and its workers end with handles that nobody closed', () => {
  for (const program of [LEFT_OPEN, `(async () => { ${worker(LEFT_OPEN)} })();`])
    for (let i = 0; i < 8; i++) {
      const { status, signal } = spawnSync(process.execPath, ['-e', program], { timeout: LIMIT });
      assert.deepEqual([status, signal], [0, null]);
    }
});

test('what a worker left open is closed at its end', { skip: existsSync('/proc/self/task') ? false : 'no /proc' }, () => {
  const { status, stdout } = run(`(async () => {
    const threads = () => require('node:fs').readdirSync('/proc/self/task').length;
    ${worker(LEFT_OPEN)}
    const before = threads();
    for (let i = 0; i < 4; i++) ${worker(LEFT_OPEN)}
    console.log(threads() - before);
  })();`);
  assert.deepEqual([status, stdout], [0, '0\n']);
});

/* koffi crashes the process where a worker is terminated while it loads or tells its settings: so nothing is left for later. */
test('the first call loads all', () => {
  const { status, stdout } = spawnSync(process.execPath, ['-e', `const lib = require('lib3pt'), koffi = require('koffi');
    lib.version();
    koffi.load = koffi.config = () => { throw new Error('late'); };
    const model = lib.Model.createSync(lib.Config.preset('3pt-5m'));
    const decoder = lib.Decoder.createSync(model);
    decoder.feed([1], { logits: true }).then(logits => console.log(logits.length > 0, lib.memory.allocate(64, 64) > 0));`],
  { encoding: 'utf8', timeout: LIMIT });
  assert.deepEqual([status, stdout], [0, 'true true\n']);
});

const IN_CALLS = {
  'a sync call': 'for (;;) { trainer.zeroGradientsSync(); trainer.accumulateSync(ids, ids, 4, 64); }',
  'a promise\'s call': 'for (;;) { await trainer.zeroGradients(); await trainer.accumulate(ids, ids, 4, 64); }',
  'short promises\' calls': `const decoders = Array.from({ length: 12 }, () => Decoder.createSync(model));
    await Promise.all(decoders.map(async one => { for (;;) { await one.feed([1], { logits: true }); one.rewind(0); } }));`,
};

for (const [what, calls] of Object.entries(IN_CALLS))
  test(`a worker is terminated during ${what}`, { timeout: 4 * LIMIT }, () => {
    const program = `const { Config, Context, Decoder, Model, Trainer } = require('lib3pt');
      const context = Context.create({ threads: 2 }), ids = new Int32Array(256);
      const model = Model.createSync(Config.preset('3pt-5m').set('model.vocab_size', 256), { context });
      const trainer = Trainer.createSync(model);
      require('node:worker_threads').parentPort.postMessage('begins');
      (async () => { ${calls} })();`;
    const { status, signal, stderr } = run(`(async () => {
      for (let i = 0; i < 8; i++) {
        const worker = new (require('node:worker_threads').Worker)(${JSON.stringify(program)}, { eval: true });
        await require('node:events').once(worker, 'message');
        await new Promise(resolve => setTimeout(resolve, 7 * i));
        await worker.terminate();
      }
    })();`);
    assert.deepEqual([status, signal], [0, null], stderr);
  });

test('a worker that ends gives its functions back to koffi', () => {
  const opens = `const { Context } = require('lib3pt'), context = Context.create({ threads: 1, log() {}, progress() {} });`;
  const { status, stdout } = run(`(async () => {
    const count = () => require('koffi').stats().callbacks, before = count();
    ${worker(opens)} ${worker(`${opens} process.exit();`)} ${worker(`${opens} context.close();`)}
    console.log(before, count() - before);
  })();`);
  assert.deepEqual([status, stdout], [0, '2 0\n']);
});

test('flags, bytes and texts are what they say', () => {
  const context = Context.create(), tokenizer = Tokenizer.bytesSync();
  const decoder = Decoder.createSync(Model.createSync(small(), { seed: 1 }));
  for (const wrong of ['no', 0, null, {}]) assert.throws(() => context.cancel(wrong), TypeError);
  assert.throws(() => decoder.feedSync([1], { logits: 'no' }), TypeError);
  assert.throws(() => tokenizer.decodeSync([1], { bytes: 'no' }), TypeError);
  for (const wrong of [new Int32Array([65]), new DataView(new ArrayBuffer(1)), 'a\ud800'])
    assert.throws(() => tokenizer.encodeSync(wrong), TypeError);
});
