"""What the tests of Butterfly Garden share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.games.random_play import states_of

from fritillary import Game, Plugin
from fritillary_games import butterfly_garden
from fritillary_games.butterfly_garden.actions import Place
from fritillary_games.butterfly_garden.board import NAMES, NUMBERS
from fritillary_games.butterfly_garden.model import (
    Edition,
    End,
    Options,
    Sharing,
    State,
)
from fritillary_games.butterfly_garden.position import parse_position
from fritillary_games.butterfly_garden.rules import counts_of

GAME: Game[Any, Any, Any] = Game(Plugin("butterfly-garden", butterfly_garden))

INDIGO = Options(edition=Edition.INDIGO)

#: Options and seats.
SETUPS: dict[str, tuple[Options, int]] = {
    "two": (Options(), 2),
    "three": (Options(), 3),
    "four": (Options(starter=3), 4),
    "indigo two": (INDIGO, 2),
    "indigo exclusive": (
        Options(edition=Edition.INDIGO, three_players=Sharing.EXCLUSIVE, starter=1),
        3,
    ),
    "indigo four": (INDIGO, 4),
    "stack": (Options(end=End.STACK_EMPTY, hide_scores=True, starter=1), 2),
    "rounds": (Options(max_rounds=7, open_hands=True, starter=2), 3),
    "hidden scores": (Options(hide_scores=True, edition=Edition.INDIGO), 4),
    "open": (Options(open_hands=True, hide_scores=True, max_rounds=27), 2),
}

#: Our names of T0 to T4 in the rules.
KINDS = dict(
    zip(
        ("T0", "T1", "T2", "T3", "T4"),
        ("arch", "star", "lane", "knot", "leaf"),
        strict=True,
    )
)


def name(q: int, r: int) -> str:
    """Return the name of a cell."""
    return NAMES[NUMBERS[q, r]]


def action(text: str) -> Place:
    """Return the action of a notation."""
    found: Place = GAME.table(Options(), 2).parse(text)
    return found


def at(kind: str, q: int, r: int, turn: int = 0) -> str:
    """Return the notation of a placement written as in the rules."""
    return f"{name(q, r)} {KINDS[kind]} {turn}"


def position(*tiles: str, seats: int = 2, options: Options | None = None) -> State:
    """Return the position after some placements, whoever held the tiles."""
    text = f"seats: {seats}\ntiles: {', '.join(tiles) or 'none'}"
    return parse_position(text, options)


def waiting(state: State) -> dict[tuple[int, int, int], int]:
    """Return the values of the waiting treasures by q, r and edge."""
    seen = GAME.observe(state, None)
    found = {(each.q, each.r, each.edge): each.value for each in seen.waiting}
    assert len(found) == len(seen.waiting)
    return found


def taken(state: State) -> list[tuple[int, int, int]]:
    """Return how many treasures worth 1, 2 and 3 each seat has."""
    return [counts_of(each) for each in state.taken]


def left(state: State) -> int:
    """Return how many treasures are on the board, centre included."""
    return state.centre + len(waiting(state))


def legal(state: State) -> list[str]:
    """Return the notations of the legal actions."""
    return [GAME.format_action(each) for each in GAME.legal_actions(state)]


def states(setup: str, games: int, seed: int = 0) -> Iterator[State]:
    """Return the states of random matches, the last ones too; do not change them."""
    return states_of(GAME, *SETUPS[setup], games, seed)
