/* Values of JavaScript as the library takes them. */
'use strict';
const { fileURLToPath } = require('node:url');
const { isFloat32Array, isInt32Array, isUint8Array } = require('node:util').types;
const { shown } = require('./shown.js');

const UINT64_MAX = 0xffffffffffffffffn;

function size(value, name) {
  if (Number.isSafeInteger(value) && value >= 0) return value;
  if (Number.isSafeInteger(value)) throw new RangeError(`${name} is ${value}; it cannot be negative`);
  throw new RangeError(`${name} is ${shown(value)}; a whole number from 0 on is allowed`);
}

/* A type first: `|` throws at a BigInt, and calls what an object has. */
function isInt32(value) {
  return typeof value === 'number' && value === (value | 0);
}

function int32(value, name) {
  if (isInt32(value)) return value;
  throw new RangeError(`${name} is ${shown(value)}; a whole number of 32 bits is allowed`);
}

function number(value, name) {
  if (typeof value === 'number') return value;
  throw new TypeError(`${name} is ${shown(value)}; a number is allowed`);
}

/* Of 64 bits without a sign: a BigInt, or a number where it is exact. */
function uint64(value, name) {
  if (typeof value === 'bigint' && value >= 0n && value <= UINT64_MAX) return value;
  if (Number.isSafeInteger(value) && value >= 0) return BigInt(value);
  throw new RangeError(`${name} is ${shown(value)}; 0 to 2^64 - 1 is allowed, above 2^53 - 1 as a BigInt`);
}

function flag(value, name) {
  if (typeof value === 'boolean') return value;
  throw new TypeError(`${name} is ${shown(value)}; true or false is allowed`);
}

/* Half of a surrogate pair has no UTF-8: Buffer would put U+FFFD in its place. */
function encoded(text, name) {
  if (text.isWellFormed()) return Buffer.from(text);
  throw new TypeError(`${name} is ${shown(text)}, with half of a surrogate pair; well-formed text is allowed`);
}

/* Bytes of a text that has its length beside it. */
function bytes(value, name) {
  if (typeof value === 'string') return encoded(value, name);
  if (isUint8Array(value)) return Buffer.from(value);
  throw new TypeError(`${name} is ${shown(value)}; a text or bytes are allowed`);
}

/* Bytes of a text that ends with a NUL. */
function terminated(value, name) {
  const content = bytes(value, name);
  if (content.includes(0)) throw new TypeError(`${name} has a NUL character`);
  return Buffer.concat([content, Buffer.alloc(1)]);
}

function path(value) {
  return terminated(value instanceof URL ? fileURLToPath(value) : value, 'path');
}

/* An iterable object, else `from` would make an array of nothing, or of a text's letters. */
function list(value, name, what = 'numbers') {
  if (typeof value === 'object' && typeof value?.[Symbol.iterator] === 'function') return value;
  throw new TypeError(`${name} is ${shown(value)}; an array of ${what} is allowed`);
}

/* A copy: an asynchronous call must not see what happens to the caller's array. Not `slice`, which asks the array's
 * class what to make. */
function tokens(value, name = 'tokens') {
  if (isInt32Array(value)) return new Int32Array(value);
  return Int32Array.from(list(value, name), (token, i) => int32(token, `${name}[${i}]`));
}

function floats(value, name) {
  if (isFloat32Array(value)) return new Float32Array(value);
  return Float32Array.from(list(value, name), (one, i) => number(one, `${name}[${i}]`));
}

/* Of a program's own functions: one, or null for none. */
function callback(value, name) {
  if (typeof value === 'function' || value == null) return value;
  throw new TypeError(`${name} is ${shown(value)}; a function is allowed`);
}

/* An array that grows. What cannot would lose what was made for it. */
function growing(value, name) {
  if (!Array.isArray(value)) throw new TypeError(`${name} is ${shown(value)}; an array is allowed`);
  if (Object.isExtensible(value) && Object.getOwnPropertyDescriptor(value, 'length').writable) return value;
  throw new TypeError(`${name} is ${shown(value)}, which is frozen or sealed; an array that can grow is allowed`);
}

/* Of as many values as another argument says, else the library would read past the end. */
function counted(array, count, name, what) {
  if (array.length === count) return array;
  throw miscounted(array, count, name, what);
}

function miscounted(array, count, name, what) {
  return new RangeError(`${name} has ${array.length} values; ${what} needs ${count}`);
}

function tooMany(what, cause) {
  return new RangeError(`${what} is more than there can be`, { cause });
}

/* batch x seq: how many, and as a message names it. */
function area(batch, seq) {
  const count = size(batch, 'batch') * size(seq, 'seq'), what = `batch x seq, ${batch} x ${seq},`;
  if (!Number.isSafeInteger(count)) throw tooMany(what);
  return { count, what };
}

/* An array of zeros, of a length that the caller says. */
function zeros(type, count, what) {
  try {
    return new type(count);
  } catch (error) {
    throw tooMany(what, error);
  }
}

/* koffi passes NULL for an empty array; the library is to see an array of no elements. */
function pointer(array) {
  return array.length ? array : new array.constructor(1);
}

module.exports = {
  size, isInt32, int32, number, uint64, flag, bytes, terminated, path, list, tokens, floats, callback, growing, counted,
  miscounted, area, zeros, pointer,
};
