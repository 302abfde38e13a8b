"""Programs built from the installed tree alone: shared and static, C11 and C++17, by gcc and clang.

    check_install.py WAY ROOT BUILD WORK      WAY: files, pkg-config, meson, cmake, subproject; WORK: may be overwritten

ROOT is the source, BUILD what is installed from. `subproject` builds the library inside the other program's build.
"""
import os
import re
import shlex
import shutil
import sys
from pathlib import Path

from installed import (CC_OF, CORES, KINDS, OUTSIDE, STANDARD, Tree, at_once, compilers_here, emptied, needs_library, run,
                       sources)

STRICT = ("-Wall", "-Wextra", "-Wpedantic", "-Werror")
FILES = ("lib3pt.so", "lib3pt.so.1", "lib3pt.a", "pkgconfig/3pt.pc", "cmake/3pt/3ptConfig.cmake",
         "cmake/3pt/3ptConfigVersion.cmake")
# What the public header must do without.
FOREIGN = r"blis|yaml|pcre"
# What a project that has this one as a subproject gets of it.
PARTS = ("bindings/cpp", "include", "interface", "lib3pt", "packaging")


def version(root):
    return re.search(r"version: '([\d.]+)'", (root / "meson.build").read_text())[1]


def tools(root):
    """The names of the programs in examples/: a file each, or a folder with a main.c."""
    folder = root / "examples"
    return sorted([path.stem for path in folder.glob("*.c")] + [path.parent.name for path in folder.glob("*/main.c")])


def expect(right, what):
    if not right:
        sys.exit(what)


def flags(tree, *words):
    return shlex.split(tree.run("pkg-config", *words, "3pt"))


def check_pc(tree, root):
    text = tree.pc.read_text()
    expect(tree.run("pkg-config", "--modversion", "3pt") == version(root), "3pt.pc gives another version")
    expect("Requires" not in text, f"3pt.pc requires other modules, which may be missing:\n{text}")
    expect("Libs.private:" in text, "3pt.pc does not say what a static program needs")
    for name in ("cdef", "interface"):
        expect(Path(flags(tree, f"--variable={name}")[0]).is_file(), f"3pt.pc: {name} is no file")
    for path in (tree.pc, *tree.libdir.glob("cmake/3pt/*")):
        found = re.search(r'(?m)(^|[\s="])(-[LI])?/.*', re.sub(r"(?m)^Libs.private:.*|-L/[^;\"]*", "", path.read_text()))
        expect(not found, f"{path.name} is bound to a place: {found and found[0]}")


def shared_alone(tree, work):
    """Without the static library, other .pc files, and headers of what the library is made with."""
    (tree.libdir / "lib3pt.a").unlink()
    seen = run(["cc", "-M", *flags(tree, "--cflags"), work / "source/host.c"])
    expect("3pt.h" in seen and not re.search(FOREIGN, seen), f"3pt.h includes what it must not: {seen}")
    words = flags(tree, "--cflags", "--libs")
    expect(words[-1] == "-l3pt" and len(words) == 3, f"a shared program links more than lib3pt: {words}")
    run(["cc", work / "source/host.c", "-o", work / "shared", *words])
    return tree.run(work / "shared")


def files(root, tree, work, skipped):
    sources(work / "source")
    for name in FILES:
        expect((tree.libdir / name).exists(), f"{name} was not installed")
    check_pc(tree, root)
    programs = sorted((tree.prefix / "bin").glob("3pt-*"))
    if programs:
        expect([path.name for path in programs] == [f"3pt-{name}" for name in tools(root)], f"the tools are {programs}")
    else:
        skipped.append("this build has no tools")
    for program in programs:
        expect("usage:" in tree.run(program, "--help"), f"{program.name} --help shows no usage")
    for path in (*programs, tree.libdir / "lib3pt.so"):
        expect(not re.search("RPATH|RUNPATH", run(["readelf", "-d", path])), f"{path.name} has a run path")
    return [shared_alone(tree, work)]


