"""The manual for a browser: every page by mandoc, linked together, and an index in the order of use.

    make_html.py OUT PAGE...      the index keeps the order of the pages; that of functions is lib3pt(3)'s
"""
import html
import re
import shutil
import subprocess
import sys
from pathlib import Path

SECTIONS = {"7": "Concepts", "1": "Programs", "5": "Files", "3": "Functions"}      # the last is by task
OVERVIEW = "lib3pt.3"
INDEX = """<!DOCTYPE html>
<html lang="en">
<head>
  <meta charset="utf-8"/>
  <meta name="viewport" content="width=device-width, initial-scale=1.0"/>
  <link rel="stylesheet" href="style.css"/>
  <title>lib3pt manual</title>
</head>
<body class="index">
<h1>lib3pt manual</h1>
<p>lib3pt trains and runs Three-Phase Transformers. Begin with the concepts.</p>
{body}</body>
</html>
"""


def names_of(page):
    """The names of a page and its description in a line."""
    head = page.read_text(encoding="utf-8").split(".Sh NAME\n")[1].split("\n.Sh ")[0]
    return re.findall(r"^\.Nm (\S+)", head, re.M), re.search(r"^\.Nd (.*)", head, re.M)[1]


def unbroken(code):
    """Each --flag of a command as a word that style.css keeps on a line."""
    return re.sub(r"(?<![^\s>])--?[a-z][\w-]*", r'<span class="flag">\g<0></span>', code[0])


def shown(page, owner):
    """A page's HTML: names of other pages of ours lead there, names of others' pages nowhere."""
    text = subprocess.run(["mandoc", "-T", "html", "-O", "style=style.css,man=%N.%S.html", page], check=True,
                          capture_output=True, text=True).stdout

    def link(match):
        to = owner.get(match[1])
        return f'<a class="Xr" href="{to}.html">{match[2]}</a>' if to else match[2]

    text = re.sub(r'<a class="Xr" href="(.*?)\.html">(.*?)</a>', link, text)
    text = re.sub(r'(?s)<pre.*?</pre>|<code class="Li">.*?</code>', unbroken, text)
    text = text.replace("<html>", '<html lang="en">', 1)
    return text.replace("<body>\n", '<body>\n<nav><a href="index.html">lib3pt manual</a></nav>\n', 1)


def tasks(overview, owner):
    """The tasks of lib3pt(3) in its order, each with the files of its pages."""
    for part in re.split(r"(?m)^\.Ss ", overview.read_text(encoding="utf-8").split("\n.Sh RETURN")[0])[1:]:
        names = re.findall(r"(?m)^\.Xr (tpt_\S+) (3)", part)
        yield part.partition("\n")[0], [owner[f"{name}.{section}"] for name, section in names]


def listed(pages):
    """Names and description of each page, linked."""
    lines = ""
    for page in pages:
        names, about = names_of(page)
        link = f'<a href="{page.name}.html">{", ".join(names)}</a>'
        lines += f"<li>{link}<br/>{html.escape(about)}</li>\n"
    return f'<ul class="pages">\n{lines}</ul>\n'


def index(pages, owner):
    body, functions, left = "", "", {page.name: page for page in pages}
    for task, names in tasks(left[OVERVIEW], owner):
        of_task = [left.pop(name) for name in dict.fromkeys(names) if name in left]
        if of_task:
            functions += f"<h3>{html.escape(task)}</h3>\n{listed(of_task)}"
    for section, title in SECTIONS.items():
        others = [page for page in pages if page.name in left and page.suffix == "." + section]
        body += f"<h2>{title} ({section})</h2>\n{listed(others)}"
    return INDEX.format(body=body + functions)


def main():
    if not shutil.which("mandoc"):
        sys.exit("the HTML pages are made by mandoc, which is not installed")
    out, pages = Path(sys.argv[1]), [Path(word) for word in sys.argv[2:]]
    owner = {f"{name}{page.suffix}": page.name for page in pages for name in names_of(page)[0]}
    out.mkdir(parents=True, exist_ok=True)
    for page in pages:
        (out / f"{page.name}.html").write_text(shown(page, owner), encoding="utf-8")
    shutil.copy(Path(__file__).parent / "style.css", out)
    (out / "index.html").write_text(index(pages, owner), encoding="utf-8")
    print(f"{out / 'index.html'}: {len(pages)} pages")


if __name__ == "__main__":
    main()
