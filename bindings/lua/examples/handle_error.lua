-- A wrong description, a file that is not there, a token that the model has not: what each says.
local tpt = require "3pt"

local function show(f, ...)
  local fine, raised = pcall(f, ...)
  if not fine then print(raised.name .. ": " .. raised.message) end
end

show(tpt.Config.parse, "model: {d_model: 25}\n")
show(tpt.Model.load, "no-such-folder/model.safetensors")
local config = tpt.Config.parse [[
model: {vocab_size: 256, d_model: 24, n_layers: 1, n_q_heads: 3,
  n_kv_heads: 3, d_ff: 48, max_seq_len: 8}
]]
local model = tpt.Model.create(config, 1)
local decoder = tpt.Decoder.create(model)
show(decoder.feed, decoder, {256})
for _, object in ipairs {decoder, model, config} do object:close() end
