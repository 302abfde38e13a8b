"""What the files of packaging/ repeat from elsewhere: versions and names.

    check_packaging.py ROOT
"""
import re
import sys
from pathlib import Path


def symbols_of(text):
    return dict(re.findall(r"(?m)^ ?(tpt_\w+)(?:@LIB3PT_1)?\s+([\d.]+)$", text))


def faults(root):
    version = re.search(r"version: '([\d.]+)'", (root / "meson.build").read_text())[1]
    wrap = (root / "packaging/3pt.wrap").read_text()
    if set(re.findall(r"3pt-(\d+\.\d+\.\d+)", wrap)) != {version}:
        yield f"packaging/3pt.wrap is not about version {version}"
    changelog = (root / "packaging/debian/changelog").read_text()
    if not changelog.startswith(f"lib3pt ({version}-"):
        yield f"packaging/debian/changelog does not begin with version {version}"
    debian = symbols_of((root / "packaging/debian/lib3pt1.symbols").read_text())
    ours = symbols_of((root / "interface/symbols-in-versions").read_text())
    if len(ours) < 100:
        yield f"only {len(ours)} functions were found in interface/symbols-in-versions"
    for name in sorted(set(debian) | set(ours)):
        if debian.get(name) != ours.get(name):
            yield f"{name}: since {debian.get(name)} in lib3pt1.symbols, {ours.get(name)} in interface/symbols-in-versions"


def main():
    found = [*faults(Path(sys.argv[1]))]
    print(*found, f"{len(found)} faults", sep="\n")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
