"""Golden cases beyond the oracle's own: other shapes, and ignored targets in every place.

    python3 more.py OUTDIR        (needs torch and numpy, as oracle.py does)
"""
import json
import sys

import torch

import oracle

# name: what differs from oracle.DEFAULTS, and which targets are ignored ("none" or a pattern of IGNORED)
CASES = {
    "two_phase": (dict(seed=11, n_phases=2, d_model=16, n_q_heads=4, n_kv_heads=2, seq=9), "none"),
    "six_phase": (dict(seed=12, n_phases=6, d_model=24, n_q_heads=6, n_kv_heads=6, seq=7), "none"),
    "grouped": (dict(seed=13, d_model=24, n_q_heads=12, n_kv_heads=3, seq=17), "none"),
    "one_position": (dict(seed=14, seq=1, batch=3), "none"),
    "one_sequence": (dict(seed=15, batch=1, seq=5), "none"),
    "one_token": (dict(seed=16, batch=1, seq=1, n_layers=1), "none"),
    "two_words": (dict(seed=17, vocab_size=2, seq=6), "none"),
    "smallest": (dict(seed=24, d_model=6, n_q_heads=3, n_kv_heads=3, d_ff=1, seq=4), "none"),
    "unaligned": (dict(seed=19, n_phases=3, d_model=24, n_q_heads=4, n_kv_heads=2, seq=8), "none"),
    "ignore_first": (dict(seed=20, seq=6, ignore_index=5), "first"),
    "ignore_last": (dict(seed=21, seq=6, ignore_index=0), "last"),
    "ignore_but_one": (dict(seed=22, seq=6, ignore_index=60), "but_one"),
    "ignore_sequence": (dict(seed=23, seq=6, ignore_index=-1), "sequence"),
    "list_residual": (dict(seed=18, seq=4, dc=[0.5, -0.25, 2.0, 0.0], rotation="residual", aux_coef=0.1), "none"),
    "learned_scaled": (dict(seed=25, seq=5, dc="learned", embed_scale="sqrt_d", aux_coef=0.2), "none"),
}

# Which of the [B, T] targets are ignored.
IGNORED = {
    "first": lambda shape: torch.arange(shape[1]).expand(shape) == 0,
    "last": lambda shape: torch.arange(shape[1]).expand(shape) == shape[1] - 1,
    "but_one": lambda shape: torch.arange(shape[0] * shape[1]).view(shape) != 4,
    "sequence": lambda shape: (torch.arange(shape[0]) == 0).view(-1, 1).expand(shape),
}


def run(case, pattern):
    """oracle.run_case, with the targets of `pattern` ignored."""
    if pattern == "none":
        return oracle.run_case(case)
    whole = oracle.loss_of

    def ignoring(tokens, targets, c, w):
        mask = IGNORED[pattern](targets.shape)
        return whole(tokens, targets.masked_fill(mask, c["ignore_index"]), c, w)

    oracle.loss_of = ignoring
    try:
        out = oracle.run_case(case)
    finally:
        oracle.loss_of = whole
    mask = IGNORED[pattern](out["in.targets"].shape)
    out["in.targets"] = out["in.targets"].masked_fill(mask, case["ignore_index"])
    return out


def main(outdir):
    torch.set_num_threads(1)
    for name, (over, pattern) in CASES.items():
        case = dict(oracle.DEFAULTS, **over)
        oracle.save_safetensors(f"{outdir}/{name}.safetensors", run(case, pattern), {"oracle": json.dumps(case)})
        print(name)


if __name__ == "__main__":
    main(sys.argv[1])
