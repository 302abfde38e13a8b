"""Named arrays as the bytes of a safetensors file, which the library reads and checks."""
from __future__ import annotations

import json
from collections.abc import Mapping as AnyMapping
from typing import Any, Dict, List, Mapping, Tuple

import numpy as np

from ._numbers import wrong

TYPES = {"float32": "F32", "float64": "F64", "float16": "F16", "bfloat16": "BF16", "bool": "BOOL", "uint8": "U8",
         "int8": "I8", "uint16": "U16", "int16": "I16", "uint32": "U32", "int32": "I32", "uint64": "U64",
         "int64": "I64"}


def _array(value: Any) -> Any:
    """Of a tensor of torch without importing it."""
    if hasattr(value, "detach"):
        value = value.detach().cpu()
        if str(value.dtype) == "torch.bfloat16":  # numpy has none; float32 holds each
            value = value.float()
        value = value.numpy()
    return np.asarray(value)


def _bytes(name: str, value: Any) -> Tuple[str, List[int], bytes]:
    array = _array(value)
    kind = TYPES.get(array.dtype.name)
    if kind is None:
        raise wrong(f"state_dict[{name!r}] is {array.dtype}; {', '.join(TYPES)} are allowed")
    return kind, list(array.shape), array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()


def packed(tensors: Mapping[str, Any]) -> bytes:
    header: Dict[str, Any] = {}
    parts: List[bytes] = []
    end = 0
    if not isinstance(tensors, AnyMapping):
        raise TypeError(f"state_dict is {type(tensors).__name__}; a mapping of names to tensors is allowed")
    for name, value in tensors.items():
        kind, shape, data = _bytes(name, value)
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": [end, end + len(data)]}
        parts.append(data)
        end += len(data)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return b"".join([len(text).to_bytes(8, "little"), text, *parts])
