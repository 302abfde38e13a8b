"""The manual for a browser: every page by mandoc, linked together, and an index by section.

    make_html.py OUT PAGE...
"""
import html
import re
import shutil
import subprocess
import sys
from pathlib import Path

SECTIONS = {"7": "Concepts", "1": "Programs", "3": "Functions", "5": "Files"}
INDEX = """<!DOCTYPE html>
<html lang="en">
<head>
  <meta charset="utf-8"/>
  <meta name="viewport" content="width=device-width, initial-scale=1.0"/>
  <link rel="stylesheet" href="style.css"/>
  <title>lib3pt</title>
</head>
<body>
<p>The manual of lib3pt, which trains and runs Three-Phase Transformers. Begin with <a href="3pt.7.html">3pt(7)</a>
and <a href="lib3pt.3.html">lib3pt(3)</a>.</p>
{body}</body>
</html>
"""


def names_of(page):
    """The names of a page and its description in a line."""
    head = page.read_text(encoding="utf-8").split(".Sh NAME\n")[1].split("\n.Sh ")[0]
    return re.findall(r"^\.Nm (\S+)", head, re.M), re.search(r"^\.Nd (.*)", head, re.M)[1]


def shown(page, owner):
    """A page's HTML: names of other pages of ours lead there, names of others' pages nowhere."""
    text = subprocess.run(["mandoc", "-T", "html", "-O", "style=style.css,man=%N.%S.html", page], check=True,
                          capture_output=True, text=True).stdout

    def link(match):
        to = owner.get(match[1])
        return f'<a class="Xr" href="{to}.html">{match[2]}</a>' if to else match[2]

    text = re.sub(r'<a class="Xr" href="(.*?)\.html">(.*?)</a>', link, text)
    text = text.replace("<html>", '<html lang="en">', 1)
    return text.replace("<body>\n", '<body>\n<nav><a href="index.html">lib3pt manual</a></nav>\n', 1)


def index(pages):
    body = ""
    for section, title in SECTIONS.items():
        lines = ""
        for page in sorted(p for p in pages if p.suffix == "." + section):
            names, about = names_of(page)
            link = f'<a href="{page.name}.html">{", ".join(names)}</a>'
            lines += f"<li>{link}<br/>{html.escape(about)}</li>\n"
        body += f'<h1>{title} ({section})</h1>\n<ul class="pages">\n{lines}</ul>\n'
    return INDEX.format(body=body)


def main():
    if not shutil.which("mandoc"):
        sys.exit("the HTML pages are made by mandoc, which is not installed")
    out, pages = Path(sys.argv[1]), [Path(word) for word in sys.argv[2:]]
    owner = {f"{name}{page.suffix}": page.name for page in pages for name in names_of(page)[0]}
    out.mkdir(parents=True, exist_ok=True)
    for page in pages:
        (out / f"{page.name}.html").write_text(shown(page, owner), encoding="utf-8")
    shutil.copy(Path(__file__).parent / "style.css", out)
    (out / "index.html").write_text(index(pages), encoding="utf-8")
    print(f"{out / 'index.html'}: {len(pages)} pages")


if __name__ == "__main__":
    main()
