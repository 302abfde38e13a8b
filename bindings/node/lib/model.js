/* Model: weights and their description; what can be read of its geometry; its loss on a dataset. */
'use strict';
const { native } = require('./native.js');
const { Cell } = require('./cell.js');
const { Config, configOf } = require('./config.js');
const { contextOf } = require('./context.js');
const { Dataset } = require('./dataset.js');
const { Plan, both, callSync, takes } = require('./call.js');
const { Handle, CELL, cellOf, made } = require('./handle.js');
const { lentFloats } = require('./lent.js');
const { checkReceivers } = require('./receiver.js');
const structs = require('./structs.js');
const values = require('./values.js');

const PROFILE = 'embedding.dc_profile';
const NO_TENSOR = 1; // room for a name that is none: the refusal is the library's

/* Sizes that results have, by the letters of the header. They never change. */
function dimensions(address) {
  const config = native().tpt_model_config(address);
  const key = name => {
    const room = Buffer.alloc(32), length = made();
    native().tpt_config_get(config, Buffer.from(`model.${name}\0`), room, room.length, length);
    return Number(room.toString('utf8', 0, Number(length[0])));
  };
  const D = key('d_model'), N = key('n_phases');
  return { D, N, P: D / N, V: key('vocab_size'), most: key('max_seq_len') };
}

function modelAt(place, context) {
  const cell = new Cell('model', Number(place[0]), context);
  cell.sizes = dimensions(cell.address);
  return new Model(cell);
}

function make(name, args, options, ...rest) {
  const place = made(), context = contextOf(options);
  return new Plan(name, [context, ...args, ...rest, place], () => modelAt(place, context));
}

function snapshot(name, model, args) {
  const place = made(), cell = model[CELL];
  return new Plan(name, [cell, ...args, place], () => modelAt(place, cell.parent));
}

function savePlan(cell, room) {
  const data = Buffer.allocUnsafeSlow(room), length = made();
  return new Plan('tpt_model_save_memory', [cell, room ? data : null, room, length], () => {
    const all = Number(length[0]);
    return all > room ? savePlan(cell, all) : data.subarray(0, all);
  });
}

class Model extends Handle {
  /* A copy of the model's own description. */
  config() {
    const place = made(), cell = this[CELL];
    const copy = () => {
      native().tpt_config_copy(native().tpt_model_config(cell.address), place);
      return new Config(new Cell('config', Number(place[0])));
    };
    return callSync(new Plan('tpt_model_tensor_count', [cell, made()], copy));
  }

  tensorCount() {
    const count = made();
    return callSync(new Plan('tpt_model_tensor_count', [this[CELL], count], () => Number(count[0])));
  }

  /* { name, shape, offset, count } */
  tensorInfo(index) {
    const room = structs.room('tpt_tensor_info');
    return callSync(new Plan('tpt_model_tensor_info', [this[CELL], values.size(index, 'index'), room], () => {
      const { name, ndim, shape, offset, count } = structs.read('tpt_tensor_info', room);
      return { name, shape: Array.from(shape, Number).slice(0, Number(ndim)), offset: Number(offset), count: Number(count) };
    }));
  }

  tensors() {
    return Array.from({ length: this.tensorCount() }, (_, index) => this.tensorInfo(index));
  }

  /* A copy. */
  getTensor(name) {
    const copy = new Float32Array(countsOf(this).get(name) ?? NO_TENSOR);
    const args = [this[CELL], values.terminated(name, 'name'), copy, copy.length];
    return callSync(new Plan('tpt_model_get_tensor', args, () => copy));
  }

  setTensor(name, given) {
    const floats = values.floats(given, 'values');
    const args = [this[CELL], values.terminated(name, 'name'), values.pointer(floats), floats.length];
    callSync(new Plan('tpt_model_set_tensor', args));
  }

  /* A copy of all parameters. */
  parameters() {
    return callSync(lentFloats('tpt_model_parameters', this[CELL]));
  }

  /* The parameters themselves, writable between calls; also after the close. */
  parametersView() {
    return callSync(lentFloats('tpt_model_parameters', this[CELL], { view: true }));
  }

  dcProfile(first, count) {
    const profile = values.zeros(Float32Array, values.size(count, 'count'), `count, ${count},`);
    const args = [this[CELL], values.size(first, 'first'), values.pointer(profile), count];
    return callSync(new Plan('tpt_geometry_dc_profile', args, () => profile));
  }

  theta(layer) {
    return this.#angles('tpt_geometry_theta', [values.size(layer, 'layer')]);
  }

  angles(layer, phase) {
    return this.#angles('tpt_geometry_angles', [values.size(layer, 'layer'), values.size(phase, 'phase')]);
  }

  #angles(name, args) {
    const angles = new Float32Array(this[CELL].sizes.P / 2);
    return callSync(new Plan(name, [this[CELL], ...args, angles, angles.length], () => angles));
  }

  /* { start, mean, l2, max } in radians */
  drift(layer) {
    const room = structs.room('tpt_drift');
    return callSync(new Plan('tpt_geometry_drift', [this[CELL], values.size(layer, 'layer'), room], () => {
      const { start, mean, l2, max } = structs.read('tpt_drift', room);
      return { start, mean, l2, max };
    }));
  }
}

checkReceivers(Model);

/* Elements of each tensor by name. */
function countsOf(model) {
  const cell = model[CELL];
  cell.counts ??= new Map([...model.tensors().map(one => [one.name, one.count]), [PROFILE, cell.sizes.most]]);
  return cell.counts;
}

both(Model, 'create', takes(1, 'context', 'seed'), (config, options) => {
  const { seed = 0 } = options ?? {};
  return make('tpt_model_create', [cellOf(config, Config), values.uint64(seed, 'seed')], options);
});
both(Model, 'load', takes(1, 'context', 'config'), (path, options) =>
  make('tpt_model_load', [values.path(path), configOf(options)], options));
both(Model, 'loadMemory', takes(1, 'context', 'config'), (data, options) => {
  const content = values.bytes(data, 'data');
  return make('tpt_model_load_memory', [values.pointer(content), content.length, configOf(options)], options);
});
both(Model.prototype, 'save', takes(1), function (path) {
  return new Plan('tpt_model_save', [this[CELL], values.path(path)]);
});
both(Model.prototype, 'saveMemory', takes(0), function () {
  return savePlan(this[CELL], 0);
});
both(Model.prototype, 'fold', takes(0), function () {
  return snapshot('tpt_model_fold', this, []);
});
/* precision: f32, bf16, int8 */
both(Model.prototype, 'convert', takes(1), function (precision) {
  return snapshot('tpt_model_convert', this, [values.terminated(precision, 'precision')]);
});

/* { loss, perplexity, tokens } on windows of seq tokens, all or the first maxWindows. */
both(Model.prototype, 'evaluate', takes(1, 'seq', 'maxWindows', 'config'), function (dataset, options) {
  const { seq, maxWindows = 0 } = options ?? {}, room = structs.room('tpt_evaluation');
  const args = [this[CELL], configOf(options), cellOf(dataset, Dataset), values.size(seq, 'seq'),
    values.size(maxWindows, 'maxWindows'), room];
  return new Plan('tpt_evaluate', args, () => {
    const { loss, perplexity, tokens } = structs.read('tpt_evaluation', room);
    return { loss, perplexity, tokens: BigInt(tokens) };
  });
});

module.exports = { Model, countsOf, NO_TENSOR };
