"""What is hidden: observations, drawn states, shuffled truths."""

from __future__ import annotations

import copy
import itertools
import pickle
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import pytest
from tests.games.lost_cities.support import (
    ALL_EXPLOITS,
    GAME,
    OPTIONS,
    SINGLE,
    SIX,
    TOP_ONLY,
    legal,
    play,
    position,
    states,
)
from tests.games.random_play import sampled, shuffled

from fritillary import Dealer, FastDealer
from fritillary.testing import distribution
from fritillary_games.lost_cities.cards import Colour, cards_in, pile_ranks
from fritillary_games.lost_cities.model import DiscardPiles, Options, State

VIEWERS = (0, 1, None)
EMPTY = ((),) * 5

sample = partial(sampled, GAME)
shuffle = partial(shuffled, GAME)


# ------------------------------------------------------------------- observations


def test_an_observation_shows_the_own_hand_and_what_is_public() -> None:
    state = position(
        """
        hand 0: red W W 9, blue 2 3, white 10, yellow 4
        draw: not green
        expedition 0: green W 3
        expedition 1: blue 4 10
        discards: green 2 9, white 5
        known 1: yellow 7
        hand 1: yellow 7
        game: 2
        score 1: -12 30
        starter: 1
        turns: 15
        """,
        Options(tie_break=1),
    )
    seen = GAME.observe(state, 0)
    assert (seen.seat, seen.to_move, seen.must_draw) == (0, 0, True)
    assert seen.barred is Colour.GREEN
    assert seen.hand == ((4,), (2, 3), (10,), (), (0, 0, 9))
    assert seen.known == (EMPTY, ((7,), (), (), (), ()))
    assert seen.expeditions == (
        ((), (), (), (0, 3), ()),
        ((), (4, 10), (), (), ()),
    )
    assert seen.discards == ((), (), (5,), (2, 9), ())
    assert (seen.deck_size, seen.game, seen.starter, seen.turns) == (38, 2, 1, 15)
    assert seen.scores == ((-12, 30), (-34, -6))
    assert seen.totals == (-46, 24)
    assert (seen.exploits, seen.reason) == ((), None)


def test_a_spectator_sees_no_hand_but_what_is_known_of_both() -> None:
    state = position("hand 0: red 7\nknown 0: red 7\nhand 1: blue W\nknown 1: blue W")
    seen = GAME.observe(state, None)
    assert (seen.seat, seen.hand, seen.to_move) == (None, EMPTY, 0)
    assert seen.known == (((), (), (), (), (7,)), ((), (0,), (), (), ()))


def test_after_the_end_nobody_is_to_move_and_hands_stay_hidden() -> None:
    state = position(LATE + "game: 3\nscore 1: 0 0\nscore 2: 0 0", Options())
    play(state, "discard yellow 2", "draw", "discard green 9", "draw")
    for viewer in VIEWERS:
        seen = GAME.observe(state, viewer)
        assert (seen.to_move, seen.must_draw, seen.reason) == (
            None,
            False,
            "pile-empty",
        )
        assert seen.game == len(seen.scores) == 3
    # A player can count the cards now; a spectator cannot tell the hands apart.
    assert shuffle(state, 0, FastDealer(1)).hands == state.hands
    assert shuffle(state, None, FastDealer(1)).hands != state.hands


def known(state: State, seat: int) -> tuple[int, ...]:
    """Return the known red cards of a hand."""
    found: tuple[int, ...] = GAME.observe(state, None).known[seat][4]
    return found


def test_a_card_from_the_discards_is_known_until_it_is_played_or_discarded() -> None:
    state = position("hand 0: blue 2\nhand 1: blue 3 4 5\ndiscards: red 9 3")
    play(state, "play blue 2", "take red", "play blue 3", "take red")
    assert (known(state, 0), known(state, 1)) == ((3,), (9,))
    play(state, "play red 3", "draw")
    assert (known(state, 0), known(state, 1)) == ((), (9,))
    play(state, "discard red 9", "draw")
    assert (known(state, 0), known(state, 1)) == ((), ())


