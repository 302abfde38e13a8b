/* Functions of JavaScript that the library calls. koffi runs them on the main thread; a call on another
 * thread waits for that.
 *
 * koffi has room for 8192 functions in a process, so one of each kind serves all contexts: the `user` that the
 * library hands to it is the key of what is meant. */
'use strict';
const koffi = require('koffi');
const exit = require('./exit.js');
const { declared } = require('./native.js');

const types = new Map();
const pointers = new Map(); // by kind
const meant = new Map(); // by key, a function for each kind
let lastKey = 0;

/* koffi's names of types are the process's own: nameless here, so that two copies of this package agree. */
function pointerType(kind) {
  if (!types.has(kind)) types.set(kind, koffi.pointer(koffi.proto(...declared.callbacks[kind])));
  return types.get(kind);
}

function register(kind) {
  try {
    return koffi.register((key, ...args) => meant.get(key)[kind](...args), pointerType(kind));
  } catch (error) {
    throw new Error(`koffi cannot register a function (${error.message}); lib3pt needs ` +
      `${Object.keys(declared.callbacks).length} in all, so other packages have taken the rest: let them unregister some`);
  }
}

function pointerOf(kind) {
  if (!pointers.has(kind)) pointers.set(kind, register(kind));
  return pointers.get(kind);
}

/* runs: a function for each kind. Gives the key and the pointers, by kind. */
function add(runs) {
  const all = Object.fromEntries(Object.keys(runs).map(kind => [kind, pointerOf(kind)]));
  meant.set(++lastKey, runs);
  return { key: lastKey, pointers: all };
}

function takeBack() {
  for (const pointer of pointers.values()) koffi.unregister(pointer);
  pointers.clear();
}

/* Not from inside such a function itself. */
function remove(key) {
  meant.delete(key);
  if (meant.size > 0) return;
  setImmediate(() => {
    if (meant.size === 0) takeBack();
  });
}

exit.afterClosing(takeBack);

module.exports = { add, remove };
