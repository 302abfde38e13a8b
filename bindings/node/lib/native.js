/* The library: where it is found, its version, its functions as koffi calls them. */
'use strict';
const koffi = require('koffi');
const declared = require('./declarations.js');
const { shown } = require('./shown.js');

/* Bytes of stack of a call outside of the main thread. A thread of the library itself has 512 KiB. */
const ASYNC_STACK = 1 << 20;

let chosen = null;
let functions = null;
let stackIsGranted = false;

/* Which file to load; before anything else is called. */
function useLibrary(file) {
  if (typeof file !== 'string' || !file || file.includes('\0'))
    throw new TypeError(`file is ${shown(file)}; a path is allowed`);
  if (functions) throw new Error(`lib3pt is loaded already; ${file} would come too late`);
  chosen = file;
}

function whereToLook() {
  if (chosen) return { file: chosen, why: 'given to useLibrary' };
  const named = process.env.LIB3PT_LIBRARY;
  if (named) return { file: named, why: 'named by LIB3PT_LIBRARY' };
  const file = process.platform === 'darwin' ? 'lib3pt.1.dylib' : declared.soname;
  return { file, why: "on the system's path" };
}

/* What koffi has once a library is open stays. */
function hasStack() {
  return koffi.config().async_stack_size >= ASYNC_STACK;
}

/* koffi takes settings only before the first library of the process is opened, by whomever. */
function setStack() {
  if (hasStack()) return;
  try {
    koffi.config({ ...koffi.config(), async_stack_size: ASYNC_STACK });
  } catch {
    // calls on this thread have the room that they need; checkStack refuses the others
  }
}

function checkStack() {
  native();
  if (stackIsGranted) return;
  throw new Error('promises of lib3pt need koffi.config({ async_stack_size: 1048576 }), and another package has ' +
    'opened a library with koffi before lib3pt was imported: import lib3pt first, or use the calls that end in Sync');
}

setStack();

function open() {
  const { file, why } = whereToLook();
  try {
    const library = koffi.load(file);
    neverUnload(file);
    return library;
  } catch (error) {
    throw new Error(`cannot load lib3pt: looked for ${file}, ${why} (${error.message}); install lib3pt ` +
      `${declared.version[0]}.x, or set LIB3PT_LIBRARY to the path of ${declared.soname}`);
  }
}

function functionOf(library, name, result, types) {
  try {
    return library.func(name, result, types);
  } catch {
    const { file, why } = whereToLook();
    throw new Error(`${file}, ${why}, is no lib3pt: it has no ${name}; install lib3pt ` +
      `${declared.version[0]}.x, or set LIB3PT_LIBRARY to the path of ${declared.soname}`);
  }
}

function checkVersion(library) {
  const check = functionOf(library, 'tpt_check_version', 'int32_t', ['int32_t', 'int32_t', 'int32_t']);
  if (check(...declared.version) === 0) return;
  const found = library.func('tpt_version', 'str', [])();
  throw new Error(`this package is for lib3pt ${declared.version[0]}.x from ${declared.version.join('.')} on, and the ` +
    `library in use is ${found}`);
}

function load() {
  const library = open();
  checkVersion(library);
  return Object.fromEntries(Object.entries(declared.functions)
    .map(([name, [result, types]]) => [name, functionOf(library, name, result, types)]));
}

/* RTLD_LAZY with RTLD_NODELETE: koffi unloads at the end of a process or worker what it has loaded, and threads of
 * handles that were never closed may still be in the library's code. */
const STAYS = 1 | (process.platform === 'darwin' ? 0x80 : 0x1000);

function neverUnload(file) {
  koffi.load(null).func('dlopen', 'void *', ['str', 'int'])(file, STAYS);
}

const others = [];

/* What else is to be loaded then. */
function whenLoaded(run) {
  others.push(run);
}

function loadAll() {
  const loaded = load();
  stackIsGranted = hasStack();
  for (const run of others) run();
  return (functions = loaded);
}

/* All functions by name. The first use loads the library. */
function native() {
  return functions ?? loadAll();
}

module.exports = { native, whenLoaded, useLibrary, checkStack, declared };
