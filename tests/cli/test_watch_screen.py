"""What a person sees who watches a match at a server, drawn into memory."""

import asyncio
import io
import re
from types import SimpleNamespace
from typing import Any

import attrs
import pytest
from rich.console import Console, ConsoleDimensions
from rich.live import Live
from rich.text import Text
from tests.cli.glass import Glass
from tests.cli.watching import LINK, RESULT, a_match, action, status
from tests.service.rawbot import until

from fritillary.cli.output import cut_to
from fritillary.cli.watch_screen import TerminalOutput, beside
from fritillary.cli.watched import Watched
from fritillary_client import Clock, ClockSettings, LinkError, MatchView, Player

#: Goes up a line and erases it.
ERASED = "\x1b[1A\x1b[2K"


#: Goes to the first row and erases everything.
WIPED = "\x1b[H\x1b[J"


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


class Time:
    """A clock that stands still unless it is moved."""

    def __init__(self) -> None:
        self.s = 100.0

    def __call__(self) -> float:
        return self.s


@pytest.fixture(autouse=True)
def _term(monkeypatch: pytest.MonkeyPatch) -> None:
    # A console without it, or on a dumb one, redraws nothing.
    monkeypatch.setenv("TERM", "xterm")
    shown = SimpleNamespace(monotonic=Time())
    monkeypatch.setattr("fritillary.cli.watch_screen.time", shown)


class Counting(TerminalOutput):
    """Counts how often it looked for what is new."""

    frames = 0

    def _refresh(self, live: Live) -> None:
        super()._refresh(live)
        self.frames += 1


async def shown(console: Console, painter: Any, *updates: Any) -> None:
    """Show updates, each in a frame of its own, then stop."""
    output = Counting(console, Watched(a_match(), now=Time()), painter)
    showing = asyncio.ensure_future(output.show())
    for update in updates:
        if isinstance(update, LinkError):
            output.lost(update, 30)
        else:
            output.told(update)
        await another_frame(output)
    output.close()
    await showing


async def another_frame(output: Counting) -> None:
    """Wait until what is known by now has been drawn."""
    before = output.frames
    await until(lambda: output.frames > before)


def screens(text: str) -> list[list[str]]:
    """Return the rows of each frame, without what moves the cursor."""
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\r", "", text.replace(ERASED, "\f"))
    return [part.split("\n") for part in re.split(r"\f+", plain) if part.strip()]


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


@pytest.mark.parametrize("height", [5, 8])
async def test_on_a_tiny_terminal_the_board_gives_way_to_whose_turn_it_is(
    height: int,
) -> None:
    console, out = terminal(20, height)
    await shown(console, Drawn(17, 75), *PLAY[:5])
    region = screens(out.getvalue())[-1]
    region = region[[row.startswith("-- ") for row in region].index(True) :]
    full = [row for row in region if row]
    assert len(full) <= height
    assert all(len(row) <= 20 for row in full)
    assert full[1].startswith("row 0 of 2 ")
    assert any(row.startswith("> seat 0") for row in full)


async def test_how_a_match_has_ended_is_told_whole_on_a_narrow_terminal() -> None:
    console, out = terminal(20, 10)
    await shown(console, Drawn(), *PLAY)
    told = " ".join(row.strip() for row in screens(out.getvalue())[-1] if row)
    assert told.endswith("played: won by seat 0 (ann), 1 : 0, four-in-line")


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


THREE_CLOCKS = Clock(
    left_ms=3_723_000, base_left_ms=3_600_000, move_left_ms=63_000, bank_left_ms=60_000
)


@pytest.mark.parametrize("width", [20, 24, 30, 40, 60, 80])
@pytest.mark.parametrize("name", ["ann", "a-bot-with-a-name-as-long-as-any"])
async def test_no_clock_is_cut_however_narrow_the_terminal_is(
    width: int, name: str
) -> None:
    clock = ClockSettings(base_ms=3_600_000, move_ms=63_000, bank_ms=60_000)
    seats = tuple(Player(seat=seat, name=name, clock=clock) for seat in range(2))
    console, out = terminal(width, 24)
    painter: Any = Drawn(6, 75)
    output = TerminalOutput(console, Watched(a_match(seats=seats), now=Time()), painter)
    for update in (
        MatchView(event_number=0, ply=0, seats_to_act=(1,)),
        attrs.evolve(status(), clocks=(THREE_CLOCKS,) * 2),
    ):
        output.told(update)
    output.close()
    await output.show()
    rows = [row for row in screens(out.getvalue())[-1] if row]
    assert all(len(row) <= width for row in rows)
    region = rows[[row.startswith("-- ") for row in rows].index(True) :]
    seen = "\n".join(region)
    for part in ("1:00:00", "move 1:03", "bank 1:00"):
        assert seen.count(part) == 2
    assert "\n  seat 0" in seen
    assert "\n> seat 1" in seen


