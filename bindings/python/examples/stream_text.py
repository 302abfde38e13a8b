"""The same with a seeded sampler, printed piece by piece as soon as a character is whole."""
import io
import sys

import lib3pt

BATCH, SEQ, STEPS = 4, 40, 60
TEXT, PROMPT = "Three phases turn · sum to zero · " * 4, "Three"

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

if isinstance(sys.stdout, io.TextIOWrapper):
    sys.stdout.reconfigure(encoding="utf-8")  # whatever the terminal's language
decoder = lib3pt.Decoder(model)
decoder.set_sampling(temperature=0.5, top_k=4, top_p=0.9, seed=7)
ids = tokenizer.encode(PROMPT).tolist()
decoder.feed(ids, logits=False)
print(PROMPT, end="|", flush=True)
while len(ids) < SEQ:
    ids.append(decoder.sample())
    decoder.feed(ids[-1], logits=False)
    print(tokenizer.decode_tail(ids, len(ids) - 1), end="|", flush=True)
print()
