"""What is hidden: observations, drawn states, shuffled truths."""

from __future__ import annotations

import copy
import pickle
from collections import Counter
from functools import partial

import pytest
from tests.games.lepidoptery.support import (
    GAME,
    NO_PASS,
    OPTIONS,
    action,
    legal,
    play,
    position,
    states,
)
from tests.games.random_play import sampled, shuffled

from fritillary import FastDealer
from fritillary_games.lepidoptery.actions import ACTIONS
from fritillary_games.lepidoptery.model import Combo, Options
from fritillary_games.lepidoptery.rules import played
from fritillary_games.lepidoptery.tables import ranks_in

VIEWERS = (0, 1, None)

sample = partial(sampled, GAME)
shuffle = partial(shuffled, GAME)


def test_an_observation_shows_the_own_hand_and_what_is_public() -> None:
    state = position(
        """
        table: run2 5*-6
        hand 0: 9 2 2
        deck 0: 7 8
        hand 1: 4 cards
        deck 1: 3 cards
        marker 0: pair
        column pair: 0 1 0
        """
    )
    seen = GAME.observe(state, 0)
    assert (seen.seat, seen.to_move, seen.hand) == (0, 0, (2, 2, 9))
    assert (seen.hand_sizes, seen.deck_sizes) == ((3, 4), (2, 3))
    assert (len(seen.played[0]), len(seen.played[1])) == (33, 31)
    assert seen.markers == (Combo.PAIR, Combo.RUN2)
    assert seen.jokers == (True, False)
    assert seen.columns == ((), (1,), (), (0, 1, 0), ())
    assert seen.table == action("run2 5*-6")
    assert (seen.winner, seen.reason) == (None, None)


def test_a_spectator_sees_no_hand() -> None:
    state = GAME.new(FastDealer(1))
    seen = GAME.observe(state, None)
    assert (seen.seat, seen.hand, seen.to_move) == (None, (), 0)
    assert seen.hand_sizes == (12, 12)


def test_after_the_end_nobody_is_to_move() -> None:
    state = play(position("hand 0: 5\ndeck 0: none"), "single 5")
    for viewer in VIEWERS:
        seen = GAME.observe(state, viewer)
        assert (seen.to_move, seen.winner, seen.reason) == (None, 0, "all-shed")


@pytest.mark.parametrize("viewer", VIEWERS)
@pytest.mark.parametrize("name", OPTIONS)
def test_a_drawn_state_looks_the_same_and_holds_all_cards(
    name: str, viewer: int | None
) -> None:
    dealer = FastDealer(3)
    for state in states(OPTIONS[name], 6):
        seen = GAME.observe(state, viewer)
        drawn = sample(seen, dealer)
        assert GAME.observe(drawn, viewer) == seen
        assert GAME.decision_point(drawn) == GAME.decision_point(state)
        if seen.to_move is not None and seen.to_move == viewer:
            for game in (GAME, NO_PASS):
                assert game.legal_actions(drawn) == game.legal_actions(state)
        for seat in (0, 1):
            assert played(drawn, seat) == played(state, seat)
        if seen.winner is None:
            assert drawn.layout is state.layout


def test_drawn_states_can_be_played_to_the_end() -> None:
    dealer = FastDealer(3)
    for state in states(OPTIONS["uneven"], 5):
        drawn = sample(GAME.observe(state, 0), dealer)
        while GAME.decision_point(drawn).seat is not None:
            actions = GAME.legal_actions(drawn)
            GAME.play(drawn, actions[dealer.below(len(actions))])