def pkg_config(root, tree, work, skipped):
    sources(work / "source")

    def build(pair, language, kind):
        program = work / f"{pair[0]}-{language}-{kind}"
        static = kind == "static"
        run([pair[CC_OF[language]], f"-std={STANDARD[language]}", *STRICT, *["-static"] * static,
             work / f"source/host.{language}", "-o", program, *flags(tree, "--cflags", "--libs", *["--static"] * static)])
        return program

    return run_all(tree, at_once(build, [(pair, language, kind) for pair in compilers_here(skipped).values()
                                         for language in STANDARD for kind in KINDS]))


def run_all(tree, programs):
    """What each prints. The last word of its name says whether it loads the library."""
    for program in programs:
        expect(needs_library(program) == program.name.endswith("shared"), f"{program} is linked the other way")
    return [tree.run(program) for program in programs]


def built(folder):
    return [folder / f"{language}-{kind}" for language in STANDARD for kind in KINDS]


def meson(root, tree, work, skipped):
    def build(name, pair):
        source, folder = sources(work / name), work / f"{name} build"
        tree.run("meson", "setup", folder, source, env={"CC": pair[0], "CXX": pair[1]})
        tree.run("ninja", "-C", folder)
        return built(folder)

    return run_all(tree, sum(at_once(build, compilers_here(skipped).items()), []))


def cmake(root, tree, work, skipped):
    def build(name, pair):
        source, folder = sources(work / name), work / f"{name} build"
        tree.run("cmake", "-S", source, "-B", folder, f"-DCMAKE_PREFIX_PATH={tree.prefix}", f"-DCMAKE_C_COMPILER={pair[0]}",
                 f"-DCMAKE_CXX_COMPILER={pair[1]}", f"-DCMAKE_C_FLAGS={' '.join(STRICT)}",
                 f"-DCMAKE_CXX_FLAGS={' '.join(STRICT)}")
        tree.run("cmake", "--build", folder)
        return built(folder)

    return run_all(tree, sum(at_once(build, compilers_here(skipped).items()), []))


def subproject(root, work):
    """The library is built with the program, as packaging/3pt.wrap says; nothing else of this project is."""
    source, folder = sources(emptied(work) / "source"), work / "build"
    inside = work / f"3pt-{version(root)}"
    for name in PARTS:
        shutil.copytree(root / name, inside / name)
    for path in root.glob("meson*"):
        shutil.copy(path, inside)
    archives = source / "subprojects/packagefiles"
    archives.mkdir(parents=True)
    shutil.make_archive(archives / inside.name, "xztar", work, inside.name)
    shutil.rmtree(inside)
    shutil.copy(root / "packaging/3pt.wrap", source / "subprojects")
    nowhere = dict(OUTSIDE, PKG_CONFIG_PATH="", CC="gcc", CXX="g++")
    run(["meson", "setup", "--force-fallback-for=3pt", folder, source], env=nowhere)
    run(["ninja", "-j", CORES, "-C", folder])
    made = [path.name for path in folder.rglob("*") if path.is_file() and os.access(path, os.X_OK)
            and path.parent.name != "meson-private"]
    expect(not [name for name in made if not re.match(r"(c|cpp)-|lib3pt\.so", name)], f"more was built: {made}")
    for program in built(folder):
        expect(needs_library(program) == program.name.endswith("shared"), f"{program} is linked the other way")
    return [run([program]) for program in built(folder)]


WAYS = {"files": (files, "pkg-config"), "pkg-config": (pkg_config, "pkg-config"), "meson": (meson, "meson"),
        "cmake": (cmake, "cmake")}


def main():
    way, (root, build, work) = sys.argv[1], (Path(word).resolve() for word in sys.argv[2:])
    skipped = []
    if way == "subproject":
        said = subproject(root, work)
    else:
        function, tool = WAYS[way]
        if not shutil.which(tool):
            print(f"{tool} is not here")
            sys.exit(77)
        said = function(root, Tree(build, work), work, skipped)
    print(*sorted(set(said)), *skipped, sep="\n")
    expect(len(set(said)) == 1, "the programs do not say the same")
    expect(said[0].startswith(f"{version(root)}: "), "the programs have another version")
    print(f"{len(said)} programs")
    sys.exit(77 if skipped else 0)


if __name__ == "__main__":
    main()
