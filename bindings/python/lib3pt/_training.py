"""Activations, gradients and what is measured on them; AdamW."""
from __future__ import annotations

import ctypes
import math
from contextlib import contextmanager
from ctypes import byref, c_double, c_size_t, c_uint64, c_void_p
from typing import Any, Iterator, Literal, NamedTuple, Optional, Set, SupportsIndex, Tuple, Union, cast, overload

import numpy as np

from ._call import Handle, call, held, make, number
from ._config import Config
from ._declarations import Point, Status
from ._errors import ArgumentError, StateError
from ._library import Path
from ._model import Model
from ._numbers import INT32, whole, wrong
from ._values import (Borrowed, Doubles, Floats, Ids, Shape, address, floats, ids, lent, octets, path, real,
                      rows, shaped, utf8, view)

Index = SupportsIndex
Sizes = Tuple[int, int]  # B, T


class ZeroSum(NamedTuple):
    measured: float  # sum of the phase means at the embedding of the last forward
    analytic: float  # N mean r(p) of the profile as it is now, NaN without one


class Trainer(Handle):
    """Activations and gradients of one model. Tokens and targets are int32 [B, T], or [T] for one row; B x T up to
    train.batch x train.seq_len.

    >>> trainer.zero_gradients()
    >>> loss = trainer.accumulate(tokens, targets)
    >>> optimizer.step()

    What is measured (phase_means and on) is of the last forward or accumulate. point: a Point; layer: 0 to L - 1.
    """

    _instead = "save the model, or a checkpoint with save_checkpoint()"

    def __init__(self, model: Model, config: Optional[Config] = None) -> None:
        """config: None for the model's; its training part counts."""
        self._start(make("tpt_trainer_create", model, config, needs=(held(Model, model),)), model)
        self._sizes = model._sizes
        self._shapes = {t.name: t.shape for t in model.tensors()}
        self._tried: Set[Sizes] = set()  # what the last forward or accumulate may be; C knows

    @property
    def model(self) -> Model:
        return cast(Model, self._made_from())

    @contextmanager
    def _forward_of(self, batch: Ids) -> Iterator[None]:
        """Around a call that makes a forward. What is raised in it may come before or after it is made."""
        made = (batch.shape[0], batch.shape[1])
        self._tried.add(made)
        try:
            yield
        finally:
            self._tried.add(made)  # again: another thread's call may have ended between
        self._tried.intersection_update((made,))

    def _last(self) -> Optional[Sizes]:
        """B, T of the forward that C has; None: it has none, as it will say."""
        values, count = c_void_p(), c_size_t()
        try:
            call("tpt_trainer_activation", self, Point.EMBEDDING, 0, byref(values), byref(count))
        except StateError as error:
            if error._in_use:
                raise
            return None
        cells = count.value // self._sizes.d_model
        fitting = [sizes for sizes in self._tried if sizes[0] * sizes[1] == cells]
        if len(fitting) > 1:
            fitting = [sizes for sizes in fitting if self._has_positions(sizes[1])]
        if not fitting:
            raise StateError("an interrupt hid what the last forward was; make another one", Status.STATE)
        return fitting[0]

    def _has_positions(self, count: int) -> bool:
        """T of the forward: C takes no other."""
        values = np.empty(count, np.float32)
        try:
            call("tpt_geometry_dc", self, Point.EMBEDDING, 0, address(values), count)
        except ArgumentError:
            return False
        return True

    def forward(self, tokens: Any) -> None:
        """The stream of a batch [B, T] up to what the head reads."""
        batch = rows("tokens", tokens)
        with self._forward_of(batch):
            call("tpt_trainer_forward", self, address(batch), *batch.shape)

    @overload
    def logits(self, *, copy: Literal[True] = True) -> Floats: ...
    @overload
    def logits(self, *, copy: Literal[False]) -> Borrowed: ...
    def logits(self, *, copy: bool = True) -> Union[Floats, Borrowed]:
        """[B, T, V] of the last forward. copy=False: lent until the next call on this trainer."""
        last, values = self._last(), c_void_p()
        call("tpt_trainer_logits", self, byref(values))
        return lent(self, values.value, (*(last or (0, 0)), self._sizes.vocab_size), copy)

    @overload
    def activation(self, point: Index, layer: Index = 0, *, copy: Literal[True] = True) -> Floats: ...
    @overload
    def activation(self, point: Index, layer: Index = 0, *, copy: Literal[False]) -> Borrowed: ...
    def activation(self, point: Index, layer: Index = 0, *, copy: bool = True) -> Union[Floats, Borrowed]:
        """[B, T, D], the stream at a point. copy=False: lent until the next call on this trainer."""
        last, values, count = self._last(), c_void_p(), c_size_t()
        call("tpt_trainer_activation", self, whole("point", point, INT32), whole("layer", layer), byref(values),
             byref(count))
        return lent(self, values.value, (*(last or (0, 0)), self._sizes.d_model), copy)

    def loss(self, targets: Any) -> float:
        """Of the last forward, in nats a token; targets as many as its tokens."""
        given, last = ids("targets", targets), self._last()
        fits = last is not None and given.size == last[0] * last[1]
        if last and fits and given.ndim != 1:
            shaped("targets", given, last)
        try:
            return float(number("tpt_trainer_loss", self, address(given) if fits else None, kind=c_double))
        except ArgumentError:  # C looks for the forward first: an accumulate has none to take a loss of
            if fits or last is None:
                raise
        raise wrong(f"targets has {given.size} values; the last forward, {_cross(last)}, needs {last[0] * last[1]}")

    def backward(self) -> None:
        """Of the last loss, once a forward; adds to the gradients."""
        call("tpt_trainer_backward", self)

    def backward_logits(self, dlogits: Any) -> None:
        """Instead, of a loss of your own: its derivatives by each logit [B, T, V]."""
        given, last = floats("dlogits", dlogits), self._last()
        if last and given.ndim != 1:
            shaped("dlogits", given, (*last, self._sizes.vocab_size))
        call("tpt_trainer_backward_logits", self, address(given), given.size)

    def accumulate(self, tokens: Any, targets: Any) -> float:
        """Forward, loss and backward in one, the fast path. The loss; the gradients are added to."""
        batch, aims = rows("tokens", tokens), rows("targets", targets)
        if batch.shape != aims.shape:
            raise wrong(f"targets is {_cross(aims.shape)}, tokens {_cross(batch.shape)}; both must be the same")
        with self._forward_of(batch):
            value = number("tpt_trainer_accumulate", self, address(batch), address(aims), *batch.shape, kind=c_double)
        return float(value)

    def zero_gradients(self) -> None:
        call("tpt_trainer_zero_gradients", self)

    def gradients(self) -> Floats:
        """All, laid out as Model.parameters(): a view that keeps the memory; writable between calls."""
        values, count = c_void_p(), c_size_t()
        call("tpt_trainer_gradients", self, byref(values), byref(count))
        return view(self, values.value or 0, (count.value,))

    def get_gradient(self, name: str) -> Floats:
        """A copy of one tensor's, in its shape."""
        key = utf8("name", name)
        values = np.empty(self._shapes.get(key.decode("utf-8", "replace"), (1,)), np.float32)  # of none: the library says so
        call("tpt_trainer_get_gradient", self, key, address(values), values.size)
        return values

    def save_checkpoint(self, optimizer: Optimizer, file: Path, user: bytes = b"") -> None:
        """Description, weights, moments, step, rate and bytes of your own in a file, which Model.load reads too."""
        own = octets("user", user)
        call("tpt_checkpoint_save", self, optimizer, path(file), address(own), own.size)

    def load_checkpoint(self, optimizer: Optimizer, file: Path) -> bytes:
        """All or nothing; gives your own bytes back. Continues with the bits of a run that was never stopped.

        Where your own bytes are more than 4096 the file is read twice; what ends the second time leaves the trainer as
        the first has made it.
        """
        size, room = c_size_t(), 4096
        while True:
            user = ctypes.create_string_buffer(room)
            call("tpt_checkpoint_load", self, optimizer, path(file), user, room, byref(size))
            if size.value <= room:
                return user.raw[:size.value]
            room = size.value

    # ---- geometry ----

    def _measured(self, name: str, point: Index, layer: Index, shape: Shape) -> Doubles:
        values = np.empty(shape, np.float64)
        call("tpt_geometry_" + name, self, whole("point", point, INT32), whole("layer", layer), address(values),
             values.size)
        return values

    def phase_means(self, point: Index, layer: Index = 0) -> Doubles:
        """[N]: mean over B, T and the phase's channels."""
        return self._measured("phase_means", point, layer, (self._sizes.n_phases,))

    def phase_rms(self, point: Index, layer: Index = 0) -> Doubles:
        """[N]: root of the mean square over the same."""
        return self._measured("phase_rms", point, layer, (self._sizes.n_phases,))

    def phase_cosine(self, point: Index, layer: Index = 0) -> Doubles:
        """[N, N]: mean over tokens of the cosine between two phases."""
        return self._measured("phase_cosine", point, layer, (self._sizes.n_phases, self._sizes.n_phases))

    def dc_energy(self, point: Index, layer: Index = 0) -> Doubles:
        """[N]: the share of the energy that is a phase's mean."""
        return self._measured("dc_energy", point, layer, (self._sizes.n_phases,))

    def dc(self, point: Index, layer: Index = 0) -> Floats:
        """[T]: mean over B and D at each position."""
        last = self._last()
        values = np.empty(last[1] if last else 1, np.float32)
        call("tpt_geometry_dc", self, whole("point", point, INT32), whole("layer", layer), address(values), values.size)
        return values

    def zero_sum(self) -> ZeroSum:
        """The zero-sum of the phases: the two agree to rounding."""
        measured, analytic = c_double(), c_double()
        call("tpt_geometry_zero_sum", self, byref(measured), byref(analytic))
        return ZeroSum(measured.value, analytic.value)

    def displacement(self, layer: Index) -> float:
        """Mean over tokens of |R h - h| / |h|: how far a layer's rotation moves the stream."""
        return float(number("tpt_geometry_displacement", self, whole("layer", layer), kind=c_double))

    def _describe(self) -> str:
        shape = self._last()
        last = f"{_cross(shape)} tokens" if shape else "no forward yet"
        return f"{last}, d_model {self._sizes.d_model}, vocab {self._sizes.vocab_size}"


