-- Log, progress, allocator: what they get, how they cancel, what they raise, when they are given back.
local ffi = require "ffi"
local tpt, support = require "3pt", require "support"
local raises, equal, has = support.raises, support.equal, support.has

ffi.cdef "void *aligned_alloc(size_t alignment, size_t bytes);"

-- Long enough for several calls of a progress function.
local function long_call(context) return tpt.Model.create(tpt.Config.create(), 1, context) end

local function collect()
  collectgarbage()
  collectgarbage()
end

local function lua_allocator(counts)
  return {
    allocate = function(bytes, alignment)
      counts.held = counts.held + bytes
      counts.asked = counts.asked + 1
      return ffi.C.aligned_alloc(alignment, math.ceil(bytes / alignment) * alignment)
    end,
    release = function(memory, bytes)
      counts.held = counts.held - bytes
      ffi.C.free(memory)
    end,
  }
end

return {
  {"log: level and text", function()
    local lines = {}
    local function log(level, text) lines[#lines + 1] = level .. " " .. text end
    local context = tpt.Context.create {threads = 1, log = log}
    support.tiny(context)
    equal(#lines, 1)
    has(lines[1], "2 model: ")
    context:set_log(nil)
    support.tiny(context)
    equal(#lines, 1)
  end},
  {"progress: a share that grows, nil where it is not known, and the object", function()
    local shares, calls, seen = {}, 0, nil
    local context, config = tpt.Context.create(), tpt.Config.create()
    context:set_progress(function(done, object)
      calls, seen = calls + 1, object
      shares[calls] = done
    end)
    config:set("train.batch", 4)
    local model = tpt.Model.create(config, 1, context)
    equal({calls > 0, #shares, seen == context}, {true, 0, true})
    local trainer, tokens = tpt.Trainer.create(model), tpt.int32s(4 * 128)
    calls, shares = 0, {}
    trainer:accumulate(tokens, tokens, 4, 128)
    equal({#shares >= 2, #shares, seen == trainer}, {true, calls, true})
    for i, share in ipairs(shares) do assert(share <= 1 and share >= (shares[i - 1] or 0), share) end
  end},
  {"progress: true cancels; the object works on", function()
    local context = tpt.Context.create {progress = function() return true end}
    raises("TPT_E_CANCELLED", long_call, context)
    context:set_progress(function() return false end)
    equal(long_call(context):tensor_count() > 0, true)
  end},
  {"cancel: from inside a progress function, and from outside until it is taken back", function()
    local context = tpt.Context.create()
    context:set_progress(function() context:cancel() end)
    raises("TPT_E_CANCELLED", long_call, context)
    context:set_progress(nil)
    raises("TPT_E_CANCELLED", support.tiny, context)
    for _, wrong in ipairs {0, "false", {}} do
      has(raises("TPT_E_ARGUMENT", context.cancel, context, wrong).message, "; true, false or nil is needed")
    end
    context:cancel(false)
    support.tiny(context)
  end},
  {"progress: what it raises ends the call and comes out of it, as it is", function()
    local thrown, calls = {}, 0
    local context = tpt.Context.create {progress = function()
      calls = calls + 1
      error(thrown)
    end}
    local fine, raised = pcall(long_call, context)
    assert(not fine and raised == thrown, tostring(raised))
    equal(calls, 1)
    context:set_progress(function() error "with a place" end)
    fine, raised = pcall(long_call, context)
    assert(not fine)
    has(raised, "callbacks.lua:")
    has(raised, "with a place")
    context:set_progress(nil)
    long_call(context)
  end},
  {"progress: Ctrl-C under the luajit program ends the call and is raised after it", function()
    local said, fine = support.run [[luajit -e '
      local ffi, tpt = require "ffi", require "3pt"
      ffi.cdef "int raise(int signal);"
      local calls, context = 0, tpt.Context.create()
      context:set_progress(function()
        calls = calls + 1
        ffi.C.raise(2)
      end)
      local function long() return tpt.Model.create(tpt.Config.create(), 1, context) end
      local fine, raised = pcall(long)
      io.write(calls, tostring(fine), raised:match "interrupted!", " ")
      context:set_progress(function() end)
      io.write(long():tensor_count() > 0 and "works on" or "")']]
    equal(said, "1falseinterrupted! works on")
    assert(fine)
  end},
  {"progress: Ctrl-C from outside does not cut through the library", function()
    -- What is held by the allocator at the end is what an error has jumped over.
    support.write(support.scratch "interrupted.lua", [[
      local ffi, tpt = require "ffi", require "3pt"
      ffi.cdef "void *aligned_alloc(size_t alignment, size_t bytes); void free(void *memory);"
      local held, stop, config = 0, os.clock() + 60, tpt.Config.create()
      local function allocate(bytes, alignment)
        held = held + bytes
        return ffi.C.aligned_alloc(alignment, math.ceil(bytes / alignment) * alignment)
      end
      local function release(memory, bytes)
        held = held - bytes
        ffi.C.free(memory)
      end
      local context = tpt.Context.create {threads = 1, progress = function() end,
                                          allocator = {allocate = allocate, release = release}}
      local _, raised = pcall(function()
        io.open(arg[1], "w"):close()
        while os.clock() < stop do tpt.Model.create(config, 1, context):close() end
        error "nobody interrupted"
      end)
      tpt.Model.create(config, 1, context):close()
      context:close()
      io.write(raised:match "interrupted!", " ", held)]])
    local ready = support.scratch "ready"
    local shell = "rm -f '%s'; luajit '%s' '%s' & until [ -e '%s' ]; do sleep 0.1; done; sleep 0.2; kill -INT $!; wait $!"
    local said = support.run(shell:format(ready, support.scratch "interrupted.lua", ready, ready))
    equal(said, "interrupted! 0")
  end},
  {"log: what it raises comes out of the call, and what was made is closed", function()
    local counts = {held = 0, asked = 0}
    local function log() error "no log" end
    local context = tpt.Context.create {threads = 1, allocator = lua_allocator(counts), log = log}
    local fine, raised = pcall(support.tiny, context)
    assert(not fine)
    has(raised, "no log")
    context:close()
    equal(counts.held, 0)
    assert(counts.asked > 0)
  end},
  {"callbacks: they cannot yield, and a coroutine may be in the call", function()
    local context = tpt.Context.create {progress = coroutine.yield}
    local fine, raised = coroutine.resume(coroutine.create(function() long_call(context) end))
    assert(not fine)
    has(raised, "yield")
    context:set_progress(function() collectgarbage "step" end)
    local made = coroutine.wrap(function() return long_call(context) end)()
    assert(made:tensor_count() > 0)
  end},
  {"callbacks: calls and closes inside are errors", function()
    local model, tries = support.tiny(), {}
    local context = tpt.Context.create()
    local function try(f, ...) tries[#tries + 1] = raises("TPT_E_STATE", f, ...).message end
    context:set_progress(function()
      try(model.tensor_count, model)
      try(model.close, model)
      try(context.close, context)
      try(tpt.Context.create)
      try(tpt.Config.create)
      try(tpt.Config.preset_names)
      return true
    end)
    raises("TPT_E_CANCELLED", long_call, context)
    equal(#tries, 6)
    for _, message in ipairs(tries) do has(message, "may call nothing of 3pt but context:cancel()") end
    assert(model:tensor_count() > 0)
  end},
  {"callbacks: the collector may run inside", function()
    local calls = 0
    local context = tpt.Context.create {threads = 1, progress = function()
      calls = calls + 1
      collectgarbage()
    end}
    for _ = 1, 5 do
      for _ = 1, 10 do support.everything() end
      long_call(context)
    end
    assert(calls >= 5, calls)
  end},
  {"callbacks: given back when replaced, and with the context's last holder", function()
    local alive = setmetatable({}, {__mode = "k"})
    local function fresh()
      local function f() return alive end
      alive[f] = true
      return f
    end
    local function count()
      collect()
      local n = 0
      for _ in pairs(alive) do n = n + 1 end
      return n
    end
    local context = tpt.Context.create {log = fresh(), progress = fresh()}
    equal(count(), 2)
    context:set_log(fresh())
    context:set_progress(nil)
    equal(count(), 1)
    local model = support.tiny(context)
    context:close()
    equal(count(), 1)
    model:close()
    equal(count(), 0)
  end},
  {"callbacks: thousands at once", function()
    local contexts, lines = {}, 0
    for i = 1, 3000 do contexts[i] = tpt.Context.create {threads = 1, log = function() lines = lines + 1 end} end
    for i = 1, 3000, 100 do support.tiny(contexts[i]) end
    equal(lines, 30)
    for _, context in ipairs(contexts) do context:close() end
  end},
  {"callbacks: from hot loops that are compiled", function()
    local calls, sum = 0, 0
    local function count() calls = calls + 1 end
    local context = tpt.Context.create {threads = 1, progress = count, log = count}
    local model = support.tiny(context)
    local d = tpt.Decoder.create(model)
    for i = 1, 3000 do
      if d:position() == 32 then d:rewind(0) end
      local logits = d:feed(i % 256, true)
      for k = 0, #logits - 1 do sum = sum + logits[k] end
      if i % 10 == 0 then tpt.Decoder.create(model):close() end
    end
    assert(calls > 300 and sum == sum)
  end},
  {"allocator: everything comes from it and goes back", function()
    local counts = {held = 0, asked = 0}
    local context = tpt.Context.create {threads = 1, allocator = lua_allocator(counts)}
    local all = support.everything(context)
    all.decoder:feed {1, 2}
    assert(counts.held > 4 * all.config:parameter_count())
    support.close_all(all)
    equal(counts.held, 0)
    support.everything(tpt.Context.create {threads = 1, allocator = lua_allocator(counts)})
    collect()
    equal(counts.held, 0)
  end},
  {"allocator: the collector ends nothing inside it", function()
    local counts, depth, nested, collected = {held = 0, asked = 0}, 0, 0, 0
    local allocator = lua_allocator(counts)
    local allocate, release = allocator.allocate, allocator.release
    function allocator.allocate(...)
      depth = depth + 1
      collectgarbage()
      depth = depth - 1
      return allocate(...)
    end
    function allocator.release(...)
      if depth > 0 then nested = nested + 1 end
      collected = collected + 1
      release(...)
    end
    local context = tpt.Context.create {threads = 1, allocator = allocator}
    for _ = 1, 5 do
      for _ = 1, 3 do support.tiny(context) end
    end
    equal(nested, 0)
    assert(collected > 0)
  end},
  {"allocator: given back with the last holder", function()
    local alive = setmetatable({}, {__mode = "k"})
    local context = tpt.Context.create {threads = 1}
    do
      local allocator = lua_allocator {held = 0, asked = 0}
      alive[allocator.allocate] = true
      context:set_allocator(allocator)
    end
    local model = support.tiny(context)
    context:close()
    collect()
    assert(next(alive))
    model:close()
    context, model = nil, nil
    collect()
    equal(next(alive), nil)
  end},
  {"allocator: what a release raises comes out of a close, and of no other call", function()
    local allocator, wrong = lua_allocator {held = 0, asked = 0}, false
    local release = allocator.release
    function allocator.release(...)
      release(...)
      if wrong then error "no way back" end
    end
    local context = tpt.Context.create {threads = 1, allocator = allocator}
    local first = support.tiny(context)
    support.tiny(context)
    wrong = true
    local fine, raised = pcall(first.close, first)
    assert(not fine)
    has(raised, "no way back")
    collect() -- the second
    tpt.check_version(1, 0, 0)
  end},
  {"allocator: nil is TPT_E_MEMORY, what it raises comes out", function()
    local counts, refuse = {held = 0, asked = 0}, nil
    local allocator = lua_allocator(counts)
    local allocate = allocator.allocate
    function allocator.allocate(...)
      if refuse then return refuse() end
      return allocate(...)
    end
    local context = tpt.Context.create {threads = 1, allocator = allocator}
    refuse = function() return nil end
    raises("TPT_E_MEMORY", support.tiny, context)
    for _, wrong in ipairs {"memory", 64, ffi.cast("intptr_t", 64), {}, true, ffi.cast("const void *", nil)} do
      refuse = function() return wrong end
      local message = raises("TPT_E_ARGUMENT", support.tiny, context).message
      has(message, "allocate gave ")
      has(message, "; a pointer or nil is needed")
    end
    refuse = function() error "empty" end
    local fine, raised = pcall(support.tiny, context)
    assert(not fine)
    has(raised, "empty")
    refuse = nil
    support.tiny(context):close()
    context:close()
    equal(counts.held, 0)
  end},
  {"allocator: Lua functions with one thread only", function()
    local context = tpt.Context.create {threads = 2}
    local raised = raises("TPT_E_STATE", context.set_allocator, context, lua_allocator {held = 0, asked = 0})
    has(raised.message, "set_threads(1)")
    context:set_threads(1)
    context:set_allocator(lua_allocator {held = 0, asked = 0})
    raises("TPT_E_STATE", context.set_threads, context, 2)
    context:set_threads(1)
    raises("TPT_E_ARGUMENT", context.set_allocator, context, {allocate = print})
    raises("TPT_E_ARGUMENT", context.set_allocator, context, nil)
    local none = ffi.cast("void *(*)(void *, size_t, size_t)", nil)
    for needed, wrong in pairs {
      ["allocate is .*; a C function void %*%(void %*, size_t, size_t%) is needed"] =
        {allocate = ffi.new "int[1]", release = none},
      ["release is .*; a C function void %(void %*, void %*, size_t, size_t%) is needed"] =
        {allocate = none, release = ffi.new "int[1]"},
      ["user is 5; a C pointer or nil is needed"] = {allocate = none, release = none, user = 5},
    } do
      local said = raises("TPT_E_ARGUMENT", context.set_allocator, context, wrong).message
      assert(said:find(needed), said)
    end
  end},
  {"allocator: C functions with their own user", function()
    local users, held = {}, 0
    local allocate = ffi.cast("void *(*)(void *, size_t, size_t)", function(user, bytes, alignment)
      users[tonumber(ffi.cast("uintptr_t", user))] = true
      held = held + tonumber(bytes)
      return ffi.C.aligned_alloc(alignment, math.ceil(tonumber(bytes) / 64) * 64)
    end)
    local release = ffi.cast("void (*)(void *, void *, size_t, size_t)", function(_, memory, bytes)
      held = held - tonumber(bytes)
      ffi.C.free(memory)
    end)
    local context = tpt.Context.create {threads = 1}
    context:set_allocator {allocate = allocate, release = release, user = ffi.cast("void *", 77)}
    support.close_all(support.everything(context))
    equal(held, 0)
    equal(users, {[77] = true})
    allocate:free()
    release:free()
  end},
}
