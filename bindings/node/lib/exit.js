/* The end of the process, or of a worker.
 *
 * While promises' calls run: Node waits for its threads, so a call is cancelled to make the wait short. One that waits
 * for a function of JavaScript would never end: then the process ends at once.
 * In a worker: nothing is collected at its end, so what is still open is closed. */
'use strict';
const { writeSync } = require('node:fs');
const { inspect } = require('node:util');
const { isMainThread } = require('node:worker_threads');
const koffi = require('koffi');

const runs = new Set(); // of promises, from begin to end
let uncaught = null; // { error }: Node shows it only after the exit listeners

function onUncaught(error) {
  if (process.listenerCount('uncaughtException') === 0) uncaught = { error };
}

/* The listeners after this one, which the end at once would skip. */
function tellTheRest(code) {
  const all = process.listeners('exit');
  for (const listener of all.slice(all.indexOf(atExit) + 1)) listener.call(process, code);
}

function endAtOnce(code) {
  const end = koffi.load(null).func('_exit', 'void', ['int']);
  try {
    tellTheRest(code);
  } finally {
    if (uncaught && code !== 0) writeSync(2, `${inspect(uncaught.error)}\n`);
    end(Number(process.exitCode ?? code));
  }
}

function atExit(code) {
  const all = new Set([...runs].map(run => run.plan.context.calls));
  for (const calls of all) calls.set(true);
  if (isMainThread && [...all].some(calls => calls.functions.size)) endAtOnce(code);
}

function began(run) {
  if (runs.size === 0) process.on('exit', atExit).on('uncaughtExceptionMonitor', onUncaught);
  runs.add(run);
}

function ended(run) {
  runs.delete(run);
  if (runs.size === 0) process.off('exit', atExit).off('uncaughtExceptionMonitor', onUncaught);
}

const open = new Set(); // cells of a worker
const lastly = []; // functions for the end of a worker, when all is closed

function closeAll() {
  for (const cell of open) cell.close();
  for (const run of lastly) run();
}

if (!isMainThread) process.on('exit', closeAll);

function opened(cell) {
  if (!isMainThread) open.add(cell);
}

function gone(cell) {
  open.delete(cell);
}

function afterClosing(run) {
  lastly.push(run);
}

module.exports = { began, ended, opened, gone, afterClosing };
