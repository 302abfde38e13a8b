"""lib3pt/_declarations.py from interface/3pt.json. Alone it compares, with --write it writes."""
import pathlib
import sys
import textwrap

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import interface  # noqa: E402

TYPES = {"int32_t": "c_int32", "uint64_t": "c_uint64", "size_t": "c_size_t", "double": "c_double"}
WRITES_WEIGHTS = ("tpt_optimizer_step", "tpt_checkpoint_load")  # of a model that is none of their handles
MODES = {"any": "NONE", "shared": "SHARED", "exclusive": "EXCLUSIVE", "idle": "EXCLUSIVE"}


def ctype(fact, facts):
    """Of an argument, a field or a result. Arrays, structs and handles are addresses: c_void_p takes them all."""
    base, pointers = fact["base"], fact["pointers"]
    if base in {t["name"] for t in facts.function_types}:
        return base
    if pointers == 0:
        enums = {e["name"] for e in facts.enums}
        return "None" if base == "void" else "c_int32" if base in enums else TYPES[base]
    return "c_char_p" if fact["type"] == "const char *" else "c_void_p"


def function_type(fact, facts):
    parts = [ctype(a, facts) for a in [fact["result"], *fact["arguments"]]]
    return f"CFUNCTYPE({', '.join(parts)})"


def enum_lines(enum):
    own = interface.words(enum["name"])[0].upper()
    doc = textwrap.wrap(f'"""{enum["doc"]}"""', 112, initial_indent="    ", subsequent_indent="    ")
    yield from ["", "", f"class {interface.pascal(enum['name'])}(enum.IntEnum):", *doc, ""]
    for name, value, doc in interface.values(enum):
        first, _, rest = interface.short(name).partition("_")
        line = f"    {rest if first in ('E', own) else interface.short(name)} = {value}"
        yield f"{line}  # {doc}" if doc and len(line) + len(doc) < 116 else line


def struct_lines(struct, facts):
    functions = [f for f in struct["fields"] if f["kind"] == "function"]
    yield from ["", ""] + [f"{struct['name']}_{f['name']} = {function_type(f, facts)}" for f in functions]
    yield from (["", ""] if functions else []) + [f"class {struct['name']}(Structure):", "    _fields_ = ["]
    for f in struct["fields"]:
        of = f"{struct['name']}_{f['name']}" if f["kind"] == "function" else ctype(f, facts)
        yield f"        (\"{f['name']}\", {of}{' * %d' % f['length'] if f['kind'] == 'array' else ''}),"
    yield "    ]"


def is_guarded(function):
    """May it call back, or last? Then signals are seen to while it runs."""
    return bool(function["cancellable"] or function["creates"] or function["destroys"]
                or "TPT_E_MEMORY" in function["statuses"]
                or any(a["kind"] == "callback" for a in function["arguments"]))


def tuple_of(texts):
    texts = list(texts)
    return ", ".join(texts) + ("," if len(texts) == 1 else "")


def function_lines(function, facts):
    arguments = function["arguments"]
    handles, kinds = [], {h["name"] for h in facts.handles}
    for place in interface.handles_of(function):
        mode = MODES[function["threads"]]
        mode = "SHARED" if mode == "EXCLUSIVE" and arguments[place]["const"] else mode
        mode = "FAMILY" if function["name"] in WRITES_WEIGHTS else mode
        base = arguments[place]["base"]
        handles.append(f"({place}, {mode}, " + (f'"{interface.pascal(base)}")' if base in kinds else "None)"))
    destroy = next((h["destroy"] for h in facts.handles if h["name"] == function["creates"]), None)
    yield "    Function("
    yield f"        \"{function['name']}\", {ctype(function['result'], facts)},"
    yield f"        ({tuple_of(ctype(a, facts) for a in arguments)}),"
    yield f"        handles=({tuple_of(handles)}),"
    yield (f"        status={function['result']['kind'] == 'status'}, guarded={is_guarded(function)}, "
           f"destroy={destroy and chr(34) + destroy + chr(34)},")
    yield "    ),"


def text_of(facts):
    lines = [f'"""{interface.HEADER_LINE.format("bindings/python/generate.py")}"""', "import enum",
             "from ctypes import CFUNCTYPE, Structure, c_char_p, c_double, c_int32, c_size_t, c_uint64, c_void_p", "",
             "from ._function import EXCLUSIVE, FAMILY, NONE, SHARED, Function", "",
             f"VERSION = {facts.numbers}", f'SONAME = "{facts.soname}"']
    for e in facts.enums:
        lines += enum_lines(e)
    lines += ["", ""] + [f"{t['name']} = {function_type(t, facts)}" for t in facts.function_types]
    for s in facts.structs:
        lines += struct_lines(s, facts)
    lines += ["", "", "FUNCTIONS = ("]
    for f in facts.functions:
        lines += function_lines(f, facts)
    return "\n".join(lines + [")"]) + "\n"


if __name__ == "__main__":
    sys.exit(interface.main({"lib3pt/_declarations.py": text_of(interface.read())}, __file__))
