"""What a binding needs to know of each argument and result, by rules: from C types, argument names and
the phrases that the header's CONVENTIONS fix. What the rules cannot tell is an error: the header must
say it.
"""
import re

from header import HeaderError, one_line

BORROWED = [
    (r"borrowed until the caller's destroy of (?:the )?(\w+)", "destroy"),
    (r"borrowed until the next call on ([\w\[\]]+)", "next_call"),
    (r"borrowed until the next failing call on this thread", "next_failure"),
    (r"borrowed until this returns", "return"),
    (r"borrowed as long as the library is loaded", "unload"),
]


def borrowed(text):
    """How long a pointer is valid, or None where it is not borrowed."""
    for pattern, until in BORROWED:
        found = re.search(pattern, text)
        if found:
            return {"until": until, "of": found[1]} if found.groups() else {"until": until}
    if "borrowed" in text:
        raise HeaderError(f"until when? {text}")
    return None


def split_type(code):
    """`const float **values` -> (`const float **`, `values`)."""
    found = re.fullmatch(r"(.*?)\s*(\w+)", code)
    return found[1].strip(), found[2]


def split_arguments(code):
    parts = [" ".join(p.split()) for p in code.split(",")]
    return [] if parts in (["void"], [""]) else [split_type(p) for p in parts]


def base_of(c_type):
    return re.sub(r"\bconst\b|\*", "", c_type).strip()


def typed(c_type):
    return {"type": c_type, "base": base_of(c_type), "pointers": c_type.count("*")}


def pointee(c_type):
    return c_type.rsplit("*", 1)[0].strip()


def is_const(c_type):
    """Is what it points at constant?"""
    inner = pointee(c_type)
    return inner.endswith("const") or ("*" not in inner and inner.startswith("const "))


def split_comment(lines, names):
    """(prose, {argument: its line}, text after Errors:) of a comment."""
    prose, about, errors, now = [], {}, [], None
    for line in lines:
        found = re.match(r" {2}((?:\w+, )*\w+) +(\S.*)", line)
        listed = found[1].split(", ") if found else []
        if listed and all(n in names or n == "returns" for n in listed):
            now = []
            about.update((n, now) for n in listed)
            now.append(found[2])
        elif line.startswith("Errors:"):
            now = errors
            now.append(line[len("Errors:"):])
        elif now is errors or (now is not None and line.startswith("      ")):
            now.append(line)
        else:
            now = None
            prose.append(line)
    return one_line(prose), {n: one_line(t) for n, t in about.items()}, one_line(errors)


class Types:
    """The names of the header's types, so that a C type has a kind."""

    def __init__(self, enums, handles, structs, callbacks):
        self.enums, self.handles, self.structs, self.callbacks = enums, handles, structs, callbacks

    def kind(self, c_type, name, text, sized):
        """What an argument is, apart from how it is passed."""
        base, stars = base_of(c_type), c_type.count("*")
        if "of any kind" in text or (base in self.handles and (stars == 1 or not is_const(c_type))):
            return "handle"
        if base in self.callbacks:
            return "callback"
        if base in self.structs:
            return "struct"
        if base == "char" and stars == 1:
            return ("path" if name == "path" else "text") if is_const(c_type) else "text_result"
        if base == "void":
            return "bytes" if sized else "user"
        if stars == 0:
            return "enum" if base in self.enums else "scalar"
        return "array" if sized or stars == 2 else "scalar"


def sizes(arguments, about):
    """argument -> what says how many elements it has."""
    names, found = [n for _, n in arguments], {}
    for i, (c_type, name) in enumerate(arguments):
        following = [*arguments[i + 1:i + 3], ("", ""), ("", "")]
        (type1, name1), (type2, name2) = following[:2]
        inside = re.search(r"\[([^\]]*)\]", about.get(name, "").split(":")[0].split(" is ")[0])
        inside = [p.strip() for p in inside[1].split(",")] if inside else []
        size = {}
        if "*" in c_type and (type1, name1, type2) == ("size_t", "capacity", "size_t *"):
            size = {"capacity": name1, "written": name2}
        elif "*" in c_type and type1 == "size_t" and name1 in ("count", "length", "size"):
            size = {"length": [name1]}
        elif c_type.count("*") == 2 and (type1, name1) == ("size_t *", "count"):
            size = {"length": [name1]}
        if inside and all(p in names for p in inside):
            if size.setdefault("length", inside) != inside:
                raise HeaderError(f"{name} has two lengths: {size['length']}, {inside}")
        elif inside:
            size["shape"] = inside
        if size:
            found[name] = size
    return found


