"""The copies of what is kept beside the repository too: equal, byte for byte. Skipped where it is not there.

    check_copies.py ROOT
"""
import sys
from pathlib import Path


def main():
    root = Path(sys.argv[1])
    shared = root.parent / "shared"
    pairs = [(root / "tests/oracle/oracle.py", shared / "oracle/oracle.py"),
             (root / "bench/torch_peer.py", shared / "bench/torch_peer.py")]
    if not pairs[0][1].is_file():
        print("the originals are not beside this repository")
        sys.exit(77)
    pairs += [(root / "tests/golden" / p.name, p) for p in sorted((shared / "golden").glob("*.safetensors"))]
    faults = [f"{a.relative_to(root)} differs from the original" for a, b in pairs
              if not a.is_file() or a.read_bytes() != b.read_bytes()]
    print(*faults, sep="\n")
    print(f"{len(pairs)} copies, {len(faults)} faults")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
