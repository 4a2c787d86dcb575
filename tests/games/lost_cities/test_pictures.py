"""The pictures of Lost Cities show the observation, fit, and are safe to embed."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from attrs import evolve
from tests.games.drawn import (
    SVG,
    check_document,
    check_elsewhere,
    check_inside,
    definitions,
    part,
    uses,
    words,
)
from tests.games.lost_cities.support import (
    ALL_EXPLOITS,
    GAME,
    OPTIONS,
    SINGLE,
    SIX,
    TOP_ONLY,
    position,
    states,
)

from fritillary_games.lost_cities.cards import COLOURS
from fritillary_games.lost_cities.model import Observation, Options
from fritillary_games.lost_cities.pictures import draw_svg, draw_text
from fritillary_games.lost_cities.pictures_facts import column_scores, hand_size, mark

MIDDLE = """
hand 0: yellow W 5 9, blue 3, green 8 10, red 2
expedition 0: yellow 2 4, blue W 2
expedition 1: white W W 5 6 7 8 9 10, red 3 6
draw: not green
discards: green 2 9 4, blue 10, yellow W W
known 0: yellow 9
hand 1: blue 5, white 2
known 1: blue 5
"""


def seen(text: str, options: Options = SINGLE, viewer: int | None = 0) -> Observation:
    found: Observation = GAME.observe(position(text, options), viewer)
    return found


#: As many cards as a column can have, on both sides and on the pile.
CROWDED = evolve(
    seen("", SIX),
    options=Options(colours=6, exploits=ALL_EXPLOITS, turn_cap=599),
    game=3,
    turns=598,
    deck_size=0,
    expeditions=(((0, 0, 0, *range(2, 11)),) * 6,) * 2,
    discards=((0, 0, 0, *range(10, 1, -1)),) * 6,
    known=(((0, 0, 0), (), (), (), (), (2, 3, 4, 5)),) * 2,
    scores=((-480, 936), (936, -480), (-480, -480)),
    totals=(-1440, 2808),
    exploits=(0, 1, None, 0, 1),
)

EXAMPLES = {
    "start": seen(""),
    "middle": seen(MIDDLE),
    "middle, seat 1": seen(MIDDLE, SINGLE, 1),
    "middle, spectator": seen(MIDDLE, SINGLE, None),
    "middle, top only": seen(MIDDLE, TOP_ONLY),
    "long": seen(MIDDLE.replace("red 2", "purple 2"), SIX),
    "exploits": seen(
        "expedition 0: red W W W\nexploits: three-wagers 0",
        Options(exploits=ALL_EXPLOITS),
    ),
    "crowded": CROWDED,
}

MANY = [pytest.param(value, id=name) for name, value in EXAMPLES.items()] + [
    pytest.param(GAME.observe(state, viewer), id=f"{name}, {number}, {viewer}")
    for name, options in OPTIONS.items()
    for number, state in enumerate(states(options, 1, seed=9))
    for viewer in (0, 1, None)
    if number % 401 == 40 + (viewer or 0) or (state.reason and viewer == 0)
]


def backs(element: ET.Element) -> int:
    """Count the cards face down under an element."""
    return uses(element, "lc-back")


def thrice(ranks: Any) -> Counter[str]:
    """Count the words on some cards: each says its rank three times."""
    return Counter(mark(rank) for rank in ranks for _ in range(3))


# ------------------------------------------------------------------------- SVG


@pytest.mark.parametrize("observation", MANY)
def test_svg_is_one_plain_document_that_refers_to_nothing_outside(observation):
    allowed = "svg title desc defs g path rect circle text use"
    svg = draw_svg(observation)
    check_document(svg, "lc", allowed)
    assert "url(" not in svg


@pytest.mark.parametrize("observation", MANY)
def test_svg_cuts_nothing_off(observation):
    check_inside(draw_svg(observation))


@pytest.mark.parametrize("observation", MANY)
def test_definitions_are_the_same_in_all_pictures(observation):
    # So that several pictures may stand in one page.
    assert definitions(draw_svg(observation)) == definitions(draw_svg(CROWDED))


@pytest.mark.parametrize("observation", MANY)
def test_svg_shows_every_expedition_and_every_discard(observation):
    svg = draw_svg(observation)
    for number, colour in enumerate(COLOURS[: observation.options.colours]):
        for seat in (0, 1):
            ranks = observation.expeditions[seat][number]
            area = part(svg, f"lc-expedition-{seat}-{colour.value}")
            assert Counter(words(area)) == thrice(ranks)
        pile = observation.discards[number]
        said = words(part(svg, f"lc-pile-{colour.value}"))
        assert said[:3] == [mark(rank) for rank in pile[-1:] * 3]
        assert " ".join(said[3:]).split() == [mark(rank) for rank in pile[:-1]]


@pytest.mark.parametrize("observation", MANY)
def test_svg_shows_the_points_of_every_expedition(observation):
    said = Counter(words(part(draw_svg(observation), "lc-board")))
    expected: Counter[str] = Counter()
    for seat in (0, 1):
        columns = observation.expeditions[seat]
        points = column_scores(observation, seat)
        for ranks, score in zip(columns, points, strict=True):
            expected[f"{score:+d}" if score else "0" if ranks else "–"] += 1
    assert not expected - said


@pytest.mark.parametrize("observation", MANY)
def test_svg_shows_the_observers_hand_and_what_is_known_of_the_others(observation):
    svg = draw_svg(observation)
    for seat in (0, 1):
        area = part(svg, f"lc-player-{seat}")
        known = [rank for ranks in observation.known[seat] for rank in ranks]
        if seat == observation.seat:
            hand = [rank for ranks in observation.hand for rank in ranks]
            shown = part(svg, "lc-hand")
            assert Counter(words(shown)) == thrice(hand)
            dots = [e for e in shown.iter(f"{SVG}circle") if e.get("r") == "9"]
            if observation is not CROWDED:
                assert len(dots) == len(known)
            assert backs(area) == 0
        else:
            assert not thrice(known) - Counter(words(area))
            assert backs(area) == hand_size(observation, seat) - len(known)
    assert svg.count('id="lc-hand"') == (observation.seat is not None)


@pytest.mark.parametrize("observation", MANY)
def test_svg_shows_the_draw_pile_and_the_scores(observation):
    svg = draw_svg(observation)
    assert words(part(svg, "lc-draw-pile")) == [str(observation.deck_size)]
    near = observation.seat or 0
    said = words(part(svg, "lc-scores"))
    rows = [said[start : start + 3] for start in range(2, len(said), 3)]
    assert rows == [
        [name, str(scores[1 - near]), str(scores[near])]
        for name, scores in [
            *((f"Game {n}", scores) for n, scores in enumerate(observation.scores, 1)),
            ("Total", observation.totals),
        ]
    ]
    side = words(part(svg, "lc-side"))
    for exploit in observation.options.exploits:
        assert exploit.value.replace("-", " ") in side


def test_svg_marks_the_pile_that_may_not_be_taken():
    def crosses(svg: str, colour: str) -> int:
        pile = part(svg, f"lc-pile-{colour}")
        return sum(e.get("stroke") == "#a3152a" for e in pile.iter(f"{SVG}g"))

    svg = draw_svg(EXAMPLES["middle"])
    assert [crosses(svg, each) for each in ("green", "blue", "yellow")] == [1, 0, 0]


@pytest.mark.parametrize("draw", [draw_text, draw_svg])
@pytest.mark.parametrize(
    ("observation", "said"),
    [
        (seen(""), "your turn: play or discard"),
        (seen(MIDDLE), "your turn: draw, but not green"),
        (seen(MIDDLE, SINGLE, 1), "turn of seat 0: draw, but not green"),
        (seen("expedition 0: red 2\ndraw: any"), "your turn: draw"),
        (seen("to move: 1", SINGLE, None), "turn of seat 1: play or discard"),
        (evolve(seen(""), to_move=None), "match over"),
        (
            evolve(seen(""), to_move=None, reason="pile-empty", totals=(3, 2)),
            "you win: draw pile empty",
        ),
        (
            evolve(seen(""), to_move=None, reason="turn-cap", totals=(1, 2)),
            "seat 1 wins: turn cap reached",
        ),
        (evolve(seen(""), to_move=None, reason="turn-cap"), "draw: turn cap reached"),
        (
            evolve(
                seen("", Options(tie_break=1), None), to_move=None, reason="turn-cap"
            ),
            "seat 1 wins: turn cap reached",
        ),
    ],
)
def test_headline_says_whose_turn_it_is_or_who_has_won(draw, observation, said):
    assert said in draw(observation).casefold()


def test_description_tells_the_position_in_words():
    said = part(draw_svg(EXAMPLES["middle"]), "lc-desc").text or ""
    assert said.startswith("Your turn: draw, but not green. Game 1 of 1.")
    assert "Hand of seat 0: yellow W 5 9, blue 3, green 8 10, red 2." in said
    assert "Seat 1: white W W 5 6 7 8 9 10, red 3 6; 84 points." in said
    assert "yellow W W, blue 10, green 2 9 4." in said
    assert "Known in the hand of seat 1: blue 5." in said
    said = part(draw_svg(EXAMPLES["exploits"]), "lc-desc").text or ""
    assert "Exploit, three wagers in one expedition: seat 0." in said


# ------------------------------------------------------------------------ text


@pytest.mark.parametrize("observation", MANY)
def test_text_fits_a_terminal(observation):
    lines = draw_text(observation).split("\n")
    assert max(map(len, lines)) <= 80
    assert set("".join(lines)) <= {*"┌┐└┘─│", *map(chr, range(32, 127))}
    assert all(line == line.rstrip() for line in lines)
    walls = {line.index("│") for line in lines if "│" in line}
    assert len(walls) == 1


@pytest.mark.parametrize("observation", MANY)
def test_text_shows_the_facts(observation):
    text = draw_text(observation)
    far, near = (1, 0) if observation.seat in {None, 0} else (0, 1)
    board = [line.split("│") for line in text.split("\n") if "│" in line]
    for number, (left, middle, right) in enumerate(board):
        ranks = observation.expeditions[near][number]
        shown = [mark(rank) for rank in ranks]
        assert right.split()[: len(ranks)] == shown
        ranks = observation.expeditions[far][number]
        shown = [mark(rank) for rank in reversed(ranks)]
        assert left.split()[-len(ranks) or 99 :] == shown
        pile = observation.discards[number]
        assert middle.split()[:2] == [
            COLOURS[number].value,
            mark(pile[-1]) if pile else "-",
        ]
        assert (f"+{len(pile) - 1}" in middle) == (len(pile) > 1)
    assert f"draw pile {observation.deck_size}" in text
    assert ("Your hand" in text) == (observation.seat is not None)
    for seat in (0, 1):
        (line,) = [x for x in text.split("\n") if x.startswith(f"  seat {seat}")]
        numbers = [int(word) for word in re.findall(r"-?\d+", line)[1:]]
        expected = [scores[seat] for scores in observation.scores]
        assert numbers[: len(expected) + 1] == [*expected, observation.totals[seat]]


def test_text_of_a_position_looks_like_this():
    assert draw_text(EXAMPLES["middle"]) == EXPECTED.removeprefix("\n")


EXPECTED = """
Lost Cities - your turn: draw, but not green
game 1 of 1, turn 22 of 300, draw pile 25

                       seat 1 ┌─────discards─────┐ seat 0 (you) *
                              │ yellow   W +1    │ 2 4                       -14
                              │ blue    10       │ W 2                       -36
 +95         10 9 8 7 6 5 W W │ white    -       │
                              │ green    4 +2  x │
 -11                      6 3 │ red      -       │
                              └──────────────────┘

Your hand (7):    yellow W 5 9  blue 3  green 8 10  red 2
Known of yours:   yellow 9
Known of seat 1:  blue 5
Below the tops:   yellow W  green 2 9  (from the bottom up)

Scores               game 1    total
  seat 1                 84       84
  seat 0 (you)          -50      -50"""


def test_text_tells_the_order_of_the_piles():
    open_piles = draw_text(EXAMPLES["middle"])
    assert "Below the tops:   yellow W  green 2 9  (from the bottom up)" in open_piles
    top_only = draw_text(EXAMPLES["middle, top only"])
    assert "Below the tops:   yellow W  green 2 9  (in rising order)" in top_only


# ------------------------------------------------------ nothing but the observation


def test_pictures_do_not_depend_on_the_process():
    code = (
        "from tests.games.lost_cities.support import GAME, Options, position\n"
        f"state = position({MIDDLE!r}, Options(games=1))\n"
        "for draw in GAME.draw_text, GAME.draw_svg:\n"
        "    sys.stdout.buffer.write(draw(GAME.observe(state, 0)).encode())\n"
    )
    middle = EXAMPLES["middle"]
    check_elsewhere(code, draw_text(middle) + draw_svg(middle))
