"""Self check of the naive Butterfly Garden used as a reference in other tests."""

from __future__ import annotations

import importlib.util
import random
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest


def _load_naive() -> ModuleType:
    """Load the naive game from the file next to this one."""
    path = Path(__file__).with_name("naive.py")
    spec = importlib.util.spec_from_file_location("butterfly_garden_naive", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


naive = _load_naive()


def full_stack() -> list[str]:
    """Return the 54 tiles, sorted (I-c)."""
    return ["T0"] * 14 + ["T1"] * 6 + ["T2"] * 14 + ["T3"] * 14 + ["T4"] * 6


def new_game(seats: int = 2, **options: Any) -> Any:
    """Start a game with a sorted stack."""
    return naive.NaiveButterflyGarden(full_stack(), seats, **options)


def rotation_of(kind: str, pairing: str) -> int:
    """Find the rotation that gives a pairing written like "05 14 23"."""
    wanted = {frozenset(int(edge) for edge in pair) for pair in pairing.split()}
    for rotation in naive.rotations(kind):
        if {frozenset(pair) for pair in naive.turned(kind, rotation)} == wanted:
            return int(rotation)
    raise AssertionError(f"{kind} cannot show {pairing}")


def place(game: Any, kind: str, cell: tuple[int, int], rotation: int = 0) -> None:
    """Give the seat to move a tile and let it place it."""
    game.hands[game.to_move] = [kind, "T0"]
    game.apply(("place", kind, *cell, rotation))


def gem_total(game: Any) -> int:
    """Count the gems still on the board."""
    return len(game.gems) + len(game.centre)


def test_board() -> None:
    """I-a: 61 cells, 54 of them for path tiles, and 54 tiles."""
    cells = naive.path_cells()
    assert len(cells) == len(set(cells)) == 54
    assert len(naive.CORNER_GEMS) == len(naive.CORNER_UTURNS) == 6
    assert all(naive.on_board(cell) for cell in naive.CORNER_GEMS)
    assert sum(naive.COUNTS.values()) == 54
    assert Counter(full_stack()) == naive.COUNTS


def test_kinds_are_all_pairings_up_to_rotation() -> None:
    """I-c: the rotations of the five kinds are the 15 pairings of six edges."""
    number = {kind: len(naive.rotations(kind)) for kind in naive.TILES}
    assert number == {"T0": 3, "T1": 1, "T2": 3, "T3": 6, "T4": 2}
    pairings = set()
    for kind in naive.TILES:
        assert naive.rotations(kind) == list(range(number[kind]))
        for rotation in naive.rotations(kind):
            pairs = naive.turned(kind, rotation)
            assert sorted(pairs[0] + pairs[1] + pairs[2]) == [0, 1, 2, 3, 4, 5]
            pairings.add(frozenset(frozenset(pair) for pair in pairs))
    assert len(pairings) == 15


def test_gateways() -> None:
    """I-e: the ways off the board are six gateways of six exits each."""
    exits: Counter = Counter()
    for cell in naive.path_cells():
        outer = [
            edge for edge in range(6) if not naive.on_board(naive.neighbour(cell, edge))
        ]
        assert len(outer) in (0, 2)
        gateways = {naive.gateway_of(cell, edge) for edge in outer}
        assert len(gateways) <= 1
        exits.update(naive.gateway_of(cell, edge) for edge in outer)
    assert exits == {1: 6, 2: 6, 3: 6, 4: 6, 5: 6, 6: 6}


def test_corners_face_the_board() -> None:
    """I-d: gem edge towards the centre, U-turn between the two edges next to it."""
    for cell, edge in naive.CORNER_GEMS.items():
        inwards = cell
        for _ in range(4):
            inwards = naive.neighbour(inwards, edge)
        assert inwards == (0, 0)
        around = {(edge + 1) % 6, (edge - 1) % 6}
        assert set(naive.CORNER_UTURNS[cell]) == around


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("T0", 162), ("T1", 54), ("T2", 144), ("T3", 306), ("T4", 90)],
)
def test_first_moves(kind: str, expected: int) -> None:
    """I-h, own check: legal first moves per kind, 756 in all."""
    game = new_game()
    game.hands[0] = [kind, kind]
    assert len(game.legal()) == expected
    assert {action[1] for action in game.legal()} == {kind}


def test_first_moves_of_all_kinds() -> None:
    """Own check: 54 * 15 - 18 * 3 placements."""
    game = new_game()
    game.hands[0] = list(naive.TILES)
    assert len(game.legal()) == 756


