"""Positions as text."""

from __future__ import annotations

import pytest
from tests.games.lost_cities.support import (
    ALL_EXPLOITS,
    GAME,
    OPTIONS,
    SINGLE,
    finished,
    states,
)

from fritillary import InvalidPositionError
from fritillary_games.lost_cities.cards import full_pack, size_of
from fritillary_games.lost_cities.exploits import Exploit
from fritillary_games.lost_cities.model import Options
from fritillary_games.lost_cities.position import format_position, parse_position

START = """
    to move: 0
    hand 0: 8 cards
    hand 1: 8 cards
    deck: 44 cards
"""

MIDDLE = """
    # Comments and empty lines are left out.

    To Move: 1                  # case does not matter
    draw:   not RED
    hand 0: red w 7 9, blue 2, 4 cards
    hand 1: 7 cards
    known 0: red 7
    expedition 0: white W W 3
    expedition 1: blue 3 10, green 9
    discards: red 2 10, yellow 3
    deck: green 3, yellow 10, red 4, 33 cards
"""

EXPLOITS = Options(games=1, exploits=ALL_EXPLOITS)
CAPPED = Options(games=1, turn_cap=20)


def test_the_start() -> None:
    state = parse_position(START, SINGLE)
    assert (state.to_move, state.step, state.turns, state.starter) == (0, 0, 0, 0)
    # Named nowhere: in rising order, first the hands, then the draw pile.
    pack = tuple(full_pack(5))
    assert GAME.observe(state, 0).hand[0] == (0, 0, 0, 2, 3, 4, 5, 6)
    assert state.deck == pack[16:]
    assert parse_position(START).later == (pack, pack)


def test_the_middle_of_a_game() -> None:
    state = parse_position(MIDDLE, SINGLE)
    seen = GAME.observe(state, 0)
    assert seen.hand[4] == (0, 7, 9)
    assert seen.hand[1] == (2,)
    assert seen.known[0][4] == (7,)
    assert seen.expeditions[0][2] == (0, 0, 3)
    assert seen.expeditions[1] == ((), (3, 10), (), (9,), ())
    assert seen.discards == ((3,), (), (), (), (2, 10))
    assert seen.barred is not None
    assert [card % 11 for card in state.deck[:3]] == [3, 10, 4]
    assert [size_of(hand) for hand in state.hands] == [8, 7]
    # Eight cards drawn from the pile and one discard taken: nine turns at least.
    assert (seen.deck_size, seen.turns) == (36, 9)


@pytest.mark.parametrize("name", OPTIONS)
def test_every_state_is_given_back(name: str) -> None:
    options = OPTIONS[name]
    for number, state in enumerate(states(options, 2, seed=6)):
        if number % 3 == 0 or state.reason:
            text = format_position(state)
            again = parse_position(text, options)
            assert again == state
            assert format_position(again) == text


def test_the_last_score_follows_from_the_expeditions() -> None:
    state = finished(SINGLE)
    lines = format_position(state).splitlines()
    text = "\n".join(line for line in lines if not line.startswith("score"))
    assert parse_position(text, SINGLE).results == state.results


def other(start: str, line: str, text: str = START) -> str:
    """Return a text with the line of a fact put in place of another."""
    lines = [each for each in text.splitlines() if not each.strip().startswith(start)]
    return "\n".join([*lines, line])


