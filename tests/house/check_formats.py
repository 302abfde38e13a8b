"""The table of keys in docs/formats.md is made from the one in lib3pt/spec/keys.c: is it up to date?

    check_formats.py ROOT [--write]      --write: make it anew
"""
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
from keys import allowed, default, read_keys  # noqa: E402

HEAD = "| key | default | allowed | unit | |\n|---|---|---|---|---|\n"
TABLE = re.compile(r"^\| key \|.*\n\|[-|]+\n(?:\| `(?:model|train)\..*\n)+", re.M)


def row(key):
    return f"| `{key['name']}` | {default(key)} | {allowed(key)} | {key.get('unit', '')} | {key['meaning']} |\n"


def main():
    root = Path(sys.argv[1])
    page = root / "docs/formats.md"
    text = page.read_text(encoding="utf-8")
    keys = read_keys(root)
    found = TABLE.search(text)
    if not keys or not found:
        sys.exit("the table was not found in lib3pt/spec/keys.c or docs/formats.md")
    made = HEAD + "".join(map(row, keys))
    if "--write" in sys.argv:
        page.write_text(text[:found.start()] + made + text[found.end():], encoding="utf-8")
    elif found[0] != made:
        for line in sorted(set(made.splitlines()) - set(found[0].splitlines())):
            print("not on the page:", line)
        sys.exit("docs/formats.md differs from lib3pt/spec/keys.c: check_formats.py ROOT --write makes it anew")
    print(f"{len(keys)} keys")


if __name__ == "__main__":
    main()