@pytest.mark.parametrize(("edition", "hand"), [("butterfly-garden", 2), ("indigo", 1)])
@pytest.mark.parametrize("seats", [2, 3, 4])
def test_deal(edition: str, hand: int, seats: int) -> None:
    """I-b, I-n: whole hands in seat order, twelve gems in play."""
    stack = full_stack()
    random.Random(3).shuffle(stack)
    game = naive.NaiveButterflyGarden(stack, seats, edition=edition, starter=1)
    assert game.to_move == 1
    assert game.hands == [stack[hand * i : hand * (i + 1)] for i in range(seats)]
    assert game.stack == stack[hand * seats :]
    assert game.centre == ["emerald"] * 5 + ["sapphire"]
    assert list(game.gems.values()) == ["amber"] * 6
    assert gem_total(game) == 12
    assert game.scores == game.gem_counts == [0] * seats
    drawn = stack[hand * seats]
    game.apply(min(game.legal()))
    assert len(game.hands[1]) == hand
    assert game.hands[1][-1] == drawn
    assert game.to_move == 2 % seats


def test_ind_01() -> None:
    """IND-01: the first tile next to the centre lets an emerald through."""
    game = new_game()
    place(game, "T1", (1, -1))
    assert game.gems[(1, -1), 1] == "emerald"
    assert len(game.gems) == 7
    assert game.centre == ["emerald"] * 4 + ["sapphire"]


def test_ind_02() -> None:
    """IND-02: the sixth tile next to the centre releases the sapphire."""
    game = new_game()
    for edge, cell in enumerate(naive.OFFSETS):
        place(game, "T1", cell)
        expected = "sapphire" if edge == 5 else "emerald"
        assert game.gems[cell, edge] == expected
    assert game.centre == []
    assert gem_total(game) == 12


def test_ind_03() -> None:
    """IND-03: the amber of a corner runs into the tile before it."""
    game = new_game()
    place(game, "T1", (0, -3))
    assert game.gems[(0, -3), 3] == "amber"
    assert ((0, -4), 3) not in game.gems
    assert gem_total(game) == 12


def test_ind_04() -> None:
    """IND-04: the two outer edges of a border cell must not be joined."""
    game = new_game()
    game.hands[0] = ["T4", "T0"]
    banned = rotation_of("T4", "01 23 45")
    allowed = rotation_of("T4", "05 12 34")
    assert ("place", "T4", 2, -4, banned) not in game.legal()
    assert ("place", "T4", 2, -4, allowed) in game.legal()
    with pytest.raises(ValueError, match="illegal"):
        game.apply(("place", "T4", 2, -4, banned))


@pytest.mark.parametrize(
    ("seats", "three", "expected"),
    [
        pytest.param(2, "shared", [0, 1], id="IND-06"),
        pytest.param(3, "shared", [0, 1, 1], id="IND-07-three"),
        pytest.param(3, "exclusive", [0, 0, 1], id="three-exclusive"),
        pytest.param(4, "shared", [0, 0, 1, 1], id="IND-07-four"),
    ],
)
def test_ind_06_and_07(seats: int, three: str, expected: list[int]) -> None:
    """IND-06, IND-07: an amber leaves by gateway 6 and counts for its owners."""
    game = new_game(seats, three=three)
    place(game, "T2", (0, -3), rotation_of("T2", "05 14 23"))
    assert game.gems[(0, -3), 5] == "amber"
    place(game, "T1", (-1, -3))
    assert game.exits == [(6, "amber")]
    assert game.scores == expected
    assert game.gem_counts == expected
    assert gem_total(game) == 11


def test_ind_09() -> None:
    """IND-09: a released emerald meets an amber."""
    game = new_game()
    place(game, "T1", (0, -3))
    place(game, "T1", (0, -2))
    assert game.gems[(0, -2), 3] == "amber"
    place(game, "T1", (0, -1))
    assert sorted(game.collided) == ["amber", "emerald"]
    assert game.centre == ["emerald"] * 4 + ["sapphire"]
    assert gem_total(game) == 10
    assert game.scores == [0, 0]


def test_ind_12() -> None:
    """IND-12: two gems at the ends of one curve of the new tile are removed."""
    game = new_game()
    game.board = {(1, 0): ("T1", 0), (3, 0): ("T1", 0)}
    game.gems[(1, 0), 2] = "emerald"
    game.gems[(3, 0), 5] = "amber"
    game.gems[(2, 1), 0] = "emerald"
    place(game, "T1", (2, 0))
    assert sorted(game.collided) == ["amber", "emerald"]
    # The third gem beside the tile runs on, from edge 3 to edge 0.
    assert game.gems[(2, 0), 0] == "emerald"
    assert len(game.gems) == 7


