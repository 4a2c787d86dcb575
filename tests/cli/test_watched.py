"""What a person sees who watches a match at a server, drawn into memory."""

import asyncio
import io
import re
from typing import Any

import attrs
import pytest
from rich.console import Console
from rich.text import Text

from fritillary.app.application import Application
from fritillary.cli.painting import Painter
from fritillary.cli.watch_screen import TerminalOutput, cut_to
from fritillary.cli.watched import Watched, duration_text, ticked
from fritillary_client import (
    Clock,
    ClockSettings,
    Event,
    LinkError,
    Match,
    MatchResult,
    MatchStatus,
    MatchView,
    Player,
)

GAME = "lepidoptery"

#: Goes up a line and erases it.
ERASED = "\x1b[1A\x1b[2K"


class Time:
    """A clock that stands still unless it is moved."""

    def __init__(self) -> None:
        self.s = 100.0

    def __call__(self) -> float:
        return self.s


@pytest.fixture
def time() -> Time:
    return Time()


def a_match(**changes: Any) -> Match:
    clock = ClockSettings(base_ms=60_000, increment_ms=1_000)
    match = Match(
        match_id="m-1",
        game=GAME,
        full_id=GAME,
        rules_version=1,
        options={},
        seats=(
            Player(seat=0, name="ann", clock=clock),
            Player(seat=1, name="bob\x1b[31m", clock=clock),
        ),
        phase="running",
    )
    return attrs.evolve(match, **changes)


def action(number: int, seat: int = 0, text: str = "pass") -> Event:
    return Event(
        number=number, ply=number, kind="action", seat=seat, text=text, source="player"
    )


def status(phase: str = "running", **more: Any) -> MatchStatus:
    clocks = (
        Clock(left_ms=50_000, base_left_ms=50_000),
        Clock(left_ms=9_500, base_left_ms=9_500),
    )
    return MatchStatus(phase=phase, clocks=clocks, **more)


RESULT = MatchResult(
    kind="played", reason="four-in-line", scores=(1, 0), placing=(1, 2)
)


# --------------------------------------------------------------------------- lines


def lines_of(watched: Watched, *updates: Any) -> list[str]:
    return [line for update in updates for line in watched.take(update)]


def test_a_late_joiner_is_told_the_past_then_where_the_match_is(time: Time) -> None:
    watched = Watched(a_match(), now=time)
    waiting = status("waiting", waiting_for=(1,), waiting_left_ms=28_400)
    lines = lines_of(watched, MatchView(event_number=2, ply=2), waiting)
    assert lines == []
    assert watched.catching_up
    lines = lines_of(watched, action(1), action(2, 1, "single 3"))
    assert lines == [
        "   1  seat 0 (ann): pass",
        "   2  seat 1 (bob\ufffd[31m): single 3",
        "      waiting for seat 1 (bob\ufffd[31m), whose link was lost, 0:28 left",
    ]
    assert lines_of(watched, status("running")) == ["      running"]
    assert not watched.catching_up


def test_phases_have_a_line_each_where_no_event_tells_of_them(time: Time) -> None:
    watched = Watched(a_match(phase="offered"), now=time)
    lines = lines_of(
        watched,
        MatchView(),
        status("offered", waiting_for=(0,)),
        status("preparing", waiting_for=(0, 1)),
        status("running"),
        status("running"),
        Event(number=1, ply=0, kind="paused", message="lunch"),
        status("paused", message="lunch"),
        Event(number=2, ply=0, kind="resumed"),
        status("running"),
        status("closing"),
        Event(number=3, ply=0, kind="ended"),
        status("ended"),
    )
    assert lines == [
        "      waiting for seat 0 (ann) to take the seat",
        "      waiting for seat 0 (ann) and seat 1 (bob\ufffd[31m) to get ready",
        "      running",
        "   0  paused lunch",
        "   0  resumed",
    ]


def test_the_end_is_told_from_the_result(time: Time) -> None:
    watched = Watched(a_match(), now=time)
    assert watched.end_line() == ""
    watched.take(RESULT)
    assert watched.end_line() == "played: won by seat 0 (ann), 1 : 0, four-in-line"


# -------------------------------------------------------------------------- clocks


def test_only_the_clock_of_the_seat_that_is_asked_runs(time: Time) -> None:
    watched = Watched(a_match(), now=time)
    lines_of(watched, MatchView(seats_to_act=(1,)), status())
    assert watched.clock_texts(0) == (["0:50"], False)
    time.s += 1.25
    assert watched.clock_texts(0) == (["0:50"], False)
    assert watched.clock_texts(1) == (["8.2 s"], True)
    time.s += 60
    assert watched.clock_texts(1) == (["0.0 s"], True)