def _cross(shape: Tuple[int, ...]) -> str:
    return " x ".join(map(str, shape))


class Optimizer(Handle):
    """AdamW of a trainer. The two count as one object where threads are concerned.

    >>> norm = optimizer.step()
    """

    _instead = "save a checkpoint with Trainer.save_checkpoint()"

    def __init__(self, trainer: Trainer, config: Optional[Config] = None) -> None:
        """config: None for the trainer's; its training part counts."""
        needs = (held(Trainer, trainer),)
        self._start(make("tpt_optimizer_create", trainer, config, needs=needs), trainer, trainer._gate)

    @property
    def trainer(self) -> Trainer:
        return cast(Trainer, self._made_from())

    def step(self) -> float:
        """One step; the gradients' norm before clipping. The gradients stay. Ends the trainer's forward."""
        self.trainer._generation += 1
        return float(number("tpt_optimizer_step", self, kind=c_double))

    @property
    def lr(self) -> float:
        """The rate of the next step: the schedule's, or what was set; set it to None for the schedule again."""
        return float(number("tpt_optimizer_lr", self, kind=c_double))

    @lr.setter
    def lr(self, lr: Optional[float]) -> None:
        call("tpt_optimizer_set_lr", self, math.nan if lr is None else real("lr", lr))

    @property
    def step_count(self) -> int:
        """Steps done, those before a checkpoint among them."""
        return int(number("tpt_optimizer_step_count", self, kind=c_uint64))

    def _describe(self) -> str:
        return f"{self.step_count} steps, lr {self.lr:g}"
