"""Observations that no deal can give are refused, and none that one can give."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve
from tests.games.forged import check_refusals, draw_from_all, look_at_forged
from tests.games.lost_cities.support import GAME, OPTIONS, states
from tests.games.random_play import sampled

from fritillary import FastDealer, InvalidPositionError
from fritillary_games.lost_cities.cards import Colour
from fritillary_games.lost_cities.model import Options


@pytest.mark.parametrize("options", OPTIONS)
def test_worlds_are_drawn_from_all_that_can_be_seen(options):
    draw_from_all(GAME, OPTIONS[options], 2, 3)


@pytest.mark.parametrize("options", OPTIONS)
def test_whatever_is_made_up_is_answered(options):
    assert look_at_forged(GAME, OPTIONS[options], 2, 7, 150) > 75


def seen() -> Any:
    """Return what the seat to act sees where it has to play or discard."""
    played = [
        state
        for state in states(Options(games=3), 1, 5)
        if len(state.deck) == 30 and not state.must_draw
    ]
    return GAME.seen(played[0], played[0].to_move)


def with_ranks(by_colour: Any, *ranks: int) -> Any:
    return (ranks, *by_colour[1:])


def made_up(one: Any) -> list[tuple[dict[str, Any], str]]:
    """Return changes to an observation, with what is said of each."""
    return [
        # These would have run for ever, or into memory.
        ({"game": -(2**40)}, "game -1099511627776 is none of 3"),
        ({"turns": -(2**40)}, "turns cannot be over"),
        ({"turns": 2**40}, "turns cannot be over"),
        ({"hand": with_ranks(one.hand, 2**40)}, "three wagers and"),
        ({"discards": with_ranks(one.hand, 2**31)}, "three wagers and"),
        ({"discards": with_ranks(one.hand, *[2] * 99)}, "three wagers and"),
        ({"known": (one.hand, with_ranks(one.hand, -1))}, "three wagers"),
        # And these would have been played on from.
        ({"seat": 2}, "the seats 0 and 1"),
        ({"to_move": -1}, "the seats 0 and 1"),
        ({"starter": 5}, "seat 5 cannot have started"),
        ({"to_move": None}, "either a seat is to act"),
        ({"reason": "boredom"}, "either a seat is to act"),
        ({"scores": ()}, "0 games have scores, not 1"),
        ({"exploits": (0,)}, "each exploit"),
        ({"barred": Colour.RED}, "nobody can be barred from red"),
        ({"hand": one.hand[:-1]}, "there are 5 colours"),
        ({"known": one.known[:1]}, "there are two seats"),
        ({"expeditions": (one.hand, one.hand)}, "in two places"),
        ({"seat": None, "known": (((),) * 5,) * 2}, "who looks on holds no cards"),
        ({"hand": ((),) * 5, "known": (((),) * 5,) * 2}, "holds 8 cards"),
    ]


def test_what_is_wrong_is_told_in_one_line():
    one = seen()
    check_refusals(GAME, one, made_up(one))


def test_a_seat_is_known_to_hold_what_it_holds():
    observation = seen()
    seat = observation.seat
    ranks = set(range(2, 11))
    for part in (observation.hand, observation.discards, *observation.expeditions):
        ranks -= set(part[0])
    known = list(observation.known)
    known[seat] = with_ranks(known[seat], *sorted(ranks)[:1])
    with pytest.raises(InvalidPositionError, match="known to hold a card"):
        sampled(GAME, evolve(observation, known=tuple(known)), FastDealer(0))
