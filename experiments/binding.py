"""Where things are: this repository's Python binding, the library it opens, the folders that are written to."""
import importlib.util
import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
BUILD = ROOT / "build" / "experiments"
BUILT = ROOT / "build" / "release" / "lib3pt" / "lib3pt.so.1"  # where README.md builds the library
PACKAGES = ("numpy", "yaml")   # what is imported: NumPy and PyYAML


def check_packages():
    missing = [name for name in PACKAGES if not importlib.util.find_spec(name)]
    if missing:
        sys.exit(f"experiments: {sys.executable} has no {' and '.join(missing)}: scripts/deps experiments installs what "
                 "/usr/bin/python3 then has (/usr/bin/python3 experiments/run ...)")


def opened(library=None):
    """The module lib3pt over `library`, else what LIB3PT_LIBRARY names, else this repository's build, else the
    system's."""
    sys.path.insert(0, str(ROOT / "bindings" / "python"))
    import lib3pt
    if library is None and not os.environ.get("LIB3PT_LIBRARY") and BUILT.exists():
        library = BUILT
    try:
        lib3pt.load(library)
        lib3pt.version()
    except lib3pt.LibraryError as error:
        sys.exit(f"experiments: {error}")
    return lib3pt


def machine():
    """The kind of processor: what seconds are compared within. Names alone do not tell them apart on rented machines."""
    try:
        first = Path("/proc/cpuinfo").read_text(encoding="utf-8").split("\n\n")[0]
    except OSError:
        first = ""
    facts = dict(line.split(":", 1) for line in first.splitlines() if ":" in line)
    said = {key.strip(): value.strip() for key, value in facts.items()}
    if "model name" not in said:
        return " ".join(os.uname()[::4])
    units = ", AMX" if "amx_tile" in said.get("flags", "").split() else ""
    return f"{said['model name']} (family {said.get('cpu family')}, model {said.get('model')}{units})"
