"""Programs play on a server: faults, rulings, lost links, restarts, and no secrets."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from attrs import define, field
from tests.clients.stdio.scene import WITHIN, script, until, written
from tests.ids import steady

from fritillary import Registry
from fritillary.record.events import ActionTaken
from fritillary.record.reader import read_record
from fritillary.record.terms import (
    ClockSettings,
    EndKind,
    LinkBank,
    Policy,
    Terms,
    parse_policy,
)
from fritillary.service.arena import Arena
from fritillary.service.hosted import HostedMatch
from fritillary.service.server import Server
from fritillary.service.tokens import Role, TokenStore
from fritillary_client import BotError, Client
from fritillary_client.stdio import Stdio

pytestmark = [pytest.mark.system, pytest.mark.timeout(600)]

#: Notes the types of the lines, and answers by chance.
NOTES = """
with open(%r, "a") as file:
    for text in sys.stdin:
        line = json.loads(text)
        file.write(f"{line['type']} {line.get('resumed')} {os.getpid()}\\n")
        file.flush()
        if line["type"] == "ask":
            say({"index": line["legal"][line["seed"] %% len(line["legal"])]["index"]})
"""


@define
class House:
    """A server, and clients in this process."""

    arena: Arena
    server: Server
    clients: list[Client] = field(factory=list)
    tasks: list[asyncio.Task[None]] = field(factory=list)
    programs: list[Stdio] = field(factory=list)

    def token(self, name: str) -> str:
        return self.arena.tokens.create(name, Role.BOT, passing=True)

    def connect(self, name: str, body: str, **settings: Any) -> Client:
        self.programs.append(Stdio(script(body)))
        client = Client(
            self.programs[-1],
            address=self.server.address,
            token=self.token(name),
            **settings,
        )
        self.clients.append(client)
        self.tasks.append(asyncio.ensure_future(client.run()))
        return client


@pytest.fixture
async def house() -> AsyncIterator[House]:
    registry = Registry()
    registry.load()
    arena = Arena(registry, tokens=TokenStore())
    async with Server(arena) as server, arena:
        house = House(arena, server)
        yield house
        for client in house.clients:
            client.stop()
        await asyncio.gather(*house.tasks, return_exceptions=True)
        for program in house.programs:
            await program.close()


def noted(path: Path) -> list[list[str]]:
    return [line.split() for line in path.read_text().splitlines()]


# ------------------------------------------------------------------------- rulings


async def test_what_is_no_action_is_asked_again_with_the_reason(
    house, tmp_path
) -> None:
    body = f"""
    with open({str(tmp_path / "problems")!r}, "w") as file:
        while True:
            line = asked()
            if line["attempt"] > 1:
                json.dump(line["problem"], file)
                file.flush()
                say({{"text": line["legal"][0]["text"]}})
            else:
                say({{"text": "no such action"}})
    """
    house.connect("a", body)
    policy = parse_policy(["malformed=retry:1"])
    result = await house.arena.play(
        "lepidoptery", ["remote:a", "uniform"], terms=Terms(policy=policy)
    )
    assert result.finish.kind is EndKind.PLAYED
    problem, _ = json.JSONDecoder().raw_decode((tmp_path / "problems").read_text())
    assert problem["code"].startswith("action.")
    assert problem["message"]


async def test_one_that_is_too_slow_is_replaced_and_asked_on(house) -> None:
    # It never catches up: each answer is to the ask before the last.
    body = """
    late = asked()
    while True:
        line = asked()
        say({"index": late["legal"][0]["index"]})
        late = line
    """
    house.connect("a", body)
    result = await house.arena.play(
        "lepidoptery",
        ["remote:a", "uniform"],
        clocks=ClockSettings(move_ms=100),
        terms=Terms(policy=parse_policy(["late=substitute"])),
    )
    assert result.finish.kind is EndKind.PLAYED


async def test_a_program_may_give_up(house) -> None:
    house.connect("a", "asked(); say({'resign': True}); told()")
    result = await house.arena.play("lepidoptery", ["remote:a", "uniform"])
    assert result.finish.code == "seat.resigned"


async def test_notes_and_probabilities_stand_in_the_record(house) -> None:
    body = """
    while True:
        legal = asked()["legal"]
        say({"index": legal[0]["index"], "note": "so",
             "probabilities": [1] + [0] * (len(legal) - 1)})
    """
    house.connect("a", body)
    one = house.arena.create("lepidoptery", ["remote:a", "uniform"])
    await one.ended
    taken = [
        event
        for event in read_record(one.record()).events
        if isinstance(event, ActionTaken) and event.seat == 0
    ]
    assert taken
    assert {(event.note, event.probabilities[0]) for event in taken} == {
        ("so", 1_000_000)
    }


# -------------------------------------------------------------------------- faults

SHORT = Terms(policy=Policy(link=LinkBank(loss_ms=200, total_ms=200, restarts=0)))


#: A program that has ended has lost.
ONCE = Terms(policy=Policy(link=LinkBank(restarts=0)))


async def test_a_program_that_answers_nonsense_stops_the_bot(house) -> None:
    house.connect("a", "asked(); say('{nonsense'); told()")
    result = await house.arena.play("lepidoptery", ["remote:a", "uniform"], terms=SHORT)
    assert result.finish.kind is EndKind.FORFEITED
    with pytest.raises(BotError, match="is not JSON at character 2") as caught:
        await house.tasks[0]
    # One line is all there is to say: no traceback.
    assert caught.value.__cause__ is None


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (
            "say({'action': {'stones': 10**30}})",
            "an action that cannot be sent: it holds a number of more than 64 bits: {",
        ),
        (
            "say({'action': {chr(0xD800): 1}})",
            'an action that cannot be sent: it holds text that is not Unicode: {"a',
        ),
        ("say({'text': chr(0xD800)})", "text that is not Unicode: "),
        ("say({'text': 'x' * 300_000})", 'an action of more than 262144 bytes: {"t'),
        ("say({'index': 0, 'probabilities': [1]})", "1 probabilities for "),
    ],
    ids=steady,
)
async def test_an_answer_that_cannot_be_sent_is_told_in_the_words_of_its_line(
    house, caplog, body, why
) -> None:
    house.connect("a", f"asked(); {body}; told()")
    await house.arena.play("lepidoptery", ["remote:a", "uniform"], terms=SHORT)
    with pytest.raises(BotError) as caught:
        await house.tasks[0]
    assert caught.value.message.startswith(f"the answer has {why}")
    assert caught.value.message.isprintable()
    assert len(caught.value.message) < 300
    assert caught.value.code == "bot.answer"
    assert "Traceback" not in caplog.text


async def test_or_resigns_the_one_match_and_plays_the_next(house, caplog) -> None:
    body = """
    while True:
        line = asked()
        say({"index": line["legal"][0]["index"]} if line["match_id"] == "good" else "{")
    """
    house.connect("a", body, on_error="resign")
    players = ["remote:a", "uniform"]
    bad = await house.arena.play("lepidoptery", players, match_id="bad")
    assert bad.finish.code == "seat.resigned"
    good = await house.arena.play("lepidoptery", players, match_id="good")
    assert good.finish.kind is EndKind.PLAYED
    assert "match bad is resigned: the answer is not JSON" in caplog.text
    assert "Traceback" not in caplog.text


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("asked(); sys.exit('out of luck')", "exit code 1; its last words: out of l"),
        ("asked(); say('{nonsense'); told()", "the answer is not JSON at character 2"),
        ("asked(); say({'index': 1.5}); told()", "is a number with a fraction"),
        ("asked(); os.close(1); time.sleep(600)", "the program closed its output"),
        ("asked(); print('thinking'); os.kill(os.getpid(), 9)", "ended by SIGKILL"),
    ],
)
async def test_a_referee_is_told_why_a_program_failed(
    house, tmp_path, body, why
) -> None:
    player = written(tmp_path, f"{body}\n")
    one = house.arena.create("lepidoptery", [player, "uniform"], terms=ONCE)
    result = await one.ended
    assert result.finish.kind is EndKind.FORFEITED
    (problem,) = [what for _, what in one.problems]
    assert why in problem
    # It is not for the record, where everybody reads it.
    assert why.encode() not in one.record()


async def test_a_program_that_ended_is_started_again_and_told_so(
    house, tmp_path
) -> None:
    lines = tmp_path / "lines"
    body = f"if not os.path.exists({str(lines)!r}):\n"
    body += f"    open({str(lines)!r}, 'w').close(); asked(); sys.exit(5)\n"
    player = written(tmp_path, body + NOTES % str(lines))
    result = await house.arena.play("lepidoptery", [player, "uniform"])
    assert result.finish.kind is EndKind.PLAYED
    first, *rest = noted(lines)
    assert first[:2] == ["start", "True"]
    assert {kind for kind, *_ in rest} >= {"ask"}


def _far(one: HostedMatch, plies: int) -> bool:
    return one.over or one.ply >= plies


async def test_a_lost_link_leaves_the_program_as_it_is(house, tmp_path) -> None:
    lines = tmp_path / "lines"
    client = house.connect("a", NOTES % str(lines), matches=1)
    one = house.arena.create(
        "lepidoptery", ["remote:a", "uniform"], wait_for_remote=True
    )
    for plies in (4, 8):
        await until(functools.partial(_far, one, plies))
        link = client._link
        if link is not None:
            await link._channel.close()
    assert (await one.ended).finish.kind is EndKind.PLAYED
    await asyncio.wait_for(house.tasks[0], WITHIN)
    kinds = [kind for kind, *_ in noted(lines)]
    assert kinds[0] == "start"
    assert kinds[-1] == "end"
    assert set(kinds[1:-1]) == {"ask"}
    assert len({pid for *_, pid in noted(lines)}) == 1


# ------------------------------------------------------------------------ commands


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
        (["stdio:true", "--log", "/no/such/folder/x"], "No such file or directory"),
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
