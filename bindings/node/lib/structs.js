/* Structs of the library: result structs as objects, the allocator as bytes. */
'use strict';
const koffi = require('koffi');
const { declared } = require('./native.js');

const types = new Map();

function fieldType(type) {
  return Array.isArray(type) ? koffi.array(...type) : type;
}

function structType(name) {
  if (!types.has(name)) {
    const fields = declared.structs[name].map(([field, type]) => [field, fieldType(type)]);
    types.set(name, koffi.struct(Object.fromEntries(fields)));
  }
  return types.get(name);
}

/* Room for a result, its size set. */
function room(name) {
  const bytes = Buffer.alloc(koffi.sizeof(structType(name)));
  bytes.writeBigUInt64LE(BigInt(bytes.length));
  return bytes;
}

function read(name, bytes) {
  return koffi.decode(bytes, structType(name));
}

/* As an argument: koffi copies the object into a struct for the time of the call. */
function argument(name, values) {
  const type = structType(name);
  return koffi.as({ size: koffi.sizeof(type), ...values }, koffi.pointer(type));
}

module.exports = { room, read, argument };
