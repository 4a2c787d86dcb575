"""Programs that commands seat: processes, logs, exit codes, and no secrets."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.clients.stdio.house import NOTES, SHORT, House, noted
from tests.clients.stdio.scene import WITHIN, until, written

from fritillary.record.reader import read_record
from fritillary.record.terms import EndKind

pytestmark = [pytest.mark.system, pytest.mark.timeout(600)]


class Command:
    """``fritillary bot`` in a process of its own."""

    def __init__(self, house: House, *words: str, **variables: str) -> None:
        environment = {
            **os.environ,
            "FRITILLARY_ADDRESS": house.server.address,
            "FRITILLARY_TOKEN": house.token("a"),
            **variables,
        }
        self.process = subprocess.Popen(
            [sys.executable, "-m", "fritillary", "bot", *words],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    async def there(self, house: House) -> None:
        await until(
            lambda: (
                house.arena.hub.link("a").session is not None
                or self.process.poll() is not None
            )
        )

    async def done(self) -> tuple[int, str]:
        """Wait for its end; return its exit code and its errors."""
        loop = asyncio.get_running_loop()
        _, errors = await loop.run_in_executor(
            None, lambda: self.process.communicate(timeout=WITHIN)
        )
        return self.process.returncode, errors


@pytest.fixture
def command(house: House) -> Any:
    started: list[Command] = []

    def start(*words: str, **variables: str) -> Command:
        started.append(Command(house, *words, **variables))
        return started[-1]

    yield start
    for one in started:
        one.process.kill()
        with contextlib.suppress(ValueError):
            one.process.communicate()


Start = Callable[..., Command]


async def test_the_command_plays_several_matches_with_a_process_each(
    house, tmp_path, command
) -> None:
    lines, log = tmp_path / "lines", tmp_path / "log"
    player = written(tmp_path, "print('hello')\n" + NOTES % str(lines), "clever.py")
    bot = command(player, "--matches", "2", "--capacity", "2", "--log", str(log))
    await bot.there(house)
    one, other = (
        house.arena.create("lepidoptery", ["remote:a", "uniform"], match_id=name)
        for name in ("m-1", "m-2")
    )
    for each in (one, other):
        assert (await each.ended).finish.kind is EndKind.PLAYED
        assert read_record(each.record()).header.seats[0].player.name == "clever"
    code, errors = await bot.done()
    assert code == 0, errors
    assert len({pid for *_, pid in noted(lines)}) == 2
    assert sorted(log.read_text().splitlines()) == [
        "m-1 seat 0: hello",
        "m-2 seat 0: hello",
    ]
    assert "hello" not in errors


async def test_no_secret_of_the_bot_reaches_the_program(
    house, tmp_path, command
) -> None:
    body = """
    print(json.dumps([dict(os.environ), sys.argv]), file=sys.stderr, flush=True)
    while True:
        say({"index": asked()["legal"][0]["index"]})
    """
    player = written(tmp_path, body)
    bot = command(player, "--matches", "1", API_KEY="hush")
    await bot.there(house)
    await house.arena.play("lepidoptery", ["remote:a", "uniform"])
    code, errors = await bot.done()
    assert code == 0, errors
    assert "PATH" in errors
    secret = 'FRITILLARY_(?!PROGRAM")|hush|frt_|127.0.0.1:'
    assert not re.search(secret, _said_by_program(errors))
    # The same where the server starts it.
    one = house.arena.create("lepidoptery", [player, "uniform"])
    await one.ended
    assert b"FRITILLARY" not in one.record()


def _said_by_program(errors: str) -> str:
    (line,) = [line for line in errors.splitlines() if " seat 0: [" in line]
    return line


async def test_a_failing_program_ends_the_command_in_one_line(
    house, tmp_path, command
) -> None:
    bot = command(written(tmp_path, "asked(); sys.exit(3)"))
    await bot.there(house)
    await house.arena.play("lepidoptery", ["remote:a", "uniform"], terms=SHORT)
    code, errors = await bot.done()
    assert code == 1
    assert errors.splitlines()[-1] == (
        "error: the program ended with exit code 3 [bot.ended]"
    )
    assert "Traceback" not in errors


async def test_with_resign_the_command_plays_on(house, tmp_path, command) -> None:
    body = """
    line = asked()
    if line["match_id"] == "m-1":
        sys.exit(3)
    say({"resign": True})
    told()
    """
    bot = command(written(tmp_path, body), "--on-error", "resign", "--matches", "2")
    await bot.there(house)
    for name in ("m-1", "m-2"):
        result = await house.arena.play(
            "lepidoptery", ["remote:a", "uniform"], match_id=name
        )
        assert result.finish.code == "seat.resigned"
    code, errors = await bot.done()
    assert code == 0, errors
    assert "match m-1 is resigned: the program ended with exit code 3" in errors


@pytest.mark.parametrize(
    "numbers",
    [(signal.SIGTERM, signal.SIGINT), (signal.SIGKILL,)],
    ids=["asked", "killed"],
)
async def test_a_command_that_is_ended_takes_its_program_along(
    house, tmp_path, command, numbers
) -> None:
    pid = tmp_path / "pid"
    body = f"""
    with open({str(pid)!r}, "w") as file:
        file.write(f"{{os.getpid()}}.")
    while sys.stdin.readline():
        pass
    """
    bot = command(written(tmp_path, body))
    await bot.there(house)
    one = house.arena.create("lepidoptery", ["remote:a", "uniform"], terms=SHORT)
    await until(lambda: pid.exists() and pid.read_text().endswith("."))
    # The first lets matches in play come to their end, which this one never does.
    for number in numbers:
        bot.process.send_signal(number)
    await bot.done()
    await until(lambda: not _alive(int(pid.read_text()[:-1])))
    assert (await one.ended).finish.kind is EndKind.FORFEITED


def _alive(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2]
    except FileNotFoundError:
        return False


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["stdio:"], "'stdio:' needs a command"),
        (["stdio:no-such-bot"], "there is no command 'no-such-bot'"),
        (["stdio:./no-such-bot"], "there is no file './no-such-bot'"),
        (["uniform", "--log", "x"], "--log is for players of stdio:"),
        (["stdio:true", "--log", "/no/such/folder/x"], "the folder does not exist"),
    ],
)
def test_what_is_wrong_with_the_words_is_told_in_one_line(words, why) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "fritillary", "bot", *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=WITHIN,
    )
    assert done.returncode != 0
    (line,) = done.stderr.splitlines()
    assert why in line


def test_a_match_of_the_command_line_seats_a_program(tmp_path: Path) -> None:
    lines, record = tmp_path / "lines", tmp_path / "m.frec"
    player = written(tmp_path, NOTES % str(lines), "clever.py")
    words = ("match", "lepidoptery", "-s", player, "-s", "uniform", "--record")
    done = subprocess.run(
        [sys.executable, "-m", "fritillary", *words, str(record)],
        capture_output=True,
        text=True,
        check=False,
        timeout=WITHIN,
        env={**os.environ, "FRITILLARY_DATA": str(tmp_path / "data")},
    )
    assert done.returncode == 0, done.stderr
    assert "(clever)" in done.stdout or "(uniform)" in done.stdout
    header = read_record(record.read_bytes()).header
    assert header.seats[0].player.name == "clever"
    assert header.seats[0].player.player.startswith("stdio:python")
    assert "/" not in header.seats[0].player.player
    assert noted(lines)[0][0] == "start"
