/* The calls that run in a context, and how a signal ends one of them.
 *
 * The library cancels all calls of a context at once. So that an abort ends its own call and no
 * other, those that are as they were before after TPT_E_CANCELLED are repeated, and while one runs
 * that is not (a backward, say) the cancel waits for its end. */
'use strict';
const { native } = require('./native.js');

class Calls {
  constructor(cell) {
    this.cell = cell;
    this.running = [];
    this.functions = new Set(); // the setters of the functions of JavaScript that this context has
    this.wanted = false; // what the user set by Context.cancel
    this.cancelling = null; // while an abort is under way: { promise, resolve }
  }

  set(on) {
    native().tpt_context_cancel(this.cell.address, on ? 1 : 0);
  }

  /* A call on this thread is not the one that an abort means: it runs as if there were none. */
  begin(run) {
    this.running.push(run);
    if (run.sync && this.cancelling) this.set(this.wanted);
  }

  end(run) {
    if (this.running.at(-1) === run) this.running.pop();
    else this.running.splice(this.running.indexOf(run), 1);
    const runs = this.running;
    if (!this.cancelling && runs.length === 0) return;
    if (this.cancelling && run.sync && !runs.some(one => one.sync)) this.set(true);
    if (this.cancelling && !runs.some(one => one.aborted)) this.stop();
    if (!this.cancelling && runs.some(one => one.aborted)) this.tryCancel();
  }

  abort(run) {
    run.aborted = true;
    this.tryCancel();
  }

  tryCancel() {
    const others = this.running.filter(run => !run.aborted && !run.sync);
    if (this.cancelling || others.some(run => !run.plan.repeatable())) return;
    for (const run of others) run.hit = true;
    this.cancelling = {};
    this.cancelling.promise = new Promise(resolve => (this.cancelling.resolve = resolve));
    this.set(true);
  }

  stop() {
    this.set(this.wanted);
    this.cancelling.resolve();
    this.cancelling = null;
  }

  /* No call begins while another one is being ended. */
  async quiet() {
    while (this.cancelling) await this.cancelling.promise;
  }

  cancel(on) {
    this.wanted = on;
    if (!this.cancelling) this.set(on);
  }

  /* The call that a callback belongs to: one on this thread, else the one with this handle. */
  of(address) {
    const runs = this.running;
    return runs.findLast(run => run.sync) ?? runs.find(run => run.plan.first.address === address) ?? runs[0];
  }
}

module.exports = { Calls };
