"""The pictures of Lepidoptery show the observation, fit, and are safe to embed."""

from __future__ import annotations

from pathlib import Path

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
from tests.games.lepidoptery.observations import (
    DECK,
    FOUR,
    MANY,
    MIDDLE,
    SHED,
    START,
    UNEVEN,
    random_observation,
)

from fritillary_games.lepidoptery.model import Observation
from fritillary_games.lepidoptery.pictures import draw_svg, draw_text

# ------------------------------------------------------------------------- SVG


@pytest.mark.parametrize("observation", MANY)
def test_svg_is_one_plain_document_that_refers_to_nothing_outside(observation):
    allowed = "svg title desc defs g path rect circle text use linearGradient stop"
    check_document(draw_svg(observation), "lep", allowed)


@pytest.mark.parametrize("observation", MANY)
def test_svg_cuts_nothing_off(observation):
    check_inside(draw_svg(observation))


@pytest.mark.parametrize("observation", MANY)
def test_definitions_are_the_same_in_all_pictures(observation):
    # So that several pictures may stand in one page.
    assert definitions(draw_svg(observation)) == definitions(draw_svg(START))


@pytest.mark.parametrize("observation", MANY)
def test_svg_shows_every_token_and_every_free_cell(observation):
    board = part(draw_svg(observation), "lep-board")
    full = 0
    free = 0
    for column, tokens in enumerate(observation.columns):
        height = observation.options.heights[column]
        full += len(tokens) == height
        free += height - len(tokens)
    markers = observation.markers
    for seat in (0, 1):
        tokens = sum(column.count(seat) for column in observation.columns)
        assert uses(board, f"lep-token-{seat}") == tokens + (markers[seat] is not None)
    assert words(board).count("FULL") == full
    circles = [e for e in board.iter(f"{SVG}circle") if e.get("stroke") == "#b9a988"]
    assert len(circles) == free


@pytest.mark.parametrize("observation", MANY)
def test_svg_shows_the_observers_hand_and_backs_of_the_others(observation):
    svg = draw_svg(observation)
    for seat in (0, 1):
        area = part(svg, f"lep-player-{seat}")
        size = observation.hand_sizes[seat]
        deck = observation.deck_sizes[seat]
        said = words(area)
        assert said[said.index("in hand") - 1] == str(size)
        assert said[said.index("in deck") - 1] == str(deck)
        joker = "ready" if observation.jokers[seat] else "used"
        assert joker in said
        if seat == observation.seat:
            # Each card says its rank in the corner and in the middle.
            ranks = words(part(svg, "lep-hand"))
            if observation.hand:
                assert sorted(map(int, ranks)) == sorted(observation.hand * 2)
            else:
                assert ranks == ["No cards in hand"]
        else:
            in_deck = 1 + deck // 12 if deck else 0
            face_down = not observation.jokers[seat]
            assert uses(area, f"lep-back-{seat}") == size + in_deck + face_down
    assert svg.count('id="lep-hand"') == (observation.seat is not None)


def test_svg_shows_the_table_with_the_joker_as_such():
    table = words(part(draw_svg(UNEVEN), "lep-table"))
    assert "run of 3" in table
    assert "no run of 3 may beat it" in table
    assert "seat 0" in table
    assert table.count("JOKER") == 1
    assert table[table.index("JOKER") - 2 : table.index("JOKER")] == ["8", "8"]
    assert {"9", "10"} <= set(table)
    assert "The table is clear: seat 0 leads" in words(
        part(draw_svg(START), "lep-table")
    )


def test_svg_counts_the_played_cards_by_rank():
    said = words(part(draw_svg(SHED), "lep-played"))
    assert said[1:11] == [str(rank) for rank in range(1, 11)]
    assert said[11:21] == ["3", "4", "4", "4", "4", "4", "4", "4", "–", "–"]
    assert said[21:31] == ["3", "4", "4", "4", "4", "4", "4", "4", "4", "3"]


def test_svg_highlights_the_four_only_at_their_end():
    def golden(observation: Observation) -> int:
        board = part(draw_svg(observation), "lep-board")
        return sum(e.get("fill") == "#f5b800" for e in board.iter(f"{SVG}circle"))

    assert golden(FOUR) == 4
    assert golden(evolve(FOUR, winner=None, reason=None, to_move=1)) == 0
    assert golden(evolve(FOUR, reason="all-shed")) == 0


@pytest.mark.parametrize("draw", [draw_text, draw_svg])
@pytest.mark.parametrize(
    ("observation", "said"),
    [
        (START, "your turn"),
        (evolve(START, seat=1), "seat 0 to move"),
        (evolve(START, seat=None, hand=(), to_move=1), "seat 1 to move"),
        (evolve(START, to_move=None), "match over"),
        (FOUR, "you win"),
        (FOUR, "four in a line"),
        (evolve(FOUR, seat=1), "seat 0 wins"),
        (SHED, "all cards shed"),
        (evolve(SHED, seat=None), "seat 1 wins"),
    ],
)
def test_headline_says_whose_turn_it_is_or_who_has_won(draw, observation, said):
    assert said in draw(observation).replace("(X)", "").replace("  ", " ").casefold()


def test_description_tells_the_position_in_words():
    said = part(draw_svg(UNEVEN), "lep-desc").text or ""
    assert "On the table by seat 0: run of 3, joker as 8, 9, 10." in said
    assert "triple (0 0 0 0 0 0 1 1 1 1 1 1; height 12, full)" in said
    assert "Seat 1: 38 cards in hand, 0 in the deck, joker ready, " in said
    assert "may not play run of 3" in said
    assert f"Hand of seat 0: {' '.join(map(str, DECK))}." in said


