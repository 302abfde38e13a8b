/* Calls of the library, on this thread or on one of Node's: guards, errors, signals. */
'use strict';
const { isMainThread } = require('node:worker_threads');
const { native, checkStack, declared } = require('./native.js');
const { Cell, addWithParents, refuseClosed, hold, release } = require('./cell.js');
const { TptError } = require('./errors.js');
const exit = require('./exit.js');
const { optionsOf } = require('./options.js');
const receiver = require('./receiver.js');
const { shown } = require('./shown.js');
const { flag } = require('./values.js');

const CANCELLED = declared.enums.tpt_status.TPT_E_CANCELLED;

/* Asynchronous calls at a time: koffi refuses more than its max_async_calls (64 or more). */
const MOST_AT_ONCE = 32;

/* What these leave after TPT_E_CANCELLED is not what was before, so they cannot be repeated. */
const NOT_REPEATED = new Set(['tpt_trainer_logits', 'tpt_trainer_loss', 'tpt_trainer_backward',
  'tpt_trainer_backward_logits', 'tpt_trainer_accumulate']);

/* One call to make. An argument that is a handle is its Cell (null for none). `done` reads the results
 * after success; where it gives a Plan, that one is carried out next (a text that needs more room).
 * more: cells in use that are no arguments of their own, each alone. `ended`, where there is one, is told of
 * every end, before anything is returned, thrown or repeated; `instead` gives the error of a status where the binding
 * knows better words than the library. A plan may be kept for a next call of the same:
 * what it uses is looked up once. */
class Plan {
  constructor(name, args, done = () => undefined, more = []) {
    this.name = name;
    this.by = `${name}: await that call first`; // whom another call is to wait for
    this.args = args;
    this.done = done;
    this.first = args[0] instanceof Cell ? args[0] : more[0] ?? null;
    this.cells = [...args.filter(argument => argument instanceof Cell), ...more];
    this.more = more;
    this.used = null; // what uses() gives
    this.ready = null; // on this thread: the function and its values
  }

  get context() {
    return this.first?.context ?? null;
  }

  /* Cells and whether each is taken alone. */
  uses() {
    return (this.used ??= this.findUses());
  }

  findUses() {
    const letters = declared.functions[this.name][2];
    const uses = new Map();
    this.args.forEach((argument, i) => {
      if (argument instanceof Cell) addWithParents(uses, this.name, argument, letters[i] === 'x');
    });
    for (const cell of this.more) addWithParents(uses, this.name, cell, true);
    return [...uses];
  }

  /* Several asynchronous calls may share the first handle; alone is one that takes it for itself. */
  takesTurns() {
    return this.first !== null && declared.functions[this.name][2][0] === 's';
  }

  repeatable() {
    return !NOT_REPEATED.has(this.name);
  }

  /* Calls the library on this thread. */
  carryOut() {
    this.ready ??= { run: native()[this.name], values: this.values() };
    return this.ready.run(...this.ready.values);
  }

  /* As koffi takes them: the address of a handle, 0 for none. */
  values() {
    const letters = declared.functions[this.name][2];
    return this.args.map((argument, i) => {
      if (argument instanceof Cell) return argument.address;
      return argument === null && letters[i] !== '-' ? 0 : argument;
    });
  }
}

function errorOf(address) {
  const length = new BigUint64Array(1), room = Buffer.alloc(512); // a message has at most 511 bytes
  native().tpt_error_of(address, room, room.length, length);
  return room.toString('utf8', 0, Number(length[0]));
}

/* What a call came to, on the caller's side. */
function finish(plan, run, status, text) {
  const value = status === 0 ? plan.done() : undefined;
  if (run.thrown) {
    value?.close?.();
    throw run.thrown.error;
  }
  if (status === 0) return value;
  throw plan.instead?.(status) ?? new TptError(status, text);
}

function take(plan) {
  const uses = plan.uses();
  try {
    for (const cell of plan.cells) refuseClosed(cell);
    hold(plan.by, uses);
  } catch (error) {
    for (const cell of plan.cells) cell.reap();
    throw error;
  }
  return uses;
}

/* ---- on this thread ---- */

function attemptSync(plan) {
  const { context } = plan;
  const run = { plan, sync: true };
  context?.calls.begin(run);
  try {
    const status = plan.carryOut();
    plan.ended?.(status);
    return finish(plan, run, status, status === 0 ? '' : native().tpt_error_message());
  } finally {
    context?.calls.end(run);
  }
}

function callSync(plan) {
  for (;;) {
    const uses = take(plan);
    let value;
    try {
      value = attemptSync(plan);
    } finally {
      release(plan.by, uses);
    }
    if (!(value instanceof Plan)) return value;
    plan = value;
  }
}

/* ---- on another thread ---- */

const gate = {
  free: MOST_AT_ONCE,
  waiting: [],
  enter() {
    if (this.free > 0) return void this.free--;
    return new Promise(resolve => this.waiting.push(resolve));
  },
  leave() {
    const next = this.waiting.shift();
    if (next) next();
    else this.free++;
  },
};

