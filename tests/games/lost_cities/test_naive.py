"""Self check of the naive Lost Cities used as a reference in other tests."""

from __future__ import annotations

import importlib.util
import random
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

DRAW = ("draw",)


def _load_naive() -> ModuleType:
    """Load the naive game from the file next to this one."""
    path = Path(__file__).with_name("naive.py")
    spec = importlib.util.spec_from_file_location("lost_cities_naive", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


naive = _load_naive()


def full_deck(colours: int = 5) -> list[tuple[str, int]]:
    """Return all cards of the game, sorted by colour and rank (C-a, C-b)."""
    deck = []
    for colour in ["red", "green", "blue", "white", "yellow", "purple"][:colours]:
        deck += [(colour, rank) for rank in [0, 0, 0, 2, 3, 4, 5, 6, 7, 8, 9, 10]]
    return deck


def position(
    hand: list[tuple[str, int]],
    *,
    other: list[tuple[str, int]] | None = None,
    pile: int = 10,
    **options: Any,
) -> Any:
    """Build a position with seat 0 to move and ``pile`` cards in the draw pile."""
    colours = options.get("colours", 5)
    decks = [full_deck(colours) for _ in range(options.get("games", 1))]
    game = naive.NaiveLostCities(decks, **options)
    game.hands = [list(hand), list(other or [])]
    game.deck = [("white", 0)] * pile
    return game


def end_game(game: Any, first: list[int], second: list[int]) -> None:
    """End the game in progress with the given red columns, by the last draw."""
    game.expeditions[0]["red"] = first
    game.expeditions[1]["red"] = second
    game.hands[game.to_move] = [("green", 2)]
    game.deck = [("white", 0)]
    game.apply(("discard", "green", 2))
    game.apply(DRAW)


@pytest.mark.parametrize(("colours", "size", "pile"), [(5, 60, 44), (6, 72, 56)])
@pytest.mark.parametrize("starter", [0, 1])
def test_deal(colours: int, size: int, pile: int, starter: int) -> None:
    """C-a, C-b: eight cards each, seat 0 first, the rest is the draw pile."""
    deck = full_deck(colours)
    assert len(deck) == size
    random.Random(5).shuffle(deck)
    game = naive.NaiveLostCities([deck], colours=colours, starter=starter)
    assert game.to_move == starter
    assert game.hands == [deck[:8], deck[8:16]]
    assert game.deck == deck[16:]
    assert len(game.deck) == pile
    assert len(game.piles) == len(game.expeditions[0]) == colours
    assert game.turn_cap == (300 if colours == 5 else 600)


@pytest.mark.parametrize(
    ("cards", "expected"),
    [
        pytest.param([2, 4, 6, 9, 10], 11, id="LC-01"),
        pytest.param([0, 3, 5, 7, 8, 9], 24, id="LC-02"),
        pytest.param([4, 6], -10, id="LC-03"),
        pytest.param([0, 0, 2, 3, 4, 5, 6, 7], 41, id="LC-04"),
        pytest.param([], 0, id="LC-05-empty"),
        pytest.param([0, 0, 0], -80, id="LC-07"),
        pytest.param([0, 0, 0, 2, 3, 4, 5, 6, 7, 8, 9, 10], 156, id="LC-08"),
        pytest.param([2, 3, 4, 5, 6, 7, 8, 9, 10], 54, id="LC-09-nine"),
        pytest.param([2, 3, 4, 5, 6, 7, 8, 9], 44, id="LC-09-eight"),
        pytest.param([0, 0, 6, 8, 10], 12, id="LC-12"),
    ],
)
def test_column_score(cards: list[int], expected: int) -> None:
    """C-f: the worked examples of one column."""
    assert naive.score(cards) == expected


def test_lc_05() -> None:
    """LC-05: the columns of LC-01 to LC-04 together, one colour empty."""
    game = position([])
    game.expeditions[0] = {
        "red": [2, 4, 6, 9, 10],
        "green": [0, 3, 5, 7, 8, 9],
        "blue": [4, 6],
        "white": [0, 0, 2, 3, 4, 5, 6, 7],
        "yellow": [],
    }
    assert game.points(0) == 66
    assert game.points(1) == 0


def test_lc_14() -> None:
    """LC-14: after a 5, a 9 is playable, a 3 and a wager only discardable."""
    game = position([("red", 3), ("red", 0), ("red", 9)])
    game.expeditions[0]["red"] = [5]
    assert game.legal() == {
        ("play", "red", 9),
        ("discard", "red", 3),
        ("discard", "red", 0),
        ("discard", "red", 9),
    }


def test_lc_15() -> None:
    """LC-15: the pile just discarded to is barred, for this turn only."""
    game = position([("red", 4)], other=[("blue", 2)])
    game.piles["red"] = [9]
    game.piles["green"] = [7]
    game.apply(("discard", "red", 4))
    assert game.legal() == {DRAW, ("take", "green")}
    game.apply(DRAW)
    game.apply(("play", "blue", 2))
    assert game.legal() == {DRAW, ("take", "green"), ("take", "red")}
    game.apply(("take", "red"))
    assert game.hands[1] == [("red", 4)]
    assert game.piles["red"] == [9]


def test_lc_17() -> None:
    """LC-17: taking a discard before the last pile card keeps the game going."""
    game = position([("red", 4)], other=[("red", 3)], pile=1)
    game.piles["green"] = [7]
    game.apply(("play", "red", 4))
    game.apply(("take", "green"))
    assert not game.over
    assert game.to_move == 1
    game.apply(("play", "red", 3))
    game.apply(DRAW)
    assert game.over
    assert game.game_scores == [[-16, -17]]
    assert game.winners == [0]
    assert game.winner == 0
    assert game.legal() == set()


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        ([], {0, 2, 3, 10}),
        ([0, 0], {0, 2, 3, 10}),
        ([0, 2], {3, 10}),
        ([2, 9], {10}),
        ([10], set()),
    ],
)
def test_columns_rise(column: list[int], expected: set[int]) -> None:
    """C-d: wagers first, then strictly rising numbers with gaps."""
    game = position([("red", rank) for rank in (0, 2, 3, 10)])
    game.expeditions[0]["red"] = column
    played = {action[2] for action in game.legal() if action[0] == "play"}
    assert played == expected


