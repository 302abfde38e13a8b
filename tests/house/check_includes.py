"""The arrows of the house: which folder of lib3pt/ may include which, and who includes what is not ours.

    check_includes.py LIB3PT
"""
import re
import sys
from pathlib import Path

# Arrows run downward only; what a folder may include, its own files apart.
ALLOWED = {
    "base": set(),
    "kernel": {"base"},
    "op": {"kernel", "base"},
    "io": {"base"},
    "model": {"op", "kernel", "base"},
    "spec": {"model", "io", "op", "kernel", "base"},
    "train": {"model", "io", "op", "kernel", "base"},
    "decode": {"model", "io", "op", "kernel", "base"},
    "text": {"io", "base"},
    "api": {"spec", "train", "decode", "text", "model", "io", "op", "kernel", "base"},
}
# Libraries of others, each behind one file.
ONLY_IN = {"blis.h": "kernel/gemm.c", "blis/blis.h": "kernel/gemm.c", "yaml.h": "io/yaml.c",
           "pcre2.h": "io/regex.c"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)


def faults_of(root, path):
    name = path.relative_to(root).as_posix()
    folder = name.split("/")[0]
    for mark, target in INCLUDE.findall(path.read_text(encoding="utf-8")):
        if mark == "<":
            if target in ONLY_IN and name != ONLY_IN[target]:
                yield f"{name} includes <{target}>: only {ONLY_IN[target]} may"
            continue
        to = target.split("/")[0]
        if "/" not in target:
            yield f'{name} includes "{target}": write the folder too'
        elif not (root / target).is_file():
            yield f'{name} includes "{target}", which is not there'
        elif to != folder and to not in ALLOWED[folder]:
            yield f'{name} includes "{target}": {folder} may include {sorted(ALLOWED[folder]) or "nothing"}'


def main():
    root = Path(sys.argv[1])
    files = sorted(p for p in root.rglob("*") if p.suffix in (".c", ".h", ".inc") and len(p.relative_to(root).parts) > 1)
    ours = [p for p in files if p.relative_to(root).parts[0] in ALLOWED]
    faults = [f for p in ours for f in faults_of(root, p)]
    print(*faults, sep="\n")
    print(f"{len(ours)} files, {len(faults)} faults")
    sys.exit(bool(faults) or not ours)


if __name__ == "__main__":
    main()
