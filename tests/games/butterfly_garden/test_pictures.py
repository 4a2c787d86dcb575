"""The pictures show the observation, fit, and are safe to embed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree import ElementTree as ET

import pytest
from attrs import evolve
from tests.games.butterfly_garden.support import GAME, INDIGO, SETUPS, position, states
from tests.games.drawn import SVG, parse, part, words

from fritillary_games.butterfly_garden.actions import ACTIONS, TILES, Place, Tile
from fritillary_games.butterfly_garden.geometry import KINDS
from fritillary_games.butterfly_garden.model import (
    Edition,
    Observation,
    Options,
    State,
    Waiting,
)
from fritillary_games.butterfly_garden.pictures import draw_svg, draw_text
from fritillary_games.butterfly_garden.pictures_facts import (
    headline,
    listed,
    routes,
    summary,
    winners,
)
from fritillary_games.butterfly_garden.position import parse_position

START = GAME.observe(parse_position("hand 0: lane star\nhand 1: knot knot"), 0)
MIDDLE = GAME.observe(
    parse_position(
        """
        seats: 4
        tiles: b2 lane 0, b1 knot 2, a2 arch 2, d5 star 0, e4 leaf 1
        hand 2: knot leaf
        """
    ),
    2,
)


def ended(*taken: tuple[int, int, int], seat: int | None = None) -> Observation:
    seen = GAME.observe(position(seats=len(taken)), seat)
    return evolve(
        seen,
        to_move=None,
        waiting=(),
        centre=(),
        taken=taken,
        scores=tuple(a + 2 * b + 3 * c for a, b, c in taken),
        reason="no-treasures",
    )


EXAMPLES = {
    "start": START,
    "middle": MIDDLE,
    "spectator": evolve(MIDDLE, seat=None, hands=(None,) * 4),
    "one winner": ended((1, 2, 0), (2, 2, 1), seat=1),
    "another winner": ended((1, 2, 0), (2, 2, 1), seat=0),
    "shared by four": ended((1, 2, 0), (1, 2, 0), (1, 2, 0), (1, 2, 0)),
    "all at once": ended((12, 0, 0), (0, 10, 1), (0, 5, 1), seat=0),
    "stack": evolve(ended((12, 0, 0), (0, 10, 1)), reason="stack-empty"),
    "rounds": evolve(ended((12, 0, 0), (0, 10, 1)), reason="rounds"),
    "empty hand": evolve(
        ended((1, 0, 0), (0, 1, 0), seat=0), hands=((), None), hand_sizes=(0, 2)
    ),
    "two knots": evolve(START, hands=((Tile.KNOT, Tile.KNOT), None)),
    "widest hand": evolve(
        MIDDLE, hands=(None, None, (Tile.ARCH, Tile.KNOT), (Tile.ARCH,) * 2)
    ),
}


def seen_in(setup: str) -> Iterator[Observation]:
    for number, state in enumerate(states(setup, 2)):
        viewers = (None, *range(len(state.hands)))
        if number % 9 == 0 or GAME.outcome_of(state) is not None:
            for viewer in viewers:
                yield GAME.observe(state, viewer)


def uses(element: ET.Element, start: str) -> list[str]:
    names = [use.get("href", "") for use in element.iter(f"{SVG}use")]
    return [name for name in names if name.startswith(f"#{start}")]


def check_svg(svg: str) -> None:
    root = parse(svg)
    assert root.tag == f"{SVG}svg"
    assert root.get("width") == "1000"
    ids = [e.get("id") for e in root.iter() if e.get("id")]
    assert len(ids) == len(set(ids))
    assert all(str(each).startswith("bg-") for each in ids)
    for element in root.iter():
        for key, value in element.attrib.items():
            assert "http" not in value
            if key.endswith("href"):
                assert value.startswith("#")
                assert value[1:] in ids
    assert "<script" not in svg


def check_text(text: str) -> None:
    assert text.isascii()
    assert max(map(len, text.splitlines())) <= 80
    assert not any(line != line.rstrip() for line in text.splitlines())


# ------------------------------------------------------------------------ both


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_fit_and_are_safe_to_embed(name: str) -> None:
    check_svg(draw_svg(EXAMPLES[name]))
    check_text(draw_text(EXAMPLES[name]))


@pytest.mark.parametrize("setup", SETUPS)
def test_whole_matches_fit_and_are_safe_to_embed(setup: str) -> None:
    for seen in seen_in(setup):
        check_svg(draw_svg(seen))
        check_text(draw_text(seen))


@pytest.mark.parametrize("setup", SETUPS)
def test_the_winners_in_the_pictures_are_those_of_the_outcome(setup: str) -> None:
    for state in states(setup, 5):
        outcome = GAME.outcome_of(state)
        seen = GAME.observe(state, None)
        assert winners(seen) == (outcome.winners if outcome else ())


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("start", "your turn"),
        ("middle", "seat 1 to move"),
        ("one winner", "you win: no butterflies left"),
        ("another winner", "seat 1 wins: no butterflies left"),
        ("shared by four", "seats 0, 1, 2 and 3 share the win: no butterflies left"),
        ("stack", "seat 1 wins: the stack is empty"),
        ("rounds", "seat 1 wins: all rounds are played"),
    ],
)
def test_headlines(name: str, said: str) -> None:
    seen = EXAMPLES[name]
    assert headline(seen) == said
    assert said in draw_text(seen)
    shown = words(part(draw_svg(seen), "bg-headline"))
    assert said[0].upper() + said[1:] in shown


def test_seats_are_listed_as_words() -> None:
    assert [listed(range(n)) for n in (1, 2, 3)] == ["0", "0 and 1", "0, 1 and 2"]


def test_the_editions_have_names_of_their_own() -> None:
    for options, name, other in (
        (Options(), "Butterfly Garden", "Indigo"),
        (INDIGO, "Indigo", "Butterfly Garden"),
    ):
        seen = GAME.observe(position(options=options), 0)
        assert draw_text(seen).startswith(f"{name} - ")
        assert name in draw_svg(seen)
        assert other not in draw_svg(seen)


def test_the_summary_tells_everything() -> None:
    told = summary(MIDDLE)
    for fact in (
        "Seat 1 to move.",
        "Tiles: a2 arch 2, b1 knot 2, b2 lane 0, d5 star 0, e4 leaf 1.",
        "Last tile: e4 leaf 1.",
        "blue at a5 SW",
        "pink at d5 NE",
        "In the centre: pink, pink, pink, purple.",
        "Gateway 1: seats 0 and 1.",
        "Seat 0: 1 points (1 blue, 0 pink, 0 purple); hand: 2 tiles.",
        "Seat 2: 0 points (0 blue, 0 pink, 0 purple); hand: knot leaf.",
        "41 tiles in the stack.",
    ):
        assert fact in told
    assert "points hidden" in summary(
        GAME.observe(position(options=Options(hide_scores=True)), 0)
    )
    assert summary(START).startswith("Your turn. Tiles: none. Waiting: ")
    assert "hand: empty" in summary(EXAMPLES["empty hand"])
    assert "In the centre: nothing." in summary(EXAMPLES["empty hand"])
    assert "Waiting: nothing." in summary(EXAMPLES["empty hand"])


def test_routes_are_named_by_their_edges() -> None:
    assert routes(Tile.STAR, 0) == "NW-SE NE-SW E-W"
    assert routes(Tile.LEAF, 1) == "NW-NE E-SE SW-W"
    assert routes(Tile.LANE, 0) == "NW-W NE-SW E-SE"


# ------------------------------------------------------------------------ text


def test_the_text_picture_of_the_start() -> None:
    assert draw_text(START).splitlines() == [
        "Butterfly Garden - your turn",
        "                     /   \\   A   A   A   A   A   A   /   \\",
        "                   |u-turn |  a2   |  a3   |  a4   |u-turn |",
        "                 B   \\   1   \\   /   \\   /   \\   /   1   /   B",
        "               B  b1   |  b2   |  b3   |  b4   |  b5   |  b6   B",
        "             B   \\   /   \\   /   \\   /   \\   /   \\   /   \\   /   B",
        "           B  c1   |  c2   |  c3   |  c4   |  c5   |  c6   |  c7   B",
        "         B   \\   /   \\   /   \\   /   \\   /   \\   /   \\   /   \\   /   B",
        "       B  d1   |  d2   |  d3   |  d4   |  d5   |  d6   |  d7   |  d8   B",
        (
            "     /   \\   /   \\   /   \\   /   \\   /   \\   /   \\   /   \\"
            "   /   \\   /   \\"
        ),
        (
            "   |u-turn 1  e2   |  e3   |  e4   |222223 |  e6   |  e7   |  e8   "
            "1u-turn |"
        ),
        (
            "     \\   /   \\   /   \\   /   \\   /   \\   /   \\   /   \\   /"
            "   \\   /   \\   /"
        ),
        "       A  f1   |  f2   |  f3   |  f4   |  f5   |  f6   |  f7   |  f8   A",
        "         A   /   \\   /   \\   /   \\   /   \\   /   \\   /   \\   /   \\   A",
        "           A  g1   |  g2   |  g3   |  g4   |  g5   |  g6   |  g7   A",
        "   to move   A   /   \\   /   \\   /   \\   /   \\   /   \\   /   \\   A",
        ("A  you, seat 0 A  h1   |  h2   |  h3   |  h4   |  h5   |  h6   A  B  seat 1"),
        "   0 points      A   /   1   /   \\   /   \\   /   \\   1   \\   A   0 points",
        "   holds star lane |u-turn |  i2   |  i3   |  i4   |u-turn |     2 in hand",
        "                     \\   /   B   B   B   B   B   B   \\   /",
        "",
        "On the edges: 1 blue, 2 pink, 3 purple butterflies; A to B: exits of seats",
        "Stack 50; not placed yet: 14 arch, 6 star, 14 lane, 14 knot, 6 leaf",
        "",
        "star 0: NW-SE NE-SW E-W",
        (
            "lane 0: NW-W NE-SW E-SE    lane 1: NW-NE E-W SE-SW    "
            "lane 2: NW-SE NE-E SW-W"
        ),
    ]


def test_the_text_picture_shows_tiles_treasures_and_exits() -> None:
    text = draw_text(MIDDLE)
    assert "last tile: e4 leaf 1" in text
    assert "| LEAF1 | 2223  |" in text
    for word in ("arch2", "knot2", "lane0", "star0"):
        assert word in text
    board = "\n".join(text.splitlines()[1:20])
    # Without what stands in its corners.
    board = re.sub(r"[A-D]  (you, )?seat \d|\d points?|\dx1|\d in", "", board)
    digits = re.findall(r"(?<![A-Za-z0-9])[123](?![0-9])", board)
    assert len(digits) == len(MIDDLE.waiting)
    # Gateways of two owners show both, six exits each.
    for letter in "ABCD":
        assert len(re.findall(rf"(?<![A-Z]){letter}(?![A-Z])", board)) == 9


@pytest.mark.parametrize("setup", SETUPS)
def test_what_seats_have_stands_beside_the_board(setup: str) -> None:
    """The board is as wide as it was, and all words of the seats are whole."""
    for seen in seen_in(setup):
        lines = draw_text(seen).splitlines()[1:20]
        for seat, size in enumerate(seen.hand_sizes):
            beside = " ".join(lines)
            you = "you, " if seat == seen.seat else ""
            assert f"  {you}seat {seat} " in f"{beside} "
            assert ("  to move" in beside) == (seen.to_move is not None)
            hand = seen.hands[seat]
            held = f"{size} in hand"
            if hand is not None:
                held = f"holds {' '.join(tile.value for tile in hand) or 'nothing'}"
            assert held in beside
            score = seen.scores[seat]
            assert ("points hidden" if score is None else f"{score} point") in beside
            for value, count in enumerate(seen.taken[seat] or (), start=1):
                assert not count or f"{count}x{value}" in beside


def test_the_text_picture_tells_what_seats_have() -> None:
    lines = draw_text(MIDDLE).splitlines()[1:20]
    assert [line[:16].rstrip() for line in lines[-4:]] == [
        "C  you, seat 2 A",
        "   0 points",
        "   holds knot le",
        "",
    ]
    assert lines[-2].startswith("   holds knot leaf |")
    assert lines[-5].endswith("D  to move")
    assert [lines[row].split("  ", 40)[-1] for row in (0, 1, 2, 3)] == [
        "seat 0",
        " 2 in hand",
        " 1 point",
        "1x1",
    ]
    hidden = draw_text(GAME.observe(position(options=Options(hide_scores=True)), 0))
    assert hidden.count("points hidden") == 1
    assert "WINNER" in draw_text(EXAMPLES["one winner"])
    assert "holds nothing" in draw_text(EXAMPLES["empty hand"])
    assert "|   -   |" in draw_text(EXAMPLES["empty hand"])


# ------------------------------------------------------------------------- SVG


def test_the_board_shows_every_tile_and_every_empty_cell() -> None:
    board = part(draw_svg(MIDDLE), "bg-board")
    assert uses(board, "bg-garden-arch-2") == ["#bg-garden-arch-2"]
    assert len(uses(board, "bg-garden-cell")) == 49
    assert "a2" not in words(board)
    assert "a3" in words(board)
    part(draw_svg(MIDDLE), "bg-last")
    assert "bg-last" not in draw_svg(START)


def test_waiting_treasures_and_those_in_the_centre_are_shown() -> None:
    for seen in (START, MIDDLE):
        svg = draw_svg(seen)
        values = [each.value for each in seen.waiting]
        shown = uses(part(svg, "bg-waiting"), "bg-garden-")
        assert sorted(shown) == sorted(f"#bg-garden-{value}" for value in values)
        shown = uses(part(svg, "bg-centre"), "bg-garden-")
        assert shown == [f"#bg-garden-{value}" for value in seen.centre]
    assert "bg-waiting" not in draw_svg(EXAMPLES["empty hand"])


def test_gateways_show_their_owners() -> None:
    svg = draw_svg(MIDDLE)
    for number, owners in enumerate(MIDDLE.owners, start=1):
        gateway = part(svg, f"bg-gateway-{number}")
        assert words(gateway) == [str(owner) for owner in owners]
        strokes = [path.get("stroke") for path in gateway.iter(f"{SVG}path")]
        assert len(strokes) == 6
        assert len(set(strokes)) == 2


def test_players_are_shown_with_points_and_hands() -> None:
    svg = draw_svg(MIDDLE)
    first = part(svg, "bg-player-0")
    assert words(first) == ["0", "Seat 0", "", "1", "point", "1", "0", "0"]
    assert len(uses(first, "bg-garden-back")) == 2
    own = part(svg, "bg-player-2")
    assert words(own)[1:5] == ["Seat 2", "you", "0", "points"]
    assert uses(own, "bg-garden-leaf") == ["#bg-garden-leaf-0"]
    assert words(part(svg, "bg-player-1"))[2] == "to move"
    assert words(part(draw_svg(EXAMPLES["one winner"]), "bg-player-1"))[2] == (
        "you, winner"
    )
    hidden = GAME.observe(position(options=Options(hide_scores=True)), None)
    assert words(part(draw_svg(hidden), "bg-player-1")).count("?") == 4


def test_the_own_tiles_are_shown_in_every_turn_with_the_words_to_type() -> None:
    hand = part(draw_svg(EXAMPLES["widest hand"]), "bg-hand")
    assert words(hand) == [
        *(f"arch {turn}" for turn in range(3)),
        *(f"knot {turn}" for turn in range(6)),
    ]
    assert "bg-hand" not in draw_svg(EXAMPLES["spectator"])
    empty = part(draw_svg(EXAMPLES["empty hand"]), "bg-hand")
    assert words(empty) == ["No tile in hand"]


def test_the_stack_panel_counts_what_is_not_placed() -> None:
    shown = words(part(draw_svg(MIDDLE), "bg-stack"))
    assert shown[0] == "41"
    assert shown[3:8] == ["13", "5", "13", "13", "5"]
    assert "pink" in shown


@pytest.mark.parametrize("edition", Edition)
def test_every_tile_is_drawn_with_its_three_routes(edition: Edition) -> None:
    svg = draw_svg(GAME.observe(position(options=Options(edition=edition)), 0))
    prefix = "bg-garden" if edition is Edition.BUTTERFLY_GARDEN else "bg-indigo"
    for tile, kind in zip(TILES, KINDS, strict=True):
        for turn in range(kind.turns):
            drawn = part(svg, f"{prefix}-{tile.value}-{turn}")
            # A route is a broad line and a narrow one upon it.
            assert len(list(drawn.iter(f"{SVG}path"))) == 6


def test_definitions_do_not_depend_on_the_position() -> None:
    def defs(seen: Observation) -> str:
        svg = draw_svg(seen)
        return svg[svg.index("<defs") : svg.index("</defs>")]

    assert defs(START) == defs(MIDDLE) == defs(EXAMPLES["all at once"])


def test_pictures_of_made_up_positions_fit() -> None:
    """Everything at its widest."""
    crowded = evolve(
        EXAMPLES["widest hand"],
        placed=tuple((each.tile, each.q, each.r, each.turn) for each in full_board()),
        waiting=tuple(Waiting(3, 0, -4, edge) for edge in range(6)),
        last=full_board()[-1],
        stack=54,
        taken=((12, 12, 12),) * 4,
        scores=(72,) * 4,
    )
    check_svg(draw_svg(crowded))
    check_text(draw_text(crowded))


def full_board() -> list[Place]:
    board: dict[int, Place] = {}
    for place in ACTIONS:
        board[place.cell] = place
    return list(board.values())


def test_a_picture_is_a_function_of_the_observation() -> None:
    state: State = position("c3 star 0")
    assert draw_svg(GAME.observe(state, 0)) == draw_svg(GAME.observe(state, 0))
