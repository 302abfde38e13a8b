/* The five programs print what those in C print; the bench prints its line; the types hold. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import test from 'node:test';
import { assert } from './support.mjs';

const here = name => fileURLToPath(new URL(name, import.meta.url));
const run = args => execFileSync(process.execPath, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

for (const name of ['train_tiny', 'continue_text', 'stream_text', 'inspect_geometry', 'handle_error'])
  test(`program ${name}`, () => {
    const wanted = readFileSync(join(process.env.LIB3PT_PROGRAMS, `${name}.txt`), 'utf8');
    assert.equal(run([here(`../examples/${name}.mjs`)]), wanted);
  });

test('bench', () => {
  const rates = JSON.parse(run([here('../bench.mjs'), '0.2']));
  assert.deepEqual(Object.keys(rates), ['tokens_per_s', 'generated_per_s']);
  for (const rate of Object.values(rates)) assert.ok(rate > 0);
});

test('types', () => {
  const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');
  try {
    run([tsc, '--strict', '--noEmit', '--target', 'es2022', '--module', 'nodenext', here('types.mts'), here('types.cts')]);
  } catch (error) {
    assert.fail(error.stdout);
  }
});
