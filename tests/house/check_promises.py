"""docs/PROMISES.md: every row has a test, and every test that it names exists.

    check_promises.py ROOT BUILD     BUILD: its list of tests is the other side

A row's tests are suites in backquotes, as `meson test --list` has them, each with the functions after it:
`api quiet` nothing_is_printed, closed_descriptors; `house needed`
"""
import json
import re
import sys
from pathlib import Path

HEAD = "| promise | test | where the fault was seen |"


def rows_of(page):
    """Line number and cells of each row of the tables with that head."""
    inside = False
    for number, line in enumerate(page.splitlines(), 1):
        inside = line == HEAD or inside and line.startswith("|")
        if inside and line != HEAD and not re.fullmatch(r"[|\-]+", line):
            yield number, [cell.strip() for cell in line.strip("|").split("|")]


def tests_of(cell):
    """Suite and function names."""
    for part in filter(None, re.split(r";\s*", cell)):
        found = re.fullmatch(r"`([^`]+)`\s*([\w,\s]*)", part.strip())
        yield (found[1], re.findall(r"\w+", found[2])) if found else (part, None)


def source_of(root, suite):
    """The file of a suite; what follows the name are arguments: `api memory refused`, `house install cmake`, `golden`."""
    folder, *words = suite.split(" ")
    names = ["_".join(words[:count]) for count in range(len(words), 0, -1)] + [folder]
    for name in names:
        for pattern in ("test_{}.c", "check_{}.py", "{}.py"):
            path = root / "tests" / folder / pattern.format(name)
            if path.is_file():
                return path
    return None


def is_there(root, suite, source, listed):
    """In this build's list; or named in a meson.build, for tests that other builds have."""
    if suite in listed:
        return True
    name = re.sub("test_|check_", "", source.stem) if source else suite.partition(" ")[2]
    words = re.compile(rf"'({suite}'|(\w+ )?{name}[' ])")
    return any(words.search(path.read_text()) for path in (root / "tests").rglob("meson.build"))


def has_function(source, name):
    text = source.read_text(encoding="utf-8")
    if source.suffix == ".py":
        return re.search(rf"^def {name}\(", text, re.M) is not None
    # once where it stands, once where it is added to its suite
    return f"START_TEST({name})" in text and len(re.findall(rf"\b{name}\b", text)) > 1


def faults_of(root, listed, cells):
    if len(cells) != 3 or not all(cells):
        yield "a row has a promise, its tests, and where the fault was seen"
        return
    for suite, functions in tests_of(cells[1]):
        source = source_of(root, suite)
        if functions is None or not is_there(root, suite, source, listed):
            yield f"there is no test {suite}"
        elif functions and not source:
            yield f"the functions of `{suite}` cannot be looked up"
        else:
            yield from (f"`{suite}` has no {name}" for name in functions if not has_function(source, name))


def main():
    root, build = (Path(word).resolve() for word in sys.argv[1:])
    listed = {test["name"] for test in json.loads((build / "meson-info/intro-tests.json").read_text())}
    rows = [*rows_of((root / "docs/PROMISES.md").read_text(encoding="utf-8"))]
    faults = [f"docs/PROMISES.md:{number}: {fault}" for number, cells in rows for fault in faults_of(root, listed, cells)]
    print(*faults, sep="\n")
    print(f"{len(rows)} promises, {len(faults)} faults")
    sys.exit(bool(faults) or not rows)


if __name__ == "__main__":
    main()
