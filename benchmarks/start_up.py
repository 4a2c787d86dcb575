"""What it takes to start: seconds of CPU of a process and all that it starts.

Measured as of a program that was installed in the usual way: all bytecode is there, in
a folder of its own, whatever the environment says of writing it.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence

#: Nothing but the interpreter.
BARE = ("-c", "pass")


def seconds_of(arguments: Sequence[str], environment: Mapping[str, str]) -> float:
    """Run Python with these arguments; return the seconds of CPU that it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        check=True,
        env=environment,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime)


def measured(arguments: Sequence[str], rounds: int) -> tuple[list[float], float]:
    """Return samples, and the median of the bare interpreter's between them."""
    samples, bare = [], []
    with tempfile.TemporaryDirectory() as bytecode:
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": bytecode}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        # From then on its files are in memory, and its bytecode is written.
        seconds_of(arguments, environment)
        for _ in range(rounds):
            bare.append(seconds_of(BARE, environment))
            samples.append(seconds_of(arguments, environment))
    return samples, statistics.median(bare)
