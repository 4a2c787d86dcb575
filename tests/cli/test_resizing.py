"""A match that is watched, here or at a server, on a terminal that changes its size."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.cli.houses import GAME, SEED, House, Start, opened
from tests.cli.terminals import Terminal

SIZES = [(40, 12), (20, 5), (200, 60), (80, 24)]

pytestmark = pytest.mark.system


@pytest.fixture
def players(tmp_path: Path) -> tuple[str, ...]:
    """Two, of whom the second one never decides: the match stands still."""
    program = tmp_path / "bot.py"
    program.write_text(
        "import threading\nfrom fritillary_client import main\n"
        "main(lambda ask: threading.Event().wait(300), name='still')\n"
    )
    return ("-s", "greedy", "-s", f"exec:{sys.executable} {program}")


@pytest.fixture
def terminals() -> Iterator[Callable[..., Terminal]]:
    """Starts commands on terminals; all are ended after the test."""
    started: list[Terminal] = []

    def start(*words: object) -> Terminal:
        started.append(Terminal(*words))
        return started[-1]

    yield start
    for one in started:
        if one.process.poll() is None:
            one.process.kill()
            one.end()


def board(rows: list[str]) -> list[str]:
    """Return the rows of the board that are seen."""
    return [row for row in rows if row.startswith(("┌", "│", "└"))]


def test_a_match_here_is_drawn_anew_in_every_size(
    terminals: Callable[..., Terminal], players: tuple[str, ...]
) -> None:
    terminal = terminals("match", GAME, *players, *SEED, "--watch")
    told = "   1  seat 0 (greedy): "
    before = list(terminal.until_seen(lambda rows: any(told in row for row in rows)))
    first = [row.startswith("Lepidoptery") for row in before].index(True)
    for width, height in SIZES:

        def fits(rows: list[str], width: int = width, height: int = height) -> bool:
            full = [row for row in rows if row]
            return (
                rows[0].startswith("Lepidoptery")
                # There is nothing twice, and nothing of another size.
                and sum(row.startswith("Lepidoptery") for row in rows) == 1
                and all(row.endswith("…") for row in board(rows)) is (width < 80)
                and "seat 0" in "".join(full[-2:])
                and len(board(rows)) == (1 if height == 5 else 8)
            )

        terminal.resize(width, height)
        terminal.until_seen(fits)
    # What was above the board is gone, and the board is as it was.
    assert [row for row in terminal.glass.rows if row] == [
        row for row in before[first:] if row
    ]
    terminal.process.send_signal(2)
    assert terminal.end() == 130


def test_a_match_at_a_server_is_drawn_anew_in_every_size(
    start: Start,
    terminals: Callable[..., Terminal],
    players: tuple[str, ...],
    tmp_path: Path,
) -> None:
    with opened(tmp_path / "data") as house:
        _watch_at(house, start, terminals, players)


def _watch_at(
    house: House,
    start: Start,
    terminals: Callable[..., Terminal],
    players: tuple[str, ...],
) -> None:
    words = (*players, *SEED, "--match-id", "still", *house.there("referee"))
    match = start("match", GAME, *words)
    match.error_line()
    terminal = terminals("watch", "still", *house.there())
    head = "-- lepidoptery  still  ply 1  running"
    terminal.until_seen(lambda rows: any(head in row for row in rows))
    for width, height in SIZES:

        def fits(rows: list[str], width: int = width, height: int = height) -> bool:
            return (
                sum(row.startswith("-- lep") for row in rows) == 1
                and sum(row.startswith("> seat 1 (still)") for row in rows) == 1
                and all(row.endswith("…") for row in board(rows)) is (width < 80)
                and len(board(rows)) == (0 if height == 5 else 7 if height == 12 else 8)
            )

        terminal.resize(width, height)
        terminal.until_seen(fits)
    match.signal()
    assert match.end()[0] == 130
    assert terminal.end() == 0
    assert any(row.startswith("withdrawn: ") for row in terminal.glass.rows)
