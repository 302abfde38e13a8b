-- What the tests share: the environment, bits as the vectors write them, comparing, a tiny model.
local ffi, bit = require "ffi", require "bit"
local tpt, decode_json = require "3pt", require "json"

local support = {}

function support.environment(name)
  return os.getenv(name) or error(name .. " is not set; run bindings/lua/test", 0)
end

function support.skip(why) error({skip = why}, 0) end

function support.read(path)
  local file = assert(io.open(path, "rb"))
  local content = file:read "*a"
  file:close()
  return content
end

function support.write(path, content)
  local file = assert(io.open(path, "wb"))
  file:write(content)
  file:close()
end

function support.scratch(name) return support.environment "LIB3PT_SCRATCH" .. "/" .. name end

function support.vector(name)
  return decode_json(support.read(support.environment "LIB3PT_VECTORS" .. "/" .. name .. ".json"))
end

-- Runs a command of the shell: what it printed (both outputs), and whether it ended with 0.
function support.run(command)
  local said = support.scratch "said"
  local status = os.execute("(" .. command .. ") >" .. said .. " 2>&1 </dev/null")
  return support.read(said), status == 0 or status == true
end

-- ---- bits ----

function support.fnv(pointer, bytes)
  local hash, from = 0xcbf29ce484222325ULL, ffi.cast("const uint8_t *", pointer)
  for i = 0, bytes - 1 do hash = bit.bxor(hash, from[i]) * 0x100000001b3ULL end
  return bit.tohex(hash)
end

function support.hash(array) return support.fnv(array:pointer(), #array * ffi.sizeof(array:element())) end

function support.file(content) return {size = #content, hash = support.fnv(content, #content)} end

function support.f32(array)
  local list, bits = {}, ffi.cast("const uint32_t *", array:pointer())
  for i = 0, #array - 1 do list[i + 1] = bits[i] end
  return list
end

function support.f64(value)
  local bits = ffi.cast("const uint32_t *", ffi.new("double[1]", value))
  return bit.tohex(bits[1]) .. bit.tohex(bits[0])
end

function support.f64s(values)
  local list = {}
  for i, value in ipairs(type(values) == "table" and values or values:table()) do list[i] = support.f64(value) end
  return list
end

function support.u64(value) return (tostring(value):gsub("ULL$", "")) end

function support.read_u64(digits)
  local value = 0ULL
  for digit in digits:gmatch "%d" do value = value * 10 + tonumber(digit) end
  return value
end

function support.hex(content) return (content:gsub(".", function(c) return ("%02x"):format(c:byte()) end)) end

function support.map(list, f)
  local made = {}
  for i, value in ipairs(list) do made[i] = f(value) end
  return made
end

-- ---- comparing ----

local function show(value) return type(value) == "string" and ("%q"):format(value) or tostring(value) end

function support.equal(got, wanted, where)
  where = where or "result"
  if type(got) ~= "table" or type(wanted) ~= "table" then
    if got ~= wanted then error(("%s is %s, not %s"):format(where, show(got), show(wanted)), 0) end
    return
  end
  for key in pairs(wanted) do support.equal(got[key], wanted[key], where .. "." .. key) end
  for key in pairs(got) do
    if wanted[key] == nil then error(("%s.%s should not be there"):format(where, key), 0) end
  end
end

function support.has(text, part)
  if not tostring(text):find(part, 1, true) then error(("%s has no %s"):format(show(tostring(text)), show(part)), 2) end
end

-- What f raises; it must be an error of 3pt with this name.
function support.raises(name, f, ...)
  local fine, raised = pcall(f, ...)
  if fine then error("nothing was raised instead of " .. name, 2) end
  if getmetatable(raised) ~= tpt.Error then error("raised instead of " .. name .. ": " .. tostring(raised), 2) end
  if raised.name ~= name then error("raised instead of " .. name .. ": " .. tostring(raised), 2) end
  return raised
end

-- A table of six, of which the fifth is what f gives when it is read.
function support.read_by(f)
  local list = setmetatable({1, 2, 3, 4, nil, 6}, {__index = f})
  assert(#list == 6)
  return list
end

-- ---- a tiny model ----

support.TINY = "model: {vocab_size: 256, d_model: 24, n_layers: 2, n_q_heads: 3, n_kv_heads: 3, d_ff: 48, "
  .. "max_seq_len: 32}\ntrain: {batch: 2}\n"

function support.tiny(context) return tpt.Model.create(tpt.Config.parse(support.TINY), 1, context) end

-- One of each class, all of one context.
function support.everything(context)
  local all = {context = context or tpt.Context.create {threads = 1}}
  all.config = tpt.Config.parse(support.TINY)
  all.model = tpt.Model.create(all.config, 1, all.context)
  all.trainer = tpt.Trainer.create(all.model)
  all.optimizer = tpt.Optimizer.create(all.trainer)
  all.decoder = tpt.Decoder.create(all.model)
  all.tokenizer = tpt.Tokenizer.bytes(all.context)
  all.dataset = tpt.Dataset.from_tokens(all.tokenizer:encode(("Three phases. "):rep(8)), all.context)
  return all
end

function support.close_all(all)
  for _, object in pairs(all) do object:close() end
end

-- ---- memory ----

ffi.cdef [[
struct tpt_test_mallinfo2 { size_t arena, ordblks, smblks, hblks, hblkhd, usmblks, fsmblks, uordblks, fordblks, keepcost; };
struct tpt_test_mallinfo2 mallinfo2(void);
void *malloc(size_t bytes);
]]

-- Bytes that C's malloc, in all its arenas, and Lua have given out. Not resident memory: where the collector frees in an
-- order of its own, freed blocks lie between living ones and their pages come and go by megabytes.
function support.in_use()
  local known, mallinfo2 = pcall(function() return ffi.C.mallinfo2 end)
  if not known then support.skip "malloc's bytes in use are known by glibc 2.33 and later only" end
  collectgarbage()
  collectgarbage()
  local info = mallinfo2()
  return tonumber(info.uordblks + info.hblkhd) + collectgarbage "count" * 1024
end

return support
