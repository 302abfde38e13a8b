"""What a token costs: bench.py SECONDS prints {"tokens_per_s": ...}, as bindings/conformance/overhead.c does."""
import json
import statistics
import sys
import time

import lib3pt

TOKENS = 127


def round_seconds(decoder):
    start, token = time.perf_counter(), 0
    for _ in range(TOKENS):
        decoder.feed(token, logits=False)
        token = decoder.sample()
    decoder.rewind(0)
    return time.perf_counter() - start


def main(seconds):
    context = lib3pt.Context()
    model = lib3pt.Model(lib3pt.Config.preset("3pt-5m"), seed=1, context=context)
    decoder = lib3pt.Decoder(model)
    rounds, end = [], time.perf_counter() + seconds
    while not rounds or time.perf_counter() < end:
        rounds.append(round_seconds(decoder))
    print(json.dumps({"tokens_per_s": round(TOKENS / statistics.median_high(rounds), 1)}))


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 1.0)
