"""Why a seat may not do something, from what the seat knows."""

from __future__ import annotations

from typing import Final

from fritillary import hookimpl
from fritillary_games import turn
from fritillary_games.lepidoptery.actions import (
    PLAYS,
    RANKS,
    SIZES,
    STEPS,
    Action,
    Combo,
    Play,
    notation,
    ranks_of,
)
from fritillary_games.lepidoptery.model import Observation

#: With the article, as it stands in a sentence.
_NAMES: Final = {
    Combo.SINGLE: "a single",
    Combo.PAIR: "a pair",
    Combo.TRIPLE: "a triple",
    Combo.RUN2: "a run of two",
    Combo.RUN3: "a run of three",
}


@hookimpl
def explain_illegal(observation: Observation, action: Action) -> str:
    """Name the first rule that forbids an action (L-f, L-g, L-i, L-l)."""
    why = not_to_move(observation)
    if why is None:
        if isinstance(action, Play):
            why = obstacle(observation, action)
        elif observation.table is None:
            example = any_play(observation)
            if example is not None:
                why = (
                    "you lead: the leader may pass only without a legal play, and "
                    f"you can play {notation(example)}"
                )
    return why or f"{notation(action)} is legal"


def not_to_move(observation: Observation) -> str | None:
    """Say why the observer may not act at all, or return nothing."""
    winner = observation.winner
    over = f"the game is over: seat {winner} has won"
    to_move = observation.to_move if winner is None else None
    return turn.not_to_move(observation.seat, to_move, over)


def any_play(observation: Observation) -> Play | None:
    """Return the first play the seat to move may choose, if there is one."""
    for play in PLAYS:
        if obstacle(observation, play) is None:
            return play
    return None


def obstacle(observation: Observation, play: Play) -> str | None:
    """Say why the seat to move may not make a play, or return nothing."""
    if not play.cost:
        return _no_combination(play)
    combo = play.combo
    name = _NAMES[combo]
    options = observation.options
    seat = observation.to_move
    # Its own marker, which only its own pass resets (L-f, L-h).
    if seat is None or observation.markers[seat] is combo:
        return f"your marker shows {name}: you may not play {name} again until you pass"
    column = options.order.index(combo)
    if len(observation.columns[column]) >= options.heights[column]:
        return f"the {combo.value} column is full"
    beaten = observation.table
    if beaten is not None:
        if combo is beaten.combo and not options.same_type_may_beat:
            return (
                f"{name} may not beat {name}, and you have to beat {notation(beaten)}"
            )
        if not _beats(play, beaten):
            return (
                f"{notation(play)} does not beat {notation(beaten)}: its lowest rank "
                "must be higher, or the same with more cards"
            )
    if play.joker and not observation.jokers[seat]:
        return "your joker is face down until you pass"
    return _missing(observation.hand, play)


def _beats(play: Play, beaten: Play) -> bool:
    """Say whether a play beats another, types aside (L-g)."""
    return play.rank > beaten.rank or (
        play.rank == beaten.rank and SIZES[play.number] > SIZES[beaten.number]
    )


def _missing(hand: tuple[int, ...], play: Play) -> str | None:
    """Name the first rank of which the hand holds too few."""
    ranks = list(ranks_of(play))
    if play.joker:
        ranks.remove(play.joker)
    for rank in ranks:
        if hand.count(rank) < ranks.count(rank):
            return (
                f"{notation(play)} takes {_times(ranks.count(rank))} {rank} from your "
                f"hand, which holds {_times(hand.count(rank))}"
            )
    return None


def _times(count: int) -> str:
    return ("no", "one", "two", "three")[count]


def _no_combination(play: Play) -> str:
    if play.joker and play.combo is Combo.SINGLE:
        return "the joker is never played as a single"
    ranks = [play.rank + step for step in STEPS[play.number]]
    if play.joker and play.joker not in ranks:
        return f"the joker cannot stand for {play.joker} in {_NAMES[play.combo]}"
    return (
        f"there is no {play.combo.value} from {play.rank}: ranks go from "
        f"{RANKS[0]} to {RANKS[-1]}"
    )
