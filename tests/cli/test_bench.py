"""fritillary bench link: against a server of its own, and against one that runs."""

import asyncio
import json
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen
from tests.cli.conftest import Program, Run, one_line

from fritillary.cli.bench_link import PING, Results, Wish
from fritillary_client import Client, LinkError, Referee, RefusedError
from fritillary_client.echo import EchoBot, Echoed, Load, Security

# Ten processes one after the other take minutes on a busy machine.
pytestmark = [pytest.mark.system, pytest.mark.timeout(600)]

Start = Callable[..., Program]

WORDS = ("bench", "link", "--count", 20)


@frozen
class House:
    """A server that runs, and tokens for it."""

    address: str
    referee: str
    spectator: str
    bots: tuple[str, ...]

    def there(self, *tokens: str) -> tuple[str, ...]:
        words = [word for token in tokens for word in ("--token", token)]
        return ("--server", self.address, *words)


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    data = tmp_path_factory.mktemp("server") / "data"

    def token(name: str, role: str) -> str:
        words = ("token", "create", name, "--role", role, "--data", data)
        return Program(*words).end()[1].strip()

    bots = tuple(token(f"b{number}", "bot") for number in range(3))
    tokens = (token("ref", "referee"), token("spec", "spectator"), bots)
    server = Program("serve", "--address", "127.0.0.1:0", "--data", data)
    yield House(server.line().partition(" on ")[2], *tokens)
    server.signal()
    server.end()


@pytest.fixture
def run(start: Start) -> Run:
    """Runs commands as processes: they leave no loops behind in this one."""
    return lambda *words: start(*words).end()


