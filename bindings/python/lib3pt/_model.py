"""Weights and their description."""
from __future__ import annotations

import ctypes
from ctypes import byref, c_size_t, c_void_p
from dataclasses import dataclass
from typing import Any, Dict, Mapping, NamedTuple, Optional, SupportsIndex, Tuple, Union, cast

import numpy as np

from . import _safetensors
from ._call import Handle, Hold, call, make, number
from ._config import Config
from ._context import Context
from ._data import Dataset
from ._declarations import tpt_drift, tpt_evaluation, tpt_tensor_info
from ._errors import UnsupportedError
from ._gate import Family
from ._library import Path
from ._numbers import UINT64, whole, wrong
from ._values import Floats, Shape, address, floats, octets, path, shaped, utf8, view

PROFILE = "embedding.dc_profile"  # a name that get_tensor and set_tensor know beside those of tensors


@dataclass(frozen=True)
class TensorInfo:
    name: str  # as in the published code's state_dict
    shape: Shape  # a linear map is [out, in]
    offset: int  # of its first element in parameters()
    count: int  # elements


class Drift(NamedTuple):
    """How far a layer's P / 2 angles are from their start, in radians."""

    start: float
    mean: float
    l2: float
    max: float


class Evaluation(NamedTuple):
    loss: float  # nats a token
    perplexity: float
    tokens: int  # targets counted


class Sizes(NamedTuple):
    d_model: int
    n_phases: int
    vocab_size: int
    n_layers: int
    max_seq_len: int

    @property
    def pairs(self) -> int:
        """P / 2: angles of a layer."""
        return self.d_model // self.n_phases // 2


BUSY = ("the model is in use by another call; its weights change, or are handed out, only while no call runs on it or on "
        "what is made from it")


