"""Observations that somebody has made up, for games that draw worlds from them."""

from __future__ import annotations

import copy
import random

import pytest
from attrs import evolve
from tests.games.random_play import sampled

from fritillary.bots.search.analysis import position_of
from fritillary.core.dealer import FastDealer
from fritillary.core.errors import FritillaryError, InvalidPositionError

#: Numbers that a careless rule counts up to, shifts by or divides by.
NUMBERS = (-1, 0, 1, 2, 3, 7, 11, 15, 54, 255, 10**6, 2**31, 2**40, 2**52, -(2**40))


def spots(data, path=()):
    """Yield the paths to all parts of plain data."""
    if path:
        yield path
    pairs = []
    if isinstance(data, dict):
        pairs = list(data.items())
    elif isinstance(data, list):
        pairs = list(enumerate(data))
    for key, value in pairs:
        yield from spots(value, (*path, key))


def at(data, path):
    """Return a part of plain data."""
    for key in path:
        data = data[key]
    return data


def forge(data, rng):
    """Change one to three parts of an observation in place; not its options."""
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        paths = [path for path in spots(data) if path[0] != "options"]
        *path, key = rng.choice(paths)
        parent = at(data, path)
        value = parent[key]
        how = rng.random()
        if isinstance(value, int) and how < 0.6:
            parent[key] = rng.choice(NUMBERS)
        elif isinstance(value, list) and value and how < 0.3:
            value.append(copy.deepcopy(rng.choice(value)))
        elif isinstance(value, list) and value and how < 0.5:
            value.pop(rng.randrange(len(value)))
        elif isinstance(value, list) and how < 0.6:
            rng.shuffle(value)
        elif isinstance(value, list) and how < 0.65:
            value *= 50
        elif how < 0.9:
            alike = [one for one in paths if type(at(data, one)) is type(value)]
            parent[key] = copy.deepcopy(at(data, rng.choice(alike)))
        else:
            parent[key] = None


def positions(game, options, seats, rng):
    """Yield the states of a random match, the last one after its end."""
    state = game.new(FastDealer(rng), options, seats)
    while (seat := game.decision_point(state).seat) is not None:
        yield state, seat
        game.apply(state, rng.choice(game.legal(state)))
    yield state, 0


def look_at_forged(game, options, seats, seed, count):
    """Ask about so many forged observations; return how many were refused.

    All that is to be seen in it is that it comes to its end: each is a position like
    any other, or refused in one line.
    """
    rng = random.Random(seed)
    states = [
        (game.copy(state), seat) for state, seat in positions(game, options, seats, rng)
    ]
    refused = 0
    for _ in range(count):
        state, seat = rng.choice(states)
        data = game.codec.observation_to_data(game.seen(state, seat))
        forge(data, rng)
        try:
            position_of(game, game.codec.observation_from_data(data, options))
        except FritillaryError as error:
            assert error.message.isprintable()  # noqa: PT017 - both ends are good
            refused += 1
    return refused


def draw_from_all(game, options, seats, seed):
    """Draw a world from each observation of a random match."""
    rng = random.Random(seed)
    dealer = FastDealer(rng)
    for state, _ in positions(game, options, seats, rng):
        for seat in (None, *range(seats)):
            seen = game.seen(state, seat)
            assert game.seen(game.sample_state(seen, dealer), seat) == seen


def check_refusals(game, one, made_up):
    """Check that what is wrong with made-up observations is told in one line.

    Args:
        game: the rules.
        one: an observation as a deal gives it.
        made_up: changes to it, with what is said of each.
    """
    for change, why in made_up:
        with pytest.raises(InvalidPositionError, match=why) as caught:
            sampled(game, evolve(one, **change), FastDealer(0))
        assert caught.value.message.startswith("no deal gives this observation: ")
        assert caught.value.message.isprintable()
