-- Trains a tiny model on a sentence that repeats, and prints its loss.
local tpt = require "3pt"

local BATCH, SEQ, STEPS = 4, 32, 60
local text = ("Three phases turn and sum to zero. "):rep(4)
local config = tpt.Config.parse [[
model: {vocab_size: 256, d_model: 24, n_layers: 2, n_q_heads: 3,
  n_kv_heads: 3, d_ff: 48, max_seq_len: 32}
train: {batch: 4, steps: 1000, warmup: 1, lr: 1e-2}
]]
local tokenizer = tpt.Tokenizer.bytes()
local ids = tokenizer:encode(text)
local data = tpt.Dataset.from_tokens(ids)
local model = tpt.Model.create(config, 1)
local trainer = tpt.Trainer.create(model)
local optimizer = tpt.Optimizer.create(trainer)
print(("%d parameters, %d tokens"):format(config:parameter_count(), #ids))
local tokens, targets, random_state = nil, nil, 1
for step = 1, STEPS do
  tokens, targets, random_state = data:random(random_state, BATCH, SEQ)
  trainer:zero_gradients()
  local loss = trainer:accumulate(tokens, targets, BATCH, SEQ)
  optimizer:step()
  if step == 1 or step % 20 == 0 then print(("step %d: loss %.2f"):format(step, loss)) end
end
for _, object in ipairs {optimizer, trainer, model, data, tokenizer, config} do object:close() end
