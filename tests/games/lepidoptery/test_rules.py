"""The numbered rules of Lepidoptery, one after the other."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from tests.games.lepidoptery.support import (
    GAME,
    OPTIONS,
    action,
    legal,
    play,
    position,
    states,
)

from fritillary import ACTS, FastDealer, Over
from fritillary_games.lepidoptery.model import (
    COPIES,
    NO_TYPE,
    NUMBERS,
    RANKS,
    Combo,
    Options,
    State,
)
from fritillary_games.lepidoptery.rules import played
from fritillary_games.lepidoptery.tables import ranks_in, size_of


def cards(state: State, seat: int) -> Counter[int]:
    """Return the ranks of hand and deck."""
    both = state.hands[seat] + sum(state.decks[seat])
    return Counter(ranks_in(both))


@pytest.mark.rule("L-a")
def test_each_seat_has_a_deck_of_its_own_and_twelve_cards() -> None:
    state = GAME.new(FastDealer(5))
    for seat in (0, 1):
        assert cards(state, seat) == dict(zip(RANKS, COPIES, strict=True))
        assert sum(COPIES) == 38
        assert size_of(state.hands[seat]) == 12
        assert len(state.decks[seat]) == 26
    assert state.hands[0] != state.hands[1]


@pytest.mark.rule("L-b")
def test_both_jokers_are_ready_at_the_start_and_no_cards() -> None:
    state = GAME.new(FastDealer(5))
    assert state.jokers == [True, True]
    assert sum(cards(state, 0).values()) == 38


@pytest.mark.rule("L-c")
def test_markers_start_empty_and_tokens_are_not_limited_to_fifteen() -> None:
    assert GAME.new(FastDealer(5)).markers == [NO_TYPE, NO_TYPE]
    twelve = "0 0 1 0 0 1 0 0 1 0 0 1"
    state = position(
        f"hand 0: 2 2 3\ndeck 0: 3 cards\ndeck 1: 3 cards\ncolumn single: {twelve}\n"
        f"column run2: {twelve[:-2]}",
        OPTIONS["tall"],
    )
    assert state.tokens[0].bit_count() == 16
    play(state, "pair 2")
    assert state.tokens[0].bit_count() == 17


@pytest.mark.rule("L-d")
def test_each_type_has_the_column_that_the_order_gives_it() -> None:
    order = (Combo.PAIR, Combo.SINGLE, Combo.RUN3, Combo.TRIPLE, Combo.RUN2)
    for text, column in (
        ("pair 2", 0),
        ("single 2", 1),
        ("run3 2-3-4", 2),
        ("triple 2", 3),
        ("run2 2-3", 4),
    ):
        state = position("hand 0: 2 2 2 3 4 5", Options(order=order))
        play(state, text)
        columns = GAME.observe(state, None).columns
        assert [len(each) for each in columns] == [int(c == column) for c in range(5)]


@pytest.mark.rule("L-e")
@pytest.mark.parametrize("name", OPTIONS)
def test_turns_strictly_alternate(name: str) -> None:
    options = OPTIONS[name]
    mover = 1 - options.starter
    for state in states(options, 5):
        point = GAME.decision_point(state)
        if type(point) is Over:
            assert state.to_move == mover
            mover = 1 - options.starter
        else:
            assert point is ACTS[1 - mover]
            mover = 1 - mover


@pytest.mark.rule("L-f")
def test_a_play_differs_from_the_type_of_the_own_marker() -> None:
    state = position("table: single 2\nhand 0: 5 5 6\njoker 0: used\nmarker 0: pair")
    assert legal(state) == ["single 5", "single 6", "run2 5-6", "pass"]


@pytest.mark.rule("L-f")
def test_a_play_needs_a_free_cell() -> None:
    state = position(
        "hand 0: 5 5 6\njoker 0: used\ncolumn single: 0 1 0 1 0 1\ndeck 1: 9 cards"
    )
    assert legal(state) == ["pair 5", "run2 5-6"]


@pytest.mark.rule("L-g")
@pytest.mark.parametrize(
    ("table", "better", "worse"),
    [
        ("single 5", ["single 6", "pair 5", "run3 5-6-7"], ["single 5", "single 4"]),
        ("pair 5", ["single 6", "triple 5", "run3 5-6-7"], ["run2 5-6", "triple 4"]),
        ("triple 5", ["single 6", "run2 6-7"], ["run3 5-6-7", "pair 5"]),
        ("run2 5-6", ["single 6", "triple 5", "run3 5-6-7"], ["pair 5", "run3 4-5-6"]),
        ("run3 5-6-7", ["single 6", "pair 6"], ["triple 5", "single 5"]),
        ("single 10", ["pair 10", "triple 10"], ["single 9", "single 10"]),
        ("triple 10", [], ["triple 10", "pair 10", "run2 9-10"]),
    ],
)
def test_the_lowest_rank_counts_and_then_the_number_of_cards(
    table: str, better: list[str], worse: list[str]
) -> None:
    state = position(
        f"table: {table}\nhand 0: 4 4 4 5 5 5 6 6 7 7 9 10 10 10\n"
        "deck 0: none\nhand 1: 5 cards\njoker 0: used"
    )
    found = legal(state)
    assert set(better) <= set(found)
    assert not set(worse) & set(found)


@pytest.mark.rule("L-h")
def test_only_the_own_pass_resets_the_marker() -> None:
    state = position("hand 0: 3 3 7 7\nhand 1: 8 8 9 9\njoker 0: used")
    play(state, "pair 3", "pass")
    assert state.markers == [NUMBERS[Combo.PAIR], NO_TYPE]
    play(state, "single 7", "pair 8", "pass")
    assert state.markers == [NO_TYPE, NUMBERS[Combo.PAIR]]


@pytest.mark.rule("L-i")
def test_a_leader_with_a_play_may_not_pass_and_a_follower_always_may() -> None:
    assert "pass" not in legal(position("hand 0: 5\njoker 0: used"))
    assert legal(position("table: single 4\nhand 0: 5\njoker 0: used"))[-1] == "pass"


@pytest.mark.rule("L-i")
def test_a_leader_with_an_empty_hand_may_only_pass() -> None:
    assert legal(position("hand 0: none")) == ["pass"]


@pytest.mark.rule("L-j")
def test_a_pass_clears_the_table_and_readies_the_passer_alone() -> None:
    state = position(
        "table: run2 5*-6\nhand 0: 3 3 7\nmarker 0: pair\njoker 0: used\n"
        "joker 1: used\ndeck 0: 1 2 3 4 5 6 7 8 9 10\nhand 1: 2 cards\n"
        "deck 1: 9 8 7"
    )
    play(state, "pass")
    assert state.table is None
    assert state.markers == [NO_TYPE, NUMBERS[Combo.RUN2]]
    assert state.jokers == [True, False]
    # Both draw, from the top of their decks.
    assert ranks_in(state.hands[0]) == (1, 2, 3, 3, 3, 4, 5, 6, 7, 7, 8, 9)
    assert state.decks[0] == (action("single 10").cost,)  # type: ignore[union-attr]
    assert state.decks[1] == ()
    assert size_of(state.hands[1]) == 5
    assert state.to_move == 1
    assert "pass" not in legal(state)


@pytest.mark.rule("L-k")
@pytest.mark.parametrize(
    ("hand", "deck", "expected"),
    [
        (0, 20, 12),
        (7, 20, 12),
        (11, 20, 12),
        (12, 20, 13),
        (13, 20, 14),
        (14, 5, 15),
        (7, 3, 10),
        (12, 0, 12),
        (13, 0, 13),
    ],
)
def test_a_refresh_draws_up_to_twelve_or_exactly_one_card(
    hand: int, deck: int, expected: int
) -> None:
    for seat in (0, 1):
        state = position(
            f"table: single 9\nhand {seat}: {hand} cards\ndeck {seat}: {deck} cards"
        )
        play(state, "pass")
        assert size_of(state.hands[seat]) == expected
        assert len(state.decks[seat]) == deck - (expected - hand)


@pytest.mark.rule("L-k")
def test_exactly_twelve_cards_draw_nothing_where_the_options_say_so() -> None:
    options = Options(draw_at_twelve=False)
    text = "table: single 9\nhand 0: 12 cards\nhand 1: 13 cards"
    state = play(position(text, options), "pass")
    assert [size_of(hand) for hand in state.hands] == [12, 14]


@pytest.mark.rule("L-l")
def test_the_joker_stands_for_any_rank_but_is_never_a_single() -> None:
    state = position("hand 0: 5 6")
    assert legal(state) == [
        "single 5",
        "single 6",
        "pair 5*",
        "pair 6*",
        "run2 5-6",
        "run2 4*-5",
        "run2 5*-6",
        "run2 5-6*",
        "run2 6-7*",
        "run3 4*-5-6",
        "run3 5-6-7*",
    ]


@pytest.mark.rule("L-l")
def test_a_used_joker_is_down_until_the_own_pass() -> None:
    state = position("hand 0: 5 6 7\nhand 1: 8 9")
    play(state, "pair 5*")
    assert state.jokers == [False, True]
    play(state, "single 8", "pass")
    assert state.jokers == [True, True]


@pytest.mark.rule("L-l")
def test_the_joker_need_not_be_shed() -> None:
    state = play(position("hand 0: 5\ndeck 0: none"), "single 5")
    assert state.jokers[0]
    assert GAME.outcome_of(state).reason == "all-shed"


@pytest.mark.rule("L-m")
def test_the_win_comes_before_the_emptying_of_columns() -> None:
    state = position(
        """
        hand 0: 5
        deck 0: none
        deck 1: 3 cards
        column run3: 1 0 1 0 1 0
        column single: 1 1 0 0 0
        """
    )
    play(state, "single 5")
    # A line is found first, though all cards are shed as well.
    assert GAME.outcome_of(state).reason == "four-in-line"
    assert state.filled == [6, 0, 0, 0, 6]
    assert state.markers[0] == NUMBERS[Combo.SINGLE]


@pytest.mark.rule("L-n")
@pytest.mark.parametrize(
    "columns",
    [
        pytest.param([[], [], [0, 0, 0], [], []], id="column"),
        pytest.param([[], [], [1, 0, 0, 0], [], []], id="column from the second cell"),
        pytest.param([[0], [0], [], [0], []], id="row on the left"),
        pytest.param([[], [0], [], [0], [0]], id="row on the right"),
        pytest.param([[0], [1, 0], [1, 1], [1, 1, 1, 0], []], id="rising on the left"),
        pytest.param([[], [0], [1], [1, 1, 0], [1, 1, 1, 0]], id="rising on the right"),
        pytest.param([[1, 1, 1, 0], [1, 1, 0], [1], [0], []], id="falling on the left"),
        pytest.param(
            [[], [1, 1, 1, 0], [1, 1], [1, 0], [0]], id="falling on the right"
        ),
    ],
)
def test_four_adjacent_tokens_in_a_line_win_at_once(columns: list[list[int]]) -> None:
    names = ("run3", "run2", "single", "pair", "triple")
    text = "\n".join(
        f"column {name}: {' '.join(map(str, column)) or 'none'}"
        for name, column in zip(names, columns, strict=True)
    )
    more = "hand 0: 5 9\ndeck 0: 5 cards\ndeck 1: 5 cards\n"
    state = play(position(more + text), "single 5")
    outcome = GAME.outcome_of(state)
    assert (outcome.reason, outcome.scores) == ("four-in-line", (1, 0))


@pytest.mark.rule("L-n")
@pytest.mark.parametrize(
    "columns",
    [
        ["none", "0", "none", "0", "none"],
        ["0", "1", "none", "0", "0"],
        ["1", "0", "none", "0", "1"],
        ["none", "none", "0 0", "none", "none"],
        ["none", "none", "0 0 1 0", "none", "none"],
    ],
)
def test_three_or_a_gap_do_not_win(columns: list[str]) -> None:
    names = ("run3", "run2", "single", "pair", "triple")
    text = "\n".join(
        f"column {name}: {column}" for name, column in zip(names, columns, strict=True)
    )
    state = play(position("hand 0: 5 9\n" + text), "single 5")
    assert GAME.outcome_of(state) is None


@pytest.mark.rule("L-n")
def test_hand_and_deck_empty_after_a_play_win() -> None:
    state = play(position("hand 0: 5 6\ndeck 0: none"), "run2 5-6")
    outcome = GAME.outcome_of(state)
    assert (outcome.reason, outcome.placing) == ("all-shed", (1, 2))


@pytest.mark.rule("L-o")
def test_the_column_just_filled_stays_full_and_cannot_be_used() -> None:
    state = position(
        "hand 0: 4 4 9\nhand 1: 5 5 5 6\ndeck 1: 5 cards\ncolumn pair: 1 0 1 0 1"
    )
    play(state, "pair 4")
    assert state.filled[NUMBERS[Combo.PAIR]] == 6
    assert not [text for text in legal(state) if text.startswith("pair")]


@pytest.mark.rule("L-o")
@pytest.mark.parametrize("name", OPTIONS)
def test_at_most_one_column_is_full(name: str) -> None:
    heights = OPTIONS[name].heights
    for state in states(OPTIONS[name], 20):
        columns = GAME.observe(state, None).columns
        full = [len(c) == h for c, h in zip(columns, heights, strict=True)]
        # The winning token may fill a second one, see L-m.
        assert sum(full) <= (1 if state.reason == 0 else 2)


@pytest.mark.rule("L-p")
@pytest.mark.parametrize("name", OPTIONS)
def test_cards_that_were_played_never_return(name: str) -> None:
    before = [Counter[int](), Counter[int]()]
    for state in states(OPTIONS[name], 5):
        after = [Counter(ranks_in(played(state, seat))) for seat in (0, 1)]
        if any(each.total() for each in after):
            assert all(old <= new for old, new in zip(before, after, strict=True))
        for seat in (0, 1):
            everything = after[seat] + cards(state, seat)
            assert everything == dict(zip(RANKS, COPIES, strict=True))
        before = after


def test_no_more_than_two_passes_follow_each_other() -> None:
    longest = 0
    for name, options in OPTIONS.items():
        passes = turns = 0
        for state in states(options, 40, seed=2):
            fresh = not played(state, 0) and not played(state, 1)
            passes = 0 if fresh or state.table is not None else passes + 1
            turns = 0 if fresh else turns + 1
            assert passes <= 2, name
            assert turns <= GAME.info.max_plies
            longest = max(longest, turns)
    assert longest > 60


def test_equal_seeds_give_equal_games_and_others_differ() -> None:
    first = [GAME.codec.encode_state(state) for state in states(Options(), 3)]
    again = [GAME.codec.encode_state(state) for state in states(Options(), 3)]
    other = [GAME.codec.encode_state(state) for state in states(Options(), 3, seed=1)]
    assert first == again
    assert first != other


def test_the_deck_of_a_seat_does_not_depend_on_the_options() -> None:
    decks = {str(GAME.new(FastDealer(9), each).decks) for each in OPTIONS.values()}
    assert len(decks) == 1


def test_games_are_the_same_under_every_hash_seed() -> None:
    program = (
        "import hashlib\n"
        "from tests.games.lepidoptery.support import GAME, OPTIONS, states\n"
        "raw = [GAME.codec.encode_state(s) for s in states(OPTIONS['uneven'], 3)]\n"
        "print(hashlib.sha256(b''.join(raw)).hexdigest())\n"
    )
    root = Path(__file__).parents[3]
    digests = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(root)},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(digests) == 1
