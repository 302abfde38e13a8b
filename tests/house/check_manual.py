"""The pages of the manual against the header, the programs and each other.

    check_manual.py ROOT MAN [PROGRAM...]     MAN: the man folder of the build; PROGRAM: the example programs
"""
import collections
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from manual import Header, pages_of, plain

ORDER = ["NAME", "SYNOPSIS", "DESCRIPTION", "RETURN VALUES", "THREADS", "MEMORY", "EXAMPLES", "ERRORS",
         "SEE ALSO", "HISTORY"]
WIDEST = 100      # characters of a line of mdoc, a program's apart
STRICT = ("-std=c11", "-Wall", "-Wextra", "-pedantic", "-Werror", "-fsyntax-only")


def functions_have_pages(pages, header, made):
    """Each function stands in one page's NAME and SYNOPSIS, and man finds it by its own name."""
    named, shown = collections.defaultdict(list), collections.defaultdict(list)
    for page in pages:
        if page.is_of_functions():
            for name in page.names:
                named[name].append(page)
            for name, _ in page.prototypes():
                shown[name].append(page)
    for name in sorted(header.functions | named | shown):
        if name not in header.functions:
            yield f"{(named[name] + shown[name])[0].file}: {name} is no function of 3pt.h"
            continue
        if not named[name] + shown[name]:
            yield f"{name} has no page"
            continue
        for part, found in (("NAME", named[name]), ("SYNOPSIS", shown[name])):
            if len(found) != 1:
                yield f"{name} is in the {part} of {', '.join(p.file for p in found) or 'no page'}; one is wanted"
        if named[name] and named[name][0].stem != name:
            alias, target = made / f"{name}.3", f".so man3/{named[name][0].file}\n"
            if not alias.is_file() or alias.read_text() != target:
                yield f"{name}.3 should be an alias with {target.strip()}: is its page listed in man/meson.build?"


def pages_are_in_form(page, header):
    if page.text.count(f".Dt {page.stem.upper()} {page.section}\n") != 1:
        yield f"the title should be .Dt {page.stem.upper()} {page.section}"
    if not page.names or page.names[0] != page.stem:
        yield f"the first name should be {page.stem}, as the file's"
    if page.is_of_functions() and page.titles != ORDER:
        yield f"the sections are {', '.join(page.titles)}; wanted are {', '.join(ORDER)}"
    literal = False
    for line in page.text.splitlines():
        literal = line.startswith(".Bd -literal") or literal and line != ".Ed"
        if len(line) > WIDEST and not literal and page.file != "3pt.yaml.5":
            yield f"a line of {len(line)} characters, at most {WIDEST}: {line[:60]}..."
    for word in sorted(set(re.findall(r"\btpt_\w+|\bTPT_\w+", page.text)) - header.words):
        known = any(other.startswith(word) for other in header.words) if word.endswith("_") else False
        if not known and word.lower() not in header.words:
            yield f"{word} is nothing of 3pt.h"


def synopsis_is_the_headers(page, header):
    for name, prototype in page.prototypes():
        wanted = header.functions.get(name)
        if wanted and prototype != wanted:
            yield f"SYNOPSIS has\n    {prototype}\n  and 3pt.h\n    {wanted}"
    for line in re.findall(r"(?m)^\.Fd (.*)", page.part("SYNOPSIS")):
        if plain(line.replace('"', "")) not in header.code:
            yield f"3pt.h has no {line}"
    for display in page.displays("SYNOPSIS") if page.is_of_functions() else []:
        for declared in re.findall(r"(?:[^;{]|\{[^}]*\})+;", display):
            if plain(declared) not in header.code:
                yield f"SYNOPSIS shows what 3pt.h has not:\n    {plain(declared)}"


def synopsis_compiles(pages, root):
    """What the pages declare, after the header: a compiler refuses a second declaration that differs."""
    lines = ["#include <3pt/3pt.h>"]
    for page in pages:
        if page.is_of_functions():
            lines += [f'#line 1 "{page.file}"'] + [prototype + ";" for _, prototype in page.prototypes()]
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "synopsis.c"
        source.write_text("\n".join(lines) + "\n")
        done = subprocess.run(["cc", *STRICT, "-I", root / "include", source], capture_output=True, text=True)
    if done.returncode:
        yield "the SYNOPSIS of all pages after 3pt.h does not compile:\n" + done.stderr


def errors_are_statuses(page, header):
    tags = " ".join(tag for tag, _ in page.items("ERRORS"))
    for status in sorted(set(re.findall(r"\b(?:TPT_)?E_\w+", tags)) - header.statuses):
        yield f"ERRORS has {status}, which is no tpt_status"
    if page.part("ERRORS") and not page.part("ERRORS").strip():
        yield "ERRORS is empty"