class Model(Handle):
    """A model with random weights, a function of the description and the seed alone.

    >>> model = lib3pt.Model(lib3pt.Config.preset("3pt-5m"), seed=1)

    Any number of threads may decode and evaluate with it at once. Letters of shapes: B batch, T positions, D d_model,
    N phases, P = D / N, V vocabulary, L layers.
    """

    _instead = "use save() and load(), or save_memory() and load_memory()"
    _sizes: Sizes

    def __init__(self, config: Config, seed: SupportsIndex, *, context: Optional[Context] = None) -> None:
        used = Context._given(context)
        self._begin(make("tpt_model_create", used, config, whole("seed", seed, UINT64), needs=(used._held(),)), used)

    def _begin(self, hold: Hold, context: Context) -> None:
        self._start(hold, context, Family(BUSY, cast(Family, context._gate)))
        with self.config as config:
            self._sizes = Sizes(*(int(config.get("model." + key)) for key in Sizes._fields))

    @classmethod
    def _made(cls, context: Context, name: str, *arguments: Any) -> Model:
        made = cls.__new__(cls)
        made._begin(make(name, *arguments, needs=(context._held(),)), context)
        return made

    @classmethod
    def load(cls, file: Path, config: Optional[Config] = None, *, context: Optional[Context] = None) -> Model:
        """From a safetensors file, a checkpoint among them. config: needed where the file holds none."""
        used = Context._given(context)
        return cls._made(used, "tpt_model_load", used, path(file), config)

    @classmethod
    def load_memory(cls, data: Union[bytes, bytearray, memoryview], config: Optional[Config] = None, *,
                    context: Optional[Context] = None) -> Model:
        """From the bytes of such a file, which are not copied."""
        used = Context._given(context)
        file = octets("data", data)
        return cls._made(used, "tpt_model_load_memory", used, address(file), file.size, config)

    @classmethod
    def from_pretrained_state_dict(cls, state_dict: Mapping[str, Any], config: Config, *,
                                   context: Optional[Context] = None) -> Model:
        """From a state_dict of the published code: tensors of torch or arrays, by name."""
        return cls.load_memory(_safetensors.packed(state_dict), config, context=context)

    def state_dict(self, *, copy: bool = True) -> Dict[str, Floats]:
        """All tensors by name, in the order of the published code. copy=False: views as of parameters()."""
        try:
            all_values = self.parameters()
        except UnsupportedError:  # a converted model has no float32 weights to look at
            return {t.name: self.get_tensor(t.name) for t in self.tensors()}
        parts = {t.name: all_values[t.offset:t.offset + t.count].reshape(t.shape) for t in self.tensors()}
        return {name: part.copy() for name, part in parts.items()} if copy else parts

    def save(self, file: Path) -> None:
        """Weights and description as one safetensors file, which appears whole or not at all."""
        call("tpt_model_save", self, path(file))

    def save_memory(self) -> bytes:
        """The same bytes."""
        length, room = c_size_t(), np.empty(0, np.uint8)
        while True:
            call("tpt_model_save_memory", self, address(room) if room.size else None, room.size, byref(length))
            if length.value <= room.size:
                return room[:length.value].tobytes()
            room = np.empty(length.value, np.uint8)

    @property
    def config(self) -> Config:
        """A copy of its description."""
        hold = self._held()
        made = Config._of(make("tpt_config_copy", c_void_p(call("tpt_model_config", self))))
        del hold  # the description was the model's until here
        return made

    @property
    def context(self) -> Context:
        """What it was made with; one of its own where it was made with None."""
        return cast(Context, self._made_from())

    def fold(self) -> Model:
        """A snapshot for decoding: the same logits, rotations and gains multiplied into the linear maps."""
        return self._another("tpt_model_fold")

    def convert(self, precision: str) -> Model:
        """A folded snapshot to decode and evaluate: "f32", "bf16" (half the memory) or "int8" (some quarter)."""
        return self._another("tpt_model_convert", utf8("precision", precision))

    def _another(self, name: str, *arguments: Any) -> Model:
        """From this one, also where its context is closed: C keeps that."""
        made, hold, context = Model.__new__(Model), self._held(), self.context
        made._begin(make(name, self, *arguments, needs=hold.needs), context)
        return made

    # ---- tensors ----

    @property
    def tensor_count(self) -> int:
        return int(number("tpt_model_tensor_count", self))

    def tensor_info(self, index: SupportsIndex) -> TensorInfo:
        hold = self._held()  # the name is the model's
        info = tpt_tensor_info(ctypes.sizeof(tpt_tensor_info))
        call("tpt_model_tensor_info", self, whole("index", index), byref(info))
        name = info.name.decode()
        del hold
        return TensorInfo(name, tuple(info.shape[:info.ndim]), info.offset, info.count)

    def tensors(self) -> Tuple[TensorInfo, ...]:
        return tuple(self.tensor_info(i) for i in range(self.tensor_count))

    def _shape_of(self, key: bytes) -> Optional[Shape]:
        """None: there is no such tensor, as the library will say."""
        name = key.decode("utf-8", "replace")
        if name == PROFILE:
            return (self._sizes.max_seq_len,)
        return next((t.shape for t in self.tensors() if t.name == name), None)

    def get_tensor(self, name: str) -> Floats:
        """A copy in its shape; "embedding.dc_profile" [max_seq_len] too."""
        key = utf8("name", name)
        values = np.empty(self._shape_of(key) or (1,), np.float32)
        call("tpt_model_get_tensor", self, key, address(values), values.size)
        return values

    def set_tensor(self, name: str, values: Any) -> None:
        """Copied in: an array in the tensor's shape, or all its values in one row. It ends the forward of
        every trainer of the model."""
        key, array = utf8("name", name), floats("values", values)
        shape = self._shape_of(key) if array.ndim != 1 else None  # C knows how many there are, not in which shape
        if shape is not None:
            shaped("values", array, shape)
        call("tpt_model_set_tensor", self, key, address(array), array.size)

    def parameters(self) -> Floats:
        """All, a view [parameter_count] that keeps the memory; after writing to it begin with a forward."""
        values, count = c_void_p(), c_size_t()
        call("tpt_model_parameters", self, byref(values), byref(count))
        return view(self, values.value or 0, (count.value,))

    # ---- what it can do ----

    def evaluate(self, dataset: Dataset, seq: SupportsIndex, max_windows: SupportsIndex = 0, *,
                 config: Optional[Config] = None) -> Evaluation:
        """Loss on the windows of `seq` tokens of a dataset; max_windows: the first so many, 0 all."""
        result = tpt_evaluation(ctypes.sizeof(tpt_evaluation))
        call("tpt_evaluate", self, config, dataset, whole("seq", seq), whole("max_windows", max_windows), byref(result))
        return Evaluation(result.loss, result.perplexity, result.tokens)

    def dc_profile(self, first: SupportsIndex = 0, count: Optional[SupportsIndex] = None) -> Floats:
        """[count], r(first) and on; count None: to the last, r(max_seq_len - 1)."""
        start = whole("first", first)
        left = max(self._sizes.max_seq_len - start, 0) if count is None else whole("count", count)
        values = np.empty(_room(left), np.float32)
        call("tpt_geometry_dc_profile", self, start, address(values), left)
        return values[:left]

    def theta(self, layer: SupportsIndex) -> Floats:
        """[P / 2] radians: the angles that a layer has learned."""
        values = np.empty(self._sizes.pairs, np.float32)
        call("tpt_geometry_theta", self, whole("layer", layer), address(values), values.size)
        return values

    def angles(self, layer: SupportsIndex, phase: SupportsIndex) -> Floats:
        """[P / 2] radians: theta + 2 pi phase / N."""
        values = np.empty(self._sizes.pairs, np.float32)
        call("tpt_geometry_angles", self, whole("layer", layer), whole("phase", phase), address(values), values.size)
        return values

    def drift(self, layer: SupportsIndex) -> Drift:
        """How far a layer's angles are from their start."""
        result = tpt_drift(ctypes.sizeof(tpt_drift))
        call("tpt_geometry_drift", self, whole("layer", layer), byref(result))
        return Drift(result.start, result.mean, result.l2, result.max)

    def _describe(self) -> str:
        s = self._sizes
        with self.config as config:
            count = config.parameter_count
        return (f"{count:,} parameters, d_model {s.d_model}, {s.n_phases} phases, {s.n_layers} layers, "
                f"vocab {s.vocab_size}")


MOST_ROOM = 1 << 31  # elements of a result that is asked for by number


def _room(count: int) -> int:
    if count > MOST_ROOM:
        raise wrong(f"count is {count}; 0 to {MOST_ROOM} is allowed")
    return count
