/* lib3pt for Node.js. */
'use strict';
const { native, useLibrary, declared } = require('./lib/native.js');
const { Plan, callSync } = require('./lib/call.js');
const { int32 } = require('./lib/values.js');

/* An enum without the prefix of its values: Status.IO, Point.BLOCK. */
function shortened(name, prefix) {
  return Object.freeze(Object.fromEntries(Object.entries(declared.enums[name])
    .map(([key, value]) => [key.replace(prefix, ''), value])));
}

exports.useLibrary = useLibrary;
exports.version = () => native().tpt_version();
exports.buildInfo = () => native().tpt_build_info();
exports.statusName = status => native().tpt_status_name(int32(status, 'status'));
/* The last failure of a call on this thread; of others an error has the text. */
exports.errorMessage = () => native().tpt_error_message();
exports.checkVersion = (major, minor, patch) =>
  callSync(new Plan('tpt_check_version', [int32(major, 'major'), int32(minor, 'minor'), int32(patch, 'patch')]));
exports.Status = shortened('tpt_status', /^TPT_(E_)?/);
exports.Point = shortened('tpt_point', /^TPT_POINT_/);
exports.MemoryUse = shortened('tpt_memory_use', /^TPT_MEMORY_/);
exports.TptError = require('./lib/errors.js').TptError;
exports.HandleError = require('./lib/errors.js').HandleError;
exports.memory = require('./lib/memory.js').memory;
exports.Context = require('./lib/context.js').Context;
exports.Config = require('./lib/config.js').Config;
exports.Model = require('./lib/model.js').Model;
exports.Trainer = require('./lib/trainer.js').Trainer;
exports.Optimizer = require('./lib/trainer.js').Optimizer;
exports.Decoder = require('./lib/decoder.js').Decoder;
exports.Dataset = require('./lib/dataset.js').Dataset;
exports.Tokenizer = require('./lib/tokenizer.js').Tokenizer;