# ------------------------------------------------------------------------ text

#: Which sides of a box-drawing character have a line.
LINKS = {
    "─": "lr",
    "│": "ud",
    "┌": "rd",
    "┐": "ld",
    "└": "ru",
    "┘": "lu",
    "├": "rud",
    "┤": "lud",
    "┬": "lrd",
    "┴": "lru",
}


@pytest.mark.parametrize("observation", MANY)
def test_text_fits_a_terminal_and_its_boxes_close(observation):
    lines = draw_text(observation).split("\n")
    assert max(map(len, lines)) <= 80
    grid = {(x, y): c for y, line in enumerate(lines) for x, c in enumerate(line)}
    for (x, y), character in grid.items():
        assert character in LINKS or " " <= character <= "~"
        for side in LINKS.get(character, ""):
            dx, dy, back = {
                "l": (-1, 0, "r"),
                "r": (1, 0, "l"),
                "u": (0, -1, "d"),
                "d": (0, 1, "u"),
            }[side]
            neighbour = grid.get((x + dx, y + dy), " ")
            # Words may stand in a horizontal line, as on the lid of a full column.
            lettered = dx != 0 and neighbour.isalpha()
            assert lettered or back in LINKS.get(neighbour, ""), (x, y, character)
    assert all(line == line.rstrip() for line in lines)


@pytest.mark.parametrize("observation", MANY)
def test_text_shows_the_facts(observation):
    text = draw_text(observation)
    if observation.seat is None:
        assert "hand (" not in text
        assert "(you)" not in text
    else:
        shown = text[text.index("Your hand (") :].split(":", 1)[1].split("\n\n")[0]
        assert shown.split() == ([str(r) for r in observation.hand] or ["none"])
    heights = observation.options.heights
    full = sum(len(c) == h for c, h in zip(observation.columns, heights, strict=True))
    assert text.count("FULL") == full
    names = [combo.value for combo in observation.options.order]
    assert any(line.split()[:5] == names for line in text.split("\n"))
    for seat, letter in enumerate("XO"):
        size, deck = observation.hand_sizes[seat], observation.deck_sizes[seat]
        joker = "ready" if observation.jokers[seat] else "used"
        assert f"hand {size:<2}   deck {deck:<2}   joker {joker}" in text
        (line,) = [x for x in text.split("\n") if x.startswith(f"  by {letter}")]
        counts = [observation.played[seat].count(rank) for rank in range(1, 11)]
        assert line.split()[2:] == [str(count or ".") for count in counts]


def test_text_of_a_position_looks_like_this():
    assert draw_text(UNEVEN) == EXPECTED.removeprefix("\n")


EXPECTED = """
Lepidoptery - seat 1 to move (O)

┌─FULL──┐                                   O  seat 1  <- to move
│   O   │                                      hand 38   deck 0    joker ready
│   O   │                                      may not play: run3
│   O   │
│   O   │                                   On the table: run3 by X
│   O   │                                   ┌joker┐ ┌─────┐ ┌─────┐
│   O   │       ┌───────┐                   │  8  │ │  9  │ │ 10  │
│   X   │       │   .   ├───────┐           └─────┘ └─────┘ └─────┘
│   X   │       │   .   │   .   │           No run3 may beat it.
│   X   ├───────┤   .   │   .   │
│   X   │   .   │   .   │   .   │           X  seat 0 (you)
│   X   │   .   │  (X)  │   .   ├─FULL──┐      hand 38   deck 0    joker ready
│   X   │   .   │   O   │   .   │   X   │      may not play: run3
└───────┴───────┴───────┴───────┴───────┘
 triple  single   run3    run2    pair
                 not X,O

Your hand (38):  1 1 1  2 2 2 2  3 3 3 3  4 4 4 4  5 5 5 5  6 6 6 6  7 7 7 7
                 8 8 8 8  9 9 9 9  10 10 10

Played         1   2   3   4   5   6   7   8   9  10
  by X         .   .   .   .   .   .   .   .   .   .
  by O         .   .   .   .   .   .   .   .   .   .
  of each      3   4   4   4   4   4   4   4   4   3"""


def test_text_marks_the_newest_token_and_the_four():
    text = draw_text(FOUR)
    assert text.count("[X]") == 4
    assert "(X)" not in text.split("\n", 1)[1]
    going_on = evolve(FOUR, winner=None, reason=None, to_move=1)
    assert draw_text(going_on).split("\n", 1)[1].count("(X)") == 1


# ------------------------------------------------------ nothing but the observation


@pytest.mark.parametrize("draw", [draw_text, draw_svg])
@pytest.mark.parametrize("seed", range(10))
def test_equal_observations_give_equal_pictures(draw, seed):
    assert draw(random_observation(seed)) == draw(random_observation(seed))


def test_pictures_do_not_depend_on_the_process():
    code = (
        "from fritillary_games.lepidoptery.pictures import draw_svg, draw_text\n"
        "from tests.games.lepidoptery.observations import FOUR\n"
        "for draw in draw_text, draw_svg:\n"
        "    sys.stdout.buffer.write(draw(FOUR).encode())\n"
    )
    check_elsewhere(code, draw_text(FOUR) + draw_svg(FOUR))


def test_picture_in_the_documentation_is_what_is_drawn():
    root = Path(__file__).parents[3]
    kept = (root / "docs/images/lepidoptery.svg").read_text(encoding="utf-8")
    assert kept == draw_svg(MIDDLE) + "\n"
