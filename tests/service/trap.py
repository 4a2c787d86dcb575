"""Trap, a game that misbehaves as its options say."""

from __future__ import annotations

import os
import sys
import time

from attrs import define, field, frozen, validators

from fritillary import (
    ACTS,
    GameInfo,
    Information,
    Outcome,
    Over,
    hookimpl,
)

KINDS = ("nothing", "raise", "loop", "exit", "memory", "print")


@frozen
class Options:
    """What may differ.

    Args:
        how: what applying an action does besides.
    """

    how: str = field(default="nothing", validator=validators.in_(KINDS))


@frozen
class Step:
    """Go on."""


@define
class State:
    """A position.

    Args:
        options: of the match.
        steps: until the end.
    """

    options: Options
    steps: int = 3


@hookimpl
def describe():
    return GameInfo(
        id="trap",
        title="Trap",
        summary="Step into it.",
        rules_version=1,
        min_seats=1,
        max_seats=1,
        information=Information.PERFECT,
        chance=False,
        constant_sum=None,
        max_plies=3,
        options=Options,
        state=State,
        actions=(Step,),
        observation=State,
        reasons={"end": "There are no more steps."},
    )


@hookimpl
def new_state(options, seats, dealer):
    return State(options)


@hookimpl
def decision_point(state):
    return ACTS[0] if state.steps else Over(Outcome.ranked("end", (1,)))


TABLE = (Step(),)


@hookimpl
def all_actions(options, seats):
    return TABLE


@hookimpl
def legal_actions(state):
    return TABLE


@hookimpl
def apply_action(state, action):
    how = state.options.how
    if how == "raise":
        raise LookupError("there is a hole")
    if how == "loop":
        while True:
            time.sleep(0.01)
    if how == "exit":
        os._exit(7)
    if how == "memory":
        list(range(10**12))
    if how == "print":
        print("stepped")
        sys.stdout.flush()
    state.steps -= 1


@hookimpl
def evaluate(state, seat):
    return state.steps / 3


@hookimpl
def format_action(action):
    return "step"


@hookimpl
def draw_text(observation):
    return f"{observation.steps} steps"
