"""Model files and the Python packages: `safetensors` reads ours, and we read what it and `torch` save.

    TPT_PREFIX=where/it/is/installed python3 check_models.py        (77: a package is not installed)
"""
import ctypes as C
import json
import os
import struct
import sys
import tempfile
from pathlib import Path

try:
    import numpy as np
    import safetensors.numpy as st
except ImportError as e:
    print(f"needs numpy and safetensors: {e}")
    sys.exit(77)
try:
    import safetensors.torch as stt
    import torch
except ImportError:
    torch = None

YAML = b"model: {vocab_size: 30, d_model: 12, n_layers: 2, n_q_heads: 6, n_kv_heads: 3, d_ff: 10, max_seq_len: 7}"
lib = C.CDLL(str(Path(os.environ["TPT_PREFIX"]) / "lib/lib3pt.so.1"))
lib.tpt_error_message.restype = C.c_char_p


def call(name, *args):
    status = getattr(lib, name)(*args)
    if status:
        raise RuntimeError(f"{name}: {lib.tpt_error_message().decode()}")


def make(name, *args):
    handle = C.c_void_p()
    call(name, *args, C.byref(handle))
    return handle


class Info(C.Structure):
    _fields_ = [("size", C.c_size_t), ("name", C.c_char_p), ("ndim", C.c_size_t), ("shape", C.c_size_t * 4),
                ("offset", C.c_size_t), ("count", C.c_size_t)]


def tensors(model):
    """{name: array} of a model, by the interface."""
    count, found = C.c_size_t(), {}
    call("tpt_model_tensor_count", model, C.byref(count))
    for i in range(count.value):
        info = Info(size=C.sizeof(Info))
        call("tpt_model_tensor_info", model, C.c_size_t(i), C.byref(info))
        values = np.empty(info.shape[:info.ndim], np.float32)
        call("tpt_model_get_tensor", model, info.name, values.ctypes.data_as(C.c_void_p), C.c_size_t(info.count))
        found[info.name.decode()] = values
    return found


def same(a, b):
    return a.keys() == b.keys() and all(np.array_equal(a[k], b[k]) for k in a)


def check(config, mine, path, bad):
    """Every kind of float that a file may hold, from numpy and from torch."""
    for kind in (np.float32, np.float64, np.float16):
        st.save_file({k: v.astype(kind) for k, v in mine.items()}, path)
        if not same(tensors(make("tpt_model_load", None, path.encode(), config)),
                    {k: v.astype(kind).astype(np.float32) for k, v in mine.items()}):
            bad.append(f"numpy {kind.__name__} reads back otherwise")
    if torch is None:
        return
    for kind in (torch.float32, torch.float64, torch.float16, torch.bfloat16):
        state = {k: torch.tensor(v).to(kind) for k, v in mine.items()}
        want = {k: v.float().numpy() for k, v in state.items()}
        state["mask"] = torch.ones(7, 7, dtype=torch.bool)
        state["embedding.horn_profile"] = torch.ones(7)
        state["blocks.1.attn.rotary.cos_cached"] = torch.ones(7, 2)
        stt.save_file(state, path)
        if not same(tensors(make("tpt_model_load", None, path.encode(), config)), want):
            bad.append(f"torch {kind} reads back otherwise")


def main():
    bad = []
    with tempfile.TemporaryDirectory() as folder:
        path = folder + "/model.safetensors"
        config = make("tpt_config_parse", YAML, C.c_size_t(len(YAML)))
        model = make("tpt_model_create", None, config, C.c_uint64(5))
        call("tpt_model_save", model, path.encode())
        mine = tensors(model)
        if not same(st.load_file(path), mine):
            bad.append("safetensors reads our file otherwise")
        raw = Path(path).read_bytes()
        meta = json.loads(raw[8:8 + struct.unpack("<Q", raw[:8])[0]])["__metadata__"]
        if "d_model: 12" not in meta.get("3pt.config", ""):
            bad.append("the description is not under 3pt.config")
        check(config, mine, path, bad)
    print(*bad, sep="\n", end="\n" if bad else "")
    print(f"{len(mine)} tensors both ways" + ("" if torch else ", without torch, which is not installed"))
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
