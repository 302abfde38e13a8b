"""Runs the fuzzer on a corpus made from the project's own files.

    fuzz.py FUZZ ROOT WORK [RUNS]

The corpus grows in WORK/corpus from one run to the next; what made it fail lies in WORK. The same seed and
corpus give the same inputs.
"""
import json
import subprocess
import sys
from pathlib import Path

DESCRIPTION, MODEL, TOKENIZER, TEXT = (bytes([i]) for i in range(4))
MOST = 1 << 16  # bytes of an input


def tokenizer(kind):
    """Small tokenizer.json texts of both models."""
    model = {"type": "WordLevel", "vocab": {"[UNK]": 0, "three": 1, "phases": 2}, "unk_token": "[UNK]"}
    splitter = {"type": "Whitespace"}
    if kind == "BPE":
        model = {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2, "<0x0A>": 3}, "merges": ["a b"], "unk_token": None,
                 "dropout": None, "continuing_subword_prefix": None, "end_of_word_suffix": None, "fuse_unk": False,
                 "byte_fallback": True}
        splitter = {"type": "Split", "pattern": {"Regex": "\\s+|\\w+"}, "behavior": "Isolated", "invert": False}
    return json.dumps({"version": "1.0", "truncation": None, "padding": None, "added_tokens": [],
                       "normalizer": {"type": "Replace", "pattern": {"String": "x"}, "content": "y"},
                       "pre_tokenizer": splitter, "post_processor": None, "decoder": None, "model": model})


def seeds(root):
    for path in sorted((root / "examples").glob("*.yaml")):
        yield DESCRIPTION + path.read_bytes()
    yield DESCRIPTION + b"{model: {dc: {profile: [1, 0.5, .25]}, rotation: {mode: residual}}, train: {lr: 1e-3}}"
    for path in sorted((root / "tests/golden").glob("*.safetensors")):
        yield (MODEL + path.read_bytes())[:MOST]
    for kind in ("WordLevel", "BPE"):
        yield TOKENIZER + tokenizer(kind).encode()
    yield TEXT + (root / "README.md").read_bytes()[:4096]


def main():
    fuzz, root, work = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    runs = sys.argv[4] if len(sys.argv) > 4 else "10000"
    corpus = work / "corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    for i, data in enumerate(seeds(root)):
        (corpus / f"seed{i:02}").write_bytes(data)
    words = [fuzz, f"-runs={runs}", "-seed=1", f"-max_len={MOST}", "-timeout=20", "-rss_limit_mb=2048",
             "-max_total_time=150", f"-artifact_prefix={work}/", str(corpus)]
    done = subprocess.run(words, capture_output=True, text=True)
    print("\n".join(done.stderr.splitlines()[-15:]))
    sys.exit(1 if done.returncode else 0)


if __name__ == "__main__":
    main()
