/* Trainer: activations and gradients of one model. Optimizer: AdamW. Together they are one handle. */
'use strict';
const { Cell } = require('./cell.js');
const { configOf } = require('./config.js');
const { Plan, both, callSync, takes, takesNoSignal } = require('./call.js');
const { Handle, CELL, cellOf, made } = require('./handle.js');
const { lentFloats } = require('./lent.js');
const { copyFloats } = require('./memory.js');
const { Model, countsOf, NO_TENSOR } = require('./model.js');
const { declared } = require('./native.js');
const { checkReceivers } = require('./receiver.js');
const values = require('./values.js');

const { TPT_E_ARGUMENT: ARGUMENT, TPT_E_NUMERIC: NUMERIC } = declared.enums.tpt_status;
const USER_ROOM = 4096; // bytes for those of a checkpoint at first

function sizesOf(trainer) {
  return trainer[CELL].parent.sizes;
}

class Trainer extends Handle {
  /* A copy of all gradients. */
  gradients() {
    return callSync(lentFloats('tpt_trainer_gradients', this[CELL]));
  }

  /* The gradients themselves, writable between calls; also after the close. */
  gradientsView() {
    return callSync(lentFloats('tpt_trainer_gradients', this[CELL], { view: true }));
  }

  /* A copy. */
  getGradient(name) {
    const copy = new Float32Array(this[CELL].counts.get(name) ?? NO_TENSOR);
    const args = [this[CELL], values.terminated(name, 'name'), copy, copy.length];
    return callSync(new Plan('tpt_trainer_get_gradient', args, () => copy));
  }

  /* A copy of the stream [B, T, D] at a point of the last forward or accumulate. */
  activation(point, layer) {
    const args = [values.int32(point, 'point'), values.size(layer, 'layer')];
    return callSync(lentFloats('tpt_trainer_activation', this[CELL], { args }));
  }

  phaseMeans(point, layer) {
    return this.#measure('tpt_geometry_phase_means', point, layer, new Float64Array(sizesOf(this).N));
  }

  phaseRms(point, layer) {
    return this.#measure('tpt_geometry_phase_rms', point, layer, new Float64Array(sizesOf(this).N));
  }

  /* N x N, row by row */
  phaseCosine(point, layer) {
    return this.#measure('tpt_geometry_phase_cosine', point, layer, new Float64Array(sizesOf(this).N ** 2));
  }

  dcEnergy(point, layer) {
    return this.#measure('tpt_geometry_dc_energy', point, layer, new Float64Array(sizesOf(this).N));
  }

  /* Of each position. */
  dc(point, layer) {
    const ask = count => this.#measure('tpt_geometry_dc', point, layer, new Float32Array(count));
    const { positions, parent } = this[CELL];
    for (let next = 0; ; next++) {
      try {
        return ask(next || positions);
      } catch (error) { // of a call that was ended the library alone knows whether its stream is there
        if (error.status !== ARGUMENT || next === parent.sizes.most) throw error;
      }
    }
  }

  #measure(name, point, layer, results) {
    const args = [this[CELL], values.int32(point, 'point'), values.size(layer, 'layer'), results, results.length];
    return callSync(new Plan(name, args, () => results));
  }

  /* { measured, analytic } */
  zeroSum() {
    const measured = new Float64Array(1), analytic = new Float64Array(1);
    return callSync(new Plan('tpt_geometry_zero_sum', [this[CELL], measured, analytic],
      () => ({ measured: measured[0], analytic: analytic[0] })));
  }

  displacement(layer) {
    const mean = new Float64Array(1);
    const args = [this[CELL], values.size(layer, 'layer'), mean];
    return callSync(new Plan('tpt_geometry_displacement', args, () => mean[0]));
  }
}

class Optimizer extends Handle {
  /* Instead of the schedule; NaN gives it back. */
  setLr(lr) {
    callSync(new Plan('tpt_optimizer_set_lr', [this[CELL], values.number(lr, 'lr')]));
  }

  lr() {
    const lr = new Float64Array(1);
    return callSync(new Plan('tpt_optimizer_lr', [this[CELL], lr], () => lr[0]));
  }

  stepCount() {
    const steps = made();
    return callSync(new Plan('tpt_optimizer_step_count', [this[CELL], steps], () => steps[0]));
  }
}

checkReceivers(Trainer);
checkReceivers(Optimizer);

