"""The rules by number: setting up, placing tiles, and the end."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from tests.games.butterfly_garden.support import (
    GAME,
    INDIGO,
    SETUPS,
    action,
    left,
    legal,
    position,
    states,
    waiting,
)

from fritillary import ACTS, FastDealer, SealedDealer
from fritillary_games.butterfly_garden.actions import ACTIONS, COUNTS, TILES
from fritillary_games.butterfly_garden.board import (
    EMPTY,
    EXIT,
    NUMBERS,
    PLACES,
    STEP,
    joins_exits,
)
from fritillary_games.butterfly_garden.model import (
    NO_TREASURES,
    VALUE_BITS,
    Edition,
    End,
    Options,
    Sharing,
)
from fritillary_games.butterfly_garden.tables import kinds_in

# ----------------------------------------------------------------- setting up


@pytest.mark.rule("I-a")
@pytest.mark.parametrize("setup", SETUPS)
def test_all_54_tiles_are_dealt_and_the_board_is_empty(setup: str) -> None:
    options, seats = SETUPS[setup]
    state = GAME.new(FastDealer(5), options, seats)
    tiles = [*state.stack]
    for hand in state.hands:
        tiles += kinds_in(hand)
    assert Counter(tiles) == dict(enumerate(COUNTS))
    assert state.board == [EMPTY] * 54


@pytest.mark.rule("I-a")
def test_a_full_board_takes_every_tile() -> None:
    full = 0
    for state in states("two", 30):
        placed = 54 - state.empty.bit_count()
        held = sum(len(kinds_in(hand)) for hand in state.hands)
        assert placed + held + len(state.stack) == 54
        full += placed == 54
    assert full > 10


@pytest.mark.rule("I-b")
def test_twelve_treasures_are_in_play_and_what_they_are_worth() -> None:
    state = position()
    seen = GAME.observe(state, None)
    assert seen.centre == (2, 2, 2, 2, 2, 3)
    assert [each.value for each in seen.waiting] == [1] * 6
    assert left(state) == 12
    state.taken = [1 + (1 << VALUE_BITS) + (1 << 2 * VALUE_BITS), 0]
    assert GAME.observe(state, None).scores == (6, 0)


@pytest.mark.rule("I-b")
@pytest.mark.parametrize(
    ("options", "names"),
    [
        (Options(), "1 blue, 2 pink, 3 purple"),
        (INDIGO, "1 amber, 2 emerald, 3 sapphire"),
    ],
)
def test_treasures_have_the_names_of_the_edition(options: Options, names: str) -> None:
    assert names in GAME.draw_text(GAME.observe(position(options=options), 0))


@pytest.mark.rule("I-d")
def test_corner_treasures_wait_at_the_edge_that_faces_the_centre() -> None:
    assert waiting(position()) == {
        (0, -4, 3): 1,
        (4, -4, 4): 1,
        (4, 0, 5): 1,
        (0, 4, 0): 1,
        (-4, 4, 1): 1,
        (-4, 0, 2): 1,
    }


@pytest.mark.rule("I-d")
def test_a_treasure_takes_the_u_turn_of_a_corner() -> None:
    # From its corner over b2 to b1, back into the corner, and to its other side.
    assert waiting(position("b2 lane 0"))[0, -3, 5] == 1
    assert waiting(position("b2 lane 0", "b1 knot 2"))[0, -4, 2] == 1


@pytest.mark.rule("I-f")
@pytest.mark.parametrize(
    ("seats", "sharing", "owners"),
    [
        (2, Sharing.SHARED, "0 1 0 1 0 1"),
        (2, Sharing.EXCLUSIVE, "0 1 0 1 0 1"),
        (3, Sharing.SHARED, "0 01 2 20 1 12"),
        (3, Sharing.EXCLUSIVE, "0 1 2 0 1 2"),
        (4, Sharing.SHARED, "01 12 03 31 20 23"),
        (4, Sharing.EXCLUSIVE, "01 12 03 31 20 23"),
    ],
)
def test_owners_by_number_of_seats(seats: int, sharing: Sharing, owners: str) -> None:
    state = position(seats=seats, options=Options(three_players=sharing))
    assert GAME.observe(state, None).owners == tuple(
        tuple(map(int, word)) for word in owners.split()
    )


@pytest.mark.rule("I-n")
def test_hands_are_two_tiles_in_butterfly_garden_and_one_in_indigo() -> None:
    for edition, size in ((Edition.BUTTERFLY_GARDEN, 2), (Edition.INDIGO, 1)):
        for seats in (2, 3, 4):
            state = GAME.new(FastDealer(1), Options(edition=edition), seats)
            seen = GAME.observe(state, 0)
            assert seen.hand_sizes == (size,) * seats
            assert seen.stack == 54 - size * seats


@pytest.mark.rule("I-o")
@pytest.mark.parametrize("starter", [0, 1, 2])
def test_the_starter_begins_and_seats_take_turns(starter: int) -> None:
    state = GAME.new(FastDealer(1), Options(starter=starter), 3)
    for ply in range(9):
        assert GAME.decision_point(state) is ACTS[(starter + ply) % 3]
        GAME.apply(state, GAME.legal_actions(state)[0])


def test_the_stack_is_the_same_however_the_play_goes() -> None:
    """The k-th tile drawn comes from a stream of its own."""
    one = GAME.new(SealedDealer(bytes(32)))
    dealer = SealedDealer(bytes(32))
    dealer.below(1000)
    other = GAME.new(dealer)
    assert one.stack == other.stack
    GAME.apply(one, GAME.legal_actions(one)[0])
    GAME.apply(one, GAME.legal_actions(one)[-1])
    GAME.apply(other, GAME.legal_actions(other)[-1])
    GAME.apply(other, GAME.legal_actions(other)[0])
    assert one.stack == other.stack == GAME.new(SealedDealer(bytes(32))).stack[:-2]


# --------------------------------------------------------------------- placing


@pytest.mark.rule("I-g")
@pytest.mark.parametrize("setup", SETUPS)
def test_legal_are_the_tiles_in_hand_in_any_turn_on_any_empty_cell(setup: str) -> None:
    for number, state in enumerate(states(setup, 3)):
        if number % 5 == 0 and GAME.outcome_of(state) is None:
            hand = {TILES[kind] for kind in kinds_in(state.hands[state.to_move])}
            wanted = [
                place
                for place in ACTIONS
                if place.tile in hand and state.board[place.cell] == EMPTY
            ]
            found = GAME.legal_actions(state)
            assert type(found) is tuple
            assert list(found) == wanted


@pytest.mark.rule("I-g")
def test_a_turn_places_moves_and_draws() -> None:
    state = GAME.new(FastDealer(3))
    stack = [*state.stack]
    hand = kinds_in(state.hands[0])
    chosen = GAME.legal_actions(state)[0]
    GAME.play(state, chosen)
    assert state.board[chosen.cell] == chosen.orientation
    hand.remove(TILES.index(chosen.tile))
    assert kinds_in(state.hands[0]) == sorted([*hand, stack[-1]])
    assert state.stack == stack[:-1]
    assert state.last is chosen


@pytest.mark.rule("I-g")
def test_tiles_need_not_touch_each_other() -> None:
    state = position("a2 star 0")
    state.hands[1] = 1
    assert any(text.startswith("g4 arch") for text in legal(state))


@pytest.mark.rule("I-h")
def test_longer_routes_may_join_exits() -> None:
    state = position("a2 arch 0")
    state.hands[1] = action("a3 lane 0").unit
    GAME.play(state, action("a3 lane 0"))
    # In by an exit of a2, on into a3, out by one of its exits.
    entered = 6 * NUMBERS[1, -4]
    passed = STEP[state.board[NUMBERS[1, -4]]][entered]
    assert passed // 6 == NUMBERS[2, -4]
    assert STEP[state.board[NUMBERS[2, -4]]][passed] == EXIT


@pytest.mark.rule("I-h")
def test_no_legal_placement_joins_two_exits() -> None:
    for state in states("two", 2):
        if GAME.outcome_of(state) is None:
            for place in GAME.legal_actions(state):
                assert not joins_exits(place.cell, place.orientation)


# -------------------------------------------------------------------- the end


@pytest.mark.rule("I-l")
@pytest.mark.parametrize("setup", ["two", "three", "indigo four"])
def test_the_match_ends_when_no_treasure_is_left(setup: str) -> None:
    for state in states(setup, 5):
        outcome = GAME.outcome_of(state)
        assert (outcome is None) == bool(left(state))
        if outcome is not None:
            assert outcome.reason == "no-treasures"
            best = max(outcome.scores)
            assert all(outcome.scores[seat] == best for seat in outcome.winners)


@pytest.mark.rule("I-l")
@pytest.mark.rule("I-m")
@pytest.mark.parametrize(
    ("counts", "placing"),
    [
        (((3, 0, 0), (0, 2, 0)), (2, 1)),
        (((2, 0, 0), (0, 1, 0)), (1, 2)),
        (((1, 0, 1), (0, 2, 0)), (1, 1)),
        (((0, 0, 1), (1, 1, 0), (3, 0, 0)), (3, 2, 1)),
        (((0, 0, 2), (2, 2, 0), (2, 2, 0), (0, 0, 0)), (3, 1, 1, 4)),
        (((12, 0, 0), (0, 6, 0)), (1, 2)),
        (((0, 0, 5), (12, 1, 0)), (1, 2)),
    ],
)
def test_points_decide_then_the_number_of_treasures_then_the_win_is_shared(
    counts: tuple[tuple[int, int, int], ...], placing: tuple[int, ...]
) -> None:
    state = position(seats=len(counts))
    state.taken = [
        sum(count << VALUE_BITS * place for place, count in enumerate(each))
        for each in counts
    ]
    state.reason = NO_TREASURES
    outcome = GAME.outcome_of(state)
    assert outcome.placing == placing
    assert outcome.scores == tuple(a + 2 * b + 3 * c for a, b, c in counts)


@pytest.mark.rule("I-p")
@pytest.mark.parametrize("setup", ["two", "three", "four", "indigo two"])
def test_play_goes_on_with_the_tiles_in_hand_when_the_stack_is_empty(
    setup: str,
) -> None:
    options, _ = SETUPS[setup]
    after = 0
    for state in states(setup, 10):
        if not state.stack and GAME.outcome_of(state) is None:
            after += 1
            assert GAME.legal_actions(state)
        sizes = [len(kinds_in(hand)) for hand in state.hands]
        if state.stack and GAME.outcome_of(state) is None:
            assert set(sizes) == {options.hand_size}
    assert after > 10


def test_a_match_may_end_with_the_stack() -> None:
    ended = 0
    for state in states("stack", 10):
        outcome = GAME.outcome_of(state)
        if outcome is None:
            assert state.stack
        elif outcome.reason == "stack-empty":
            assert not state.stack
            # Each seat holds two tiles still.
            assert state.empty.bit_count() == 4
            ended += 1
    assert ended


def test_without_treasures_the_match_ends_whatever_else_would_end_it() -> None:
    for options in (Options(end=End.STACK_EMPTY), Options(max_rounds=9), Options()):
        state = position("b2 lane 0", "b1 knot 2", options=options)
        state.centre = 0
        state.waiting[0] &= 63 << 6 * NUMBERS[1, -4]
        state.hands[0] = action("a2 arch 2").unit
        assert left(state) == 1
        GAME.play(state, action("a2 arch 2"))
        assert GAME.outcome_of(state).reason == "no-treasures"
        # I-g: the seat does not draw any more.
        assert state.hands[0] == 0


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_a_match_may_end_after_some_rounds(seats: int) -> None:
    options = Options(max_rounds=3, starter=seats - 1)
    state = GAME.new(FastDealer(1), options, seats)
    rng = random.Random(1)
    for _ in range(3 * seats):
        assert GAME.outcome_of(state) is None
        GAME.apply(state, rng.choice(GAME.legal_actions(state)))
    assert GAME.outcome_of(state).reason == "rounds"
    # The last seat has drawn as well.
    assert GAME.observe(state, None).hand_sizes == (2,) * seats


def test_more_rounds_than_there_are_tiles_limit_nothing() -> None:
    options = Options(max_rounds=27, end=End.NO_TREASURES)
    for seats in (2, 3, 4):
        state = GAME.new(FastDealer(9), options, seats)
        rng = random.Random(9)
        while GAME.outcome_of(state) is None:
            GAME.apply(state, rng.choice(GAME.legal_actions(state)))
        assert GAME.outcome_of(state).reason == "no-treasures"


def test_no_match_is_longer_than_there_are_cells() -> None:
    assert GAME.info.max_plies == PLACES
