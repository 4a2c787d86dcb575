"""Ctrl-C before a program can be interrupted, and after it is over."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from fritillary.core import interrupts

pytestmark = pytest.mark.system

#: Stands in for a module that takes long to load, and tells when it is. It sleeps
#: little at a time: a signal that comes just before a sleep does not end that one.
SLOW = """
import time

print("loading", flush=True)
while True:
    time.sleep(0.05)
"""

BOT = """
import atexit
import sys
import time

def last():
    print("ending", flush=True)
    while True:
        time.sleep(0.05)

if "--slow-end" in sys.argv:
    sys.argv.remove("--slow-end")
    atexit.register(last)

from fritillary_client import main

main(lambda ask: ask.legal[0], wait=0)
"""

DEAF = ("--address", "127.0.0.1:1", "--token", "t")


@contextmanager
def started(*words: object, path: Path) -> Iterator[subprocess.Popen[str]]:
    """Start a program with a folder of modules that come before all others."""
    with subprocess.Popen(
        [sys.executable, *map(str, words)],
        env={**os.environ, "PYTHONPATH": str(path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as program:
        try:
            yield program
        finally:
            program.kill()


def interrupted(program: subprocess.Popen[str], at: str) -> tuple[int, str, str]:
    """Send Ctrl-C once a line is read; return exit code and the rest of the output."""
    assert program.stdout is not None
    assert program.stdout.readline() == f"{at}\n"
    program.send_signal(signal.SIGINT)
    out, errors = program.communicate(timeout=60)
    return program.returncode, out, errors


@pytest.fixture
def bot(tmp_path: Path) -> Path:
    path = tmp_path / "bot.py"
    path.write_text(BOT)
    return path


@pytest.mark.parametrize("module", ["attrs", "typer", "rich"])
@pytest.mark.parametrize(
    "words",
    [
        ("-m", "fritillary", "games"),
        ("-c", "from fritillary.cli.main import main; main()", "games"),
    ],
    ids=["module", "script"],
)
def test_a_command_that_is_loading_ends_in_one_line(
    tmp_path: Path, module: str, words: tuple[str, ...]
) -> None:
    (tmp_path / f"{module}.py").write_text(SLOW)
    with started(*words, path=tmp_path) as program:
        assert interrupted(program, "loading") == (130, "", "interrupted\n")


@pytest.mark.parametrize("module", ["attrs", "grpc", "argparse"])
def test_a_bot_that_is_loading_ends_in_one_line(
    bot: Path, tmp_path: Path, module: str
) -> None:
    (tmp_path / f"{module}.py").write_text(SLOW)
    with started(bot, *DEAF, path=tmp_path) as program:
        assert interrupted(program, "loading") == (130, "", "interrupted\n")


def test_a_bot_that_reads_its_arguments_ends_in_one_line(
    bot: Path, tmp_path: Path
) -> None:
    # It is loaded by `argparse` when the first argument is added.
    (tmp_path / "shutil.py").write_text(SLOW)
    with started(bot, *DEAF, path=tmp_path) as program:
        assert interrupted(program, "loading") == (130, "", "interrupted\n")


def test_a_bot_that_is_over_ends_at_once_and_without_a_word(
    bot: Path, tmp_path: Path
) -> None:
    with started(bot, *DEAF, "--slow-end", path=tmp_path / "none") as program:
        code, out, errors = interrupted(program, "ending")
    assert (code, out) == (130, "")
    [line] = errors.splitlines()
    assert line.startswith("error: no server answers")


def test_a_program_that_loads_it_later_keeps_its_own_ways(tmp_path: Path) -> None:
    (tmp_path / "attrs.py").write_text(SLOW)
    script = (
        "def load():\n"
        "    import fritillary\n"
        "try:\n"
        "    load()\n"
        "except KeyboardInterrupt:\n"
        "    print('tidied up')\n"
    )
    with started("-c", script, path=tmp_path) as program:
        assert interrupted(program, "loading") == (0, "tidied up\n", "")


def test_once_all_is_loaded_nothing_has_changed(tmp_path: Path) -> None:
    script = (
        "import signal\n"
        "import fritillary, fritillary_client\n"
        "print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)\n"
    )
    with started("-c", script, path=tmp_path) as program:
        assert program.communicate(timeout=60) == ("True\n", "")


def test_who_types_is_not_thrown_out(monkeypatch: pytest.MonkeyPatch) -> None:
    assert interrupts._begins(None)
    monkeypatch.setattr(sys, "ps1", ">>> ", raising=False)
    assert not interrupts._begins(None)


def test_who_ignores_it_goes_on_ignoring_it(monkeypatch: pytest.MonkeyPatch) -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        monkeypatch.setattr(interrupts, "_begins", lambda _: True)
        interrupts.loading()
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
        interrupts.loaded()
        interrupts._take_down()
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
