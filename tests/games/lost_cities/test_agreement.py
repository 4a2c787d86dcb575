"""Random play against the naive second implementation: 20,000 plies and more."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any, Final

import pytest
from tests.games.lost_cities.naive import NaiveLostCities
from tests.games.lost_cities.support import GAME, OPTIONS

from fritillary import FastDealer
from fritillary_games.lost_cities.actions import Action, Discard, Draw, Play
from fritillary_games.lost_cities.cards import BITS, COLOURS, cards_in
from fritillary_games.lost_cities.exploits import Exploit
from fritillary_games.lost_cities.model import NextStarter, Options, State

#: For each of the option sets.
PLIES: Final = 3_000

#: Options that the others do not have: single games and short ones, to see many ends.
MORE: Final = {
    "ties": Options(turn_cap=1, next_starter=NextStarter.LAST_WINNER, tie_break=1),
    "short": Options(turn_cap=9, exploits=(Exploit.ALL_COLOURS, Exploit.THREE_WAGERS)),
}

#: What the naive game calls an exploit, where it is not the same.
NAMES: Final = {Exploit.SUM_OF_FORTY: "forty-points"}


def name_of(exploit: Exploit) -> str:
    return NAMES.get(exploit, exploit.value)


def card_of(card: int) -> tuple[str, int]:
    return COLOURS[card // BITS].value, card % BITS


def naive_twin(state: State) -> NaiveLostCities:
    options: Options = state.options
    first = [card for hand in state.hands for card in cards_in(hand)]
    packs = [(*first, *state.deck), *state.later]
    return NaiveLostCities(
        [[card_of(card) for card in pack] for pack in packs],
        colours=options.colours,
        games=options.games,
        starter=options.starter,
        next_starter=options.next_starter.value,
        tie_break=options.tie_break,
        turn_cap=options.turn_cap,
        exploits=tuple(map(name_of, options.exploits)),
    )


def plain(action: Action) -> tuple[Any, ...]:
    if isinstance(action, Draw):
        return ("take", action.source.value) if action.source else ("draw",)
    verb = "play" if isinstance(action, Play) else "discard"
    return (verb, action.colour.value, action.rank)


def assert_equal(state: State, naive: NaiveLostCities) -> None:
    colours = [colour.value for colour in COLOURS[: state.options.colours]]
    seen = GAME.observe(state, None)
    for seat in (0, 1):
        hand = Counter(map(card_of, cards_in(state.hands[seat])))
        assert hand == Counter(naive.hands[seat])
        assert GAME.observe(state, seat).expeditions == seen.expeditions
        for number, colour in enumerate(colours):
            for each in (0, 1):
                ranks = seen.expeditions[each][number]
                assert list(ranks) == naive.expeditions[each][colour]
            pile = naive.piles[colour]
            if state.options.discard_piles.value == "open":
                assert list(seen.discards[number]) == pile
            else:
                assert list(seen.discards[number]) == sorted(pile[:-1]) + pile[-1:]
    assert [card_of(card) for card in state.deck] == naive.deck
    assert seen.must_draw == (naive.phase == "draw")
    assert (seen.barred and seen.barred.value) == naive.barred
    assert (seen.game, seen.starter, seen.turns) == (
        naive.game + 1,
        naive.starter,
        naive.turns,
    )
    scores = [list(each) for each in seen.scores]
    if naive.over:
        assert scores == naive.game_scores
        assert list(seen.totals) == naive.totals
    else:
        assert scores == [*naive.game_scores, [naive.points(0), naive.points(1)]]
        assert seen.to_move == naive.to_move
    claimed = {
        name_of(exploit): owner
        for exploit, owner in zip(state.options.exploits, seen.exploits, strict=True)
        if owner is not None
    }
    assert claimed == naive.claimed


@pytest.mark.parametrize("name", [*OPTIONS, *MORE])
def test_both_implementations_agree(name: str) -> None:
    options = {**OPTIONS, **MORE}[name]
    rng = random.Random(name)
    plies = 0
    while plies < PLIES:
        state = GAME.new(FastDealer(plies), options)
        naive = naive_twin(state)
        # Many plays bring long expeditions and exploits, many discards long piles.
        favourite = rng.choice((None, Play, Discard))
        while GAME.outcome_of(state) is None:
            legal = GAME.legal_actions(state)
            assert {plain(action) for action in legal} == naive.legal()
            choices = [each for each in legal if type(each) is favourite]
            action = rng.choice(choices or legal)
            GAME.apply(state, action)
            naive.apply(plain(action))
            assert_equal(state, naive)
            plies += 1
        outcome = GAME.outcome_of(state)
        assert list(outcome.winners) == naive.winners
        assert list(outcome.scores) == naive.totals
        capped = naive.deck != []
        assert outcome.reason == ("turn-cap" if capped else "pile-empty")


def test_the_agreement_covers_twenty_thousand_plies() -> None:
    assert PLIES * (len(OPTIONS) + len(MORE)) >= 20_000
