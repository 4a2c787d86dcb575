"""What a program has started and that has left its session: found by a mark, and ended.

Each process of a program inherits an environment variable that no other has. Linux
shows the environment with which a process was started, so whoever has not shed it can
be found, in whichever session and under whichever parent. Elsewhere nobody is found.
"""

from __future__ import annotations

import os
import secrets
import signal
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

#: The variable.
MARK: Final = "FRITILLARY_PROGRAM"

#: So often what is left is looked for: what is killed may just have started another.
_ROUNDS: Final = 3


class Strays:
    """The processes of one program.

    Attributes:
        environment: what the program is to be started with.
    """

    def __init__(self, environment: Mapping[str, str] | None) -> None:
        inherited = os.environ if environment is None else environment
        mark = secrets.token_hex(16)
        self.environment = {**inherited, MARK: mark}
        self._entry = f"{MARK}={mark}".encode()

    def kill(self) -> None:
        """Kill all that are left, as far as they can be found. Never raises."""
        for _ in range(_ROUNDS):
            found = list(self._found())
            for pid in found:
                try:
                    os.kill(pid, signal.SIGKILL)
                except OSError:
                    continue  # it is gone, or of another user
            if not found:
                return

    def _found(self) -> Iterator[int]:
        if sys.platform != "linux":
            return
        for entry in os.scandir("/proc"):
            if not entry.name.isdigit():
                continue
            try:
                environment = Path(entry.path, "environ").read_bytes()
            except OSError:
                continue
            if self._entry in environment.split(b"\0"):
                yield int(entry.name)
