"""Reading the manual's mdoc and the public header, for the checks of the manual. No check of its own."""
import re
import shlex
from pathlib import Path

ESCAPES = {r"\e": "\\", r"\&": "", r"\-": "-"}


class Page:
    def __init__(self, path):
        self.path = Path(path)
        self.file = self.path.name
        self.stem, self.section = self.file.rsplit(".", 1)
        self.text = self.path.read_text(encoding="utf-8")
        self.parts = dict(re.findall(r"(?ms)^\.Sh ([^\n]+)\n(.*?)(?=^\.Sh |\Z)", self.text))
        self.titles = re.findall(r"(?m)^\.Sh (.+)$", self.text)
        self.names = re.findall(r"(?m)^\.Nm (\S+)", self.part("NAME"))

    def part(self, title):
        return self.parts.get(title, "")

    def is_of_functions(self):
        return self.section == "3" and self.stem.startswith("tpt_")

    def displays(self, title):
        """The literal displays of a section as a reader sees them."""
        found = re.findall(r"(?ms)^\.Bd -literal[^\n]*\n(.*?)^\.Ed$", self.part(title))
        return [re.sub(r"\\.", lambda m: ESCAPES.get(m[0], m[0] + "(not known to the check)"), text) for text in found]

    def prototypes(self):
        """Of the SYNOPSIS: .Ft with .Fn, or with .Fo, .Fa and .Fc."""
        kind, name, arguments = None, None, []
        for line in self.part("SYNOPSIS").splitlines():
            macro, _, rest = line.partition(" ")
            if macro == ".Ft":
                kind = rest.strip('"')
            elif macro == ".Fn":
                name, *arguments = shlex.split(rest)
                yield name, plain(f"{kind} {name}({', '.join(arguments)})")
            elif macro == ".Fo":
                name, arguments = rest.strip(), []
            elif macro == ".Fa":
                arguments += shlex.split(rest)
            elif macro == ".Fc":
                yield name, plain(f"{kind} {name}({', '.join(arguments)})")

    def links(self):
        """Once each, in the page's order."""
        return list(dict.fromkeys(re.findall(r"(?m)^\..*?\bXr (\S+) (\d)", self.text)))

    def items(self, title):
        """Tag and text of each entry of the lists of a section."""
        return re.findall(r"(?ms)^\.It ([^\n]+)\n(.*?)(?=^\.It |^\.El|\Z)", self.part(title))


def plain(code):
    """C with the same spaces everywhere."""
    return " ".join(re.findall(r"\w+|[^\w\s]", code))


class Header:
    def __init__(self, root):
        text = (root / "include/3pt/3pt.h").read_text(encoding="utf-8")
        code = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
        self.functions = {re.search(r"(\w+) *\(", declared)[1]: plain(declared)
                          for declared in re.findall(r"^TPT_API\s+([^;]+);", code, re.M)}
        self.code = plain(code)
        self.words = set(re.findall(r"\w+", code))
        self.statuses = set(re.findall(r"\bTPT_E_\w+(?= =)", text))
        self.version = tuple(int(re.search(rf"TPT_VERSION_{part} (\d+)", text)[1]) for part in ("MAJOR", "MINOR", "PATCH"))


def pages_of(root, made):
    """All pages: those of man/, and what the build made of the others (not the aliases)."""
    paths = [p for folder in (root / "man", made) for p in folder.glob("*.[1-9]")]
    return [page for page in map(Page, sorted(paths)) if not page.text.startswith(".so ")]
