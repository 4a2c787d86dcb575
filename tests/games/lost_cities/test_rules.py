"""The numbered rules of Lost Cities, one after the other."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.games.lost_cities.support import (
    GAME,
    OPTIONS,
    SINGLE,
    SIX,
    TOP_ONLY,
    action,
    legal,
    play,
    position,
    states,
)

from fritillary import ACTS, FastDealer, Over
from fritillary_games.lost_cities.actions import Discard, Draw, Play
from fritillary_games.lost_cities.cards import (
    BITS,
    cards_in,
    column_score,
    full_pack,
    pile_ranks,
    score_of,
    size_of,
)
from fritillary_games.lost_cities.exploits import Exploit
from fritillary_games.lost_cities.model import NextStarter, Options, State


def all_cards(state: State) -> list[int]:
    """Return every card of the game being played, rising."""
    cards = [*state.deck]
    for collection in (*state.hands, *state.expeditions):
        cards += cards_in(collection)
    for number, pile in enumerate(state.piles):
        cards += [BITS * number + rank for rank in pile_ranks(pile)]
    return sorted(cards)


@pytest.mark.rule("C-a")
def test_the_pack_has_sixty_cards_and_each_seat_is_dealt_eight() -> None:
    state = GAME.new(FastDealer(5), SINGLE)
    cards = Counter(all_cards(state))
    assert cards.total() == 60
    for number in range(5):
        copies = [cards[BITS * number + rank] for rank in range(11)]
        assert copies == [3, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1]
    assert [size_of(hand) for hand in state.hands] == [8, 8]
    assert len(state.deck) == 44
    assert (state.expeditions, state.piles) == ([0, 0], [0] * 5)


@pytest.mark.rule("C-b")
def test_the_long_game_has_a_sixth_colour_and_else_the_same_rules() -> None:
    state = GAME.new(FastDealer(5), SIX)
    cards = Counter(all_cards(state))
    assert cards.total() == 72
    assert sum(copies for card, copies in cards.items() if card // BITS == 5) == 12
    assert [size_of(hand) for hand in state.hands] == [8, 8]
    assert len(state.deck) == 56
    state = position("hand 0: purple W 7", SIX)
    play(state, "play purple wager", "draw")
    assert GAME.observe(state, 1).expeditions[0][5] == (0,)


@pytest.mark.rule("C-c")
def test_a_turn_is_a_card_and_then_a_draw_of_the_same_seat() -> None:
    state = position("hand 0: red 7")
    kinds = {type(action(text)) for text in legal(state)}
    assert kinds == {Play, Discard}
    play(state, "play red 7")
    assert GAME.decision_point(state) is ACTS[0]
    assert legal(state) == ["draw"]
    assert GAME.observe(state, 0).must_draw
    play(state, "draw")
    assert GAME.decision_point(state) is ACTS[1]
    assert not GAME.observe(state, 0).must_draw
    assert [size_of(hand) for hand in state.hands] == [8, 8]


@pytest.mark.rule("C-c")
def test_the_top_of_any_pile_may_be_taken_but_not_the_card_just_discarded() -> None:
    state = position("hand 0: red 7\ndiscards: red 3 9, blue W, green 2 4")
    play(state, "discard red 7")
    assert GAME.observe(state, 0).barred.value == "red"
    assert legal(state) == ["draw", "take blue", "take green"]
    play(state, "take green")
    assert GAME.observe(state, 0).discards[3] == (2,)
    assert GAME.observe(state, 0).barred is None
    assert 4 in GAME.observe(state, 0).hand[3]


@pytest.mark.rule("C-c")
def test_after_a_play_every_pile_may_be_taken_from() -> None:
    state = position("hand 0: red 7\ndiscards: red 3 9, blue W")
    play(state, "play red 7")
    assert legal(state) == ["draw", "take blue", "take red"]


@pytest.mark.rule("C-c")
@pytest.mark.parametrize("name", OPTIONS)
def test_turns_alternate_and_cards_neither_vanish_nor_appear(name: str) -> None:
    options = OPTIONS[name]
    for state in states(options, 3):
        assert all_cards(state) == full_pack(options.colours)
        if state.reason == 0:
            mover = (state.starter + state.turns) % 2
            assert GAME.decision_point(state) is ACTS[mover]
            for seat, hand in enumerate(state.hands):
                assert size_of(hand) == 8 - (state.must_draw and seat == mover)


@pytest.mark.rule("C-d")
def test_ranks_rise_with_gaps_and_wagers_come_first() -> None:
    state = position("hand 0: red W 2 5 9, blue W 4\nexpedition 0: red W 4, blue W")
    plays = [text for text in legal(state) if text.startswith("play")]
    assert [text for text in plays if "red" in text] == ["play red 5", "play red 9"]
    assert [text for text in plays if "blue" in text] == [
        "play blue wager",
        "play blue 4",
    ]
    # Whatever is in hand can be discarded.
    for card in ("red wager", "red 2", "red 5", "red 9", "blue wager", "blue 4"):
        assert f"discard {card}" in legal(state)


@pytest.mark.rule("C-d")
def test_up_to_three_wagers_and_each_seat_has_columns_of_its_own() -> None:
    state = position("hand 0: red W\nexpedition 0: red W W\nhand 1: red 5")
    play(state, "play red wager", "draw", "play red 5")
    seen = GAME.observe(state, None)
    assert seen.expeditions[0][4] == (0, 0, 0)
    assert seen.expeditions[1][4] == (5,)


@pytest.mark.rule("C-d")
@pytest.mark.parametrize("name", OPTIONS)
def test_legal_plays_are_those_that_continue_an_expedition(name: str) -> None:
    for state in states(OPTIONS[name], 3, seed=2):
        if state.reason or state.must_draw:
            continue
        seen = GAME.observe(state, state.to_move)
        expected = []
        for verb in (Play, Discard):
            for number, colour in enumerate(GAME.table(SIX, 2).actions[:60:10]):
                if number >= seen.options.colours:
                    continue
                highest = max(seen.expeditions[state.to_move][number], default=0)
                expected += [
                    verb(colour.colour, rank)
                    for rank in sorted(set(seen.hand[number]))
                    if verb is Discard or rank > highest or rank == highest == 0
                ]
        assert list(GAME.legal_actions(state)) == expected


#: All cards that a position near the end does not name, on discard piles.
EVERYTHING = "W W W 2 3 4 5 6 7 8 9 10"
REST = (
    f"\ndiscards: yellow 10, blue {EVERYTHING}, white {EVERYTHING}, "
    f"green {EVERYTHING}, red W W W 2 3 4"
)


@pytest.mark.rule("C-e")
def test_the_game_ends_with_the_draw_of_the_last_card() -> None:
    state = position("hand 0: red 7\nhand 1: 8 cards\ndeck: red 9" + REST)
    play(state, "play red 7")
    assert GAME.outcome_of(state) is None
    play(state, "draw")
    outcome = GAME.outcome_of(state)
    assert outcome.reason == "pile-empty"
    # Nothing in either hand counts.
    assert outcome.scores == (-13, 0)
    assert size_of(state.hands[0]) == 8


@pytest.mark.rule("C-f")
@pytest.mark.parametrize(
    ("ranks", "points"),
    [
        ((), 0),
        ((0,), -40),
        ((2,), -18),
        ((10, 9), -1),
        ((0, 0, 10, 9, 8), 21),
        ((2, 3, 4, 5, 6, 7, 8), 15),
        ((2, 3, 4, 5, 6, 7, 8, 9), 44),
        ((0, 2, 3, 4, 5, 6, 7), 14),
        ((0, 2, 3, 4, 5, 6, 7, 8), 50),
        ((0, 0, 0, 2, 3, 4, 5, 6), 20),
        ((0, 0, 0), -80),
    ],
)
def test_a_column_scores_what_exceeds_twenty_times_its_factor(
    ranks: tuple[int, ...], points: int
) -> None:
    assert column_score(ranks) == points
    assert score_of(sum(1 << 4 * BITS + rank for rank in ranks)) == points
    # The bonus of eight cards is not multiplied, and wagers count among the eight.
    by_hand = (sum(ranks) - 20) * (1 + ranks.count(0)) + 20 * (len(ranks) >= 8)
    assert points == (by_hand if ranks else 0)


@pytest.mark.rule("C-f")
def test_running_scores_are_those_of_the_expeditions() -> None:
    state = position("expedition 0: red W 8, blue 2\nexpedition 1: red 10 ")
    assert GAME.observe(state, 0).scores == ((-24 - 18, -10),)
    assert GAME.observe(state, 0).totals == (-42, -10)


@pytest.mark.rule("C-g")
def test_three_games_are_played_and_their_scores_added() -> None:
    for seed in range(5):
        state = GAME.new(FastDealer(seed))
        rng = FastDealer(seed).stream("play")
        deals = [state.hands]
        while GAME.outcome_of(state) is None:
            games = len(state.results)
            GAME.apply(state, rng.choice(GAME.legal_actions(state)))
            if len(state.results) > games and not state.reason:
                deals.append(state.hands)
                assert GAME.observe(state, 0).game == games + 2
                assert GAME.observe(state, 0).turns == 0
                assert len(state.deck) == 44
        assert len(state.results) == 3
        assert len({tuple(hands) for hands in deals}) == 3
        outcome = GAME.outcome_of(state)
        assert outcome.scores == tuple(map(sum, zip(*state.results, strict=True)))
        assert GAME.observe(state, 0).totals == outcome.scores
        assert GAME.observe(state, 0).scores == state.results


@pytest.mark.rule("C-g")
def test_each_game_has_the_deck_of_its_number_however_play_went() -> None:
    decks: list[list[Any]] = []
    for way in ("one", "other"):
        state = GAME.new(FastDealer(8), Options(turn_cap=20))
        rng = FastDealer(way)
        dealt = []
        while GAME.outcome_of(state) is None:
            if state.turns == 0 and not state.must_draw:
                dealt.append((tuple(state.hands), state.deck))
            GAME.apply(state, rng.choice(GAME.legal_actions(state)))
        decks.append(dealt)
    assert decks[0] == decks[1]
    assert len(decks[0]) == 3


def starter_of_next(text: str, options: Options) -> int:
    """Return who starts after a game that seat 0 ends by drawing the last card."""
    state = position(text, options)
    play(state, "discard yellow 10", "draw")
    assert state.turns == 0
    return state.starter


def ending(expeditions: str, previous: str = "") -> str:
    """Return a position in which seat 0 is about to end a game."""
    ranks = {
        colour: EVERYTHING.split()
        for colour in ("yellow", "blue", "white", "green", "red")
    }
    # Both hands: eight yellow cards, and eight cards of blue.
    held = ["yellow", *"WWW2345", "10"]
    other = ["blue", *"WWW23456"]
    lines = [f"hand 0: {' '.join(held)}", f"hand 1: {' '.join(other)}", "deck: red 9"]
    for words in (
        held,
        other,
        ["red", "9"],
        *(x.split() for x in expeditions.split(",")),
    ):
        for rank in words[1:]:
            ranks[words[0]].remove(rank)
    for seat, cards in enumerate(expeditions.split(",")):
        lines.append(f"expedition {seat}: {cards}")
    rest = [f"{colour} {' '.join(each)}" for colour, each in ranks.items()]
    lines.append(f"discards: {', '.join(rest)}")
    return "\n".join(lines) + f"\n{previous}"


AHEAD_NOW = "white 2, green 10"  # seat 1 wins this game by 8
BEHIND_NOW = "white 10, green 2"
EVEN_NOW = "white 10, green 10"


@pytest.mark.rule("C-h")
@pytest.mark.parametrize("rule", NextStarter)
@pytest.mark.parametrize(
    ("expeditions", "starter"), [(AHEAD_NOW, 1), (BEHIND_NOW, 0), (EVEN_NOW, 1)]
)
def test_the_winner_of_the_first_game_starts_the_second_and_if_equal_the_other(
    rule: NextStarter, expeditions: str, starter: int
) -> None:
    text = ending(expeditions)
    assert starter_of_next(text, Options(next_starter=rule)) == starter


@pytest.mark.rule("C-h")
@pytest.mark.parametrize(
    ("rule", "expeditions", "score", "starter"),
    [
        (NextStarter.HIGHEST_TOTAL, AHEAD_NOW, "20 0", 0),
        (NextStarter.HIGHEST_TOTAL, AHEAD_NOW, "0 20", 1),
        (NextStarter.HIGHEST_TOTAL, AHEAD_NOW, "8 0", 1),
        (NextStarter.LAST_WINNER, AHEAD_NOW, "20 0", 1),
        (NextStarter.LAST_WINNER, BEHIND_NOW, "0 20", 0),
        (NextStarter.LAST_WINNER, EVEN_NOW, "0 20", 1),
        (NextStarter.HIGHEST_TOTAL, EVEN_NOW, "0 20", 1),
        (NextStarter.HIGHEST_TOTAL, EVEN_NOW, "20 0", 0),
    ],
)
def test_the_third_game_is_started_by_total_or_by_last_winner(
    rule: NextStarter, expeditions: str, score: str, starter: int
) -> None:
    # Seat 0 started the second game; where all is equal, seat 1 starts the third.
    text = ending(expeditions, f"game: 2\nscore 1: {score}\nstarter: 0")
    assert starter_of_next(text, Options(next_starter=rule)) == starter


@pytest.mark.rule("C-h")
@pytest.mark.parametrize("starter", [0, 1])
def test_the_options_say_who_starts_the_first_game(starter: int) -> None:
    state = GAME.new(FastDealer(1), Options(starter=starter))
    assert GAME.decision_point(state) is ACTS[starter]
    assert GAME.observe(state, None).starter == starter


@pytest.mark.rule("C-i")
def test_discards_lie_face_up_and_the_draw_pile_can_be_counted() -> None:
    text = "discards: red 9 2 W 5, blue 3"
    for viewer in (0, 1, None):
        seen = GAME.observe(position(text), viewer)
        assert seen.discards == ((), (3,), (), (), (9, 2, 0, 5))
        assert seen.deck_size == 60 - 16 - 5
        # Only the tops are to be seen, but what has been discarded can be noted.
        noted = GAME.observe(position(text, TOP_ONLY), viewer)
        assert noted.discards == ((), (3,), (), (), (0, 2, 9, 5))


@pytest.mark.rule("C-j")
@pytest.mark.parametrize(
    ("tie_break", "placing"), [(None, (1, 1)), (0, (1, 2)), (1, (2, 1))]
)
def test_a_tie_is_a_draw_or_goes_to_the_seat_of_the_options(
    tie_break: int | None, placing: tuple[int, int]
) -> None:
    options = Options(games=1, tie_break=tie_break)
    state = play(position(ending(EVEN_NOW), options), "discard yellow 10", "draw")
    outcome = GAME.outcome_of(state)
    assert outcome.scores == (-10, -10)
    assert outcome.placing == placing
    state = play(position(ending(AHEAD_NOW), options), "discard yellow 10", "draw")
    assert GAME.outcome_of(state).placing == (2, 1)


@pytest.mark.rule("C-j")
def test_an_exploit_is_worth_ten_points_to_the_first_who_meets_it() -> None:
    options = Options(games=1, exploits=(Exploit.THREE_WAGERS,))
    state = position(
        "hand 0: red W\nexpedition 0: red W W\nhand 1: blue W\nexpedition 1: blue W W",
        options,
    )
    assert GAME.observe(state, 0).exploits == (None,)
    before = GAME.observe(state, 0).scores[0]
    play(state, "play red wager")
    # Only at the end of the turn.
    assert GAME.observe(state, 0).exploits == (None,)
    play(state, "draw")
    assert GAME.observe(state, 0).exploits == (0,)
    assert GAME.observe(state, 0).scores[0][0] == before[0] - 20 + 10
    play(state, "play blue wager", "draw")
    assert GAME.observe(state, 1).exploits == (0,)
    assert GAME.observe(state, 1).scores[0][1] == before[1] - 20


@pytest.mark.parametrize("name", OPTIONS)
def test_no_game_is_longer_than_its_cap(name: str) -> None:
    options = OPTIONS[name]
    cap = GAME.new(FastDealer(0), options).layout.cap
    assert cap == (options.turn_cap or (600 if options.colours == 6 else 300))
    for state in states(options, 2, seed=4):
        assert state.turns <= cap
        assert (state.turns < cap) or state.reason


def test_players_who_only_take_discards_meet_the_turn_cap() -> None:
    for options, cap in ((SINGLE, 300), (SIX, 600), (Options(turn_cap=7), 7)):
        state = GAME.new(FastDealer(1), options)
        plies = 0
        while GAME.outcome_of(state) is None:
            GAME.play(state, GAME.legal_actions(state)[-1])
            plies += 1
        outcome = GAME.outcome_of(state)
        assert outcome.reason == "turn-cap"
        assert plies == 2 * cap * options.games <= GAME.info.max_plies
        assert outcome.scores == (0, 0)
        assert outcome.placing == (1, 1)


def test_a_game_that_meets_the_cap_is_scored_as_it_stands() -> None:
    options = Options(games=1, turn_cap=40)
    text = "hand 0: red 9\nexpedition 0: red 2 8\nexpedition 1: blue 10\nturns: 39"
    state = position(text + "\nstarter: 1", options)
    play(state, "play red 9", "draw")
    outcome = GAME.outcome_of(state)
    assert (outcome.reason, outcome.scores) == ("turn-cap", (-1, -10))
    assert outcome.winners == (0,)


def test_the_last_card_of_the_pile_goes_before_the_cap() -> None:
    options = Options(games=1, turn_cap=60)
    text = ending(EVEN_NOW) + "turns: 59\nstarter: 1"
    state = play(position(text, options), "discard yellow 10", "draw")
    assert GAME.outcome_of(state).reason == "pile-empty"


def test_every_reason_has_a_sentence() -> None:
    assert set(GAME.info.reasons) == {"pile-empty", "turn-cap"}
    for sentence in GAME.info.reasons.values():
        assert sentence.endswith(".")


def test_the_outcome_is_one_and_the_same_value() -> None:
    state = play(position(ending(EVEN_NOW)), "discard yellow 10", "draw")
    point = GAME.decision_point(state)
    assert type(point) is Over
    assert GAME.decision_point(GAME.copy(state)) is point


def test_matches_do_not_depend_on_the_process() -> None:
    code = (
        "import sys\n"
        f"sys.path[:0] = {[str(Path(__file__).parents[3])]!r}\n"
        "from tests.games.lost_cities.support import GAME, OPTIONS, states\n"
        "for options in OPTIONS.values():\n"
        "    for state in states(options, 1):\n"
        "        pass\n"
        "    sys.stdout.write(GAME.codec.encode_state(state).hex())\n"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(found) == 1
    assert min(map(len, found)) > 400


def test_a_draw_is_the_only_action_that_takes_the_draw_pile() -> None:
    state = position("hand 0: red 7")
    first, second = state.deck[:2]
    play(state, "play red 7", "draw")
    assert state.deck[0] == second
    assert state.hands[0] >> first & 3
    assert action("draw") == Draw()
