"""A game that no bot announces: take one counter or two; who takes the last wins."""

from __future__ import annotations

import sys
from typing import Final

from attrs import define, frozen

from fritillary.core.dealer import Dealer
from fritillary.core.info import GameInfo, Information
from fritillary.core.outcome import Outcome
from fritillary.core.points import ACTS, DecisionPoint, Over
from fritillary.plugins.binding import Plugin
from fritillary.plugins.discovery import Registry
from fritillary.plugins.markers import hookimpl

ID: Final = "made-up-by-check-bot"
"""Of the game."""


@frozen
class Options:
    """What may differ: counters is their number at the beginning."""

    counters: int = 6


@frozen(cache_hash=True)
class Take:
    """Take one counter or two."""

    counters: int


@define
class State:
    """The counters that are left; seat is who takes next."""

    options: Options
    counters: int
    seat: int = 0


_TABLE: Final = (Take(1), Take(2))


@hookimpl
def describe() -> GameInfo:
    """Describe the game."""
    return GameInfo(
        id=ID,
        title="Made up",
        summary="Take one counter or two; the last one wins.",
        rules_version=1,
        min_seats=2,
        max_seats=2,
        information=Information.PERFECT,
        chance=False,
        constant_sum=1,
        max_plies=1_000,
        options=Options,
        state=State,
        actions=(Take,),
        observation=State,
        reasons={"last-counter": "No counter is left."},
    )


@hookimpl
def new_state(options: Options, seats: int, dealer: Dealer) -> State:
    """Return the beginning."""
    return State(options, options.counters)


@hookimpl
def decision_point(state: State) -> DecisionPoint:
    """Return whose turn it is."""
    if state.counters:
        return ACTS[state.seat]
    return Over(Outcome.ranked("last-counter", (state.seat, 1 - state.seat)))


@hookimpl
def all_actions(options: Options, seats: int) -> tuple[Take, ...]:
    """Return the table."""
    return _TABLE


@hookimpl
def legal_actions(state: State) -> tuple[Take, ...]:
    """Return what may be taken."""
    return _TABLE[: state.counters]


@hookimpl
def apply_action(state: State, action: Take) -> None:
    """Take."""
    state.counters -= action.counters
    state.seat = 1 - state.seat


@hookimpl
def format_action(action: Take) -> str:
    """Return the notation."""
    return f"take {action.counters}"


@hookimpl
def draw_text(observation: State) -> str:
    """Draw the counters."""
    return "o" * observation.counters


def add_to(registry: Registry) -> None:
    """Add the game, unless it is there."""
    if all(name != ID for name, _ in registry.games()):
        registry.add_game(Plugin(ID, sys.modules[__name__]))
