"""Sequences of token ids, and text as ids."""
from __future__ import annotations

import ctypes
import math
from ctypes import byref, c_size_t
from typing import Any, NamedTuple, Optional, SupportsIndex, Union

import numpy as np

from ._call import Handle, call, make, number, text
from ._context import Context
from ._library import Path
from ._numbers import INT32, UINT64, whole, wrong
from ._values import Ids, address, line, path, utf8

Text = Union[str, bytes]
MOST_IDS = 1 << 31  # of a batch; numpy would ask the system for them before the library can say no


class Batch(NamedTuple):
    tokens: Ids  # [batch, seq]
    targets: Ids  # [batch, seq]: of each token the next one
    random_state: int  # for the next batch


class Window(NamedTuple):
    tokens: Ids  # [seq]
    targets: Ids  # [seq]


class Dataset(Handle):
    """Token ids in a file (.u16, .bin of 16 bits, .u32) or in memory: Dataset.open, Dataset.from_tokens."""

    _instead = "open it again where it is needed"

    def __init__(self) -> None:
        raise TypeError("a Dataset is made by Dataset.open or Dataset.from_tokens")

    @classmethod
    def open(cls, file: Path, *, context: Optional[Context] = None) -> Dataset:
        """Read as needed, never whole."""
        used = Context._given(context)
        return cls._of(make("tpt_dataset_open", used, path(file), needs=(used._held(),)), used)

    @classmethod
    def from_tokens(cls, tokens: Any, *, context: Optional[Context] = None) -> Dataset:
        """A copy of ids: an array or a list."""
        used, array = Context._given(context), line("tokens", tokens)
        return cls._of(make("tpt_dataset_from_tokens", used, address(array), array.size, needs=(used._held(),)), used)

    def __len__(self) -> int:
        return int(number("tpt_dataset_count", self))

    def random(self, random_state: SupportsIndex, batch: SupportsIndex, seq: SupportsIndex) -> Batch:
        """Windows from places drawn uniformly. The same random_state, any number at first, gives the same.

        >>> tokens, targets, state = dataset.random(state, 64, 128)
        """
        shape = whole("batch", batch), whole("seq", seq)
        state = ctypes.c_uint64(whole("random_state", random_state, UINT64))
        tokens, targets = self._room(*shape), self._room(*shape)
        call("tpt_dataset_random", self, byref(state), *shape, address(tokens), address(targets))
        return Batch(tokens, targets, state.value)

    def window_count(self, seq: SupportsIndex) -> int:
        """(tokens - 1) / seq."""
        return int(number("tpt_dataset_window_count", self, whole("seq", seq)))

    def window(self, index: SupportsIndex, seq: SupportsIndex) -> Window:
        """Tokens from index x seq on, targets one further."""
        count = whole("seq", seq)
        tokens, targets = self._room(count), self._room(count)
        call("tpt_dataset_window", self, whole("index", index), count, address(tokens), address(targets))
        return Window(tokens, targets)

    def _room(self, *shape: int) -> Ids:
        """For windows; none where there is no window of so many tokens, for then C refuses and writes nothing."""
        if shape[-1] >= len(self):
            return np.empty(0, np.int32)
        if math.prod(shape) > MOST_IDS:
            raise wrong(f"{' x '.join(map(str, shape))} ids are asked for; {MOST_IDS} are allowed")
        return np.empty(shape, np.int32)

    def _describe(self) -> str:
        return f"{len(self):,} tokens"


