/* What a method was called on. JavaScript loses it where a method is handed on without its object, and does not mind
 * one of another class, whose address the library would take for its own. */
'use strict';
const { shown } = require('./shown.js');

/* Another copy of this package has classes of its own, with the same names. */
function isOfOtherCopy(object, type) {
  return object?.constructor !== type && object?.constructor?.name === type.name;
}

function whatIsWanted(object, type) {
  const wanted = `${/^[AEIOU]/.test(type.name) ? 'an' : 'a'} ${type.name}`;
  if (!isOfOtherCopy(object, type)) return `${wanted} is wanted here, not ${shown(object)}`;
  return `${wanted} of this copy of lib3pt is wanted here, not one of another copy: the package is loaded twice`;
}

function check(object, type, name) {
  if (object instanceof type) return;
  throw new TypeError(`${name} was called without its object: ${whatIsWanted(object, type)}; write object.${name}(...), ` +
    `or hand on object.${name}.bind(object)`);
}

/* Checks at each method that the class has now. */
function checkReceivers(type) {
  for (const key of Reflect.ownKeys(type.prototype)) {
    const { value: method } = Object.getOwnPropertyDescriptor(type.prototype, key);
    if (typeof method !== 'function' || key === 'constructor') continue;
    const name = typeof key === 'symbol' ? `[${key.description}]` : key;
    const checked = function (...args) {
      check(this, type, name);
      return method.apply(this, args);
    };
    Object.defineProperty(type.prototype, key, { value: checked });
  }
}

module.exports = { check, checkReceivers, whatIsWanted };
