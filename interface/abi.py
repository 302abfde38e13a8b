"""The ABI of 3pt.h: what a program that is compiled today needs of every later library.

    abi.py LIB3PT.SO            compares the header, and the library, with lib3pt.abi; 1 where something that was
                                there has changed or is gone. Additions are fine. 77: abidw or abidiff is missing
    abi.py --write              writes lib3pt.abi; what it had changes in a major version only

The header's ABI is read from a stub library: a body for each function, with debug information, unoptimised, so
that it does not depend on how lib3pt is built. The built library's exports are compared always, its types where
it has debug information. abi.whitelist has what may differ, each with its reason.
"""
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from describe import HEADER, HERE, describe
from header import HeaderError

BASELINE, WHITELIST = HERE / "lib3pt.abi", HERE / "abi.whitelist"
VERSION_SCRIPT = HERE.parent / "lib3pt/3pt.map"
NO_MACHINE = ("--no-corpus-path", "--no-comp-dir-path", "--no-show-locs", "--no-elf-needed", "--drop-private-types",
              "--type-id-style", "hash")


def run(*words, allowed=(0,), cwd=None):
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True, cwd=cwd)
    if done.returncode not in allowed:
        sys.exit(" ".join(map(str, words)) + "\n" + done.stdout + done.stderr)
    return done


def stub_source(functions):
    for one in functions:
        given = ", ".join(f"{a['type']} {a['name']}" for a in one["arguments"]) or "void"
        used = "".join(f"(void){a['name']}; " for a in one["arguments"])
        back = "" if one["result"]["type"] == "void" else "return 0; "
        yield f"{one['result']['type']} {one['name']}({given}) {{ {used}{back}}}\n"


def stub(header, folder):
    """A library with the functions of a header: its path."""
    include = folder / "include/3pt"
    include.mkdir(parents=True)
    (include / "3pt.h").write_text(header, encoding="utf-8")
    source = "#include <3pt/3pt.h>\n" + "".join(stub_source(describe(header)["functions"]))
    (folder / "stub.c").write_text(source, encoding="utf-8")
    version = re.search(r"TPT_VERSION_MAJOR (\d+)", header)[1]
    compiler = next(c for c in ("gcc", "clang", "cc") if shutil.which(c))
    run(compiler, "-g", "-O0", "-fPIC", "-shared", f"-Wl,-soname,lib3pt.so.{version}",
        f"-Wl,--version-script,{VERSION_SCRIPT}", "-Iinclude", "stub.c", "-o", "stub.so", cwd=folder)
    return folder / "stub.so"


def description(library, include, out):
    """abidw's, of public types alone, with no path of this machine in it."""
    run("abidw", *NO_MACHINE, "--headers-dir", include, "--out-file", out, library)
    return out


def compare(library, include, whitelist=WHITELIST):
    """abidiff's report; empty where everything that was there still is."""
    with tempfile.TemporaryDirectory() as folder:
        now = description(library, include, Path(folder) / "now.abi")
        done = run("abidiff", "--no-added-syms", "--suppressions", whitelist, BASELINE, now, allowed=(0, 4, 8, 12))
    return done.stdout if done.returncode else ""


def header_report(header, whitelist=WHITELIST):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        return compare(stub(header, folder), folder / "include", whitelist)


def unreasoned(whitelist):
    """Sections of a whitelist without a line `# reason: ...` right before them."""
    lines = [line.strip() for line in whitelist.splitlines()]
    for before, line in zip(["", *lines], lines):
        if line.startswith("[") and not re.match(r"# reason: \w+( \S+){3,}", before):
            yield line


def write():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        library = stub(HEADER.read_text(encoding="utf-8"), folder)
        description(library, folder / "include", BASELINE)


def missing_tool():
    return next((t for t in ("abidw", "abidiff") if not shutil.which(t)), None)


def faults(library):
    """Reports; the empty ones are of what is as it was."""
    yield header_report(HEADER.read_text(encoding="utf-8"))
    yield compare(library, HEADER.parent.parent)
    for line in unreasoned(WHITELIST.read_text(encoding="utf-8")):
        yield f"{WHITELIST.name}: {line} has no reason"


def main():
    tool = missing_tool()
    if tool:
        print(f"{tool} is missing (Debian: abigail-tools)")
        sys.exit(77)
    try:
        if sys.argv[1] == "--write":
            return write()
        found = [f for f in faults(sys.argv[1]) if f]
    except HeaderError as error:
        sys.exit(f"3pt.h: {error}")
    print(*found, sep="\n")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
