"""Where the time of a match went: the ledger, and show --times."""

import asyncio
import json
import re
import time
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Run, one_line
from tests.service.house import SEED, House
from tests.service.rawbot import first_legal

from fritillary import Registry
from fritillary.cli.figures import Figures
from fritillary.cli.ledger import HEADING, Ledger, Row
from fritillary.record.events import (
    ActionTaken,
    Paused,
    Resigned,
    Restarted,
    Ruling,
    SeatTerms,
)
from fritillary.record.reader import read_record
from fritillary.record.terms import (
    ClockSettings,
    Consequence,
    Fault,
    PlayerInfo,
    Source,
    Terms,
    parse_policy,
)

# ------------------------------------------------------------------------- figures


def test_figures_are_measurements_by_nearest_rank() -> None:
    figures = Figures.of(range(100, 0, -1))
    assert figures == Figures(
        count=100, median=50, p95=95, p99=99, most=100, total=5_050
    )
    assert Figures.of([7]) == Figures(1, 7, 7, 7, 7, 7)
    assert Figures.of([1, 2]) == Figures(2, 1, 2, 2, 2, 3)


def test_there_are_no_figures_of_nothing() -> None:
    assert Figures.of([]) is None


# -------------------------------------------------------------------------- ledger


class Record:
    """As much of a record as a ledger reads."""

    def __init__(self, *events: Any) -> None:
        clock = ClockSettings()
        names = ("ann", "b" * 40)
        seats = tuple(SeatTerms(PlayerInfo(name), clock) for name in names)
        self.header: Any = type("Header", (), {"seats": seats, "terms": Terms()})()
        self.events = (self.header, *events)


def ledger_of(*events: Any) -> Ledger:
    record: Any = Record(*events)
    return Ledger(record)


def acted(seat: int = 0, **times: Any) -> ActionTaken:
    return ActionTaken(seat=seat, index=0, **times)


def test_the_link_counts_until_it_is_measured_anew() -> None:
    ledger = ledger_of(
        acted(server_ms=10, think_ms=5),
        acted(server_ms=10, think_ms=5, round_trip_ms=3),
        acted(1, server_ms=10, think_ms=5),
        acted(server_ms=10, think_ms=5),
        acted(server_ms=10, think_ms=5, round_trip_ms=7),
    )
    rows = list(ledger.rows.values())
    assert [row.link_ms for row in rows] == [None, 3, None, 3, 7]
    assert [row.rest_ms for row in rows] == [5, 2, 5, 2, -2]


def test_nothing_is_explained_where_the_bot_reports_nothing() -> None:
    assert Row(number=1, seat=0, charged_ms=9, server_ms=9, link_ms=1).rest_ms is None
    assert Row(number=1, seat=0, charged_ms=9).rest_ms is None


def test_decisions_are_those_that_the_player_made_itself() -> None:
    ledger = ledger_of(
        acted(server_ms=4, charged_ms=4),
        acted(source=Source.STAND_IN),
        acted(source=Source.SUBSTITUTE, charged_ms=7),
    )
    assert [row.number for row in ledger.rows.values() if row.decision] == [1]
    assert ledger.seats[0].decisions == 1
    # What a substitute's seat was charged is charged all the same.
    assert ledger.seats[0].charged_ms == 11


def test_all_that_was_taken_from_a_clock_is_charged() -> None:
    fault = Ruling(
        fault=Fault.ILLEGAL,
        consequence=Consequence.RETRY,
        code="action.illegal",
        message="no",
        seat=1,
        charged_ms=10,
    )
    ledger = ledger_of(
        fault,
        Paused(seat=1, charged_ms=20),
        Restarted(seat=1, charged_ms=30),
        acted(1, server_ms=40, charged_ms=40),
        Paused(),
        Resigned(seat=1, charged_ms=50),
    )
    assert [seat.charged_ms for seat in ledger.seats] == [0, 150]
    # Each has a row of its own, and those that took nothing have none.
    rows = [(row.charged_ms, row.decision) for row in ledger.rows.values()]
    assert rows == [(10, False), (20, False), (30, False), (40, True), (50, False)]
    assert (ledger.seats[1].others, ledger.seats[1].others_ms) == (4, 110)


def test_what_was_charged_for_no_decision_has_a_line_in_the_summary() -> None:
    ledger = ledger_of(
        acted(server_ms=10, charged_ms=10),
        Paused(seat=0, charged_ms=20),
        Restarted(seat=0, charged_ms=5),
    )
    table = [[word.strip() for word in row] for row in ledger.table()[1]]
    assert table == [
        ["seat 0 (ann)", "server", "1", "10", "10", "10", "10"],
        ["", "other", "2", "-", "-", "-", "25"],
        ["", "charged", "3", "-", "-", "-", "35"],
        [f"seat 1 ({'b' * 21}...)", "charged", "0", "-", "-", "-", "0"],
    ]