def direction(c_type, kind, text):
    if "in and out" in text:
        return "inout"
    if "*" not in c_type or is_const(c_type) or kind == "user":
        return "in"
    if kind == "handle" and c_type.count("*") == 1:
        return "in"
    return "out"


def need(condition, message):
    if not condition:
        raise HeaderError(message)


def argument(types, c_type, name, text, size):
    kind = types.kind(c_type, name, text, bool(size))
    fact = {"name": name, **typed(c_type), "kind": kind, "direction": direction(c_type, kind, text)}
    where = re.search(r"\bNULL where (\w+) is 0", text)
    fact["nullable"] = "may be NULL" in text or bool(where) or kind == "text_result"
    if where or kind == "text_result":
        fact["null_where_zero"] = where[1] if where else size["capacity"]
    if kind == "handle":
        fact["const"] = "*" in c_type and is_const(c_type)
        if fact["direction"] == "out":
            fact |= {"owner": "caller", "destroy": types.handles[fact["base"]]}
    if kind == "array":
        fact["element"] = pointee(c_type).removesuffix("const").strip()
    fact |= size
    lent = borrowed(text)
    if lent:
        fact |= {"owner": "library", "borrowed": lent}
        if " of pointers" in text:
            fact["each"] = re.search(r"is \[(.*?)\]", text)[1].split(", ")
        elif fact["pointers"] == 2:  # the result is the address of the first element
            fact["element"] = pointee(fact["element"])
    fact["doc"] = text
    return fact


def check(fact):
    """Does the comment say what the type alone does not?"""
    text, name = fact["doc"], fact["name"]
    out, silent = fact["direction"] == "out", fact["kind"] in ("handle", "text_result") or fact.get("role") == "written"
    need(out == bool(re.match("results?\\b", text)) or silent, f"{name}: is it a result? \"{text}\"")
    need(not silent or fact["kind"] != "text_result" or "a text result" in text, f"{name}: not called a text result")
    need(fact["kind"] != "array" or {"length", "capacity", "shape"} & fact.keys(), f"{name}: how many elements?")
    need(out or fact["kind"] != "scalar" or "*" not in fact["type"] or fact["direction"] == "inout",
         f"{name}: how many elements?")
    need(not (out and fact["pointers"] == 2) or "owner" in fact, f"{name}: whose is it?")
    need(fact["kind"] not in ("callback", "user") or fact["nullable"], f"{name}: may it be NULL?")


def relate(arguments):
    """A count knows what it counts, so that a binding can leave it out. Then all is checked."""
    by_name = {a["name"]: a for a in arguments}
    for one in arguments:
        roles = [("length", n) for n in one.get("length", [])]
        roles += [(r, one[r]) for r in ("capacity", "written") if r in one]
        for role, name in roles:
            by_name[name].setdefault("role", role)
            by_name[name].setdefault("of", []).append(one["name"])
    user = next((a["name"] for a in arguments if a["kind"] == "user"), None)
    for one in arguments:
        if one["kind"] == "callback":
            one["user"] = user
        check(one)


def result(types, c_type, text):
    fact = typed(c_type)
    base = fact["base"]
    kind = {"void": "none", "char": "text"}.get(base) or (
        "status" if base == "tpt_status" else "handle" if base in types.handles else "scalar")
    fact["kind"] = kind
    if fact["pointers"]:
        lent = borrowed(text)
        need(lent, "the result: whose is it?")
        fact |= {"nullable": "NULL" in text, "const": is_const(c_type), "owner": "library", "borrowed": lent}
    return fact | {"doc": text}
