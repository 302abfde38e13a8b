/* Floats that the library lends: copied, or seen in place where they stay until the destroy. */
'use strict';
const koffi = require('koffi');
const { Plan } = require('./call.js');
const { made } = require('./handle.js');
const { copyFloats } = require('./memory.js');

const net = new FinalizationRegistry(cell => {
  cell.views--;
  cell.reap();
});

/* Another buffer over the same memory would be one that nobody watches (Node.js 21 and later have these). */
const STAYS = Object.fromEntries(['transfer', 'transferToFixedLength'].map(name => [name, {
  value() {
    throw new TypeError(`the buffer of a view shows memory of the library and has no ${name}: copy it with slice`);
  },
}]));

/* The handle's memory stays until the buffer is collected, also after a close: a view is never left over
 * nothing. (Node cannot take an external buffer away from those who hold it.) */
function viewOf(cell, address, count) {
  let buffer = cell.view?.deref();
  if (!buffer) {
    buffer = Object.defineProperties(koffi.view(address, count * Float32Array.BYTES_PER_ELEMENT), STAYS);
    cell.view = new WeakRef(buffer);
    cell.views++;
    net.register(buffer, cell);
  }
  return new Float32Array(buffer);
}

/* Of a function (handle, address of a pointer, count). */
function lentFloats(name, cell, { args = [], view = false } = {}) {
  const place = made(), count = made();
  return new Plan(name, [cell, ...args, place, count], () => {
    const address = Number(place[0]), all = Number(count[0]);
    return view ? viewOf(cell, address, all) : copyFloats(address, all);
  });
}

module.exports = { lentFloats };
