"""What a model's phases look like: profile, angles, and the sum of the phase means."""
import numpy as np

import lib3pt

config = lib3pt.Config.parse("""
model: {vocab_size: 256, d_model: 24, n_layers: 2, n_q_heads: 3, n_kv_heads: 3, d_ff: 48, max_seq_len: 32}
train: {batch: 1}
""")
model = lib3pt.Model(config, seed=1)
print("profile", *(f"{r:.3f}" for r in model.dc_profile(0, 4)))
for layer in range(config["model.n_layers"]):
    for phase in range(config["model.n_phases"]):
        print(f"layer {layer}, phase {phase}: {np.degrees(model.angles(layer, phase)[0]):.1f} degrees")
trainer = lib3pt.Trainer(model)
trainer.forward(np.arange(32))
sums = trainer.zero_sum()
print(f"sum of the phase means {sums.measured:.4f}, by the profile {sums.analytic:.4f}")
