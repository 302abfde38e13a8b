/* Values of the caller's in messages. */
'use strict';
const { inspect } = require('node:util');

const MOST_CHARACTERS = 60; // of a value; the rest is dots
const SHORT = {
  depth: 0, maxArrayLength: 4, maxStringLength: MOST_CHARACTERS, breakLength: Infinity, customInspect: false,
};

function cut(text) {
  const line = text.split('\n', 1)[0].slice(0, MOST_CHARACTERS);
  return line === text ? text : `${line}...`;
}

function quoted(text) {
  return JSON.stringify(text.slice(0, MOST_CHARACTERS)) + (text.length > MOST_CHARACTERS ? '...' : '');
}

function kindOf(value) {
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/* A value and its type, so that no text is taken for the number that is in it: "3" (a string), 3n (a bigint).
 * A number, undefined and null say by themselves what they are. */
function shown(value) {
  if (typeof value === 'number' || value == null) return String(value);
  return `${typeof value === 'string' ? quoted(value) : cut(inspect(value, SHORT))} (${kindOf(value)})`;
}

module.exports = { shown };
