"""The contract bot: what it is told to do, and the lines that it writes."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import logging
import signal
from collections.abc import Callable, Coroutine
from typing import Any

import grpc
import msgpack
import pytest
from tests.clients.languages import PYTHON, ROOT
from tests.clients.python.fake_arena import (
    TOKEN,
    WITHIN_S,
    FakeArena,
    Stream,
    an_event,
    server_message,
)

from fritillary.api.v1 import bot_pb2 as wire
from fritillary.api.v1 import common_pb2 as common
from fritillary.core.commitment import bot_seed, commitment
from fritillary.core.dealer import SEALED_ALGORITHM

BOT = ROOT / "clients" / "python" / "contract" / "bot.py"

SEED, SALT = b"s" * 32, b"a" * 32
OPTIONS = msgpack.packb({"heap": 21})
SEALED = {
    "options": OPTIONS,
    "commitment": common.Commitment(
        algorithm=SEALED_ALGORITHM, hash=commitment("m1", OPTIONS, SEED, SALT)
    ),
    "bot_seed": bot_seed(SEED, 0),
    "nonce_wanted": True,
}

pytestmark = pytest.mark.system


class Player:
    """A contract bot that runs."""

    def __init__(self, program: asyncio.subprocess.Process) -> None:
        self.program = program

    async def line(self) -> dict[str, Any]:
        """The next line that it writes; empty at the end."""
        assert self.program.stdout is not None
        raw = await asyncio.wait_for(self.program.stdout.readline(), WITHIN_S)
        line: dict[str, Any] = json.loads(raw) if raw else {}
        return line

    async def end(self) -> tuple[list[dict[str, Any]], str, int]:
        """The rest of its lines, its standard error, and its exit code."""
        out, err = await asyncio.wait_for(self.program.communicate(), WITHIN_S)
        assert self.program.returncode is not None
        lines = [json.loads(line) for line in out.splitlines()]
        return lines, err.decode(), self.program.returncode


Contract = Callable[..., Coroutine[Any, Any, tuple[Player, Stream]]]


@pytest.fixture
def contract(arena: FakeArena, start: Any) -> Contract:
    """Starts a bot that does what it is told, and lets it in."""

    async def run(**task: Any) -> tuple[Player, Stream]:
        player = Player(await start(BOT, json.dumps(task)))
        stream = await arena.stream()
        await stream.welcome()
        assert await player.line() == {
            "event": "connected",
            "bot": "tester",
            "resumed": False,
        }
        return player, stream

    return run


def test_the_list_of_languages_names_it() -> None:
    assert PYTHON.contract[1:] == (str(BOT),)


async def test_a_match_is_told_from_its_offer_to_its_end(contract) -> None:
    player, stream = await contract(matches=1, nonce="0102", games=["nim"])
    assert (stream.hello.bot.name, stream.hello.bot.version) == ("contract", "1")
    assert len(stream.hello.bot.build) == 16
    assert [game.game for game in stream.hello.games] == ["nim"]
    await stream.offer(**SEALED)
    seat = {"match_id": "m1", "seat": 0}
    assert await player.line() == {
        "event": "offered",
        **seat,
        "resumed": False,
        "game": "nim",
        "nonce_wanted": True,
    }
    assert (await stream.find("accept")).nonce == b"\x01\x02"
    await stream.find("ready")
    await stream.send(an_event(1), an_event(2))
    seen = msgpack.packb({"heap": 5, "raw": b"\x00\xff", "none": None})
    await stream.ask(observation=seen, decision_id=2)
    assert await player.line() == {
        "event": "asked",
        **seat,
        "decision_id": 2,
        "ply": 3,
        "legal": 3,
        "first": "take 1",
        "observation": {"heap": 5, "raw": "00ff", "none": None},
        "news": [1, 2],
        "attempt": 1,
    }
    # (2 * 7 + 3) % 3 is 2: the last.
    assert (await stream.find("decision")).index == 3
    await stream.ended(
        reveal=common.Reveal(seed=SEED, salt=SALT, nonces=[b"\x01\x02", b""])
    )
    assert await player.end() == (
        [
            {
                "event": "ended",
                **seat,
                "kind": "played",
                "code": "",
                "scores": [1, -1],
                "placing": [1, 2],
                "deal": "verified",
            },
            {"event": "stopped"},
        ],
        "",
        0,
    )


async def test_a_lying_server_is_told_of(contract) -> None:
    player, stream = await contract(matches=1)
    await stream.seated(**SEALED)
    await stream.ended(
        kind=common.MATCH_END_KIND_VOID,
        code="match.aborted",
        outcome=None,
        reveal=common.Reveal(seed=SEED, salt=SALT, nonces=[b"", b""]),
    )
    lines, _, code = await player.end()
    ended = lines[1]
    assert (ended["kind"], ended["code"]) == ("void", "match.aborted")
    assert (ended["scores"], ended["placing"]) == ([], [])
    assert ended["deal"] == "broken"
    assert code == 0


async def test_settings_of_the_session_are_passed_on(contract) -> None:
    _, stream = await contract(
        encoding="json", legal="expanded", capacity=3, name="Ann", build="b1"
    )
    hello = stream.hello
    assert hello.encoding == common.ENCODING_JSON
    assert hello.legal_form == wire.LEGAL_FORM_EXPANDED
    assert hello.capacity == 3
    assert (hello.bot.name, hello.bot.build) == ("Ann", "b1")


async def test_what_is_null_counts_as_left_out(contract) -> None:
    _, stream = await contract(encoding=None, nonce=None, answer=None, name=None)
    assert stream.hello.bot.name == "contract"
    await stream.offer(nonce_wanted=True)
    assert len((await stream.find("accept")).nonce) == 16
    await stream.find("ready")
    await stream.ask(decision_id=1)
    assert (await stream.find("decision")).index == 2


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("index", {"index": 2}),
        ("text", {"text": "take 2"}),
        ("action", {"action": msgpack.packb({"take": 2})}),
    ],
)
async def test_it_answers_in_the_form_that_is_wanted(contract, answer, said) -> None:
    _, stream = await contract(answer=answer)
    await stream.seated()
    await stream.ask(decision_id=1)
    decision = await stream.find("decision")
    chosen = decision.WhichOneof("choice")
    assert {chosen: getattr(decision, chosen)} == said


async def test_nonsense_and_resignation_come_when_they_are_wanted(contract) -> None:
    _, stream = await contract(illegal=[1], resign_at=2, delay_ms=1)
    await stream.seated()
    await stream.ask(decision_id=1)
    assert (await stream.find("decision")).text == "no such action"
    await stream.ask(decision_id=2, attempt=2)
    assert (await stream.find("resign")).decision_id == 2


async def test_the_same_decision_is_answered_well_when_asked_again(contract) -> None:
    player, stream = await contract(illegal=[5])
    await stream.seated()
    await stream.ask(decision_id=5, attempt=2)
    assert (await stream.find("decision")).index == 3
    assert (await player.line())["event"] == "offered"
    assert (await player.line())["attempt"] == 2


@pytest.mark.parametrize("game", ["nim", "nim+short"])
async def test_a_game_is_declined_by_its_short_or_full_id(contract, game) -> None:
    player, stream = await contract(decline=game)
    ref = common.GameRef(id="nim", variants=[common.VariantRef(id="short", version=1)])
    await stream.offer(game=ref)
    assert (await stream.find("decline")).code == "contract.declined"
    assert (await player.line())["game"] == "nim+short"


async def test_a_lost_link_is_told_and_the_session_goes_on(arena, contract) -> None:
    player, stream = await contract()
    stream.abort(grpc.StatusCode.UNAVAILABLE, "gone")
    assert await player.line() == {"event": "lost", "code": "link.lost"}
    stream = await arena.stream()
    await stream.welcome()
    assert await player.line() == {
        "event": "connected",
        "bot": "tester",
        "resumed": True,
    }
    await stream.goodbye("server.stopping", message="going down")
    assert await player.end() == ([{"event": "stopped"}], "", 0)


async def test_a_link_that_is_lost_for_too_long_ends_it(contract) -> None:
    player, stream = await contract(give_up_after=0)
    stream.abort(grpc.StatusCode.UNAVAILABLE, "gone")
    lines, err, code = await player.end()
    assert lines == []
    assert err.startswith("error: ")
    assert err.endswith(" [link.lost]\n")
    assert err.count("\n") == 1
    assert code == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_the_first_signal_lets_its_match_end(contract, number) -> None:
    player, stream = await contract()
    await stream.seated()
    player.program.send_signal(number)
    assert (await stream.find("capacity")).matches == 0
    await stream.ended()
    lines, err, code = await player.end()
    assert [line["event"] for line in lines] == ["offered", "ended", "stopped"]
    assert (err, code) == ("", 0)


async def test_the_second_signal_leaves_a_match_which_is_an_error(contract) -> None:
    player, stream = await contract()
    await stream.seated()
    player.program.send_signal(signal.SIGTERM)
    assert (await stream.find("capacity")).matches == 0
    player.program.send_signal(signal.SIGTERM)
    lines, err, code = await player.end()
    assert [line["event"] for line in lines] == ["offered"]
    assert err == "error: left 1 match unfinished [bot.unfinished]\n"
    assert code == 1


async def test_a_refusal_is_one_line_of_error(arena, start) -> None:
    player = Player(await start(BOT))
    stream = await arena.stream()
    error = common.ErrorInfo(code="auth.unknown-token", message="who are you?")
    await stream.send(server_message(refusal=wire.Refusal(error=error)))
    assert await player.end() == (
        [],
        "error: who are you? [auth.unknown-token]\n",
        1,
    )


@pytest.mark.parametrize(
    ("argument", "code"),
    [
        ("{", "usage.argument"),
        ("[]", "usage.argument"),
        ('{"nonce": "0g"}', "usage.nonce"),
        ('{"encoding": "xml"}', "usage.encoding"),
        ('{"ca": "/no/such"}', "usage.ca"),
    ],
)
def test_a_wrong_argument_is_one_line_of_error(
    monkeypatch, capsys, argument, code
) -> None:
    monkeypatch.setenv("FRITILLARY_ADDRESS", "127.0.0.1:1")
    monkeypatch.setenv("FRITILLARY_TOKEN", TOKEN)
    monkeypatch.setattr(logging.getLogger("fritillary_client"), "handlers", [])
    assert _module().main([argument]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: ")
    assert err.endswith(f" [{code}]\n")
    assert err.count("\n") == 1


def _module() -> Any:
    spec = importlib.util.spec_from_file_location("contract_bot", BOT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
