"""English prose out of Debian packages: fetched, read, and parted into documents to train on and documents held out.

A document is one HTML file. Whole documents are held out, some HELD_SHARE of each source, spread over all of it; so no
sentence to train on stands beside its neighbour in the held-out text.
"""
import os
import re
import subprocess
import sys
from pathlib import Path

from binding import ROOT

sys.path.insert(0, str(ROOT / "scripts"))
import demo_text  # noqa: E402  the demo's reader of HTML

HELD_SHARE = 0.05
FEWEST_WORDS = 8      # of a paragraph: what is shorter is a heading, a link or a cell
PLAIN_SHARE = 0.9     # of its characters letters, blanks and the marks of prose: what has less is code or names
SHORTEST = 600        # characters of prose: what is shorter is an index or a page of links
COMMON = {"the", "of", "to", "and", "a", "is", "in", "that", "it"}  # an English paragraph has some of them
FEWEST_COMMON = 2
PLAIN = re.compile(r"[A-Za-z ,.;:'?!()-]")
ENDS = (".", "!", "?", ":", '"', "'", ")")
MARKS = str.maketrans({"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\u2013": "-", "\u2014": "-",
                       "\u00a0": " ", "\u2026": "..."})
CODE = {"pre", "table", "form", "footer", "svg"}


class Prose(demo_text.Paragraphs):
    """The demo's reader, without what is no running text in manuals."""

    def handle_starttag(self, tag, attrs):
        if tag in CODE:
            self.end_paragraph()
        self.skip += tag in CODE
        super().handle_starttag(tag, attrs)

    def handle_endtag(self, tag):
        self.skip -= tag in CODE and self.skip > 0
        super().handle_endtag(tag)


def is_prose(paragraph):
    words = paragraph.split()
    if len(words) < FEWEST_WORDS or not paragraph.endswith(ENDS):
        return False
    common = sum(word.lower() in COMMON for word in words)
    return common >= FEWEST_COMMON and len(PLAIN.findall(paragraph)) >= PLAIN_SHARE * len(paragraph)


def paragraphs(path):
    reader = Prose()
    reader.feed(path.read_text(encoding="utf-8", errors="replace").replace("\ufffd", ""))
    reader.close()
    reader.end_paragraph()
    return [text for text in (part.translate(MARKS) for part in reader.done) if is_prose(text)]


def size(document):
    return sum(map(len, document))


def documents(folder, patterns):
    """In the order of their names; a page that stands there twice (by a link) once."""
    files = sorted({path for pattern in patterns for path in folder.glob(pattern)
                    if path.is_file() and not path.is_symlink()})
    found = [document for document in map(paragraphs, files) if size(document) >= SHORTEST]
    return list({tuple(document): document for document in found}.values())


def parted(found):
    """(to train on, held out): a document is held out whenever that keeps the held-out share nearest to its aim."""
    train, held, seen, out = [], [], 0, 0
    for document in found:
        here = size(document)
        seen += here
        if out + here / 2 <= HELD_SHARE * seen:
            held.append(document)
            out += here
        else:
            train.append(document)
    return train, held


def fresh(train, held):
    """The held-out documents without paragraphs that were trained on or stood in an earlier one."""
    seen, kept = {text for document in train for text in document}, []
    for document in held:
        kept.append([text for text in dict.fromkeys(document) if text not in seen])
        seen.update(document)
    return [document for document in kept if document]


# ---- packages ----

def command(words, folder):
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    return done.returncode == 0, (done.stdout + done.stderr).strip()


def download(package, folder):
    """The package file: one that was laid there, else by apt-get, with new lists where the ones here lead nowhere."""
    there = sorted(folder.glob(f"{package}_*.deb"))
    if there:
        return there[-1]
    ask = ["apt-get", "download", "-q", package]
    good, said = command(ask, folder)
    if not good and os.geteuid() == 0:
        command(["apt-get", "update", "-q"], folder)
        good, said = command(ask, folder)
    if not good:
        sys.exit(f"experiments: {package} cannot be fetched; a Debian mirror and package lists are needed:\n{said}")
    return sorted(folder.glob(f"{package}_*.deb"))[-1]


def unpacked(package, folder):
    """(the package's files, its version); fetched and unpacked where they are not there."""
    tree, version = folder / package, folder / f"{package}.version"
    if not version.exists():
        folder.mkdir(parents=True, exist_ok=True)
        file = download(package, folder)
        good, said = command(["dpkg-deb", "-x", file, tree], folder)
        if not good:
            sys.exit(f"experiments: {file} cannot be unpacked: {said}")
        version.write_text(command(["dpkg-deb", "-f", file, "Version"], folder)[1] + "\n", encoding="utf-8")
        file.unlink()
    return tree, version.read_text(encoding="utf-8").strip()


def of_source(source, folder):
    """One entry of sources.yaml as (train, held, what about.json says of it)."""
    tree, version = unpacked(source["package"], folder)
    train, held = parted(documents(tree / source.get("under", ""), source["files"]))
    if not train:
        sys.exit(f"experiments: {tree}: no English prose in {source['files']}")
    about = {"package": source["package"], "version": version, "documents": len(train), "held": len(held),
             "characters": sum(map(size, train)), "held_characters": sum(map(size, held))}
    return train, held, about