class Tokenizer(Handle):
    """Text to ids and back: Tokenizer.bytes, .words, .bpe, .load, .parse. Immutable: for any number of threads."""

    _instead = "pickle the text of format() and parse() it"

    def __init__(self) -> None:
        raise TypeError("a Tokenizer is made by Tokenizer.bytes, words, bpe, load or parse")

    @classmethod
    def _from(cls, context: Optional[Context], name: str, *arguments: Any) -> Tokenizer:
        used = Context._given(context)
        return cls._of(make(name, used, *arguments, needs=(used._held(),)), used)

    @classmethod
    def words(cls, text: Text, vocab: SupportsIndex, *, context: Optional[Context] = None) -> Tokenizer:
        """The commonest words of a text; id 0 is the unknown word."""
        encoded = utf8("text", text, nul=True)
        return cls._from(context, "tpt_tokenizer_words", encoded, len(encoded), whole("vocab", vocab))

    @classmethod
    def bpe(cls, text: Text, vocab: SupportsIndex, *, context: Optional[Context] = None) -> Tokenizer:
        """Byte-level BPE, learned from a text; the first 256 ids are the bytes'."""
        encoded = utf8("text", text, nul=True)
        return cls._from(context, "tpt_tokenizer_bpe", encoded, len(encoded), whole("vocab", vocab))

    @classmethod
    def load(cls, file: Path, *, context: Optional[Context] = None) -> Tokenizer:
        """From tokenizer.json."""
        return cls._from(context, "tpt_tokenizer_load", path(file))

    @classmethod
    def parse(cls, json: Text, *, context: Optional[Context] = None) -> Tokenizer:
        """From the text of a tokenizer.json."""
        encoded = utf8("json", json, nul=True)
        return cls._from(context, "tpt_tokenizer_parse", encoded, len(encoded))

    def save(self, file: Path) -> None:
        """Writes tokenizer.json, which the package `tokenizers` reads."""
        call("tpt_tokenizer_save", self, path(file))

    def format(self) -> str:
        """The text of tokenizer.json."""
        return text("tpt_tokenizer_format", self, room=1 << 16).decode()

    @property
    def vocab_size(self) -> int:
        """Largest id + 1: the least model.vocab_size for its ids."""
        return int(number("tpt_tokenizer_vocab_size", self))

    def encode(self, text: Text) -> Ids:
        """Ids [count] of a text; special tokens in it are recognised."""
        return self._encode("tpt_tokenizer_encode", text)

    def encode_text(self, text: Text) -> Ids:
        """The same, special tokens read as plain text: for text of strangers."""
        return self._encode("tpt_tokenizer_encode_text", text)

    def _encode(self, name: str, given: Text) -> Ids:
        encoded, count = utf8("text", given, nul=True), c_size_t()
        found = np.empty(len(encoded), np.int32)  # mostly an id has at least a byte
        while True:
            call(name, self, encoded, len(encoded), address(found), found.size, byref(count))
            if count.value <= found.size:
                return found[:count.value]
            found = np.empty(count.value, np.int32)

    def decode(self, tokens: Any) -> str:
        """The text of ids, without special tokens; what is no UTF-8 becomes U+FFFD."""
        return self.decode_bytes(tokens).decode("utf-8", "replace")

    def decode_bytes(self, tokens: Any) -> _bytes:
        """The same as bytes: those of the bytes tokenizer may be no text."""
        array = line("ids", tokens)
        return text("tpt_tokenizer_decode", self, address(array), array.size)

    def decode_tail(self, tokens: Any, done: SupportsIndex) -> str:
        """What ids[done:] add to the text of ids[:done], for streaming; a character not yet whole is held back."""
        return self.decode_tail_bytes(tokens, done).decode("utf-8", "replace")

    def decode_tail_bytes(self, tokens: Any, done: SupportsIndex) -> _bytes:
        """The same as bytes."""
        array = line("ids", tokens)
        return text("tpt_tokenizer_decode_tail", self, address(array), array.size, whole("done", done), room=64)

    def id(self, token: str) -> int:
        """Of a token as tokenizer.json spells it; ArgumentError where there is none."""
        return int(number("tpt_tokenizer_id", self, utf8("token", token), kind=ctypes.c_int32))

    def token(self, id: SupportsIndex) -> str:
        """The other way."""
        return text("tpt_tokenizer_token", self, whole("id", id, INT32), room=64).decode()

    def _describe(self) -> str:
        return f"{self.vocab_size:,} ids"

    # Last: in the class body the name is that of the builtin until here.
    @classmethod
    def bytes(cls, *, context: Optional[Context] = None) -> Tokenizer:
        """256 ids: a byte is its own id."""
        return cls._from(context, "tpt_tokenizer_bytes")


_bytes = bytes
