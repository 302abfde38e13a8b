"""The interface is frozen: 3pt.h holds every declaration of tests/house/declarations.txt, word for word and in order.

    check_declarations.py ROOT            compares; new declarations may stand between the stored ones
    check_declarations.py --list HEADER   prints the declarations of a header, one a line

Comments and white space do not count, nor do the version numbers, which have a test of their own. Where the
blueprint of the interface lies beside the repository, its declarations are compared too.
"""
import re
import sys
from pathlib import Path

# One lexical unit of what a header of declarations can hold; anything else is refused.
WORD = re.compile(r'\w+|"[^"\n]*"|\.\.\.|[-+*&~!=<>|^%?:.,;(){}\[\]]')


def words(text):
    found = WORD.findall(text)
    left = re.sub(r"\s+", "", WORD.sub("", text))
    if left:
        sys.exit(f"{left[:20]!r}: not known to this check")
    return found


def declarations(path):
    """In order: preprocessor lines, and what ends with a semicolon outside of braces."""
    text = re.sub(r"/\*.*?\*/", " ", path.read_text(encoding="utf-8"), flags=re.S).replace("\\\n", " ")
    found, now, depth = [], [], 0
    for line in text.splitlines():
        if line.lstrip().startswith("#"):
            if "TPT_VERSION_" not in line:
                found.append(" ".join(line.split()))
            continue
        for word in words(line):
            now.append(word)
            depth += (word == "{") - (word == "}")
            opened = now == ["extern", '"C"', "{"]
            if opened or (word == ";" and depth == 0) or depth < 0:
                found.append(" ".join(now))
                now, depth = [], 0
    if now or depth:
        sys.exit(f"{path}: unfinished: {' '.join(now)[:80]}")
    return found


def missing(stored, ours):
    """The first stored declaration that is not in ours after those before it, or None."""
    at = 0
    for declaration in stored:
        try:
            at = ours.index(declaration, at) + 1
        except ValueError:
            return declaration
    return None


def main():
    if sys.argv[1] == "--list":
        print(*declarations(Path(sys.argv[2])), sep="\n")
        return
    root = Path(sys.argv[1]).resolve()
    ours = declarations(root / "include/3pt/3pt.h")
    stored = (root / "tests/house/declarations.txt").read_text(encoding="utf-8").splitlines()
    sources = {"tests/house/declarations.txt": stored}
    blueprint = root.parent / "shared/design/3pt.h"
    if blueprint.is_file():
        sources["the blueprint"] = declarations(blueprint)
    faults = []
    for name, wanted in sources.items():
        lost = missing(wanted, ours)
        if lost:
            faults.append(f"3pt.h has not, or not in its place, what {name} has:\n  {lost}")
    print(*faults, sep="\n")
    print(f"{len(ours)} declarations, {len(stored)} of them frozen, compared with {len(sources)} lists")
    sys.exit(bool(faults) or not stored)


if __name__ == "__main__":
    main()
