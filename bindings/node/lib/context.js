/* Context: threads, allocator, log, progress of everything made from it. */
'use strict';
const { isAsyncFunction } = require('node:util').types;
const { Plan, callSync } = require('./call.js');
const { refuseClosed } = require('./cell.js');
const callbacks = require('./callbacks.js');
const { Handle, CELL, cellOf, newContextCell, ownContextCell } = require('./handle.js');
const { optionsOf } = require('./options.js');
const { checkReceivers } = require('./receiver.js');
const { shown } = require('./shown.js');
const structs = require('./structs.js');
const { callback, flag, int32 } = require('./values.js');

/* An exception of a log or progress function ends the call where it can, and is thrown by it. */
function guarded(calls, run, address, failed) {
  try {
    return run();
  } catch (error) {
    const call = calls.of(address);
    if (call) call.thrown = { error };
    return failed;
  }
}

/* 1 to end the call. A promise comes too late to say so. */
function answerOf(answer) {
  if (typeof answer?.then !== 'function') return answer === true ? 1 : 0;
  answer.then(undefined, () => 'the call throws already');
  throw new TypeError('progress gave a promise; a function that is not async is allowed, which gives true to end the call');
}

/* A function that allocates is in no position to throw: it has no memory, then. */
function allocatorFunctions({ allocate, release }) {
  return {
    tpt_allocator_allocate: (bytes, alignment) => {
      try {
        return Number(allocate(Number(bytes), Number(alignment)) || 0);
      } catch {
        return 0;
      }
    },
    tpt_allocator_release: (address, bytes, alignment) => {
      try {
        release(Number(address), Number(bytes), Number(alignment));
      } catch {
        // nothing can be done about it here
      }
    },
  };
}

function checkAllocator(allocator) {
  for (const name of ['allocate', 'release']) {
    const given = allocator?.[name];
    if (typeof given === 'function' && !isAsyncFunction(given)) continue;
    throw new TypeError(`allocator is ${shown(allocator)}, its ${name} ${shown(given)}; ` +
      'an object with two functions, allocate and release, neither of them async, is allowed');
  }
}

class Context extends Handle {
  static create(options) {
    const { threads, log, progress } = optionsOf(options, ['threads', 'log', 'progress']);
    const context = new Context(newContextCell());
    try {
      if (threads !== undefined) context.setThreads(threads);
      if (log != null) context.setLog(log);
      if (progress != null) context.setProgress(progress);
      return context;
    } catch (error) {
      context.close();
      throw error;
    }
  }

  /* Threads of a call, 0 for the default. Only while nothing of this context runs. */
  setThreads(threads) {
    const cell = this[CELL], wanted = int32(threads, 'threads');
    if (cell.allocator && wanted !== 1) throw new RangeError('a context with an allocator of JavaScript has 1 thread');
    callSync(new Plan('tpt_context_set_threads', [cell, wanted]));
  }

  threads() {
    const threads = new Int32Array(1);
    return callSync(new Plan('tpt_context_threads', [this[CELL], threads], () => threads[0]));
  }

  /* log(level, text), or null. An exception is thrown by the call that logged. */
  setLog(log) {
    const { calls } = this[CELL];
    this.#setFunction('tpt_context_set_log', 'tpt_log_fn', callback(log, 'log'), (level, text) => {
      guarded(calls, () => void log(level, text), 0);
    });
  }

  /* progress(done), or null; done is NaN where it is not known. true ends the call, and so does an exception. */
  setProgress(progress) {
    const { calls } = this[CELL];
    this.#setFunction('tpt_context_set_progress', 'tpt_progress_fn', callback(progress, 'progress'), (handle, done) =>
      guarded(calls, () => answerOf(progress(done)), Number(handle), 1));
  }

  #setFunction(name, kind, given, run) {
    const { functions } = this[CELL].calls;
    if (!given) {
      callSync(new Plan(name, [this[CELL], null, null, null]));
      return void functions.delete(name);
    }
    const { key, pointers } = callbacks.add({ [kind]: run, tpt_done_fn: () => callbacks.remove(key) });
    try {
      callSync(new Plan(name, [this[CELL], pointers[kind], key, pointers.tpt_done_fn]));
    } catch (error) {
      callbacks.remove(key);
      throw error;
    }
    functions.add(name);
  }

  /* allocate(bytes, alignment) gives an address, 0 where it cannot; release(address, bytes, alignment).
   * Only with 1 thread: the library's own threads would wait for the main thread, and it for them. */
  setAllocator(allocator) {
    const cell = this[CELL];
    if (this.threads() !== 1) throw new RangeError('an allocator of JavaScript needs a context with 1 thread');
    checkAllocator(allocator);
    const { key, pointers } = callbacks.add(allocatorFunctions(allocator));
    try {
      const { tpt_allocator_allocate: allocate, tpt_allocator_release: release } = pointers;
      const given = structs.argument('tpt_allocator', { user: key, allocate, release });
      callSync(new Plan('tpt_context_set_allocator', [cell, given]));
    } catch (error) {
      callbacks.remove(key);
      throw error;
    }
    if (cell.allocator) callbacks.remove(cell.allocator);
    else cell.gone.then(() => callbacks.remove(cell.allocator));
    cell.allocator = key;
    cell.calls.functions.add('tpt_context_set_allocator');
  }

  /* Ends the calls that run and those to come, until cancel(false). */
  cancel(on = true) {
    refuseClosed(this[CELL]);
    this[CELL].calls.cancel(flag(on, 'on'));
  }
}

checkReceivers(Context);

/* The context of a maker's options: the one given, or one of the object's own. */
function contextOf(options) {
  return options?.context === undefined ? ownContextCell() : cellOf(options.context, Context);
}

module.exports = { Context, contextOf };
