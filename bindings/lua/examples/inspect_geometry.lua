-- What a model's phases look like: profile, angles, and the sum of the phase means.
local tpt = require "3pt"

local BATCH, SEQ, PHASES, LAYERS = 1, 32, 3, 2
local config = tpt.Config.parse [[
model: {vocab_size: 256, d_model: 24, n_layers: 2, n_q_heads: 3,
  n_kv_heads: 3, d_ff: 48, max_seq_len: 32}
train: {batch: 1}
]]
local model = tpt.Model.create(config, 1)
print(("profile %.3f %.3f %.3f %.3f"):format(unpack(model:dc_profile(0, 4):table())))
for layer = 0, LAYERS - 1 do
  for phase = 0, PHASES - 1 do
    local angles = model:angles(layer, phase)
    print(("layer %d, phase %d: %.1f degrees"):format(layer, phase, math.deg(angles[0])))
  end
end
local trainer, tokens = tpt.Trainer.create(model), tpt.int32s(SEQ)
for i = 0, SEQ - 1 do tokens[i] = i end
trainer:forward(tokens, BATCH, SEQ)
print(("sum of the phase means %.4f, by the profile %.4f"):format(trainer:zero_sum()))
for _, object in ipairs {trainer, model, config} do object:close() end
