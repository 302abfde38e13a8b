"""What a token costs: bench.py SECONDS prints what bindings/conformance/overhead.c does: a token a call, many in one."""
import json
import statistics
import sys
import time

import lib3pt

TOKENS = 127


def step_by_step(decoder):
    start, token = time.perf_counter(), 0
    for _ in range(TOKENS):
        decoder.feed(token, logits=False)
        token = decoder.sample()
    decoder.rewind(0)
    return time.perf_counter() - start


def in_one_call(decoder):
    start = time.perf_counter()
    decoder.feed(0, logits=False)
    decoder.generate(TOKENS - 1)
    decoder.rewind(0)
    return time.perf_counter() - start


def speed(round_seconds, decoder, seconds):
    rounds, end = [], time.perf_counter() + seconds
    while not rounds or time.perf_counter() < end:
        rounds.append(round_seconds(decoder))
    return round(TOKENS / statistics.median_high(rounds), 1)


def main(seconds):
    context = lib3pt.Context()
    model = lib3pt.Model(lib3pt.Config.preset("3pt-5m"), seed=1, context=context)
    decoder = lib3pt.Decoder(model)
    print(json.dumps({"tokens_per_s": speed(step_by_step, decoder, seconds / 2),
                      "generated_per_s": speed(in_one_call, decoder, seconds / 2)}))


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 1.0)