/* `values` is held by the callback until the end, so that no array is collected while C writes into it. */
function start(name, values) {
  return new Promise((resolve, reject) => {
    native()[name].async(...values, (error, status) => {
      values.length = 0;
      if (error) reject(error);
      else resolve(status);
    });
  });
}

async function onAnotherThread(plan) {
  await gate.enter();
  try {
    const status = await start(plan.name, plan.values());
    plan.ended?.(status);
    return { status, text: status === 0 || !plan.first ? '' : errorOf(plan.first.address) };
  } finally {
    gate.leave();
  }
}

/* Again where the call was ended for the sake of another one of its context. */
async function attempt(plan, signal) {
  const { calls } = plan.context;
  for (;;) {
    await calls.quiet();
    signal?.throwIfAborted();
    const run = { plan, sync: false, aborted: false, hit: false };
    const abort = () => calls.abort(run);
    signal?.addEventListener('abort', abort, { once: true });
    calls.begin(run);
    exit.began(run);
    try {
      const { status, text } = await onAnotherThread(plan);
      if (status === CANCELLED && run.aborted) throw signal.reason;
      if (status !== CANCELLED || !run.hit || run.thrown) return finish(plan, run, status, text);
    } finally {
      signal?.removeEventListener('abort', abort);
      exit.ended(run);
      calls.end(run);
    }
  }
}

/* The message of a failure is the handle's, which keeps only the last one: those that share a
 * handle go one after the other. */
async function inTurn(plan, signal) {
  if (!plan.context) return attemptSync(plan); // no decoders: a refusal, which only this thread can read
  if (!plan.takesTurns()) return attempt(plan, signal);
  const before = plan.first.tail;
  const mine = before.then(() => attempt(plan, signal));
  plan.first.tail = mine.then(() => undefined, () => undefined);
  return mine;
}

/* A worker may be terminated at any moment, and a call on another thread would then enter a JavaScript that is gone. */
function refuseInWorker(plan) {
  if (isMainThread || !plan.context?.calls.functions.size) return;
  throw new Error('in a worker, a promise of a context with a log, progress or allocator function is refused, because ' +
    'the end of the worker would crash the process: use the call that ends in Sync, or a context without functions');
}

async function call(plan, signal) {
  for (;;) {
    refuseInWorker(plan);
    const uses = take(plan);
    let value;
    try {
      signal?.throwIfAborted();
      value = await inTurn(plan, signal);
    } finally {
      release(plan.by, uses);
    }
    if (!(value instanceof Plan)) return value;
    plan = value;
  }
}

const OF_SIGNAL = ['throwIfAborted', 'addEventListener', 'removeEventListener'];

function signalOf({ signal }) {
  if (signal === undefined || OF_SIGNAL.every(name => typeof signal?.[name] === 'function')) return signal;
  throw new TypeError(`signal is ${shown(signal)}; an AbortSignal is allowed`);
}

/* Where the options of a method are among its arguments, and which there are: of a promise a signal too. */
function takes(at, ...keys) {
  return { at, keys, promiseKeys: [...keys, 'signal'] };
}

/* The same of what is too short to be ended. */
function takesNoSignal(at, ...keys) {
  return { at, keys, promiseKeys: keys };
}

/* Adds a method to a class or its prototype in two forms: NAME gives a promise, NAMESync returns the value. `kept`,
 * where there is one, gives NAMESync a plan that was made before, or null. */
function both(target, name, options, plan, kept = null) {
  const define = (key, value) => Object.defineProperty(target, key, { value, configurable: true, writable: true });
  const type = typeof target === 'function' ? null : target.constructor; // null: a maker, which needs no object
  define(name, async function (...args) {
    if (type) receiver.check(this, type, name);
    checkStack();
    const signal = signalOf(optionsOf(args[options.at], options.promiseKeys));
    return call(plan.apply(this, args), signal);
  });
  define(`${name}Sync`, function (...args) {
    if (type) receiver.check(this, type, `${name}Sync`);
    optionsOf(args[options.at], options.keys);
    return callSync(kept?.apply(this, args) ?? plan.apply(this, args));
  });
}

/* A text result: asked again where the first room was too small. */
function textPlan(name, head, { bytes = false, room = 256 } = {}) {
  flag(bytes, 'bytes');
  const buffer = Buffer.allocUnsafeSlow(room), length = new BigUint64Array(1);
  return new Plan(name, [...head, buffer, room, length], () => {
    const count = Number(length[0]);
    if (count >= room) return textPlan(name, head, { bytes, room: count + 1 });
    return bytes ? buffer.subarray(0, count) : buffer.toString('utf8', 0, count);
  });
}

module.exports = { Plan, call, callSync, both, takes, takesNoSignal, textPlan, signalOf, errorOf };
