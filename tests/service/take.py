"""Take: one heap, and as many actions as its options say."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from attrs import define, field, frozen, validators

from fritillary import (
    ACTS,
    GameInfo,
    Information,
    Outcome,
    Over,
    Plugin,
    Registry,
    hookimpl,
)


@frozen
class Options:
    """What may differ.

    Args:
        stones: in the heap; each number of them is an action.
        told: a file that is told which process makes the table; empty: none.
    """

    stones: int = field(default=3, validator=validators.ge(1))
    told: str = ""


@frozen(cache_hash=True)
class Take:
    """Take some stones.

    Args:
        stones: how many.
    """

    stones: int


@define
class State:
    """The heap as it stands.

    Args:
        options: of the match.
        stones: that are left.
        seat: who takes next.
    """

    options: Options
    stones: int
    seat: int = 0


@hookimpl
def describe():
    return GameInfo(
        id="take",
        title="Take",
        summary="The last stone wins.",
        rules_version=1,
        min_seats=2,
        max_seats=2,
        information=Information.PERFECT,
        chance=False,
        constant_sum=1,
        max_plies=100_000,
        options=Options,
        state=State,
        actions=(Take,),
        observation=State,
        reasons={"last": "No stone is left."},
        presets={"many": Options(stones=6_000)},
    )


@hookimpl
def new_state(options, seats, dealer):
    return State(options, options.stones)


@hookimpl
def decision_point(state):
    if state.stones:
        return ACTS[state.seat]
    return Over(Outcome.ranked("last", (state.seat, 1 - state.seat)))


@hookimpl
def all_actions(options, seats):
    if options.told:
        Path(options.told).write_text(str(os.getpid()))
    return tuple(Take(stones) for stones in range(1, options.stones + 1))


@hookimpl
def legal_actions(state):
    return tuple(Take(stones) for stones in range(1, state.stones + 1))


@hookimpl
def apply_action(state, action):
    state.stones -= action.stones
    state.seat = 1 - state.seat


@hookimpl
def format_action(action):
    return f"take {action.stones}"


@hookimpl
def draw_text(observation):
    return f"{observation.stones} stones"


def registry():
    """Return a registry that holds Take alone."""
    games = Registry()
    games.add_game(Plugin("take", sys.modules[__name__]))
    return games
