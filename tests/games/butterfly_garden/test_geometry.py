"""The geometry is that of the rules, and what follows from it adds up."""

from __future__ import annotations

import itertools
import json
from collections import Counter

import pytest

from fritillary_games.butterfly_garden import geometry
from fritillary_games.butterfly_garden.actions import ACTIONS, COUNTS, PLACEMENTS
from fritillary_games.butterfly_garden.board import (
    CELLS,
    CORNER_ENTRIES,
    EDGE_NAMES,
    EXITS,
    NAMES,
    NUMBERS,
    ORIENTATIONS,
    OUTER,
    PLACES,
    RELEASE,
    SOURCE,
    STEP,
    THROUGH,
    entry_of,
    joins_exits,
    neighbour,
    turned,
    waits_at,
)

#: As the rules summary prints it.
PRINTED = json.loads(
    """
{"offsets":[[0,-1],[1,-1],[1,0],[0,1],[-1,1],[-1,0]],
 "centre":[0,0],
 "corners":[
  {"cell":[0,-4],"gem":3,"uturn":[2,4]},{"cell":[4,-4],"gem":4,"uturn":[3,5]},
  {"cell":[4,0],"gem":5,"uturn":[4,0]},{"cell":[0,4],"gem":0,"uturn":[5,1]},
  {"cell":[-4,4],"gem":1,"uturn":[0,2]},{"cell":[-4,0],"gem":2,"uturn":[1,3]}],
 "gateways":[{"id":1,"edges":[0,1],"cells":[[1,-4],[2,-4],[3,-4]]},
  {"id":2,"edges":[1,2],"cells":[[4,-3],[4,-2],[4,-1]]},
  {"id":3,"edges":[2,3],"cells":[[3,1],[2,2],[1,3]]},
  {"id":4,"edges":[3,4],"cells":[[-1,4],[-2,4],[-3,4]]},
  {"id":5,"edges":[4,5],"cells":[[-4,3],[-4,2],[-4,1]]},
  {"id":6,"edges":[5,0],"cells":[[-3,-1],[-2,-2],[-1,-3]]}],
 "tiles":[{"id":"T0","pairs":[[0,2],[1,4],[3,5]],"count":14,"rotations":3},
  {"id":"T1","pairs":[[0,3],[1,4],[2,5]],"count":6,"rotations":1},
  {"id":"T2","pairs":[[0,5],[1,4],[2,3]],"count":14,"rotations":3},
  {"id":"T3","pairs":[[0,5],[1,3],[2,4]],"count":14,"rotations":6},
  {"id":"T4","pairs":[[0,5],[1,2],[3,4]],"count":6,"rotations":2}],
 "owners":{"2":[[0],[1],[0],[1],[0],[1]],
  "3":[[0],[0,1],[2],[2,0],[1],[1,2]],"3_exclusive":[[0],[1],[2],[0],[1],[2]],
  "4":[[0,1],[1,2],[0,3],[3,1],[2,0],[2,3]]}}
"""
)


def test_the_geometry_is_the_printed_one() -> None:
    ours = {
        "offsets": geometry.OFFSETS,
        "centre": geometry.CENTRE,
        "corners": [corner._asdict() for corner in geometry.CORNERS],
        "gateways": [
            {"id": number, **gateway._asdict()}
            for number, gateway in enumerate(geometry.GATEWAYS, start=1)
        ],
        "tiles": [
            {
                "id": f"T{number}",
                "pairs": kind.pairs,
                "count": kind.copies,
                "rotations": kind.turns,
            }
            for number, kind in enumerate(geometry.KINDS)
        ],
        "owners": {
            **{str(seats): owners for seats, owners in geometry.OWNERS.items()},
            "3_exclusive": geometry.OWNERS_EXCLUSIVE,
        },
    }
    assert json.loads(json.dumps(ours)) == PRINTED


@pytest.mark.rule("I-a")
def test_the_board_has_61_cells_of_which_54_take_the_54_tiles() -> None:
    assert len(CELLS) == len(set(CELLS)) == 61
    assert all(max(abs(q), abs(r), abs(q + r)) <= 4 for q, r in CELLS)
    assert PLACES == sum(COUNTS) == 54
    assert {*CELLS[PLACES:]} == {
        (0, 0),
        *((0, -4), (4, -4), (4, 0), (0, 4), (-4, 4), (-4, 0)),
    }


@pytest.mark.rule("I-c")
def test_the_kinds_are_the_rotation_classes_of_all_pairings() -> None:
    everything = {
        frozenset(map(frozenset, zip(order[::2], order[1::2], strict=True)))
        for order in itertools.permutations(range(6))
    }
    assert {frozenset(map(frozenset, each)) for each in ORIENTATIONS} == everything
    assert len(ORIENTATIONS) == len(everything) == 15
    assert COUNTS == (14, 6, 14, 14, 6)
    for kind in geometry.KINDS:
        different = {turned(kind.pairs, turn) for turn in range(6)}
        assert len(different) == kind.turns
        assert turned(kind.pairs, kind.turns) == turned(kind.pairs, 0)


