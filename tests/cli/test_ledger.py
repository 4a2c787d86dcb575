"""Where the time of a match went: the ledger, and show --times."""

import asyncio
import json
import time
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Run, one_line

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
from fritillary.record.terms import (
    ClockSettings,
    Consequence,
    Fault,
    PlayerInfo,
    Source,
    Terms,
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
    assert list(ledger.rows) == [1]
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
    assert other["think_ms"] is other["link_ms"] is other["unexplained_ms"] is None
    decisions = [one for one in data["decisions"] if one["seat"] == 0]
    assert len(decisions) == mine["decisions"] == mine["server_ms"]["count"]
    assert sum(one["charged_ms"] for one in decisions) == mine["charged_ms"]
    for one in decisions:
        explained = one["think_ms"] + one["link_ms"] + one["unexplained_ms"]
        assert explained == one["server_ms"]


def test_json_alone_is_refused(run: Run, timed: Path) -> None:
    code, out, error = run("show", timed, "--json")
    assert (code, out) == (2, "")
    assert "fritillary export" in one_line(error)
