"""A prompt in PyTorch: the forward pass of the peer's network (torch_peer.py) over many tokens at once.

    python3 torch_prompt.py 123m f32|bf16 [eager|compile] [prompt=512] [threads=2] [seconds=10]   -> one JSON line

The logits of the last position only, as a decoder wants them, without gradients; the key/value cache that a
decoder would fill besides is left out, in the peer's favour.
"""
import json
import resource
import sys
import time

import torch
from torch_peer import SIZES, Net


def main():
    size, *words = sys.argv[1:]
    options = dict(w.split("=") for w in words if "=" in w)
    torch.set_num_threads(int(options.get("threads", 2)))
    torch.manual_seed(0)
    v, d, layers, h, k, f, _, seq = SIZES[size]
    count = min(int(options.get("prompt", 512)), seq)
    net = Net(v, d, layers, h, k, f, seq, "rope" in words)
    net = net.to(torch.bfloat16 if "bf16" in words else torch.float32).eval()
    forward = torch.compile(net) if "compile" in words else net
    times, until = [], None
    with torch.inference_mode():
        while until is None or time.perf_counter() < until or len(times) < 5:
            tokens = torch.randint(0, v, (1, count))
            start = time.perf_counter()
            forward(tokens)
            times.append(time.perf_counter() - start)
            if until is None and len(times) == 2:  # warm, and compiled
                times, until = [], time.perf_counter() + float(options.get("seconds", 10))
    times.sort()
    print(json.dumps(dict(
        peer="torch " + torch.__version__.split("+")[0], job="prompt", size=size, options=words,
        threads=torch.get_num_threads(), tokens_per_s=count / times[len(times) // 2],
        best_tokens_per_s=count / times[0], rss_gb=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6)))


if __name__ == "__main__":
    main()
