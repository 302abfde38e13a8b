"""The interface for machines: 3pt.cdef and 3pt.json, both made from 3pt.h alone (and the versions from
symbols-in-versions). README.md beside this file says what is in them.

    describe.py            compares the two files with the header; 1 and a difference where they are not equal
    describe.py --write    writes them; refused where a stored declaration was changed, moved or removed
"""
import difflib
import json
import re
import sys
from pathlib import Path

import facts
from header import HeaderError, members, one_line, plain, read, words

HERE = Path(__file__).resolve().parent
HEADER = HERE.parent / "include/3pt/3pt.h"
VERSION_ENUM = "enum {{ TPT_VERSION_MAJOR = {}, TPT_VERSION_MINOR = {}, TPT_VERSION_PATCH = {} }};\n"


def declarations(code):
    """Each as a text with one space between words, the numbers of the version excepted."""
    text = " ".join(words(code))
    found, depth, now = [], 0, []
    for word in text.split(" "):
        now.append(word)
        depth += (word == "{") - (word == "}")
        if word == ";" and depth == 0:
            found.append(" ".join(now))
            now = []
    return [d for d in found if "TPT_VERSION_" not in d]


def lost(stored, ours):
    """The first stored declaration that ours has not after those before it, or None. New ones may
    stand between."""
    at = 0
    for one in stored:
        try:
            at = ours.index(one, at) + 1
        except ValueError:
            return one
    return None


def cdef(text):
    return VERSION_ENUM.format(*read(text).version) + plain(text)


def conventions(top):
    """The paragraphs of CONVENTIONS and below that begin with their name and a full stop."""
    found, name = {}, None
    text = "\n".join(top).partition("\nCONVENTIONS")[2]
    for paragraph in text.split("\n\n"):
        titled = re.match(r"(\w+)(?:\. | are )", paragraph)
        if titled:
            found[titled[1]] = one_line(paragraph.removeprefix(titled[1] + ". ").split("\n"))
    return found


def letters(shapes):
    """The letters of shapes: a key of the description, a formula, or a number of the call."""
    found = {}
    for letter, word in re.findall(r"\b([A-Z]) (= [A-Z] / [A-Z]|[a-z_.]+)", shapes):
        how = "formula" if word.startswith("=") else "key" if "." in word else "call"
        found[letter] = {how: word.lstrip("= ").rstrip(".")}
    return found


def name_in(pattern, code):
    found = re.match(pattern, code)
    return found[1] if found else None


