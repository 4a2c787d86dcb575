"""What both pictures of Lepidoptery say, worked out from an observation alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias

from fritillary_games.lepidoptery.model import RANKS, Combo, Observation, Play

#: A cell of the board: its column from the left and its row from the bottom.
Cell: TypeAlias = tuple[int, int]

#: How far each card of a combination lies above its lowest rank (L-d).
STEPS: Final = {
    Combo.SINGLE: (0,),
    Combo.PAIR: (0, 0),
    Combo.TRIPLE: (0, 0, 0),
    Combo.RUN2: (0, 1),
    Combo.RUN3: (0, 1, 2),
}

#: Names of the types for readers.
NAMES: Final = {
    Combo.SINGLE: "single",
    Combo.PAIR: "pair",
    Combo.TRIPLE: "triple",
    Combo.RUN2: "run of 2",
    Combo.RUN3: "run of 3",
}

_REASONS: Final = {"four-in-line": "four in a line", "all-shed": "all cards shed"}

#: Up, right, and both diagonals (L-n).
_DIRECTIONS: Final = ((0, 1), (1, 0), (1, 1), (1, -1))


def cards_of(play: Play) -> list[tuple[int, bool]]:
    """List the cards of a combination in rising order.

    Returns:
        Pairs of a rank and whether the joker stands for it; the joker comes last
        among equal ranks.
    """
    ranks = [play.rank + step for step in STEPS[play.combo]]
    joker_at = -1
    if play.joker in ranks:
        joker_at = len(ranks) - 1 - ranks[::-1].index(play.joker)
    return [(rank, place == joker_at) for place, rank in enumerate(ranks)]


def tally(ranks: Sequence[int]) -> list[int]:
    """Count the ranks: ten numbers, rank 1 first."""
    return [ranks.count(rank) for rank in RANKS]


def display_order(observation: Observation) -> tuple[int, int]:
    """Return the seat to draw above the other; the observer is always below."""
    below = observation.seat or 0
    return 1 - below, below


def table_owner(observation: Observation) -> int | None:
    """Return the seat that played the combination on the table, if there is one.

    Turns alternate and a pass clears the table (L-e, L-j), so it is the seat that
    is not to act, or the winner.
    """
    if observation.table is None:
        return None
    if observation.to_move is None:
        return observation.winner
    return 1 - observation.to_move


def newest_token(observation: Observation) -> Cell | None:
    """Return the cell of the token that came with the combination on the table.

    It is the topmost of its column, which no clearing touches (L-o).
    """
    if observation.table is None:
        return None
    column = observation.options.order.index(observation.table.combo)
    tokens = observation.columns[column]
    if not tokens or tokens[-1] != table_owner(observation):
        return None
    return column, len(tokens) - 1


def winning_lines(observation: Observation) -> list[list[Cell]]:
    """List the winner's lines of four or more adjacent tokens (L-n).

    Returns:
        Each line as its cells from left to right, or from the bottom up; no line
        unless the match ended by four in a line.
    """
    if observation.reason != "four-in-line":
        return []
    own = {
        (column, row)
        for column, tokens in enumerate(observation.columns)
        for row, seat in enumerate(tokens)
        if seat == observation.winner
    }
    lines = []
    for right, up in _DIRECTIONS:
        for column, row in sorted(own):
            if (column - right, row - up) in own:
                continue
            line = [(column, row)]
            while (line[-1][0] + right, line[-1][1] + up) in own:
                line.append((line[-1][0] + right, line[-1][1] + up))
            if len(line) >= 4:
                lines.append(line)
    return lines


def is_full(observation: Observation, column: int) -> bool:
    """Say whether a column has no free cell."""
    return len(observation.columns[column]) >= observation.options.heights[column]


def headline(observation: Observation) -> str:
    """Say whose turn it is, or who has won and how."""
    seat = observation.seat
    if observation.winner is not None:
        won = f"seat {observation.winner} wins"
        if observation.winner == seat:
            won = "you win"
        reason = observation.reason or "match over"
        return f"{won}: {_REASONS.get(reason, reason)}"
    if observation.to_move is None:
        return "match over"
    if observation.to_move == seat:
        return "your turn"
    return f"seat {observation.to_move} to move"


def summary(observation: Observation) -> str:
    """Tell the whole position in prose, for those who cannot see the picture."""
    options = observation.options
    parts = [headline(observation).capitalize() + "."]
    if observation.table is None:
        parts.append("The table is clear.")
    else:
        cards = ", ".join(
            f"joker as {rank}" if joker else str(rank)
            for rank, joker in cards_of(observation.table)
        )
        owner = table_owner(observation)
        by = "" if owner is None else f" by seat {owner}"
        parts.append(f"On the table{by}: {NAMES[observation.table.combo]}, {cards}.")
    parts.append("Columns from the left, tokens from the bottom up by seat:")
    columns = []
    for place, tokens in enumerate(observation.columns):
        seats = " ".join(map(str, tokens)) or "empty"
        full = ", full" if is_full(observation, place) else ""
        name = NAMES[options.order[place]]
        columns.append(f"{name} ({seats}; height {options.heights[place]}{full})")
    parts.append("; ".join(columns) + ".")
    for seat in range(len(observation.hand_sizes)):
        marker = observation.markers[seat]
        barred = "may play any type"
        if marker is not None:
            barred = f"may not play {NAMES[marker]}"
        joker = "ready" if observation.jokers[seat] else "used"
        played = " ".join(map(str, observation.played[seat])) or "nothing"
        parts.append(
            f"Seat {seat}: {observation.hand_sizes[seat]} cards in hand, "
            f"{observation.deck_sizes[seat]} in the deck, joker {joker}, {barred}, "
            f"has played {played}."
        )
    if observation.seat is not None:
        hand = " ".join(map(str, observation.hand)) or "empty"
        parts.append(f"Hand of seat {observation.seat}: {hand}.")
    return " ".join(parts)
