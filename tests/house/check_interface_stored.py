"""A program compiled with the declarations that are stored runs with the library of today.

    check_interface_stored.py ROOT LIB3PT.SO

Made from interface/3pt.json, compiled with 3pt.cdef, by each compiler that is here: it takes every function
through a pointer of the type that 3pt.json names, finds the same address by dlsym, and prints every value, size
and offset. Compiled with 3pt.h it prints the same.
"""
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(sys.argv[1]).resolve()
SHARED = Path(sys.argv[2]).resolve()
WAYS = {"3pt.cdef": "<3pt.cdef>", "3pt.h": "<3pt/3pt.h>"}
START = """#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include %s
typedef void any(void);
static int missed;
static void found(const char *name, any *mine) {
  void *there = dlsym(RTLD_DEFAULT, name);
  any *function;
  memcpy(&function, &there, sizeof function);
  if (!there || function != mine) missed++, printf("%s is not where it should be\\n", name);
}
int main(void) {
"""


def lines(interface):
    for one in interface["functions"]:
        types = ", ".join(a["type"] for a in one["arguments"]) or "void"
        yield f"{{ {one['result']['type']} (*f)({types}) = {one['name']}; found(\"{one['name']}\", (any *)f); }}"
    for enum in interface["enums"]:
        for value in enum["values"]:
            yield f"printf(\"{value['name']} %d is {value['value']}\\n\", (int){value['name']});"
    for struct in interface["structs"]:
        name = struct["name"]
        yield f"printf(\"{name} %zu\\n\", sizeof({name}));"
        for field in struct["fields"]:
            if field["kind"] == "function":
                yield f"{{ {name} s; {field['type'].replace('(*)', '(**f)')} = &s.{field['name']}; (void)f; }}"
            elif "length" in field:
                yield f"{{ {name} s; {field['type']} (*f)[{field['length']}] = &s.{field['name']}; (void)f; }}"
            else:
                yield f"{{ {name} s; {field['type']} *f = &s.{field['name']}; (void)f; }}"
            yield f"printf(\"{name}.{field['name']} %zu\\n\", offsetof({name}, {field['name']}));"


def compiled(compiler, include, body, folder):
    """What the program prints."""
    source, program = folder / "program.c", folder / "program"
    text = START.replace("%s", include, 1) + "\n".join(body) + "\nreturn missed != 0;\n}\n"
    source.write_text(text, encoding="utf-8")
    words = [compiler, "-std=c11", "-Wall", "-Wextra", "-pedantic", "-Werror", "-I", ROOT / "include", "-I",
             ROOT / "interface", source, "-o", program, SHARED, f"-Wl,-rpath,{SHARED.parent}", "-ldl"]
    for command in (words, [program]):
        done = subprocess.run([str(w) for w in command], capture_output=True, text=True)
        if done.returncode:
            return None, done.stdout + done.stderr
    return done.stdout, ""


def check(compiler, interface):
    body, seen = list(lines(interface)), {}
    for name, include in WAYS.items():
        with tempfile.TemporaryDirectory() as folder:
            seen[name], fault = compiled(compiler, include, body, Path(folder))
        if fault:
            yield f"{compiler}, {name}: {fault}"
    printed = (seen["3pt.cdef"] or "").splitlines()
    if seen["3pt.cdef"] != seen["3pt.h"]:
        yield f"{compiler}: 3pt.cdef and 3pt.h differ:\n{seen['3pt.cdef']}\n{seen['3pt.h']}"
    for line in printed:
        words = line.split(" ")
        if len(words) == 4 and words[1] != words[3]:
            yield f"{compiler}: {line}"


def main():
    interface = json.loads((ROOT / "interface/3pt.json").read_text(encoding="utf-8"))
    compilers = [c for c in ("gcc", "clang") if shutil.which(c)]
    faults = [f for c in compilers for f in check(c, interface)]
    print(*faults, sep="\n")
    print(f"{len(interface['functions'])} functions with {', '.join(compilers)}, {len(faults)} faults")
    sys.exit(bool(faults) or not compilers)


if __name__ == "__main__":
    main()
