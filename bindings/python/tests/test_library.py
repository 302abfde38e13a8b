"""How the C library is found, and what is said where it is not, or is another one."""
import os
import pathlib
import subprocess
import sys

import pytest

LIBRARY = os.environ.get("LIB3PT_LIBRARY", "")


def run(code, **environment):
    kept = {key: value for key, value in os.environ.items() if key not in ("LIB3PT_LIBRARY", "LD_LIBRARY_PATH")}
    made = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={**kept, **environment})
    assert made.returncode == 0, made.stderr
    return made.stdout.strip()


SAY = "\ntry: print(lib3pt.version())\nexcept lib3pt.LibraryError as error: print(error)"


def test_a_path_comes_first():
    assert run(f"import lib3pt; lib3pt.load({LIBRARY!r})" + SAY, LIB3PT_LIBRARY="/nowhere/lib3pt.so") == "1.0.0"


def test_then_the_variable():
    assert run("import lib3pt" + SAY, LIB3PT_LIBRARY=LIBRARY) == "1.0.0"


def test_then_the_system():
    assert run("import lib3pt" + SAY, LD_LIBRARY_PATH=str(pathlib.Path(LIBRARY).parent)) == "1.0.0"


def test_none_is_one_sentence():
    said = run("import lib3pt" + SAY, LIB3PT_LIBRARY="/nowhere/lib3pt.so")
    assert said.startswith("the C library /nowhere/lib3pt.so cannot be opened")
    assert "install lib3pt" in said and "LIB3PT_LIBRARY" in said and "lib3pt.load" in said and "\n" not in said


def test_another_library_is_none():
    assert "is no lib3pt" in run("import lib3pt, ctypes.util" + SAY, LIB3PT_LIBRARY="libm.so.6")


def test_an_older_one_is_told_with_both_versions():
    later = "import lib3pt\nfrom lib3pt import _library\n_library.VERSION = (1, 99, 0)"
    said = run(later + SAY, LIB3PT_LIBRARY=LIBRARY)
    assert "1.0.0" in said and "1.99.0" in said


def test_one_library_a_process():
    import lib3pt
    lib3pt.version()
    lib3pt.load()
    with pytest.raises(lib3pt.LibraryError, match="open already"):
        lib3pt.load("/nowhere/lib3pt.so")


AGAIN = """
import importlib, sys
import lib3pt
context = lib3pt.Context(threads=1, progress=lambda share: None, log=lambda level, text: None)
try:
    importlib.reload(sys.modules["lib3pt._guard"])
except ImportError as error:
    print(error)
importlib.reload(lib3pt)
model = lib3pt.Model(lib3pt.Config(), 1, context=context)
print(model.evaluate(lib3pt.Dataset.from_tokens(range(1000), context=context), 128).tokens)
for name in [name for name in sys.modules if name.startswith("lib3pt")]:
    del sys.modules[name]
import lib3pt as other
try:
    other.Trainer(model)
except TypeError as error:
    print(error)
"""


def test_the_package_loaded_again():
    run = subprocess.run([sys.executable, "-c", AGAIN], capture_output=True, text=True)
    assert (run.stdout.splitlines(), run.stderr, run.returncode) == ([
        "lib3pt cannot be reloaded: the C library may still call its functions; begin a new process", "896",
        "a Model of this copy of lib3pt is wanted here, not one of another copy: the package is loaded twice"], "", 0)
