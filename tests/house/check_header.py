"""The public header alone, by each compiler that is here, as C from C99 and C++ from C++11 on, warnings fatal.

    check_header.py INCLUDE
"""
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

LANGUAGES = {"c": (("gcc", "clang"), ("c99", "c11", "c17")),
             "c++": (("g++", "clang++"), ("c++11", "c++17", "c++20"))}
WAYS = [(compiler, language, standard) for language, (compilers, standards) in LANGUAGES.items()
        for compiler in compilers for standard in standards]
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
        for compiler, language, standard in WAYS:
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
