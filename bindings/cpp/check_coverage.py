#!/usr/bin/env python3
"""Does 3pt.hpp call every function of the interface, and have every value of its enums?

  check_coverage.py 3pt.json 3pt.hpp

Prints what is missing, a line each; exits 1 where something is.
"""
import json
import re
import sys


def missing(interface, header):
    code = re.sub(r'//[^\n]*|/\*.*?\*/|"(\\.|[^"\\])*"', "", header, flags=re.S)
    words = set(re.findall(r"\b(?:tpt|TPT)_\w+", code))
    values = [v["name"] for e in interface["enums"] for v in e["values"] if not v["force"]]
    for name in [f["name"] for f in interface["functions"]] + values:
        if name not in words:
            yield name
    for struct in interface["structs"]:
        fields = [f["name"] for f in struct["fields"] if f["name"] != "size"]
        if struct["name"] not in words:
            yield struct["name"]
        for field in fields:
            if not re.search(r"\b\w+\.%s\b" % field, code):
                yield f"{struct['name']}.{field}"


def main():
    interface = json.load(open(sys.argv[1], encoding="utf-8"))
    header = open(sys.argv[2], encoding="utf-8").read()
    found = list(missing(interface, header))
    for name in found:
        print("not in 3pt.hpp:", name)
    return 1 if found else 0


sys.exit(main())
