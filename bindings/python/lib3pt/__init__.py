"""Three-Phase Transformers (arXiv:2604.14430) on CPUs: train and run them by the C library lib3pt.

    import lib3pt

    config = lib3pt.Config()                                  # the preset "3pt-5m"
    data = lib3pt.Dataset.open("train.u16")
    model = lib3pt.Model(config, seed=1)
    trainer = lib3pt.Trainer(model)
    optimizer = lib3pt.Optimizer(trainer)
    state = 1
    for step in range(20000):
        tokens, targets, state = data.random(state, 64, 128)
        trainer.zero_gradients()
        loss = trainer.accumulate(tokens, targets)
        optimizer.step()
    model.save("model.safetensors")

Objects give their memory back when they are collected, at close(), or at the end of a `with`. Failures are
exceptions: Error and its kinds. KeyboardInterrupt ends a long call. Arrays are numpy's. A str with a lone surrogate
raises UnicodeEncodeError.
"""
from ._config import Config
from ._context import Allocator, Context, LogLevel
from ._data import Batch, Dataset, Tokenizer, Window
from ._declarations import VERSION as _VERSION
from ._declarations import MemoryUse, Point, Status
from ._decoder import Decoder
from ._errors import (ArgumentError, CancelledError, ConfigError, Error, FileError, FormatError, InternalError,
                      LibraryError, NumericError, OutOfMemoryError, StateError, UnsupportedError)
from ._library import build_info, check_version, error_message, load, status_name, version
from ._model import Drift, Evaluation, Model, TensorInfo
from ._training import Optimizer, Trainer, ZeroSum
from ._values import Borrowed

__version__ = ".".join(map(str, _VERSION))

__all__ = [
    "Allocator", "ArgumentError", "Batch", "Borrowed", "CancelledError", "Config", "ConfigError", "Context", "Dataset",
    "Decoder", "Drift", "Error", "Evaluation", "FileError", "FormatError", "InternalError", "LibraryError", "LogLevel",
    "MemoryUse", "Model", "NumericError", "Optimizer", "OutOfMemoryError", "Point", "StateError", "Status",
    "TensorInfo", "Tokenizer", "Trainer", "UnsupportedError", "Window", "ZeroSum", "build_info", "check_version",
    "error_message", "load", "status_name", "version",
]
