"""The picture for terminals: plain ASCII text, at most 80 columns."""

from __future__ import annotations

from typing import Final

from fritillary_games.butterfly_garden.actions import (
    TILE_NUMBERS,
    TILES,
    TURNS,
    notation,
)
from fritillary_games.butterfly_garden.board import CELLS, NAMES, NUMBERS, PLACES
from fritillary_games.butterfly_garden.geometry import (
    CENTRE,
    GATEWAYS,
    RADIUS,
    Cell,
)
from fritillary_games.butterfly_garden.model import Observation
from fritillary_games.butterfly_garden.pictures_facts import (
    LETTERS,
    TREASURES,
    collected,
    display_order,
    headline,
    in_hand,
    routes,
    title,
    winners,
)

WIDTH: Final = 80

#: Columns from the middle of a cell to the next one, and how wide its inside is.
_STEP: Final = 8
_INSIDE: Final = _STEP - 1

#: By number of players: the corners of the board at which they are told of, each as
#: whether it is below, and right; clockwise from the first of them.
_CORNERS: Final = {
    2: ((True, False), (True, True)),
    3: ((True, False), (False, False), (True, True)),
    4: ((True, False), (False, False), (False, True), (True, True)),
}

#: Where players stand to the right of the board, and how far their names are out.
_RIGHT: Final = 62
_OUT: Final = 3

#: Where the middle of a cell's edges are drawn, seen from its own middle, and how.
_EDGES: Final = ((-2, -1), (2, -1), (4, 0), (2, 1), (-2, 1), (-4, 0))
_STROKES: Final = "/\\|/\\|"


def text_picture(observation: Observation) -> str:
    """Draw an observation as lines of at most 80 characters."""
    lines = [
        f"{title(observation)} - {headline(observation)}",
        *_with_players(_board(observation), observation),
        "",
        *_last(observation),
        *_legend(observation),
        *_tiles(observation),
        *_hand(observation),
    ]
    return "\n".join(line.rstrip() for line in lines)


def _last(observation: Observation) -> list[str]:
    if observation.last is None:
        return []
    return [f"last tile: {notation(observation.last)}"]


def _middle(cell: Cell) -> tuple[int, int]:
    """Return column and line of the middle of a cell."""
    q, r = cell
    return _STEP * q + _STEP // 2 * r + WIDTH // 2 - 1, 2 * (r + RADIUS) + 1


def _board(observation: Observation) -> list[str]:
    lines = [[" "] * WIDTH for _ in range(4 * RADIUS + 3)]

    def write(cell: Cell, step: tuple[int, int], sign: str) -> None:
        column, line = _middle(cell)
        column += step[0] - len(sign) // 2
        lines[line + step[1]][column : column + len(sign)] = sign

    for cell in CELLS:
        for step, stroke in zip(_EDGES, _STROKES, strict=True):
            write(cell, step, stroke)
        write(cell, (0, 0), _empty(observation, cell))
    for gateway, owners in zip(GATEWAYS, observation.owners, strict=True):
        for cell in gateway.cells:
            for place, edge in enumerate(gateway.edges):
                write(cell, _EDGES[edge], LETTERS[owners[place % len(owners)]])
    for tile, q, r, turn in observation.placed:
        sign = f"{tile.value}{turn}"
        last = observation.last
        if last is not None and (last.q, last.r) == (q, r):
            sign = sign.upper()
        write((q, r), (0, 0), f"{sign:^{_INSIDE}}")
    for each in observation.waiting:
        write((each.q, each.r), _EDGES[each.edge], str(each.value))
    return ["".join(line) for line in lines]


def _empty(observation: Observation, cell: Cell) -> str:
    """Return what a cell without a path tile shows."""
    number = NUMBERS[cell]
    if number < PLACES:
        return NAMES[number]
    if cell == CENTRE:
        return "".join(map(str, observation.centre)) or "-"
    return "u-turn"


def _legend(observation: Observation) -> list[str]:
    names = TREASURES[observation.options.edition]
    kinds = ", ".join(f"{value} {name}" for value, name in enumerate(names, start=1))
    letters = f"A to {LETTERS[len(observation.hand_sizes) - 1]}"
    return [
        f"On the edges: {kinds} {collected(observation)}; {letters}: exits of seats"
    ]


def _with_players(board: list[str], observation: Observation) -> list[str]:
    """Put the players into the corners of the board, as they sit around it.

    There they take no rows: on a small terminal they stay in sight with the board. Two
    are both below, since what is above is the first to leave the screen of who plays.
    """
    lines = list(board)
    seats = display_order(observation)
    for seat, (below, right) in zip(seats, _CORNERS[len(seats)], strict=True):
        words = _player(observation, seat, below=below)
        first = len(lines) - len(words) if below else 0
        for place, word in enumerate(words, first):
            whole = lines[place].rstrip()
            if right:
                start = max(_RIGHT + len(word) - len(word.lstrip()), len(whole) + 2)
                lines[place] = f"{whole:{start}}{word.lstrip()}"[:WIDTH]
            else:
                drawn = whole.lstrip()
                room = len(whole) - len(drawn)
                lines[place] = f"{word[: room - 1]:{room}}{drawn}"
    return lines


def _player(observation: Observation, seat: int, *, below: bool) -> list[str]:
    """Return what is told of a player, in rows that fit into a corner.

    Args:
        observation: the position.
        seat: of the player.
        below: whether it is for a corner below, where the last rows are the longest;
            above the first ones are.
    """
    who = f"you, seat {seat}" if seat == observation.seat else f"seat {seat}"
    name = f"{LETTERS[seat]}  {who}"
    sign = ""
    if seat in winners(observation):
        sign = "WINNER"
    elif seat == observation.to_move:
        sign = "to move"
    score, taken = observation.scores[seat], observation.taken[seat]
    points, counts = "points hidden", ""
    if taken is not None:
        points = f"{score} point{'' if score == 1 else 's'}"
        counts = "+".join(f"{n}x{value}" for value, n in enumerate(taken, 1) if n)
    hand = observation.hands[seat]
    held = f"{observation.hand_sizes[seat]} in hand"
    if hand is not None:
        held = "holds " + (" ".join(tile.value for tile in hand) or "nothing")
    indent = " " * _OUT
    if below:
        rows = [indent + sign, name, indent + points, indent + held, indent + counts]
    else:
        rows = [f"{name}  {sign}", indent + held, indent + points, indent + counts]
    return [row.rstrip() for row in rows]


def _tiles(observation: Observation) -> list[str]:
    counts = ", ".join(
        f"{count} {tile.value}"
        for tile, count in zip(TILES, observation.unplaced, strict=True)
    )
    return [f"Stack {observation.stack}; not placed yet: {counts}"]


def _hand(observation: Observation) -> list[str]:
    """List the turns of the observer's tiles, three a line."""
    lines = [""]
    for tile in in_hand(observation):
        turns = TURNS[TILE_NUMBERS[tile]]
        words = [f"{tile.value} {turn}: {routes(tile, turn)}" for turn in range(turns)]
        lines += [
            "".join(f"{word:<27}" for word in words[first : first + 3])
            for first in range(0, turns, 3)
        ]
    return lines if len(lines) > 1 else []
