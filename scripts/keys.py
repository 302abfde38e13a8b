"""The table of keys of a description, read from lib3pt/spec/keys.c: for the pages that are made from it."""
import re

NUMBERS = {"INT32_MAX": 2**31 - 1, "UINT64_MAX": 2**64 - 1}


def constants(code):
    """The bounds that keys.c gives names to, beside the C library's."""
    found = dict(NUMBERS)
    for name, text in re.findall(r"^#define (MOST_\w+) +(.*)$", code, re.M):
        shift = re.match(r"\(\D*1\D+<< (\d+)\)", re.sub(r"UINT64_C|/\*.*", "", text).strip())
        found[name] = 2 ** int(shift[1]) if shift else re.match(r"[\d.e]+", text)[0]
    return found


def read_keys(root):
    """A dictionary a key, with the fields as C has them: texts joined, bounds as they are written."""
    code = (root / "lib3pt/spec/keys.c").read_text(encoding="utf-8")
    named = constants(code)
    code = re.sub(r"/\*.*?\*/", "", code, flags=re.S)
    words = {name: re.findall(r'"([^"]+)"', body)
             for name, body in re.findall(r"const char \*const (\w+)\[\] = \{(.*?)\}", code, re.S)}
    keys = []
    for entry in re.split(r"\{(?=\.name)", code)[1:]:
        key = {}
        for field, value in re.findall(r"\.(\w+) =\s*((?:\"[^\"]*\"\s*)+|[^,}\"]+)", entry):
            value = value.strip()
            sign, bare = ("-", value[1:]) if value[0] == "-" else ("", value)
            key[field] = "".join(re.findall(r'"([^"]*)"', value)) if value[0] == '"' else sign + str(named.get(bare, bare))
        if "words" in key:
            key["words"] = words[key["words"]]
        keys.append(key)
    return keys


def bound(text):
    """A number as people write it: the large ones as powers of two."""
    if re.fullmatch(r"\d{10,}", text):
        number = int(text)
        for more in (0, 1):
            if (number + more).bit_count() == 1:
                return f"2^{(number + more).bit_length() - 1}" + " - 1" * more
    return text


def kind(key):
    return key["type"].removeprefix("TPTI_KEY_")


def allowed(key):
    if kind(key) == "BOOL":
        return "true, false"
    if kind(key) == "INT32":
        return "-2^31 to 2^31 - 1"
    if kind(key).startswith("WORD"):
        more = f", or a list of numbers from {key['low']} to {key['high']}" if kind(key).endswith("LIST") else ""
        return ", ".join(key["words"]) + more
    low, high = (bound(key[name]) for name in (("low", "high") if kind(key) == "REAL" else ("least", "most")))
    return f"above {low}, to {high}" if "above_low" in key else f"{low} to{' below' * ('below_high' in key)} {high}"


def default(key):
    return key.get("initial") or key["follows"]
