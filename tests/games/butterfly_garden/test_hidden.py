"""What is hidden: observations, drawn states, shuffled truths."""

from __future__ import annotations

import copy
import pickle
from collections import Counter
from functools import partial

import pytest
from attrs import evolve
from tests.games.butterfly_garden.support import (
    GAME,
    SETUPS,
    position,
    states,
    taken,
)
from tests.games.random_play import sampled, shuffled

from fritillary import FastDealer
from fritillary_games.butterfly_garden.actions import COUNTS, Place, Tile
from fritillary_games.butterfly_garden.geometry import OFFSETS
from fritillary_games.butterfly_garden.model import (
    Observation,
    Options,
    State,
    Waiting,
)
from fritillary_games.butterfly_garden.position import parse_position
from fritillary_games.butterfly_garden.tables import kinds_in, tiles_in

TEXT = """
    seats: 3
    tiles: b2 lane 0, b1 knot 2, a2 arch 2
    hand 0: leaf star
    hand 1: knot knot
    hand 2: lane leaf
"""


def viewers(state: State) -> tuple[int | None, ...]:
    return (None, *range(len(state.hands)))


sample = partial(sampled, GAME)
shuffle = partial(shuffled, GAME)


def test_an_observation_holds_the_own_hand_and_what_is_public() -> None:
    state = parse_position(TEXT)
    seen = GAME.observe(state, 1)
    assert seen == Observation(
        options=Options(),
        seat=1,
        to_move=0,
        placed=(
            (Tile.ARCH, 1, -4, 2),
            (Tile.KNOT, -1, -3, 2),
            (Tile.LANE, 0, -3, 0),
        ),
        last=Place(Tile.ARCH, 1, -4, 2),
        waiting=seen.waiting,
        centre=(2, 2, 2, 2, 2, 3),
        released=None,
        owners=((0,), (0, 1), (2,), (2, 0), (1,), (1, 2)),
        hands=(None, (Tile.KNOT, Tile.KNOT), None),
        hand_sizes=(2, 2, 2),
        stack=45,
        unplaced=(13, 6, 13, 13, 6),
        taken=((1, 0, 0), (0, 0, 0), (0, 0, 0)),
        scores=(1, 0, 0),
        reason=None,
    )
    assert Waiting(1, -4, 0, 2) in seen.waiting
    assert len(seen.waiting) == 5


def test_a_spectator_sees_no_hand() -> None:
    seen = GAME.observe(parse_position(TEXT), None)
    assert (seen.seat, seen.hands, seen.to_move) == (None, (None,) * 3, 0)


def test_open_hands_are_seen_by_all() -> None:
    state = parse_position(TEXT, Options(open_hands=True))
    for viewer in viewers(state):
        assert GAME.observe(state, viewer).hands == tuple(map(tiles_in, state.hands))


def test_hidden_scores_are_left_out_until_the_end_but_for_the_own() -> None:
    state = parse_position(TEXT, Options(hide_scores=True))
    for viewer in viewers(state):
        seen = GAME.observe(state, viewer)
        for seat in range(3):
            known = seat == viewer
            assert (seen.scores[seat] is not None) == known
            assert (seen.taken[seat] is not None) == known
    tiles = "tiles: b2 lane 0, b1 knot 2, a2 arch 2\nseats: 3"
    over = parse_position(tiles, Options(hide_scores=True, max_rounds=1))
    assert GAME.observe(over, None).scores == (1, 0, 0)


@pytest.mark.parametrize("setup", ["stack", "hidden scores"])
def test_hidden_scores_follow_from_the_tiles(setup: str) -> None:
    """An observation is complete: what it does not state can be worked out."""
    got = 0
    for state in states(setup, 8):
        for viewer in viewers(state):
            seen = GAME.observe(state, viewer)
            if None in seen.scores:
                assert taken(sample(seen, FastDealer(1))) == taken(state)
                got += any(state.taken)
    assert got > 100


def test_the_tile_that_released_the_last_treasure_is_known() -> None:
    ring = [(q, r) for q, r in OFFSETS]
    for turn in range(6):
        order = ring[turn:] + ring[:turn]
        tiles = [Place(Tile.STAR, q, r, 0) for q, r in order]
        state = position(*map(GAME.format_action, tiles))
        seen = GAME.observe(state, None)
        assert seen.released == order[-1]
        assert sample(seen, FastDealer(1)).released == state.released
        hidden = evolve(seen, taken=(None, None), scores=(None, None))
        assert taken(sample(hidden, FastDealer(1))) == taken(state)


def test_after_the_end_nobody_is_to_move() -> None:
    state = parse_position("tiles: c3 star 0, c4 star 0", Options(max_rounds=1))
    for viewer in viewers(state):
        seen = GAME.observe(state, viewer)
        assert (seen.to_move, seen.reason) == (None, "rounds")