async def test_clocks_tick_without_news() -> None:
    console, out = terminal()
    painter: Any = Drawn()
    time = Time()
    output = Counting(console, Watched(a_match(), now=time), painter)
    showing = asyncio.ensure_future(output.show())
    output.told(MatchView(seats_to_act=(1,)))
    output.told(status())
    for _ in range(3):
        await another_frame(output)
        time.s += 0.25
    await another_frame(output)
    output.close()
    await showing
    clocks = re.findall(r"> seat 1 .*?(\d\.\d) s", out.getvalue())
    assert list(dict.fromkeys(clocks)) == ["9.5", "9.2", "9.0", "8.7"]


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
    assert cut(2) == ["a", "b"]


def test_seats_stand_side_by_side_as_far_as_there_is_room() -> None:
    rows = [Text(row) for row in ("> ann 1:00", "  bobby", "  cy 0:09")]

    def joined(width: int) -> list[str]:
        return [row.plain for row in beside(rows, width)]

    assert joined(36) == ["> ann 1:00     bobby        cy 0:09"]
    assert joined(35) == ["> ann 1:00     bobby", "  cy 0:09"]
    assert joined(22) == [row.plain for row in rows]
    assert beside([], 80) == []


@pytest.mark.parametrize(
    ("height", "hidden"), [(24, ""), (23, " 1 row hidden "), (20, " 4 rows hidden ")]
)
async def test_a_board_that_is_cut_says_so_above(height: int, hidden: str) -> None:
    console, out = terminal(80, height)
    await shown(console, Drawn(21), *PLAY[:2])
    head = next(row for row in screens(out.getvalue())[-1] if row.startswith("-- "))
    assert (hidden in head) if hidden else ("hidden" not in head)
    assert "> seat 1 " in out.getvalue()


@pytest.mark.parametrize("high", [6, 30])
async def test_nothing_remains_where_a_terminal_becomes_smaller_or_larger(
    high: int,
) -> None:
    console, out = terminal()
    painter: Any = Drawn(high, 70)
    watched = Watched(a_match())
    output = TerminalOutput(console, watched, painter)
    glass = Glass(80, 24)

    def settled(since: str = "") -> bool:
        """Say whether the newest event is shown, and what was to be written first."""
        if since not in out.getvalue():
            return False
        glass.feed(out.getvalue())
        out.seek(0)
        out.truncate()
        heads = [row for row in glass.rows if f"ply {watched.ply}  running" in row]
        return bool(heads)

    showing = asyncio.ensure_future(output.show())
    output.told(MatchView())
    output.told(status())
    for number in range(1, 9):
        output.told(action(number))
    await until(settled)
    before = list(glass.rows)
    if high == 6:
        assert before[0] == "      match m-1, lepidoptery, ann : bob\ufffd[31m, 60s+1s"
    for width, height in ((60, 12), (80, 24), (40, 24), (100, 11), (80, 24)):
        glass.resize(width, height)
        console.size = ConsoleDimensions(width, height)
        await until(lambda: settled(WIPED))
        first = [row.startswith("-- ") for row in glass.rows].index(True)
        assert glass.rows[first - 1] == "   8  seat 0 (ann): pass"
        board = [row.split()[1] for row in glass.rows if row.startswith("row ")]
        assert board == [str(number) for number in range(len(board))]
        assert len(board) == 6 or (high > 6 and glass.rows[-1])
        full = [row for row in glass.rows if row]
        assert len(full) == len(set(full))
    assert glass.rows == before
    output.told(action(9))
    await until(settled)
    assert "   9  seat 0 (ann): pass" in glass.rows
    output.close()
    await showing
