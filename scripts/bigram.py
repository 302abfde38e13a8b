"""Bits a byte of a byte-bigram model: counts of the training text with add-one smoothing, asked for
every byte of the held-out text but the first.

    bigram.py TRAIN HELD
"""
import math
import sys
from collections import Counter


def pairs(path):
    text = open(path, "rb").read()
    return Counter(zip(text, text[1:])), len(text) - 1


def main():
    train, _ = pairs(sys.argv[1])
    held, count = pairs(sys.argv[2])
    before = Counter()
    for (first, _), n in train.items():
        before[first] += n
    bits = -sum(n * math.log2((train[pair] + 1) / (before[pair[0]] + 256)) for pair, n in held.items())
    print(f"{bits / count:.3f}")


if __name__ == "__main__":
    main()
