"""The public header alone, by each compiler that is here, as C11 and as C++17, warnings fatal.

    check_header.py INCLUDE
"""
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

COMPILERS = (("gcc", "c", "c11"), ("clang", "c", "c11"), ("gcc", "c", "c17"),
             ("g++", "c++", "c++17"), ("clang++", "c++", "c++17"))
STRICT = ("-Wall", "-Wextra", "-pedantic", "-Wshadow", "-Wconversion", "-Werror", "-fsyntax-only")
PROGRAM = """#include <3pt/3pt.h>
#include <3pt/3pt.h>
int main(void) {
  tpt_evaluation e;
  e.size = sizeof e;
  return tpt_check_version(TPT_VERSION_MAJOR, TPT_VERSION_MINOR, TPT_VERSION_PATCH) == TPT_OK && e.size ? 0 : 1;
}
"""


def main():
    faults, ran = [], []
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "alone.c"
        source.write_text(PROGRAM)
        for compiler, language, standard in COMPILERS:
            if not shutil.which(compiler):
                continue
            for define in ([], ["-DTPT_API="]):
                words = [compiler, "-x", language, "-std=" + standard, *STRICT, *define, "-I", sys.argv[1], str(source)]
                done = subprocess.run(words, capture_output=True, text=True)
                if done.returncode:
                    faults.append(" ".join(words) + "\n" + done.stderr)
            ran.append(f"{compiler} {standard}")
    print(*faults, sep="\n")
    print("compiled by", ", ".join(ran))
    if not any("++" in r for r in ran) and not faults:
        print("there is no C++ compiler here")
        sys.exit(77)
    sys.exit(bool(faults) or not ran)


if __name__ == "__main__":
    main()
