"""The programs of each page: every compiler that is here takes them, strictly, and they print what the page says.

    check_manual_examples.py ROOT MAN LIB3PT.SO [PAGE...]     PAGE: these alone, as tpt_version.3
"""
import concurrent.futures
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from manual import pages_of

COMPILERS = (("gcc", "c", "c11"), ("clang", "c", "c11"), ("g++", "c++", "c++17"))
STRICT = ("-Wall", "-Wextra", "-pedantic", "-Werror", "-O0")
WORKERS = 2
LONGEST = 60      # seconds; a program should take under one


def try_out(code, output, compiler, root, shared):
    """What is wrong with one program and one compiler; it runs in an empty folder."""
    command, language, standard = compiler
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as empty:
        source, program = Path(folder) / "example.c", Path(folder) / "example"
        source.write_text(code, encoding="utf-8")
        words = [command, "-x", language, "-std=" + standard, *STRICT, "-I", root / "include", source, "-x", "none",
                 "-o", program, shared, f"-Wl,-rpath,{shared.parent}"]
        done = subprocess.run(words, capture_output=True, text=True)
        if done.returncode:
            return f"{command} {standard} refuses its program:\n{done.stderr}"
        done = subprocess.run([program], cwd=empty, capture_output=True, stdin=subprocess.DEVNULL, timeout=LONGEST)
    printed = done.stdout.decode("utf-8", "replace")
    if done.returncode or done.stderr:
        return f"its program ended with status {done.returncode}:\n{printed}{done.stderr.decode('utf-8', 'replace')}"
    if printed != output:
        return f"its program ({command}) printed\n{printed}and the page says\n{output}"
    return None


def pairs_of(page):
    """Programs with their outputs; none where one is missing."""
    displays = page.displays("EXAMPLES")
    return [] if len(displays) % 2 else [*zip(displays[::2], displays[1::2])]


def faults_of(page, compilers, root, shared):
    pairs = pairs_of(page)
    if not pairs or not all("int main(" in program for program, _ in pairs):
        return [f"{page.file}: the literal displays of EXAMPLES are not, by turns, a program and its output"]
    if page.part("EXAMPLES").count("\nIt prints\n") != len(pairs):
        return [f"{page.file}: EXAMPLES does not say 'It prints' before each output"]
    found = [try_out(*pair, compiler, root, shared) for pair in pairs for compiler in compilers]
    return [f"{page.file}: {fault}" for fault in found if fault]


def main():
    root, made, shared = (Path(word).resolve() for word in sys.argv[1:4])
    pages = [page for page in pages_of(root, made) if page.section == "3" and page.file in (sys.argv[4:] or [page.file])]
    compilers = [compiler for compiler in COMPILERS if shutil.which(compiler[0])]
    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        faults = sum(pool.map(lambda page: faults_of(page, compilers, root, shared), pages), [])
    print(*faults, sep="\n")
    print(f"{sum(len(pairs_of(page)) for page in pages)} programs, by {', '.join(' '.join(c[::2]) for c in compilers)}; {len(faults)} faults")
    for compiler in COMPILERS:
        if compiler not in compilers:
            print(f"{compiler[0]} is not here: skipped")
    sys.exit(bool(faults) or not pages or not compilers)


if __name__ == "__main__":
    main()
