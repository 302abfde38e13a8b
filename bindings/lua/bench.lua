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

-- A token a call.
local function step_by_step()
  local token = 0
  for _ = 1, TOKENS do
    decoder:feed(token)
    token = decoder:sample()
  end
end

-- As many are fed, in one call but for the first.
local function in_one_call()
  decoder:feed(0)
  decoder:generate(TOKENS - 1)
end

local function round_seconds(run)
  local start = now()
  run()
  decoder:rewind(0)
  return now() - start
end

-- Tokens a second in the round of median length.
local function rate(run)
  local rounds, stop = {}, now() + (tonumber(arg[1]) or 1) / 2
  repeat rounds[#rounds + 1] = round_seconds(run) until now() >= stop
  table.sort(rounds)
  return TOKENS / rounds[math.floor(#rounds / 2) + 1]
end

print(('{"tokens_per_s": %.1f, "generated_per_s": %.1f}'):format(rate(step_by_step), rate(in_one_call)))
