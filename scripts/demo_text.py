"""Plain text of the demo: HTML documents in, one text to train on and one held out.

    demo_text.py FOLDER OUT      FOLDER: *.html; writes OUT/train.txt and OUT/held.txt

Whole documents are held out, every HELD_OUT_EVERY-th by name, so that no sentence of the one text
stands beside its neighbour in the other. Paragraphs that stand in both (quotations, notices) and those
given twice are left out of the held-out text.
"""
import re
import sys
from html.parser import HTMLParser
from pathlib import Path

HELD_OUT_EVERY = 15          # some 6 percent of the documents
SHORTEST = 2000              # characters: what is shorter is a list of links
SKIPPED = {"script", "style", "head", "nav"}
ENDS_PARAGRAPH = {"p", "div", "br", "li", "ul", "ol", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "td", "tr", "hr"}


class Paragraphs(HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.done, self.part, self.skip = [], [], 0

    def end_paragraph(self):
        text = re.sub(r"\s+", " ", "".join(self.part)).strip()
        if text:
            self.done.append(text)
        self.part = []

    def handle_starttag(self, tag, attrs):
        self.skip += tag in SKIPPED
        if tag in ENDS_PARAGRAPH:
            self.end_paragraph()

    def handle_endtag(self, tag):
        self.skip -= tag in SKIPPED and self.skip > 0
        if tag in ENDS_PARAGRAPH:
            self.end_paragraph()

    def handle_data(self, data):
        if not self.skip:
            self.part.append(data)


def paragraphs(path):
    parser = Paragraphs()
    parser.feed(path.read_text(encoding="utf-8", errors="replace").replace("\ufffd", ""))
    parser.close()
    parser.end_paragraph()
    return parser.done


def main():
    folder, out = Path(sys.argv[1]), Path(sys.argv[2])
    documents = [p for p in (paragraphs(f) for f in sorted(folder.rglob("*.html"))) if sum(map(len, p)) >= SHORTEST]
    if not documents:
        sys.exit(f"no document of {SHORTEST} characters or more in {folder}")
    held = documents[HELD_OUT_EVERY // 2::HELD_OUT_EVERY]
    train = [d for i, d in enumerate(documents) if i % HELD_OUT_EVERY != HELD_OUT_EVERY // 2]
    seen, kept = {p for d in train for p in d}, []
    for document in held:
        fresh = [p for p in document if p not in seen]
        seen.update(fresh)
        kept.append(fresh)
    for name, part in (("train.txt", train), ("held.txt", kept)):
        text = "\n\n\n".join("\n\n".join(document) for document in part) + "\n"
        (out / name).write_text(text, encoding="utf-8")
        print(f"{name}: {len(part)} documents, {len(text.encode()):,} bytes")


if __name__ == "__main__":
    main()
