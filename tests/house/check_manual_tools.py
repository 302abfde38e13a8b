"""The manual as its tools see it: mandoc finds no fault, an installed page is found and shown, the HTML holds together.

    check_manual_tools.py ROOT MAN BUILD WORK      BUILD: what is installed from; WORK: may be overwritten

What mandoc and man-db are needed for is skipped, with a word, where they are missing.
"""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from manual import pages_of

# The tools of a kind: all of them must be there. What makes the index, what shows a page, what searches.
READERS = {"mandoc": ("makewhatis", "mman", "mapropos"), "man-db": ("mandb", "man", "apropos")}
FOUND = (("7", "3pt"), ("3", "tpt_model_load"), ("3", "tpt_config_parse"))      # the last by its alias


def run(*words):
    env = dict(os.environ, MANPAGER="cat", PAGER="cat", LC_ALL="C.UTF-8", MANWIDTH="80")
    return subprocess.run(words, capture_output=True, text=True, env=env, stdin=subprocess.DEVNULL)


def lint(pages):
    for page in pages:
        done = run("mandoc", "-T", "lint", "-W", "warning", page.path)
        if done.stdout or done.returncode:
            yield done.stdout.replace(f"{page.path.parent}/", "").strip()


def install(build, work):
    """The folder of the manual."""
    shutil.rmtree(work, ignore_errors=True)
    done = run("meson", "install", "-C", build, "--no-rebuild", "--tags", "man", "--destdir", work / "root")
    found = next((work / "root").rglob("man3"), None)
    if done.returncode or not found:
        sys.exit(f"meson install: status {done.returncode}\n{done.stdout}{done.stderr}")
    return found.parent


def installed(manual, pages):
    """All pages; those of section 1 come with the programs."""
    programs = (manual / "man1").is_dir()
    for page in pages:
        if page.section == "1" and not programs:
            continue
        if not (manual / f"man{page.section}" / page.file).is_file():
            yield f"{page.file} is not installed: is it listed in man/meson.build?"


def reads(manual, kind):
    index, show, search = READERS[kind]
    run(index, *["-c"] * (index == "mandb"), manual)
    for section, name in FOUND:
        done = run(show, "-M", manual, section, name)
        if done.returncode or not re.search(rf"NAME\s.*\b{name}\b", re.sub(r".\x08", "", done.stdout)):
            yield f"{show} does not show {name}({section}): {done.stdout[:300]}{done.stderr}"
    done = run(search, "-M", manual, "3pt")
    for name in (r"3pt ?\(7\)", r"lib3pt ?\(3\)"):
        if not re.search(rf"(?m)^{name}", done.stdout):
            yield f"{search} 3pt does not find {name}: {done.stdout}{done.stderr}"


def index_is_in_order(pages, text):
    """Every page once, those of functions as lib3pt(3) names them."""
    shown = re.findall(r'href="([^"]+)\.html"', text)
    for page in pages:
        if shown.count(page.file) != 1:
            yield f"index.html has {shown.count(page.file)} links to {page.file}; one is wanted"
    owner = {name: page.file for page in pages if page.is_of_functions() for name in page.names}
    overview = next(page for page in pages if page.file == "lib3pt.3")
    wanted = list(dict.fromkeys(owner[name] for name, _ in overview.links() if name in owner))
    if [file for file in shown if file in owner.values()] != wanted:
        yield "index.html does not have the functions in the order of lib3pt.3"


def html(root, pages, work):
    out = work / "html"
    done = run(sys.executable, root / "man/make_html.py", out, *(page.path for page in pages))
    if done.returncode:
        yield f"make_html.py: {done.stdout}{done.stderr}"
        return
    texts = {path.name: path.read_text(encoding="utf-8") for path in out.glob("*.html")}
    for name, text in texts.items():
        for target, anchor in re.findall(r'href="([^"#:]*)(?:#([^"]*))?"', text):
            lost = target and not (out / target).is_file()
            if lost or anchor and f'id="{anchor}"' not in texts[target or name]:
                yield f"{name} links to {target}#{anchor}, which is not there"
        for flag in re.findall(r'(?<!class="flag">)(?<!class="Fl">)--[a-z][\w-]*', text):
            yield f"{name} has {flag} where a browser may break it"
        if 'name="viewport"' not in text or "style.css" not in text:
            yield f"{name} has no viewport or no style sheet"
    yield from index_is_in_order(pages, texts["index.html"])


def main():
    root, made, build, work = (Path(word).resolve() for word in sys.argv[1:])
    pages, skipped = pages_of(root, made), []
    manual = install(build, work)
    faults = [*installed(manual, pages)]
    if shutil.which("mandoc"):
        faults += [*lint(pages), *html(root, pages, work)]
    else:
        skipped.append("mandoc is not here: neither -T lint nor the HTML was tried")
    for kind, tools in READERS.items():
        if all(map(shutil.which, tools)):
            faults += reads(manual, kind)
        else:
            skipped.append(f"{kind} is not here: whether it finds the pages was not tried")
    print(*faults, *skipped, sep="\n")
    print(f"{len(pages)} pages, {len(faults)} faults, {len(skipped)} checks skipped")
    sys.exit(1 if faults else 77 if skipped else 0)


if __name__ == "__main__":
    main()
