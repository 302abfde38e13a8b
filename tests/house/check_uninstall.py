"""ninja uninstall after an installation leaves nothing of ours. Not at the same time as another installation from BUILD.

    check_uninstall.py BUILD WORK      WORK: may be overwritten
"""
import sys
from pathlib import Path

from installed import emptied, run


def main():
    build, work = (Path(word).resolve() for word in sys.argv[1:])
    root = emptied(work) / "a root"
    other = root / "usr/share/another"
    other.mkdir(parents=True)
    (other / "file").write_text("not ours\n")
    run(["meson", "install", "-C", build, "--no-rebuild", "--destdir", root])
    installed = [path for path in root.rglob("*") if not path.is_dir() or path.is_symlink()]
    if len(installed) < 5:
        sys.exit(f"hardly anything was installed: {installed}")
    run(["ninja", "-C", build, "uninstall"])
    left = [path for path in root.rglob("*") if not path.is_dir()]
    if left != [other / "file"]:
        sys.exit("after ninja uninstall there is left: " + " ".join(map(str, left)))
    print(f"{len(installed) - 1} files came and went")


if __name__ == "__main__":
    main()
