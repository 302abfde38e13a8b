"""The C programs of README.md: each is compiled, strictly, and run.

    check_readme.py README.md INCLUDE LIB3PT.SO
"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path


def main():
    readme, include, shared = (Path(word).resolve() for word in sys.argv[1:])
    programs = re.findall(r"^```c\n(.*?)^```", readme.read_text(encoding="utf-8"), re.S | re.M)
    if not programs:
        sys.exit("README.md has no C program")
    for program in programs:
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "readme.c").write_text(program)
            words = ["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-I", str(include), "readme.c", "-o", "readme",
                     str(shared), f"-Wl,-rpath,{shared.parent}"]
            for words in (words, ["./readme"]):
                done = subprocess.run(words, cwd=folder, capture_output=True, text=True)
                if done.returncode:
                    sys.exit(f"{' '.join(words)}: status {done.returncode}\n{done.stdout}{done.stderr}")
            print(done.stdout.strip())
            loss = re.search(r"loss (\d+\.\d+)", done.stdout)
            if not loss or float(loss[1]) > 0.1 or "sum to zero" not in done.stdout:
                sys.exit("the program of README.md did not learn its phrase")


if __name__ == "__main__":
    main()