def test_of_equal_wagers_the_known_one_leaves_the_hand_first() -> None:
    state = position("hand 0: blue 2 3, red W\nhand 1: 8 cards\ndiscards: red W W")
    play(state, "play blue 2", "take red")
    play(state, legal(state)[0], "draw", "play blue 3", "take red")
    assert known(state, 0) == (0, 0)
    assert GAME.observe(state, 0).hand[4] == (0, 0, 0)
    for left in ((0,), (), ()):
        play(state, legal(state)[0], "draw", "discard red wager", "draw")
        assert known(state, 0) == left


@pytest.mark.parametrize("name", OPTIONS)
def test_what_is_known_of_a_hand_is_in_it(name: str) -> None:
    taken = 0
    for state in states(OPTIONS[name], 2):
        for hand, cards in zip(state.hands, state.known, strict=True):
            assert not Counter(cards_in(cards)) - Counter(cards_in(hand))
            taken += cards != 0
    assert taken > 50


def test_top_only_piles_tell_which_cards_lie_in_them_but_not_in_which_order() -> None:
    text = "discards: red 9 2 W 5 3"
    orders = set()
    for viewer in VIEWERS:
        state = position(text, TOP_ONLY)
        seen = GAME.observe(state, viewer)
        assert seen.discards[4] == (0, 2, 5, 9, 3)
        for seed in range(30):
            twin = shuffle(state, viewer, FastDealer(seed))
            assert GAME.observe(twin, viewer) == seen
            orders.add(pile_ranks(twin.piles[4]))
            drawn = sample(seen, FastDealer(seed))
            orders.add(pile_ranks(drawn.piles[4]))
    assert len(orders) == 24
    assert {order[-1] for order in orders} == {3}
    # With open piles there is one order, the true one.
    state = position(text)
    assert shuffle(state, 0, FastDealer(1)).piles == state.piles
    assert sample(GAME.observe(state, 0), FastDealer(1)).piles == state.piles


def test_a_card_that_comes_to_the_top_is_shown() -> None:
    state = position("hand 0: blue 2\ndiscards: red 9 2 4", TOP_ONLY)
    play(state, "play blue 2", "take red")
    assert GAME.observe(state, 1).discards[4] == (9, 2)


@pytest.mark.parametrize("visible", DiscardPiles)
def test_observations_stay_below_400_bytes(visible: DiscardPiles) -> None:
    options = Options(colours=6, exploits=ALL_EXPLOITS, discard_piles=visible)
    largest = 0
    for match in range(3):
        state = GAME.new(FastDealer(match), options)
        rng = FastDealer(match).stream("play")
        while True:
            for viewer in VIEWERS:
                raw = GAME.codec.encode_observation(GAME.observe(state, viewer))
                largest = max(largest, len(raw))
            if GAME.outcome_of(state) is not None:
                break
            actions = GAME.legal_actions(state)
            # One match in which as many cards as possible are known and nothing is
            # hidden in the draw pile, one of plays, one at random.
            choice = (actions[-1], actions[0], rng.choice(actions))[match]
            GAME.apply(state, choice)
    assert 200 < largest < 400


# ----------------------------------------------------------- drawn and shuffled states


@pytest.mark.parametrize("viewer", VIEWERS)
@pytest.mark.parametrize("name", OPTIONS)
def test_a_drawn_state_looks_the_same(name: str, viewer: int | None) -> None:
    dealer = FastDealer(3)
    for number, state in enumerate(states(OPTIONS[name], 2)):
        if number % 5:
            continue
        seen = GAME.observe(state, viewer)
        drawn = sample(seen, dealer)
        assert GAME.observe(drawn, viewer) == seen
        assert GAME.decision_point(drawn) == GAME.decision_point(state)
        if seen.to_move is not None and seen.to_move == viewer:
            assert GAME.legal_actions(drawn) == GAME.legal_actions(state)
        for cards, hand in zip(drawn.known, drawn.hands, strict=True):
            assert not Counter(cards_in(cards)) - Counter(cards_in(hand))
        assert drawn.playable == state.playable
        assert drawn.stocked == state.stocked
        assert len(drawn.later) == len(state.later)


