"""Other systems, measured beside this project in an environment of their own.

Each peer is installed into ``.venv-peers`` when it is first measured, at the version
of ``pinned.txt``; a peer that cannot be installed, or does not run, is named in the
report. It works in a process of its own, a slice whenever it is told to, so that its
samples stand beside ours.

    make bench-peers
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, Self

from attrs import define, field

from fritillary.record.whole import put

_HERE: Final = Path(__file__).parent
ENVIRONMENT: Final = _HERE.parents[1] / ".venv-peers"


class PeerError(Exception):
    """A peer cannot be measured; the message says why, in one line."""


def pinned() -> dict[str, list[str]]:
    """Return the words for pip of each peer."""
    lines = (_HERE / "pinned.txt").read_text("utf-8").splitlines()
    pairs = (line.split(":", 1) for line in lines if line and not line.startswith("#"))
    return {peer: wanted.split() for peer, wanted in pairs}


def _python() -> Path:
    folder = "Scripts" if sys.platform == "win32" else "bin"
    return ENVIRONMENT / folder / "python"


def _run(doing: str, *command: Path | str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines() or ["no reason given"]
        errors = [line for line in said if line.startswith("ERROR")]
        msg = f"{doing} failed: {(errors or said)[-1].removeprefix('ERROR: ')}"
        raise PeerError(msg)


def install(peer: str) -> None:
    """Install a peer, unless it is there already.

    Raises:
        PeerError: if it cannot be.
    """
    wanted = pinned()[peer]
    stamp = ENVIRONMENT / f".stamp-{peer}"
    if stamp.is_file() and stamp.read_text("utf-8") == " ".join(wanted):
        return
    if not _python().exists():
        _run("making an environment", sys.executable, "-m", "venv", ENVIRONMENT)
    pip = (_python(), "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    # What is built from source may be another build than people have.
    _run("installing it", *pip, "--only-binary", ":all:", *wanted)
    put(stamp, " ".join(wanted).encode())


@define(eq=False)
class Peer:
    """The process of a peer.

    Args:
        process: waits for a line that says what to do.
        errors: what it prints beside its answers.
    """

    process: subprocess.Popen[str]
    errors: Any = field(repr=False)

    @classmethod
    def started(cls, python: Path, *program: Path | str) -> Self:
        errors = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115
        process = subprocess.Popen(
            [python, "-u", *(program or (_HERE / "work.py",))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            env={**os.environ, "PYGAME_HIDE_SUPPORT_PROMPT": "1"},
        )
        return cls(process, errors)

    def rate(self, work: str, arguments: tuple[Any, ...], seconds: float) -> float:
        """Return units of work per second of the peer's own CPU.

        Raises:
            PeerError: if the peer fails.
        """
        asked = {"work": work, "arguments": arguments, "seconds": seconds}
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(json.dumps(asked) + "\n")
            self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            self.errors.seek(0)
            said = self.errors.read().strip().splitlines() or ["without a word"]
            msg = f"its process ended: {said[-1]}"
            raise PeerError(msg)
        told = json.loads(line)
        if "error" in told:
            raise PeerError(told["error"])
        return float(told["units"] / told["seconds"])

    def stop(self) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        self.errors.close()


@contextlib.contextmanager
def running(peer: str) -> Iterator[Peer]:
    """Start the process of a peer, install it before if need be.

    Raises:
        PeerError: if it cannot be installed.
    """
    install(peer)
    process = Peer.started(_python())
    try:
        yield process
    finally:
        process.stop()
