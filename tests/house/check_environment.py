"""What surrounds the process changes no bit: environment variables, the locale, standard descriptors that are closed,
one processor or all. life.c is run in each surrounding, and must give the same number.

    check_environment.py LIFE WORK
"""
import os
import shutil
import subprocess
import sys
from pathlib import Path

PLAIN = {"PATH": "/usr/bin:/bin"}
VARIABLES = [
    {},
    *({"BLIS_NUM_THREADS": n} for n in "14"),
    *({"OMP_NUM_THREADS": n} for n in ("1", "4", "16")),
    {"BLIS_NUM_THREADS": "4", "OMP_NUM_THREADS": "1"},
    {"BLIS_JC_NT": "2", "BLIS_IC_NT": "2"},
    {"OMP_PROC_BIND": "true", "OMP_DYNAMIC": "true", "OMP_THREAD_LIMIT": "1"},
    {"OPENBLAS_NUM_THREADS": "4", "MKL_NUM_THREADS": "4", "OMP_WAIT_POLICY": "active"},
    {"LIB3PT_NUM_THREADS": "1", "TPT_NUM_THREADS": "1", "LIB3PT_KERNELS": "plain", "DEBUG": "1"},
    *({"MALLOC_PERTURB_": n} for n in ("1", "170")),  # what is read before it is written shows
    {"MALLOC_ARENA_MAX": "1", "TMPDIR": "/nonexistent", "HOME": "/nonexistent", "TZ": "Asia/Kathmandu"},
]


def comma_locale(work):
    """The variables of a locale that writes 1,5; made here, since few machines have one."""
    if not shutil.which("localedef"):
        return None
    subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", work / "de_DE.UTF-8"], capture_output=True)
    if not (work / "de_DE.UTF-8").is_dir():
        return None
    return {"LOCPATH": str(work), "LC_ALL": "de_DE.UTF-8"}


def run(life, work, variables, closed=False, processors=None):
    """The line that it leaves. Whatever it prints is a fault."""
    folder = work / "files"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    words = [str(life), str(folder), str(work / "result")]
    if closed:
        words = ["sh", "-c", 'exec "$0" "$@" <&- >&- 2>&-', *words]
    done = subprocess.run(words, env={**PLAIN, **variables}, capture_output=True, cwd=work,
                          preexec_fn=(lambda: os.sched_setaffinity(0, processors)) if processors else None)
    if done.returncode or done.stdout or done.stderr:
        sys.exit(f"{variables}, closed {closed}: status {done.returncode}, printed {done.stdout + done.stderr}")
    if sorted(path.name for path in folder.iterdir()) != ["model"]:
        sys.exit(f"{variables}, closed {closed}: left {[*folder.iterdir()]}")
    return (work / "result").read_text(encoding="utf-8").split()


def main():
    life, work = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    wanted = run(life, work, {})
    surroundings = [{"variables": variables} for variables in VARIABLES]
    surroundings.append({"variables": {}, "closed": True})
    surroundings.append({"variables": {}, "processors": {min(os.sched_getaffinity(0))}})
    faults = [str(one) for one in surroundings if run(life, work, **one) != wanted]
    comma = comma_locale(work)
    if comma and run(life, work, comma) != [wanted[0], ","]:
        faults.append(f"{comma}: {run(life, work, comma)}, not {wanted[0]} with a comma")
    print(*(f"other bits with {fault}" for fault in faults), sep="\n")
    print(f"{len(surroundings)} surroundings, {len(faults)} faults")
    if not comma:
        print("no locale with a decimal comma could be made (Debian package locales)")
    sys.exit(1 if faults else 0 if comma else 77)


if __name__ == "__main__":
    main()
