"""Why a seat may not do something, from what the seat knows."""

from __future__ import annotations

from fritillary import hookimpl
from fritillary_games.lost_cities.actions import Action, Draw, Play, notation
from fritillary_games.lost_cities.cards import (
    COLOURS,
    NUMBERS,
    RANKS,
    WAGER,
    Colour,
    card_name,
)
from fritillary_games.lost_cities.model import Observation
from fritillary_games.turn import not_to_move


@hookimpl
def explain_illegal(observation: Observation, action: Action) -> str:
    """Name the first rule that forbids an action (C-c, C-d)."""
    why = not_to_move(observation.seat, observation.to_move, "the match is over")
    if why is None:
        if isinstance(action, Draw):
            why = _draw(observation, action)
        else:
            why = _card(observation, action.colour, action.rank)
            if why is None and isinstance(action, Play):
                why = _play(observation, action)
    return why or f"{notation(action)} is legal"


def _draw(observation: Observation, action: Draw) -> str | None:
    if not observation.must_draw:
        return "first play or discard a card, then draw"
    source = action.source
    if source is None:
        return None
    why = _no_colour(observation, source)
    if why is None:
        if not observation.discards[NUMBERS[source]]:
            return f"the {source.value} discard pile is empty"
        if source is observation.barred:
            return f"you may not take back the {source.value} card you just discarded"
    return why


def _card(observation: Observation, colour: Colour, rank: int) -> str | None:
    """Say why a card can be neither played nor discarded, or return nothing."""
    if observation.must_draw:
        return "you have played or discarded a card: now draw one"
    if rank not in RANKS:
        return f"there is no {colour.value} {rank}: ranks are 2 to 10, or 0 for a wager"
    why = _no_colour(observation, colour)
    if why is None and rank not in observation.hand[NUMBERS[colour]]:
        return f"you have no {card_name(colour, rank)} in your hand"
    return why


def _no_colour(observation: Observation, colour: Colour) -> str | None:
    colours = observation.options.colours
    if colour in COLOURS[:colours]:
        return None
    return f"{colour.value} is not in this game of {colours} colours"


def _play(observation: Observation, action: Play) -> str | None:
    """Say why a card of the hand may not be played, or return nothing (C-d)."""
    seat = observation.seat or 0
    colour = action.colour
    highest = max(observation.expeditions[seat][NUMBERS[colour]], default=WAGER)
    if action.rank == WAGER and highest != WAGER:
        return (
            f"wagers come before numbers: your {colour.value} expedition has "
            f"reached {highest}"
        )
    if action.rank < highest:
        return (
            f"ranks must rise: your {colour.value} expedition has reached {highest}, "
            f"so {action.rank} can only be discarded"
        )
    return None