def drawn(turns: int, cards: int, known: int) -> str:
    return (
        f"turns: {turns}, but {cards} cards were drawn from the draw pile and at "
        f"least {known} from discard piles"
    )


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (
            other("to move", ""),
            SINGLE,
            "say either 'to move: SEAT' or 'over: REASON'",
        ),
        (
            START + "over: pile-empty",
            SINGLE,
            "say either 'to move: SEAT' or 'over: REASON'",
        ),
        (
            other("to move", "to move: 2"),
            SINGLE,
            "to move: '2' is no number from 0 to 1",
        ),
        ("a lost city", SINGLE, "line 1: 'a lost city' is no fact of a position"),
        (START + "hand 0: red 7", SINGLE, "line 6: 'hand 0' is there twice"),
        (other("hand 1", ""), SINGLE, "'hand 1' is missing"),
        (other("deck", ""), SINGLE, "'deck' is missing"),
        (
            other("hand 0", "hand 0: pink 7, 7 cards"),
            SINGLE,
            "hand 0: 'pink' is no colour; there are yellow, blue, white, green, red",
        ),
        (
            other("hand 0", "hand 0: purple 7, 7 cards"),
            SINGLE,
            "hand 0: 'purple' is no colour; there are yellow, blue, white, green, red",
        ),
        (
            other("hand 0", "hand 0: red 1, 7 cards"),
            SINGLE,
            "hand 0: '1' is no rank from 2 to 10, and no W",
        ),
        (
            other("hand 0", "hand 0: red, 7 cards"),
            SINGLE,
            "hand 0: red what? Name its ranks",
        ),
        (
            other("hand 0", "hand 0: , 7 cards"),
            SINGLE,
            "hand 0: '' is no colour; there are yellow, blue, white, green, red",
        ),
        (
            other("hand 0", "hand 0: red 7 7, 6 cards"),
            SINGLE,
            "red 7 is named more than once",
        ),
        (
            other("hand 0", "hand 0: red W W W, 5 cards") + "\ndiscards: red W",
            SINGLE,
            "red wager is named more than three times",
        ),
        (
            other("deck", "deck: 45 cards"),
            SINGLE,
            "the position has 61 cards; there are 60",
        ),
        (
            other("deck", "deck: 42 cards"),
            SINGLE,
            "2 cards are nowhere, such as red 9",
        ),
        (
            other("hand 0", "hand 0: 7 cards").replace("44", "45"),
            SINGLE,
            "hand 0: 7 cards; 8 are held now",
        ),
        (
            START.replace("44", "43") + "discards: red 2\ndraw: not red",
            SINGLE,
            "hand 0: 8 cards; 7 are held now",
        ),
        (START + "known 0: red 7", SINGLE, "known 0: red 7 is not in that hand"),
        (
            START.replace("44", "42") + "expedition 0: red 7 3",
            SINGLE,
            "expedition 0: red 3 does not follow 7",
        ),
        (
            START.replace("44", "42") + "expedition 0: red 7 W",
            SINGLE,
            "expedition 0: red W does not follow 7",
        ),
        (
            START + "draw: red",
            SINGLE,
            "draw: 'red'; say any, or not and a colour",
        ),
        (
            START.replace("hand 0: 8", "hand 0: 7").replace("44", "45")
            + "draw: not red",
            SINGLE,
            "draw: red was discarded, but its pile is empty",
        ),
        (
            START.replace("hand 0: 8", "hand 0: 7").replace("44", "45") + "draw: any",
            SINGLE,
            "draw: seat 0 has played no card yet",
        ),
        (
            START.replace("44", "39") + "discards: red 2 3 4 5 6\nturns: 4",
            SINGLE,
            drawn(4, 5, 0),
        ),
        (
            other("hand 0", "hand 0: red 7, 7 cards") + "\nknown 0: red 7\nturns: 0",
            SINGLE,
            drawn(0, 0, 1),
        ),
        (
            START + "turns: 7",
            SINGLE,
            "turns: 7 turns after seat 0 started, seat 1 is to move",
        ),
        (START + "turns: 301", SINGLE, "turns: '301' is no number from 0 to 300"),
        (START + "turns: 20", CAPPED, "turns: the game ends after 20"),
        (START + "starter: 2", SINGLE, "starter: '2' is no number from 0 to 1"),
        (START + "game: 2", SINGLE, "game: '2' is no number from 1 to 1"),
        (START + "game: 2", Options(), "'score 1' is missing"),
        (
            START + "game: 2\nscore 1: many",
            Options(),
            "score 1: 'many'; say the points of seat 0 and of seat 1",
        ),
        (
            START + "pack 2: red 7",
            Options(),
            "pack 2: it must hold all 60 cards once",
        ),
        (
            other("to move", "over: boredom"),
            SINGLE,
            "over: 'boredom' is no reason; say pile-empty or turn-cap",
        ),
        (
            other("to move", "over: pile-empty"),
            SINGLE,
            "over: the draw pile has 44 cards",
        ),
        (
            other("to move", "over: pile-empty"),
            Options(),
            "over: game 1 is not the last of the match",
        ),
        (
            other("to move", "over: turn-cap") + "\nturns: 19",
            CAPPED,
            "over: 19 turns; the cap is 20",
        ),
        (
            other("to move", "over: turn-cap") + "\nscore 1: 5 0",
            CAPPED,
            "score 1: the expeditions are worth 0 and 0",
        ),
        (
            START + "exploits: three-tens 0",
            SINGLE,
            "exploits: 'three-tens 0' is no exploit in play and its seat",
        ),
        (
            START + "exploits: three-tens",
            EXPLOITS,
            "exploits: 'three-tens' is no exploit in play and its seat",
        ),
        (
            START + "exploits: three-tens 0",
            EXPLOITS,
            "exploits: seat 0 does not meet three-tens",
        ),
        (
            START.replace("44", "41") + "expedition 1: red W W W",
            EXPLOITS,
            "exploits: seat 1 meets three-wagers, so it is claimed",
        ),
        (
            START + "game: 2\nscore 1: 9999 -9999",
            Options(),
            "score 1: 9999 is no score from -400 to 780",
        ),
        (
            START + "game: 2\nscore 1: 780 -401",
            Options(),
            "score 1: -401 is no score from -400 to 780",
        ),
        (START + "score 3: 1 1", Options(), "score 3: game 3 is not over"),
        (START + "score 1: 1 1", SINGLE, "score 1: game 1 is not over"),
        (
            START + "game: 3\nscore 1: 1 0\nscore 2: 1 0\npack 2: red 2",
            Options(),
            "pack 2: game 2 is no later one of this match",
        ),
        (
            START + "game: 2\nscore 1: \uff11 0",
            Options(),
            "score 1: '\uff11 0'; say the points of seat 0 and of seat 1",
        ),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(
    text: str, options: Options, message: str
) -> None:
    with pytest.raises(InvalidPositionError) as caught:
        parse_position(text, options)
    assert caught.value.message == message
    assert caught.value.code == "position.invalid"


def test_the_empty_draw_pile_ends_the_game_and_nothing_is_drawn_after() -> None:
    over = format_position(finished(SINGLE))
    going_on = "\n".join(
        line.replace("over: pile-empty", "to move: 0")
        for line in over.splitlines()
        if not line.strip().startswith("score 1")
    )
    with pytest.raises(InvalidPositionError, match="empty, so the game is over"):
        parse_position(going_on, SINGLE)
    with pytest.raises(InvalidPositionError, match="8 cards; 7 are held now"):
        parse_position(over + "draw: any", SINGLE)


def test_who_has_just_met_an_exploit_claims_it_at_the_end_of_the_turn() -> None:
    options = Options(games=1, exploits=(Exploit.THREE_WAGERS,))
    text = START.replace("hand 0: 8", "hand 0: 7").replace("44", "42")
    state = parse_position(text + "expedition 0: red W W W\ndraw: any", options)
    assert state.claims == (2,)
    text = (
        START.replace("44", "41") + "expedition 1: red W W W\nexploits: three-wagers 1"
    )
    assert parse_position(text, options).claims == (1,)
