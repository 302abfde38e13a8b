"""The ABI is frozen: interface/abi.py compares the header and the library with interface/lib3pt.abi. Then the
guard itself is tried: changes of the header that break a program must be seen, additions must pass.

    check_abi.py ROOT LIB3PT.SO
"""
import platform
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(sys.argv[1]).resolve()
sys.path.insert(0, str(ROOT / "interface"))
import abi  # noqa: E402
import describe  # noqa: E402

CHECK = "TPT_API tpt_status tpt_config_check(const tpt_config *config);"
# what -> (in the header, in its place)
BREAKING = {
    "a reordered enum": [("TPT_E_IO = 3", "TPT_E_FORMAT = 3"), ("TPT_E_FORMAT = 4", "TPT_E_IO = 4")],
    "a changed enum value": [("TPT_POINT_BLOCK = 3", "TPT_POINT_BLOCK = 4")],
    "a removed enum value": [("TPT_E_INTERNAL = 10,", "")],
    "a removed function": [(CHECK, "")],
    "a renamed function": [(CHECK, CHECK.replace("_check", "_valid"))],
    "a grown result": [("} tpt_drift;", "  double more; /* new */ } tpt_drift;")],
    "a grown input": [("} tpt_allocator;", "  void *more; /* may be NULL */ } tpt_allocator;")],
    "a field of another type": [("uint64_t tokens;", "int64_t tokens;")],
    "fields in another order": [("double mean;", "double l2;"), ("double l2;    /* norm", "double mean; /* norm")],
    "an argument of another type": [("*context, int32_t threads", "*context, int64_t threads")],
    "an argument more": [("int32_t minor, int32_t patch", "int32_t minor, int32_t patch, int32_t more")],
    "an argument less": [("int32_t minor, int32_t patch", "int32_t minor")],
    "another return type": [("TPT_API void tpt_context_destroy", "TPT_API tpt_status tpt_context_destroy")],
    "another function type": [("int32_t level, const char *text);", "int64_t level, const char *text);")],
}
ADDING = {
    "an added function": [(CHECK, CHECK + "\n\n/* New. */\n" + CHECK.replace("_check", "_new"))],
    "an added enum value": [("TPT_E_INTERNAL = 10,", "TPT_E_INTERNAL = 10, TPT_E_NEW = 11,")],
    "nothing but a comment": [("/* tokens", "/* Tokens"), ("/* A second description", "/* Another description")],
}
GROWN = "[suppress_type]\nname = tpt_drift\n"


def changed(text, edits):
    for old, new in edits:
        text = text.replace(old, new, 1)
    return text


def guards(text, whitelist=abi.WHITELIST):
    """(does abidiff see a change?, is a stored declaration lost?)"""
    stored = (ROOT / "interface/3pt.cdef").read_text(encoding="utf-8")
    lost = describe.lost(describe.declarations(stored), describe.declarations(describe.cdef(text)))
    return bool(abi.header_report(text, whitelist)), bool(lost)


def check_guard(text):
    for what, edits in BREAKING.items():
        new = changed(text, edits)
        if new == text or not all(guards(new)):
            yield f"{what} passes: {guards(new)} of (abidiff, declarations) saw it"
    for what, edits in ADDING.items():
        if guards(changed(text, edits))[0]:
            yield f"{what} does not pass"


def check_whitelist(text):
    grown = changed(text, BREAKING["a grown result"])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "whitelist"
        path.write_text(GROWN, encoding="utf-8")
        if abi.header_report(grown, path):
            yield "the whitelist does not let pass what it names"
    if not list(abi.unreasoned(GROWN)) or list(abi.unreasoned("# reason: it has to be so\n" + GROWN)):
        yield "reasons are not looked for"


def main():
    missing = abi.missing_tool()
    if missing or platform.machine() != "x86_64":
        print(f"{missing} is missing (Debian: abigail-tools)" if missing else "lib3pt.abi is that of x86-64")
        sys.exit(77)
    text = abi.HEADER.read_text(encoding="utf-8")
    faults = [f for f in abi.faults(sys.argv[2]) if f]
    faults += [*check_guard(text), *check_whitelist(text)]
    print(*faults, sep="\n")
    print(f"{len(BREAKING)} breaking changes and {len(ADDING)} others tried, {len(faults)} faults")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
