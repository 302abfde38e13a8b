/* Memory of the C library, for allocators written in JavaScript. Addresses are numbers. */
'use strict';
const koffi = require('koffi');
const { whenLoaded } = require('./native.js');
const { shown } = require('./shown.js');
const { size } = require('./values.js');

let calls = null;

function load() {
  const process = koffi.load(null);
  return {
    aligned_alloc: process.func('aligned_alloc', 'uintptr_t', ['size_t', 'size_t']),
    free: process.func('free', 'void', ['uintptr_t']),
    memcpy: process.func('memcpy', 'uintptr_t', ['void *', 'uintptr_t', 'size_t']),
  };
}

/* All at once, and with the library itself: a worker that is terminated while koffi loads crashes the process. */
function c() {
  return (calls ??= load());
}

whenLoaded(c);

const memory = {
  /* 0 where there is none. The C library wants a multiple of the alignment. */
  allocate(bytes, alignment) {
    size(bytes, 'bytes');
    if (!(Number.isSafeInteger(alignment) && alignment > 0 && Number.isInteger(Math.log2(alignment))))
      throw new RangeError(`alignment is ${shown(alignment)}; a power of two is allowed`);
    return c().aligned_alloc(alignment, Math.ceil(bytes / alignment) * alignment);
  },
  release(address) {
    c().free(size(address, 'address'));
  },
};

/* A copy of floats that the library lends. */
function copyFloats(address, count) {
  const values = new Float32Array(count);
  if (count > 0) c().memcpy(values, address, values.byteLength);
  return values;
}

module.exports = { memory, copyFloats };
