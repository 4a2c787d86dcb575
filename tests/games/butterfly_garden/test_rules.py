"""The rules by number, I-a to I-p, beside the geometry and the worked examples."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from tests.games.butterfly_garden.support import (
    GAME,
    INDIGO,
    SETUPS,
    action,
    at,
    left,
    legal,
    position,
    states,
    taken,
    waiting,
)

from fritillary import ACTS, FastDealer, SealedDealer
from fritillary_games.butterfly_garden.actions import ACTIONS, COUNTS, TILES
from fritillary_games.butterfly_garden.board import (
    CELLS,
    CORNER_ENTRIES,
    EMPTY,
    ENTRIES,
    EXIT,
    NUMBERS,
    ORIENTATIONS,
    PLACES,
    RELEASE,
    STEP,
    THROUGH,
    joins_exits,
)
from fritillary_games.butterfly_garden.geometry import OFFSETS, Cell
from fritillary_games.butterfly_garden.model import (
    NO_TREASURES,
    VALUE_BITS,
    Edition,
    End,
    Options,
    Sharing,
    State,
)
from fritillary_games.butterfly_garden.running import MET, runs
from fritillary_games.butterfly_garden.tables import kinds_in


def entries(state: State) -> int:
    ones, twos, threes = state.waiting
    return ones | twos | threes


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


# -------------------------------------------------------------------- running


@pytest.mark.rule("I-i")
def test_a_treasure_runs_to_an_empty_cell() -> None:
    state = position(at("T1", 0, -2), at("T1", 0, -3))
    assert waiting(state)[0, -2, 3] == 1


@pytest.mark.rule("I-i")
def test_a_treasure_runs_on_over_tiles_laid_before() -> None:
    row = ("e3 star 0", "e4 arch 2", "d4 lane 0")
    assert waiting(position(*row))[-4, 0, 2] == 1
    # e2 and e3 straight on, e4 up to the right, d4 further up.
    assert waiting(position(*row, "e2 star 0"))[0, -1, 1] == 1


@pytest.mark.rule("I-i")
def test_a_treasure_runs_out_through_an_exit() -> None:
    row = ("b2 lane 0", "b1 knot 2")
    assert left(position(*row)) == 12
    state = position(*row, "a2 arch 2")
    assert left(state) == 11
    assert taken(state) == [(1, 0, 0), (0, 0, 0)]


@pytest.mark.rule("I-j")
@pytest.mark.parametrize("setup", SETUPS)
def test_treasures_that_meet_score_for_nobody(setup: str) -> None:
    """Whatever leaves the board is either collected, or gone in pairs."""
    owners = GAME.observe(GAME.new(FastDealer(0), *SETUPS[setup]), None).owners
    shared = {len(each) for each in owners}
    for state in states(setup, 6):
        gone = 12 - left(state)
        got = sum(sum(each) for each in taken(state))
        if shared == {1}:
            assert (gone - got) % 2 == 0
            assert got <= gone
        elif shared == {2}:
            assert got % 2 == 0
            assert (gone - got // 2) % 2 == 0


@pytest.mark.rule("I-j")
def test_two_treasures_meet_at_the_far_end_of_a_route_as_well() -> None:
    # Such a position cannot arise: a treasure always has its route behind it.
    board = [EMPTY] * PLACES
    place = action("b3 star 0")
    board[place.cell] = place.orientation
    first = 6 * place.cell
    entry = first + 5
    far = STEP[place.orientation][entry]
    both = 1 << entry | 1 << far
    assert runs(board, both, place.cell) == [(entry, MET), (far, MET)]


@pytest.mark.rule("I-j")
def test_a_route_that_comes_back_to_the_new_tile_lets_two_treasures_meet() -> None:
    """One of them would leave where the other one waits."""
    board = [EMPTY] * PLACES
    for text in ("f6 leaf 0", "f5 lane 0", "g5 leaf 1"):
        place = action(text)
        board[place.cell] = place.orientation
    new = NUMBERS[1, 1]
    first = 6 * new
    # Out of the new tile to the left, around, in again below, out to the right below.
    assert runs(board, 1 << first | 1 << first + 3, new) == [
        (first, MET),
        (first + 3, MET),
    ]
    ((start, end),) = runs(board, 1 << first, new)
    assert (start, end) == (first, 6 * NUMBERS[1, 2])


@pytest.mark.rule("I-k")
def test_the_centre_releases_five_emeralds_and_then_the_sapphire() -> None:
    rng = random.Random(2)
    for _ in range(10):
        ring = [*OFFSETS]
        rng.shuffle(ring)
        for count in range(1, 7):
            tiles = [at("T1", *cell) for cell in ring[:count]]
            state = position(*tiles)
            seen = GAME.observe(state, None)
            assert len(seen.centre) == 6 - count
            values = sorted(waiting(state).values())
            assert values == [1] * 6 + [2] * min(count, 5) + [3] * (count == 6)
            assert seen.released == (ring[-1] if count == 6 else None)


@pytest.mark.rule("I-k")
def test_other_tiles_release_nothing() -> None:
    for cell in CELLS[:PLACES]:
        if cell not in OFFSETS:
            assert position(at("T1", *cell)).centre == 6


def permuted(
    state: State, cell: int, order: list[int]
) -> tuple[set[int], Counter[int]]:
    """Move the treasures at a new tile one by one; return who waits, who left."""
    here = {entry for entry in range(ENTRIES) if entries(state) >> entry & 1}
    if cell in RELEASE:
        here.add(RELEASE[cell])
    out: Counter[int] = Counter()
    for edge in order:
        start = entry = 6 * cell + edge
        if start not in here:
            continue
        here.remove(start)
        while True:
            tile = state.board[entry // 6]
            beyond = 6 * (entry // 6) + THROUGH[tile][entry % 6]
            if beyond in here:
                here.remove(beyond)
                break
            entry = STEP[tile][entry]
            if entry >= ENTRIES:
                assert EXIT <= entry < EXIT + 6
                out[entry - EXIT] += 1
                break
            if state.board[entry // 6] == EMPTY:
                if entry in here:
                    here.remove(entry)
                else:
                    here.add(entry)
                break
    return here, out


@pytest.mark.rule("I-i")
@pytest.mark.parametrize("setup", ["two", "four"])
def test_the_order_in_which_treasures_move_never_matters(setup: str) -> None:
    rng = random.Random(setup)
    several = 0
    for state in states(setup, 40):
        if GAME.outcome_of(state) is not None:
            continue
        place = rng.choice(GAME.legal_actions(state))
        after = GAME.copy(state)
        GAME.apply(after, place)
        near = entries(state) >> 6 * place.cell & 63
        before = GAME.copy(state)
        before.board[place.cell] = place.orientation
        order = [*range(6)]
        for _ in range(3):
            rng.shuffle(order)
            here, out = permuted(before, place.cell, order)
            assert sum(1 << entry for entry in here) == entries(after)
            got = sum(
                count * len(after.layout.owners[gate]) for gate, count in out.items()
            )
            assert got == sum(map(sum, taken(after))) - sum(map(sum, taken(state)))
        several += near.bit_count() > 1
    assert several > 50


def clockwise(cell: Cell) -> Cell:
    q, r = cell
    return -r, q + r


def test_turning_the_whole_board_turns_what_happens() -> None:
    """A sixth of a turn makes every gateway that of the other seat."""
    rng = random.Random(8)
    for number in range(25):
        state = GAME.new(FastDealer(number))
        tiles: list[str] = []
        twins: list[str] = []
        while GAME.outcome_of(state) is None and len(tiles) < 45:
            place = rng.choice(GAME.legal_actions(state))
            q, r = clockwise((place.q, place.r))
            pairs = ORIENTATIONS[place.orientation]
            turned = {frozenset((edge + 1) % 6 for edge in pair) for pair in pairs}
            (orientation,) = [
                index
                for index, each in enumerate(ORIENTATIONS)
                if {*map(frozenset, each)} == turned
            ]
            (twin,) = [
                each
                for each in ACTIONS
                if (each.q, each.r, each.orientation) == (q, r, orientation)
            ]
            tiles.append(GAME.format_action(place))
            twins.append(GAME.format_action(twin))
            GAME.apply(state, place)
        one, other = position(*tiles), position(*twins)
        assert waiting(other) == {
            (*clockwise((q, r)), (edge + 1) % 6): value
            for (q, r, edge), value in waiting(one).items()
        }
        assert taken(other) == taken(one)[::-1]


# ------------------------------------------------------------------ invariants


@pytest.mark.parametrize("setup", SETUPS)
def test_a_treasure_has_its_source_behind_it_and_every_source_one_end(
    setup: str,
) -> None:
    """Where treasures are follows from the tiles: an independent account.

    From every source with a tile before it a route leads to an empty cell, where the
    treasure waits, to an exit, where it left, or to another source: they met.
    """
    for state in states(setup, 4):
        wait: set[int] = set()
        out: Counter[int] = Counter()
        for source in (*CORNER_ENTRIES, *RELEASE.values()):
            entry = source
            if state.board[entry // 6] == EMPTY:
                if source in CORNER_ENTRIES:
                    wait.add(entry)
                continue
            while entry < ENTRIES and state.board[entry // 6] != EMPTY:
                entry = STEP[state.board[entry // 6]][entry]
            if entry < ENTRIES:
                wait.add(entry)
            elif entry < EXIT + 6:
                out[entry - EXIT] += 1
        assert sum(1 << entry for entry in wait) == entries(state)
        counts = [0] * len(state.hands)
        for gate, count in out.items():
            for owner in state.layout.owners[gate]:
                counts[owner] += count
        assert counts == [sum(each) for each in taken(state)]


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
