"""The release archive, made by meson dist of what is committed, builds and tests from itself.

    check_dist.py ROOT WORK      WORK: may be overwritten

Some suites only: docs/RELEASE.md runs them all.
"""
import re
import shutil
import sys
from pathlib import Path

from installed import CORES, emptied, run

SUITES = ("base", "io", "spec")
WANTED = rf"lib3pt/lib3pt\.so\.\d+\.\d+\.\d+|tests/({'|'.join(SUITES)})/test_\w+"
RULES = ("includes", "header", "copies", "formats", "readme", "packaging")


def main():
    root, work = (Path(word).resolve() for word in sys.argv[1:])
    if not shutil.which("git") or not (root / ".git").exists():
        print("this tree has no git history, which meson dist needs")
        sys.exit(77)
    clone, tree, build = emptied(work) / "clone", work / "unpacked", work / "build"
    run(["git", "clone", "--quiet", "--depth", "1", f"file://{root}", clone])
    run(["meson", "setup", clone / "build", clone])
    run(["meson", "dist", "--no-tests", "--formats", "xztar", "-C", clone / "build"])
    archive, = (clone / "build/meson-dist").glob("3pt-*.tar.xz")
    shutil.unpack_archive(archive, tree)
    inside, = tree.iterdir()
    if f"{inside.name}.tar.xz" != archive.name:
        sys.exit(f"{archive.name} unpacks into {inside.name}")
    run(["meson", "setup", "--buildtype=debug", build, inside])
    targets = re.findall(r"(?m)^([^:\n]+): ", run(["ninja", "-C", build, "-t", "targets", "all"]))
    wanted = [name for name in targets if re.fullmatch(WANTED, name)]
    run(["ninja", "-C", build, "-j", CORES, *wanted])
    print(run(["meson", "test", "-C", build, "--no-rebuild", *(f"house {rule}" for rule in RULES)]).splitlines()[-1])
    said = run(["meson", "test", "-C", build, "--no-rebuild", *(word for suite in SUITES for word in ("--suite", suite))])
    print(*(line for line in said.splitlines() if line.startswith(("Ok:", "Fail:", "Skipped:"))), sep="\n")


if __name__ == "__main__":
    main()
