"""That what one measurement leaves under way is no trouble to the next one."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.system

ROOT = Path(__file__).parents[2]

#: With so many connections, some completions come after the end. With a loop for each
#: measurement, as `fritillary.cli.loop.run` has, there was a traceback for each.
TWICE = """
import signal
from benchmarks import crowd

crowd.raise_file_limit(600)
for count in (200, 1):
    print(crowd.run(crowd._echoes(count)).count, flush=True)
print(signal.getsignal(signal.SIGTERM) is signal.SIG_DFL)
"""

#: Is told to end while it measures for the second time.
ENDED = """
import asyncio
from benchmarks import crowd

async def measure():
    print("measuring", flush=True)
    try:
        await asyncio.sleep(0 if first else 600)
    finally:
        print("tidied up", flush=True)

for first in (True, False):
    crowd.run(measure())
"""


def started(script: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_what_is_left_under_way_completes_without_a_word() -> None:
    with started(TWICE) as program:
        assert program.communicate(timeout=100) == ("200\n1\nTrue\n", "")


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, -signal.SIGINT)]
)
def test_each_measurement_can_be_ended(number: signal.Signals, code: int) -> None:
    with started(ENDED) as program:
        assert program.stdout is not None
        lines = [program.stdout.readline() for _ in range(3)]
        assert lines == ["measuring\n", "tidied up\n", "measuring\n"]
        program.send_signal(number)
        out, _ = program.communicate(timeout=60)
    assert (program.returncode, out) == (code, "tidied up\n")