@pytest.mark.parametrize(
    ("gem_counts", "result", "winners"),
    [([5, 6], [2, 1], [1]), ([6, 6], [1, 1], [0, 1])],
)
def test_ind_13(gem_counts: list[int], result: list[int], winners: list[int]) -> None:
    """IND-13, I-m: gems break a tie of points; equal gems share the win."""
    game = new_game()
    game.scores = [10, 10]
    game.gem_counts = gem_counts
    game.gems = {}
    game.centre = []
    place(game, "T1", (2, 0))
    assert game.over
    assert game.result == result
    assert game.winners == winners
    assert game.legal() == set()


def test_points_go_before_gems_and_places_are_shared() -> None:
    """I-l, I-m: more points win against more gems; equal seats share a place."""
    game = new_game(4)
    game.scores = [9, 12, 9, 9]
    game.gem_counts = [5, 4, 6, 5]
    game.gems = {}
    game.centre = []
    place(game, "T1", (2, 0))
    assert game.result == [3, 1, 2, 3]
    assert game.winners == [1]


def test_corner_turns_a_gem_around() -> None:
    """I-d, I-i: a gem runs through the U-turn of a corner and out."""
    game = new_game()
    # Before the corner (0, -4) on both sides: in from (1, -4), out by (-1, -3).
    game.board = {(-1, -3): ("T1", 0)}
    game.gems[(2, -4), 5] = "sapphire"
    place(game, "T1", (1, -4))
    # From (1, -4) edge 5 to the corner's edge 2, out by 4 into edge 1 of (-1, -3),
    # whose edge 4 leads to (-2, -2), an empty cell.
    assert game.gems[(-1, -3), 4] == "sapphire"
    place(game, "T2", (-2, -2), rotation_of("T2", "01 25 34"))
    assert game.exits == [(6, "sapphire")]
    assert game.scores == [0, 3]
    # The amber of the corner has not moved.
    assert game.gems[(0, -4), 3] == "amber"


def test_gem_waits_on_the_corner_tile() -> None:
    """I-d, I-i: the U-turn ends at an empty cell, and the gem runs on later."""
    game = new_game()
    game.gems[(2, -4), 5] = "emerald"
    place(game, "T1", (1, -4))
    assert game.gems[(0, -4), 4] == "emerald"
    place(game, "T1", (-1, -3))
    assert game.gems[(-1, -3), 4] == "emerald"


def test_gem_passes_the_new_tile_twice() -> None:
    """I-i: a route may come back through the tile just laid."""
    game = new_game()
    # In by edge 5, out by 0, through (2, -1) and (3, -1), in by 1 and out by 3.
    game.board = {
        (2, -1): ("T4", rotation_of("T4", "01 23 45")),
        (3, -1): ("T2", rotation_of("T2", "03 12 45")),
    }
    game.gems[(1, 0), 2] = "emerald"
    place(game, "T3", (2, 0), rotation_of("T3", "05 13 24"))
    assert game.gems[(2, 0), 3] == "emerald"


def test_two_gems_beside_one_empty_cell_do_not_meet() -> None:
    """I-j: gems meet on a route, not across an empty cell."""
    game = new_game()
    place(game, "T1", (0, -3))
    place(game, "T1", (0, -1))
    assert game.gems[(0, -3), 3] == "amber"
    assert game.gems[(0, -1), 0] == "emerald"
    place(game, "T0", (0, -2), rotation_of("T0", "02 14 35"))
    assert game.collided == []
    assert game.gems[(0, -2), 2] == "amber"
    assert game.gems[(0, -2), 5] == "emerald"


@pytest.mark.parametrize(
    ("seats", "options"),
    [
        (1, {}),
        (5, {}),
        (2, {"edition": "other"}),
        (3, {"three": "other"}),
        (2, {"end": "other"}),
        (2, {"end": "rounds"}),
        (2, {"rounds": 3}),
    ],
)
def test_bad_options_are_refused(seats: int, options: dict[str, Any]) -> None:
    """Options outside the described values are errors."""
    with pytest.raises(ValueError, match=r"seats|unknown|rounds"):
        new_game(seats, **options)


