"""The geometry of a training, as it stands in the log."""
import math

import numpy as np

ROUNDED = 7  # digits of what is measured on activations: float32 has no more


def short(values):
    """Arrays and numbers as lists of numbers that a log can hold; NaN is null."""
    if isinstance(values, (list, tuple, np.ndarray)):
        return [short(value) for value in values]
    return None if math.isnan(values) else float(f"{float(values):.{ROUNDED}g}")


def points(lib3pt, layers):
    """The stream at the embedding and after every block."""
    return [(lib3pt.Point.EMBEDDING, 0)] + [(lib3pt.Point.BLOCK, layer) for layer in range(layers)]


def has_rotation(model):
    with model.config as config:
        return config.get("model.rotation.mode") != "none"


def keeps_blocks(model):
    """Is what stands inside of a block there after a forward?"""
    with model.config as config:
        return config.get("train.recompute") == "none"


def layers_of(model):
    with model.config as config:
        return int(config.get("model.n_layers"))


def drifts(model):
    return [short(model.drift(layer)) for layer in range(layers_of(model))] if has_rotation(model) else None


def geometry(lib3pt, trainer, tokens):
    """Of a forward of `tokens` [B, T]."""
    trainer.forward(tokens)
    model, layers = trainer.model, layers_of(trainer.model)
    at = points(lib3pt, layers)
    moves = has_rotation(model) and keeps_blocks(model)
    moved = [short(trainer.displacement(layer)) for layer in range(layers)] if moves else None
    return {"zero_sum": short(trainer.zero_sum()),
            "phase_means": [short(trainer.phase_means(*point)) for point in at],
            "phase_rms": [short(trainer.phase_rms(*point)) for point in at],
            "dc_energy": [short(trainer.dc_energy(*point)) for point in at],
            "displacement": moved, "drift": drifts(model)}


def at_end(lib3pt, trainer, tokens):
    """What is large, or of the weights alone: once, in the last line."""
    trainer.forward(tokens)
    model, layers = trainer.model, range(layers_of(trainer.model))
    turns = has_rotation(model)
    with model.config as config:
        profile = None if config.get("model.dc.profile") == "none" else short(model.dc_profile())
    return {"theta": [short(model.theta(layer)) for layer in layers] if turns else None,
            "angles_start": [short(model.drift(layer).start) for layer in layers] if turns else None,
            "dc_profile": profile,
            "phase_cosine": [short(trainer.phase_cosine(*point).reshape(-1)) for point in points(lib3pt, len(layers))]}
