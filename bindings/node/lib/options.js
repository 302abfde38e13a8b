/* The options of a method: its last argument, by name. */
'use strict';
const { shown } = require('./shown.js');

/* Of any realm: its prototype is none, or one that has none itself. */
function isPlain(value) {
  if (typeof value !== 'object' || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function allowed(known) {
  if (known.length === 0) return 'no options are allowed here';
  return `a plain object is allowed, with any of ${known.join(', ')}`;
}

/* The options that were given, {} for none. What would be ignored without a word is refused. */
function optionsOf(given, known) {
  if (given === undefined) return {};
  if (!isPlain(given)) throw new TypeError(`options is ${shown(given)}; ${allowed(known)}`);
  const strange = Object.keys(given).find(key => !known.includes(key));
  if (strange !== undefined) throw new TypeError(`options has ${JSON.stringify(strange)}; ${allowed(known)}`);
  return given;
}

module.exports = { optionsOf };
