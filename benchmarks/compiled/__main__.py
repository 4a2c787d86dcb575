"""``make compiled``: build the compiled build, and say what it is."""

import subprocess
import sys

from benchmarks.compiled import ENVIRONMENT, NotCompiledError, build, python


def main() -> int:
    try:
        fresh = build()
    except NotCompiledError as error:
        print(f"not compiled: {error}", file=sys.stderr)
        return 1
    place = ENVIRONMENT.name
    print(f"{'built' if fresh else 'up to date'}: {place}, and the wheel in dist/")
    subprocess.run([python(), "-m", "fritillary", "--version"], check=True)
    print(f"use it: {place}/bin/fritillary, or pip install the wheel")
    return 0


if __name__ == "__main__":
    sys.exit(main())
