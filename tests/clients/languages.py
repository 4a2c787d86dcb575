"""The languages there is a client for: what each needs, and how its programs start.

``python -m tests.clients.languages build`` builds what can be built here; ``check``
runs the format, the linters and the types of each.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

from attrs import frozen

ROOT = Path(__file__).parents[2]
"""Of the repository."""

#: Of a command that builds, in seconds; the tests of a client take longest.
_LONGEST_S = 500

STDIO = "stdio"
"""What the program without a client is called where clients are listed."""

Command: TypeAlias = tuple[str, ...]
"""A program with its arguments."""


@frozen
class Tool:
    """A command that has to be there.

    Args:
        name: of the command.
        least: the oldest version that will do; empty for any.
        asking: arguments with which it tells its version.
    """

    name: str
    least: tuple[int, ...] = ()
    asking: tuple[str, ...] = ("--version",)

    @property
    def wanted(self) -> str:
        """Name and version, for people."""
        return " ".join([self.name, ".".join(map(str, self.least))]).strip()

    def there(self) -> bool:
        """Say whether it is on this machine, and new enough."""
        if shutil.which(self.name) is None:
            return False
        if not self.least:
            return True
        said = subprocess.run(
            (self.name, *self.asking), capture_output=True, text=True, check=False
        )
        found = re.search(r"\d+(\.\d+)*", said.stdout)
        return found is not None and self.least <= tuple(
            map(int, found.group().split("."))
        )


@frozen
class Language:
    """One client.

    Args:
        name: of the language, and of the folder below ``clients/``.
        tools: that must be there.
        get: how to get them.
        build: commands that make the programs below, run in the folder.
        check: commands that judge its code; they follow those of ``build``.
        test: commands of its own tests; they follow those of ``build``.
        contract: command of the contract bot; paths count from ``ROOT``.
        uniform: command of the bot that plays any game by chance.
        lepidoptery: command of the bot that reads its observations.
    """

    name: str
    tools: tuple[Tool, ...]
    get: str
    build: tuple[Command, ...]
    check: tuple[Command, ...]
    test: tuple[Command, ...]
    contract: Command
    uniform: Command
    lepidoptery: Command

    @property
    def folder(self) -> Path:
        """Of the client."""
        return ROOT / "clients" / self.name

    def missing(self) -> tuple[str, ...]:
        """Return the tools that are not on this machine, or too old."""
        return tuple(each.wanted for each in self.tools if not each.there())

    def make(self, *more: Command) -> None:
        """Build its programs; those that are built already cost little.

        Args:
            *more: commands to run afterwards, with nobody else building.

        Raises:
            RuntimeError: what a command printed, if it fails; which, if it hangs.
        """
        with _alone(self.folder):
            for command in (*self.build, *more):
                try:
                    done = subprocess.run(
                        command,
                        cwd=self.folder,
                        stdin=subprocess.DEVNULL,
                        stdout=subprocess.PIPE,
                        stderr=subprocess.STDOUT,
                        text=True,
                        check=False,
                        timeout=_LONGEST_S,
                    )
                except subprocess.TimeoutExpired as error:
                    raise RuntimeError(str(error)) from error
                if done.returncode:
                    msg = f"{' '.join(command)} in {self.folder}:\n{done.stdout}"
                    raise RuntimeError(msg)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Hold off other processes that would build in the folder."""
    fd = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)


def _bin(name: str) -> Command:
    return (str(ROOT / "clients" / "go" / "bin" / name),)


def _dist(path: str) -> Command:
    return ("node", str(ROOT / "clients" / "typescript" / "dist" / path))


def _script(*path: str) -> Command:
    return (sys.executable, str(ROOT.joinpath(*path)))


PYTHON = Language(
    name="python",
    tools=(),
    get="",
    # The repository's own gate and tests are those of this client.
    build=(),
    check=(),
    test=(),
    contract=_script("clients", "python", "contract", "bot.py"),
    uniform=_script("examples", "bots", "uniform.py"),
    lepidoptery=_script("examples", "bots", "greedy.py"),
)
GO = Language(
    name="go",
    tools=(Tool("go", (1, 22), ("version",)),),
    get="install Go 1.22 or newer",
    build=(("go", "build", "-o", "bin/", "./contract", "./examples/..."),),
    check=(("./check.sh",),),
    test=(("go", "test", "-race", "-count=1", "./..."),),
    contract=_bin("contract"),
    uniform=_bin("uniform"),
    lepidoptery=_bin("lepidoptery"),
)
#: npm writes the file last: an installation that was cut short has none.
_NPM_CI = (
    "test node_modules/.package-lock.json -nt package-lock.json || npm ci --no-audit"
)
TYPESCRIPT = Language(
    name="typescript",
    tools=(Tool("node", (20,)), Tool("npm")),
    get="install Node.js 20 or newer with npm",
    build=(
        ("sh", "-c", _NPM_CI),
        ("npm", "run", "--silent", "build"),
    ),
    check=(("npm", "run", "--silent", "check"), ("./generate.sh", "--check")),
    test=(("npm", "test", "--silent"),),
    contract=_dist("contract/bot.js"),
    uniform=_dist("examples/uniform.js"),
    lepidoptery=_dist("examples/lepidoptery.js"),
)
LANGUAGES = (PYTHON, GO, TYPESCRIPT)
"""Every client of the repository."""


def found() -> tuple[Language, ...]:
    """Return the languages whose tools are here; in CI all must be.

    Raises:
        RuntimeError: what is missing, where ``CI`` is set.
    """
    here = tuple(each for each in LANGUAGES if not each.missing())
    if len(here) < len(LANGUAGES) and os.environ.get("CI"):
        raise RuntimeError("; ".join(left_out()))
    return here


def commands() -> dict[str, Command]:
    """Return what starts a bot that plays any game, for each language found here.

    Beside them one program without a client, which plays through ``fritillary bot``.
    """
    lines = f"stdio:{shlex.join(_script('examples', 'stdio', 'uniform.py'))}"
    return {
        **{each.name: each.uniform for each in found()},
        STDIO: (sys.executable, "-m", "fritillary", "bot", lines),
    }


def left_out() -> list[str]:
    """Return a line for each client that cannot be built here, with the mend."""
    return [
        f"the {each.name} client is left out, since there is no "
        f"{' and no '.join(each.missing())}: {each.get}"
        for each in LANGUAGES
        if each.missing()
    ]


def main(task: str) -> int:
    """Do it for every client that can be built here; list the rest.

    Args:
        task: ``build`` or ``check``.

    Returns:
        The exit code.
    """
    try:
        for language in found():
            language.make(*(language.check if task == "check" else ()))
    except RuntimeError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    for line in left_out():
        print(line, file=sys.stderr)
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.clients.languages")
    parser.add_argument("task", choices=["build", "check"])
    sys.exit(main(parser.parse_args().task))
