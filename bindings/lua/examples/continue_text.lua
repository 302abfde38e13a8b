-- Trains a model on a sentence and lets it continue a prompt, by the likeliest byte each time.
local tpt = require "3pt"

local BATCH, SEQ, STEPS, ADDED = 4, 40, 60, 29

local function learn(model, ids)
  local data, trainer = tpt.Dataset.from_tokens(ids), tpt.Trainer.create(model)
  local optimizer = tpt.Optimizer.create(trainer)
  local tokens, targets, random_state = nil, nil, 1
  for _ = 1, STEPS do
    tokens, targets, random_state = data:random(random_state, BATCH, SEQ)
    trainer:zero_gradients()
    trainer:accumulate(tokens, targets, BATCH, SEQ)
    optimizer:step()
  end
  for _, object in ipairs {optimizer, trainer, data} do object:close() end
end

local prompt = "Three"
local config = tpt.Config.parse [[
model: {vocab_size: 256, d_model: 48, n_layers: 2, n_q_heads: 6,
  n_kv_heads: 3, d_ff: 96, max_seq_len: 40}
train: {batch: 4, steps: 1000, warmup: 1, lr: 1e-2}
]]
local tokenizer = tpt.Tokenizer.bytes()
local model = tpt.Model.create(config, 1)
learn(model, tokenizer:encode(("Three phases turn and sum to zero. "):rep(4)))
local decoder = tpt.Decoder.create(model)
decoder:feed(tokenizer:encode(prompt))
print(prompt .. "|" .. tokenizer:decode(decoder:generate(ADDED)))
for _, object in ipairs {decoder, model, config, tokenizer} do object:close() end