@pytest.mark.parametrize("phase", ["paused", "closing", "ended"])
def test_no_clock_runs_while_a_match_stands_still(time: Time, phase: str) -> None:
    watched = Watched(a_match(), now=time)
    lines_of(watched, MatchView(seats_to_act=(1,)), status(phase))
    time.s += 5
    assert watched.clock_texts(1) == (["9.5 s"], False)


def test_no_clock_runs_without_a_link(time: Time) -> None:
    watched = Watched(a_match(), now=time)
    lines_of(watched, MatchView(seats_to_act=(1,)), status())
    time.s += 1
    watched.lose()
    time.s += 5
    assert watched.clock_texts(1)[0] == ["8.5 s"]
    watched.take(status())
    assert watched.clock_texts(1)[0] == ["9.5 s"]


def test_the_bank_is_touched_when_the_move_is_over_time() -> None:
    clock = Clock(left_ms=15_000, move_left_ms=5_000, bank_left_ms=10_000)
    assert ticked(clock, 4_000) == Clock(
        left_ms=11_000, move_left_ms=1_000, bank_left_ms=10_000
    )
    assert ticked(clock, 7_000) == Clock(
        left_ms=8_000, move_left_ms=0, bank_left_ms=8_000
    )
    assert ticked(clock, 99_000) == Clock(left_ms=0, move_left_ms=0, bank_left_ms=0)


@pytest.mark.parametrize(
    ("ms", "text"),
    [
        (0, "0.0 s"),
        (99, "0.0 s"),
        (9_999, "9.9 s"),
        (10_000, "0:10"),
        (65_999, "1:05"),
        (3_600_000, "1:00:00"),
    ],
)
def test_times_are_cut_and_never_more_than_they_are(ms: int, text: str) -> None:
    assert duration_text(ms) == text


# ------------------------------------------------------------------------ pictures


@pytest.fixture(scope="module")
def app() -> Application:
    return Application()


def lepidoptery(app: Application) -> tuple[dict[str, Any], Any]:
    """Return options and a spectator's observation as they travel."""
    from fritillary.core.dealer import FastDealer

    game = app.registry.game(GAME)
    options = game.options()
    state = game.new(FastDealer(1).stream("deal"), options, 2)
    seen = game.codec.observation_to_data(game.observe(state, None))
    return game.codec.options_to_data(options), seen


def test_a_game_that_is_installed_draws_its_picture_here(app: Application) -> None:
    options, seen = lepidoptery(app)
    painter = Painter(app, a_match(options=options))
    assert painter.wanted == ""
    picture = painter.picture(MatchView(observation=seen, picture="not this"))
    assert picture.startswith("Lepidoptery - ")
    assert painter.picture(MatchView()) == ""
    nonsense = painter.picture(MatchView(observation={"seat": "x"}))
    assert nonsense.startswith("(the server's observation cannot be read: ")


@pytest.mark.parametrize(
    "changes",
    [
        {"full_id": "backgammon", "game": "backgammon"},
        {"rules_version": 99},
        {"variants": (("no-pass", 99),)},
        {"options": {"heights": "tall"}},
    ],
)
def test_else_the_server_draws_it_and_cannot_act_on_the_terminal(
    app: Application, changes: dict[str, Any]
) -> None:
    painter = Painter(app, a_match(**changes))
    assert painter.wanted == "text"
    assert painter.picture(MatchView(picture="a\x1b[2J\nb")) == "a\ufffd[2J\nb"


# ------------------------------------------------------------------------ terminal


class Drawn:
    """A painter of a board with so many rows."""

    def __init__(self, rows: int = 6, wide: int = 30) -> None:
        self.rows = rows
        self.wide = wide

    def picture(self, view: MatchView) -> str:
        return "\n".join(
            f"row {row} of {view.ply} ".ljust(self.wide, "#")
            for row in range(self.rows)
        )


def terminal(
    width: int = 80, height: int = 24, *, color: bool = False
) -> tuple[Console, io.StringIO]:
    out = io.StringIO()
    return (
        Console(
            file=out,
            force_terminal=True,
            width=width,
            height=height,
            highlight=False,
            markup=False,
            soft_wrap=True,
            color_system="standard" if color else None,
        ),
        out,
    )


@pytest.fixture(autouse=True)
def _term(monkeypatch: pytest.MonkeyPatch) -> None:
    # A console without it, or on a dumb one, redraws nothing.
    monkeypatch.setenv("TERM", "xterm")


