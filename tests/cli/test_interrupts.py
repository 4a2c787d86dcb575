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

#: As package managers write it for a command.
SCRIPT = """
import sys
from fritillary.cli.main import main
sys.exit(main())
"""

#: A program of somebody's own, which has something to bring to an end.
OWN = """
import atexit

atexit.register(print, "saved")
try:
    import {module}
except KeyboardInterrupt:
    print("tidied up")
finally:
    print("over", flush=True)
"""

#: Loads a package that cannot be loaded to its end, then interrupts itself.
HALF_WAY = """
import os
import signal
import sys

sys.modules["{broken}"] = None
try:
    import {module}
except ImportError:
    print("not here")
assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
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
@pytest.mark.parametrize("begun_as", ["module", "script"])
def test_a_command_that_is_loading_ends_in_one_line(
    tmp_path: Path, module: str, begun_as: str
) -> None:
    (tmp_path / f"{module}.py").write_text(SLOW)
    script = tmp_path / "fritillary"
    script.write_text(SCRIPT)
    words = ("-m", "fritillary") if begun_as == "module" else (script,)
    with started(*words, "games", path=tmp_path) as program:
        assert interrupted(program, "loading") == (130, "", "interrupted\n")


def test_a_command_is_never_without_it_until_it_runs(tmp_path: Path) -> None:
    (tmp_path / "fritillary").write_text(
        "import signal\n"
        "import fritillary\n"
        "before = signal.getsignal(signal.SIGINT)\n"
        "import fritillary.cli.main\n"
        "assert signal.getsignal(signal.SIGINT) is before\n"
        "fritillary.cli.main.app = lambda *_, **__: print(\n"
        "    before is not signal.default_int_handler,\n"
        "    signal.getsignal(signal.SIGINT) is signal.default_int_handler,\n"
        ")\n"
        "fritillary.cli.main.main()\n"
    )
    with started(tmp_path / "fritillary", path=tmp_path) as program:
        assert program.communicate(timeout=60) == ("True True\n", "")


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


@pytest.mark.parametrize("module", ["fritillary", "fritillary_client"])
def test_a_program_of_somebody_elses_ends_as_it_wants_to(
    tmp_path: Path, module: str
) -> None:
    (tmp_path / "attrs.py").write_text(SLOW)
    own = tmp_path / "own.py"
    own.write_text(OWN.format(module=module))
    with started(own, path=tmp_path) as program:
        code, out, errors = interrupted(program, "loading")
    assert (code, out, errors) == (0, "tidied up\nover\nsaved\n", "")


@pytest.mark.parametrize("module", ["fritillary", "fritillary_client"])
def test_what_nobody_catches_is_one_line_once_all_is_tidied_up(
    tmp_path: Path, module: str
) -> None:
    (tmp_path / "attrs.py").write_text(SLOW)
    own = tmp_path / "own.py"
    own.write_text(OWN.format(module=module).replace("KeyboardInterrupt", "OSError"))
    with started(own, path=tmp_path) as program:
        code, out, errors = interrupted(program, "loading")
    assert (code, out, errors) == (130, "over\nsaved\n", "interrupted\n")


@pytest.mark.parametrize(
    ("module", "broken"), [("fritillary", "cattrs"), ("fritillary_client", "grpc")]
)
@pytest.mark.parametrize("name", ["own.py", "fritillary"])
def test_what_fails_half_way_changes_nothing(
    tmp_path: Path, module: str, broken: str, name: str
) -> None:
    own = tmp_path / name
    own.write_text(HALF_WAY.format(module=module, broken=broken))
    with started(own, path=tmp_path / "none") as program:
        assert program.communicate(timeout=60) == ("not here\n", "")


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
        monkeypatch.setattr(interrupts, "_is_command", lambda _: True)
        # So that the tests that follow run in no command.
        monkeypatch.setattr(interrupts.Loading, "command", interrupts.Loading.command)
        with interrupts.Loading():
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
        interrupts.loaded()
        interrupts._take_down()
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
