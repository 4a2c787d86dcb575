"""docs/write-a-bot.md: its commands are run in their order, as a reader would."""

from __future__ import annotations

import ast
import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from docs.codes import CODES
from tests.clients import languages

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "write-a-bot.md"

#: Blocks of commands, each with a mark that says how it is run.
BLOCK = re.compile(
    r"<!-- (setup|run)(?:: (\w+))? -->\n\n```console\n(.*?)```", re.DOTALL
)

#: What the environment of the tests does for them.
SETUP = ["make setup", ". .venv/bin/activate"]

#: Blocks for whoever has a tool.
LANGUAGES = {"go": languages.GO, "typescript": languages.TYPESCRIPT}

#: Seconds for anything; a busy machine is no bug.
WITHIN = 120.0

#: What a shell sets for itself.
OWN = {"PWD", "OLDPWD", "SHLVL", "_"}


def text() -> str:
    return PAGE.read_text("utf-8")


def lines_of(block: str) -> list[str]:
    lines = block.splitlines()
    assert all(line.startswith("$ ") for line in lines), block
    return [line[2:] for line in lines]


class Terminals:
    """Runs commands one after the other, or beside each other.

    Args:
        folder: where they run.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._environment = {
            **{k: v for k, v in os.environ.items() if not k.startswith("FRITILLARY_")},
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "FRITILLARY_DATA": str(folder / "data"),
        }
        self._address = ""
        self.beside: list[tuple[subprocess.Popen[bytes], Path]] = []

    def _as_here(self, line: str) -> str:
        """Return a command with a port that is free in place of the usual one."""
        if line == "fritillary serve":
            return f"{line} --address 127.0.0.1:0"
        return line.replace("127.0.0.1:7447", self._address)

    def run(self, line: str) -> str:
        """Run a command to its end; return what it printed.

        A bot that was started before may not be connected yet: then it is run again.
        """
        kept = self._folder / "environment"
        deadline = time.monotonic() + WITHIN
        while True:
            done = subprocess.run(
                [
                    "bash",
                    "-c",
                    f"{self._as_here(line)}\nfailed=$?\nenv -0 >{kept}\nexit $failed",
                ],
                cwd=self._folder,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=WITHIN,
                check=False,
            )
            if "is not connected" not in done.stderr or time.monotonic() > deadline:
                break
            time.sleep(0.1)
        assert done.returncode == 0, (line, done.stdout, done.stderr, self.said())
        pairs = (one.partition("=") for one in kept.read_text("utf-8").split("\0"))
        self._environment.update(
            {name: value for name, _, value in pairs if name and name not in OWN}
        )
        return done.stdout

    def start(self, line: str) -> subprocess.Popen[bytes]:
        """Run a command beside the others."""
        said = self._folder / f"said-{len(self.beside)}"
        with said.open("wb") as out:
            process = subprocess.Popen(
                ["bash", "-c", f"exec {self._as_here(line)}"],
                cwd=self._folder,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
            )
        self.beside.append((process, said))
        if line == "fritillary serve":
            until(lambda: "listening on " in said.read_text("utf-8"))
            found = re.search(r"listening on (\S+)", said.read_text("utf-8"))
            assert found is not None
            self._address = found[1]
        return process

    def said(self) -> list[str]:
        """Return what the commands beside have printed so far."""
        return [said.read_text("utf-8") for _, said in self.beside]

    def end(self) -> None:
        """End what still runs, the last one first."""
        for process, _ in reversed(self.beside):
            process.send_signal(signal.SIGINT)
            try:
                process.wait(WITHIN)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + WITHIN
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.fixture
def terminals(tmp_path: Path) -> Iterator[Terminals]:
    for name in ("clients", "examples"):
        (tmp_path / name).symlink_to(ROOT / name)
    found = Terminals(tmp_path)
    with contextlib.closing(contextlib.ExitStack()) as stack:
        stack.callback(found.end)
        yield found


def test_every_command_on_the_page_is_marked() -> None:
    assert text().count("```console\n") == len(BLOCK.findall(text()))
    setup = [
        lines_of(block) for how, _, block in BLOCK.findall(text()) if how == "setup"
    ]
    assert setup == [SETUP]
    assert "\nsetup:" in (ROOT / "Makefile").read_text("utf-8")


def here(which: str) -> bool:
    """Say whether a block is for this machine; in CI all are."""
    if which in LANGUAGES:
        return LANGUAGES[which] in languages.found()
    return which != "jq" or bool(shutil.which("jq") or os.environ.get("CI"))


@pytest.mark.system
@pytest.mark.timeout(900)
def test_the_commands_on_the_page_do_what_it_says(terminals: Terminals) -> None:
    watching = None
    referee = ""
    for how, which, block in BLOCK.findall(text()):
        if how == "setup" or not here(which):
            continue
        for line in lines_of(block):
            if which == "background":
                process = terminals.start(line)
                if line.startswith("fritillary watch"):
                    watching = process
                continue
            if which in LANGUAGES and line.startswith(f"(cd clients/{which} && "):
                # What the line builds, without getting into the way of other tests.
                LANGUAGES[which].make()
                continue
            said = terminals.run(line)
            if which == "twice":
                assert content(terminals.run(line)) == content(said)
            if " --server " in line:
                referee = line.partition(" --record ")[0]
    # Whoever looks on may have come too late for the match: then there is another.
    assert watching is not None
    deadline = time.monotonic() + WITHIN
    while watching.poll() is None and time.monotonic() < deadline:
        terminals.run(referee.replace("greedy", "remote:many"))
    assert watching.returncode == 0, terminals.said()


def content(said: str) -> str:
    (found,) = re.findall(r"^content +(\w+)$", said, re.MULTILINE)
    return str(found)


def test_the_bots_on_the_page_are_those_that_the_clients_play_with() -> None:
    shown = re.findall(r"<!-- file: (\S+) -->", text())
    assert shown == [
        "clients/go/examples/uniform/main.go",
        "clients/typescript/examples/uniform.ts",
        "examples/stdio/uniform.sh",
    ]
    for name in shown:
        code = (ROOT / name).read_text("utf-8")
        assert len([line for line in code.splitlines() if line.strip()]) <= 40, name


def test_the_bot_in_python_is_the_file_without_its_comments() -> None:
    shown = re.search(
        r"uniform\.py\), without .*?```python\n(.*?)```", text(), re.DOTALL
    )
    assert shown is not None
    whole = ast.parse((ROOT / "examples/bots/uniform.py").read_text("utf-8"))
    for node in ast.walk(whole):
        if isinstance(node, (ast.Module, ast.FunctionDef)) and ast.get_docstring(node):
            del node.body[0]
    assert ast.dump(ast.parse(shown[1])) == ast.dump(whole)


def test_the_codes_on_the_page_are_codes() -> None:
    rows = re.findall(r"^\| (`.*?) \|", text(), re.MULTILINE)
    found = re.findall(r"`([a-z.-]+)`", " ".join(rows))
    assert len(found) > 10
    assert set(found) - CODES.keys() == {"link.unreachable"}  # of the client itself