async def shown(console: Console, painter: Any, *updates: Any) -> None:
    """Show updates, each for itself, then stop."""
    output = TerminalOutput(console, Watched(a_match()), painter)
    showing = asyncio.ensure_future(output.show())
    for update in updates:
        if isinstance(update, LinkError):
            output.lost(update, 30)
        else:
            output.told(update)
        # Longer than a frame.
        await asyncio.sleep(0.08)
    output.close()
    await showing


def screens(text: str) -> list[list[str]]:
    """Return the rows of each frame, without what moves the cursor."""
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\r", "", text.replace(ERASED, "\f"))
    return [part.split("\n") for part in re.split(r"\f+", plain) if part.strip()]


LINK = LinkError("the link to 127.0.0.1:1 was lost (UNAVAILABLE: Socket closed)")
PLAY = (
    MatchView(event_number=1, ply=1, seats_to_act=(1,)),
    status(),
    action(1),
    action(2, 1),
    MatchView(event_number=2, ply=2, seats_to_act=(0,)),
    status(),
    LINK,
    MatchView(event_number=2, ply=2, seats_to_act=(0,)),
    status("waiting", waiting_for=(0,), waiting_left_ms=29_900),
    RESULT,
)


@pytest.mark.parametrize(("width", "height"), [(80, 24), (60, 24), (40, 12)])
@pytest.mark.parametrize("rows", [1, 17, 40])
async def test_what_is_redrawn_fits_the_terminal(
    width: int, height: int, rows: int
) -> None:
    console, out = terminal(width, height)
    await shown(console, Drawn(rows, 75), *PLAY[:-1])
    for screen in screens(out.getvalue()):
        region = screen[[row.startswith("-- ") for row in screen].index(True) :]
        assert len([row for row in region if row]) < height
        assert all(len(row) <= width for row in region)


async def test_the_board_is_redrawn_in_place_and_the_last_one_stays() -> None:
    console, out = terminal()
    await shown(console, Drawn(), *PLAY)
    text = out.getvalue()
    assert text.count("   2  seat 1 (bob\ufffd[31m): pass") == 1
    last = screens(text)[-1]
    assert last[0].startswith("row 0 of 2 ")
    assert last[5].startswith("row 5 of 2 ")
    assert last[6] == "played: won by seat 0 (ann), 1 : 0, four-in-line"
    # Nothing of what bots are called acts on the terminal.
    assert "\x1b[31m" not in text


async def test_where_the_match_is_stands_above_the_board_and_whose_turn_below() -> None:
    console, out = terminal()
    await shown(console, Drawn(), *PLAY)
    frames = ["\n".join(screen) for screen in screens(out.getvalue())]
    assert out.getvalue().count("      the link to 127.0.0.1:1 was lost\n") == 1
    assert out.getvalue().count("      the link is back\n") == 1
    assert any("-- lepidoptery  m-1  ply 2  running -" in frame for frame in frames)
    assert any("> seat 0 (ann)" in frame and "0:50" in frame for frame in frames)
    lost = next(frame for frame in frames if "no link" in frame)
    assert "no link; next try in 30 s" in lost
    waiting = next(frame for frame in frames if "waiting for seat 0 -" in frame)
    assert "away, 0:29 to come back" in waiting


async def test_clocks_tick_without_news() -> None:
    console, out = terminal()
    painter: Any = Drawn()
    output = TerminalOutput(console, Watched(a_match()), painter)
    showing = asyncio.ensure_future(output.show())
    output.told(MatchView(seats_to_act=(1,)))
    output.told(status())
    await asyncio.sleep(0.7)
    output.close()
    await showing
    clocks = re.findall(r"> seat 1 .*?(\d\.\d) s", out.getvalue())
    assert clocks[0] == "9.5"
    assert 2 <= len(set(clocks)) <= 8


async def test_colours_are_left_out_where_they_are_not_wanted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("NO_COLOR")
    console, out = terminal(color=True)
    await shown(console, Drawn(), *PLAY[:2])
    assert "\x1b[32m" in out.getvalue()
    monkeypatch.setenv("NO_COLOR", "1")
    console, out = terminal(color=True)
    await shown(console, Drawn(), *PLAY[:2])
    assert not re.search(r"\x1b\[(3\d|1;3\d)m", out.getvalue())


def test_a_board_without_room_loses_empty_rows_then_its_last() -> None:
    rows = [Text(row) for row in ("a", "", "b", "", "c")]

    def cut(most: int) -> list[str]:
        return [row.plain for row in cut_to(rows, most)]

    assert cut(5) == ["a", "", "b", "", "c"]
    assert cut(4) == ["a", "", "b", "c"]
    assert cut(3) == ["a", "b", "c"]
    assert cut(2) == ["a", "(2 more rows; a higher window shows them)"]
