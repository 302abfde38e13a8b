"""A check in parts that build on each other: what was expected, what did not hold, and its end. No check of its own."""
import sys

faults, done = [], 0


def expect(right, what):
    """Counts; notes `what` where it is not right, and returns which."""
    global done
    done += 1
    if not right:
        faults.append(what)
    return right


def run_parts(parts, *args, skipped=()):
    """Each with the arguments, up to the first that finds a fault; then prints what was found, and ends the program with
    the status that Meson knows. `skipped`: sentences, which may still grow while the parts run."""
    for part in parts:
        part(*args)
        if faults:
            break
    print(*faults, *skipped, sep="\n")
    print(f"{done} checks, {len(faults)} faults, {len(skipped)} skipped")
    sys.exit(1 if faults else 77 if skipped else 0)
