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


def processor():
    text = Path("/proc/cpuinfo").read_text()
    found = re.search(r"model name\s*:\s*(.*)", text)
    name = found.group(1) if found else "unknown processor"
    flags = set(re.findall(r"\b(avx2|avx512f|avx512_bf16|amx_bf16|amx_int8)\b", text))
    return f"{name} ({', '.join(sorted(flags)) or 'no vector set of ours'})"


def heading(*more):
    return ", ".join([str(date.today()), processor(), *more]) + "."


def keep(name, text):
    """Puts text between the marks `name` of BENCHMARKS.md."""
    path = ROOT / "BENCHMARKS.md"
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    head, rest = path.read_text().split(begin)
    path.write_text(head + begin + "\n" + text + "\n" + end + rest.split(end)[1])
