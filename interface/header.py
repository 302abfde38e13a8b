"""Reads 3pt.h: its declarations with their comments, in order, as they are written.

A declaration's comment is the one that ends on the line before it; a field's, an enum value's or a
handle's stands after it on its line, or before it. `---- name ----` begins a group, and a comment that
is followed by an empty line is about the group.
"""
import re
from dataclasses import dataclass, field

COMMENT = re.compile(r"/\*(.*?)\*/", re.S)
WORD = re.compile(r'\w+|"[^"\n]*"|\.\.\.|[-+*&~!=<>|^%?:.,;(){}\[\]]')


class HeaderError(Exception):
    """What the header has, or does not say, that its readers need."""


@dataclass
class Declaration:
    code: str  # without comments, one space between words, without TPT_API
    comment: list  # lines
    group: str
    body: str = ""  # what stands between braces, comments included


@dataclass
class Header:
    top: list = field(default_factory=list)  # lines of the first comment
    version: tuple = ()
    groups: dict = field(default_factory=dict)  # name -> lines
    declarations: list = field(default_factory=list)


def lines_of(comment):
    """The lines of a comment without its frame; the indentation after `* ` stays."""
    lines = [re.sub(r"^\s*\*( |$)", "", line).rstrip() for line in comment.strip("* \n").split("\n")]
    return [lines[0].lstrip(), *lines[1:]]


def one_line(lines):
    return " ".join(" ".join(lines).split())


def words(text):
    """The words of C code; what is none of a header's is refused."""
    left = re.sub(r"\s+", "", WORD.sub("", text))
    if left:
        raise HeaderError(f"{left[:20]!r} is not known in a header")
    return WORD.findall(text)


def dedent(match):
    return match[1].replace("\n" + " " * len("TPT_API "), "\n")


def plain(text):
    """The declarations as written, without comments, preprocessor lines, TPT_API and extern "C"."""
    text = COMMENT.sub("", text).replace("\\\n", " ")
    text = "\n".join(line.rstrip() for line in text.split("\n") if not line.lstrip().startswith("#"))
    text = re.sub(r'extern "C" \{\n(.*)\n\}', r"\1", text, flags=re.S)
    text = re.sub(r"^TPT_API (.*?;)$", dedent, text, flags=re.M | re.S)
    return re.sub(r"\n{2,}", "\n", text).strip() + "\n"


def statements(code):
    """What ends with a semicolon outside of braces: (start, end)."""
    depth = start = 0
    for at, letter in enumerate(code):
        depth += (letter == "{") - (letter == "}")
        if letter == ";" and depth == 0:
            yield start, at + 1
            start = at + 1


def blank(match):
    return re.sub(r"[^\n]", " ", match[0])


def read(text):
    header = Header()
    found = re.findall(r"#define TPT_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", text)
    header.version = tuple(map(int, found))
    comments = [(m.start(), m.end(), lines_of(m[1])) for m in COMMENT.finditer(text)]
    header.top = comments[0][2]
    code = re.sub(r"^#.*$", blank, COMMENT.sub(blank, text), flags=re.M)
    code = re.sub(r'extern "C" \{(.*)\}', lambda m: " " * 12 + m[1] + " ", code, flags=re.S)
    group = ""
    for start, end in statements(code):
        begin = start + len(code[start:end]) - len(code[start:end].lstrip())
        # what stands on the last one's line is about that
        before = [c for c in comments[1:] if start <= c[0] < begin and "\n" in text[start:c[0]]]
        mine = []
        for first, last, lines in before:
            title = re.fullmatch(r"-+ (.*?) -+", " ".join(lines))
            if title:
                group = title[1]
                header.groups[group] = []
            elif text[last:begin].isspace() and text[last:begin].count("\n") == 1:
                mine = lines
            elif group:
                header.groups[group] += lines
        if not mine:  # after it, on its line
            mine = next((c[2] for c in comments if c[0] >= end and text[end:c[0]].strip(" ") == ""), [])
        body = re.search(r"\{(.*)\}", text[begin:end], re.S)
        shown = " ".join(code[begin:end].replace("TPT_API ", "").split())
        header.declarations.append(Declaration(shown, mine, group, body[1] if body else ""))
    return header


def members(body, separator):
    """(code, comment lines) of the fields or values of a body. A comment after a separator on its
    line belongs to what stands before it, another one to what follows."""
    parts, code, waiting = [], "", []
    at = 0
    for match in [*COMMENT.finditer(body), None]:
        piece = body[at:match.start() if match else len(body)]
        ended = (code + piece).split(separator)
        for one in ended[:-1]:
            parts.append((" ".join(one.split()), waiting))
            waiting = []
        code = ended[-1]
        if match and parts and not code.strip() and "\n" not in code:
            parts[-1] = (parts[-1][0], lines_of(match[1]))
        elif match:
            waiting = lines_of(match[1])
        at = match.end() if match else at
    return parts + ([(" ".join(code.split()), waiting)] if code.strip() else [])
