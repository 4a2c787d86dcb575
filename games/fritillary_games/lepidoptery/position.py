"""Positions as text, for tests and talk: one fact a line, written by hand.

    to move: 0                  # or, after the end, "winner: 0 by four-in-line"
    table: single 7             # "none" or no line when leading
    hand 0: 7 7 8               # ranks, or "3 cards"
    hand 1: 12 cards
    deck 0: 9 2 2 10            # the next card first, or "4 cards"
    deck 1: 26 cards
    marker 1: single            # "none" or no line where any type is allowed
    joker 1: used               # "ready" or no line while it is face up
    column single: 1            # seats from the bottom; no line if empty
    played 0: 1 1 3             # may be left out: what is not in hand and deck

What follows ``#`` is a comment. The order of the lines does not matter.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from attrs import define

from fritillary import InvalidPositionError
from fritillary_games.facts import facts_in
from fritillary_games.lepidoptery.actions import (
    COMBOS,
    NUMBERS,
    PLAYS,
    UNITS,
    Combo,
    Play,
    notation,
)
from fritillary_games.lepidoptery.layout import layout_of
from fritillary_games.lepidoptery.model import (
    COPIES,
    DECK_SIZE,
    FULL_DECK,
    HAND_SIZE,
    NO_TYPE,
    RANKS,
    REASONS,
    Options,
    State,
)
from fritillary_games.lepidoptery.tables import pack, ranks_in

_KEYS: Final = (
    "to move",
    "winner",
    "table",
    *(
        f"{what} {seat}"
        for what in ("hand", "deck", "played", "marker", "joker")
        for seat in (0, 1)
    ),
    *(f"column {combo.value}" for combo in COMBOS),
)

_BY_NOTATION: Final[dict[str, Play]] = {notation(play): play for play in PLAYS}
_BY_NAME: Final = {combo.value: combo for combo in COMBOS}

_SIZE: Final = re.compile(r"(\d{1,2}) cards?")

#: So many cards of the hand the cheapest play of each type takes, with the joker.
_FEWEST: Final = (1, 1, 2, 1, 2)


def parse_position(text: str, options: Options | None = None) -> State:
    """Return the state of a text position.

    Cards of which only the number is given are taken, in rising order, from those
    that are named nowhere: first for the hand, then for the deck. What the
    combination on the table took is left for the cards that have been played.

    Args:
        text: see the module.
        options: of the match; the defaults if left out.

    Raises:
        InvalidPositionError: if the text cannot be read, or if the position cannot
            arise; one line that says why.
    """
    options = Options() if options is None else options
    reader = _Reader(facts_in(text, _KEYS), options)
    state = reader.state()
    _check(state)
    return state


def format_position(state: State) -> str:
    """Return the text of a state, complete: `parse_position` gives it back."""
    if state.reason:
        lines = [f"winner: {state.to_move} by {REASONS[state.reason]}"]
    else:
        lines = [f"to move: {state.to_move}"]
    lines.append(f"table: {notation(state.table) if state.table else 'none'}")
    for seat, hand in enumerate(state.hands):
        deck = state.decks[seat]
        marker = state.markers[seat]
        played = FULL_DECK - hand - sum(deck)
        lines += [
            f"hand {seat}: {_listed(ranks_in(hand))}",
            f"deck {seat}: {_listed(UNITS.index(card) for card in deck)}",
            f"played {seat}: {_listed(ranks_in(played))}",
            f"marker {seat}: {'none' if marker == NO_TYPE else COMBOS[marker].value}",
            f"joker {seat}: {'ready' if state.jokers[seat] else 'used'}",
        ]
    layout = state.layout
    for number in layout.order:
        ones = state.tokens[1] >> layout.shifts[number]
        seats = [ones >> row & 1 for row in range(state.filled[number])]
        lines.append(f"column {COMBOS[number].value}: {_listed(seats)}")
    return "\n".join(lines) + "\n"


def _listed(numbers: Iterable[int]) -> str:
    return " ".join(map(str, numbers)) or "none"


@define
class _Reader:
    """Reads the values of the facts."""

    facts: dict[str, str]
    options: Options

    def state(self) -> State:
        """Return the state, sound in its parts, but not yet as a whole."""
        to_move, reason = self._turn()
        table = self._table()
        last = to_move if reason else 1 - to_move
        cards = [self._cards(seat, table if seat == last else None) for seat in (0, 1)]
        tokens, filled = self._board()
        return State(
            self.options,
            to_move,
            [hand for hand, _ in cards],
            [deck for _, deck in cards],
            [self._marker(seat, table if seat == last else None) for seat in (0, 1)],
            [self._joker(seat, table if seat == last else None) for seat in (0, 1)],
            tokens,
            filled,
            table,
            reason,
        )

    def _turn(self) -> tuple[int, int]:
        if ("to move" in self.facts) == ("winner" in self.facts):
            msg = "say either 'to move: SEAT' or 'winner: SEAT by REASON'"
            raise InvalidPositionError(msg)
        if "to move" in self.facts:
            return self._seat("to move", self.facts["to move"]), 0
        seat, _, reason = self.facts["winner"].partition(" by ")
        if not reason or reason not in REASONS:
            msg = f"winner: {reason!r} is no reason; say four-in-line or all-shed"
            raise InvalidPositionError(msg)
        return self._seat("winner", seat), REASONS.index(reason)

    def _seat(self, key: str, word: str) -> int:
        if word not in {"0", "1"}:
            raise InvalidPositionError(f"{key}: {word!r} is no seat; say 0 or 1")
        return int(word)

    def _numbers(self, key: str) -> list[str]:
        words = self.facts.get(key, "none").split()
        return [] if words == ["none"] else words

    def _ranks(self, key: str) -> list[int]:
        ranks = []
        for word in self._numbers(key):
            if not word.isdecimal() or int(word) not in RANKS:
                raise InvalidPositionError(f"{key}: {word!r} is no rank from 1 to 10")
            ranks.append(int(word))
        return ranks

    def _cards(self, seat: int, table: Play | None) -> tuple[int, tuple[int, ...]]:
        """Return the packed hand and the deck of a seat, ``table`` its last play."""
        sizes: dict[str, int] = {}
        ranks: dict[str, list[int]] = {}
        for what in ("hand", "deck", "played"):
            key = f"{what} {seat}"
            size = _SIZE.fullmatch(self.facts.get(key, ""))
            if size and what != "played":
                sizes[what] = int(size[1])
            elif key in self.facts:
                ranks[what] = self._ranks(key)
            elif what != "played":
                raise InvalidPositionError(f"{key!r} is missing")
        named = [rank for each in ranks.values() for rank in each]
        for rank, copies in zip(RANKS, COPIES, strict=True):
            if named.count(rank) > copies:
                msg = (
                    f"seat {seat} has {named.count(rank)} cards of rank {rank}; "
                    f"there are {copies}"
                )
                raise InvalidPositionError(msg)
        total = len(named) + sum(sizes.values())
        if total > DECK_SIZE or ("played" in ranks and total < DECK_SIZE):
            msg = f"seat {seat} has {total} cards; there are {DECK_SIZE}"
            raise InvalidPositionError(msg)
        unnamed = [*ranks_in(FULL_DECK - pack(named))]
        for rank in ranks_in(table.cost) if table else ():
            if rank in unnamed:
                unnamed.remove(rank)
                unnamed.append(rank)
        held = sizes.get("hand", 0)
        hand = ranks.get("hand", unnamed[:held])
        deck = ranks.get("deck", unnamed[held : held + sizes.get("deck", 0)])
        if len(deck) > DECK_SIZE - HAND_SIZE:
            msg = f"deck {seat}: {len(deck)} cards; {DECK_SIZE - HAND_SIZE} at most"
            raise InvalidPositionError(msg)
        return pack(hand), tuple(UNITS[rank] for rank in deck)

    def _table(self) -> Play | None:
        text = self.facts.get("table", "none")
        if text == "none":
            return None
        if text not in _BY_NOTATION:
            msg = f"table: {text!r} is no combination, such as 'pair 7' or 'run2 7*-8'"
            raise InvalidPositionError(msg)
        return _BY_NOTATION[text]

    def _marker(self, seat: int, table: Play | None) -> int:
        key = f"marker {seat}"
        # Whoever played last shows the type that lies on the table.
        word = self.facts.get(key, table.combo.value if table else "none")
        if word == "none":
            return NO_TYPE
        if word not in _BY_NAME:
            raise InvalidPositionError(f"{key}: {word!r} is no type of combination")
        return NUMBERS[_BY_NAME[word]]

    def _joker(self, seat: int, table: Play | None) -> bool:
        key = f"joker {seat}"
        word = self.facts.get(key, "used" if table and table.joker else "ready")
        if word not in {"ready", "used"}:
            raise InvalidPositionError(f"{key}: {word!r}; say ready or used")
        return word == "ready"

    def _board(self) -> tuple[list[int], list[int]]:
        """Return the tokens by seat and the filling by type."""
        layout = layout_of(self.options, NO_TYPE)
        tokens = [0, 0]
        filled = [0] * len(COMBOS)
        for combo in Combo:
            key = f"column {combo.value}"
            number = NUMBERS[combo]
            seats = [self._seat(key, word) for word in self._numbers(key)]
            if len(seats) > layout.heights[number]:
                msg = f"{key}: {len(seats)} tokens, but {layout.heights[number]} cells"
                raise InvalidPositionError(msg)
            filled[number] = len(seats)
            for row, seat in enumerate(seats):
                tokens[seat] |= 1 << layout.shifts[number] + row
        return tokens, filled


def _check(state: State) -> None:
    """Check what the parts of a position say of each other.

    Raises:
        InvalidPositionError: if it cannot arise. Not every position that passes
            can: that would take the whole course of play.
    """
    for problem in (
        _about_board(state),
        _about_end(state),
        _about_last_turn(state),
        _about_cards(state),
    ):
        if problem is not None:
            raise InvalidPositionError(problem)


def _about_board(state: State) -> str | None:
    full = [
        combo.value
        for number, combo in enumerate(COMBOS)
        if state.filled[number] == state.layout.heights[number]
    ]
    # The win comes before the emptying of columns (L-m, L-o).
    if len(full) > (2 if state.reason else 1):
        return f"the columns {' and '.join(full)} are full; at most one can be"
    return None


def _about_end(state: State) -> str | None:
    for seat, tokens in enumerate(state.tokens):
        line = state.layout.has_line(tokens)
        shed = not state.hands[seat] and not state.decks[seat]
        won = state.reason if state.reason and seat == state.to_move else 0
        if line and won != 1:
            return f"seat {seat} has four in a line, so it has won by four-in-line"
        if shed and not won:
            return f"seat {seat} has no card left, so it has won by all-shed"
        if won == 1 and not line:
            return f"seat {seat} has not won: it has no four in a line"
        if won == 2 and not shed:
            return f"seat {seat} has not won: it has cards left"
    return None


def _about_last_turn(state: State) -> str | None:
    last = state.to_move if state.reason else 1 - state.to_move
    table = state.table
    if table is None:
        if state.reason:
            return f"seat {last} has won by a play, so it lies on the table"
        if state.markers[last] != NO_TYPE:
            return f"seat {last} has just passed or not yet played: marker none"
        if not state.jokers[last]:
            return f"seat {last} has just passed or not yet played: joker ready"
        return None
    if state.markers[last] != table.number:
        return f"seat {last} played {notation(table)}: marker {table.combo.value}"
    if table.joker and state.jokers[last]:
        return f"seat {last} played {notation(table)}: joker used"
    top = state.filled[table.number] - 1
    cell = 1 << state.layout.shifts[table.number] + top if top >= 0 else 0
    if not state.tokens[last] & cell:
        return (
            f"seat {last} played {notation(table)}: its token is the top one of the "
            f"{table.combo.value} column"
        )
    return None


def _about_cards(state: State) -> str | None:
    last = state.to_move if state.reason else 1 - state.to_move
    for seat, tokens in enumerate(state.tokens):
        played = ranks_in(FULL_DECK - state.hands[seat] - sum(state.decks[seat]))
        if state.table is not None and seat == last:
            taken = ranks_in(state.table.cost)
            if any(played.count(rank) < taken.count(rank) for rank in taken):
                return (
                    f"seat {seat} played {notation(state.table)}, but these cards are "
                    "not among those it has played"
                )
        fewest = 0
        for number, height in enumerate(state.layout.heights):
            column = tokens >> state.layout.shifts[number] & (1 << height) - 1
            fewest += column.bit_count() * _FEWEST[number]
        if len(played) < fewest:
            return (
                f"seat {seat} has played {len(played)} cards, but its tokens took at "
                f"least {fewest}"
            )
    return None