@pytest.mark.rule("I-d")
def test_corners_face_the_centre_and_turn_their_neighbouring_edges() -> None:
    for corner in geometry.CORNERS:
        q, r = corner.cell
        dq, dr = geometry.OFFSETS[corner.gem]
        assert (q + 4 * dq, r + 4 * dr) == geometry.CENTRE
        assert {*corner.uturn} == {(corner.gem - 1) % 6, (corner.gem + 1) % 6}


@pytest.mark.rule("I-e")
def test_every_gateway_has_six_exits() -> None:
    assert Counter(EXITS.values()) == dict.fromkeys(range(6), 6)
    cells = Counter(cell for cell, _ in EXITS)
    assert len(cells) == 18
    assert set(cells.values()) == {2}
    for cell, edge in EXITS:
        assert neighbour(CELLS[cell], edge) not in NUMBERS
        assert edge in OUTER[cell]


@pytest.mark.rule("I-h")
def test_there_are_756_placements_because_two_exits_are_never_joined() -> None:
    assert len(ACTIONS) == len(set(ACTIONS)) == 756
    for cell, row in enumerate(PLACEMENTS):
        for orientation, place in enumerate(row):
            outer = {edge for number, edge in EXITS if number == cell}
            banned = any({*pair} == outer for pair in ORIENTATIONS[orientation])
            assert banned == (place is None) == joins_exits(cell, orientation)
    # On a border cell, each of 3 of 15 orientations has its outer edges paired.
    assert sum(place is None for row in PLACEMENTS for place in row) == 18 * 3


def test_first_placements_by_kind_are_as_many_as_counted_independently() -> None:
    assert Counter(place.tile.value for place in ACTIONS) == {
        "arch": 162,
        "star": 54,
        "lane": 144,
        "knot": 306,
        "leaf": 90,
    }


def test_every_kind_has_an_allowed_turn_on_every_cell() -> None:
    for row in PLACEMENTS:
        assert len({place.tile for place in row if place is not None}) == 5


def test_routes_lead_both_ways() -> None:
    for through in THROUGH:
        for edge in range(6):
            assert through[through[edge]] == edge != through[edge]


def test_steps_lead_to_the_neighbour_through_corners_or_out() -> None:
    ends: Counter[str] = Counter()
    for orientation, step in enumerate(STEP):
        for entry, then in enumerate(step):
            cell, edge = divmod(entry, 6)
            out = THROUGH[orientation][edge]
            beyond = neighbour(CELLS[cell], out)
            if (cell, out) in EXITS:
                assert then == 6 * PLACES + EXITS[cell, out]
                ends["exit"] += 1
            elif then == SOURCE:
                assert NUMBERS[beyond] >= PLACES
                ends["source"] += 1
            elif NUMBERS[beyond] < PLACES:
                assert divmod(then, 6) == (NUMBERS[beyond], (out + 3) % 6)
            else:
                (corner,) = [c for c in geometry.CORNERS if c.cell == beyond]
                passed = [neighbour(beyond, turn) for turn in corner.uturn]
                assert CELLS[cell] in passed
                assert CELLS[then // 6] in passed
                assert then // 6 != cell
                ends["corner"] += 1
    # 36 exits, 12 edges where a treasure starts, 12 into the U-turn of a corner.
    assert ends == {"exit": 36 * 15, "source": 12 * 15, "corner": 12 * 15}


def test_names_go_by_row_from_the_top_left() -> None:
    assert len(set(NAMES)) == 61
    assert NAMES[NUMBERS[0, -4]] == "a1"
    assert NAMES[NUMBERS[4, -4]] == "a5"
    assert NAMES[NUMBERS[0, 0]] == "e5"
    assert NAMES[NUMBERS[-4, 1]] == "f1"
    assert NAMES[NUMBERS[0, 4]] == "i5"
    assert NAMES[:3] == ("a2", "a3", "a4")
    assert len(EDGE_NAMES) == 6


def test_a_treasure_waits_on_the_other_side_of_its_entry() -> None:
    for entry in range(6 * PLACES):
        cell, edge = waits_at(entry)
        if cell in NUMBERS:
            assert entry_of(cell, edge) == entry
    assert {waits_at(entry) for entry in CORNER_ENTRIES} == {
        (corner.cell, corner.gem) for corner in geometry.CORNERS
    }
    assert {waits_at(entry) for entry in RELEASE.values()} == {
        ((0, 0), edge) for edge in range(6)
    }
    for cell, edge in (((0, -4), 0), ((-1, 0), 2)):
        with pytest.raises(KeyError):
            entry_of(cell, edge)
