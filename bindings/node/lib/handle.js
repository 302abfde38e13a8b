/* What all handles have: closing, and the net under those that were forgotten. */
'use strict';
const { native } = require('./native.js');
const { Cell, refuseClosed } = require('./cell.js');
const { Calls } = require('./calls.js');
const { errorOf } = require('./call.js');
const { TptError } = require('./errors.js');
const { checkReceivers, whatIsWanted } = require('./receiver.js');

const CELL = Symbol('cell');
const net = new FinalizationRegistry(cell => cell.close());

/* The first static method of a class of the library, or of what a program derives from one. */
function aMaker(type) {
  const maker = Object.getOwnPropertyNames(type).find(name => name !== 'prototype' && typeof type[name] === 'function');
  return maker ? `${type.name}.${maker}` : aMaker(Object.getPrototypeOf(type));
}

class Handle {
  constructor(cell) {
    if (!(cell instanceof Cell)) throw new TypeError(`use ${aMaker(new.target)} or another maker`);
    Object.defineProperty(this, CELL, { value: cell });
    net.register(this, cell, cell);
  }

  /* Gives the handle back, at once or when the last call on it has ended. May be called again. */
  close() {
    net.unregister(this[CELL]);
    this[CELL].close();
  }

  get closed() {
    return this[CELL].closed;
  }

  /* The text of the last call on this handle that failed; '' before. */
  lastError() {
    refuseClosed(this[CELL]);
    return errorOf(this[CELL].address);
  }

  [Symbol.dispose ?? Symbol.for('nodejs.dispose')]() {
    this.close();
  }

  async [Symbol.asyncDispose ?? Symbol.for('nodejs.asyncDispose')]() {
    this.close();
    await this[CELL].idle;
  }
}

checkReceivers(Handle);

function cellOf(handle, type) {
  if (handle instanceof type) return handle[CELL];
  throw new TypeError(whatIsWanted(handle, type));
}

/* An address that a call wrote. */
function made() {
  return new BigUint64Array(1);
}

function newContextCell() {
  const place = made();
  const status = native().tpt_context_create(place);
  if (status !== 0) throw new TptError(status, native().tpt_error_message());
  const cell = new Cell('context', Number(place[0]));
  cell.calls = new Calls(cell);
  return cell;
}

/* Where no context is given, one of the object's own, which goes with it. That way a signal ends its
 * call alone, and a failure has a handle to ask for its text. */
function ownContextCell() {
  const cell = newContextCell();
  cell.owned = cell.closed = true;
  return cell;
}

module.exports = { Handle, CELL, cellOf, made, newContextCell, ownContextCell };
