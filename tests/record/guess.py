"""Guess: a test game with hidden chance, no action table, and two to four seats.

Each round chance hides a digit, then each seat guesses it; no seat may guess the same
digit twice in a row. ``fail`` makes one hook raise, to see who takes the blame.
"""

from __future__ import annotations

from attrs import define, field, frozen

from fritillary import (
    ACTS,
    CHANCE,
    GameInfo,
    Information,
    Outcome,
    Over,
    hookimpl,
)


@frozen
class Options:
    """What may differ.

    Args:
        rounds: how many.
        fail: the hook that raises.
    """

    rounds: int = 2
    fail: str = ""


@frozen
class Guess:
    """A guess.

    Args:
        digit: from 0 to 9.
        why: whatever the seat says.
    """

    digit: int
    why: str = ""


@frozen
class Hide:
    """Chance hides a digit.

    Args:
        digit: from 0 to 9.
    """

    digit: int


@define
class State:
    """The truth.

    Args:
        options: of the match.
        seats: how many.
        digits: hidden so far.
        guesses: made so far.
    """

    options: Options
    seats: int
    digits: list[int] = field(factory=list)
    guesses: list[int] = field(factory=list)


@frozen
class Observation:
    """What all may know.

    Args:
        options: of the match.
        seats: how many.
        rounds: hidden digits so far.
        guesses: made so far.
    """

    options: Options
    seats: int
    rounds: int
    guesses: tuple[int, ...]


def fail(state, hook):
    if state.options.fail == hook:
        raise ZeroDivisionError(hook)


@hookimpl
def describe():
    return GameInfo(
        id="guess",
        title="Guess",
        summary="Guess hidden digits.",
        rules_version=1,
        min_seats=2,
        max_seats=4,
        information=Information.HIDDEN,
        chance=True,
        constant_sum=None,
        max_plies=20,
        options=Options,
        state=State,
        actions=(Guess, Hide),
        observation=Observation,
        reasons={"done": "All rounds were played."},
    )


@hookimpl
def new_state(options, seats, dealer):
    state = State(options, seats)
    fail(state, "new_state")
    return state


@hookimpl
def decision_point(state):
    rounds = len(state.guesses) // state.seats
    if len(state.digits) > rounds:
        return ACTS[len(state.guesses) % state.seats]
    if rounds < state.options.rounds:
        return CHANCE
    scores = [
        sum(
            state.guesses[turn * state.seats + seat] == digit
            for turn, digit in enumerate(state.digits)
        )
        for seat in range(state.seats)
    ]
    return Over(Outcome.ranked("done", scores))


@hookimpl
def legal_actions(state):
    fail(state, "legal_actions")
    before = state.guesses[-state.seats] if len(state.guesses) >= state.seats else None
    return tuple(Guess(digit) for digit in range(10) if digit != before)


@hookimpl
def chance_outcomes(state):
    return [(Hide(digit), 1) for digit in range(10)]


@hookimpl
def apply_action(state, action):
    fail(state, "apply_action")
    if isinstance(action, Hide):
        state.digits.append(action.digit)
    else:
        state.guesses.append(action.digit)


@hookimpl
def format_action(action):
    return f"{type(action).__name__.lower()} {action.digit}"


@hookimpl
def parse_action(text):
    return Guess(int(text.removeprefix("guess ")))


@hookimpl
def observe(state, seat):
    return Observation(
        state.options, state.seats, len(state.digits), tuple(state.guesses)
    )


@hookimpl
def observe_action(state, action, seat):
    return None if isinstance(action, Hide) else action


@hookimpl
def sample_state(observation, dealer):
    return State(
        observation.options,
        observation.seats,
        [dealer.below(10) for _ in range(observation.rounds)],
        list(observation.guesses),
    )


@hookimpl
def shuffle_hidden(state, seat, dealer):
    state.digits[:] = [dealer.below(10) for _ in state.digits]


@hookimpl
def draw_text(observation):
    return str(observation)
