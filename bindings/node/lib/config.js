/* Config: a description. All its calls are short, so they are made at once. */
'use strict';
const { native } = require('./native.js');
const { Cell } = require('./cell.js');
const { Plan, callSync, textPlan } = require('./call.js');
const { Handle, CELL, cellOf, made } = require('./handle.js');
const { checkReceivers } = require('./receiver.js');
const { shown } = require('./shown.js');
const { bytes, int32, number, path, pointer, size, terminated } = require('./values.js');

function make(name, args) {
  const place = made();
  return callSync(new Plan(name, [...args, place], () => new Config(new Cell('config', Number(place[0])))));
}

/* Numbers, truth values and lists as YAML writes them; a text is YAML already. */
function yaml(value) {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (Array.isArray(value)) return `[${Array.from(value, (one, i) => number(one, `value[${i}]`)).join(', ')}]`;
  throw new TypeError(`value is ${shown(value)}; a text, a number, a truth value or an array of numbers is allowed`);
}

class Config extends Handle {
  static create() {
    return make('tpt_config_create', []);
  }

  static preset(name) {
    return make('tpt_config_preset', [terminated(name, 'name')]);
  }

  static presetName(index) {
    return native().tpt_config_preset_name(size(index, 'index'));
  }

  static presetNames() {
    const names = [];
    for (let name; (name = Config.presetName(names.length)) !== null; ) names.push(name);
    return names;
  }

  static load(file) {
    return make('tpt_config_load', [path(file)]);
  }

  static parse(text) {
    const content = bytes(text, 'text');
    return make('tpt_config_parse', [pointer(content), content.length]);
  }

  copy() {
    return make('tpt_config_copy', [this[CELL]]);
  }

  set(key, value) {
    callSync(new Plan('tpt_config_set', [this[CELL], terminated(key, 'key'), terminated(yaml(value), 'value')]));
    return this;
  }

  /* The value as YAML. */
  get(key) {
    return callSync(textPlan('tpt_config_get', [this[CELL], terminated(key, 'key')]));
  }

  format() {
    return callSync(textPlan('tpt_config_format', [this[CELL]], { room: 4096 }));
  }

  check() {
    callSync(new Plan('tpt_config_check', [this[CELL]]));
  }

  parameterCount() {
    return this.#count('tpt_config_parameter_count', []);
  }

  /* Bytes; use is one of MemoryUse. */
  memory(use) {
    return this.#count('tpt_config_memory', [int32(use, 'use')]);
  }

  #count(name, args) {
    const count = made();
    return callSync(new Plan(name, [this[CELL], ...args, count], () => Number(count[0])));
  }
}

checkReceivers(Config);

/* The description of a maker's options; null is the object's own. */
function configOf(options) {
  return options?.config === undefined ? null : cellOf(options.config, Config);
}

module.exports = { Config, configOf };
