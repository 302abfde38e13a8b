"""Where the vectors and programs are, and results a line each for scripts/test."""
import os
import pathlib

import pytest

RESULTS = os.environ.get("LIB3PT_RESULTS")


def pytest_runtest_logreport(report):
    if not RESULTS or (report.when != "call" and report.passed):
        return
    name = report.nodeid.split("/")[-1].replace(".py::", " ").replace("test_", "").replace(":", "")
    said = "" if report.passed else str(report.longrepr[2] if report.skipped else report.longreprtext)
    lines = said.strip().splitlines()
    raised = [line[1:].strip() for line in lines if line.startswith("E ")]
    why = f": {(raised or lines[-1:])[0]}" if lines else ""
    with open(RESULTS, "a", encoding="utf-8") as out:
        out.write(f"{ {'passed': 'pass', 'failed': 'fail', 'skipped': 'skip'}[report.outcome]} {name}{why}\n")


@pytest.fixture(scope="session")
def programs():
    """The expected outputs of the programs."""
    default = pathlib.Path(__file__).resolve().parents[2] / "conformance/programs"
    return pathlib.Path(os.environ.get("LIB3PT_PROGRAMS", default))
