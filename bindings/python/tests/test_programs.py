"""The five programs print what the ones in C print."""
import pathlib
import subprocess
import sys

import pytest

EXAMPLES = pathlib.Path(__file__).resolve().parents[1] / "examples"


@pytest.mark.parametrize("program", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_program(program, programs, tmp_path):
    run = subprocess.run([sys.executable, program], capture_output=True, cwd=tmp_path)
    assert (run.stderr, run.returncode) == (b"", 0)
    assert run.stdout == (programs / f"{program.stem}.txt").read_bytes()


def test_there_are_five(programs):
    assert {p.stem for p in EXAMPLES.glob("*.py")} == {p.stem for p in programs.glob("*.txt")}


def test_bench_prints_a_line():
    run = subprocess.run([sys.executable, EXAMPLES.parent / "bench.py", "0.1"], capture_output=True, text=True)
    assert run.stdout.startswith('{"tokens_per_s": ') and run.stdout.count("\n") == 1
