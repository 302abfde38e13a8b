/* What stands behind a handle object: the address, who uses it now, when it may be given back.
 *
 * A cell does not know its object, so an object that was forgotten can be collected while a call
 * still runs; cells of what it was made from are known, since a call uses these too. */
'use strict';
const { native } = require('./native.js');
const { HandleError } = require('./errors.js');
const exit = require('./exit.js');

class Cell {
  constructor(kind, address, parent = null) {
    this.kind = kind;
    this.address = address;
    this.parent = parent;
    this.context = kind === 'context' ? this : parent?.context ?? null;
    this.alone = false; // a call has it for itself
    this.users = []; // calls that use it, in words, the first to come first
    this.closed = false;
    this.owned = false; // a context that nobody has an object of
    this.destroyed = false;
    this.children = 0; // of a context: handles made from it that are not destroyed
    this.tail = Promise.resolve(); // end of the last asynchronous call that shares it
    this.views = 0; // buffers over the handle's memory that somebody can still reach
    this.view = null; // a WeakRef to the last of them
    this.idle = new Promise(resolve => (this.resolveIdle = resolve)); // closed, and no call uses it
    this.gone = new Promise(resolve => (this.resolveGone = resolve)); // given back to the library
    if (this.context && this.context !== this) this.context.children++;
    exit.opened(this);
  }

  close() {
    this.closed = true;
    this.reap();
  }

  /* Gives the handle back as soon as nobody can miss it. A context is held as long as something made
   * from it lives, since a signal needs its address; memory that is seen in place, as long as it is seen. */
  reap() {
    if (!this.closed || this.destroyed || this.users.length) return;
    this.resolveIdle();
    if (this.children || this.views) return;
    this.destroyed = true;
    exit.gone(this);
    native()[`tpt_${this.kind}_destroy`](this.address);
    this.resolveGone();
    if (!this.context || this.context === this) return;
    this.context.children--;
    this.context.reap();
  }
}

/* These change weights while others may read them. */
const WRITE_WEIGHTS = new Set(['tpt_optimizer_step', 'tpt_checkpoint_load']);

function add(uses, cell, alone) {
  uses.set(cell, alone || uses.get(cell) || false);
}

/* A trainer and its optimizers count as one handle; a decoder and a trainer read their model. */
function addWithParents(uses, name, cell, alone) {
  add(uses, cell, alone);
  for (let up = cell.parent; up; up = up.parent) {
    if (up.kind === 'trainer') add(uses, up, alone);
    else add(uses, up, up.kind === 'model' && WRITE_WEIGHTS.has(name));
  }
}

function refuseClosed(cell) {
  if (cell.closed && !cell.owned) throw new HandleError('ERR_TPT_CLOSED', `this ${cell.kind} is closed`);
}

function refuseBusy(cell, alone) {
  if (!cell.alone && !(alone && cell.users.length)) return;
  throw new HandleError('ERR_TPT_BUSY', `this ${cell.kind} is in use by ${cell.users[0]}`);
}

/* Takes what a call needs, or throws and takes nothing. */
function hold(by, uses) {
  for (const [cell, alone] of uses) refuseBusy(cell, alone);
  for (const [cell, alone] of uses) {
    if (alone) cell.alone = true;
    cell.users.push(by);
  }
}

/* What hold() took. */
function release(by, uses) {
  for (const [cell, alone] of uses) {
    if (alone) cell.alone = false;
    cell.users.splice(cell.users.lastIndexOf(by), 1);
  }
  for (const [cell] of uses) cell.reap();
}

module.exports = { Cell, addWithParents, refuseClosed, hold, release };
