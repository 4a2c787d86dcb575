"""How long from a clone to the first match: ``python -m tests.clients.first_match``.

In each language a bot of the examples plays a match of Lepidoptery over gRPC, in a
clone of this repository that nothing was built in. Every step is timed: the clone, the
environment (``make setup``), the client (what its README says), and the match, whose
record is verified afterwards. The exit code is 1 if a step fails.

What package managers have kept from before is used only where it saves minutes; the
table is followed by what that was. With ``--cold`` nothing is.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from attrs import frozen
from rich.console import Console
from rich.table import Table
from tests.clients.languages import ROOT, STDIO, Command, found, left_out

#: Variables that name the caches of package managers and compilers.
_CACHES: Final = {
    "pip": "PIP_CACHE_DIR",
    "uv": "UV_CACHE_DIR",
    "npm": "npm_config_cache",
    "Go modules": "GOMODCACHE",
    "Go builds": "GOCACHE",
}

#: To compile gRPC alone takes a minute of both cores.
_KEPT: Final = ("Go modules", "Go builds")

_STEPS: Final = ("clone", "environment", "client", "first match")


class StepError(RuntimeError):
    """A step failed; says what it printed."""


@frozen
class Clone:
    """A clone of the repository, in a folder that is empty besides.

    Args:
        path: of the clone.
        environment: variables of all that runs in it.
    """

    path: Path
    environment: Mapping[str, str]

    def run(self, *words: str | Path, folder: str = ".") -> float:
        """Run a command in a folder of the clone; return how long it took, in seconds.

        Raises:
            StepError: if it fails.
        """
        start = time.monotonic()
        done = subprocess.run(
            [str(word) for word in words],
            cwd=self.path / folder,
            env=dict(self.environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if done.returncode:
            told = f"{' '.join(map(str, words))} in {folder}:\n{done.stdout}"
            raise StepError(told)
        return time.monotonic() - start

    def play(self, player: str) -> float:
        """Play a match and verify it; return how long the match took, in seconds.

        Raises:
            StepError: if it was not played, or its record does not hold.
        """
        fritillary = Path(".venv", "bin", "fritillary")
        words = ("match", "lepidoptery", "-s", player, "-s", "uniform")
        record = ("--seed", f"{1:064}", "--record", "first.frec")
        took = self.run(fritillary, *words, *record)
        self.run(fritillary, "verify", "first.frec")
        (self.path / "first.frec").unlink()
        return took

    def here(self, command: Command) -> str:
        """Return a command of the repository as one of the clone, for a player."""
        words = [
            ".venv/bin/python"
            if word == sys.executable
            else word.replace(f"{ROOT}{os.sep}", "")
            for word in command
        ]
        return " ".join(words)


def measure(
    names: Sequence[str], folder: Path, *, cold: bool
) -> dict[str, list[float]]:
    """Do all that a newcomer does.

    Args:
        names: of languages.
        folder: an empty one.
        cold: whether all caches are empty at first.

    Returns:
        Seconds by language and step, in the order of ``_STEPS``.

    Raises:
        StepError: if a step fails.
    """
    clone = Clone(folder / "clone", environment_in(folder, cold=cold))
    clone.path.mkdir()
    cloned = clone.run("git", "clone", "--quiet", ROOT, ".")
    setup = clone.run("make", f"PYTHON={sys.executable}", "setup")
    times = {}
    for language in found():
        if language.name in names:
            within = f"clients/{language.name}"
            built = sum(clone.run(*words, folder=within) for words in language.build)
            played = clone.play(f"exec:{clone.here(language.uniform)}")
            times[language.name] = [cloned, setup, built, played]
    if STDIO in names:
        played = clone.play(f"{STDIO}:examples/stdio/uniform.sh")
        times[STDIO] = [cloned, setup, 0.0, played]
    return times


def environment_in(folder: Path, *, cold: bool) -> dict[str, str]:
    """Return the variables of programs that are to find no more than a newcomer's.

    Args:
        folder: for caches and data.
        cold: whether all caches are empty at first.
    """
    ours = ("VIRTUAL_ENV", "PYTHONPATH", "MAKEFLAGS", "MAKELEVEL", "MFLAGS")
    variables = {name: text for name, text in os.environ.items() if name not in ours}
    variables["FRITILLARY_DATA"] = str(folder / "data")
    for cache, variable in _CACHES.items():
        if cold or cache not in _KEPT:
            variables[variable] = str(folder / "caches" / variable)
    # Else not even their owner could remove them.
    variables["GOFLAGS"] = f"{variables.get('GOFLAGS', '')} -modcacherw".strip()
    return variables


def show(times: Mapping[str, Sequence[float]], *, cold: bool) -> None:
    """Print a row for each language, in seconds."""
    table = Table("", *_STEPS, "all", title="From a clone to the first match, seconds")
    for column in table.columns[1:]:
        column.justify = "right"
    for name, steps in times.items():
        row = (f"{each:.1f}" if each else "-" for each in (*steps, sum(steps)))
        table.add_row(name, *row)
    console = Console(highlight=False)
    console.print(table)
    fresh = [cache for cache in _CACHES if cold or cache not in _KEPT]
    console.print(f"caches: {', '.join(fresh)} fresh", end="" if not cold else "\n")
    if not cold:
        console.print(f"; {' and '.join(_KEPT)} as they were")


def main() -> int:
    """Measure, print, and return the exit code.

    Raises:
        RuntimeError: if a step fails, or a tool is missing where none may be.
    """
    parser = argparse.ArgumentParser(
        prog="python -m tests.clients.first_match", description=__doc__
    )
    known = [language.name for language in found()]
    # Its example is a shell script with jq.
    if shutil.which("jq") or os.environ.get("CI"):
        known.append(STDIO)
    parser.add_argument("languages", nargs="*", help=f"of {', '.join(known)}")
    parser.add_argument("--cold", action="store_true", help="with no cache at all")
    given = parser.parse_args()
    names = given.languages or known
    for name in names:
        if name not in known:
            parser.error(f"{name!r} is none of {', '.join(known)}")
    with tempfile.TemporaryDirectory(prefix="first-match-") as folder:
        times = measure(names, Path(folder), cold=given.cold)
    show(times, cold=given.cold)
    for line in left_out():
        print(line)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except RuntimeError as failure:
        print(f"error: {failure}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
