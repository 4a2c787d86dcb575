"""Pig: a dice game for 2 to 4 players. Chance in play, turns of several actions.

Rules. The player to move rolls a die as often as they like. Each roll adds to the
points of the turn, but a 1 loses them and ends the turn. Who holds, after at least one
roll, adds the points of the turn to their total. Who reaches the target wins at once.
After the last round the highest total wins; so no match goes on for ever.
"""

from collections.abc import Sequence

from attrs import define, field, frozen, validators

from fritillary import (
    ACTS,
    CHANCE,
    Dealer,
    DecisionPoint,
    GameInfo,
    Information,
    Outcome,
    Over,
    hookimpl,
)

# ----------------------------------------------------------------------- the values
# attrs classes of plain fields. Their documentation goes into the JSON Schemas that
# bot authors read.


@frozen
class Options:
    """What may differ between two matches.

    Args:
        target: points that win, 2 to 200.
        rounds: turns of each player, at most, 1 to 100.
    """

    target: int = field(default=100, validator=[validators.ge(2), validators.le(200)])
    rounds: int = field(default=50, validator=[validators.ge(1), validators.le(100)])


@frozen
class Roll:
    """Roll the die."""


@frozen
class Hold:
    """Add the points of the turn to the total and end the turn."""


@frozen
class Face:
    """The die shows a face: a chance action, which no seat takes.

    Args:
        pips: 1 to 6.
    """

    pips: int


@define
class State:
    """A position; everybody sees all of it, so it is the observation as well.

    Args:
        options: of the match.
        totals: points of each seat.
        seat: whose turn it is.
        turn: points of this turn so far.
        round: how many rounds are complete.
        rolling: whether the die is in the air.
    """

    options: Options
    totals: list[int]
    seat: int = 0
    turn: int = 0
    round: int = 0
    rolling: bool = False


# Made once: rules hand out these values and never build actions while playing.
ROLL, HOLD = TABLE = (Roll(), Hold())
ONLY_ROLL = (ROLL,)
DIE = tuple((Face(pips), 1) for pips in range(1, 7))


# ---------------------------------------------------------------------- family: game


@hookimpl
def describe() -> GameInfo:
    """Describe the game; called once, when it is loaded."""
    return GameInfo(
        id="pig",
        title="Pig",
        summary="Roll on or hold: a 1 loses the points of the turn.",
        rules_version=1,
        min_seats=2,
        max_seats=4,
        information=Information.PERFECT,
        chance=True,
        constant_sum=None,
        # A turn has at most 100 rolls of 2 or more, each with its face, and a hold.
        max_plies=4 * 100 * 201,
        options=Options,
        state=State,
        actions=(Roll, Hold, Face),
        observation=State,
        reasons={
            "target": "A player reached the target.",
            "rounds": "The last round was over.",
        },
        presets={"short": Options(target=30, rounds=10)},
    )


@hookimpl
def new_state(options: Options, seats: int, dealer: Dealer) -> State:
    """Set up; nothing is dealt."""
    return State(options, [0] * seats)


@hookimpl
def decision_point(state: State) -> DecisionPoint:
    """Say who acts: a seat, chance while the die is in the air, or nobody any more."""
    if state.rolling:
        return CHANCE
    if max(state.totals) >= state.options.target:
        return Over(Outcome.ranked("target", state.totals))
    if state.round == state.options.rounds:
        return Over(Outcome.ranked("rounds", state.totals))
    return ACTS[state.seat]


# -------------------------------------------------------------------- family: action


@hookimpl
def all_actions(options: Options, seats: int) -> Sequence[Roll | Hold]:
    """List every action of a seat, in a fixed order; chance actions do not belong."""
    return TABLE


@hookimpl
def legal_actions(state: State) -> Sequence[Roll | Hold]:
    """List what the seat to act may do, in table order."""
    return TABLE if state.turn else ONLY_ROLL


@hookimpl
def apply_action(state: State, action: Roll | Hold | Face) -> None:
    """Change the state in place, by an action of a seat or of chance."""
    if action == ROLL:
        state.rolling = True
        return
    if isinstance(action, Face):
        state.rolling = False
        state.turn = state.turn + action.pips if action.pips > 1 else 0
        total = state.totals[state.seat] + state.turn
        if action.pips > 1 and total < state.options.target:
            return
    # Held, at the target, or lost all to a 1: the turn is over.
    state.totals[state.seat] += state.turn
    state.turn = 0
    state.seat = (state.seat + 1) % len(state.totals)
    state.round += state.seat == 0


@hookimpl
def explain_illegal(observation: State, action: Roll | Hold | Face) -> str:
    """Say why an action is illegal; only holding ever is."""
    return "roll at least once before you hold"


@hookimpl
def chance_outcomes(state: State) -> Sequence[tuple[Face, int]]:
    """List the faces of the die with their weights, which are exact integers."""
    return DIE


@hookimpl
def format_action(action: Roll | Hold | Face) -> str:
    """Return the notation of an action; the table reads it back."""
    return (
        str(action.pips) if isinstance(action, Face) else type(action).__name__.lower()
    )


# ------------------------------------------------------------------- family: picture
# Nothing is hidden, so there is no observe(): an observation is a copy of the state.
# A game may also have draw_svg(), for pages and reports.


@hookimpl
def draw_text(observation: State) -> str:
    """Draw a position for a terminal."""
    options = observation.options
    rows = [f"seat {seat}: {total}" for seat, total in enumerate(observation.totals)]
    rows[observation.seat] += f" + {observation.turn}"
    rounds = f"rounds: {observation.round} of {options.rounds}"
    return "\n".join([*rows, f"{rounds}, target: {options.target}"])
