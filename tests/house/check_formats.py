"""The table of keys in docs/formats.md against the one in lib3pt/spec/keys.c: the same keys in the same order,
with the same defaults.

    check_formats.py ROOT
"""
import re
import sys
from pathlib import Path


def keys_of_the_code(text):
    """{name: initial, or the key it follows}, in order."""
    parts = re.findall(r'\.name = "([^"]+)"(.*?)\.meaning', text, re.S)
    found = {}
    for name, body in parts:
        fields = dict(re.findall(r'\.(\w+) = "([^"]*)"', body))
        found[name] = fields.get("initial")
    return found


def keys_of_the_page(text):
    """{name: default as written}, in order."""
    return {name: default.strip() for name, default in
            re.findall(r"^\| `((?:model|train)\.[^`]+)` \| ([^|]*) \|", text, re.M)}


def same(initial, written):
    if initial is None or not re.match(r"[-\d.]", initial):
        return initial == written or initial is None and not re.match(r"[-\d.]", written)
    return re.match(r"[-\d.e]+$", written) is not None and float(initial) == float(written)


def main():
    root = Path(sys.argv[1])
    code = keys_of_the_code((root / "lib3pt/spec/keys.c").read_text())
    page = keys_of_the_page((root / "docs/formats.md").read_text())
    faults = []
    if list(code) != list(page):
        faults.append(f"the keys or their order differ: {sorted(set(code) ^ set(page)) or 'order'}")
    faults += [f"{k}: the code starts at {code[k]}, the page says {page[k]}" for k in code
               if k in page and not same(code[k], page[k])]
    print(*faults, sep="\n")
    print(f"{len(code)} keys, {len(faults)} faults")
    sys.exit(bool(faults) or not code)


if __name__ == "__main__":
    main()