@pytest.mark.parametrize("setup", SETUPS)
def test_a_drawn_state_looks_the_same_and_holds_all_tiles(setup: str) -> None:
    dealer = FastDealer(3)
    for state in states(setup, 2):
        for viewer in viewers(state):
            seen = GAME.observe(state, viewer)
            drawn = sample(seen, dealer)
            assert GAME.observe(drawn, viewer) == seen
            assert GAME.decision_point(drawn) == GAME.decision_point(state)
            if seen.to_move is not None and seen.to_move == viewer:
                assert GAME.legal_actions(drawn) == GAME.legal_actions(state)
            assert drawn.board == state.board
            assert drawn.waiting == state.waiting
            assert drawn.taken == state.taken
            assert drawn.empty == state.empty
            assert drawn.layout is state.layout


@pytest.mark.parametrize("how", ["sample", "shuffle"])
def test_every_arrangement_of_unseen_tiles_weighs_the_same(how: str) -> None:
    # All but a few tiles are on the board; nothing but kinds matters here.
    state = position(options=Options())
    state.hands[0] = 0b01 << 8
    state.hands[1] = 0b01 << 6
    state.stack = [3, 0]
    counts = (1, 0, 0, 2, 1)
    seen = evolve(GAME.observe(state, 0), unplaced=counts, hand_sizes=(1, 1), stack=2)
    dealer = FastDealer(11)
    found: Counter[tuple[int, ...]] = Counter()
    for _ in range(3_000):
        twin = sample(seen, dealer) if how == "sample" else shuffle(state, 0, dealer)
        assert kinds_in(twin.hands[0]) == [4]
        found[(*kinds_in(twin.hands[1]), *twin.stack)] += 1
    # Two equal knots: each of the three orders has a third; 5 standard errors.
    assert set(found) == {(3, 3, 0), (3, 0, 3), (0, 3, 3)}
    assert all(abs(count - 1_000) < 130 for count in found.values())


@pytest.mark.parametrize("setup", ["two", "three", "open", "indigo four"])
def test_shuffling_what_is_hidden_changes_the_truth_and_nothing_seen(
    setup: str,
) -> None:
    dealer = FastDealer(7)
    differ = total = 0
    for state in states(setup, 2):
        for viewer in viewers(state):
            twin = shuffle(state, viewer, dealer)
            assert GAME.observe(twin, viewer) == GAME.observe(state, viewer)
            tiles = [*twin.stack]
            for hand in twin.hands:
                tiles += kinds_in(hand)
            seen = GAME.observe(state, None)
            assert Counter(tiles) == +Counter(dict(enumerate(seen.unplaced)))
            differ += twin != state
            total += 1
    assert differ > 0.8 * total


def test_the_own_next_tile_is_hidden() -> None:
    state = GAME.new(FastDealer(1))
    assert shuffle(state, 0, FastDealer(2)).stack != state.stack
    assert sample(GAME.observe(state, 0), FastDealer(2)).stack != state.stack


def test_equal_dealers_draw_equal_states() -> None:
    seen = GAME.observe(GAME.new(FastDealer(1)), 0)
    assert sample(seen, FastDealer(4)) == sample(seen, FastDealer(4))
    assert sample(seen, FastDealer(4)) != sample(seen, FastDealer(5))


@pytest.mark.parametrize("setup", SETUPS)
def test_states_survive_bytes_copies_and_pickles(setup: str) -> None:
    codec = GAME.codec
    for state in states(setup, 1):
        for twin in (
            codec.decode_state(codec.encode_state(state), state.options),
            GAME.copy(state),
            pickle.loads(pickle.dumps(state)),  # noqa: S301 - our own
            copy.deepcopy(state),
        ):
            assert twin == state
            assert twin.empty == state.empty
            assert twin.layout == state.layout
            assert codec.encode_state(twin) == codec.encode_state(state)
        assert len(pickle.dumps(state)) < 3_000


@pytest.mark.parametrize("setup", SETUPS)
def test_observations_are_small_and_survive_bytes(setup: str) -> None:
    largest = 0
    for state in states(setup, 2):
        for viewer in viewers(state):
            seen = GAME.observe(state, viewer)
            raw = GAME.codec.encode_observation(seen)
            assert GAME.codec.decode_observation(raw, state.options) == seen
            largest = max(largest, len(raw))
    assert largest < 1_500


def test_the_largest_conceivable_observation_is_small() -> None:
    seen = GAME.observe(position(seats=4, options=Options(open_hands=True)), 3)
    huge = evolve(
        seen,
        placed=((Tile.ARCH, -4, -4, 5),) * 54,
        waiting=(Waiting(3, -4, -4, 5),) * 12,
        last=Place(Tile.ARCH, -4, 4, 2),
        hands=((Tile.ARCH, Tile.ARCH),) * 4,
        released=(-1, -1),
        reason="no-treasures",
    )
    assert len(GAME.codec.encode_observation(huge)) < 1_500


def test_the_counts_of_unplaced_tiles_are_right() -> None:
    for state in states("three", 2):
        seen = GAME.observe(state, None)
        placed = Counter(tile for tile, *_ in seen.placed)
        assert seen.unplaced == tuple(
            count - placed[tile] for tile, count in zip(Tile, COUNTS, strict=True)
        )
        assert sum(seen.unplaced) == seen.stack + sum(seen.hand_sizes)