def test_the_summary_has_a_row_for_what_is_known_of_a_seat() -> None:
    ledger = ledger_of(
        acted(server_ms=10, think_ms=6, round_trip_ms=1, charged_ms=10),
        acted(server_ms=30, think_ms=28, charged_ms=30),
        acted(1, server_ms=5, charged_ms=5),
    )
    columns, rows = ledger.table()
    assert [column.strip() for column in columns[2:]] == [
        "COUNT",
        "MEDIAN",
        "95 %",
        "MAX",
        "SUM",
    ]
    table = [[word.strip() for word in row] for row in rows]
    assert table == [
        ["seat 0 (ann)", "server", "2", "10", "30", "30", "40"],
        ["", "think", "2", "6", "28", "28", "34"],
        ["", "link", "2", "1", "1", "1", "-"],
        ["", "rest", "2", "1", "3", "3", "4"],
        ["", "charged", "2", "-", "-", "-", "40"],
        [f"seat 1 ({'b' * 21}...)", "server", "1", "5", "5", "5", "5"],
        ["", "charged", "1", "-", "-", "-", "5"],
    ]


def test_a_row_stands_under_its_headings() -> None:
    row = Row(number=1, seat=0, charged_ms=1, server_ms=22, think_ms=333, left_ms=4_444)
    assert HEADING == "  charged  server  think  link  rest     left"
    assert row.text() == "        1      22    333     -  -311     4444"


# ---------------------------------------------------------------------------- show


@pytest.fixture(scope="module")
def timed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The record of a match with a bot that dials in."""
    from fritillary.service.arena import Arena
    from fritillary.service.server import Server
    from fritillary.service.tokens import Role, TokenStore
    from fritillary_client import Client

    folder = tmp_path_factory.mktemp("records")

    async def play() -> None:
        registry = Registry()
        registry.load()
        arena = Arena(registry, records=folder, tokens=TokenStore())
        async with arena, Server(arena) as server:
            token = arena.tokens.create("bob", Role.BOT)

            def decide(ask: Any) -> Any:
                time.sleep(0.003)
                return ask.rng.choice(ask.legal)

            client = Client(decide, address=server.address, token=token, matches=1)
            running = asyncio.ensure_future(client.run())
            clock = ClockSettings(base_ms=60_000)
            await arena.play(
                "lepidoptery",
                ["remote:bob", "uniform"],
                match_id="timed",
                clocks=clock,
            )
            await running

    asyncio.run(play())
    return folder / "timed.frec"


def test_times_of_each_decision_stand_in_columns(run: Run, timed: Path) -> None:
    code, said, _ = run("show", timed, "--times")
    assert code == 0
    lines = said.splitlines()
    head = next(line for line in lines if line.endswith(HEADING))
    mine = [line for line in lines if line[4:12] == "  seat 0" and "ruling" not in line]
    for line in mine:
        charged, server, think, link, rest, left = line[len(head) - 45 :].split()
        assert int(server) - int(think) - int(link) == int(rest)
        assert int(think) >= 3
        assert int(charged) == int(server)
        assert 0 < int(left) < 60_000
        assert len(line) <= 80
    # Bots of this process have neither a link nor a report.
    other = next(line for line in lines if line[4:12] == "  seat 1")
    assert other.split()[-4:-1] == ["-", "-", "-"]


def test_times_are_summed_up_by_seat(run: Run, timed: Path) -> None:
    said = run("show", timed, "--times")[1]
    summary = said[said.index("TIMES IN MS") :].splitlines()
    assert [line.split()[-6] for line in summary[1:6]] == [
        "server",
        "think",
        "link",
        "rest",
        "charged",
    ]
    assert all(len(line) <= 80 for line in summary[:8])
    assert "The margin was 50 ms a decision" in said


def test_times_as_data(run: Run, timed: Path) -> None:
    code, said, _ = run("show", timed, "--times", "--json")
    assert code == 0
    data = json.loads(said)
    assert (data["match_id"], data["margin_ms"]) == ("timed", 50)
    mine, other = data["seats"]
    assert mine["think_ms"]["median_ms"] >= 3
    assert other["think_ms"] is other["link_ms"] is other["rest_ms"] is None
    decisions = [one for one in data["decisions"] if one["seat"] == 0]
    assert len(decisions) == mine["decisions"] == mine["server_ms"]["count"]
    assert sum(one["charged_ms"] for one in decisions) == mine["charged_ms"]
    for one in decisions:
        explained = one["think_ms"] + one["link_ms"] + one["rest_ms"]
        assert explained == one["server_ms"]


@pytest.fixture(scope="module")
def troubled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The record of a match with a ruling, a pause, a lost link and a restart.

    The bot answers when it is told to, so that each of them takes some of its time.
    """
    registry = Registry()
    registry.load()
    house = House(tmp_path_factory.mktemp("troubled"))
    some_s = 0.05

    async def play() -> None:
        await house.start(registry)
        bot = house.bot()
        await bot.open()
        hosted = house.arena.create(
            "lepidoptery",
            ("remote:bob", "uniform"),
            match_id="troubled",
            seed=SEED,
            salt=SEED,
            clocks=ClockSettings(base_ms=600_000),
            terms=Terms(policy=parse_policy(["illegal=retry:1,forfeit"])),
        )
        asked = await bot.until("decision_request")
        await asyncio.sleep(some_s)
        wrong = first_legal(asked)
        wrong.decision.index = next(n for n in range(99) if n not in asked.legal)
        await bot.send_all(wrong)
        await bot.until("decision_request", count=2)
        await asyncio.sleep(some_s)
        hosted.pause("coffee")
        await bot.until("decision_closed", count=2)
        hosted.resume()
        await bot.until("decision_request", count=3)
        await bot.close()
        await asyncio.sleep(some_s)
        bot = house.bot()
        await bot.open()
        asked = await bot.until("decision_request")
        await bot.send_all(first_legal(asked))
        await bot.until("decision_request", count=2)
        await asyncio.sleep(some_s)
        await house.stop()
        await bot.close()
        await house.start(registry)
        async with house.bot(play=first_legal) as bot:
            await bot.until("match_ended")
        await house.stop()

    asyncio.run(play())
    return house.records / "troubled.frec"


