"""docs/ARCHITECTURE.md with its picture, and docs/HOWTO.md: every file and folder that they name is there, every folder of
lib3pt/ is named, and the picture is what docs/make_architecture.py draws.

    check_architecture.py ROOT
"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

# What may be named: files of the library by their place in lib3pt/, all others by their place in the repository.
PLACES = ("lib3pt", "")


def there(root, name):
    return any((root / place / name).exists() for place in PLACES)


def words_of(text):
    """Names of files and folders in backquotes; a * stands for any text, NAME for that of something new."""
    return [word for word in re.findall(r"`([^`\s]+)`", text)
            if re.search(r"/|\.(c|h|inc|py|md|map|build)$", word) and "NAME" not in word]


def faults_of_page(root, page, text):
    for word in words_of(text):
        found = any(any((root / place).glob(word)) for place in PLACES) if "*" in word else there(root, word)
        if not found:
            yield f"{page} names {word}, which is not there"


def unnamed_folders(root, text):
    for folder in sorted(path.name for path in (root / "lib3pt").iterdir() if path.is_dir()):
        if f"lib3pt/{folder}" not in text:
            yield f"ARCHITECTURE.md does not say what lib3pt/{folder} is for"


def faults_of_picture(root):
    picture = (root / "docs/architecture.svg").read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "made.svg"
        subprocess.run([sys.executable, root / "docs/make_architecture.py", made], check=True)
        if made.read_text(encoding="utf-8") != picture:
            yield "docs/architecture.svg is not what docs/make_architecture.py draws: run it"
    for line in re.findall(r'<text class="f"[^>]*>([^<]*)<', picture):
        folder = ""
        for name in line.split():
            folder, _, file = name.rpartition("/") if "/" in name else (folder, "", name)
            if not there(root, f"{folder}/{file}"):
                yield f"the picture names {folder}/{file}, which is not there"


def main():
    root = Path(sys.argv[1]).resolve()
    texts = {page: (root / "docs" / page).read_text(encoding="utf-8") for page in ("ARCHITECTURE.md", "HOWTO.md")}
    faults = [fault for page, text in texts.items() for fault in faults_of_page(root, page, text)]
    faults += [*unnamed_folders(root, texts["ARCHITECTURE.md"]), *faults_of_picture(root)]
    print(*faults, sep="\n")
    print(f"{sum(len(words_of(text)) for text in texts.values())} names, {len(faults)} faults")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
