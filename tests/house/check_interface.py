"""The interface for machines is that of the header and of the library.

    check_interface.py ROOT LIB3PT.SO

interface/3pt.cdef and 3pt.json are what 3pt.h gives (interface/describe.py); nothing that 3pt.cdef has is lost,
nor what the blueprint has where it lies beside the repository; symbols-in-versions has the header's functions,
which the library exports and the manual pages name, with the same statuses. Then the library is driven by
3pt.json alone: a NULL is refused where the description says so, and nowhere else; the statuses are those that
are said. Headers that leave something unsaid are refused.
"""
import ctypes
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from check_symbols import exports

ROOT = Path(sys.argv[1]).resolve()
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "interface"))
import describe  # noqa: E402

C_TYPES = {"int32_t": ctypes.c_int32, "uint64_t": ctypes.c_uint64, "size_t": ctypes.c_size_t,
           "double": ctypes.c_double}
DESCRIPTION = (b"model: {vocab_size: 16, d_model: 12, n_layers: 2, n_q_heads: 3, n_kv_heads: 3, d_ff: 8,"
               b" max_seq_len: 1}\ntrain: {batch: 2}")


# What a binding needs to know, left out of the header.
UNSAID = {
    "a result": ("loss      result, nats; where", "loss      nats; where"),
    "how many": ("tokens    [batch, seq], 0 to V - 1; position", "tokens    0 to V - 1; position"),
    "whose": ("result [B, T, V], borrowed until the next call on trainer", "result [B, T, V]"),
    "until when": ("borrowed until the caller's destroy of trainer", "borrowed"),
    "whose text": ("returns   a text, borrowed as long as the library is loaded", "returns   a text"),
    "a NULL callback": ("log       may be NULL (default): silence", "log       default: silence"),
    "a text result": ("text      a text result; \"\" where", "text      \"\" where"),
    "a field": ("/* 1 or 2 */", ""),
    "a function": ("/* A second description, equal and independent. */", ""),
    "who fills a struct": ("result of tpt_geometry_drift", "of tpt_geometry_drift"),
}


def check_unsaid():
    text = describe.HEADER.read_text(encoding="utf-8")
    for what, (said, unsaid) in UNSAID.items():
        try:
            describe.describe(text.replace(said, unsaid, 1))
            yield f"describe.py does not miss {what}" + ": the header has it no more" * (said not in text)
        except describe.HeaderError:
            pass


def check_files():
    done = subprocess.run([sys.executable, "-B", ROOT / "interface/describe.py"], capture_output=True, text=True)
    if done.returncode:
        yield done.stdout + done.stderr
    blueprint = ROOT.parent / "shared/design/3pt.h"
    if blueprint.is_file():
        wanted, ours = (describe.declarations(describe.plain(p.read_text(encoding="utf-8")))
                        for p in (blueprint, describe.HEADER))
        lost = describe.lost(wanted, ours)
        if lost:
            yield f"3pt.h has not, or not in its place, what the blueprint has:\n  {lost}"


def section(page, title):
    found = re.search(rf"^\.Sh {title}\n(.*?)(?=^\.Sh )", page, re.M | re.S)
    return found[1] if found else ""


def manual():
    """(file, functions of its NAME, statuses of its ERRORS) of each page of section 3."""
    for page in sorted((ROOT / "man").glob("*.3")):
        text = page.read_text(encoding="utf-8")
        functions = re.findall(r"^\.Nm (tpt_\w+)", section(text, "NAME"), re.M)
        if functions:
            yield page.name, functions, set(re.findall(r"^\.It Dv (TPT_E_\w+)", section(text, "ERRORS"), re.M))


def check_manual(interface):
    """A page names the statuses that the header gives its functions."""
    known = {f["name"]: set(f["statuses"]) for f in interface["functions"]}
    for page, functions, statuses in manual():
        ours = set().union(*(known.get(f, set()) for f in functions))
        if ours != statuses:
            yield f"{page}: {sorted(statuses - ours)} are not in the header, {sorted(ours - statuses)} not in the page"


def check_symbols(interface, shared):
    functions = [f["name"] for f in interface["functions"]]
    since = describe.versions(ROOT / "interface/symbols-in-versions")
    lists = {"symbols-in-versions": list(since), "the library": list(exports(shared))}
    if (ROOT / "man").is_dir():
        lists["the manual pages"] = [f for _, names, _ in manual() for f in names]
    for name, have in lists.items():
        for lost in sorted(set(functions) - set(have)):
            yield f"{lost} is not in {name}"
        for more in sorted(set(have) - set(functions)):
            yield f"{more} is in {name} and not in the header"
    if list(since) != functions:
        yield "symbols-in-versions is not in the header's order"
    now = tuple(map(int, interface["version"].split(".")))
    late = [f for f, v in since.items() if not re.fullmatch(r"\d+\.\d+\.\d+", v) or tuple(map(int, v.split("."))) > now]
    if late:
        yield f"symbols-in-versions: {late} are of no version up to {interface['version']}"


