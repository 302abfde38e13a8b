-- Closing, collecting, borrowed arrays; nothing leaks and nothing crashes.
local ffi = require "ffi"
local tpt, support = require "3pt", require "support"
local raises, equal, has = support.raises, support.equal, support.has

local CLASSES = {"Context", "Config", "Model", "Trainer", "Optimizer", "Decoder", "Dataset", "Tokenizer"}
-- What takes no object first, or may be called on a closed one.
local OTHER = {create = true, load = true, load_memory = true, parse = true, preset = true, preset_names = true, open = true,
               from_tokens = true, bytes = true, words = true, bpe = true, feed_many = true, close = true,
               __tostring = true}

-- The least that a lost thing takes: 8 bytes for an entry of a Lua table, 32 for a block of malloc. Half of 8 a cycle is
-- allowed, for what malloc keeps of freed blocks: some KiB in all, and less with each window. A table grows by doubling,
-- so each window is twice the last: one that loses an entry a cycle grows in every window.
local SETTLING, CYCLES, WINDOWS, MOST_A_CYCLE = 500, 1000, 4, 4
local SURELY = 256 -- bytes a cycle that are a leak without a second look

local function growth(round, cycles)
  local before = support.in_use()
  for _ = 1, cycles do round() end
  return support.in_use() - before
end

-- A leak grows in every window.
local function stays_flat(round)
  local cycles, grown = CYCLES, {}
  growth(round, SETTLING)
  for i = 1, WINDOWS do
    grown[i] = growth(round, cycles)
    if grown[i] <= MOST_A_CYCLE * cycles then return end
    if grown[i] > SURELY * cycles then break end
    cycles = 2 * cycles
  end
  error(("grew by %s bytes in windows of %d cycles and twice as many each: %d a cycle are allowed"):format(
    table.concat(grown, ", "), CYCLES, MOST_A_CYCLE), 0)
end

local function work(all)
  all.trainer:accumulate({1, 2}, {2, 3}, 1, 2)
  all.optimizer:step()
  all.decoder:feed({1, 2}, true)
  pcall(all.decoder.feed, all.decoder, {256})
end

local function collect()
  collectgarbage()
  collectgarbage()
end

local lost = {}

