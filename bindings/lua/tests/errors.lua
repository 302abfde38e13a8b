-- The scenario `errors`: every status that a caller can provoke, with its message.
local ffi = require "ffi"
local tpt, support = require "3pt", require "support"

ffi.cdef "int posix_memalign(void **memory, size_t alignment, size_t bytes); void free(void *memory);"

local WEIGHTS, FEW, NEXT = "blocks.1.attn.q.weight", {1, 2, 3}, {2, 3, 4}

local function begin(inputs)
  local s = {}
  s.context = tpt.Context.create {threads = inputs.threads}
  s.config = tpt.Config.parse(inputs.yaml)
  s.seed = support.read_u64(inputs.seed)
  s.tokenizer = tpt.Tokenizer.bytes(s.context)
  s.dataset = tpt.Dataset.from_tokens(s.tokenizer:encode(inputs.text), s.context)
  s.model = tpt.Model.create(s.config, s.seed, s.context)
  s.trainer = tpt.Trainer.create(s.model)
  s.optimizer = tpt.Optimizer.create(s.trainer)
  s.decoder = tpt.Decoder.create(s.model)
  return s
end

-- ---- before the call ----

local function set_weights(s, value)
  local values = s.model:get_tensor(WEIGHTS)
  for i = 0, #values - 1 do values[i] = value end
  s.model:set_tensor(WEIGHTS, values)
end

local before = {
  cancel = function(s) s.context:cancel() end,
  forward = function(s) s.trainer:forward(FEW, 1, 3) end,
  loss = function(s) s.trainer:loss(NEXT) end,
  backward = function(s) s.trainer:backward() end,
  feed = function(s) s.decoder:feed {1} end,
  rewind = function(s) s.decoder:rewind(1) end,
  convert = function(s) s.model = s.model:convert "int8" end,
  fold = function(s) s.model = s.model:fold() end,
  nan = function(s) set_weights(s, 0 / 0) end,
  weights = function(s) set_weights(s, 0) end,
  spoil = function(s)
    s.context:cancel(true)
    support.raises("TPT_E_CANCELLED", s.trainer.accumulate, s.trainer, FEW, NEXT, 1, 3)
    s.context:cancel(false)
  end,
}

-- ---- the call: the object that it is on (nil: none), then what to call ----

-- An allocator that holds at most `budget` bytes at a time.
local function within(budget)
  local held, box = 0, ffi.new("void *[1]")
  return {
    allocate = function(bytes, alignment)
      if held + bytes > budget or ffi.C.posix_memalign(box, alignment, bytes) ~= 0 then return nil end
      held = held + bytes
      return box[0]
    end,
    release = function(memory, bytes)
      held = held - bytes
      ffi.C.free(memory)
    end,
  }
end

