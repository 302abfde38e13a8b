"""The commands under "Install" in README.md, as they stand there, on a machine that has no dpkg-architecture.

    check_readme_install.py ROOT WORK      WORK: may be overwritten

Meson then takes another folder for libraries unless it is told one. The system is not touched: DESTDIR takes what is
installed, and ldconfig and scripts/deps, which want root, are left out.
"""
import re
import shutil
import sys
from pathlib import Path

from installed import OUTSIDE, emptied, needs_library, run

# What `meson setup` without tests and benchmarks reads.
READ = ("bindings/cpp", "examples", "include", "interface", "lib3pt", "man", "packaging", "scripts")
LEFT_OUT = r"scripts/deps|ldconfig"
LOADER = "usr/local/lib"        # where ldconfig looks, and pkg-config in its folder pkgconfig


class Readme:
    """Its program, and its commands without their comments."""

    def __init__(self, text):
        section = text.split("\n## Install\n")[1].split("\n## ")[0]
        lines = [line.partition(" #")[0].strip() for line in re.findall(r"^    (\S.*)", section, re.M)]
        self.program = re.search(r"^```c\n(.*?)^```", text, re.S | re.M)[1]
        self.use = [line for line in lines if line.startswith("cc ")]
        self.install = [line for line in lines if line not in self.use and not re.match(LEFT_OUT, line)]
        self.uninstall, = re.findall(r"`(ninja [^`]* uninstall)`", section)
        (self.html, self.index), = re.findall(r"`(ninja [^`]* html)`[^`]*`([^`]+)`", text)
        if len(self.install) < 2 or len(self.use) < 2:
            sys.exit(f"README.md has not the commands that it had: {lines}")


class Machine:
    """A folder with the source and the program, host.c, where commands are given, and what they install into."""

    def __init__(self, root, work, program):
        self.tree, self.system = emptied(work) / "tree", work / "system"
        for name in READ:
            shutil.copytree(root / name, self.tree / name, ignore=shutil.ignore_patterns("__pycache__"))
        for path in root.glob("meson*"):
            shutil.copy(path, self.tree)
        (self.tree / "host.c").write_text(program)
        # Ends as a shell does that finds none.
        fake = emptied(work / "bin") / "dpkg-architecture"
        fake.write_text("#!/bin/sh\nexit 127\n")
        fake.chmod(0o755)
        libraries = self.system / LOADER
        self.env = dict(OUTSIDE, PATH=f"{fake.parent}:{OUTSIDE['PATH']}", DESTDIR=str(self.system),
                        LD_LIBRARY_PATH=str(libraries), PKG_CONFIG_PATH=str(libraries / "pkgconfig"))
        for name in ("CC", "CXX", "CFLAGS", "LDFLAGS"):
            self.env.pop(name, None)

    def run(self, line):
        return run(["sh", "-c", line], env=self.env, cwd=self.tree)

    def files(self, pattern="*"):
        return [str(path.relative_to(self.system)) for path in self.system.rglob(pattern) if not path.is_dir()]


def installs(machine, readme):
    for line in readme.install:
        machine.run(line)
    if machine.files("3pt.pc") != [f"{LOADER}/pkgconfig/3pt.pc"]:
        sys.exit(f"3pt.pc is in {machine.files('3pt.pc')}, not in {LOADER}/pkgconfig")


def uses(machine, readme):
    for line in readme.use:
        machine.run(line)
        if needs_library(machine.tree / "a.out") == ("-static" in line):
            sys.exit(f"{line}: the program is linked the other way")
        if "sum to zero" not in machine.run("./a.out"):
            sys.exit(f"{line}: the program did not learn its phrase")


def shows(machine, readme):
    machine.run(readme.html)
    if not (machine.tree / readme.index).is_file():
        sys.exit(f"{readme.html} does not make {readme.index}")


def uninstalls(machine, readme):
    machine.run(readme.uninstall)
    if machine.files():
        sys.exit(f"{readme.uninstall} leaves {machine.files()}")


def main():
    root, work = (Path(word).resolve() for word in sys.argv[1:])
    readme = Readme((root / "README.md").read_text(encoding="utf-8"))
    machine = Machine(root, work, readme.program)
    mandoc = shutil.which("mandoc")
    for part in (installs, uses, *[shows] * bool(mandoc), uninstalls):
        part(machine, readme)
        print(f"{part.__name__}: as README.md says")
    if not mandoc:
        print("mandoc is not here: the manual for a browser was not made")
    sys.exit(0 if mandoc else 77)


if __name__ == "__main__":
    main()
