"""What a simulator does at most in one call, and how a call finds out."""

from __future__ import annotations

import os
import time
from typing import Final

from attrs import define, field, frozen, validators

from fritillary.api.v1 import simulator_pb2 as pb
from fritillary.core.errors import ServiceError

_AT_LEAST_1: Final = [validators.instance_of(int), validators.ge(1)]


@frozen(kw_only=True)
class SimulatorLimits:
    """Limits on one call; all but the last are announced.

    Args:
        max_message_bytes: of a request, and of an answer.
        max_worlds: worlds, steps or tasks.
        max_playouts: of all tasks together.
        max_plies: of a playout, where it is asked for.
        max_call_ms: from when a call is begun.
        max_calls: that wait or run at a time.
        workers: processes that work.
        memory_bytes: of data of one of them, as far as the system has such a limit.
    """

    max_message_bytes: int = field(default=2 * 1024 * 1024, validator=_AT_LEAST_1)
    max_worlds: int = field(default=4_096, validator=_AT_LEAST_1)
    max_playouts: int = field(default=1_000_000, validator=_AT_LEAST_1)
    max_plies: int = field(default=100_000, validator=_AT_LEAST_1)
    max_call_ms: int = field(default=60_000, validator=_AT_LEAST_1)
    max_calls: int = field(default=64, validator=_AT_LEAST_1)
    workers: int = field(factory=lambda: os.cpu_count() or 1, validator=_AT_LEAST_1)
    memory_bytes: int = field(default=2 * 1024**3, validator=_AT_LEAST_1)

    def to_proto(self) -> pb.SimulatorLimits:
        """Return the limits as they are announced."""
        return pb.SimulatorLimits(
            max_message_bytes=self.max_message_bytes,
            max_worlds=self.max_worlds,
            max_playouts=self.max_playouts,
            max_plies=self.max_plies,
            max_call_ms=self.max_call_ms,
            max_calls=self.max_calls,
            workers=self.workers,
        )

    def check_worlds(self, count: int, what: str = "worlds") -> None:
        """Check how many are asked for.

        Raises:
            ServiceError: ``limit.worlds``.
        """
        if count > self.max_worlds:
            msg = f"{count} {what} in one call; {self.max_worlds} at most"
            raise ServiceError(msg, code="limit.worlds")

    def check_size(self, size: int, what: str) -> None:
        """Check the size of a message, in bytes.

        Raises:
            ServiceError: ``limit.message-size``.
        """
        if size > self.max_message_bytes:
            msg = f"{what} has {size} bytes; {self.max_message_bytes} at most"
            raise ServiceError(msg, code="limit.message-size")

    def late(self) -> ServiceError:
        """Return the error of a call that takes too long."""
        msg = f"the call took longer than {self.max_call_ms} ms; ask for less at a time"
        return ServiceError(msg, code="limit.time")


class GivenUpError(Exception):
    """Nobody waits for the answer of a call any more."""


@define
class Watch:
    """Looks whether a call may go on.

    Args:
        limits: on the call.

    Attributes:
        given_up: set, maybe by another thread, when nobody waits any more.
        deadline: of the call, in seconds of the monotonic clock.
    """

    limits: SimulatorLimits
    given_up: bool = False
    deadline: float = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.deadline = time.monotonic() + self.limits.max_call_ms / 1000

    def check(self) -> None:
        """Go on, or not.

        Raises:
            GivenUpError: if nobody waits any more.
            ServiceError: ``limit.time`` after the deadline.
        """
        if self.given_up:
            raise GivenUpError
        if time.monotonic() >= self.deadline:
            raise self.limits.late()
