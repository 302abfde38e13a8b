/* Context: threads, allocator, log, progress of everything made from it. */
'use strict';
const { Plan, callSync } = require('./call.js');
const { refuseClosed } = require('./cell.js');
const { register, registerPair, unregisterLater } = require('./callbacks.js');
const { Handle, CELL, cellOf, newContextCell, ownContextCell } = require('./handle.js');
const { optionsOf } = require('./options.js');
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

/* A function that allocates is in no position to throw: it has no memory, then. */
function allocatorFunctions({ allocate, release }) {
  return {
    allocate: register('tpt_allocator_allocate', (user, bytes, alignment) => {
      try {
        return Number(allocate(Number(bytes), Number(alignment)) || 0);
      } catch {
        return 0;
      }
    }),
    release: register('tpt_allocator_release', (user, address, bytes, alignment) => {
      try {
        release(Number(address), Number(bytes), Number(alignment));
      } catch {
        // nothing can be done about it here
      }
    }),
  };
}

class Context extends Handle {
  static create(options) {
    const { threads, log, progress } = optionsOf(options, ['threads', 'log', 'progress']);
    const context = new Context(newContextCell());
    if (threads !== undefined) context.setThreads(threads);
    if (log != null) context.setLog(log);
    if (progress != null) context.setProgress(progress);
    return context;
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
    this.#setFunction('tpt_context_set_log', 'tpt_log_fn', callback(log, 'log'), (user, level, text) => {
      guarded(calls, () => void log(level, text), 0);
    });
  }

  /* progress(done), or null; done is NaN where it is not known. true ends the call. */
  setProgress(progress) {
    const { calls } = this[CELL];
    this.#setFunction('tpt_context_set_progress', 'tpt_progress_fn', callback(progress, 'progress'), (user, handle, done) =>
      guarded(calls, () => (progress(done) === true ? 1 : 0), Number(handle), 1));
  }

  #setFunction(name, type, given, run) {
    const pair = given ? registerPair(type, run) : { run: null, done: null };
    try {
      callSync(new Plan(name, [this[CELL], pair.run, null, pair.done]));
    } catch (error) {
      if (given) unregisterLater([pair.run, pair.done]);
      throw error;
    }
    const { functions } = this[CELL].calls;
    if (given) functions.add(name);
    else functions.delete(name);
  }

  /* allocate(bytes, alignment) gives an address, 0 where it cannot; release(address, bytes, alignment).
   * Only with 1 thread: the library's own threads would wait for the main thread, and it for them. */
  setAllocator(allocator) {
    const cell = this[CELL];
    if (this.threads() !== 1) throw new RangeError('an allocator of JavaScript needs a context with 1 thread');
    for (const name of ['allocate', 'release']) {
      if (typeof allocator?.[name] === 'function') continue;
      throw new TypeError(`allocator is ${shown(allocator)}, its ${name} ${shown(allocator?.[name])}; ` +
        'an object with two functions, allocate and release, is allowed');
    }
    const functions = allocatorFunctions(allocator);
    try {
      callSync(new Plan('tpt_context_set_allocator', [cell, structs.argument('tpt_allocator', functions)]));
    } catch (error) {
      unregisterLater(Object.values(functions));
      throw error;
    }
    if (cell.allocator) unregisterLater(Object.values(cell.allocator));
    else cell.gone.then(() => unregisterLater(Object.values(cell.allocator)));
    cell.allocator = functions;
    cell.calls.functions.add('tpt_context_set_allocator');
  }

  /* Ends the calls that run and those to come, until cancel(false). */
  cancel(on = true) {
    refuseClosed(this[CELL]);
    this[CELL].calls.cancel(flag(on, 'on'));
  }
}

/* The context of a maker's options: the one given, or one of the object's own. */
function contextOf(options) {
  return options?.context === undefined ? ownContextCell() : cellOf(options.context, Context);
}

module.exports = { Context, contextOf };
