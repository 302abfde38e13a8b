"""What the shared library drags into a process: the libraries that it names and nothing more, no code that runs when
it is loaded or unloaded, no call that would change the process behind its host's back.

    check_needed.py LIB3PT.SO LIB3PT.A
"""
import re
import subprocess
import sys

# The C library and the four that README.md names; whatever their version.
NEEDED = {"libblis", "libyaml-0", "libpcre2-8", "libm", "libc", "libpthread", "libdl", "ld-linux-x86-64",
          "ld-linux-aarch64"}
# C++, OpenMP, affinity, jumps, and settings that belong to the whole process.
BANNED = re.compile(r"""_Z.*|__cxa_throw|__gxx_personality.*|GOMP_.*|omp_.*|__kmpc_.*
    |sched_setaffinity|pthread_setaffinity_np|pthread_attr_setaffinity_np|(__)?_?(sig)?setjmp|(_|sig)?longjmp
    |__longjmp_chk|pthread_atfork|__register_atfork|pthread_cancel|pthread_kill|sched_yield|chdir|fchdir|umask
    |setrlimit|feenableexcept|fesetround|bli_thread_set_.*|bli_rntm_init_from_global|bli_init|bli_finalize|cblas_.*
    |yaml_set_.*|yaml_parser_load|json_set_alloc_funcs.*|mallopt|malloc_trim|srand48|dlopen|dlclose""", re.X)


def run(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def check_needed(shared):
    for name in re.findall(r"\(NEEDED\).*\[(.*?)\.so", run("readelf", "-d", shared)):
        if name not in NEEDED:
            yield f"{name} is needed; {', '.join(sorted(NEEDED))} are allowed"
    for flag in re.findall(r"\b(NODELETE|INITFIRST|TEXTREL|RPATH|RUNPATH)\b", run("readelf", "-d", shared)):
        yield f"the library is marked {flag}"


def check_archive(static):
    """Undefined names, and sections of functions that run at loading and unloading."""
    member = ""
    for line in run("nm", "-u", static).splitlines():
        parts = line.split()
        if line.endswith(":"):
            member = line[:-1]
        elif parts and BANNED.fullmatch(parts[-1].split("@")[0]):
            yield f"{member} refers to {parts[-1]}"
    for name in re.findall(r"\.(?:init_array|fini_array|ctors|dtors|preinit_array)\S*", run("objdump", "-h", static)):
        yield f"there is a section {name}: something runs at loading or unloading"


def main():
    shared, static = sys.argv[1:]
    faults = [*check_needed(shared), *check_archive(static)]
    print(*faults, sep="\n")
    print(f"{len(faults)} faults")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
