"""The rules I-i to I-k: where treasures run, and what the centre releases."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from tests.games.butterfly_garden.support import (
    GAME,
    SETUPS,
    action,
    at,
    left,
    position,
    states,
    taken,
    waiting,
)

from fritillary import FastDealer
from fritillary_games.butterfly_garden.actions import ACTIONS
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
)
from fritillary_games.butterfly_garden.geometry import OFFSETS, Cell
from fritillary_games.butterfly_garden.model import State
from fritillary_games.butterfly_garden.running import MET, runs


def entries(state: State) -> int:
    ones, twos, threes = state.waiting
    return ones | twos | threes


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
