"""What it takes to start: seconds of CPU of a process and all that it starts."""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
from collections.abc import Sequence

#: Nothing but the interpreter.
BARE = ("-c", "pass")


def seconds_of(arguments: Sequence[str]) -> float:
    """Run Python with these arguments; return the seconds of CPU that it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime)


def measured(arguments: Sequence[str], rounds: int) -> tuple[list[float], float]:
    """Return samples, and the median of the bare interpreter's between them."""
    seconds_of(arguments)  # its files are in memory, its bytecode is written
    samples, bare = [], []
    for _ in range(rounds):
        bare.append(seconds_of(BARE))
        samples.append(seconds_of(arguments))
    return samples, statistics.median(bare)
