"""Trains a tiny model on a sentence that repeats, and prints its loss."""
import lib3pt

BATCH, SEQ, STEPS = 4, 32, 60
TEXT = "Three phases turn and sum to zero. " * 4

config = lib3pt.Config.parse("""
model: {vocab_size: 256, d_model: 24, n_layers: 2, n_q_heads: 3, n_kv_heads: 3, d_ff: 48, max_seq_len: 32}
train: {batch: 4, steps: 1000, warmup: 1, lr: 1e-2}
""")
data = lib3pt.Dataset.from_tokens(lib3pt.Tokenizer.bytes().encode(TEXT))
model = lib3pt.Model(config, seed=1)
trainer = lib3pt.Trainer(model)
optimizer = lib3pt.Optimizer(trainer)
print(f"{config.parameter_count} parameters, {len(data)} tokens")
random_state = 1
for step in range(1, STEPS + 1):
    tokens, targets, random_state = data.random(random_state, BATCH, SEQ)
    trainer.zero_gradients()
    loss = trainer.accumulate(tokens, targets)
    optimizer.step()
    if step == 1 or step % 20 == 0:
        print(f"step {step}: loss {loss:.2f}")
