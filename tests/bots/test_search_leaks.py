"""Worlds that a seat cannot tell apart are the same bytes to ISMCTS, and one choice."""

from __future__ import annotations

import json
import random
import subprocess
import sys

import pytest
from tests.bots.boards import BUNDLED, GAMES, KUHN_POKER
from tests.clients.languages import ROOT

from fritillary import FastDealer, SealedDealer
from fritillary.core.info import Information
from fritillary.core.points import Act, Over

HIDDEN = {
    name: game
    for name, game in GAMES.items()
    if game.info.information is Information.HIDDEN
}


def midway(game, seed, asked):
    """Return a position of random play in which a seat is asked.

    Args:
        game: the rules.
        seed: of deal and play.
        asked: so many decisions come before; fewer if the match is shorter.
    """
    rng = random.Random(seed)
    state = game.new(SealedDealer(seed.to_bytes(32, "big")))
    dealer = FastDealer(seed)
    found = state
    while not isinstance(point := game.decision_point(state), Over) and asked >= 0:
        if isinstance(point, Act):
            found = game.copy(state)
            asked -= 1
            action = rng.choice(game.legal_actions(state))
        else:
            action = game.draw_chance(state, dealer)
        game.apply(state, action)
    return found


def told(name, state, seed):
    """Return what a process is told of a position: bytes of what the seat may know."""
    game = GAMES[name]
    seat = game.decision_point(state).seat
    return json.dumps(
        {
            "game": name,
            "seats": game.info.min_seats,
            "options": game.codec.encode_options(state.options).hex(),
            "seat": seat,
            "observation": game.codec.encode_observation(
                game.observe(state, seat)
            ).hex(),
            "seed": seed,
            "iterations": 12,
        }
    )


@pytest.fixture(scope="module")
def choose():
    """Return a function that asks a process of its own."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.bots.chooser"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    ) as process:
        if process.stdin is None or process.stdout is None:
            raise TypeError
        into, out = process.stdin, process.stdout

        def ask(line):
            into.write(f"{line}\n")
            into.flush()
            return json.loads(out.readline())

        yield ask
        into.close()
        process.wait(60)


@pytest.mark.system
@pytest.mark.parametrize("name", HIDDEN)
def test_worlds_that_a_seat_cannot_tell_apart_get_equal_bytes_and_choices(name, choose):
    game = HIDDEN[name]
    differed = 0
    for seed in range(4):
        state = midway(game, seed, 1 if game is KUHN_POKER else 5 * seed)
        seat = game.decision_point(state).seat
        twin = game.copy(state)
        shuffle = game.shuffle_hidden
        assert shuffle is not None
        shuffle(twin, seat, FastDealer(seed + 100))
        differed += repr(twin) != repr(state)
        lines = [told(name, each, seed) for each in (state, twin)]
        assert lines[0] == lines[1]
        answers = [choose(line) for line in lines]
        assert answers[0] == answers[1]
    assert differed, "the worlds never differed"


@pytest.mark.system
def test_what_it_is_told_decides_not_the_order_of_asking(choose):
    game = BUNDLED["lepidoptery"]
    lines = [told("lepidoptery", midway(game, seed, 6), seed) for seed in (1, 2)]
    first = [choose(line) for line in lines]
    assert [choose(line) for line in reversed(lines)] == first[::-1]