class Reader:
    """Sorts declarations by what they are."""

    kinds = {"enums": r"typedef enum (\w+) \{", "structs": r"typedef struct (\w+) \{",
             "handles": r"typedef struct (\w+) \w+;", "function_types": r"typedef [\w\s*]+\(\*(\w+)\)",
             "functions": r"(?!typedef)[\w\s*]*?\b(tpt_\w+)\("}

    def __init__(self, text, since):
        self.header, self.since = read(text), since
        self.parts = {"enums": [], "handles": [], "structs": [], "function_types": [], "functions": []}
        names = {kind: [] for kind in self.kinds}
        for one in self.header.declarations:
            kind, name = self.sort(one)
            names[kind].append(name)
        destroys = {h: h + "_destroy" for h in names["handles"]}
        for handle, destroy in destroys.items():
            facts.need(destroy in names["functions"], f"{handle} has no {destroy}")
        self.types = facts.Types(names["enums"], destroys, names["structs"], names["function_types"])

    def sort(self, one):
        for kind, pattern in self.kinds.items():
            name = name_in(pattern, one.code)
            if name:
                return kind, name
        raise HeaderError(f"not known to this reader: {one.code[:80]}")

    def enums(self, name, one):
        values = []
        for code, comment in members(one.body, ","):
            word, number = code.split(" = ")
            values.append({"name": word, "value": int(number, 0), "force": word.endswith("_FORCE"),
                           "doc": one_line(comment)})
        return {"name": name, "doc": one_line(one.comment), "values": values}

    def handles(self, name, one):
        return {"name": name, "destroy": self.types.handles[name], "doc": one_line(one.comment)}

    def fields(self, body):
        for code, comment in members(body, ";"):
            text = one_line(comment)
            call = re.fullmatch(r"(.*?)\(\*(\w+)\)\((.*)\)", code)
            if call:
                inner = [{"name": n, **facts.typed(t)} for t, n in facts.split_arguments(call[3])]
                yield {"name": call[2], "type": f"{call[1].strip()} (*)({call[3]})", "kind": "function",
                       "result": facts.typed(call[1].strip()), "arguments": inner, "nullable": False, "doc": text}
                continue
            found = re.fullmatch(r"(.*?)(\w+)(?:\[(\d+)\])?", code)
            c_type = found[1].strip()
            fact = {"name": found[2], **facts.typed(c_type), "kind": self.types.kind(c_type, found[2], text, False)}
            if found[3]:
                fact |= {"kind": "array", "element": c_type, "length": int(found[3])}
            lent = facts.borrowed(text)
            if "*" in c_type:
                fact["nullable"] = "may be NULL" in text
            yield fact | ({"borrowed": lent} if lent else {}) | {"doc": text}

    def structs(self, name, one):
        doc = one_line(one.comment)
        use = re.search(r"\b(result|input) of (tpt_\w+)", doc, re.I)
        facts.need(use, f"{name}: input or result of what?")
        fields = list(self.fields(one.body))
        for field in fields:
            facts.need(field["doc"], f"{name}.{field['name']} has no comment")
        return {"name": name, "use": use[1].lower(), "of": use[2], "doc": doc, "fields": fields}

    def signature(self, code, comment):
        """(result type, arguments, text by argument, prose, errors) of a function or its type."""
        found = re.fullmatch(r"(?:typedef )?(.*?)(?:\(\*\w+\)|\btpt_\w+)\((.*)\);", code)
        arguments = facts.split_arguments(found[2])
        doc, about, errors = facts.split_comment(comment, [n for _, n in arguments])
        return found[1].strip(), arguments, about, doc, errors

    def function_types(self, name, one):
        c_type, arguments, about, doc, _ = self.signature(one.code, one.comment)
        facts.need(doc, f"{name} has no comment")
        given = []
        for arg_type, arg in arguments:
            text = about.get(arg, "")
            fact = {"name": arg, **facts.typed(arg_type), "kind": self.types.kind(arg_type, arg, text, False)}
            lent = facts.borrowed(text)
            given.append(fact | ({"borrowed": lent} if lent else {}) | {"doc": text})
        result = {**facts.typed(c_type), "doc": about.get("returns", "")}
        return {"name": name, "doc": doc, "result": result, "arguments": given}

    def functions(self, name, one):
        c_type, arguments, about, doc, errors = self.signature(one.code, one.comment)
        facts.need(doc, f"{name} has no comment")
        facts.need(self.since is None or name in self.since, "not in symbols-in-versions")
        size = facts.sizes(arguments, about)
        given = [facts.argument(self.types, t, n, about.get(n, ""), size.get(n, {}))
                 for t, n in arguments]
        facts.relate(given)
        result = facts.result(self.types, c_type, about.get("returns", ""))
        made = next((a["base"] for a in given if a.get("owner") == "caller"), None)
        statuses = self.statuses(result, given, made, errors)
        return {"name": name, "since": self.since and self.since[name], "group": one.group, "doc": doc,
                "errors": errors, "statuses": statuses, "cancellable": "TPT_E_CANCELLED" in statuses,
                "threads": self.threads(doc, given, made), "creates": made,
                "destroys": next((h for h, d in self.types.handles.items() if d == name), None),
                "result": result, "arguments": given}

    def statuses(self, result, given, made, errors):
        if result["kind"] != "status":
            return []
        known = [w for w in self.status_names if w.startswith("TPT_E_")]
        said = {"TPT_E_" + w for w in re.findall(r"\b[A-Z]{2,}\b", errors)}
        said |= {"TPT_E_ARGUMENT"} if any(a["pointers"] for a in given) else set()
        said |= {"TPT_E_MEMORY"} if made else set()
        return [w for w in known if w in said]

    @property
    def status_names(self):
        return [v["name"] for e in self.parts["enums"] if e["name"] == "tpt_status" for v in e["values"]]

    @staticmethod
    def threads(doc, given, made):
        """README.md says what the four are. Making things from one context is shared."""
        handles = [a for a in given if a["direction"] == "in" and
                   (a["kind"] == "handle" or a["kind"] == "array" and a["base"].startswith("tpt_"))]
        if "from any thread" in doc.lower() or not handles:
            return "any"
        if "Only while idle" in doc:
            return "idle"
        shared = all(a.get("const") or made and a["base"] == "tpt_context" for a in handles)
        return "shared" if shared else "exclusive"

    def read(self):
        for one in self.header.declarations:
            kind, name = self.sort(one)
            try:
                self.parts[kind].append(getattr(self, kind)(name, one))
            except HeaderError as error:
                raise HeaderError(f"{name}: {error}") from None
        said = conventions(self.header.top)
        groups = [{"name": n, "doc": one_line(t)} for n, t in self.header.groups.items()]
        return {"library": "lib3pt", "header": "3pt/3pt.h", "link": "3pt",
                "soname": f"lib3pt.so.{self.header.version[0]}",
                "version": ".".join(map(str, self.header.version)), "conventions": said,
                "letters": letters(said["Shapes"]), "groups": groups, **self.parts}


def shown(value, indent=0):
    """JSON with what fits a line on one line."""
    flat = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, (dict, list)) or len(flat) + indent <= 118:
        return flat
    inside, pad = indent + 1, " " * (indent + 1)
    if isinstance(value, list):
        lines, ends = [pad + shown(v, inside) for v in value], "[]"
    else:
        lines, ends = [f"{pad}{json.dumps(k)}: {shown(v, inside)}" for k, v in value.items()], "{}"
    return ends[0] + "\n" + ",\n".join(lines) + "\n" + " " * indent + ends[1]


def versions(path):
    """function -> the version that added it."""
    return dict(line.split() for line in path.read_text(encoding="utf-8").splitlines() if line.strip())


def describe(text, since=None):
    """What 3pt.json has; since: versions of the functions, None where they are not asked for."""
    return Reader(text, since).read()


def main():
    text = HEADER.read_text(encoding="utf-8")
    try:
        made = {"3pt.cdef": cdef(text),
                "3pt.json": shown(describe(text, versions(HERE / "symbols-in-versions"))) + "\n"}
    except HeaderError as error:
        sys.exit(f"3pt.h: {error}")
    stored = {n: (HERE / n).read_text(encoding="utf-8") if (HERE / n).is_file() else "" for n in made}
    gone = lost(declarations(stored["3pt.cdef"]), declarations(made["3pt.cdef"]))
    if gone:
        sys.exit(f"3pt.h has not, or not in its place, what 3pt.cdef has:\n  {gone}")
    for name, content in made.items():
        if sys.argv[1:] == ["--write"]:
            (HERE / name).write_text(content, encoding="utf-8")
        else:
            sys.stdout.writelines(difflib.unified_diff(stored[name].splitlines(True), content.splitlines(True),
                                                       "interface/" + name, "of 3pt.h"))
    sys.exit(sys.argv[1:] != ["--write"] and stored != made)


if __name__ == "__main__":
    main()
