#!/usr/bin/env python3
"""Writes the Java declarations of 3pt.h from interface/3pt.json.

  generate.py            compares the files with what it would write; status 1 where they differ
  generate.py --write    writes them
"""
import pathlib
import sys
import textwrap

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE.parent))
import interface as shared  # noqa: E402

OUT = HERE / "src/main/java/lib3pt"
MADE = "// Generated from interface/3pt.json by bindings/java/generate.py; do not edit.\n"
WIDTH = 100

# C type without pointers: layout, carrier (size_t is 64 bits wide: other machines are refused at start).
SCALARS = {
    "int32_t": ("JAVA_INT", "int"),
    "uint64_t": ("JAVA_LONG", "long"),
    "size_t": ("JAVA_LONG", "long"),
    "float": ("JAVA_FLOAT", "float"),
    "double": ("JAVA_DOUBLE", "double"),
}
SIZES = {"JAVA_INT": 4, "JAVA_LONG": 8, "JAVA_FLOAT": 4, "JAVA_DOUBLE": 8, "ADDRESS": 8}
PUBLIC_ENUMS = {  # C name: Java name, what constants lose in front
    "tpt_status": ("Status", ("TPT_E_", "TPT_")),
    "tpt_memory_use": ("MemoryUse", ("TPT_MEMORY_",)),
    "tpt_point": ("Point", ("TPT_POINT_",)),
}


def pair(interface, thing):
    """Layout and carrier of an argument, field or result; None for void."""
    base, pointers = thing["base"], thing["pointers"]
    if pointers or base in {f["name"] for f in interface["function_types"]}:
        return "ADDRESS", "MemorySegment"
    if base in {e["name"] for e in interface["enums"]}:
        return "JAVA_INT", "int"
    return None if base == "void" else SCALARS[base]


def wrap(text, first, rest):
    return "\n".join(textwrap.wrap(text, WIDTH, initial_indent=first, subsequent_indent=rest,
                                   break_long_words=False, break_on_hyphens=False))


def descriptor(interface, result, arguments):
    layouts = [pair(interface, a)[0] for a in arguments]
    kind = pair(interface, result)
    return f"of({', '.join([kind[0]] + layouts)})" if kind else f"ofVoid({', '.join(layouts)})"


def constants(interface):
    numbers = zip(("MAJOR", "MINOR", "PATCH"), interface["version"].split("."))
    yield f'  static final String SONAME = "{interface["soname"]}";'
    for name, number in numbers:
        yield f"  static final int VERSION_{name} = {number};"
    for enum in interface["enums"]:
        yield ""
        for value in enum["values"]:
            yield f"  static final int {value['name']} = {value['value']};"


def struct(interface, s):
    members, at = [], 0
    for f in s["fields"]:
        layout = "ADDRESS" if f["kind"] == "function" else pair(interface, f)[0]
        size = SIZES[layout]
        if at % size:
            members.append(f"MemoryLayout.paddingLayout({size - at % size})")
            at += size - at % size
        text, times = layout, 1
        if f["kind"] == "array":
            times = f["length"]
            text = f"MemoryLayout.sequenceLayout({times}, {layout})"
        members.append(f'{text}.withName("{f["name"]}")')
        at += size * times
    body = ",\n          ".join(members)
    return (f"  static final StructLayout {s['name']} =\n      MemoryLayout.structLayout(\n"
            f"          {body});\n")


def upcalls(interface):
    for f in interface["function_types"]:
        yield f["name"], f["result"], f["arguments"]
    for s in interface["structs"]:
        for f in s["fields"]:
            if f["kind"] == "function":
                yield f"{s['name']}_{f['name']}", f["result"], f["arguments"]


def function(interface, f):
    name, arguments = f["name"], f["arguments"]
    result = pair(interface, f["result"])
    given = ", ".join(a["name"] for a in arguments)
    taken = ", ".join(f"{pair(interface, a)[1]} {a['name']}" for a in arguments)
    head = wrap(f"static {result[1] if result else 'void'} {name}({taken}) {{", "  ", "      ")
    cast = f"return ({result[1]}) " if result else ""
    handle = wrap(f'call("{name}", FunctionDescriptor.{descriptor(interface, f["result"], arguments)});',
                  "      ", "          ")
    return f"""
  private static final MethodHandle H_{name} =
{handle}

  // since {f['since']}, threads: {f['threads']}
{head}
    try {{
      {cast}H_{name}.invokeExact({given});
    }} catch (Throwable t) {{
      throw failed(t);
    }}
  }}
"""


def native(interface):
    parts = [MADE, HEAD, "\n".join(constants(interface)), "\n\n"]
    parts += [struct(interface, s) + "\n" for s in interface["structs"]]
    for name, result, arguments in upcalls(interface):
        parts.append(f"  static final FunctionDescriptor {name} =\n      FunctionDescriptor."
                     f"{descriptor(interface, result, arguments)};\n")
    parts += [TOOLS] + [function(interface, f) for f in interface["functions"]] + ["}\n"]
    return "".join(parts)


def constant(name, prefixes):
    return next(name[len(p):] for p in prefixes if name.startswith(p))


def html(text):
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def public_enum(enum):
    name, prefixes = PUBLIC_ENUMS[enum["name"]]
    values = [(constant(v["name"], prefixes), v["value"], v["doc"] or "the call succeeded")
              for v in enum["values"] if not v["force"]]
    if name == "Status":
        values.append(("UNKNOWN", -1, "a status of a later version of the library; a failure"))
    lines = []
    for i, (word, number, doc) in enumerate(values):
        doc = html(doc[0].upper() + doc[1:])
        lines.append(wrap(f"/** {doc}. */", "  ", "   * "))
        lines.append(f"  {word}({number}){';' if i == len(values) - 1 else ','}\n")
    other = "UNKNOWN" if name == "Status" else "null"
    return "\n".join([MADE + "package lib3pt;\n", wrap(f"/** {html(enum['doc'])} */", "", " * "),
                      f"public enum {name} {{"] + lines) + f"""
  private final int value;

  {name}(int value) {{
    this.value = value;
  }}

  /**
   * The number that it has in C.
   *
   * @return the value of the C enum
   */
  public int value() {{
    return value;
  }}

  /**
   * The constant of a number.
   *
   * @param value a number of the C enum
   * @return the constant; {other} where there is none
   */
  public static {name} of(int value) {{
    for ({name} each : values()) if (each.value == value) return each;
    return {other};
  }}
}}
"""


HEAD = """package lib3pt;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_DOUBLE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.invoke.MethodHandle;

/**
 * The functions, enums and structs of 3pt.h as they are. size_t and uint64_t are long, unsigned.
 * Library.find() must have succeeded before the first call.
 */
@SuppressWarnings("restricted")
final class Native {
  private Native() {}

"""

TOOLS = """
  private static MethodHandle call(String name, FunctionDescriptor types) {
    return Linker.nativeLinker().downcallHandle(Library.find().find(name).orElseThrow(), types);
  }

  private static RuntimeException failed(Throwable t) {
    if (t instanceof Error e) throw e;
    return t instanceof RuntimeException e ? e : new IllegalStateException(t);
  }
"""


def files(interface):
    yield OUT / "Native.java", native(interface)
    for enum in interface["enums"]:
        yield OUT / f"{PUBLIC_ENUMS[enum['name']][0]}.java", public_enum(enum)


if __name__ == "__main__":
    made = files(shared.read().facts)
    sys.exit(shared.main({str(path.relative_to(HERE)): text for path, text in made}, __file__))