def history_agrees(page, header):
    found = re.findall(r"version (\d+)\.(\d+)\.(\d+)", page.part("HISTORY"))
    if not found:
        yield "HISTORY names no version"
    for version in found:
        number = tuple(map(int, version))
        if not header.version[:1] + (0, 0) <= number <= header.version:
            yield f"HISTORY says version {'.'.join(version)}; 3pt.h is version {'.'.join(map(str, header.version))}"


def links_lead_somewhere(page, known):
    """A name that looks like one of ours must be; others' pages (cc, pkg-config) are theirs."""
    for name, section in page.links():
        if re.match(r"3pt|lib3pt|tpt_", name) and (name, section) not in known:
            yield f".Xr {name} {section} is no page"
        if name == page.stem and section == page.section and page.is_of_functions():
            yield f".Xr {name} {section} is the page itself"
    linked = re.findall(r"(?m)^\.Xr (\S+) (\d)", page.part("SEE ALSO"))
    if linked != sorted(linked, key=lambda link: (link[1], link[0].lower())):
        yield "SEE ALSO is not in the order of section and alphabet"


def overview_is_whole(pages, header):
    for page in (page for page in pages if page.file == "lib3pt.3"):
        for name in sorted(set(header.functions) - {name for name, _ in page.links()}):
            yield f"lib3pt.3 does not name {name} by .Xr"


def description_is_right(pages, programs):
    """The example of 3pt.yaml(5) goes through the program that describes."""
    program = next((p for p in programs if p.name.endswith("describe")), None)
    for page in (page for page in pages if page.file == "3pt.yaml.5" and program):
        with tempfile.TemporaryDirectory() as folder:
            for text in page.displays("EXAMPLES"):
                source = Path(folder) / "example.yaml"
                source.write_text(text)
                done = subprocess.run([program, source], capture_output=True, text=True)
                if done.returncode:
                    yield f"{page.file}: EXAMPLES is no description:\n{done.stderr}"


def options_are_the_programs(pages, program):
    """Names, whether a value follows, and the default where the help ends with a word in brackets."""
    name = program.name if program.name.startswith("3pt-") else "3pt-" + program.name
    page = next((p for p in pages if p.stem == name and p.section == "1"), None)
    if not page:
        yield f"{name}.1 is missing"
        return
    text = subprocess.run([program, "--help"], capture_output=True, text=True, check=True).stdout
    helped = {flag: (bool(value), about) for flag, value, about in
              re.findall(r"(?m)^  --(\S+)( [A-Z]+)? +(.*)$", text)}
    written = {flag: (bool(value), about) for tag, about in page.items("DESCRIPTION")
               for flag, value in re.findall(r"^Fl -(\S+)( Ar \S+)?", tag)}
    for flag in sorted(helped | written):
        if flag not in helped or flag not in written:
            yield f"{page.file}: --{flag} is only in the {'page' if flag in written else 'help'}"
        elif helped[flag][0] != written[flag][0]:
            yield f"{page.file}: --{flag}: page and help do not agree whether a value follows"
        else:
            default = re.search(r"\((\S+)\)$", helped[flag][1])
            if default and not re.search(rf"\b{re.escape(default[1])}\b", written[flag][1]):
                yield f"{page.file}: --{flag}: the default {default[1]} is not told"


def main():
    root, made, *programs = (Path(word).resolve() for word in sys.argv[1:])
    header, pages = Header(root), pages_of(root, made)
    known = {(name, page.section) for page in pages for name in page.names}
    faults = [*functions_have_pages(pages, header, made), *synopsis_compiles(pages, root), *overview_is_whole(pages, header)]
    for page in pages:
        of_page = [*pages_are_in_form(page, header), *synopsis_is_the_headers(page, header),
                   *errors_are_statuses(page, header), *history_agrees(page, header), *links_lead_somewhere(page, known)]
        faults += [f"{page.file}: {fault}" for fault in of_page]
    faults += description_is_right(pages, programs)
    for program in programs:
        faults += options_are_the_programs(pages, program)
    faults += [f"{name} is missing" for name in ("lib3pt.3", "3pt.7", "3pt.yaml.5", "3pt.safetensors.5")
               if not any(page.file == name for page in pages)]
    print(*faults, sep="\n")
    print(f"{len(pages)} pages, {len(header.functions)} functions, {len(programs)} programs, {len(faults)} faults")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
