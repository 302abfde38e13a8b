"""What bench/compare, bench/growth and bench/curves share: running programs, saying where, keeping tables."""
import json
import re
import subprocess
import sys
from datetime import date
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def run(words):
    """The JSON line that a program prints last, or None where it failed, which is said."""
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True)
    if done.returncode:
        print(f"failed: {' '.join(map(str, words))}\n{done.stderr.strip()[-400:]}", file=sys.stderr)
        return None
    return json.loads(done.stdout.strip().splitlines()[-1])


# Kinds of processors that use different kernels, newest first: a flag of /proc/cpuinfo, what the marks call it.
KINDS = (("amx_bf16", "amx"), ("avx512_bf16", "avx512-bf16"), ("avx512f", "avx512"), ("avx2", "avx2"))


def flags_here():
    text = Path("/proc/cpuinfo").read_text()
    return text, set(re.findall(r"\b(avx2|avx512f|avx512_bf16|amx_bf16|amx_int8)\b", text))


def processor():
    text, flags = flags_here()
    found = re.search(r"model name\s*:\s*(.*)", text)
    name = found.group(1) if found else "unknown processor"
    return f"{name} ({', '.join(sorted(flags)) or 'no vector set of ours'})"


def kind_of_processor():
    text, flags = flags_here()
    if "AuthenticAMD" not in text:  # the library multiplies bf16 on vectors only there (base/cpu.h)
        flags.discard("avx512_bf16")
    return next((name for flag, name in KINDS if flag in flags), "other")


def heading(*more):
    return ", ".join([str(date.today()), processor(), *more]) + "."


def keep(name, text):
    """Puts text between the marks `name` of this kind of processor in BENCHMARKS.md: each kind keeps its own.

    Where they are not there they are put before the mark `name: more`."""
    path = ROOT / "BENCHMARKS.md"
    page = path.read_text()
    begin, end = (f"<!-- {name} {kind_of_processor()}: {word} -->" for word in ("begin", "end"))
    more = f"<!-- {name}: more -->"
    if begin not in page:
        page = page.replace(more, f"{begin}\n{end}\n\n{more}")
    head, rest = page.split(begin)
    path.write_text(head + begin + "\n" + text + "\n" + end + rest.split(end)[1])
