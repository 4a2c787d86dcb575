"""What a person sees on a terminal, drawn into memory."""

import asyncio
import io
import re
import time
from collections.abc import Iterator
from typing import Any

import pytest
from rich.console import Console, ConsoleDimensions
from tests.cli.glass import Glass
from tests.service.rawbot import until

from fritillary import Registry, UniformBot
from fritillary.cli.human import HumanBot
from fritillary.cli.live import Screen
from fritillary.cli.output import drawn
from fritillary.cli.painting import received_picture
from fritillary.record.signing import Signer
from fritillary.record.terms import PlayerInfo
from fritillary.record.writer import MemorySink
from fritillary.referee.match import Match
from fritillary.referee.player import LocalPlayer
from fritillary.referee.setup import MatchSetup

#: Goes up a line and erases it.
ERASED = "\x1b[1A\x1b[2K"


@pytest.fixture(autouse=True)
def _term(monkeypatch: pytest.MonkeyPatch) -> None:
    # A console without it, or on a dumb one, redraws nothing.
    monkeypatch.setenv("TERM", "xterm")


def terminal(height: int = 24, width: int = 80) -> tuple[Console, io.StringIO]:
    out = io.StringIO()
    console = Console(
        file=out,
        force_terminal=True,
        width=width,
        height=height,
        highlight=False,
        color_system=None,
    )
    return console, out


async def shown(screen: Screen) -> None:
    for ply in (3, 4):
        screen.picture = f"board {ply}\nsecond line"
        screen.add(ply, f"move {ply}")
    screen.close()
    await screen.show()


async def test_what_happened_stays_in_sight_below_a_board_that_is_too_high() -> None:
    console, out = terminal(12)
    screen = Screen(console)
    screen.picture = "\n".join(f"row {row}" for row in range(30))
    screen.add(3, "move 3")
    screen.close()
    await screen.show()
    frame = out.getvalue().partition("move 3")[0]
    assert [row for row in range(30) if f"row {row}\n" in frame] == list(range(10))
    # The last one, which nothing is put above, is shown whole.
    assert out.getvalue().endswith("row 28\nrow 29\n")


@pytest.mark.parametrize(
    ("height", "board", "told"),
    [
        (1, [], ["   1  seat 0"]),
        (3, ["row 0"], ["   1  seat 0"]),
        (5, ["row 0", "row 1"], ["   1  seat 0", "(greedy): run2 7-8"]),
        (8, ["row 0", "row 1", "row 2", "row 3", "row 4"], None),
    ],
)
async def test_a_tiny_terminal_has_room_for_the_board_and_for_what_happened(
    height: int, board: list[str], told: list[str] | None
) -> None:
    console, out = terminal(height, 20)
    screen = Screen(console)
    screen.picture = "\n".join(f"row {row}" for row in range(9))
    screen.add(1, "seat 0 (greedy): run2 7-8")
    shows = asyncio.ensure_future(screen.show())
    # Until then nothing ends, so that there is one frame.
    await until(lambda: "seat 0" in out.getvalue())
    frame = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\r", "", out.getvalue()).split("\n")
    below = told or ["   1  seat 0", "(greedy): run2 7-8"]
    assert [row.rstrip() for row in frame if row.strip()] == [*board, *below]
    assert len(frame) <= height
    screen.close()
    await shows


@pytest.mark.parametrize("paced", [False, True])
async def test_a_board_is_drawn_anew_where_the_terminal_has_another_size(
    paced: bool,
) -> None:
    console, out = terminal(24, 80)
    glass = Glass(80, 24)
    screen = Screen(console, pace_s=3600 if paced else 0)
    screen.picture = "\n".join(f"row {row} ".ljust(70, "#") for row in range(9))
    screen.add(1, "move 1")
    if paced:
        # It is waited for, and meanwhile the size changes.
        screen.add(2, "move 2")
    shows = asyncio.ensure_future(screen.show())
    await until(lambda: "move 1" in out.getvalue())
    for width, height in ((40, 12), (20, 5), (200, 60), (80, 24)):
        glass.feed(out.getvalue())
        out.seek(0)
        out.truncate()
        glass.resize(width, height)
        console.size = ConsoleDimensions(width, height)
        await until(lambda: "move 1" in out.getvalue())
        glass.feed(out.getvalue())
        rows = [row for row in glass.rows if row]
        assert rows[-1] == "   1  move 1"
        board = rows[:-1] if width >= 70 else [row for row in rows if "#" in row]
        assert [row[:6] for row in board] == [f"row {n} " for n in range(len(board))]
        assert len(board) == min(9, height - 2)
        out.seek(0)
        out.truncate()
    shows.cancel()
    await asyncio.gather(shows, return_exceptions=True)


