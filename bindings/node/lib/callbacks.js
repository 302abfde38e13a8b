/* Functions of JavaScript that the library calls. koffi runs them on the main thread; a call on another
 * thread waits for that. */
'use strict';
const koffi = require('koffi');
const { declared } = require('./native.js');

const types = new Map();

/* koffi's names of types are the process's own: nameless here, so that two copies of this package agree. */
function pointerType(name) {
  if (!types.has(name)) types.set(name, koffi.pointer(koffi.proto(...declared.callbacks[name])));
  return types.get(name);
}

function register(name, run) {
  return koffi.register(run, pointerType(name));
}

/* Not from inside the function itself. */
function unregisterLater(pointers) {
  setImmediate(() => pointers.forEach(pointer => koffi.unregister(pointer)));
}

/* A function and the done function that takes both back. */
function registerPair(name, run) {
  const pair = { run: register(name, run), done: null };
  pair.done = register('tpt_done_fn', () => unregisterLater([pair.run, pair.done]));
  return pair;
}

module.exports = { register, registerPair, unregisterLater };
