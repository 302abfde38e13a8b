-- What goes in and comes out: arrays, numbers, texts, errors, the iterator.
local ffi = require "ffi"
local tpt, support = require "3pt", require "support"
local raises, equal, has = support.raises, support.equal, support.has

local function decoder() return tpt.Decoder.create(support.tiny()) end

local function logits_after(tokens) return support.hash(decoder():feed(tokens, true)) end

local GOOD_BYTES = "Three phases"

local tests = {
  {"tokens: a table, an array of ours, C arrays and single numbers are the same", function()
    local wanted, one_by_one = logits_after {84, 104, 114}, decoder()
    equal(logits_after(tpt.int32s {84, 104, 114}), wanted)
    equal(logits_after(ffi.new("int32_t[3]", {84, 104, 114})), wanted)
    equal(logits_after(ffi.new("int32_t[?]", 3, {84, 104, 114})), wanted)
    equal(logits_after(ffi.new("const int32_t[3]", {84, 104, 114})), wanted)
    for _, token in ipairs {84, 104} do one_by_one:feed(token) end
    equal(one_by_one:position(), 2)
    equal(#one_by_one:feed(114, true), 256)
  end},
  {"tokens: what is no array of whole 32-bit numbers is an error that says so", function()
    local d = decoder()
    has(raises("TPT_E_ARGUMENT", d.feed, d, {1, 2.5}).message, "tokens[1] is 2.5")
    has(raises("TPT_E_ARGUMENT", d.feed, d, {2^31}).message, "tokens[0] is 2147483648")
    has(raises("TPT_E_ARGUMENT", d.feed, d, {"1"}).message, "tokens[0] is \"1\" (a string); ")
    raises("TPT_E_ARGUMENT", d.feed, d, {0 / 0})
    raises("TPT_E_ARGUMENT", d.feed, d, "Three")
    raises("TPT_E_ARGUMENT", d.feed, d, nil)
    raises("TPT_E_ARGUMENT", d.feed, d, ffi.new("float[3]"))
    raises("TPT_E_ARGUMENT", d.feed, d, ffi.new("uint32_t[3]"))
    raises("TPT_E_ARGUMENT", d.feed, d, tpt.floats {1, 2})
    has(raises("TPT_E_ARGUMENT", d.feed, d, ffi.cast("int32_t *", nil)).message, "a C array of int32_t is needed")
    equal(d:position(), 0)
  end},
  {"counts: an array that is too short or too long is not handed to C", function()
    local all = support.everything()
    has(raises("TPT_E_ARGUMENT", all.trainer.forward, all.trainer, {1, 2, 3}, 2, 2).message,
        "tokens has 3 values; batch x seq, 2 x 2, needs 4")
    raises("TPT_E_ARGUMENT", all.trainer.accumulate, all.trainer, {1, 2}, {1}, 1, 2)
    all.trainer:forward({1, 2}, 1, 2)
    raises("TPT_E_ARGUMENT", all.trainer.loss, all.trainer, {1, 2, 3})
    raises("TPT_E_ARGUMENT", tpt.Decoder.feed_many, {all.decoder}, {1, 2})
  end},
  {"counts: a trainer's targets go by the forward that C has, whatever was refused since", function()
    local all = support.everything()
    local t = all.trainer
    for _, refused in ipairs {
      function() t:load_checkpoint(all.optimizer, "none") end,
      function() t:forward({999, 1, 1}, 1, 3) end,
      function() t:forward({1}, 1, 3) end,
      function() t:accumulate({1, 2}, {1, 999}, 1, 2) end,
    } do
      t:forward({1, 2, 3}, 1, 3)
      assert(not pcall(refused))
      equal(#t:logits(), 3 * 256)
      equal(#t:dc("embedding", 0), 3)
      equal(raises("TPT_E_ARGUMENT", t.loss, t, {2}).message, "targets has 1 values; the last forward needs 3")
      t:loss {2, 3, 4}
    end
    local growing = support.read_by(function()
      t:forward({1, 2, 3, 4, 5}, 1, 5)
      return 2
    end)
    has(raises("TPT_E_ARGUMENT", t.loss, t, growing).message, "the last forward needs 5")
    all.context:cancel()
    raises("TPT_E_CANCELLED", t.forward, t, {1, 2, 3}, 1, 3)
    all.context:cancel(false)
    for _, count in ipairs {1, 3, 5} do raises("TPT_E_STATE", t.loss, t, tpt.int32s(count)) end
    raises("TPT_E_STATE", t.logits, t)
    t:accumulate({1, 2}, {2, 3}, 1, 2)
    raises("TPT_E_STATE", t.loss, t, {2})
  end},
  {"tables: an object of 3pt, and a table without [1], are no arrays", function()
    local all = support.everything()
    has(raises("TPT_E_ARGUMENT", tpt.Dataset.from_tokens, all.model).message, "tokens is 3pt.Model (a table); ")
    has(raises("TPT_E_ARGUMENT", tpt.Dataset.from_tokens, {[0] = 1}).message, "tokens has 0, but no [1]")
    for _, gaps in ipairs {{1, nil, 3}, {1, 2, nil, nil, 5}} do
      local said = raises("TPT_E_ARGUMENT", tpt.Dataset.from_tokens, gaps).message
      assert(said:find "but no %[%d%]; a table without gaps is needed" or said:find "tokens%[%d%] is nil", said)
    end
    equal(tpt.Dataset.from_tokens({1, 2, n = 2}):window_count(1), 1)
    raises("TPT_E_ARGUMENT", all.decoder.generate, all.decoder, 1, nil, all.model)
    raises("TPT_E_ARGUMENT", tpt.Decoder.feed_many, all.decoder, {})
    equal(tpt.Dataset.from_tokens({}):count(), 0)
  end},
  {"numbers: negative, broken and huge ones are errors", function()
    local all = support.everything()
    raises("TPT_E_ARGUMENT", all.decoder.rewind, all.decoder, -1)
    raises("TPT_E_ARGUMENT", all.decoder.rewind, all.decoder, 0.5)
    raises("TPT_E_ARGUMENT", all.decoder.rewind, all.decoder, 1e300)
    raises("TPT_E_ARGUMENT", all.decoder.rewind, all.decoder, "0")
    raises("TPT_E_ARGUMENT", all.context.set_threads, all.context, 2^31)
    raises("TPT_E_ARGUMENT", all.optimizer.set_lr, all.optimizer, "fast")
    for _, name in ipairs {"middle", true, false} do
      has(raises("TPT_E_ARGUMENT", all.trainer.activation, all.trainer, name, 0).message,
          "embedding, attention, rotation, block are allowed")
    end
    has(raises("TPT_E_ARGUMENT", all.config.memory, all.config, "gaming").message, "inference, training are allowed")
    raises("TPT_E_ARGUMENT", all.config.memory, all.config, nil)
    has(raises("TPT_E_ARGUMENT", all.trainer.forward, all.trainer, {1}, 2^53, 2^53).message,
        "batch x seq, 9007199254740992 x 9007199254740992, is more than there can be")
    has(raises("TPT_E_ARGUMENT", all.trainer.forward, all.trainer, {1}, -1, 1).message, "batch is -1; it cannot be negative")
  end},
  {"numbers: what the dataset has not costs no room, and memory that there is not is an error of ours", function()
    local many = 2^28
    local data = tpt.Dataset.from_tokens {1, 2, 3}
    has(raises("TPT_E_ARGUMENT", data.window, data, 0, many).message, "a window of seq 268435456 needs 268435457")
    has(raises("TPT_E_ARGUMENT", data.random, data, 1, 2, many).message, "a window of seq 268435456 needs 268435457")
    local said, fine = support.run("ulimit -v 800000; luajit -e 'local tpt = require \"3pt\"; tpt.load() "
      .. "local fine, e = pcall(tpt.int32s, 2^28) print(fine, e.name, e.message)'")
    assert(fine, said)
    has(said, "false\tTPT_E_MEMORY\tno array of 268435456 int32_t: ")
  end},
  {"messages: a value is shown with its type", function()
    local d = decoder()
    local wrong = {
      {"3", '"3" (a string)'}, {3LL, "3LL (a cdata of int64_t)"}, {3ULL, "3ULL (a cdata of uint64_t)"},
      {true, "true (a boolean)"}, {false, "false (a boolean)"}, {1.5, "1.5"}, {{3}, "a table"}, {print, "a function"}, {io.stdout, "a userdata"},
      {coroutine.create(print), "a thread"}, {d, "3pt.Decoder (a table)"}, {tpt.int32s {3}, "an array of int32_t"},
      {ffi.new "float[3]", "a cdata of float [3]"}, {"a\nb%s", '"a\\nb%s" (a string)'},
      {("x"):rep(99), '"' .. ("x"):rep(60) .. '"... (a string)'},
      {setmetatable({}, {__tostring = error}), "a table"},
    }
    for _, case in ipairs(wrong) do
      local value, said = case[1], case[2]
      equal(raises("TPT_E_ARGUMENT", d.generate, d, value).message,
            ("count is %s; a whole number from 0 to 9007199254740992 is needed"):format(said))
    end
    has(raises("TPT_E_ARGUMENT", d.generate, d).message, "count is nil; ")
  end},
  {"messages: every function shows a value of a wrong type", function()
    local all, wrong = support.everything(), "7"
    local function m(name, object, method, ...)
      local message = raises("TPT_E_ARGUMENT", all[object][method], all[object], ...).message
      has(message, name .. ' is "7" (a string); ')
    end
    local function f(name, call, ...)
      has(raises("TPT_E_ARGUMENT", call, ...).message, name .. ' is "7" (a string); ')
    end
    local function says(part, call, ...) has(raises("TPT_E_ARGUMENT", call, ...).message, part) end
    f("status", tpt.status_name, wrong)
    f("minor", tpt.check_version, 1, wrong, 0)
    f("seed", tpt.Model.create, all.config, wrong)
    f("config", tpt.Model.create, wrong, 1)
    f("context", tpt.Model.create, all.config, 1, wrong)
    f("max_positions", tpt.Decoder.create, all.model, wrong)
    f("decoders", tpt.Decoder.feed_many, wrong, {1})
    f("decoders[0]", tpt.Decoder.feed_many, {wrong}, {1})
    f("vocab", tpt.Tokenizer.words, "a", wrong)
    f("values", tpt.floats, wrong)
    m("threads", "context", "set_threads", wrong)
    m("log", "context", "set_log", wrong)
    m("progress", "context", "set_progress", wrong)
    m("allocator", "context", "set_allocator", wrong)
    m("use", "config", "memory", wrong)
    m("max_windows", "model", "evaluate", all.dataset, 1, wrong)
    m("point", "trainer", "activation", wrong, 0)
    m("tokens", "trainer", "forward", wrong, 1, 1)
    m("lr", "optimizer", "set_lr", wrong)
    m("temperature", "decoder", "set_sampling", {temperature = wrong})
    m("tokens", "decoder", "stream", {prompt = {1}, tokens = wrong})
    m("stop", "decoder", "stream", {prompt = {1}, stop = wrong})
    m("tokenizer", "decoder", "stream", {prompt = {1}, tokenizer = wrong})
    local null = ffi.cast("int32_t *", nil)
    says("context is a cdata of int *; a context is needed", tpt.Model.create, all.config, 1, null)
    says("into is a cdata of int *; a table is needed", all.decoder.generate, all.decoder, 1, nil, null)
    says("max_positions is a cdata of int *; ", tpt.Decoder.create, all.model, null)
    says("progress is a cdata of int *; ", all.context.set_progress, all.context, null)
    says('value is "7" (a string); ', function() tpt.int32s(1)[0] = wrong end)
    says("value is 2147483648; ", function() tpt.int32s(1)[0] = 2^31 end)
    says("value is nil; ", function() tpt.floats(1)[0] = nil end)
    says('allocate is "7" (a string) and release nil; ', all.context.set_allocator, all.context, {allocate = wrong})
    says("optimizer is nil; an optimizer is needed", all.trainer.save_checkpoint, all.trainer, nil, "a")
    says("user is 7; ", all.trainer.save_checkpoint, all.trainer, all.optimizer, "a", 7)
    says("text is 7; ", tpt.Tokenizer.encode, tpt.Tokenizer.bytes(), 7)
    says("path is a table; ", tpt.load, {})
    says('no field "a" (a string)', function() tpt.floats(1).a = 1 end)
  end},
  {"options: a name that is not known is an error that has those that are", function()
    local all, d = support.everything(), decoder()
    local function refused(names, f, ...)
      equal(raises("TPT_E_ARGUMENT", f, ...).message,
            'options has "stopp" (a string); a table is allowed, with any of ' .. names)
    end
    refused("temperature, top_k, top_p, seed", d.set_sampling, d, {temperature = 1, stopp = 5})
    refused("prompt, tokenizer, tokens, stop", d.stream, d, {stopp = 5})
    refused("threads, allocator, log, progress", tpt.Context.create, {threads = 1, stopp = 5})
    has(raises("TPT_E_ARGUMENT", d.stream, d, {5}).message, "options has 1; ")
    has(raises("TPT_E_ARGUMENT", tpt.Context.create, all.context).message, "options has ")
  end},
  {"options: what is no table is an error", function()
    for _, options in ipairs {"a", 1, true} do
      raises("TPT_E_ARGUMENT", tpt.Context.create, options)
      local d, all = decoder(), support.everything()
      raises("TPT_E_ARGUMENT", d.set_sampling, d, options)
      raises("TPT_E_ARGUMENT", d.stream, d, options)
      raises("TPT_E_ARGUMENT", all.context.set_allocator, all.context, options)
    end
    raises("TPT_E_ARGUMENT", decoder().set_sampling, decoder(), nil)
  end},
  {"arrays: more than can be is an error, wherever a count makes one", function()
    local all = support.everything()
    for _, count in ipairs {2^31, 2^52} do
      raises("TPT_E_ARGUMENT", tpt.int32s, count)
      raises("TPT_E_ARGUMENT", tpt.doubles, count)
      raises("TPT_E_ARGUMENT", all.dataset.random, all.dataset, 1, count, count)
      raises("TPT_E_ARGUMENT", all.dataset.window, all.dataset, 0, count)
      raises("TPT_E_ARGUMENT", all.model.dc_profile, all.model, 0, count)
    end
  end},
  {"uint64: numbers and cdata go in, cdata comes out", function()
    local all, most = support.everything(), 0xffffffffffffffffULL
    local _, _, state = all.dataset:random(1, 1, 2)
    assert(ffi.istype("uint64_t", state))
    equal(support.u64(select(3, all.dataset:random(1ULL, 1, 2))), support.u64(state))
    equal(support.u64(select(3, all.dataset:random(1LL, 1, 2))), support.u64(state))
    assert(ffi.istype("uint64_t", all.optimizer:step_count()))
    tpt.Model.create(all.config, most)
    raises("TPT_E_ARGUMENT", tpt.Model.create, all.config, -1)
    raises("TPT_E_ARGUMENT", tpt.Model.create, all.config, -1LL)
    raises("TPT_E_ARGUMENT", tpt.Model.create, all.config, 2^53 + 2)
    raises("TPT_E_ARGUMENT", tpt.Model.create, all.config, "1")
  end},
  {"texts: a NUL is data where there is a length, an error where C would stop at it", function()
    local bytes = tpt.Tokenizer.bytes()
    equal(bytes:encode("a\0b"):table(), {97, 0, 98})
    equal(bytes:decode {97, 0, 98}, "a\0b")
    has(raises("TPT_E_ARGUMENT", bytes.save, bytes, "a\0b").message, "path has a NUL byte")
    raises("TPT_E_ARGUMENT", bytes.encode, bytes, 7)
    raises("TPT_E_ARGUMENT", bytes.save, bytes, nil)
  end},
  {"texts: longer than the first room", function()
    local bytes, long = tpt.Tokenizer.bytes(), ("three phases "):rep(2000)
    equal(bytes:decode(bytes:encode(long)), long)
    for _, length in ipairs {4094, 4095, 4096, 4097} do
      equal(bytes:decode(bytes:encode(("x"):rep(length))), ("x"):rep(length))
    end
    local all, path = support.everything(), support.scratch "long.safetensors"
    all.trainer:save_checkpoint(all.optimizer, path, long)
    equal(all.trainer:load_checkpoint(all.optimizer, path), long)
  end},
  {"encode: more ids than the text has bytes is asked for again", function()
    -- The normalizer writes each a as four words.
    local json = [[{"version": "1.0", "truncation": null, "padding": null, "added_tokens": [],
      "normalizer": {"type": "Replace", "pattern": {"String": "a"}, "content": "b b b b "},
      "pre_tokenizer": {"type": "Whitespace"}, "post_processor": null, "decoder": null,
      "model": {"type": "WordLevel", "vocab": {"<unk>": 0, "b": 1}, "unk_token": "<unk>"}}]]
    equal(tpt.Tokenizer.parse(json):encode("aaa"):table(), {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1})
  end},
  {"arrays: length, index from 0, bounds, table, copy, writing", function()
    local a = tpt.doubles {1.5, 2.5}
    equal(#a, 2)
    equal({a[0], a[1]}, {1.5, 2.5})
    a[1] = 4
    local copy = a:copy()
    a[0] = 0
    equal(copy:table(), {1.5, 4})
    equal({a:element(), tpt.int32s(0):element(), #tpt.int32s(0)}, {"double", "int32_t", 0})
    for _, index in ipairs {-1, 2, 0.5, 0 / 0} do
      has(raises("TPT_E_ARGUMENT", function() return a[index] end).message, "of an array of 2")
      raises("TPT_E_ARGUMENT", function() a[index] = 1 end)
    end
    equal({a[1ULL], a[0LL]}, {4, 0})
    a[1LL] = 5
    equal(a[1], 5)
    raises("TPT_E_ARGUMENT", function() return a[2ULL] end)
    raises("TPT_E_ARGUMENT", function() return a[true] end)
    raises("TPT_E_ARGUMENT", function() return a[-1LL] end)
    equal(a.nothing, nil)
    raises("TPT_E_ARGUMENT", function() a.nothing = 1 end)
  end},
  {"arrays: weights are written through, logits are not", function()
    local model = support.tiny()
    local name, parameters = model:tensor_info(0).name, model:parameters()
    parameters[0] = 42
    equal(model:get_tensor(name)[0], 42)
    local logits = tpt.Decoder.create(model):feed(1, true)
    raises("TPT_E_ARGUMENT", function() logits[0] = 1 end)
  end},
  {"tensors: the fixed profile has a name too", function()
    equal(#support.tiny():get_tensor "embedding.dc_profile", 32)
  end},
  {"geometry: points by name and by number", function()
    local all = support.everything()
    all.trainer:forward({1, 2, 3}, 1, 3)
    equal(all.trainer:phase_means("block", 1):table(), all.trainer:phase_means(3, 1):table())
    equal(#all.trainer:phase_cosine("rotation", 0), 9)
    equal(#all.trainer:dc("embedding", 0), 3)
    equal(#all.trainer:activation("attention", 0), 3 * 24)
  end},
  {"optimizer: its own rate, then the schedule's again", function()
    local optimizer = support.everything().optimizer
    local scheduled = optimizer:lr()
    optimizer:set_lr(0.5)
    equal(optimizer:lr(), 0.5)
    optimizer:set_lr(0 / 0)
    equal(optimizer:lr(), scheduled)
  end},
  {"config: numbers are texts too, memory by name", function()
    local config = tpt.Config.create()
    config:set("train.lr", 0.25)
    equal(config:get "train.lr", "0.25")
    equal(config:memory "training", config:memory(1))
    assert(config:memory "training" > config:memory "inference")
  end},
  {"context: threads", function()
    equal(tpt.Context.create({threads = 3}):threads(), 3)
  end},
  {"version: the library's, and which kernels", function()
    has(tpt.version(), "1.")
    assert(#tpt.build_info() > 0)
    tpt.check_version(1, 0, 0)
  end},
  {"errors: fields, text, concatenation", function()
    local raised = raises("TPT_E_CONFIG", tpt.Config.parse, "model: {d_model: 25}\n")
    equal({raised.status, raised.name}, {5, "TPT_E_CONFIG"})
    equal(tostring(raised), "TPT_E_CONFIG: " .. raised.message)
    equal("why: " .. raised, "why: TPT_E_CONFIG: " .. raised.message)
  end},
  {"errors: a handle of another class, or none", function()
    local all = support.everything()
    has(raises("TPT_E_ARGUMENT", all.decoder.sample, all.model).message, "a decoder is needed")
    raises("TPT_E_ARGUMENT", all.decoder.sample, nil)
    raises("TPT_E_ARGUMENT", all.decoder.sample, {handle = 1})
    raises("TPT_E_ARGUMENT", tpt.Trainer.create, all.config)
    has(raises("TPT_E_ARGUMENT", tpt.Model.create, all.config, 1, all.config).message, "context is 3pt.Config (a table)")
    raises("TPT_E_ARGUMENT", all.decoder.copy, all.decoder, all.model)
  end},
  {"stream: prompt as text, ids or fed before; count, stop, the end of the room", function()
    local function run(options, d)
      d = d or decoder()
      local ids, pieces = {}, {}
      for id, piece in d:stream(options) do ids[#ids + 1], pieces[#pieces + 1] = id, piece end
      return ids, pieces, d
    end
    local bytes = tpt.Tokenizer.bytes()
    local ids, pieces, d = run {prompt = GOOD_BYTES, tokenizer = bytes, tokens = 6}
    equal({#ids, #pieces, d:position()}, {6, 6, #GOOD_BYTES + 6})
    equal(run {prompt = bytes:encode(GOOD_BYTES), tokens = 6}, ids)
    local fed = decoder()
    fed:feed(bytes:encode(GOOD_BYTES))
    equal(run({tokens = 6}, fed), ids)
    local stopped, _, until_stop = run {prompt = GOOD_BYTES, tokenizer = bytes, stop = ids[1]}
    equal({#stopped, until_stop:position()}, {0, #GOOD_BYTES})
    equal(#run {prompt = GOOD_BYTES, tokenizer = bytes}, 32 - #GOOD_BYTES)
    local short = tpt.Decoder.create(support.tiny(), 14)
    equal(#run({prompt = GOOD_BYTES, tokenizer = bytes}, short), 2)
    raises("TPT_E_STATE", run, {})
    has(table.concat(pieces), bytes:decode(ids):sub(1, 1))
  end},
  {"stream: the decoder may be rewound, fed and copied into inside the loop", function()
    for _, bytes in ipairs {false, tpt.Tokenizer.bytes()} do
      local model, n = support.tiny(), 0
      local d, other = tpt.Decoder.create(model, 16), tpt.Decoder.create(model)
      other:feed {1, 2}
      for _, piece in d:stream {prompt = {1}, tokens = 500, tokenizer = bytes or nil} do
        n = n + 1
        equal(type(piece), bytes and "string" or "nil")
        if d:position() >= 15 then
          d:rewind(1)
          d:feed(2)
        end
      end
      equal(n, 500)
      n = 0
      local copied = tpt.Decoder.create(model, 16)
      for _ in copied:stream {prompt = {1}, tokens = 50, tokenizer = bytes or nil} do
        n = n + 1
        other:copy(copied)
      end
      equal({n, copied:position()}, {50, 2})
      raises("TPT_E_STATE", function() for _ in d:stream {} do d:rewind(1) end end)
    end
  end},
  {"stream: a tokenizer that is closed or has too few tokens is refused before anything is fed", function()
    local d, bytes = decoder(), tpt.Tokenizer.bytes()
    local few = tpt.Tokenizer.words("a b", 4)
    raises("TPT_E_ARGUMENT", d.stream, d, {prompt = {200}, tokenizer = few})
    equal(d:position(), 0)
    d:feed {200}
    local next_token = d:stream {tokenizer = few}
    assert(d:sample() >= few:vocab_size())
    raises("TPT_E_ARGUMENT", next_token)
    equal(d:position(), 1)
    next_token = d:stream {tokenizer = bytes}
    next_token()
    bytes:close()
    raises("TPT_E_STATE", next_token)
    equal(d:position(), 2)
  end},
  {"decoders: many at once are given back one by one", function()
    local model = support.tiny()
    local a, b = tpt.Decoder.create(model), tpt.Decoder.create(model)
    equal(tpt.Decoder.feed_many({a, b}, {1, 2}), nil)
    local logits = tpt.Decoder.feed_many({a, b}, {3, 4}, true)
    local first = logits[1]:table()
    b:feed(5)
    equal(logits[1]:table(), first)
    raises("TPT_E_STATE", function() return logits[2][0] end)
    raises("TPT_E_ARGUMENT", tpt.Decoder.feed_many, {}, {})
  end},
}

return tests