@pytest.mark.parametrize("how", ["sample", "shuffle"])
def test_every_arrangement_of_unseen_cards_weighs_the_same(how: str) -> None:
    everything = [*range(2, 10)] * 4 + [1, 1, 1, 10, 10, 10]
    for card in (7, 7, 9, 3, 4):
        everything.remove(card)
    state = position(
        f"hand 0: 3\ndeck 0: 4\nhand 1: 7\ndeck 1: 9 7\n"
        f"played 1: {' '.join(map(str, [*everything, 3, 4]))}"
    )
    seen = GAME.observe(state, 0)
    dealer = FastDealer(11)
    found: Counter[tuple[int, ...]] = Counter()
    for _ in range(3_000):
        twin = sample(seen, dealer) if how == "sample" else shuffle(state, 0, dealer)
        found[(*ranks_in(twin.hands[1]), *(ranks_in(c)[0] for c in twin.decks[1]))] += 1
    # Two equal sevens: each of the three orders has a third; 5 standard errors.
    assert set(found) == {(7, 7, 9), (7, 9, 7), (9, 7, 7)}
    assert all(abs(count - 1_000) < 130 for count in found.values())


@pytest.mark.parametrize("viewer", VIEWERS)
def test_shuffling_what_is_hidden_changes_the_truth_and_nothing_seen(
    viewer: int | None,
) -> None:
    dealer = FastDealer(7)
    differ = total = 0
    for state in states(Options(), 10):
        twin = shuffle(state, viewer, dealer)
        assert GAME.observe(twin, viewer) == GAME.observe(state, viewer)
        for seat in (0, 1):
            assert played(twin, seat) == played(state, seat)
        if viewer is not None:
            assert twin.hands[viewer] == state.hands[viewer]
            seen, other = GAME.observe(state, viewer), GAME.observe(twin, viewer)
            assert GAME.draw_text(seen) == GAME.draw_text(other)
            for each in ACTIONS:
                assert GAME.explain(seen, each) == GAME.explain(other, each)
        differ += twin != state
        total += 1
    # Nothing is hidden once both decks are empty: all cards can be counted.
    assert differ > 0.8 * total


def test_the_own_deck_is_hidden_from_its_owner() -> None:
    state = GAME.new(FastDealer(1))
    twin = shuffle(state, 0, FastDealer(2))
    assert twin.decks[0] != state.decks[0]
    assert sample(GAME.observe(state, 0), FastDealer(2)).decks[0] != state.decks[0]


def test_equal_dealers_draw_equal_states() -> None:
    seen = GAME.observe(GAME.new(FastDealer(1)), 0)
    assert sample(seen, FastDealer(4)) == sample(seen, FastDealer(4))
    assert sample(seen, FastDealer(4)) != sample(seen, FastDealer(5))


@pytest.mark.parametrize("name", OPTIONS)
def test_states_survive_bytes_copies_and_pickles(name: str) -> None:
    codec = GAME.codec
    for state in states(OPTIONS[name], 3):
        for twin in (
            codec.decode_state(codec.encode_state(state), state.options),
            GAME.copy(state),
            pickle.loads(pickle.dumps(state)),  # noqa: S301 - our own
            copy.deepcopy(state),
        ):
            assert twin == state
            if state.reason == 0:
                assert twin.layout is state.layout
            assert codec.encode_state(twin) == codec.encode_state(state)
        assert len(pickle.dumps(state)) < 3_000
        for viewer in VIEWERS:
            seen = GAME.observe(state, viewer)
            raw = codec.encode_observation(seen)
            assert codec.decode_observation(raw, state.options) == seen


def test_a_copy_is_independent() -> None:
    for state in states(Options(), 3):
        before = GAME.codec.encode_state(state)
        if GAME.outcome_of(state) is None:
            twin = GAME.copy(state)
            GAME.apply(twin, GAME.legal_actions(twin)[0])
            assert twin != state
        assert GAME.codec.encode_state(state) == before


def test_a_full_column_counts_in_every_copy() -> None:
    state = position("hand 0: 5 5\ncolumn pair: 0 1 0 1 0 1\nto move: 0")
    raw = GAME.codec.encode_state(state)
    for twin in (
        GAME.copy(state),
        GAME.codec.decode_state(raw, state.options),
        sample(GAME.observe(state, 0), FastDealer(1)),
    ):
        assert (
            legal(twin)
            == legal(state)
            == ["single 5"]
            + [text for text in legal(state)[1:] if not text.startswith("pair")]
        )
