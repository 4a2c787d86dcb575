"""What commands say when Ctrl-C ends them: one line, what is kept, no traceback."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.cli.conftest import Program, Run

GAME = "lepidoptery"

Start = Callable[..., Program]

#: Tidies up for ever when it is cancelled, so many times.
STUBBORN = """
import asyncio
import sys
from fritillary.cli.loop import run, stopped_by

async def main(times):
    print("begun", flush=True)
    for _ in range(times + 1):
        try:
            await asyncio.sleep(600)
        except asyncio.CancelledError:
            print(stopped_by(), flush=True)
    print("over", flush=True)
    raise asyncio.CancelledError

try:
    run(main(int(sys.argv[1])))
except KeyboardInterrupt:
    print("interrupted here")
    raise SystemExit(130)
"""


@pytest.fixture(autouse=True)
def _interruptible() -> Iterator[None]:
    """Raise what Ctrl-C raises, also in the background of a shell."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def stubborn(times: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", STUBBORN, str(times)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def rest(program: subprocess.Popen[str]) -> tuple[int, str, str]:
    """Return exit code and the rest of the output; lines may have come together."""
    assert program.stdout is not None
    assert program.stderr is not None
    out, errors = program.stdout.read(), program.stderr.read()
    return program.wait(60), out, errors


def ended(program: Program) -> tuple[int, str]:
    """Return exit code and errors of a program that ends."""
    out, errors = program.process.communicate(timeout=60)
    assert "Traceback" not in out + errors
    return program.process.returncode, errors


@pytest.mark.system
@pytest.mark.parametrize(
    ("words", "first", "kept"),
    [
        (("perft", GAME, "--depth", 40), "  0 ", "of 41 depths were counted"),
        (("certify", GAME, "--profile", "thorough"), "", "laws were checked"),
    ],
)
def test_what_was_done_is_told(
    start: Start, words: tuple[object, ...], first: str, kept: str
) -> None:
    program = start(*words)
    assert program.line().startswith(first)
    program.signal()
    code, errors = ended(program)
    assert code == 130
    [line] = errors.splitlines()
    assert line.startswith("interrupted: ")
    assert line.endswith(kept)


@pytest.mark.system
def test_a_certificate_that_is_not_written_is_told(
    start: Start, tmp_path: Path
) -> None:
    out = tmp_path / "certificate.json"
    program = start("certify", GAME, "--profile", "thorough", "--out", out)
    program.line()
    program.signal()
    code, errors = ended(program)
    assert (code, out.exists()) == (130, False)
    assert errors.rstrip().endswith(f"and {out} was not written")


@pytest.mark.system
def test_records_that_were_checked_are_counted(start: Start, frec: Path) -> None:
    program = start("verify", *[frec] * 3000)
    program.line()
    program.signal()
    code, errors = ended(program)
    assert code == 130
    [line] = errors.splitlines()
    assert line.startswith("interrupted: ")
    assert line.endswith(" of 3000 were checked")


@pytest.mark.system
@pytest.mark.parametrize("wait", [0.0, 0.002, 0.01, 0.05])
def test_a_second_ctrl_c_is_no_traceback_either(start: Start, wait: float) -> None:
    program = start("perft", GAME, "--depth", 40)
    program.line()
    program.signal()
    with contextlib.suppress(subprocess.TimeoutExpired):
        program.process.wait(wait)
    program.signal()
    code, errors = ended(program)
    assert code in {130, -signal.SIGINT}
    assert len(errors.splitlines()) <= 1


def test_a_folder_is_whole_or_not_there(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "my-game"
    words = ("new-game", "my-game", "--dir", tmp_path)
    rename = Path.rename

    def interrupted(old: Path, new: Path) -> Path:
        made = rename(old, new) if late else old
        signal.raise_signal(signal.SIGINT)
        return made

    monkeypatch.setattr(Path, "rename", interrupted)
    late = False
    assert run(*words) == (130, "", f"interrupted: there is no {target}\n")
    assert list(tmp_path.iterdir()) == []
    late = True
    assert run(*words) == (130, "", f"interrupted: {target} is complete\n")


def test_ctrl_c_while_the_line_is_printed_is_no_traceback(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def again(*_: object) -> None:
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr("fritillary.cli.commands.command", again)
    monkeypatch.setattr("fritillary.cli.interrupted.print_note", again)
    code, out, errors = run("games")
    assert (code, out, errors) == (130, "", "")


# ----------------------------------------------------------------- within the loop


@pytest.mark.system
@pytest.mark.parametrize("presses", [1, 2])
def test_each_ctrl_c_cancels_what_is_done_just_then(presses: int) -> None:
    with stubborn(presses - 1) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == "begun\n"
        for _ in range(presses):
            program.send_signal(signal.SIGINT)
            assert program.stdout.readline() == "Ctrl-C\n"
        assert rest(program) == (130, "over\ninterrupted here\n", "")


@pytest.mark.system
def test_a_third_ctrl_c_leaves_whatever_is_done() -> None:
    with stubborn(5) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == "begun\n"
        for _ in range(2):
            program.send_signal(signal.SIGINT)
            assert program.stdout.readline() == "Ctrl-C\n"
        program.send_signal(signal.SIGINT)
        assert rest(program) == (130, "", "interrupted\n")


# ------------------------------------------------------------------ before all of it


@pytest.mark.system
def test_until_ctrl_c_is_taken_over_nothing_else_is_loaded(tmp_path: Path) -> None:
    script = tmp_path / "fritillary"
    script.write_text(
        "import _signal, sys\n"
        "class Watch:\n"
        "    def find_spec(name, path=None, target=None):\n"
        "        if _signal.getsignal(2) is _signal.default_int_handler:\n"
        "            names.append(name)\n"
        "names = []\n"
        "sys.meta_path.insert(0, Watch)\n"
        "import fritillary\n"
        "print(*names)\n"
    )
    done = subprocess.run(
        [sys.executable, script],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
        env={**os.environ, "PYTHONPATH": ""},
    )
    loaded = set(done.stdout.split()) - {"atexit"}
    assert loaded == {
        "fritillary",
        "fritillary.core",
        "fritillary.core.interrupts",
    }