def shuffled_game(rng: random.Random, seats: int, **options: Any) -> Any:
    """Start a game with a shuffled stack."""
    stack = full_stack()
    rng.shuffle(stack)
    return naive.NaiveButterflyGarden(stack, seats, **options)


def check_conservation(game: Any) -> None:
    """Check tiles, gems and points of any position."""
    tiles = list(game.stack)
    for hand in game.hands:
        tiles += hand
    tiles += [kind for kind, _ in game.board.values()]
    assert Counter(tiles) == naive.COUNTS
    left = [kind for _, kind in game.exits]
    kinds = list(game.gems.values()) + game.centre + game.collided + left
    assert Counter(kinds) == {"amber": 6, "emerald": 5, "sapphire": 1}
    scores = [0] * game.seats
    gem_counts = [0] * game.seats
    for gateway, kind in game.exits:
        for seat in game.owners[gateway - 1]:
            scores[seat] += {"amber": 1, "emerald": 2, "sapphire": 3}[kind]
            gem_counts[seat] += 1
    assert scores == game.scores
    assert gem_counts == game.gem_counts
    # I-k: one gem per tile next to the centre.
    beside = [cell for cell in naive.OFFSETS if cell in game.board]
    assert len(game.centre) == 6 - len(beside)
    # I-i: a gem waits only before an empty cell.
    for cell, edge in game.gems:
        assert cell in game.board or cell in naive.CORNER_GEMS
        ahead = naive.neighbour(cell, edge)
        assert ahead in naive.path_cells()
        assert ahead not in game.board


@pytest.mark.parametrize("edition", ["butterfly-garden", "indigo"])
@pytest.mark.parametrize("seats", [2, 3, 4])
def test_random_games(edition: str, seats: int) -> None:
    """I-l, I-p: nothing is lost, and all gems are gone by tile 54."""
    rng = random.Random(2012 + seats)
    for _ in range(20):
        game = shuffled_game(rng, seats, edition=edition, starter=rng.randrange(seats))
        while not game.over:
            mover = game.to_move
            # Own check: every tile fits every empty cell in some rotation.
            actions = sorted(game.legal())
            spots = {action[1:4] for action in actions}
            held = set(game.hands[mover])
            assert len(spots) == len(held) * (54 - len(game.board)) > 0
            game.apply(rng.choice(actions))
            check_conservation(game)
            if not game.over:
                assert game.to_move == (mover + 1) % seats
        assert gem_total(game) == 0
        assert len(game.board) == game.turns <= 54
        best = max(zip(game.scores, game.gem_counts, strict=True))
        for seat in range(seats):
            mine = (game.scores[seat], game.gem_counts[seat])
            assert (seat in game.winners) == (mine == best)
        assert game.legal() == set()


def test_end_with_the_stack() -> None:
    """Option: the draw that empties the stack ends the game."""
    rng = random.Random(8)
    ended_by_stack = 0
    for _ in range(6):
        game = shuffled_game(rng, 4, end="stack-empty")
        while not game.over:
            assert game.stack != []
            game.apply(rng.choice(sorted(game.legal())))
            check_conservation(game)
        if gem_total(game) > 0:
            ended_by_stack += 1
            assert game.stack == []
            # 46 tiles were in the stack after the deal.
            assert game.turns == 46
            assert [len(hand) for hand in game.hands] == [2, 2, 2, 2]
        assert game.result is not None
    assert ended_by_stack > 0


def test_end_by_rounds() -> None:
    """Option: each seat has the same number of turns."""
    rng = random.Random(9)
    game = shuffled_game(rng, 3, end="rounds", rounds=5, starter=2)
    turns = [0, 0, 0]
    while not game.over:
        turns[game.to_move] += 1
        game.apply(rng.choice(sorted(game.legal())))
        check_conservation(game)
    assert turns == [5, 5, 5]
    assert gem_total(game) > 0


def test_random_play_has_the_known_averages() -> None:
    """Statistics: 53.7 tiles, 1.6 meetings and 6.5 points, within a margin."""
    rng = random.Random(10)
    tiles = []
    meetings = []
    scores: list[int] = []
    for _ in range(80):
        game = shuffled_game(rng, 2, edition="indigo")
        while not game.over:
            game.apply(rng.choice(sorted(game.legal())))
        tiles.append(game.turns)
        meetings.append(len(game.collided) / 2)
        scores += game.scores
    assert 53 < sum(tiles) / len(tiles) <= 54
    assert 1.1 < sum(meetings) / len(meetings) < 2.1
    assert 5.7 < sum(scores) / len(scores) < 7.3
