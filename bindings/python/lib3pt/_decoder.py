"""Sequences in progress."""
from __future__ import annotations

import contextlib
from ctypes import byref, c_int32, c_size_t, c_void_p
from typing import Any, Iterable, List, Literal, Optional, SupportsIndex, Union, cast, overload

import numpy as np

from ._call import Handle, Hold, call, held, make, number
from ._model import Model
from ._numbers import INT32, UINT64, whole, wrong
from ._values import Borrowed, Doubles, Floats, address, lent, line, real


class Decoder(Handle):
    """Keys and values of the tokens so far, the logits after the last, a sampler.

    >>> decoder = lib3pt.Decoder(model)
    >>> decoder.feed(tokenizer.encode("Three"), logits=False)
    >>> token = decoder.sample()
    """

    _instead = "feed the same tokens to another one"

    def __init__(self, model: Model, max_positions: SupportsIndex = 0) -> None:
        """max_positions: room for so many tokens; 0: model.max_seq_len."""
        room, needs = whole("max_positions", max_positions), (held(Model, model),)
        self._begin(make("tpt_decoder_create", model, room, needs=needs), model, room)

    def _begin(self, hold: Hold, model: Model, room: int) -> None:
        self._start(hold, model)
        self._vocab = model._sizes.vocab_size
        self._room = room or model._sizes.max_seq_len

    @property
    def model(self) -> Model:
        return cast(Model, self._made_from())

    def copy(self) -> Decoder:
        """A second one in the same state: one prompt, many answers. Also where the model is closed: C keeps that."""
        made, needs = Decoder.__new__(Decoder), self._held().needs
        made._begin(make("tpt_decoder_create", c_void_p(needs[0].pointer), self._room, needs=needs), self.model, self._room)
        self.copy_to(made)
        return made

    __copy__ = copy

    def copy_to(self, target: Decoder) -> None:
        """Positions, cache, last logits, sampler and its random state; target is one of the same model, long enough."""
        call("tpt_decoder_copy", self, target)

    @overload
    def feed(self, tokens: Any, *, logits: Literal[True] = True, copy: Literal[True] = True) -> Floats: ...
    @overload
    def feed(self, tokens: Any, *, logits: Literal[True] = True, copy: Literal[False]) -> Borrowed: ...
    @overload
    def feed(self, tokens: Any, *, logits: Literal[False], copy: bool = True) -> None: ...
    def feed(self, tokens: Any, *, logits: bool = True, copy: bool = True) -> Union[Floats, Borrowed, None]:
        """A prompt or one token. The logits [V] after the last: a copy; with copy=False lent until the next call on
        this decoder; with logits=False none."""
        if isinstance(tokens, int):
            given: Any = byref(c_int32(whole("token", tokens, INT32)))
            count = 1
        else:
            array = line("tokens", tokens)
            given, count = address(array), array.size
        if not logits:
            call("tpt_decoder_feed", self, given, count, None)
            return None
        values = c_void_p()
        call("tpt_decoder_feed", self, given, count, byref(values))
        return lent(self, values.value, (self._vocab,), copy)

    @overload
    @staticmethod
    def feed_many(decoders: Iterable[Decoder], tokens: Any, *, copy: Literal[True] = True) -> Floats: ...
    @overload
    @staticmethod
    def feed_many(decoders: Iterable[Decoder], tokens: Any, *, copy: Literal[False]) -> List[Borrowed]: ...
    @staticmethod
    def feed_many(decoders: Iterable[Decoder], tokens: Any, *, copy: bool = True) -> Union[Floats, List[Borrowed]]:
        """One token to each of several decoders of one model, faster than one after the other. The logits [count, V];
        with copy=False a list, each lent until the next call on its decoder."""
        if not isinstance(decoders, Iterable):
            raise TypeError(f"decoders is {type(decoders).__name__}; decoders are allowed")
        decoders = list(decoders)
        given, count = line("tokens", tokens), len(decoders)
        if given.size != count:
            raise wrong(f"tokens has {given.size} ids, decoders {count}; both must be the same")
        handles = (c_void_p * count)(*(held(Decoder, d).pointer for d in decoders))
        values = (c_void_p * count)()
        call("tpt_decoder_feed_many", handles, count, address(given), values, also=decoders)
        borrowed = [Borrowed(d, at, (d._vocab,)) for d, at in zip(decoders, values)]
        return np.stack([b.numpy() for b in borrowed]) if copy else borrowed

    def score(self, tokens: Any) -> Doubles:
        """Feeds them; [count], ln P(token | what was before it), 0 at position 0."""
        array = line("tokens", tokens)
        values = np.empty(array.size, np.float64)
        call("tpt_decoder_score", self, address(array), array.size, address(values))
        return values

    def rewind(self, position: SupportsIndex = 0) -> None:
        """Forgets what is at and after a position, and the last feed's logits. The sampler stays."""
        call("tpt_decoder_rewind", self, whole("position", position))

    @property
    def position(self) -> int:
        """Tokens held."""
        return int(number("tpt_decoder_position", self))

    def set_sampling(self, temperature: float = 1.0, top_k: SupportsIndex = 0, top_p: float = 1.0,
                     seed: SupportsIndex = 0) -> None:
        """temperature 0: greedy, as at first; top_k 0 and top_p 1: off. Restarts the random state."""
        call("tpt_decoder_set_sampling", self, real("temperature", temperature), whole("top_k", top_k, INT32),
             real("top_p", top_p), whole("seed", seed, UINT64))

    def sample(self) -> int:
        """A token by the last feed's logits; does not feed it."""
        token = c_int32()
        call("tpt_decoder_sample", self, byref(token))
        return token.value

    def generate(self, count: SupportsIndex, *, stop: Optional[SupportsIndex] = None) -> List[int]:
        """Samples a token and feeds it, `count` times or until `stop` came, in one call: faster here than sample and
        feed in turn, with the same tokens. The tokens made, `stop` the last of them.

        Where it raises, KeyboardInterrupt too, the exception's `made` is a list of what was made until then, empty where
        nothing was; it is fed, and the next call goes on after it. An exception of the caller's own that takes no
        attribute (a frozen dataclass) comes out as it is, without `made`.
        """
        tokens, made = np.empty(0, np.int32), c_size_t()
        try:
            wanted = whole("count", count)
            tokens = np.empty(min(wanted, self._room), np.int32)  # C refuses more before it writes
            last = -1 if stop is None else whole("stop", stop, INT32)
            call("tpt_decoder_generate", self, last, address(tokens), wanted, byref(made))
        except BaseException as raised:
            with contextlib.suppress(Exception):
                setattr(raised, "made", tokens[:made.value].tolist())
            raise
        return cast(List[int], tokens[:made.value].tolist())

    def _describe(self) -> str:
        return f"{self.position} of {self._room} positions, vocab {self._vocab}"