def test_taking_from_the_other_players_discard_and_own_old_one() -> None:
    """C-c: a seat may take back what it discarded in an earlier turn."""
    game = position([("red", 4), ("red", 5)], other=[("blue", 2)])
    game.apply(("discard", "red", 4))
    game.apply(DRAW)
    game.apply(("discard", "blue", 2))
    game.apply(DRAW)
    game.apply(("play", "red", 5))
    assert game.legal() == {DRAW, ("take", "red"), ("take", "blue")}


@pytest.mark.parametrize(("colours", "cap"), [(5, 300), (6, 600)])
def test_game_ends_at_the_turn_cap(colours: int, cap: int) -> None:
    """Two seats that only swap discards are stopped by the cap."""
    game = position([("red", 4)], other=[("red", 5)], colours=colours)
    game.piles["green"] = [2]
    game.piles["blue"] = [3]
    turns = 0
    while not game.over:
        discards = [action for action in game.legal() if action[0] == "discard"]
        game.apply(discards[0])
        taken = [action for action in game.legal() if action[0] == "take"]
        game.apply(taken[0])
        turns += 1
    assert turns == game.turns == cap
    assert game.game_scores == [[0, 0]]


@pytest.mark.parametrize(
    ("tie_break", "winners", "winner"), [(None, [0, 1], None), (0, [0], 0), (1, [1], 1)]
)
def test_tied_match(
    tie_break: int | None, winners: list[int], winner: int | None
) -> None:
    """C-j: a tie is a draw unless a seat is named."""
    game = position([], tie_break=tie_break)
    end_game(game, [3], [3])
    assert game.over
    assert game.winners == winners
    assert game.winner == winner