def servers(folder: Path) -> list[str]:
    """Return the commands of servers that benchmarks have started and not ended.

    Args:
        folder: in which they have their data: others may run beside this test.
    """
    found = subprocess.run(
        ["ps", "-ww", "-eo", "args"], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    return [line for line in found if f"{folder}/fritillary-bench-" in line]


# ------------------------------------------------------------- a server of its own


def test_without_a_server_it_starts_one_and_measures_alone_and_beside_others(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What the environment says of other servers does not matter.
    monkeypatch.setenv("FRITILLARY_TOKEN", "frt_bot_elsewhere")
    monkeypatch.setenv("FRITILLARY_ADDRESS", "192.0.2.1:1")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    code, said, note = run(*WORDS, "--streams", 2, "--game", "lepidoptery")
    assert code == 0
    head, _, titles, *rows = said.splitlines()
    assert head.startswith("link to 127.0.0.1:")
    assert head.endswith(", lepidoptery")
    assert titles.split()[:4] == ["IN", "MS", "COUNT", "MEDIAN"]
    assert [row[:15].strip() for row in rows[:6]] == [
        "alone",
        "",
        "",
        "beside 2 others",
        "",
        "",
    ]
    for row in rows[:6]:
        count, *figures = row[30:].split()
        assert count == "20"
        assert sorted(map(float, figures)) == [float(figure) for figure in figures]
    assert rows[-2].startswith("alone: a margin of ")
    assert rows[-1].startswith("beside 2 others: a margin of ")
    assert "50 ms" in note
    assert all(len(row) <= 80 for row in rows)
    assert servers(tmp_path) == []
    assert list(tmp_path.glob("fritillary-bench-*")) == []


def test_figures_as_data(run: Run) -> None:
    code, said, errors = run(*WORDS, "--json")
    assert (code, errors) == (0, "")
    data = json.loads(said)
    assert data["whole"] is True
    kinds = [(one["streams"], one["what"]) for one in data["figures"]]
    assert kinds == [(0, "ping"), (0, "decision"), (0, "clock")]
    for one in data["figures"]:
        assert one["count"] == 20
        assert (
            0
            <= one["median_ms"]
            <= one["p95_ms"]
            <= one["p99_ms"]
            <= one["max_ms"]
            <= one["sum_ms"]
        )
    (margin,) = data["margins"]
    assert margin["all_ms"] > data["figures"][2]["max_ms"]


def interrupted(
    start: Start, folder: Path, wait_s: float
) -> tuple[dict[str, Any], str]:
    """Return the data and the errors of a measurement that ends with Ctrl-C."""
    words = ("bench", "link", "--count", 10_000_000, "--json")
    program = start(*words, TMPDIR=str(folder))
    for _ in range(1200):
        if servers(folder):
            break
        time.sleep(0.05)
    time.sleep(wait_s)
    program.signal()
    out, errors = program.process.communicate(timeout=60)
    assert program.process.returncode == 130
    assert "Traceback" not in errors
    assert servers(folder) == []
    data = json.loads(out)
    assert data["whole"] is False
    return data, errors


def test_ctrl_c_gives_the_figures_so_far(start: Start, tmp_path: Path) -> None:
    data, errors = interrupted(start, tmp_path, 1.0)
    # That it measures already cannot be seen: a busy machine is given more time.
    for wait_s in (2.0, 4.0, 8.0, 16.0):
        if data["figures"]:
            break
        assert errors == "interrupted\n"
        data, errors = interrupted(start, tmp_path, wait_s)
    assert [one["what"] for one in data["figures"]] == ["ping"]
    count = data["figures"][0]["count"]
    assert 0 < count < 10_000_000
    assert errors == (f"interrupted: measured were {count} of 10000000 (alone: ping)\n")


def test_a_game_that_is_not_there_is_one_clear_line(run: Run) -> None:
    code, _, errors = run(*WORDS, "--game", "backgammon")
    assert code == 2
    assert errors.splitlines()[-1].startswith("error: no game 'backgammon'")


# ----------------------------------------------------------------- one that runs


def test_a_bots_token_alone_measures_pings(run: Run, house: House) -> None:
    code, said, note = run(*WORDS, *house.there(house.bots[0]))
    assert code == 0
    assert said.splitlines()[3].split()[:3] == ["alone", "ping", "20"]
    assert "decision" not in said
    assert "referee's token" in note


def test_with_a_referees_token_decisions_are_measured_and_others_play(
    run: Run, house: House
) -> None:
    words = house.there(house.referee, *house.bots)
    code, said, errors = run(*WORDS, "--streams", 2, "--json", *words)
    assert (code, errors) == (0, "")
    figures = json.loads(said)["figures"]
    assert [one["streams"] for one in figures] == [0, 0, 0, 2, 2, 2]
    # What was begun was called off.
    code, said, _ = run("watch", *house.there(house.referee))
    assert (code, said) == (0, "")


def test_a_bot_that_is_connected_is_not_thrown_out(
    run: Run, start: Start, house: House
) -> None:
    _, playing, *others = house.bots
    bot = start("bot", "uniform", "--address", house.address, "--token", playing)
    assert bot.error_line().startswith("connected to")
    said = "bot 'b1' is connected already; dial in with a token of its own"
    for words in (
        house.there(playing, house.referee),
        (*house.there(*others, playing, house.referee), "--streams", 1),
    ):
        code, _, error = run(*WORDS[:2], "--count", 1, *words)
        assert code == 1
        assert said in error.splitlines()[-1]
    bot.signal()
    assert bot.end()[0] == 0


def test_what_goes_wrong_is_one_clear_line(
    run: Run, house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FRITILLARY_TOKEN", raising=False)
    bot, referee = house.bots[0], house.referee
    for words, ends, said in (
        (house.there(), 2, "give a token of its own"),
        (house.there(referee), 2, "give a token of its own"),
        ((*house.there(bot), "--streams", 1), 2, "needs a referee's token"),
        ((*house.there(bot, referee), "--streams", 1), 2, "1 more token"),
        (house.there(house.spectator), 1, "the token is of a spectator"),
        (house.there("frt_bot_x"), 1, "does not know this token"),
        (("--server", "127.0.0.1:1", "--token", bot), 1, "no server answers"),
        (("--server", "there", "--token", bot), 2, "HOST:PORT"),
        (("--ca", "x.pem"), 2, "--server"),
        (("--count", 0), 2, "--count"),
    ):
        code, out, error = run(*WORDS[:2], *words)
        assert (code, out) == (ends, ""), words
        assert said in one_line(error), words


# ---------------------------------------------------------------------- the echo bot


async def test_an_echo_bot_answers_pings_and_plays(house: House) -> None:
    heard: list[Echoed] = []
    async with (
        EchoBot(house.address, house.bots[0]) as bot,
        Referee(house.address, house.referee) as referee,
    ):
        assert bot.name == "b0"
        assert 0 < await bot.ping() < 10_000
        bot.decided = heard.append
        await bot.play(referee, "lepidoptery", 2)
        ended = await anext(referee.list_matches(page_size=1))
    assert ended.phase == "ended"
    assert ended.labels == {"purpose": "bench-link"}
    assert ended.seats[0].name == "echo"
    assert bot.decisions == len(heard) > 0
    assert all(one.round_trip_ms > 0 <= one.server_ms for one in heard)


async def test_a_match_of_an_echo_bot_that_is_cancelled_is_called_off(
    house: House,
) -> None:
    async with (
        EchoBot(house.address, house.bots[0]) as bot,
        Referee(house.address, house.referee) as referee,
    ):
        playing = asyncio.ensure_future(bot.play(referee, "lost-cities", 2))
        decided = asyncio.Event()
        bot.decided = lambda _: decided.set()
        await decided.wait()
        playing.cancel()
        await asyncio.gather(playing, return_exceptions=True)
        latest = await anext(referee.list_matches(page_size=1))
    assert latest.result is not None
    assert latest.result.kind in {"withdrawn", "played"}


async def pinged(bot: EchoBot) -> None:
    for _ in range(1000):
        await bot.ping()


async def test_an_echo_bot_that_is_replaced_says_so(house: House) -> None:
    token = house.bots[0]
    other = Client(lambda _: 0, address=house.address, token=token, name="other")
    async with EchoBot(house.address, token) as first:
        playing = asyncio.create_task(other.run())
        with pytest.raises(LinkError, match="goodbye"):
            await pinged(first)
        with pytest.raises(LinkError):
            await first.ping()
    other.stop()
    await playing


async def test_an_echo_bot_that_is_refused_says_why(house: House) -> None:
    with pytest.raises(RefusedError, match="does not know this token"):
        await EchoBot(house.address, "frt_bot_x").__aenter__()


def test_nothing_is_told_of_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    none = Security(tls=None, ca=None, cert=None, key=None)
    wish = Wish(server="a:1", tokens=[], security=none, count=1, streams=0, game="nim")
    results = Results(wish)
    results.values(0, PING)
    results.tell(as_json=False, whole=False)
    assert capsys.readouterr().out == ""
    results.tell(as_json=True, whole=False)
    assert json.loads(capsys.readouterr().out)["figures"] == []


def test_tokens_are_not_shown(house: House) -> None:
    none: Any = Security(tls=None, ca=None, cert=None, key=None)
    load = Load(
        address="a:1",
        security=none,
        game="nim",
        seats=2,
        referee="secret",
        bots=["secret"],
    )
    assert "secret" not in repr(load)
    assert json.loads(load.to_json())["referee"] == "secret"
