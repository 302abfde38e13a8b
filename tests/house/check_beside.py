"""lib3pt beside OpenBLAS and another user of BLIS in one process: nobody changes the others' results or settings.

    check_beside.py BUILD WORK [PROGRAM]      WORK: may be overwritten

check_beside.c is built from the installed tree; PROGRAM is the same with all products of lib3pt by BLIS. Without
PROGRAM there was no OpenBLAS to build it with.
"""
import re
import shlex
import sys
from pathlib import Path

from installed import Tree, run

LIBRARIES = ["libopenblas", "libblis", "lib3pt"]
SETTINGS = r"(\w{16}) on 2, (\w{16}) on 3, jc -?\d+"       # as check_beside.c sets them


def linked(tree, work):
    program = work / "beside"
    flags = shlex.split(tree.run("pkg-config", "--cflags", "--libs", "3pt"))
    run(["cc", "-std=c11", "-D_GNU_SOURCE", "-O1", Path(__file__).with_suffix(".c"), "-o", program, *flags, "-lopenblas",
         "-lblis", "-lpthread"])
    return program


def said(tree, program, how):
    text = tree.run(program, how)
    return text, dict(line.split(": ", 1) for line in text.splitlines())


def faults(tree, program, products):
    text, alone = said(tree, program, "alone")
    both, beside = said(tree, program, "beside")
    print(text, both, sep="\n")
    if not re.search(rf"products: {products}", alone["lib3pt"]):
        yield f"{program.name}: the products are not by {products}"
    if alone["lib3pt"] != beside["lib3pt"]:
        yield f"{program.name}: lib3pt has other results beside the others than alone"
    names = [Path(name).name for name in beside["libraries"].split()]
    if not all(map(str.startswith, names[:2], LIBRARIES)):
        yield f"{program.name}: the others are {names}, not {LIBRARIES}"
    if not re.fullmatch(SETTINGS, beside["before"]):
        yield f"{program.name}: the others were not set up as they should: {beside['before']}"
    if beside["after"] != beside["before"] or not re.fullmatch(r"0 of [1-9]\d* changed", beside["during"]):
        yield f"{program.name}: lib3pt changed the others' results or settings"


def main():
    if len(sys.argv) == 3:
        print("OpenBLAS is not here")
        sys.exit(77)
    build, work, by_blis = (Path(word).resolve() for word in sys.argv[1:])
    tree = Tree(build, work)
    found = [*faults(tree, linked(tree, work), r"(own \S+|blis)"), *faults(tree, by_blis, "blis")]
    print(*found, f"{len(found)} faults", sep="\n")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