@pytest.fixture
def charges(troubled: Path) -> dict[int, int]:
    """What each seat was charged, as the events of the record add up."""
    taken = {0: 0, 1: 0}
    for event in read_record(troubled.read_bytes()).events:
        if isinstance(event, (ActionTaken, Ruling, Resigned, Paused, Restarted)):
            taken[event.seat or 0] += event.charged_ms
    return taken


def test_rows_add_up_to_what_was_charged(
    run: Run, troubled: Path, charges: dict[int, int]
) -> None:
    code, said, _ = run("show", troubled, "--times")
    assert code == 0
    head, _, summary = said.partition("TIMES IN MS")
    rows = {0: 0, 1: 0}
    heading = next(line for line in head.splitlines() if line.endswith(HEADING))
    seat = None
    for line in head.splitlines()[head.splitlines().index(heading) + 1 :]:
        named = re.search(r"seat (\d)", line)
        seat = int(named[1]) if named else seat
        figures = line[32:].split()
        if seat is not None and re.fullmatch(r"[-\d]+( +[-\d]+){5}", line[32:].strip()):
            rows[seat] += int(figures[0])
    assert rows == charges
    sums = re.findall(
        r"^ +charged .* (\d+)$|^seat \d .* charged .* (\d+)$", summary, re.MULTILINE
    )
    assert [int(a or b) for a, b in sums] == list(charges.values())
    other = re.search(r"^ +other +3 .* (\d+)$", summary, re.MULTILINE)
    assert other is not None
    assert int(other[1]) >= 150


@pytest.mark.parametrize(
    "line",
    [
        r" {6}ruling  seat 0: illegal -> retry \(.*\)\n {32} +\d+( +-){4} +\d+",
        r" {6}paused \(seat 0\) coffee {6}.*",
        r" {6}server restart \(seat 0\)   .*",
        r" {6}resumed",
    ],
)
def test_what_stopped_a_decision_has_a_row(run: Run, troubled: Path, line: str) -> None:
    said = run("show", troubled, "--times")[1]
    assert re.search(rf"^{line}$", said, re.MULTILINE), said


def test_data_add_up_to_what_was_charged(
    run: Run, troubled: Path, charges: dict[int, int]
) -> None:
    data = json.loads(run("show", troubled, "--times", "--json")[1])
    for seat, taken in charges.items():
        told = data["seats"][seat]
        decided = [one for one in data["decisions"] if one["seat"] == seat]
        others = [one for one in data["other_charges"] if one["seat"] == seat]
        assert told["charged_ms"] == taken
        assert sum(one["charged_ms"] for one in (*decided, *others)) == taken
        assert sum(one["charged_ms"] for one in others) == told["other_charged_ms"]
        assert len(others) == told["other_charges"]
    assert [one["type"] for one in data["other_charges"]] == [
        "ruling",
        "paused",
        "restarted",
    ]


def test_json_alone_is_refused(run: Run, timed: Path) -> None:
    code, out, error = run("show", timed, "--json")
    assert (code, out) == (2, "")
    assert "fritillary export" in one_line(error)
