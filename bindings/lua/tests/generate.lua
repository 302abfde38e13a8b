-- Continuations in one call: the tokens of sample and feed, and nothing lost where the call ends early.
local tpt, support = require "3pt", require "support"
local raises, equal, has = support.raises, support.equal, support.has

local PROMPT, COUNT = {65, 66}, 20
local GREEDY, SAMPLED = {temperature = 0}, {temperature = 1, top_k = 200, top_p = 0.99, seed = 5}
local LONG = 1000 -- tokens that take many times as long as progress is silent

local function prompted(model, how)
  local decoder = tpt.Decoder.create(model)
  decoder:set_sampling(how)
  decoder:feed(PROMPT)
  return decoder
end

local function by_hand(decoder, count)
  local made = {}
  for i = 1, count do
    made[i] = decoder:sample()
    decoder:feed(made[i])
  end
  return made
end

-- A table of the first so many.
local function first(list, count) return {unpack(list, 1, count)} end

local function long_model(context)
  local config = tpt.Config.parse(support.TINY)
  config:set("model.d_model", 96)
  config:set("model.max_seq_len", LONG + #PROMPT)
  return tpt.Model.create(config, 1, context)
end

-- Ended as often as progress comes, with one token in peace after each end: the tokens and the number of ends.
local function in_pieces(context, decoder, progress)
  local into, ends = {}, 0
  while #into < LONG do
    context:set_progress(progress)
    if not pcall(decoder.generate, decoder, LONG - #into, nil, into) then ends = ends + 1 end
    context:set_progress(nil)
    equal(decoder:position(), #PROMPT + #into)
    if #into < LONG then decoder:generate(1, nil, into) end
  end
  return into, ends
end

return {
  {"generate: sample and feed, in one call or in several", function()
    for _, how in ipairs {GREEDY, SAMPLED} do
      local model = support.tiny()
      local wanted = by_hand(prompted(model, how), COUNT + 1)
      local following = table.remove(wanted)
      local whole, parts, into = prompted(model, how), prompted(model, how), {7}
      equal(whole:generate(COUNT, nil, into):table(), wanted)
      equal(into, {7, unpack(wanted)})
      equal(parts:generate(1):element(), "int32_t")
      equal(parts:generate(COUNT - 1):table(), {unpack(wanted, 2)})
      for _, decoder in ipairs {whole, parts} do
        equal({decoder:position(), decoder:sample()}, {#PROMPT + COUNT, following})
      end
    end
  end},
  {"generate: ends after stop", function()
    local model = support.tiny()
    local wanted, seen = by_hand(prompted(model, SAMPLED), COUNT), {}
    for i, stop in ipairs(wanted) do
      seen[stop] = seen[stop] or i
      local decoder, into = prompted(model, SAMPLED), {}
      local made = decoder:generate(COUNT, stop, into)
      equal({made:table(), into}, {first(wanted, seen[stop]), first(wanted, seen[stop])})
      equal({#made, decoder:position()}, {seen[stop], #PROMPT + seen[stop]})
    end
  end},
  {"generate: refuses in the words of the library", function()
    local decoder, into = prompted(support.tiny(), GREEDY), {}
    local function refused(...) return raises("TPT_E_ARGUMENT", decoder.generate, decoder, ...).message end
    equal(refused(31, nil, into), "count is 31; the decoder holds 2 tokens and has room for 32 (max_positions)")
    has(refused(2^53, nil, into), "count is 9007199254740992; ")
    equal(refused(0, nil, into), "count is 0; at least 1 is allowed")
    equal(refused(1, 256, into), "stop is 256; 0 to 255 (model.vocab_size less 1), or -1 for none, is allowed")
    has(refused(1, -2, into), "stop is -2; ")
    has(refused(-1), "count is -1")
    has(refused "1", "count is \"1\" (a string); ")
    has(refused(nil), "count is nil")
    has(refused(1, 0.5), "stop is 0.5")
    has(refused(1, nil, 7), "into is 7; a table is needed")
    has(refused(1, false), "stop is false (a boolean); ")
    decoder:rewind(0)
    raises("TPT_E_STATE", decoder.generate, decoder, 1, nil, into)
    equal(into, {})
  end},
  {"generate: ended before it begins, it makes nothing and goes on", function()
    local context = tpt.Context.create()
    local model = support.tiny(context)
    local wanted, decoder, into = by_hand(prompted(model, SAMPLED), COUNT), prompted(model, SAMPLED), {}
    context:cancel()
    raises("TPT_E_CANCELLED", decoder.generate, decoder, COUNT, nil, into)
    context:cancel(false)
    equal({#into, decoder:position()}, {0, #PROMPT})
    equal(decoder:generate(COUNT):table(), wanted)
  end},
  {"generate: an `into` that raises does not leave a callback's error to a later call", function()
    local context, raising = tpt.Context.create(), false
    context:set_progress(function() if raising then error("of the callback", 0) end end)
    local decoder = prompted(long_model(context), SAMPLED)
    local into = setmetatable({}, {__newindex = function() error("of the table", 0) end})
    local fine, raised = pcall(decoder.generate, decoder, 2, nil, into)
    equal({fine, raised}, {false, "of the table"})
    raising = true
    fine, raised = pcall(decoder.generate, decoder, LONG - 2, nil, into)
    equal({fine, raised}, {false, "of the callback"})
    tpt.Config.create()
  end},
  {"generate: what was made until an end is not lost", function()
    local context = tpt.Context.create {threads = 2}
    local model = long_model(context)
    local wanted = prompted(model, SAMPLED):generate(LONG):table()
    for _, progress in ipairs {function() return true end, function() error "mine" end, function() error {} end} do
      local into, ends = in_pieces(context, prompted(model, SAMPLED), progress)
      equal(into, wanted)
      assert(ends > 0, "no call was ended")
    end
  end},
}
