-- Each vector file's inputs through the friendly layer give its results: bindings/conformance/README.md.
local ffi = require "ffi"
local tpt, support, errors = require "3pt", require "support", require "errors"
local map, f64, f64s, f32, hash, u64 = support.map, support.f64, support.f64s, support.f32, support.hash, support.u64

-- ---- training ----

local function begin(training, seed)
  local run = {training = training, losses = {}, norms = {}, state = support.read_u64(training.random_state)}
  run.context = tpt.Context.create {threads = training.threads}
  run.tokenizer = tpt.Tokenizer.bytes(run.context)
  run.data = tpt.Dataset.from_tokens(run.tokenizer:encode(training.text), run.context)
  run.config = tpt.Config.parse(training.yaml)
  run.model = tpt.Model.create(run.config, support.read_u64(seed or training.seed), run.context)
  run.trainer = tpt.Trainer.create(run.model)
  run.optimizer = tpt.Optimizer.create(run.trainer)
  return run
end

local function learn(run, steps)
  for _ = 1, steps do
    local tokens, targets
    tokens, targets, run.state = run.data:random(run.state, run.training.batch, run.training.seq)
    run.trainer:zero_gradients()
    table.insert(run.losses, f64(run.trainer:accumulate(tokens, targets, run.training.batch, run.training.seq)))
    table.insert(run.norms, f64(run.optimizer:step()))
  end
  return run
end

local function train(training) return learn(begin(training), training.steps) end

local scenarios = {}