@pytest.mark.parametrize(
    ("next_starter", "starters"),
    [("highest-total", [1, 0, 0, 1]), ("last-winner", [1, 0, 1, 1])],
)
def test_starters_of_a_match(next_starter: str, starters: list[int]) -> None:
    """C-g, C-h: seat 0 wins, seat 1 wins by less, seat 1 wins to level the totals."""
    game = position([], games=4, starter=1, next_starter=next_starter)
    seen = [game.starter]
    for first, second in [([10], [2]), ([3], [4]), ([3], [10])]:
        end_game(game, first, second)
        seen.append(game.starter)
        assert game.to_move == game.starter
        assert game.turns == 0
        assert len(game.deck) == 44
        assert game.hands == [full_deck()[:8], full_deck()[8:16]]
    assert game.totals == [-44, -44]
    assert seen == starters
    assert game.game == 3
    end_game(game, [10], [9])
    assert game.over
    assert game.winner == 0
    assert game.totals == [-54, -55]
    assert game.game_scores == [[-10, -18], [-17, -16], [-17, -10], [-10, -11]]


def test_other_seat_starts_after_an_equal_game() -> None:
    """C-h, open question: nobody ahead, so the other player starts."""
    for next_starter in ("highest-total", "last-winner"):
        game = position([], games=3, starter=1, next_starter=next_starter)
        end_game(game, [5], [5])
        assert game.starter == 0
        end_game(game, [5], [5])
        assert game.starter == 1


@pytest.mark.parametrize(
    ("exploit", "before", "card"),
    [
        ("three-wagers", {"red": [0, 0]}, ("red", 0)),
        ("eight-cards", {"red": [0, 2, 3, 4, 5, 6, 7]}, ("red", 8)),
        (
            "all-colours",
            {"green": [0], "blue": [4], "white": [5], "yellow": [6]},
            ("red", 2),
        ),
        ("three-tens", {"green": [10], "blue": [2, 10]}, ("red", 10)),
        ("forty-points", {"red": [0, 0, 6, 7, 8, 9]}, ("red", 10)),
    ],
)
def test_exploits(exploit: str, before: dict[str, list[int]], card: tuple) -> None:
    """C-j: an exploit is met by its last card and claimed once, for ten points."""
    game = position([card, ("yellow", 8)], exploits=tuple(naive.EXPLOITS))
    game.expeditions[0].update(before)
    assert not naive.meets(exploit, game.expeditions[0])
    game.apply(("play", *card))
    assert game.claimed == {}
    points = game.points(0)
    game.apply(DRAW)
    assert game.claimed == {exploit: 0}
    assert game.points(0) == points + 10
    assert game.points(1) == 0
    # The other seat meets it later and gets nothing.
    game.expeditions[1] = {key: list(game.expeditions[0][key]) for key in game.colours}
    game.hands[1] = [("white", 2)]
    game.apply(("discard", "white", 2))
    game.apply(DRAW)
    assert game.claimed == {exploit: 0}


def test_exploits_count_in_the_last_turn_and_lie_open_in_the_next_game() -> None:
    """C-j: the turn of the last draw claims too; each game has its own claims."""
    game = position([], games=2, exploits=("three-wagers",))
    end_game(game, [0, 0, 0], [])
    assert game.game_scores == [[-70, 0]]
    assert game.claimed == {}
    end_game(game, [], [0, 0, 0])
    assert game.game_scores == [[-70, 0], [0, -70]]
    assert game.winners == [0, 1]


def test_exploits_are_not_claimed_unless_laid_out() -> None:
    """Exploits are off by default."""
    game = position([])
    end_game(game, [0, 0, 0], [])
    assert game.game_scores == [[-80, 0]]


