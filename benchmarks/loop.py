"""The one event loop of all that a run of the benchmarks does over gRPC.

A process has one queue of completions for all `grpc.aio`, and each completion goes to
the loop that asked for it, by way of whichever loop takes it off the queue. What a
measurement leaves under way when it ends, such as calls that were cancelled, completes
while the next one runs. If that had another loop, every such completion would be a
traceback "Event loop is closed", and would keep those behind it waiting.
"""

from __future__ import annotations

import atexit
from collections.abc import Coroutine
from typing import Any, Final, TypeVar

from fritillary.cli import loop

T = TypeVar("T")

_RUNNER: Final = loop.new_runner()
# Nothing polls any more then.
atexit.register(_RUNNER.close)


def run(main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine as `fritillary.cli.loop.run` does, in the one loop."""
    return loop.run(main, within=_RUNNER)