function scenarios.train(inputs)
  local run = train(inputs.training)
  local parameters = run.model:parameters()
  support.equal(#parameters, run.config:parameter_count(), "count of parameters")
  local tensors = run.model:tensors()
  return {
    tokens = run.data:count(), losses = run.losses, norms = run.norms, random_state = u64(run.state),
    step_count = u64(run.optimizer:step_count()), lr = f64(run.optimizer:lr()),
    parameter_count = run.config:parameter_count(), parameters = hash(parameters),
    gradients = hash(run.trainer:gradients()), file = support.file(run.model:save_memory()),
    tensors = tensors, first_tensor = hash(run.model:get_tensor(tensors[1].name)),
  }
end

-- ---- decoding ----

-- By hand: sample, feed.
local function continue(decoder, count)
  local ids = {}
  for i = 1, count do
    ids[i] = decoder:sample()
    decoder:feed(ids[i])
  end
  return ids
end

-- By the iterator, which must give the same.
local function streamed(decoder, options)
  local ids = {}
  for id in decoder:stream(options) do ids[#ids + 1] = id end
  return ids
end

local function sampling(inputs)
  local s = inputs.sampling
  return {temperature = tonumber(s.temperature), top_k = s.top_k, top_p = tonumber(s.top_p),
          seed = support.read_u64(s.seed)}
end

local function prompted(model, inputs, prompt)
  local decoder = tpt.Decoder.create(model)
  decoder:set_sampling(sampling(inputs))
  decoder:feed(prompt)
  return decoder
end

local STOP_AT = 8 -- of a table from 1

local function sampled(model, inputs, prompt, results)
  local decoder, copy = prompted(model, inputs, prompt), tpt.Decoder.create(model)
  decoder:copy(copy)
  results.sampled, results.copied = continue(decoder, inputs.sampled), continue(copy, inputs.sampled)
  decoder:rewind(0)
  results.resampled = streamed(decoder, {prompt = prompt, tokens = inputs.sampled})
  local other = prompted(model, inputs, prompt)
  results.generated = other:generate(inputs.sampled, results.sampled[STOP_AT]):table()
end

local function many(model, tokenizer, inputs)
  local decoders = map(inputs.prompts, function(text)
    local decoder = tpt.Decoder.create(model)
    decoder:feed(tokenizer:encode(text))
    return decoder
  end)
  return map(tpt.Decoder.feed_many(decoders, inputs.tokens, true), hash)
end

local function snapshot(model, name, prompt, count)
  local decoder = tpt.Decoder.create(name == "fold" and model:fold() or model:convert(name))
  local logits = hash(decoder:feed(prompt, true))
  return {name = name, logits = logits, greedy = continue(decoder, count)}
end

function scenarios.decode(inputs)
  local run, path = train(inputs.training), support.scratch "model.safetensors"
  run.model:save(path)
  local file = support.read(path)
  local model = tpt.Model.load(path, nil, run.context)
  local prompt, decoder = run.tokenizer:encode(inputs.prompt), tpt.Decoder.create(model)
  local results = {
    file = support.file(file), parameters = hash(model:parameters()),
    from_memory = hash(tpt.Model.load_memory(file, nil, run.context):parameters()),
    logits = f32(decoder:feed(prompt, true)), greedy = continue(decoder, inputs.greedy), position = decoder:position(),
  }
  results.greedy_text = support.hex(run.tokenizer:decode(results.greedy))
  sampled(model, inputs, prompt, results)
  results.score = f64s(tpt.Decoder.create(model):score(run.tokenizer:encode(inputs.score)))
  results.many = many(model, run.tokenizer, inputs.many)
  results.snapshots = map(inputs.snapshots, function(name) return snapshot(model, name, prompt, inputs.greedy) end)
  return results
end

-- ---- forward ----

local function dlogits_of(rule, count)
  local values = tpt.floats(count)
  for i = 0, count - 1 do values[i] = (i * rule.multiplier % rule.modulus - rule.offset) / rule.divisor end
  return values
end

function scenarios.forward(inputs)
  local config = tpt.Config.parse(inputs.yaml)
  local context = tpt.Context.create {threads = inputs.threads}
  local trainer = tpt.Trainer.create(tpt.Model.create(config, support.read_u64(inputs.seed), context))
  local results = {}
  trainer:forward(inputs.tokens, inputs.batch, inputs.seq)
  local logits = trainer:logits()
  results.logits, results.first_logits = hash(logits), {}
  local bits = f32(logits)
  for i = 1, tonumber(config:get "model.vocab_size") do results.first_logits[i] = bits[i] end
  results.activations = map(inputs.points, function(at)
    local values = trainer:activation(at.point, at.layer)
    return {point = at.point, layer = at.layer, count = #values, values = hash(values)}
  end)
  results.loss = f64(trainer:loss(inputs.targets))
  trainer:backward()
  results.gradients = hash(trainer:gradients())
  local gradient = trainer:get_gradient(inputs.tensor)
  results.gradient = {count = #gradient, values = hash(gradient)}
  trainer:zero_gradients()
  trainer:forward(inputs.tokens, inputs.batch, inputs.seq)
  local dlogits = dlogits_of(inputs.dlogits, #logits)
  trainer:backward_logits(dlogits)
  results.dlogits, results.gradients_of_logits = hash(dlogits), hash(trainer:gradients())
  return results
end

-- ---- checkpoint ----

function scenarios.checkpoint(inputs)
  local training, path = inputs.training, support.scratch "run.safetensors"
  local whole = train(training)
  local first = learn(begin(training), inputs.at)
  first.trainer:save_checkpoint(first.optimizer, path, u64(first.state))
  local second = begin(training, inputs.fresh_seed)
  local user = second.trainer:load_checkpoint(second.optimizer, path)
  local results = {
    losses = whole.losses, parameters = hash(whole.model:parameters()),
    file = support.file(support.read(path)), user = user,
    step_count = u64(second.optimizer:step_count()), lr = f64(second.optimizer:lr()),
  }
  second.state = support.read_u64(user)
  learn(second, training.steps - inputs.at)
  results.resumed_losses, results.resumed_parameters = second.losses, hash(second.model:parameters())
  return results
end

-- ---- geometry ----

local function at_point(trainer, at)
  return {
    point = at.point, layer = at.layer, phase_means = f64s(trainer:phase_means(at.point, at.layer)),
    phase_rms = f64s(trainer:phase_rms(at.point, at.layer)),
    phase_cosine = f64s(trainer:phase_cosine(at.point, at.layer)),
    dc_energy = f64s(trainer:dc_energy(at.point, at.layer)), dc = f32(trainer:dc(at.point, at.layer)),
  }
end

local function layer_of(run, layer, phases, results)
  local angles, drift = {}, run.model:drift(layer)
  for phase = 0, phases - 1 do angles[phase + 1] = f32(run.model:angles(layer, phase)) end
  for name, value in pairs(drift) do drift[name] = f64(value) end
  table.insert(results.theta, f32(run.model:theta(layer)))
  table.insert(results.angles, angles)
  table.insert(results.drift, drift)
  table.insert(results.displacement, f64(run.trainer:displacement(layer)))
end

function scenarios.geometry(inputs)
  local run, training = train(inputs.training), inputs.training
  local tokens, targets = run.data:random(run.state, training.batch, training.seq)
  run.trainer:zero_gradients()
  run.trainer:accumulate(tokens, targets, training.batch, training.seq)
  local results = {theta = {}, angles = {}, drift = {}, displacement = {}}
  results.dc_profile = f32(run.model:dc_profile(inputs.profile.first, inputs.profile.count))
  for layer = 0, tonumber(run.config:get "model.n_layers") - 1 do
    layer_of(run, layer, tonumber(run.config:get "model.n_phases"), results)
  end
  local measured, analytic = run.trainer:zero_sum()
  results.zero_sum = {measured = f64(measured), analytic = f64(analytic)}
  results.points = map(inputs.points, function(at) return at_point(run.trainer, at) end)
  return results
end

-- ---- tokenizer ----

local function make_tokenizer(how, text)
  if how.kind == "bytes" then return tpt.Tokenizer.bytes() end
  return tpt.Tokenizer[how.kind](text, how.vocab)
end

local function pieces(tokenizer, ids)
  local list, seen = {}, {}
  for i, id in ipairs(ids) do
    seen[i] = id
    list[i] = support.hex(tokenizer:decode_tail(seen, i - 1))
  end
  return list
end

local function sample_of(tokenizer, text)
  local ids = tokenizer:encode(text):table()
  return {ids = ids, text_ids = tokenizer:encode_text(text):table(), decoded = tokenizer:decode(ids),
          pieces = pieces(tokenizer, ids)}
end

local function tokenizer_of(how, inputs)
  local tokenizer, path = make_tokenizer(how, inputs.text), support.scratch "tokenizer.json"
  local format = tokenizer:format()
  local function ids_by(other) return map(inputs.samples, function(text) return other:encode(text):table() end) end
  tokenizer:save(path)
  return {
    kind = how.kind, vocab_size = tokenizer:vocab_size(), format = support.file(format),
    tokens = map(how.ids, function(id)
      local token = tokenizer:token(id)
      support.equal(tokenizer:id(token), id, "id of " .. token)
      return token
    end),
    samples = map(inputs.samples, function(text) return sample_of(tokenizer, text) end),
    parsed = ids_by(tpt.Tokenizer.parse(format)),
    saved = support.file(support.read(path)), loaded = ids_by(tpt.Tokenizer.load(path)),
  }
end

function scenarios.tokenizer(inputs)
  local special = tpt.Tokenizer.parse(inputs.special.json)
  local ids = special:encode(inputs.special.text):table()
  return {
    tokenizers = map(inputs.tokenizers, function(how) return tokenizer_of(how, inputs) end),
    special = {vocab_size = special:vocab_size(), ids = ids, decoded = special:decode(ids),
               text_ids = special:encode_text(inputs.special.text):table()},
  }
end

-- ---- config, evaluate ----

local function preset_of(name)
  local config = tpt.Config.preset(name)
  return {name = name, parameter_count = config:parameter_count(), inference = config:memory "inference",
          training = config:memory "training"}
end

local function status_of(f, ...)
  local fine, raised = pcall(f, ...)
  return fine and 0 or raised.status, raised
end

function scenarios.config(inputs)
  local config, path = tpt.Config.parse(inputs.yaml), support.scratch "model.yaml"
  for _, set in ipairs(inputs.set) do config:set(set.key, set.value) end
  local results = {presets = map(tpt.Config.preset_names(), preset_of), format = config:format()}
  support.write(path, results.format)
  results.get = map(inputs.get, function(key) return config:get(key) end)
  results.parsed, results.loaded = tpt.Config.parse(results.format):format(), tpt.Config.load(path):format()
  results.check = status_of(config.check, config)
  local broken = config:copy()
  broken:set(inputs["break"].key, inputs["break"].value)
  local status, raised = status_of(broken.check, broken)
  results.broken = {status = status, message = raised.message}
  results.unbroken = status_of(config.check, config)
  return results
end

local function evaluations(model, dataset, inputs)
  return map(inputs.max_windows, function(most)
    local found = model:evaluate(dataset, inputs.seq, most)
    return {loss = f64(found.loss), perplexity = f64(found.perplexity), tokens = u64(found.tokens)}
  end)
end

function scenarios.evaluate(inputs)
  local run, path = train(inputs.training), support.scratch "ids.u16"
  local ids = run.tokenizer:encode(inputs.text)
  local dataset = tpt.Dataset.from_tokens(ids, run.context)
  support.write(path, ffi.string(ffi.new("uint16_t[?]", #ids, ids:table()), 2 * #ids))
  local tokens, targets = dataset:window(inputs.window, inputs.seq)
  return {
    count = dataset:count(), window_count = dataset:window_count(inputs.seq),
    window = {tokens = tokens:table(), targets = targets:table()},
    evaluations = evaluations(run.model, dataset, inputs),
    from_file = evaluations(run.model, tpt.Dataset.open(path, run.context), inputs),
  }
end

scenarios.errors = errors

local tests = {}
local NAMES = {"train", "decode", "forward", "checkpoint", "geometry", "tokenizer", "config", "evaluate", "errors"}
for _, name in ipairs(NAMES) do
  table.insert(tests, {"conformance: " .. name, function()
    local vector = support.vector(name)
    support.equal(scenarios[name](vector.inputs), vector.results, name)
  end})
end
return tests
