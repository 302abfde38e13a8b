"""The five programs print what is stored beside them: check_programs.py FOLDER PROGRAM..."""
import os
import subprocess
import sys
from pathlib import Path

folder, programs = Path(sys.argv[1]), sys.argv[2:]
faults = []
for program in programs:
    name = Path(program).name
    run = subprocess.run([program], capture_output=True, env={**os.environ, "LC_ALL": "C"})
    wanted = (folder / f"{name}.txt").read_bytes()
    if run.returncode or run.stderr or run.stdout != wanted:
        faults.append(f"{name} ended with {run.returncode}: {run.stderr.decode()}\n{run.stdout.decode()}")
print(*faults, f"{len(programs)} programs, {len(faults)} faults", sep="\n")
sys.exit(bool(faults) or len(programs) != 5)
