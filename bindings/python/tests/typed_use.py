"""What a user's program looks like to mypy --strict; never run."""
from __future__ import annotations

from typing import Optional

import numpy as np
import numpy.typing as npt

import lib3pt


class Heap:
    def allocate(self, size: int, alignment: int) -> Optional[int]:
        return None

    def release(self, address: int, size: int, alignment: int) -> None:
        return None


def program(path: str) -> float:
    with lib3pt.Context(threads=2, progress=lambda done: done > 0.5, allocator=Heap()) as context:
        config: lib3pt.Config = lib3pt.Config.preset("3pt-5m")
        model: lib3pt.Model = lib3pt.Model(config, seed=1, context=context)
        trainer, data = lib3pt.Trainer(model), lib3pt.Dataset.open(path)
        tokens, targets, state = data.random(1, 4, 8)
        loss: float = trainer.accumulate(tokens, targets)
        weights: npt.NDArray[np.float32] = model.parameters()
        means: npt.NDArray[np.float64] = trainer.phase_means(lib3pt.Point.BLOCK, layer=1)
        decoder = lib3pt.Decoder(model)
        logits: npt.NDArray[np.float32] = decoder.feed([1, 2, state])
        lent: lib3pt.Borrowed = decoder.feed(1, copy=False)
        many: list[lib3pt.Borrowed] = lib3pt.Decoder.feed_many([decoder], [1], copy=False)
        text: str = lib3pt.Tokenizer.bytes().decode([decoder.sample(), *decoder.generate(2, stop=3)])
        try:
            model.save(path)
        except lib3pt.Error as error:
            return float(error.status) + len(text) + len(many)
        return loss + float(weights[0] + means[0] + logits[0]) + len(lent)
