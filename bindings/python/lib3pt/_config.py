"""Descriptions of models and training."""
from __future__ import annotations

import json
from typing import Any, Iterator, List, Mapping, SupportsIndex, Union

from ._call import Handle, call, make, number, text
from ._declarations import MemoryUse
from ._library import Path, functions
from ._numbers import INT32, whole
from ._values import path, utf8

def _value(written: str) -> Any:
    """What a key's text says: numbers and lists of them as such, all else as text."""
    try:
        return json.loads(written)
    except ValueError:
        pass
    try:
        return float(written)
    except ValueError:
        return written


def _keys(yaml: str) -> Iterator[str]:
    """Of the library's own YAML: a key a line, sections end with a colon and indent by two."""
    sections: List[str] = []
    for line in yaml.splitlines():
        key, _, value = line.partition(":")
        sections[(len(key) - len(key.lstrip())) // 2:] = [key.strip()]
        if value:
            yield ".".join(sections)


def _written(value: object) -> Union[str, bytes]:
    return value if isinstance(value, (str, bytes)) else json.dumps(value, default=_plain)


def _plain(value: Any) -> Any:
    """Numbers and arrays of numpy as Python's."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"a value is {type(value).__name__}; numbers, lists of them and text are allowed")


class Config(Handle):
    """A description: keys as in the YAML file (3pt.yaml(5)), each with a default.

    >>> config = lib3pt.Config(model={"d_model": 48, "n_layers": 2}, train={"lr": 1e-3})
    >>> config["model.n_phases"]
    3
    >>> config["train.batch"] = 8
    """

    _instead = "pickle the text of format() and parse() it"

    def __init__(self, **sections: Mapping[str, Any]) -> None:
        """All defaults (the preset "3pt-5m") but for what the sections `model` and `train` say."""
        if sections:
            self._start(_parsed(json.dumps(sections, default=_plain)))
        else:
            self._start(make("tpt_config_create"))

    @classmethod
    def preset(cls, name: str) -> Config:
        """One of preset_names()."""
        return cls._of(make("tpt_config_preset", utf8("name", name)))

    @staticmethod
    def preset_names() -> List[str]:
        names: List[str] = []
        while True:
            name = functions["tpt_config_preset_name"].raw(len(names))
            if name is None:
                return names
            names.append(name.decode())

    @classmethod
    def load(cls, file: Path) -> Config:
        """From a YAML file."""
        return cls._of(make("tpt_config_load", path(file)))

    @classmethod
    def parse(cls, yaml: Union[str, bytes]) -> Config:
        """From the text of a YAML file."""
        return cls._of(_parsed(yaml))

    def copy(self) -> Config:
        """A second one, equal and independent."""
        return Config._of(make("tpt_config_copy", self))

    __copy__ = copy

    def __deepcopy__(self, memo: Any) -> Config:
        return self.copy()

    def set(self, key: str, value: object) -> None:
        """key: "model.n_phases"; value: a number, a list of them, or text as YAML has it ("4", "none")."""
        call("tpt_config_set", self, utf8("key", key), utf8("value", _written(value)))

    def get(self, key: str) -> str:
        """The value as text, such that set() takes it."""
        return text("tpt_config_get", self, utf8("key", key)).decode()

    def __setitem__(self, key: str, value: object) -> None:
        self.set(key, value)

    def __getitem__(self, key: str) -> Any:
        """A number, a list of them, or text, as the key has it."""
        return _value(self.get(key))

    def __iter__(self) -> Iterator[str]:
        """The keys, in the order of format(): "model.vocab_size" and on."""
        return _keys(self.format())

    def __contains__(self, key: object) -> bool:
        if isinstance(key, bytes):
            key = key.decode("utf-8", "replace")
        return any(key == known for known in self)

    def format(self) -> str:
        """YAML with every key, which parse() takes."""
        return text("tpt_config_format", self).decode()

    def check(self) -> None:
        """ConfigError where keys contradict each other."""
        call("tpt_config_check", self)

    @property
    def parameter_count(self) -> int:
        """Trainable numbers of the described model."""
        return int(number("tpt_config_parameter_count", self))

    def memory(self, use: SupportsIndex = MemoryUse.INFERENCE) -> int:
        """Bytes that the model and a decoder will take, or the model, its trainer and its optimizer; at 2 threads."""
        return int(number("tpt_config_memory", self, whole("use", use, INT32)))

    def _describe(self) -> str:
        width, phases, layers = (self.get("model." + key) for key in ("d_model", "n_phases", "n_layers"))
        return f"d_model {width}, {phases} phases, {layers} layers, vocab {self.get('model.vocab_size')}"


def _parsed(yaml: Union[str, bytes]) -> Any:
    encoded = utf8("yaml", yaml, nul=True)
    return make("tpt_config_parse", encoded, len(encoded))
