-- luajit bench.lua SECONDS: what a token costs, as bindings/conformance/overhead.c measures it.
local ffi = require "ffi"
local tpt = require "3pt"

local TOKENS, CLOCK_MONOTONIC = 127, 1
ffi.cdef [[
struct tpt_bench_time { long seconds, nanoseconds; };
int clock_gettime(int clock, struct tpt_bench_time *time);
]]

local time = ffi.new "struct tpt_bench_time"
local function now()
  ffi.C.clock_gettime(CLOCK_MONOTONIC, time)
  return tonumber(time.seconds) + 1e-9 * tonumber(time.nanoseconds)
end

local context = tpt.Context.create()
local decoder = tpt.Decoder.create(tpt.Model.create(tpt.Config.preset "3pt-5m", 1, context))

local function round_seconds()
  local start, token = now(), 0
  for _ = 1, TOKENS do
    decoder:feed(token)
    token = decoder:sample()
  end
  decoder:rewind(0)
  return now() - start
end

local rounds, stop = {}, now() + (tonumber(arg[1]) or 1)
repeat rounds[#rounds + 1] = round_seconds() until now() >= stop
table.sort(rounds)
print(('{"tokens_per_s": %.1f}'):format(TOKENS / rounds[math.floor(#rounds / 2) + 1]))
