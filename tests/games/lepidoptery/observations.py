"""Observations to draw: examples, and many at random."""

from __future__ import annotations

import random

import pytest
from attrs import evolve

from fritillary_games.lepidoptery.model import (
    COMBOS,
    COPIES,
    Combo,
    Observation,
    Options,
    Play,
)
from fritillary_games.lepidoptery.pictures_facts import cards_of

DECK = tuple(rank for rank, n in enumerate(COPIES, 1) for _ in range(n))

START = Observation(
    options=Options(),
    seat=0,
    to_move=0,
    hand=(1, 1, 3, 3, 4, 5, 6, 6, 7, 7, 9, 10),
    hand_sizes=(12, 12),
    deck_sizes=(26, 26),
    played=((), ()),
    markers=(None, None),
    jokers=(True, True),
    columns=((), (), (), (), ()),
    table=None,
    winner=None,
    reason=None,
)
# Columns: run3, run2, single, pair, triple. The picture in docs/images.
MIDDLE = evolve(
    START,
    hand=(2, 2, 3, 4, 4, 4, 4, 6, 8, 8, 10),
    hand_sizes=(11, 10),
    deck_sizes=(6, 0),
    played=(
        (1, 1, 2, 3, 3, 3, 5, 5, 5, 5, 6, 6, 7, 7, 7, 8, 9, 9, 9, 10, 10),
        (
            *(1, 1, 1, 2, 2, 2, 3, 3, 3, 3, 4, 4, 5, 5, 5, 5, 6, 7, 7),
            *(8, 8, 8, 8, 9, 9, 9, 10, 10),
        ),
    ),
    markers=(Combo.SINGLE, Combo.RUN3),
    jokers=(True, False),
    columns=(
        (1, 0, 1, 1, 1),
        (1, 0, 1, 0, 0),
        (0, 0, 1, 0),
        (0, 1, 0, 0, 1, 1),
        (1, 1, 0),
    ),
    table=Play(Combo.RUN3, 2, joker=2),
)
FOUR = evolve(
    START,
    to_move=None,
    markers=(Combo.SINGLE, Combo.RUN2),
    columns=((1, 0), (0, 1), (0, 0, 0, 0), (1, 0, 1), (0,)),
    table=Play(Combo.SINGLE, 10),
    winner=0,
    reason="four-in-line",
)
SHED = evolve(
    START,
    options=Options(heights=(1,) * 5),
    seat=1,
    to_move=None,
    hand=(),
    hand_sizes=(3, 0),
    deck_sizes=(4, 0),
    played=(DECK[:31], DECK),
    markers=(Combo.PAIR, Combo.SINGLE),
    jokers=(False, False),
    columns=((), (1,), (1,), (0,), ()),
    table=Play(Combo.SINGLE, 10),
    winner=1,
    reason="all-shed",
)
UNEVEN = evolve(
    START,
    options=Options(
        heights=(12, 3, 6, 5, 1),
        order=(Combo.TRIPLE, Combo.SINGLE, Combo.RUN3, Combo.RUN2, Combo.PAIR),
        same_type_may_beat=False,
    ),
    to_move=1,
    hand=DECK,
    hand_sizes=(38, 38),
    deck_sizes=(0, 0),
    markers=(Combo.RUN3, Combo.RUN3),
    columns=((0,) * 6 + (1,) * 6, (), (1, 0), (), (0,)),
    table=Play(Combo.RUN3, 8, joker=8),
)
SPECTATOR = evolve(MIDDLE, seat=None, hand=())
EXAMPLES = {
    "start": START,
    "middle": MIDDLE,
    "four": FOUR,
    "shed": SHED,
    "uneven": UNEVEN,
    "spectator": SPECTATOR,
    "end seen by a spectator": evolve(SHED, seat=None),
    "without a winner": evolve(UNEVEN, to_move=None),
    "broken off at the start": evolve(START, to_move=None),
    "lowest board": evolve(START, options=Options(heights=(1,) * 5)),
    "highest board": evolve(START, options=Options(heights=(12,) * 5)),
}


def random_observation(seed: int) -> Observation:
    """Make up an observation; in range, but not always one that can be reached."""
    chance = random.Random(seed)
    heights = tuple(chance.randint(1, 12) for _ in COMBOS)
    cards = [chance.sample(DECK, 38) for _ in range(2)]
    hands = [chance.randint(0, 38) for _ in range(2)]
    decks = [chance.randint(0, min(26, 38 - hand)) for hand in hands]
    seat = chance.choice((None, 0, 1))
    winner = chance.choice((None, None, 0, 1))
    table = None
    if winner is not None or chance.random() < 0.7:
        combo = chance.choice(COMBOS)
        highest = {Combo.RUN2: 9, Combo.RUN3: 8}.get(combo, 10)
        table = Play(combo, chance.randint(1, highest))
        ranks = [0, *(rank for rank, _ in cards_of(table))]
        if combo is not Combo.SINGLE:
            table = evolve(table, joker=chance.choice(ranks))
    return Observation(
        options=Options(
            heights=heights,
            order=tuple(chance.sample(COMBOS, 5)),
            same_type_may_beat=chance.random() < 0.5,
        ),
        seat=seat,
        to_move=chance.randint(0, 1) if winner is None else None,
        hand=() if seat is None else tuple(sorted(cards[seat][: hands[seat]])),
        hand_sizes=tuple(hands),
        deck_sizes=tuple(decks),
        played=tuple(
            tuple(sorted(own[hand + deck :]))
            for own, hand, deck in zip(cards, hands, decks, strict=True)
        ),
        markers=tuple(chance.choice((None, *COMBOS)) for _ in range(2)),
        jokers=tuple(chance.random() < 0.5 for _ in range(2)),
        columns=tuple(
            tuple(chance.randint(0, 1) for _ in range(chance.randint(0, height)))
            for height in heights
        ),
        table=table,
        winner=winner,
        reason=None if winner is None else chance.choice(("four-in-line", "all-shed")),
    )


MANY = [
    *(pytest.param(value, id=name) for name, value in EXAMPLES.items()),
    *(
        pytest.param(random_observation(seed), id=f"random {seed}")
        for seed in range(40)
    ),
]