@pytest.mark.parametrize("viewer", VIEWERS)
def test_shuffling_what_is_hidden_changes_the_truth_and_nothing_seen(
    viewer: int | None,
) -> None:
    dealer = FastDealer(7)
    for number, state in enumerate(states(Options(turn_cap=50), 2)):
        if number % 4:
            continue
        twin = shuffle(state, viewer, dealer)
        assert twin != state
        assert GAME.observe(twin, viewer) == GAME.observe(state, viewer)
        assert twin.known == state.known
        if viewer is not None:
            assert twin.hands[viewer] == state.hands[viewer]


@pytest.mark.parametrize("draw", [sample, shuffle], ids=["sample", "shuffle"])
def test_the_packs_of_later_games_are_hidden(draw: Callable[..., State]) -> None:
    state = GAME.new(FastDealer(1))
    for viewer in VIEWERS:
        twin = (
            sample(GAME.observe(state, viewer), FastDealer(2))
            if draw is sample
            else shuffle(state, viewer, FastDealer(2))
        )
        assert len(twin.later) == 2
        for one, other in zip(twin.later, state.later, strict=True):
            assert one != other
            assert sorted(one) == sorted(other)
        assert twin.later[0] != twin.later[1]
        assert twin.deck != state.deck


EVERYTHING = "W W W 2 3 4 5 6 7 8 9 10"

#: Unseen by seat 0: two red wagers, red 7 and green 9; two in hand, two to be drawn.
LATE = f"""
hand 0: yellow W W W 2 3 4 5 6
hand 1: blue W W 2 3 4 5, red W, green 9
known 1: blue W W 2 3 4 5
deck: red 7 W
discards: yellow 7 8 9 10, blue W 6 7 8 9 10, white {EVERYTHING},
 green W W W 2 3 4 5 6 7 8 10, red W 2 3 4 5 6 8 9 10
""".replace(",\n ", ", ")

#: The same cards, with one known in each hand.
WATCHED = LATE.replace(
    "known 1: blue W W 2 3 4 5", "known 1: blue W\nknown 0: yellow 2"
)


def worlds(state: State, viewer: int | None) -> Counter[tuple[Any, ...]]:
    """Count the physical arrangements of the unseen cards: hands and draw pile."""
    unseen: list[tuple[int, int]] = []
    held = []
    for seat in (0, 1):
        hidden = Counter(cards_in(state.hands[seat]))
        hidden -= Counter(cards_in(state.known[seat]))
        mine = [] if seat == viewer else list(hidden.elements())
        held.append(len(mine))
        unseen += [(card, len(unseen) + n) for n, card in enumerate(mine)]
    unseen += [(card, len(unseen) + n) for n, card in enumerate(state.deck)]
    found: Counter[tuple[Any, ...]] = Counter()
    for order in itertools.permutations(unseen):
        cards = [card for card, _ in order]
        first, rest = cards[: held[0]], cards[held[0] :]
        found[
            (tuple(sorted(first)), tuple(sorted(rest[: held[1]])), *rest[held[1] :])
        ] += 1
    return found


def world(state: State, truth: State, viewer: int | None) -> tuple[Any, ...]:
    hidden = []
    for seat in (0, 1):
        cards = Counter(cards_in(state.hands[seat]))
        cards -= Counter(cards_in(truth.known[seat]))
        hidden.append(() if seat == viewer else tuple(sorted(cards.elements())))
    return (*hidden, *state.deck)


@pytest.mark.parametrize("how", ["sample", "shuffle"])
def test_every_physical_arrangement_of_unseen_cards_weighs_the_same(how: str) -> None:
    state = position(LATE)
    expected = worlds(state, 0)
    total = expected.total()
    assert total == 24
    # Two wagers are two cards: hands with one of them are the likelier.
    assert max(expected.values()) == 2 * min(expected.values())
    seen = GAME.observe(state, 0)

    def draw(dealer: Dealer) -> tuple[Any, ...]:
        drawn = sample(seen, dealer) if how == "sample" else shuffle(state, 0, dealer)
        return world(drawn, state, 0)

    assert distribution(draw) == {
        each: Fraction(count, total) for each, count in expected.items()
    }


