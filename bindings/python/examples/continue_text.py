"""Trains a model on a sentence and lets it continue a prompt, by the likeliest byte each time."""
import lib3pt

BATCH, SEQ, STEPS, ADDED = 4, 40, 60, 29
TEXT, PROMPT = "Three phases turn and sum to zero. " * 4, "Three"

config = lib3pt.Config.parse("""
model: {vocab_size: 256, d_model: 48, n_layers: 2, n_q_heads: 6, n_kv_heads: 3, d_ff: 96, max_seq_len: 40}
train: {batch: 4, steps: 1000, warmup: 1, lr: 1e-2}
""")
tokenizer = lib3pt.Tokenizer.bytes()
model = lib3pt.Model(config, seed=1)
data = lib3pt.Dataset.from_tokens(tokenizer.encode(TEXT))
trainer = lib3pt.Trainer(model)
optimizer = lib3pt.Optimizer(trainer)
random_state = 1
for step in range(STEPS):
    tokens, targets, random_state = data.random(random_state, BATCH, SEQ)
    trainer.zero_gradients()
    trainer.accumulate(tokens, targets)
    optimizer.step()

decoder = lib3pt.Decoder(model)
decoder.feed(tokenizer.encode(PROMPT), logits=False)
added = []
for _ in range(ADDED):
    added.append(decoder.sample())
    decoder.feed(added[-1], logits=False)
print(f"{PROMPT}|{tokenizer.decode(added)}")
