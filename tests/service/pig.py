"""Pig, small: two seats, chance in play, two actions."""

from __future__ import annotations

import sys

from attrs import define, field, frozen

from fritillary import (
    ACTS,
    CHANCE,
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
        target: points that win.
    """

    target: int = 20


@frozen
class Roll:
    """Roll the die."""


@frozen
class Hold:
    """Keep the points."""


@frozen
class Die:
    """The die shows a face.

    Args:
        face: 1 to 6.
    """

    face: int


@define
class State:
    """A position.

    Args:
        options: of the match.
        seat: whose turn it is.
        rolling: whether the die is in the air.
        kitty: points of this turn.
        rolls: so far.
        scores: points of each seat.
    """

    options: Options
    seat: int = 0
    rolling: bool = False
    kitty: int = 0
    rolls: int = 0
    scores: list[int] = field(factory=lambda: [0, 0])


ROLL, HOLD = TABLE = (Roll(), Hold())


@hookimpl
def describe():
    return GameInfo(
        id="pig",
        title="Pig",
        summary="Roll on or hold.",
        rules_version=1,
        min_seats=2,
        max_seats=3,
        information=Information.PERFECT,
        chance=True,
        constant_sum=None,
        max_plies=4000,
        options=Options,
        state=State,
        actions=(Roll, Hold, Die),
        observation=State,
        reasons={"target": "Somebody reached the target.", "rolls": "Enough rolls."},
        presets={"short": Options(target=6)},
    )


@hookimpl
def new_state(options, seats, dealer):
    return State(options, scores=[0] * seats)


@hookimpl
def decision_point(state):
    if state.rolling:
        return CHANCE
    if max(state.scores) >= state.options.target:
        return Over(Outcome.ranked("target", state.scores))
    if state.rolls >= 1500:
        return Over(Outcome.ranked("rolls", state.scores))
    return ACTS[state.seat]


@hookimpl
def all_actions(options, seats):
    return TABLE


@hookimpl
def legal_actions(state):
    return TABLE if state.kitty else TABLE[:1]


@hookimpl
def chance_outcomes(state):
    return [(Die(face), 1) for face in range(1, 7)]


def _next(state):
    state.kitty = 0
    state.seat = (state.seat + 1) % len(state.scores)


@hookimpl
def apply_action(state, action):
    if type(action) is Roll:
        state.rolling = True
        state.rolls += 1
    elif type(action) is Hold:
        state.scores[state.seat] += state.kitty
        _next(state)
    else:
        state.rolling = False
        if action.face == 1:
            _next(state)
        else:
            state.kitty += action.face


@hookimpl
def format_action(action):
    return (
        f"die {action.face}" if type(action) is Die else type(action).__name__.lower()
    )


@hookimpl
def draw_text(observation):
    return f"scores {observation.scores}, kitty {observation.kitty}"


def registry():
    """Return a registry that holds Pig alone."""
    games = Registry()
    games.add_game(Plugin("pig", sys.modules[__name__]))
    return games
