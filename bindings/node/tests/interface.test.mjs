/* Nothing of the interface is missing: raw, by name, in the code; how the library is found. */
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import test from 'node:test';
import * as lib from 'lib3pt';
import { declared, native } from 'lib3pt/raw';
import { assert } from './support.mjs';

const described = JSON.parse(readFileSync(process.env.LIB3PT_INTERFACE, 'utf8'));
const require = createRequire(import.meta.url);
const folder = new URL('lib/', `file://${require.resolve('lib3pt')}`);

test('the raw layer has all', () => {
  for (const { name, arguments: wanted } of described.functions) {
    assert.equal(declared.functions[name]?.[1].length, wanted.length, name);
    assert.equal(typeof native()[name], 'function');
  }
  for (const { name, values } of described.enums)
    for (const one of values.filter(value => !value.force)) assert.equal(declared.enums[name][one.name], one.value);
  for (const { name, fields } of described.structs)
    assert.deepEqual(declared.structs[name].map(([field]) => field), fields.map(field => field.name));
  for (const { name } of described.function_types) assert.ok(declared.callbacks[name], name);
  assert.deepEqual(declared.handles, described.handles.map(one => one.name));
});

function reach(name) {
  const [type, member] = name.split(/[.#]/);
  if (!member) return lib[type];
  return name.includes('#') ? lib[type].prototype[member] : lib[type][member];
}

test('every function can be reached', () => {
  const names = require(new URL('names.js', folder).pathname);
  const code = readdirSync(folder).filter(file => !['declarations.js', 'names.js'].includes(file))
    .map(file => readFileSync(new URL(file, folder), 'utf8')).concat(readFileSync(new URL('../index.js', folder), 'utf8'))
    .join('\n');
  for (const { name } of described.functions) {
    assert.equal(typeof reach(names[name]), 'function', name);
    assert.ok(name.endsWith('_destroy') || code.includes(name), `${name} is not called`);
  }
  assert.equal(Object.keys(names).length, described.functions.length);
});

test('enums are there without their prefix', () => {
  assert.deepEqual(Object.keys(lib.Status), ['OK', 'ARGUMENT', 'MEMORY', 'IO', 'FORMAT', 'CONFIG', 'STATE', 'UNSUPPORTED',
    'NUMERIC', 'CANCELLED', 'INTERNAL']);
  assert.deepEqual({ ...lib.Point }, { EMBEDDING: 0, ATTENTION: 1, ROTATION: 2, BLOCK: 3 });
  assert.equal(lib.statusName(lib.Status.IO), 'TPT_E_IO');
  assert.equal(lib.statusName(77), native().tpt_status_name(77));
});

test('import and require give the same objects', () => {
  const required = require('lib3pt');
  for (const name of Object.keys(required)) assert.equal(lib[name], required[name], name);
  assert.equal(Object.keys(required).length, Object.keys(lib).length);
  assert.match(lib.version(), /^1\.\d+\.\d+$/);
  assert.ok(lib.buildInfo().length > 0);
});

function run(code, environment = {}) {
  const env = { ...process.env, ...environment };
  return execFileSync(process.execPath, ['-e', code], { env, encoding: 'utf8', cwd: new URL('.', import.meta.url) });
}

const told = "catch (error) { console.log(error.message); }";

test('a library that is another one is a sentence', () => {
  const other = process.report.getReport().sharedObjects.find(file => file.includes('/libm.so'));
  const text = run(`try { require('lib3pt').version(); } ${told}`, { LIB3PT_LIBRARY: other });
  assert.equal(text, `${other}, named by LIB3PT_LIBRARY, is no lib3pt: it has no tpt_check_version; install lib3pt 1.x, ` +
    'or set LIB3PT_LIBRARY to the path of lib3pt.so.1\n');
});

test('a library that is not there is a sentence', () => {
  const text = run(`try { require('lib3pt').version(); } ${told}`, { LIB3PT_LIBRARY: '/no/such/lib3pt.so.1' });
  assert.ok(text.startsWith('cannot load lib3pt: looked for /no/such/lib3pt.so.1, named by LIB3PT_LIBRARY ('), text);
  assert.ok(text.endsWith('; install lib3pt 1.x, or set LIB3PT_LIBRARY to the path of lib3pt.so.1\n'), text);
});

test('a path that is given goes before the variable', () => {
  const path = process.env.LIB3PT_LIBRARY, code = `const { useLibrary, version } = require('lib3pt');
    useLibrary(${JSON.stringify(path)}); console.log(version());
    try { useLibrary('other'); } ${told}`;
  const text = run(code, { LIB3PT_LIBRARY: '/no/such' });
  assert.equal(text, `${lib.version()}\nlib3pt is loaded already; other would come too late\n`);
});

test('an older library is refused with both versions', () => {
  const text = run(`const { declared, native } = require('lib3pt/raw'); declared.version = [1, 99, 0];
    try { native(); } ${told}`);
  assert.equal(text, `this package is for lib3pt 1.x from 1.99.0 on, and the library in use is ${lib.version()}\n`);
});

test('promises want the stack that koffi was not told of', () => {
  const text = run(`require('koffi').load(null); const { Config, Decoder, Model } = require('lib3pt');
    const config = Config.parse('model: {vocab_size: 8, d_model: 24, n_layers: 1, n_q_heads: 3, n_kv_heads: 3, d_ff: 48}');
    console.log(Decoder.createSync(Model.createSync(config)).position());
    Model.create(config).catch(error => console.log(error.message));`);
  assert.match(text, /^0\npromises of lib3pt need koffi\.config\(\{ async_stack_size: 1048576 \}\), .+ import lib3pt first/);
});

test('a process ends though handles are open', () => {
  const text = run(`const { Context, Config, Model } = require('lib3pt');
    const context = Context.create({ log() {}, progress() {} });
    Model.create(Config.parse('model: {vocab_size: 8, d_model: 24, n_layers: 1, n_q_heads: 3, n_kv_heads: 3, d_ff: 48}'),
      { context }).then(() => console.log('made'));`);
  assert.equal(text, 'made\n');
});
