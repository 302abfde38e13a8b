"""What the checks of an installation share: the installed tree, moved to where nothing expects it, and commands."""
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

# The program for C and for C++ of each, and how a build is told of them.
COMPILERS = {"gcc": ("gcc", "g++"), "clang": ("clang", "clang++")}
CC_OF = {"c": 0, "cpp": 1}
STANDARD = {"c": "c11", "cpp": "c++17"}
KINDS = ("shared", "static")
DOWNSTREAM = Path(__file__).resolve().parent / "downstream"
CORES = len(os.sched_getaffinity(0))
# Without Meson's path to this build's library, which would come before the one that a program was linked with.
OUTSIDE = {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"}


def run(words, env=OUTSIDE, **more):
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, stdin=subprocess.DEVNULL, env=env, **more)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, words))}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout.strip()


def at_once(function, cases):
    """The results of function(*case), as many at a time as there are processors."""
    with ThreadPoolExecutor(CORES) as pool:
        return list(pool.map(lambda case: function(*case), cases))


def emptied(folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


class Tree:
    """An installation of BUILD for one DESTDIR, then moved into a folder with a space in its name."""

    def __init__(self, build, work):
        emptied(work)
        root = work / "first"
        run(["meson", "install", "-C", build, "--no-rebuild", "--destdir", root])
        header = next(root.rglob("include/3pt/3pt.h"), None) or sys.exit("3pt.h was not installed")
        self.prefix = work / "moved here"
        shutil.move(header.parents[2], self.prefix)
        shutil.rmtree(root)
        self.pc = next(self.prefix.rglob("3pt.pc"), None) or sys.exit("no 3pt.pc was installed")
        self.libdir = self.pc.parent.parent
        # Nothing but this tree is seen: neither other .pc files nor another lib3pt.
        self.env = dict(OUTSIDE, PKG_CONFIG_LIBDIR=str(self.pc.parent), LD_LIBRARY_PATH=str(self.libdir))
        for name in ("PKG_CONFIG_PATH", "PKG_CONFIG_SYSROOT_DIR", "CC", "CXX", "CFLAGS", "CXXFLAGS", "LDFLAGS", "DESTDIR"):
            self.env.pop(name, None)

    def run(self, *words, **more):
        return run(words, env=dict(self.env, **more.pop("env", {})), **more)


def sources(folder):
    """The downstream program in a folder of its own, for C and for C++."""
    shutil.copytree(DOWNSTREAM, folder)
    shutil.copy(folder / "host.c", folder / "host.cpp")
    return folder


def compilers_here(skipped):
    """Those that are installed; the others are named in `skipped`."""
    here = {name: pair for name, pair in COMPILERS.items() if all(map(shutil.which, pair))}
    skipped += [f"{name} is not here" for name in COMPILERS if name not in here]
    return here


def needs_library(program):
    """Does it load lib3pt when it starts?"""
    return "lib3pt.so.1" in run(["readelf", "-d", program])