class Driver:
    """Calls the library with arguments that it makes from their descriptions."""

    def __init__(self, interface, shared):
        self.library = ctypes.CDLL(str(shared))
        self.functions = {f["name"]: f for f in interface["functions"]}
        self.statuses = {v["value"]: v["name"] for v in interface["enums"][0]["values"]}
        self.struct_size = {s["name"]: 8 * sum(f.get("length", 1) for f in s["fields"]) for s in interface["structs"]}
        self.handles, self.kept = {}, []

    def good(self, argument):
        """What may be given: a handle made before, room for any result, small numbers."""
        kind, base = argument["kind"], argument["base"]
        if kind == "handle" and argument["direction"] == "in":
            return ctypes.c_void_p(self.handles["tpt_config" if base == "void" else base])
        if argument["pointers"] == 0 and kind in ("scalar", "enum"):
            return C_TYPES.get(base, ctypes.c_int)(1)
        if kind in ("callback", "user"):
            return ctypes.c_void_p(None)
        room = ctypes.create_string_buffer(b"embedding.dc_profile" if kind in ("text", "path") else b"", 4096)
        if kind == "struct":
            ctypes.memmove(room, ctypes.byref(ctypes.c_size_t(self.struct_size[base])), 8)
        if argument.get("element", "").startswith("tpt_"):
            ctypes.memmove(room, ctypes.byref(ctypes.c_void_p(self.handles[base])), 8)
        self.kept.append(room)
        return room

    def call(self, name, given):
        """(status, message) of a call; arguments that are not given are good ones."""
        arguments = {a["name"]: self.good(a) for a in self.functions[name]["arguments"]} | given
        status = getattr(self.library, name)(*arguments.values())
        message = self.library.tpt_error_message
        message.restype = ctypes.c_char_p
        return self.statuses[status], message().decode()

    def make(self, name, handle, given=()):
        out = ctypes.c_void_p()
        last = self.functions[name]["arguments"][-1]["name"]
        status, message = self.call(name, dict(given) | {last: ctypes.byref(out)})
        if status != "TPT_OK":
            raise SystemExit(f"{name}: {status}: {message}")
        self.handles[handle] = out.value

    def make_all(self):
        self.make("tpt_context_create", "tpt_context")
        self.make("tpt_config_parse", "tpt_config", {"yaml": DESCRIPTION, "length": ctypes.c_size_t(len(DESCRIPTION))})
        self.make("tpt_model_create", "tpt_model")
        for handle in ("tpt_trainer", "tpt_optimizer", "tpt_decoder"):
            self.make(handle + "_create", handle)
        self.make("tpt_dataset_from_tokens", "tpt_dataset", {"count": ctypes.c_size_t(100)})
        self.make("tpt_tokenizer_bytes", "tpt_tokenizer")
        self.call("tpt_trainer_forward", {})

    def with_null(self, function, argument):
        """Is a NULL for this argument refused as such?"""
        given = {argument["name"]: ctypes.c_void_p(None)}
        if "null_where_zero" in argument:
            given[argument["null_where_zero"]] = ctypes.c_size_t(0)
        status, message = self.call(function["name"], given)
        return status == "TPT_E_ARGUMENT" and message.startswith(f"{argument['name']} is NULL"), status, message


def check_nulls(interface, shared):
    driver = Driver(interface, shared)
    driver.make_all()
    for function in driver.functions.values():
        pointers = [a for a in function["arguments"] if a["pointers"] or a["kind"] == "callback"]
        for argument in pointers if function["result"]["kind"] == "status" else []:
            refused, *seen = driver.with_null(function, argument)
            if seen[0] not in ["TPT_OK", *function["statuses"]]:
                yield f"{function['name']} gives {seen}; said are {function['statuses']}"
            if refused == argument["nullable"]:
                yield f"{function['name']}: {argument['name']} NULL, nullable is {argument['nullable']}: {seen}"


def main():
    shared = Path(sys.argv[2]).resolve()
    interface = json.loads((ROOT / "interface/3pt.json").read_text(encoding="utf-8"))
    faults = [*check_files(), *check_unsaid(), *check_symbols(interface, shared), *check_manual(interface)]
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        faults += check_nulls(interface, shared)
        os.chdir(ROOT)
    print(*faults, sep="\n")
    print(f"{len(interface['functions'])} functions, {len(faults)} faults")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
