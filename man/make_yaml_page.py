"""3pt.yaml(5): the table of keys in lib3pt/spec/keys.c, between the head and the tail of 3pt.yaml.5.in.

    make_yaml_page.py ROOT OUT
"""
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts"))
from keys import allowed, default, kind, read_keys  # noqa: E402

KINDS = {"SIZE": "whole number", "UINT64": "whole number", "INT32": "whole number", "REAL": "number",
         "BOOL": "truth value", "WORD": "word", "WORD_OR_LIST": "word or list"}


def sentences(text):
    """Each on a line of its own, as mdoc wants it; a word and its colon stay on one."""
    return re.sub(r"(?<=[.;]) (?=\S)", "\n", text)


def entry(key):
    unit = f", in {key['unit']}" if "unit" in key else ""
    return (f".It Cm {key['name']}\n{KINDS[kind(key)].capitalize()}{unit}: {allowed(key)}.\n"
            f"Default: {default(key)}.\n.Pp\n{sentences(key['meaning'])}\n")


def part(keys, section):
    of_it = [key for key in keys if key["name"].startswith(section + ".")]
    return ".Bl -tag -width Ds\n" + "".join(map(entry, of_it)) + ".El\n"


def main():
    root, out = map(Path, sys.argv[1:])
    keys = read_keys(root)
    text = (root / "man/3pt.yaml.5.in").read_text(encoding="utf-8")
    for section in ("model", "train"):
        text = text.replace(f"@{section}@\n", part(keys, section))
    out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
