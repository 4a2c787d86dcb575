"""The fuzzed server seen from outside: started, asked, stopped."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Final, Self

from tests.service.fuzz.server import resident

#: Lines of the log that are as they should be: refused calls, and nothing else.
_EXPECTED: Final = re.compile(
    r"refused method=\S+ code=[a-z0-9.-]+ peer=\S+ token=\S+( role=\w+)?$"
    r"|refused \d+ more calls: "
)

_ROOT: Final = Path(__file__).parents[3]


class Target:
    """A server process.

    Args:
        folder: takes its log and its records.

    Attributes:
        address: HOST:PORT.
        tokens: by name of their holder.
    """

    def __init__(self, folder: Path) -> None:
        self._log = folder / "server.log"
        self._records = folder / "records"
        self.address = ""
        self.tokens: dict[str, str] = {}
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.service.fuzz.server", self._records],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                # As `fritillary serve` has it: else strangers could fill the log.
                env={**os.environ, "GRPC_VERBOSITY": "NONE"},
                cwd=_ROOT,
            )
        first = self._line()
        self.address, self.tokens = first["address"], first["tokens"]
        return self

    def __exit__(self, *_: object) -> None:
        process = self._process
        if process is None:
            return
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _line(self) -> dict[str, Any]:
        line = b""
        if self._process is not None and self._process.stdout is not None:
            line = self._process.stdout.readline()
        if not line:
            msg = f"the server is gone: {self.log()[-2000:]}"
            raise RuntimeError(msg)
        return json.loads(line)

    @property
    def up(self) -> bool:
        """Whether the process runs."""
        return self._process is not None and self._process.poll() is None

    @property
    def resident(self) -> int:
        """Bytes of memory in use at this moment."""
        return resident(self._process.pid) if self._process is not None else 0

    def held(self) -> dict[str, int]:
        """Return what it holds; it tidies up first."""
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.write(b"\n")
            self._process.stdin.flush()
        return self._line()

    async def settled(
        self, before: dict[str, int] | None = None, within: float = 120
    ) -> dict[str, int]:
        """Return what it holds when nobody is left, or after some seconds.

        Args:
            before: what it held before; ``None``: wait until nothing changes.
            within: seconds.
        """
        deadline = time.monotonic() + within
        last: dict[str, int] = {}
        while True:
            now = await asyncio.to_thread(self.held)
            wanted = last if before is None else before
            if not left_behind(wanted, now) or time.monotonic() > deadline:
                return now
            last = now
            await asyncio.sleep(0.1)

    def log(self) -> str:
        """Return what it has logged."""
        return self._log.read_text(encoding="utf-8", errors="replace")

    def unexpected(self) -> list[str]:
        """Return the lines of its log that tell of more than a refused call."""
        lines = self.log().splitlines()
        return [line for line in lines if not _EXPECTED.match(line)]


def left_behind(before: dict[str, int], now: dict[str, int]) -> list[str]:
    """Return what there is more of than before: numbers of things, not sizes."""
    return [
        f"{now[what] - count} {what} are left"
        for what, count in before.items()
        if what not in {"rss", "used", "threads", "turn_ms"} and now[what] > count
    ] or ([] if before else ["nothing is known"])
