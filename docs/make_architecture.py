"""Draws docs/architecture.svg, the picture of ARCHITECTURE.md.

    make_architecture.py [FILE]      FILE: where to, else architecture.svg beside this file
"""
import sys
from html import escape
from pathlib import Path

WIDTH, MARGIN, LINE, GAP = 980, 24, 17, 22
STYLE = """text{font:13px sans-serif;fill:#1b1f24}.h{font-weight:bold;font-size:15px}.f{font-family:monospace;font-size:12px;
fill:#57606a}.page{fill:#fff}.box{fill:#f2f6fb;stroke:#57606a}.kept{fill:#fdf3dc;stroke:#9a6700}
.low{fill:#eaf5ea;stroke:#2c6e2f}.arrow{stroke:#57606a;fill:none;stroke-width:1.5}.tip{fill:#57606a}
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.f{fill:#9aa4af}.page{fill:#0d1117}.box{fill:#182130;stroke:#8b949e}
.kept{fill:#33270c;stroke:#d29922}.low{fill:#12261a;stroke:#57ab5a}.arrow{stroke:#8b949e}.tip{fill:#8b949e}}"""

# Of a box: what is done, then the files.
TRAINING = [
    ("tokens and targets of a batch", "api/dataset.c  io/tokens.c"),
    ("tpt_trainer_accumulate: checks, then one run", "api/trainer_step.c  model/step.c"),
    ("embedding and DC profile", "op/dc_inject.c"),
    ("L blocks, group by group, tile by tile:\nnorm, q k v, RoPE, attention, o,\nrotation, norm, gate and up, SwiGLU, down",
     "model/block.c  block_rows.c\nop/phase_norm.c  linear.c  rope.c\nop/attention.c  phase_rotate.c  swiglu.c"),
    ("head and loss, a chunk of logits at a time,\nforward and backward in one",
     "model/head.c  op/linear.c  op/cross_entropy.c"),
    ("the blocks backward, last to first;\nthe embedding's and the profile's gradient", "model/block.c  op/dc_inject.c"),
    ("tpt_optimizer_step: norm, clipping, AdamW,\none pass over four arrays", "api/optimizer.c  train/clip.c  train/adamw.c"),
]
DECODING = [
    ("tpt_decoder_feed: ids and room are checked", "api/decoder.c"),
    ("few rows, or many sequences of one each:\none chain of stages; a prompt's rows:\noperation by operation",
     "decode/sequence.c\ndecode/few.c  base/chain.c\ndecode/forward.c"),
    ("embedding in the form it is held", "decode/forward.c  op/dc_inject.c"),
    ("L blocks; a stage is cut into rows of weights:\nnorm, q k v, attention over the cache, o,\n"
     "rotation, norm, gate and up, SwiGLU, down", "decode/few.c  decode/attend.c\nop/linear_rows.c  linear_held.c"),
    ("final norm, head: logits to a spare,\nwhich a feed that ends well makes current", "decode/few.c  decode/sequence.c"),
    ("tpt_decoder_sample: temperature, top-k, top-p", "decode/sample.c  base/random.c"),
]
KEPT = [
    ("weights, gradients, moments: four flat arrays alike", "model/params.c"),
    ("activations, by one plan when the trainer is made", "model/acts.c  base/memory.c"),
    ("keys and values [L, room, K E], work space of a feed", "decode/sequence.c"),
]
LOW = [
    ("inner loops of plain C, avx2, avx512 or neon", "kernel/kernels.inc  kernel/choose.c"),
    ("products: own or BLIS; bf16 on AMX or vectors", "kernel/gemm.c  kernel/bf16.c"),
    ("a pool that sleeps; items cut by shape, never by thread", "base/threads.c"),
]


def box(kind, x, y, width, what, files):
    """Its elements and its height."""
    lines = [("", text) for text in what.split("\n")] + [("f", text) for text in files.split("\n")]
    height = len(lines) * LINE + 12
    made = [f'<rect class="{kind}" x="{x}" y="{y}" width="{width}" height="{height}" rx="5"/>']
    for number, (style, text) in enumerate(lines):
        made.append(f'<text class="{style}" x="{x + 10}" y="{y + 18 + number * LINE}">{escape(text)}</text>')
    return made, height


def title(x, y, text):
    return f'<text class="h" x="{x}" y="{y}">{escape(text)}</text>'


def column(kind, x, y, width, name, boxes, arrows):
    made = [title(x, y + 14, name)]
    y += GAP
    for number, (what, files) in enumerate(boxes):
        if number and arrows:
            middle = x + width // 2
            made.append(f'<path class="arrow" d="M{middle} {y - GAP}V{y - 6}"/>')
            made.append(f'<path class="tip" d="M{middle - 4} {y - 7}h8l-4 7z"/>')
        parts, height = box(kind, x, y, width, what, files)
        made += parts
        y += height + (GAP if arrows else 8)
    return made, y


def picture():
    half = (WIDTH - 3 * MARGIN) // 2
    right = 2 * MARGIN + half
    made, left_end = column("box", MARGIN, MARGIN, half, "A training step", TRAINING, True)
    more, right_end = column("box", right, MARGIN, half, "A decoded token", DECODING, True)
    made += more
    end = max(left_end, right_end) + GAP // 2
    more, kept_end = column("kept", MARGIN, end, half, "Memory: each handle is one block", KEPT, False)
    made += more
    more, low_end = column("low", right, end, half, "Below both", LOW, False)
    height = max(kept_end, low_end) + MARGIN // 2
    head = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
            'role="img" aria-label="What flows where in a training step and in a decoded token">')
    return "\n".join([head, f"<style>{STYLE}</style>",
                      f'<rect class="page" width="{WIDTH}" height="{height}"/>', *made, *more, "</svg>", ""])


if __name__ == "__main__":
    to = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("architecture.svg")
    to.write_text(picture(), encoding="utf-8")