@pytest.mark.parametrize("how", ["sample", "shuffle"])
def test_a_spectators_arrangements_weigh_the_same_in_frequency(how: str) -> None:
    state = position(WATCHED)
    seen = GAME.observe(state, None)
    dealer = FastDealer(11)
    draws = 4_000
    wagers = tens = 0
    for _ in range(draws):
        drawn = (
            sample(seen, dealer) if how == "sample" else shuffle(state, None, dealer)
        )
        assert GAME.observe(drawn, None) == seen
        # Fourteen cards are hidden in the hands, two in the draw pile.
        wagers += drawn.deck.count(cards_in(state.hands[0])[0])
        tens += drawn.deck[0] == state.deck[0]
    # Three of the 16 are yellow wagers; five standard errors.
    assert abs(wagers - draws * 2 * 3 / 16) < 5 * (draws * 2 * 3 / 16) ** 0.5
    assert abs(tens - draws / 16) < 5 * (draws / 16) ** 0.5


@pytest.mark.parametrize("how", ["sample", "shuffle"])
def test_every_order_below_the_tops_weighs_the_same(how: str) -> None:
    state = position("discards: red W 4 W 9, blue 2 3 4", TOP_ONLY)
    seen = GAME.observe(state, 0)
    dealer = FastDealer(5)
    found: Counter[tuple[Any, ...]] = Counter()
    for _ in range(3_000):
        drawn = sample(seen, dealer) if how == "sample" else shuffle(state, 0, dealer)
        found[(pile_ranks(drawn.piles[4]), pile_ranks(drawn.piles[1]))] += 1
    # Three orders of two wagers and a 4, two of the blue cards.
    assert len(found) == 6
    assert all(abs(count - 500) < 110 for count in found.values())


def test_equal_dealers_draw_equal_states() -> None:
    seen = GAME.observe(GAME.new(FastDealer(1)), 0)
    assert sample(seen, FastDealer(4)) == sample(seen, FastDealer(4))
    assert sample(seen, FastDealer(4)) != sample(seen, FastDealer(5))


# ------------------------------------------------------------------ bytes and copies


@pytest.mark.parametrize("name", OPTIONS)
def test_states_survive_bytes_copies_and_pickles(name: str) -> None:
    codec = GAME.codec
    for number, state in enumerate(states(OPTIONS[name], 1)):
        if number % 3:
            continue
        for twin in (
            codec.decode_state(codec.encode_state(state), state.options),
            GAME.copy(state),
            pickle.loads(pickle.dumps(state)),  # noqa: S301 - our own
            copy.deepcopy(state),
        ):
            assert twin == state
            assert twin.playable == state.playable
            assert twin.stocked == state.stocked
            assert twin.layout is state.layout
            assert codec.encode_state(twin) == codec.encode_state(state)
        assert len(pickle.dumps(state)) < 3_000
        for viewer in VIEWERS:
            seen = GAME.observe(state, viewer)
            raw = codec.encode_observation(seen)
            assert codec.decode_observation(raw, state.options) == seen


def test_a_copy_is_independent_and_shares_the_packs() -> None:
    for state in states(Options(turn_cap=30), 1):
        before = GAME.codec.encode_state(state)
        twin = GAME.copy(state)
        assert twin.later is state.later
        assert twin.deck is state.deck
        if GAME.outcome_of(state) is None:
            for action in GAME.legal_actions(twin):
                GAME.apply(GAME.copy(state), action)
            GAME.apply(twin, GAME.legal_actions(twin)[0])
            assert twin != state
        assert GAME.codec.encode_state(state) == before


def test_the_same_seed_gives_the_same_deal_and_another_another() -> None:
    for options in (SINGLE, SIX, Options()):
        assert GAME.new(FastDealer(9), options) == GAME.new(FastDealer(9), options)
        assert GAME.new(FastDealer(9), options) != GAME.new(FastDealer(8), options)
    # The first game of a match is the single game of that seed.
    match, single = GAME.new(FastDealer(9)), GAME.new(FastDealer(9), SINGLE)
    assert (match.hands, match.deck) == (single.hands, single.deck)
