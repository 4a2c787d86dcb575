"""The picture of Lepidoptery for terminals: plain text, at most 80 columns.

Box-drawing characters are the only ones outside ASCII; each is one column wide.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from fritillary_games.lepidoptery.model import COPIES, RANKS, Observation
from fritillary_games.lepidoptery.pictures_facts import (
    cards_of,
    display_order,
    headline,
    is_full,
    newest_token,
    table_owner,
    tally,
    winning_lines,
)

WIDTH: Final = 80

#: The letters of the seats' tokens.
LETTERS: Final = "XO"

_COLUMN_WIDTH: Final = 7

#: The character between two columns, by what lies left and right of it on a line:
#: a cell, the top edge of a column, or nothing.
_JOINTS: Final = {
    "cell cell": "│",
    "cell edge": "├",
    "cell none": "│",
    "edge cell": "┤",
    "edge edge": "┬",
    "edge none": "┐",
    "none cell": "│",
    "none edge": "┌",
    "none none": " ",
}


def text_picture(observation: Observation) -> str:
    """Draw an observation as lines of at most 80 characters."""
    board = _board(observation)
    panel = _panel(observation)
    width = (_COLUMN_WIDTH + 1) * len(observation.columns) + 1
    lines = [_title(observation), ""]
    for place in range(max(len(board), len(panel))):
        left = board[place] if place < len(board) else ""
        right = panel[place] if place < len(panel) else ""
        lines.append(f"{left:{width}}   {right}")
    lines.append("")
    if observation.seat is not None:
        lines += [*_hand(observation), ""]
    lines += _played(observation)
    return "\n".join(line.rstrip() for line in lines)


def _title(observation: Observation) -> str:
    actor = observation.to_move
    if observation.winner is not None:
        actor = observation.winner
    letter = "" if actor is None else f" ({LETTERS[actor]})"
    said, colon, why = headline(observation).partition(":")
    return f"Lepidoptery - {said}{letter}{colon}{why}"


def _board(observation: Observation) -> list[str]:
    """Draw the columns standing on one floor, whatever their heights."""
    heights = observation.options.heights
    newest = newest_token(observation)
    won = {cell for line in winning_lines(observation) for cell in line}
    lines = []
    for row in range(max(heights), -1, -1):
        line = ""
        before = "none"
        for column, height in enumerate(heights):
            tokens = observation.columns[column]
            if row < height:
                here = "cell"
                cell = "."
                if row < len(tokens):
                    cell = LETTERS[tokens[row]]
                if (column, row) in won:
                    cell = f"[{cell}]"
                elif (column, row) == newest:
                    cell = f"({cell})"
                inside = f"{cell:^{_COLUMN_WIDTH}}"
            elif row == height:
                here = "edge"
                sign = "FULL" if is_full(observation, column) else ""
                inside = f"{sign:─^{_COLUMN_WIDTH}}"
            else:
                here = "none"
                inside = " " * _COLUMN_WIDTH
            line += _JOINTS[f"{before} {here}"] + inside
            before = here
        lines.append(line + _JOINTS[f"{before} none"])
    lines.append("└" + "┴".join("─" * _COLUMN_WIDTH for _ in heights) + "┘")
    lines.append(_under(combo.value for combo in observation.options.order))
    barred = []
    for combo in observation.options.order:
        seats = [
            LETTERS[seat]
            for seat, marker in enumerate(observation.markers)
            if marker is combo
        ]
        barred.append("not " + ",".join(seats) if seats else "")
    if any(barred):
        lines.append(_under(barred))
    return lines


def _under(words: Iterable[str]) -> str:
    return " " + " ".join(f"{word:^{_COLUMN_WIDTH}}" for word in words)


def _panel(observation: Observation) -> list[str]:
    above, below = display_order(observation)
    return [
        *_player(observation, above),
        "",
        *_table(observation),
        "",
        *_player(observation, below),
    ]


def _player(observation: Observation, seat: int) -> list[str]:
    name = f"{LETTERS[seat]}  seat {seat}"
    if seat == observation.seat:
        name += " (you)"
    # Right after the name, where a narrow window still shows it.
    if seat == observation.winner:
        name += "  WINNER"
    elif seat == observation.to_move:
        name += "  <- to move"
    marker = observation.markers[seat]
    joker = "ready" if observation.jokers[seat] else "used"
    return [
        name,
        (
            f"   hand {observation.hand_sizes[seat]:<2}   "
            f"deck {observation.deck_sizes[seat]:<2}   joker {joker}"
        ),
        f"   may not play: {marker.value}" if marker else "   may play any type",
    ]


def _table(observation: Observation) -> list[str]:
    play = observation.table
    if play is None:
        leader = observation.to_move
        leads = "" if leader is None else f": {LETTERS[leader]} leads"
        return [f"Table clear{leads}"]
    owner = table_owner(observation)
    by = "" if owner is None else f" by {LETTERS[owner]}"
    cards = cards_of(play)
    lines = [
        f"On the table: {play.combo.value}{by}",
        " ".join("┌joker┐" if joker else "┌─────┐" for _, joker in cards),
        " ".join(f"│{rank:^5}│" for rank, _ in cards),
        " ".join("└─────┘" for _ in cards),
    ]
    if not observation.options.same_type_may_beat:
        lines.append(f"No {play.combo.value} may beat it.")
    return lines


def _hand(observation: Observation) -> list[str]:
    """List the hand, equal ranks together, broken between ranks where too long."""
    lead = f"Your hand ({len(observation.hand)}):"
    indent = " " * len(lead)
    lines = [lead]
    for rank, count in zip(RANKS, tally(observation.hand), strict=True):
        if not count:
            continue
        word = " ".join([str(rank)] * count)
        if len(lines[-1]) + 2 + len(word) > WIDTH:
            lines.append(indent)
        lines[-1] += "  " + word
    if not observation.hand:
        lines[-1] += "  none"
    return lines


def _played(observation: Observation) -> list[str]:
    def row(name: str, numbers: Iterable[int]) -> str:
        return f"{name:<12}" + "".join(f"{number or '.':>4}" for number in numbers)

    return [
        row("Played", RANKS),
        *(
            row(f"  by {letter}", tally(played))
            for letter, played in zip(LETTERS, observation.played, strict=True)
        ),
        row("  of each", COPIES),
    ]
