"""A toy game for 2 to 4 seats: each takes some steps in turn, the farthest wins.

Every seat is dealt a secret, which an explanation tells to its seat. With ``wind``, a
chance outcome ends each round. Hooks can be added or replaced, to make them fail.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from attrs import define, frozen

from fritillary import (
    ACTS,
    CHANCE,
    Game,
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
    """Options.

    Args:
        rounds: turns of each seat.
        in_a_row: actions in each turn.
        wind: whether chance has a part after each round.
    """

    rounds: int = 4
    in_a_row: int = 1
    wind: bool = False


@frozen
class Step:
    """Go ahead.

    Args:
        size: 1 to 3; 4 is never legal, 0 stands for a step that was not seen.
    """

    size: int


@frozen
class Wind:
    """Blow.

    Args:
        force: 1 to 6.
    """

    force: int


@define
class State:
    """State.

    Args:
        options: of the match.
        secrets: one of each seat.
        totals: steps of each seat.
        turn: actions so far.
        blown: forces so far.
    """

    options: Options
    secrets: list[int]
    totals: list[int]
    turn: int
    blown: list[int]


@frozen
class Observation:
    """Observation.

    Args:
        options: of the match.
        seat: who looks.
        secret: of the seat.
        totals: steps of each seat.
        turn: actions so far.
    """

    options: Options
    seat: int | None
    secret: int | None
    totals: tuple[int, ...]
    turn: int


STEPS = tuple(Step(size) for size in (1, 2, 3, 4))
LEGAL = STEPS[:3]


@hookimpl
def describe() -> GameInfo:
    return GameInfo(
        id="race",
        title="Race",
        summary="Go ahead.",
        rules_version=1,
        min_seats=2,
        max_seats=4,
        information=Information.HIDDEN,
        chance=True,
        constant_sum=None,
        max_plies=500,
        options=Options,
        state=State,
        actions=(Step, Wind),
        observation=Observation,
        reasons={"finish": "All have arrived."},
    )


@hookimpl
def new_state(options, seats, dealer):
    secrets = [100 + dealer.below(900) for _ in range(seats)]
    return State(options, secrets, [0] * seats, 0, [])


def at(state: State) -> tuple[int, int]:
    """Return round and seat."""
    seats = len(state.totals)
    number, rest = divmod(state.turn, seats * state.options.in_a_row)
    return number, rest // state.options.in_a_row


@hookimpl
def decision_point(state):
    number, seat = at(state)
    if state.options.wind and len(state.blown) < number:
        return CHANCE
    if number == state.options.rounds:
        return Over(Outcome.ranked("finish", state.totals))
    return ACTS[seat]


@hookimpl
def all_actions(options, seats):
    return STEPS


@hookimpl
def legal_actions(state):
    return LEGAL


@hookimpl
def apply_action(state, action):
    if isinstance(action, Wind):
        state.blown.append(action.force)
        return
    _, seat = at(state)
    state.totals[seat] += action.size
    state.turn += 1


@hookimpl
def explain_illegal(observation, action):
    return f"{action.size} is too far with the secret {observation.secret}"


@hookimpl
def chance_outcomes(state):
    return [(Wind(force), 1) for force in range(1, 7)]


@hookimpl
def format_action(action):
    return f"wind {action.force}" if isinstance(action, Wind) else f"step {action.size}"


@hookimpl
def observe(state, seat):
    secret = None if seat is None else state.secrets[seat]
    return Observation(state.options, seat, secret, tuple(state.totals), state.turn)


@hookimpl
def sample_state(observation, dealer):
    secrets = [100 + dealer.below(900) for _ in observation.totals]
    if observation.seat is not None:
        secrets[observation.seat] = observation.secret
    totals = list(observation.totals)
    return State(observation.options, secrets, totals, observation.turn, [])


@hookimpl
def shuffle_hidden(state, seat, dealer):
    for other in range(len(state.secrets)):
        if other != seat:
            state.secrets[other] = 100 + dealer.below(900)


@hookimpl
def draw_text(observation):
    return str(observation.totals)


class _Module:
    """The hooks of the game, some of them replaced."""

    def __init__(self, hooks: dict[str, Any]) -> None:
        own = {name: value for name, value in globals().items() if _is_hook(value)}
        for name, value in {**own, **hooks}.items():
            if value is not None:
                setattr(self, name, value)


def _is_hook(value: object) -> bool:
    return hasattr(value, "fritillary_impl")


def plugin(**hooks: Callable[..., Any] | None) -> Plugin:
    """Return the plugin with hooks added, replaced, or left out (``None``)."""
    marked = {
        name: value if value is None or _is_hook(value) else hookimpl(value)
        for name, value in hooks.items()
    }
    return Plugin("race", _Module(marked))


def registry(**hooks: Callable[..., Any] | None) -> Registry:
    """Return a registry that holds the game."""
    found = Registry()
    found.add_game(plugin(**hooks))
    return found


REGISTRY = registry()
GAME: Game[Any, Any, Any] = REGISTRY.game("race")


def masked() -> Registry:
    """Return the game in which others' steps are not seen, and the wind by seat 0."""

    def observe_action(state, action, seat):
        if isinstance(action, Wind):
            return action if seat == 0 else None
        return Step(0)

    return registry(observe_action=observe_action)
