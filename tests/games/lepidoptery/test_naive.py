"""Self check of the naive Lepidoptery used as a reference in other tests."""

from __future__ import annotations

import importlib.util
import random
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

PASS = ("pass",)
RUN3, RUN2, SINGLE, PAIR, TRIPLE = range(5)  # default columns, left to right


def _load_naive() -> ModuleType:
    """Load the naive game from the file next to this one."""
    path = Path(__file__).with_name("naive.py")
    spec = importlib.util.spec_from_file_location("lepidoptery_naive", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


naive = _load_naive()


def full_deck() -> list[int]:
    """Return the 38 cards of one player, sorted (L-a)."""
    deck = [1] * 3 + [10] * 3
    for rank in range(2, 10):
        deck += [rank] * 4
    return sorted(deck)


def play(kind: str, lowest: int, joker_rank: int = 0) -> tuple:
    """Build a play action."""
    return ("play", kind, lowest, joker_rank)


def position(
    hand: list[int],
    *,
    table: tuple | None = None,
    joker: bool = False,
    marker: str | None = None,
    **options: Any,
) -> Any:
    """Build a position with seat 0 to move and cards left in both decks."""
    game = naive.NaiveLepidoptery([full_deck(), full_deck()], **options)
    game.hands[0] = list(hand)
    game.table = table
    game.joker_ready[0] = joker
    game.markers[0] = marker
    return game


def test_setup() -> None:
    """L-a, L-b: 38 cards, twelve of them in hand, joker ready, no marker."""
    deck = full_deck()
    assert len(deck) == 38
    game = naive.NaiveLepidoptery([deck, deck[::-1]], starter=1)
    assert game.to_move == 1
    assert game.hands == [deck[:12], deck[::-1][:12]]
    assert game.decks == [deck[12:], deck[::-1][12:]]
    assert game.joker_ready == [True, True]
    assert game.markers == [None, None]
    assert game.table is None
    assert game.columns == [[], [], [], [], []]
    assert game.played == [[], []]


def test_lep_01() -> None:
    """LEP-01: a tie in rank needs more cards."""
    game = position([7, 7, 8], table=play("single", 7))
    assert game.legal() == {play("pair", 7), play("run2", 7), play("single", 8), PASS}


def test_lep_02() -> None:
    """LEP-02: a tie in rank and size does not beat."""
    game = position([7, 7, 8], table=play("pair", 7))
    assert game.legal() == {play("single", 8), PASS}


def test_lep_03() -> None:
    """LEP-03: a higher lowest rank beats any size."""
    game = position([5], table=play("triple", 4))
    assert play("single", 5) in game.legal()


def test_lep_04() -> None:
    """LEP-04: the joker as a third ten, never as a single."""
    game = position([9, 10, 10], table=play("single", 10), joker=True)
    assert game.legal() == {
        play("pair", 10),
        play("pair", 10, 10),
        play("triple", 10, 10),
        PASS,
    }


def test_lep_07() -> None:
    """LEP-07: a leader without a legal play may pass."""
    game = position([5], marker="single")
    assert game.legal() == {PASS}


def test_lep_08() -> None:
    """LEP-08: beating the same type depends on the option."""
    table = play("single", 4)
    assert position([3, 6], table=table).legal() == {play("single", 6), PASS}
    barred = position([3, 6], table=table, same_type_may_beat=False)
    assert barred.legal() == {PASS}


@pytest.mark.parametrize("opponent_joker", [False, True])
def test_lep_09(opponent_joker: bool) -> None:
    """LEP-09: a pass refreshes the passer and both players draw."""
    game = position([2, 3, 4, 5, 6, 7, 8], table=play("single", 9), marker="pair")
    game.hands[1] = [1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7]
    game.decks = [list(range(1, 11)), [9, 8, 7, 6, 5]]
    game.markers[1] = "single"
    game.joker_ready[1] = opponent_joker
    game.apply(PASS)
    assert [len(hand) for hand in game.hands] == [12, 14]
    assert game.hands[0][7:] == [1, 2, 3, 4, 5]
    assert game.hands[1][13:] == [9]
    assert game.decks == [[6, 7, 8, 9, 10], [8, 7, 6, 5]]
    assert game.joker_ready == [True, opponent_joker]
    assert game.markers == [None, "single"]
    assert game.table is None
    assert game.to_move == 1
    assert PASS not in game.legal()


def test_lep_11() -> None:
    """LEP-11: filling one column empties the other full one."""
    game = position([4, 4, 9])
    game.columns[RUN3] = [1, 0]
    game.columns[RUN2] = [0, 1, 0, 1, 0, 1]
    game.columns[SINGLE] = [1]
    game.columns[PAIR] = [1, 0, 1, 0, 1]
    game.columns[TRIPLE] = [0]
    game.apply(play("pair", 4))
    assert game.winner is None
    assert game.columns == [[1, 0], [], [1], [1, 0, 1, 0, 1, 0], [0]]
    assert game.to_move == 1


def test_lep_14() -> None:
    """LEP-14: an empty hand does not win while the deck has a card."""
    game = position([5])
    game.decks[0] = [8]
    game.hands[1] = [6, 9]
    game.apply(play("single", 5))
    assert game.winner is None
    game.apply(play("single", 6))
    assert game.to_move == 0
    assert game.legal() == {PASS}


def test_lep_15() -> None:
    """LEP-15: the opponent's pass does not lift the own type ban."""
    game = position([3, 3, 7, 7])
    game.decks[0] = []
    game.apply(play("pair", 3))
    game.apply(PASS)
    assert game.markers == ["pair", None]
    assert game.table is None
    assert game.legal() == {play("single", 7)}


def test_lep_16() -> None:
    """LEP-16: the joker copies a rank even where the cards run out."""
    game = position([1, 1], joker=True)
    assert play("triple", 1, 1) in game.legal()


def test_every_play_can_occur() -> None:
    """A leader holding everything has the 109 plays of the action space."""
    game = position(full_deck(), joker=True)
    count = dict.fromkeys(naive.TYPES, 0)
    for action in game.legal():
        count[action[1]] += 1
    assert count == {"single": 10, "pair": 20, "triple": 20, "run2": 27, "run3": 32}


def test_full_column_is_unusable() -> None:
    """L-f, L-o: no play without a free cell."""
    game = position([5, 6])
    game.columns[SINGLE] = [0, 0, 1, 1, 0, 0]
    assert game.legal() == {play("run2", 5)}


def test_joker_is_used_and_returns_after_own_pass() -> None:
    """L-l: a used joker is down until its owner passes."""
    game = position([5, 5], table=play("single", 4), joker=True)
    game.apply(play("run2", 5, 6))
    assert game.hands[0] == [5]
    assert game.played[0] == [5]
    assert game.joker_ready[0] is False
    game.apply(PASS)
    assert game.joker_ready == [False, True]


@pytest.mark.parametrize(("draws", "expected"), [(True, 13), (False, 12)])
def test_exactly_twelve(draws: bool, expected: int) -> None:
    """L-k: the option decides about exactly twelve; thirteen always draws one."""
    game = position([2] * 12, table=play("single", 9), draw_at_twelve=draws)
    game.hands[1] = [3] * 13
    game.apply(PASS)
    assert [len(hand) for hand in game.hands] == [expected, 14]


@pytest.mark.parametrize(
    "columns",
    [
        pytest.param([[], [], [0, 0, 0], [], []], id="column"),
        pytest.param([[0], [0], [], [0], []], id="row-left"),
        pytest.param([[], [0], [], [0], [0]], id="row-right"),
        pytest.param([[0], [1, 0], [1, 1], [1, 1, 1, 0], []], id="rising"),
        pytest.param([[1, 1, 1, 0], [1, 1, 0], [1], [0], []], id="falling"),
    ],
)
def test_win_by_four(columns: list[list[int]]) -> None:
    """L-n: the last of four in a column, a row or either diagonal wins."""
    game = position([5, 9])
    game.columns = [list(column) for column in columns]
    game.apply(play("single", 5))
    assert (game.winner, game.reason) == (0, "four")
    assert game.legal() == set()


def test_no_win_by_three_or_by_a_gap() -> None:
    """L-n: three in a line, or four with a gap, do not win."""
    game = position([5, 9])
    game.columns = [[0], [1], [], [0], [0]]
    game.apply(play("single", 5))
    assert game.winner is None


def test_four_goes_before_shed_and_before_clearing() -> None:
    """L-m, L-n: the win check comes first and reports the line."""
    game = position([5])
    game.decks[0] = []
    game.columns[RUN3] = [1, 0, 1, 0, 1, 0]
    game.columns[SINGLE] = [1, 1, 0, 0, 0]
    game.apply(play("single", 5))
    assert (game.winner, game.reason) == (0, "four")
    assert len(game.columns[RUN3]) == 6


def test_win_by_shedding() -> None:
    """L-n: hand and deck empty after a play wins, whatever the joker shows."""
    game = position([5], joker=True)
    game.decks[0] = []
    game.apply(play("single", 5))
    assert (game.winner, game.reason) == (0, "shed")


def test_illegal_action_is_refused() -> None:
    """A leader with a legal play may not pass (L-i)."""
    with pytest.raises(ValueError, match="illegal"):
        position([5]).apply(PASS)


VARIANT = {
    "starter": 1,
    "heights": (4, 5, 6, 5, 4),
    "order": ("single", "pair", "run2", "triple", "run3"),
    "same_type_may_beat": False,
    "draw_at_twelve": False,
}


@pytest.mark.parametrize("options", [{}, VARIANT], ids=["default", "variant"])
def test_random_games(options: dict[str, Any]) -> None:
    """200 random games end, lose no card and never keep two full columns."""
    rng = random.Random(20250)
    for _ in range(200):
        decks = [full_deck(), full_deck()]
        for deck in decks:
            rng.shuffle(deck)
        game = naive.NaiveLepidoptery(decks, **options)
        turns = 0
        while game.winner is None:
            mover = game.to_move
            game.apply(rng.choice(sorted(game.legal())))
            turns += 1
            assert turns <= 300
            for seat in (0, 1):
                cards = game.hands[seat] + game.decks[seat] + game.played[seat]
                assert sorted(cards) == full_deck()
            full = 0
            for column, height in zip(game.columns, game.heights, strict=True):
                assert len(column) <= height
                if len(column) == height:
                    full += 1
            if game.winner is None:
                assert full <= 1
                assert game.to_move == 1 - mover
            else:
                # The winning token is checked before any column is cleared.
                assert full <= 2
                assert game.winner == mover
        assert game.reason in ("four", "shed")
        assert game.legal() == set()