local function on(name, method, ...)
  local keys = {...}
  return function(s, case)
    local arguments = {}
    for i, key in ipairs(keys) do arguments[i] = case[key] end
    return s[name], function() s[name][method](s[name], unpack(arguments, 1, #keys)) end
  end
end

local function on_path(class)
  return function(s, case) return s.context, function() tpt[class].load(case.path, nil, s.context) end end
end

local calls = {
  check_version = function(_, c) return nil, function() tpt.check_version(c.major, c.minor, c.patch) end end,
  config_preset = function(_, c) return nil, function() tpt.Config.preset(c.preset) end end,
  config_parse = function(_, c) return nil, function() tpt.Config.parse(c.yaml) end end,
  config_load = function(_, c) return nil, function() tpt.Config.load(c.path) end end,
  config_set = on("config", "set", "key", "value"),
  config_get = on("config", "get", "key"),
  config_check = function(s, c)
    s.config:set(c.key, c.value)
    return s.config, function() s.config:check() end
  end,
  context_set_threads = on("context", "set_threads", "threads"),
  context_set_allocator = function(_, c)
    local other = tpt.Context.create {threads = 1}
    return other, function() other:set_allocator(within(c.budget)) end
  end,
  context_set_allocator_late = function(s)
    return s.context, function() s.context:set_allocator(within(math.huge)) end
  end,
  model_create_within = function(_, c)
    local other = tpt.Context.create {threads = 1, allocator = within(c.budget)}
    return other, function() tpt.Model.create(tpt.Config.preset(c.preset), 1, other) end
  end,
  model_create = function(s) return s.context, function() tpt.Model.create(s.config, s.seed, s.context) end end,
  model_load = on_path "Model",
  model_load_memory = function(s, c) return s.context, function() tpt.Model.load_memory(c.text, nil, s.context) end end,
  model_save = on("model", "save", "path"),
  model_save_memory = on("model", "save_memory"),
  model_convert = on("model", "convert", "precision"),
  model_fold = on("model", "fold"),
  model_get_tensor = on("model", "get_tensor", "tensor"),
  trainer_create = function(s) return s.model, function() tpt.Trainer.create(s.model) end end,
  trainer_forward = on("trainer", "forward", "tokens", "batch", "seq"),
  trainer_accumulate = on("trainer", "accumulate", "tokens", "targets", "batch", "seq"),
  trainer_loss = on("trainer", "loss", "targets"),
  trainer_logits = on("trainer", "logits"),
  trainer_backward = on("trainer", "backward"),
  trainer_get_gradient = on("trainer", "get_gradient", "tensor"),
  trainer_activation = on("trainer", "activation", "point", "layer"),
  optimizer_step = on("optimizer", "step"),
  optimizer_set_lr = function(s, c) return s.optimizer, function() s.optimizer:set_lr(tonumber(c.lr)) end end,
  checkpoint_save = function(s, c) return s.trainer, function() s.trainer:save_checkpoint(s.optimizer, c.path) end end,
  checkpoint_load = function(s, c) return s.trainer, function() s.trainer:load_checkpoint(s.optimizer, c.path) end end,
  decoder_create = function(s, c) return s.model, function() tpt.Decoder.create(s.model, c.max_positions) end end,
  decoder_feed = on("decoder", "feed", "tokens"),
  decoder_score = on("decoder", "score", "tokens"),
  decoder_feed_many_twice = function(s, c)
    return s.decoder, function() tpt.Decoder.feed_many({s.decoder, s.decoder}, {c.token, c.token}) end
  end,
  decoder_rewind = on("decoder", "rewind", "position"),
  decoder_set_sampling = function(s, c)
    return s.decoder, function()
      s.decoder:set_sampling {temperature = tonumber(c.temperature), top_k = c.top_k, top_p = tonumber(c.top_p),
                              seed = support.read_u64(c.seed)}
    end
  end,
  decoder_sample = on("decoder", "sample"),
  dataset_open = function(s, c) return s.context, function() tpt.Dataset.open(c.path, s.context) end end,
  dataset_from_tokens = function(s, c) return s.context, function() tpt.Dataset.from_tokens(c.tokens, s.context) end end,
  dataset_random = function(s, c) return s.dataset, function() s.dataset:random(1, c.batch, c.seq) end end,
  dataset_window = on("dataset", "window", "index", "seq"),
  dataset_window_count = on("dataset", "window_count", "seq"),
  evaluate = function(s, c) return s.model, function() s.model:evaluate(s.dataset, c.seq, c.max_windows) end end,
  tokenizer_words = function(s, c) return s.context, function() tpt.Tokenizer.words(c.text, c.vocab, s.context) end end,
  tokenizer_bpe = function(s, c) return s.context, function() tpt.Tokenizer.bpe(c.text, c.vocab, s.context) end end,
  tokenizer_load = function(s, c) return s.context, function() tpt.Tokenizer.load(c.path, s.context) end end,
  tokenizer_parse = function(s, c) return s.context, function() tpt.Tokenizer.parse(c.json, s.context) end end,
  tokenizer_decode = on("tokenizer", "decode", "ids"),
  tokenizer_id = on("tokenizer", "id", "token"),
  tokenizer_token = on("tokenizer", "token", "id"),
  geometry_dc_profile = on("model", "dc_profile", "first", "count"),
  geometry_theta = on("model", "theta", "layer"),
  geometry_drift = on("model", "drift", "layer"),
  geometry_angles = on("model", "angles", "layer", "phase"),
  geometry_phase_means = on("trainer", "phase_means", "point", "layer"),
  geometry_zero_sum = on("trainer", "zero_sum"),
}

local function result_of(inputs, case)
  local stage = begin(inputs)
  for _, step in ipairs(case.before) do before[step](stage) end
  local object, call = calls[case.call](stage, case)
  local fine, raised = pcall(call)
  if fine then error(case.name .. ": nothing was raised", 0) end
  if getmetatable(raised) ~= tpt.Error then error(case.name .. ": " .. tostring(raised), 0) end
  support.equal(raised.name, tpt.status_name(raised.status), "name")
  support.equal(tpt.error_message(), raised.message, "message of the thread")
  if object then support.equal(object:last_error(), raised.message, "message of the object") end
  for _, each in pairs(stage) do
    if type(each) == "table" then each:close() end
  end
  return {name = case.name, status = raised.status, message = raised.message}
end

return function(inputs)
  return {cases = support.map(inputs.cases, function(case) return result_of(inputs, case) end)}
end
