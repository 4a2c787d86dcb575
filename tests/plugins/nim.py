"""Nim as a plugin, and helpers that build good and bad variations of it."""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import define, evolve, field, frozen, validators

from fritillary import (
    ACTS,
    Dealer,
    DecisionPoint,
    GameInfo,
    Information,
    Outcome,
    Over,
    Plugin,
    VariantInfo,
    hookimpl,
)


@frozen
class Options:
    """Options of Nim.

    Args:
        matches: on the table at the start, 1 to 50.
        most: that may be taken at once.
    """

    matches: int = field(default=5, validator=validators.in_(range(1, 51)))
    most: int = 3


@frozen
class Take:
    """Take matches.

    Args:
        number: of matches.
    """

    number: int


@define
class State:
    """The table.

    Args:
        options: of the match.
        matches: that are left.
        to_move: the seat to act.
        seats: how many there are.
        taken: so far.
    """

    options: Options
    matches: int
    to_move: int
    seats: int
    taken: list[int]


INFO = GameInfo(
    id="nim",
    title="Nim",
    summary="Whoever takes the last match wins.",
    rules_version=1,
    min_seats=2,
    max_seats=3,
    information=Information.PERFECT,
    chance=False,
    constant_sum=1,
    max_plies=50,
    options=Options,
    state=State,
    actions=(Take,),
    observation=State,
    reasons={"taken": "The last match was taken."},
    presets={"short": Options(matches=2)},
)


@hookimpl
def describe() -> GameInfo:
    return INFO


@hookimpl
def new_state(options: Options, seats: int, dealer: Dealer) -> State:
    if options.most > options.matches + 10:
        msg = "most is far more than there are matches"
        raise ValueError(msg)
    return State(options, options.matches, 0, seats, [])


@hookimpl
def decision_point(state: State) -> DecisionPoint:
    if state.matches:
        return ACTS[state.to_move]
    scores = [0] * state.seats
    scores[state.to_move - 1] = 1
    return Over(Outcome.ranked("taken", scores))


@hookimpl
def all_actions(options: Options, seats: int) -> Sequence[Take]:
    return [Take(number) for number in range(1, options.most + 1)]


@hookimpl
def legal_actions(state: State) -> Sequence[Take]:
    return tuple(
        Take(number) for number in range(1, min(state.options.most, state.matches) + 1)
    )


@hookimpl
def apply_action(state: State, action: Take) -> None:
    state.matches -= action.number
    state.taken.append(action.number)
    state.to_move = (state.to_move + 1) % state.seats


@hookimpl
def format_action(action: Take) -> str:
    return f"take {action.number}"


@hookimpl
def draw_text(observation: State) -> str:
    return "|" * observation.matches


HOOKS: dict[str, Any] = {
    name: value
    for name, value in globals().items()
    if hasattr(value, "fritillary_impl")
}


def plugin(name: str = "nim", /, distribution: str = "", **changes: Any) -> Plugin:
    """Return Nim with some names of its module changed, or removed by ``None``.

    Functions that are not marked yet are marked, unless wrapped in `Unmarked`.
    """
    module = types.ModuleType(name)
    for key, value in {**HOOKS, **changes}.items():
        if value is None:
            continue
        if isinstance(value, Unmarked):
            setattr(module, key, value.value)
        elif callable(value) and not hasattr(value, "fritillary_impl"):
            setattr(module, key, hookimpl(value))
        else:
            setattr(module, key, value)
    return Plugin(name, module, distribution)


@frozen
class Unmarked:
    """A value that goes into the module as it is."""

    value: Any


def described(**changes: Any) -> dict[str, Any]:
    """Return a `describe` hook that tells something else."""
    info = evolve(INFO, **changes)
    return {"describe": lambda: info}


def variant(
    variant_id: str = "twist", games: Sequence[str] = ("nim",), **wrappers: Any
) -> Plugin:
    """Return a variant with some wrappers, which get their marker here."""
    info = VariantInfo(
        id=variant_id, title=variant_id, summary="-", version=2, games=tuple(games)
    )
    module = types.SimpleNamespace(describe_variant=hookimpl(lambda: info))
    for name, value in wrappers.items():
        marked = hasattr(value, "fritillary_impl")
        setattr(module, name, value if marked else hookimpl(wrapper=True)(value))
    return Plugin(f"{variant_id}-plugin", module)


# Hidden information: the number of matches is known to nobody but seat 0.


@frozen
class Seen:
    """What a seat sees.

    Args:
        options: of the match.
        matches: that are left, if known.
    """

    options: Options
    matches: int | None


def hidden(**changes: Any) -> Plugin:
    """Return a Nim with hidden information, and some names changed."""

    def observe(state: State, seat: int | None) -> Seen:
        return Seen(state.options, state.matches if seat == 0 else None)

    def sample_state(observation: Seen, dealer: Dealer) -> State:
        matches = observation.matches or 1 + dealer.below(5)
        return State(observation.options, matches, 0, 2, [])

    def shuffle_hidden(state: State, seat: int | None, dealer: Dealer) -> None:
        if seat != 0:
            state.matches = 1 + dealer.below(5)

    def draw_seen(observation: Seen) -> str:
        return "?" if observation.matches is None else "|" * observation.matches

    hooks: Mapping[str, Any] = {
        "observe": observe,
        "sample_state": sample_state,
        "shuffle_hidden": shuffle_hidden,
        "draw_text": _renamed(draw_seen, "draw_text"),
        **described(information=Information.HIDDEN, observation=Seen),
    }
    return plugin(**{**hooks, **changes})


def _renamed(function: Any, name: str) -> Any:
    function.__name__ = name
    return function