def test_illegal_actions_are_refused() -> None:
    """C-c: no draw before a card is laid down."""
    game = position([("red", 5)])
    for action in [DRAW, ("take", "red"), ("play", "red", 6)]:
        with pytest.raises(ValueError, match="illegal"):
            game.apply(action)


@pytest.mark.parametrize(
    "options",
    [
        {"colours": 7},
        {"games": 2},
        {"next_starter": "youngest"},
        {"exploits": ("two-wagers",)},
    ],
)
def test_bad_options_are_refused(options: dict[str, Any]) -> None:
    """Options outside the described values are errors."""
    with pytest.raises(ValueError, match=r"colours|deck|unknown"):
        naive.NaiveLostCities([full_deck()], **options)


def all_cards(game: Any) -> Counter:
    """Count all cards of the game in progress, wherever they lie."""
    cards = game.hands[0] + game.hands[1] + game.deck
    for colour in game.colours:
        ranks = (
            game.piles[colour]
            + game.expeditions[0][colour]
            + game.expeditions[1][colour]
        )
        cards = cards + [(colour, rank) for rank in ranks]
    return Counter(cards)


@pytest.mark.parametrize(("colours", "turns"), [(5, 44), (6, 56)])
def test_deck_only_games_have_a_fixed_length(colours: int, turns: int) -> None:
    """Bounds: drawing only from the pile ends a game after 44 or 56 turns."""
    rng = random.Random(7)
    for _ in range(10):
        deck = full_deck(colours)
        rng.shuffle(deck)
        game = naive.NaiveLostCities([deck], colours=colours)
        while not game.over:
            game.apply(rng.choice(sorted(game.legal())))
            game.apply(DRAW)
        assert game.turns == turns


VARIANT = {
    "colours": 6,
    "games": 3,
    "starter": 1,
    "next_starter": "last-winner",
    "tie_break": 1,
    "turn_cap": 200,
    "exploits": tuple(naive.EXPLOITS),
}


@pytest.mark.parametrize("options", [{}, {"games": 3}, VARIANT])
def test_random_games_lose_no_card(options: dict[str, Any]) -> None:
    """C-a ... C-e: cards are conserved, columns rise, seats alternate."""
    rng = random.Random(1999)
    colours = options.get("colours", 5)
    games = options.get("games", 1)
    everything = Counter(full_deck(colours))
    for _ in range(30):
        decks = [full_deck(colours) for _ in range(games)]
        for deck in decks:
            rng.shuffle(deck)
        match = naive.NaiveLostCities(decks, **options)
        while not match.over:
            before = (match.game, match.to_move)
            for phase in ("play", "draw"):
                assert match.phase == phase
                assert match.to_move == before[1]
                match.apply(rng.choice(sorted(match.legal())))
            assert all_cards(match) == everything
            assert len(match.hands[0]) == len(match.hands[1]) == 8
            if match.game == before[0]:
                assert match.to_move == 1 - before[1]
                assert match.turns <= match.turn_cap
            for seat in (0, 1):
                for column in match.expeditions[seat].values():
                    assert column == sorted(column)
                    assert -80 <= naive.score(column) <= 156
        assert len(match.game_scores) == games
        assert match.deck == [] or match.turns == match.turn_cap
        assert match.game_scores[-1] == [match.points(0), match.points(1)]
        assert match.totals == [
            sum(column) for column in zip(*match.game_scores, strict=True)
        ]
        assert match.legal() == set()


def test_random_play_has_the_known_average() -> None:
    """Statistics: 143 turns and -35 points on average, within a margin."""
    rng = random.Random(2018)
    turns = []
    scores: list[int] = []
    for _ in range(200):
        deck = full_deck()
        rng.shuffle(deck)
        game = naive.NaiveLostCities([deck])
        while not game.over:
            game.apply(rng.choice(sorted(game.legal())))
        turns.append(game.turns)
        scores += game.game_scores[0]
    assert 130 < sum(turns) / len(turns) < 156
    assert -39 < sum(scores) / len(scores) < -31
