"""Counts tests, one by one, in Meson's logs and in plain result files, and says which failed and why.

    tally.py NAME=FILE ...

FILE is a testlog*.json of Meson, whose TAP tests count by their own lines, or a text of lines
"pass NAME", "fail NAME: why", "skip NAME: why". A file that is not there counts as one failure.
Prints a table, the failures, the skips, and as the last line "N passed, N failed, N skipped"; the exit
status is 1 where anything failed.
"""
import json
import re
import sys
from pathlib import Path

TAP = re.compile(r"^(not )?ok\b\s*\d*\s*(?:-\s*)?(.*)$")
LAST_LINES = 12  # of a program's error output, in the report


class Count:
    def __init__(self):
        self.passed, self.failed, self.skipped = 0, [], []


def tap_lines(text, test, count):
    for line in text.splitlines():
        found = TAP.match(line)
        if not found:
            continue
        label = f"{test}: {found[2]}"
        if re.search(r"#\s*skip", line, re.I):
            count.skipped.append(label)
        elif found[1]:
            count.failed.append(label)
        else:
            count.passed += 1


def tail(text):
    return "\n".join("      " + line for line in text.strip().splitlines()[-LAST_LINES:])


def meson_test(entry, count):
    name, result = entry["name"], entry["result"]
    out, err = entry.get("stdout") or "", entry.get("stderr") or ""
    before = len(count.failed)
    if entry.get("returncode") == 77:  # cannot run here; to Meson an error where TAP is spoken
        result = "SKIP"
    tap = any(TAP.match(line) or line.startswith("1..") for line in out.splitlines())
    if tap:
        tap_lines(out, name, count)
        if result == "SKIP" and "1..0" in out:
            count.skipped.append(f"{name}: {out.upper().split('SKIP')[-1].strip().lower()}")
    elif result == "OK":
        count.passed += 1
    elif result == "SKIP":
        said = (out.strip() or err.strip() or "no reason given").splitlines()
        count.skipped.append(f"{name}: {said[-1]}")
    if result not in ("OK", "SKIP") and len(count.failed) == before:
        count.failed.append(f"{name}: {result}, status {entry.get('returncode')}\n{tail(err or out)}")
    elif result not in ("OK", "SKIP") and err.strip():
        count.failed[-1] += "\n" + tail(err)


def plain_line(line, count):
    word, _, rest = line.strip().partition(" ")
    if word == "pass":
        count.passed += 1
    elif word == "fail":
        count.failed.append(rest)
    elif word == "skip":
        count.skipped.append(rest)


def read(path):
    count = Count()
    if not path.exists():
        count.failed.append(f"{path.name} is missing: nothing was run")
        return count
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        if path.suffix == ".json" and line.strip():
            meson_test(json.loads(line), count)
        elif line.strip():
            plain_line(line, count)
    if count.passed + len(count.failed) + len(count.skipped) == 0:
        count.failed.append(f"{path.name} holds no result: nothing was run")
    return count


def main():
    runs = [(name, read(Path(path))) for name, path in (a.split("=", 1) for a in sys.argv[1:])]
    print(f"\n{'run':<28}{'passed':>8}{'failed':>8}{'skipped':>8}")
    for name, c in runs:
        print(f"{name:<28}{c.passed:>8}{len(c.failed):>8}{len(c.skipped):>8}")
    for title, pick in (("skipped", lambda c: c.skipped), ("FAILED", lambda c: c.failed)):
        lines = [f"  {name}: {line}" for name, c in runs for line in pick(c)]
        if lines:
            print(f"\n{title}:", *lines, sep="\n")
    passed, failed, skipped = (sum(x) for x in zip(*((c.passed, len(c.failed), len(c.skipped)) for _, c in runs)))
    print(f"\n{passed} passed, {failed} failed, {skipped} skipped")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