both(Trainer, 'create', takes(1, 'config'), (model, options) => {
  const place = made(), parent = cellOf(model, Model), counts = countsOf(model);
  return new Plan('tpt_trainer_create', [parent, configOf(options), place], () => {
    const cell = new Cell('trainer', Number(place[0]), parent);
    return new Trainer(Object.assign(cell, { counts, positions: 1, rows: 0 }));
  });
});

both(Optimizer, 'create', takes(1, 'config'), (trainer, options) => {
  const place = made(), parent = cellOf(trainer, Trainer);
  return new Plan('tpt_optimizer_create', [parent, configOf(options), place],
    () => new Optimizer(new Cell('optimizer', Number(place[0]), parent)));
});

/* The gradients' norm before clipping. */
both(Optimizer.prototype, 'step', takesNoSignal(0), function () {
  const norm = new Float64Array(1);
  return new Plan('tpt_optimizer_step', [this[CELL], norm], () => norm[0]);
});

/* ---- steps ---- */

/* Tokens or targets [batch, seq]. */
function batchOf(given, name, batch, seq) {
  const { count, what } = values.area(batch, seq);
  return values.pointer(values.counted(values.tokens(given, name), count, name, what));
}

both(Trainer.prototype, 'forward', takes(3), function (tokens, batch, seq) {
  const cell = this[CELL];
  const args = [cell, batchOf(tokens, 'tokens', batch, seq), batch, seq];
  return new Plan('tpt_trainer_forward', args, () => {
    cell.positions = seq;
    cell.rows = batch * seq;
  });
});

/* A copy of [B, T, V]. */
both(Trainer.prototype, 'logits', takes(0), function () {
  const cell = this[CELL], place = made();
  return new Plan('tpt_trainer_logits', [cell, place],
    () => copyFloats(Number(place[0]), cell.rows * cell.parent.sizes.V));
});

/* Only the library knows whether there is a forward, and looks for it first: what does not fit is given to it as none. */
both(Trainer.prototype, 'loss', takes(1), function (given) {
  const loss = new Float64Array(1), cell = this[CELL], targets = values.tokens(given, 'targets');
  const fits = targets.length === cell.rows;
  const plan = new Plan('tpt_trainer_loss', [cell, fits ? values.pointer(targets) : null, loss], () => loss[0]);
  plan.instead = status => fits || status !== ARGUMENT ? null :
    values.miscounted(targets, cell.rows, 'targets', 'batch x seq of the last forward');
  return plan;
});

both(Trainer.prototype, 'backward', takes(0), function () {
  return new Plan('tpt_trainer_backward', [this[CELL]]);
});

both(Trainer.prototype, 'backwardLogits', takes(1), function (given) {
  const dlogits = values.floats(given, 'dlogits');
  return new Plan('tpt_trainer_backward_logits', [this[CELL], values.pointer(dlogits), dlogits.length]);
});

/* The loss. Activations can be read also where it was not finite. */
both(Trainer.prototype, 'accumulate', takes(4), function (tokens, targets, batch, seq) {
  const loss = new Float64Array(1), cell = this[CELL];
  const args = [cell, batchOf(tokens, 'tokens', batch, seq), batchOf(targets, 'targets', batch, seq), batch, seq, loss];
  const plan = new Plan('tpt_trainer_accumulate', args, () => loss[0]);
  plan.ended = status => {
    if (status === 0 || status === NUMERIC) cell.positions = seq;
  };
  return plan;
});

both(Trainer.prototype, 'zeroGradients', takes(0), function () {
  return new Plan('tpt_trainer_zero_gradients', [this[CELL]]);
});

/* ---- checkpoints ---- */

/* user: bytes or a text of the caller's own. */
both(Trainer.prototype, 'saveCheckpoint', takes(3), function (optimizer, path, user = '') {
  const own = values.bytes(user, 'user');
  const args = [this[CELL], cellOf(optimizer, Optimizer), values.path(path), values.pointer(own), own.length];
  return new Plan('tpt_checkpoint_save', args);
});

function loadPlan(cells, path, room) {
  const user = Buffer.alloc(room), size = made();
  return new Plan('tpt_checkpoint_load', [...cells, path, user, room, size], () => {
    const all = Number(size[0]);
    return all > room ? loadPlan(cells, path, all) : user.subarray(0, all);
  });
}

/* The bytes that were given to saveCheckpoint. */
both(Trainer.prototype, 'loadCheckpoint', takes(2), function (optimizer, path) {
  return loadPlan([this[CELL], cellOf(optimizer, Optimizer)], values.path(path), USER_ROOM);
});

module.exports = { Trainer, Optimizer };
