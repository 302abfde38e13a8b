"""The vectors are the same at every run and number of threads, in plain JSON, and have every status.

    check_vectors.py VECTORS SOURCE BUILD     VECTORS: the program; what it writes stays in BUILD/made
"""
import json
import os
import re
import subprocess
import sys
from pathlib import Path

program, source, build = (Path(a) for a in sys.argv[1:])
SCENARIOS = sorted(p.name for p in (source / "scenarios").glob("*.json"))
STATUSES = set(range(1, 10))  # TPT_E_ARGUMENT to TPT_E_CANCELLED
ODD_ESCAPE = re.compile(r'\\[^"\\n]')


def run(name, *threads):
    folder = build / "made" / name
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    subprocess.run([program, source / "scenarios", folder, *threads], check=True, env={**os.environ, "LC_ALL": "C"})
    return {p.name: p.read_text(encoding="utf-8") for p in sorted(folder.iterdir())}


def results(texts):
    return {name: json.loads(text)["results"] for name, text in texts.items()}


def is_plain(value):
    if isinstance(value, dict):
        return all(map(is_plain, value.values()))
    if isinstance(value, list):
        return all(map(is_plain, value))
    return isinstance(value, str) or type(value) is int and abs(value) <= 2**53


def faults():
    first = run("first")
    if sorted(first) != SCENARIOS:
        yield f"the files are {sorted(first)}, the scenarios {SCENARIOS}"
    for name, text in first.items():
        if ODD_ESCAPE.search(text.replace("\\\\", "")) or not is_plain(json.loads(text)):
            yield f"{name} is not plain JSON as README.md has it"
    again = run("again")
    yield from (f"{name} differs at a second run" for name in first if first[name] != again.get(name))
    for threads in "1", "2", "3":
        other = results(run("threads", threads))
        yield from (f"{name} differs at {threads} threads" for name, r in results(first).items() if r != other[name])
    missing = STATUSES - {case["status"] for case in results(first)["errors.json"]["cases"]}
    if missing:
        yield f"no case of the errors has a status of {sorted(missing)}"


found = list(faults())
print(*found, f"{len(SCENARIOS)} scenarios, {len(found)} faults", sep="\n")
sys.exit(bool(found) or not SCENARIOS)
