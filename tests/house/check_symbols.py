"""What the library shows and what it uses.

    check_symbols.py LIB3PT.SO LIB3PT.A 3PT.H MODE      MODE: release, or checked (asserts are in)

Exactly the functions of the header are exported, under LIB3PT_1, with the soname lib3pt.so.1; every
global name of the static library has a prefix of ours; nothing refers to what prints, ends the process,
reads the environment or installs handlers; nothing that can be written lives outside of handles and of
thread-local storage.
"""
import re
import subprocess
import sys

BANNED = set("""abort exit _exit _Exit quick_exit atexit on_exit at_quick_exit
    printf vprintf puts putchar perror fprintf vfprintf fputs fputc putc fwrite __printf_chk __fprintf_chk
    __vprintf_chk __vfprintf_chk stdout stderr stdin
    getenv secure_getenv setenv putenv unsetenv clearenv environ setlocale
    signal sigaction raise kill system popen fork execve
    rand srand random srandom drand48 strtok localtime gmtime strerror
    strtod strtof strtold atof
    __assert_fail""".split())
# Writable data that is allowed, each with its reason.
WRITABLE = {}


def run(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def header_functions(path):
    text = re.sub(r"/\*.*?\*/", "", open(path, encoding="utf-8").read(), flags=re.S)
    return set(re.findall(r"TPT_API[^;{]*?\b(tpt_\w+)\s*\(", text))


def exports(shared):
    """name -> version of what is defined; the version node itself is an absolute symbol."""
    found = {}
    for line in run("nm", "-D", "--defined-only", "--with-symbol-versions", shared).splitlines():
        kind, name = line.split()[-2:]
        if kind != "A":
            name, _, version = name.partition("@")
            found[name] = version.strip("@")
    return found


def check_exports(shared, header):
    wanted, found = header_functions(header), exports(shared)
    for name in sorted(wanted - set(found)):
        yield f"{name} is in the header and is not exported"
    for name in sorted(set(found) - wanted):
        yield f"{name} is exported and is not in the header"
    for name, version in sorted(found.items()):
        if version != "LIB3PT_1":
            yield f"{name} is exported under '{version}', not LIB3PT_1"
    soname = re.findall(r"\(SONAME\).*\[(.*)\]", run("readelf", "-d", shared))
    if soname != ["lib3pt.so.1"]:
        yield f"the soname is {soname}, not lib3pt.so.1"


def archive_symbols(static):
    """(member, kind letter, name) of every symbol."""
    member = ""
    for line in run("nm", static).splitlines():
        parts = line.split()
        if line.endswith(":"):
            member = line[:-1]
        elif len(parts) >= 2:
            yield member, parts[-2], parts[-1]


def check_archive(static, mode):
    banned = BANNED if mode == "release" else BANNED - {"__assert_fail"}
    for member, kind, name in archive_symbols(static):
        if kind == "U" and name.split("@")[0] in banned:
            yield f"{member} refers to {name}"
        if kind.isupper() and kind not in "UWV" and not name.startswith(("tpt_", "tpti_")):
            yield f"{member}: the global name {name} has no prefix of ours"


def check_writable(static):
    """Objects in .data or .bss; .data.rel.ro is made read-only before main, TLS is each thread's own."""
    for line in run("objdump", "-t", static).splitlines():
        found = re.match(r"[0-9a-f]+ .{6}O (\.data|\.bss)(\.\S+)?\s+[0-9a-f]+\s+(?:\.hidden )?(\S+)$", line)
        if found and not (found[2] or "").startswith(".rel.ro") and found[3].split(".")[0] not in WRITABLE:
            yield f"{found[3]} in {found[1]} can be written, and belongs to no handle"


def main():
    shared, static, header, mode = sys.argv[1:]
    faults = [*check_exports(shared, header), *check_archive(static, mode), *check_writable(static)]
    print(*faults, sep="\n")
    print(f"{len(header_functions(header))} functions, {len(faults)} faults")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