@pytest.mark.parametrize(("width", "rows"), [(20, "a bc"), (10, "a …")])
def test_rows_of_a_picture_are_cut_and_not_broken(width: int, rows: str) -> None:
    console, _ = terminal(width=width)
    lines = drawn(f"{'a bc':>11}\n12", console).plain.split("\n")
    assert lines[0].strip() == rows
    note = ["(all of it takes 11 columns)"] if width == 10 else []
    assert lines[1:] == ["12", *note]
    assert drawn("x" * 500, Console(file=io.StringIO())).plain == "x" * 500


async def test_the_board_is_redrawn_in_place_and_the_last_one_stays() -> None:
    console, out = terminal()
    await shown(Screen(console))
    text = out.getvalue()
    # Two boards of four rows were drawn, and both were taken away again.
    assert text.count(ERASED) >= 6
    last = text.rpartition(ERASED)[2]
    assert "board 4\nsecond line\n" in last
    assert "move" not in last
    assert "board 3" not in last


async def test_pauses_take_no_more_time_than_is_wanted() -> None:
    console, _ = terminal()
    begin = time.monotonic()
    await shown(Screen(console, pace_s=3600, whole_s=0.1))
    assert time.monotonic() - begin < 60


async def test_where_nobody_looks_on_there_is_a_line_for_each_move() -> None:
    out = io.StringIO()
    await shown(Screen(Console(file=out), pace_s=3600))
    assert out.getvalue() == ("   3  move 3\n   4  move 4\nboard 4\nsecond line\n")


def test_a_picture_from_a_server_cannot_act_on_the_terminal() -> None:
    assert received_picture("a\x1b[2Jb\nc\x07") == "a\ufffd[2Jb\nc\ufffd"


@pytest.fixture
def game() -> Any:
    registry = Registry()
    registry.load()
    return registry.game("lepidoptery")


async def play(game: Any, console: Console, *lines: str) -> None:
    """Let a person type some lines, then resign."""
    typed: Iterator[str] = iter([*lines, "resign"])
    human = HumanBot(console, lambda _: next(typed))
    setup = MatchSetup(
        game=game,
        players=(
            LocalPlayer(human, PlayerInfo("human")),
            LocalPlayer(UniformBot(), PlayerInfo("uniform")),
        ),
        seed=b"s" * 32,
        salt=b"t" * 32,
    )
    await Match(setup, MemorySink(), Signer.generate()).run()


@pytest.mark.parametrize(("height", "listed"), [(24, False), (60, True)])
async def test_actions_are_listed_unasked_only_where_the_board_stays(
    game: Any, height: int, listed: bool
) -> None:
    console, out = terminal(height)
    await play(game, console)
    text = out.getvalue()
    assert ("\n 1) " in text) is listed
    assert ("'legal' lists them" in text) is not listed
    # From the board's first row to the prompt all is on one screen.
    board = text[text.index("Lepidoptery - your turn") :]
    assert board.count("\n") < height


@pytest.mark.parametrize("width", [40, 80, 100, 200])
async def test_a_list_of_actions_fits_and_stands_in_columns(
    game: Any, width: int
) -> None:
    console, out = terminal(24, width)
    await play(game, console, "legal")
    rows = [row for row in out.getvalue().splitlines() if re.match(r" *\d+\) ", row)]
    assert all(len(row) <= min(width, 100) for row in rows)
    starts = [[m.start() for m in re.finditer(r"\) ", r)] for r in rows]
    assert all(start == starts[0][: len(start)] for start in starts)
    numbers = [int(n) for row in rows for n in re.findall(r"(\d+)\) ", row)]
    assert numbers == list(range(1, len(numbers) + 1))