return {
  {"objects: those of another load of the file are named", function()
    local own = package.loaded["3pt"]
    package.loaded["3pt"] = nil
    local other = require "3pt"
    package.loaded["3pt"] = own
    local model = support.tiny()
    local fine, raised = pcall(other.Decoder.create, model)
    equal({fine, raised.name}, {false, "TPT_E_ARGUMENT"})
    has(raised.message, "of another copy of 3pt.lua, which is loaded twice; a model of this one is needed")
  end},
  {"memory: the least leaks are seen", function()
    for _, leak in ipairs {function() ffi.C.malloc(1) end, function() lost[#lost + 1] = true end} do
      local fine, why = pcall(stays_flat, leak)
      if type(why) == "table" then error(why, 0) end
      has(not fine and why or "no growth", "a cycle are allowed")
    end
    lost = nil
  end},
  {"memory: 1,000 cycles of everything, closed", function()
    stays_flat(function()
      local all = support.everything()
      work(all)
      support.close_all(all)
    end)
  end},
  {"memory: 1,000 cycles of everything, left to the collector", function()
    local rounds = 0
    stays_flat(function()
      work(support.everything())
      rounds = rounds + 1
      if rounds % 20 == 0 then collect() end
    end)
  end},
  {"memory: 1,000 cycles with log, progress and an error", function()
    stays_flat(function()
      local context = tpt.Context.create {threads = 1, log = function() end, progress = function() end}
      support.tiny(context):close()
      context:set_log(function() end)
      context:set_progress(nil)
      context:close()
      pcall(tpt.Config.parse, "model: [")
    end)
  end},
  {"close: again and again is nothing", function()
    local all = support.everything()
    for _ = 1, 3 do support.close_all(all) end
    has(tostring(all.model), "3pt.Model (closed)")
    equal(tostring(tpt.Config.create()), "3pt.Config")
  end},
  {"close: every method of every class is an error afterwards", function()
    local all, tried = support.everything(), 0
    support.close_all(all)
    for _, name in ipairs(CLASSES) do
      local object = all[name:lower()]
      for method, f in pairs(tpt[name]) do
        if type(f) == "function" and not OTHER[method] then
          local raised = raises("TPT_E_STATE", f, object, object, object, object, object)
          equal(raised.message, "the " .. name:lower() .. " is closed", name .. "." .. method)
          tried = tried + 1
        end
      end
    end
    assert(tried > 60, tried)
  end},
  {"close: a closed argument is an error", function()
    local all, open = support.everything(), support.everything()
    support.close_all(all)
    raises("TPT_E_STATE", tpt.Model.create, all.config, 1)
    raises("TPT_E_STATE", tpt.Model.create, open.config, 1, all.context)
    raises("TPT_E_STATE", tpt.Trainer.create, all.model)
    raises("TPT_E_STATE", tpt.Optimizer.create, all.trainer)
    raises("TPT_E_STATE", tpt.Decoder.create, all.model)
    raises("TPT_E_STATE", tpt.Decoder.feed_many, {open.decoder, all.decoder}, {1, 1})
    raises("TPT_E_STATE", open.decoder.copy, open.decoder, all.decoder)
    raises("TPT_E_STATE", open.model.evaluate, open.model, all.dataset, 4)
    raises("TPT_E_STATE", open.trainer.save_checkpoint, open.trainer, all.optimizer, "x")
    raises("TPT_E_STATE", function()
      for _ in open.decoder:stream {prompt = "a", tokenizer = all.tokenizer} do end
    end)
  end},
  {"close: a copy of an object is closed with it", function()
    local all = support.everything()
    for _, object in pairs(all) do
      local copy = {}
      for key, value in pairs(object) do copy[key] = value end
      setmetatable(copy, getmetatable(object))
      equal(copy:last_error(), "")
      object:close()
      has(tostring(copy), "(closed)")
      raises("TPT_E_STATE", copy.last_error, copy)
      copy:close()
    end
    raises("TPT_E_ARGUMENT", tpt.Model.tensor_count, setmetatable({}, tpt.Model))
    raises("TPT_E_ARGUMENT", tpt.Model.tensor_count, setmetatable({state = all.decoder.state}, tpt.Model))
  end},
  {"close: while an argument is read", function()
    local function closing(object)
      return support.read_by(function()
        object:close()
        return 1
      end)
    end
    local function closed(f, ...) has(raises("TPT_E_STATE", f, ...).message, "is closed") end
    local all = support.everything()
    closed(all.decoder.feed, all.decoder, closing(all.decoder))
    all = support.everything()
    closed(all.decoder.score, all.decoder, closing(all.decoder))
    all = support.everything()
    closed(tpt.Decoder.feed_many, {all.decoder, all.decoder, all.decoder, all.decoder, all.decoder, all.decoder},
           closing(all.decoder))
    all = support.everything()
    closed(all.trainer.forward, all.trainer, closing(all.trainer), 1, 6)
    all = support.everything()
    all.trainer:forward({1, 2, 3, 4, 5, 6}, 1, 6)
    closed(all.trainer.loss, all.trainer, closing(all.trainer))
    all = support.everything()
    closed(all.tokenizer.decode, all.tokenizer, closing(all.tokenizer))
  end},
  {"close: parents before children", function()
    local all = support.everything()
    all.context:close()
    all.config:close()
    all.model:close()
    work(all)
    all.trainer:close()
    all.optimizer:step()
    support.close_all(all)
  end},
  {"collect: a child keeps what it was made from", function()
    local d = support.everything().decoder
    local optimizer = support.everything().optimizer
    collect()
    d:feed {1, 2, 3}
    optimizer:step()
    equal(d:position(), 3)
  end},
  {"borrowed: logits end with the next call on their decoder", function()
    local d = support.everything().decoder
    local logits = d:feed(1, true)
    local copy, first = logits:copy(), logits[0]
    d:feed(2)
    for _, use in ipairs {function() return logits[0] end, function() logits[0] = 1 end, function() logits:table() end,
                          function() logits:copy() end, function() logits:pointer() end} do
      has(raises("TPT_E_STATE", use).message, "has ended")
    end
    raises("TPT_E_STATE", tpt.floats, logits)
    equal(copy[0], first)
  end},
  {"borrowed: activations end with the next call on the trainer or its optimizer", function()
    local all = support.everything()
    local function stream()
      all.trainer:forward({1, 2}, 1, 2)
      return all.trainer:activation("block", 1)
    end
    local values = stream()
    all.trainer:zero_gradients()
    raises("TPT_E_STATE", function() return values[0] end)
    values = stream()
    all.optimizer:step()
    raises("TPT_E_STATE", function() return values[0] end)
    all.trainer:forward({1, 2}, 1, 2)
    local logits = all.trainer:logits()
    equal(#logits, 2 * 256)
    all.trainer:loss {2, 3}
    raises("TPT_E_STATE", function() return logits[0] end)
  end},
  {"borrowed: parameters and gradients end with the close, not before", function()
    local all = support.everything()
    local parameters, gradients = all.model:parameters(), all.trainer:gradients()
    work(all)
    assert(gradients[0] == gradients[0] and parameters[0] == parameters[0])
    all.model:close()
    all.trainer:close()
    raises("TPT_E_STATE", function() return parameters[0] end)
    raises("TPT_E_STATE", function() gradients[0] = 1 end)
  end},
  {"borrowed: an array keeps its owner", function()
    local parameters = support.everything().model:parameters()
    local logits = support.everything().decoder:feed({1, 2, 3}, true)
    local wanted = logits:table()
    for _ = 1, 20 do
      support.everything()
      collect()
    end
    equal(logits:table(), wanted)
    assert(#parameters == #parameters:table())
  end},
  {"exit: objects that nobody closed", function()
    local said, fine = support.run [[luajit -e '
      local tpt = require "3pt"
      local context = tpt.Context.create {threads = 2, log = function() end, progress = function() end}
      model = tpt.Model.create(tpt.Config.parse "model: {d_model: 24, d_ff: 24, n_q_heads: 3, n_kv_heads: 3, n_layers: 1}",
                               1, context)
      decoder = tpt.Decoder.create(model)
      logits = decoder:feed(1, true)
      io.write "end"']]
    equal(said, "end")
    assert(fine)
  end},
  {"two coroutines: a decoder each over one model", function()
    local model, bytes = support.tiny(), tpt.Tokenizer.bytes()
    local function ids_of(seed, pause)
      local d, ids = tpt.Decoder.create(model), {}
      d:set_sampling {temperature = 1, seed = seed}
      for id in d:stream {prompt = "Three", tokenizer = bytes, tokens = 20} do
        ids[#ids + 1] = id
        pause(seed)
      end
      return ids
    end
    local wanted = {ids_of(1, function() end), ids_of(2, function() end)}
    local got, switches, last = {}, 0, nil
    local running = {}
    for seed = 1, 2 do
      running[seed] = coroutine.create(function() got[seed] = ids_of(seed, coroutine.yield) end)
    end
    while not (got[1] and got[2]) do
      for _, each in ipairs(running) do
        if coroutine.status(each) ~= "dead" then
          local fine, seed = coroutine.resume(each)
          assert(fine, seed)
          if seed ~= last then switches, last = switches + 1, seed end
        end
      end
    end
    equal(got, wanted)
    assert(switches >= 40, switches)
  end},
  {"two threads: a decoder each over one model", function()
    support.skip "LuaJIT has no threads: a state is one thread's, and objects do not go from one state to another"
  end},
  {"module: loading the file again is a second module", function()
    local again = dofile(support.environment "LIB3PT_LUA" .. "/3pt.lua")
    assert(again ~= tpt and again.version() == tpt.version())
    raises("TPT_E_ARGUMENT", tpt.Trainer.create, again.Model.create(again.Config.parse(support.TINY), 1))
  end},
  {"module: loading the file 500 times shares the callbacks", function()
    local path, lines = support.environment "LIB3PT_LUA" .. "/3pt.lua", 0
    local context = tpt.Context.create {threads = 1, log = function() lines = lines + 1 end}
    for _ = 1, 500 do
      local again = dofile(path)
      local made = again.Context.create {threads = 1, log = function() lines = lines + 1 end}
      made:close()
    end
    support.tiny(context)
    equal(lines, 1)
  end},
  {"arrays: nothing of them is the collector's too early", function()
    local list = {}
    for i = 1, 200 do list[i] = tpt.int32s {i, i + 1} end
    collect()
    for _ = 1, 200 do ffi.new("int32_t[64]") end
    for i = 1, 200 do equal(list[i]:table(), {i, i + 1}) end
  end},
}
