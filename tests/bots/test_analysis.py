"""What searches say of positions and of decisions that were made."""

from __future__ import annotations

import random

import pytest
from attrs import evolve
from examples.kuhn_poker.kuhn_poker import BET, CALL, CHECK, FOLD, Options, State
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.bots.boards import (
    BUNDLED,
    CONNECT_FOUR,
    GAMES,
    KUHN_POKER,
    PIG,
    TIC_TAC_TOE,
)
from tests.bots.matches import match_of
from tests.examples.test_kuhn_poker import JACK, KING, QUEEN

from fritillary import FastDealer, Over
from fritillary.bots.search import FlatMcBot, IsmctsBot, MctsBot
from fritillary.bots.search.analysis import (
    Analyst,
    Judgement,
    Taken,
    as_received,
    chosen,
    position_of,
    taken_in,
    worst,
)
from fritillary.bots.search.budget import Budget
from fritillary.bots.search.found import Candidate
from fritillary.core.errors import (
    GameError,
    InvalidPositionError,
    MatchOverError,
    UsageError,
)
from fritillary.core.points import Act
from fritillary.record.replay import Replay
from fritillary.record.terms import Source

LEPIDOPTERY = BUNDLED["lepidoptery"]
HIDDEN = [*BUNDLED, "kuhn-poker"]

#: X wins at c1 and loses at c3, whatever these games call their cells.
BLUNDER = ("a1", "a2", "b1", "b2", "c3", "c2")


def analyst(bot=None, iterations=100, **more):
    bot = bot or IsmctsBot(objective="place")
    return Analyst(bot, Budget(iterations=iterations), 1, **more)


def seen_by(game, state):
    return as_received(game, state, game.decision_point(state).seat)


def position(game, state):
    return position_of(game, seen_by(game, state))


def kuhn(cards, *actions):
    state = State(Options(), cards, [])
    for action in actions:
        KUHN_POKER.play(state, action)
    return state


def taken(game, state, action):
    return Taken(1, position(game, state), action, Source.PLAYER)


def played_on(game, seed, plies, seats=2):
    """Return a state with a seat to act, after random play."""
    rng = random.Random(seed)
    state = game.new(FastDealer(rng), None, seats)
    kept = game.copy(state)
    while plies > 0 or type(game.decision_point(state)) is not Act:
        point = game.decision_point(state)
        if type(point) is Over:
            return kept
        if point.seat is None:
            game.apply(state, game.draw_chance(state, FastDealer(rng)))
        else:
            kept = game.copy(state)
            game.apply(state, rng.choice(game.legal_actions(state)))
        plies -= 1
    return state


# ------------------------------------------------------------------------- positions


@pytest.mark.parametrize("name", GAMES)
def test_a_position_of_every_game_is_known_from_its_observation(name):
    game = GAMES[name]
    state = played_on(game, 3, 4)
    got = position(game, state)
    assert got.seat == game.decision_point(state).seat
    assert got.legal == tuple(game.legal_actions(state))
    assert got.seats == 2


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_the_number_of_seats_is_found_out(seats):
    game = BUNDLED["butterfly-garden"]
    assert position(game, played_on(game, 1, 3, seats)).seats == seats


@pytest.mark.parametrize("viewer", [1, None])
def test_what_another_seat_or_a_spectator_sees_is_no_decision(viewer):
    state = LEPIDOPTERY.new(FastDealer(0))
    with pytest.raises(InvalidPositionError, match="not what seat 0, who is to act"):
        position_of(LEPIDOPTERY, LEPIDOPTERY.observe(state, viewer))


def test_after_the_end_and_where_chance_acts_there_is_no_decision():
    state = TIC_TAC_TOE.new(FastDealer(0))
    while TIC_TAC_TOE.outcome_of(state) is None:
        TIC_TAC_TOE.apply(state, TIC_TAC_TOE.legal_actions(state)[0])
    with pytest.raises(MatchOverError, match="the match is over"):
        position_of(TIC_TAC_TOE, state)
    rolled = PIG.new(FastDealer(0))
    PIG.apply(rolled, PIG.legal_actions(rolled)[0])
    with pytest.raises(GameError, match="chance is to act"):
        position_of(PIG, rolled)


def test_an_observation_that_cannot_arise_is_named():
    state = LEPIDOPTERY.new(FastDealer(0))
    data = LEPIDOPTERY.codec.observation_to_data(LEPIDOPTERY.observe(state, 0))
    data["hand"] = [1] * 12
    wrong = LEPIDOPTERY.codec.observation_from_data(data, state.options)
    with pytest.raises(InvalidPositionError):
        position_of(LEPIDOPTERY, wrong)


# ------------------------------------------------------------------------ no leaks


@pytest.mark.parametrize("name", HIDDEN)
@settings(max_examples=8)
@given(seed=st.integers(0, 2**32), plies=st.integers(0, 12))
def test_worlds_that_the_seat_cannot_tell_apart_give_the_same(name, seed, plies):
    game = GAMES[name]
    truth = played_on(game, seed, plies)
    other = game.copy(truth)
    seat = game.decision_point(truth).seat
    shuffle = game.shuffle_hidden
    assert shuffle is not None
    shuffle(other, seat, FastDealer(seed))
    two = [
        analyst(iterations=6).judge(taken(game, each, game.legal_actions(truth)[0]))
        for each in (truth, other)
    ]
    assert two[0] == two[1]


# ------------------------------------------------------------------------ judgements


@pytest.mark.parametrize("make", [MctsBot, IsmctsBot, FlatMcBot])
def test_a_missed_win_loses_all(make):
    game = TIC_TAC_TOE
    state = game.new(FastDealer(0))
    parse = game.table(state.options, 2).parse
    for text in BLUNDER[:4]:
        game.play(state, parse(text))
    judge = analyst(make(objective="place"), 400).judge
    good = judge(taken(game, state, parse("c1")))
    assert (good.loss, good.played, good.best) == (0.0, good.best, good.best)
    assert good.best.value == 1.0
    bad = judge(taken(game, state, parse("c3")))
    assert bad.best == good.best
    assert bad.loss > 0.4
    # However little the search had looked at it, half of the budget was for it alone.
    assert bad.played.visits == bad.best.visits == 200
    assert bad.apart


@pytest.mark.parametrize(
    ("cards", "action", "loss"),
    [
        ((QUEEN, KING), FOLD, 1.0),
        ((QUEEN, KING), CALL, 0.0),
        # Lost either way: what is counted is wins, not chips.
        ((QUEEN, JACK), CALL, 0.0),
    ],
)
def test_what_a_seat_knows_for_sure_is_known_to_the_last_digit(cards, action, loss):
    state = kuhn(cards, BET)
    judged = analyst(iterations=200).judge(taken(KUHN_POKER, state, action))
    assert judged.loss == loss


@pytest.mark.parametrize("name", GAMES)
def test_the_action_that_was_played_is_searched_alone_in_every_game(name):
    game = GAMES[name]
    state = played_on(game, 5, 3)
    for action in game.legal_actions(state)[-2:]:
        judged = analyst(iterations=8).judge(taken(game, state, action))
        assert judged.played.action == judged.played.line[0] == action
        assert judged.found is None or judged.best.visits == 4


def test_rollouts_by_a_bot_do_not_know_that_an_action_is_searched_alone():
    bot = IsmctsBot(objective="place", rollout="greedy")
    state = LEPIDOPTERY.new(FastDealer(4))
    last = LEPIDOPTERY.legal_actions(state)[-1]
    judged = analyst(bot, 6).judge(taken(LEPIDOPTERY, state, last))
    assert judged.played.visits == 3


def test_values_of_two_searches_by_score_are_not_compared():
    state = LEPIDOPTERY.new(FastDealer(4))
    last = LEPIDOPTERY.legal_actions(state)[-1]
    judged = analyst(IsmctsBot(objective="score"), 90, apart=False).judge(
        taken(LEPIDOPTERY, state, last)
    )
    assert judged.played in judged.found.candidates
    assert judged.best == judged.found.best
    assert not judged.apart


def test_a_forced_action_is_not_searched():
    one = taken(KUHN_POKER, kuhn((JACK, KING), CHECK, BET), FOLD)
    forced = evolve(one, position=evolve(one.position, legal=(FOLD,)))
    judged = analyst().judge(forced)
    assert (judged.found, judged.loss, judged.played.visits) == (None, 0.0, 0)


@pytest.mark.parametrize("name", ["lepidoptery", "connect-four"])
def test_the_same_seed_gives_the_same(name):
    game = GAMES[name]
    state = played_on(game, 2, 3)
    action = game.legal_actions(state)[-1]
    judged = [analyst(iterations=40).judge(taken(game, state, action)) for _ in "ab"]
    assert judged[0] == judged[1]
    other = Analyst(IsmctsBot(objective="place"), Budget(iterations=40), 2)
    assert other.judge(taken(game, state, action)) != judged[0]


def test_one_analyst_judges_each_decision_by_itself():
    state = played_on(CONNECT_FOUR, 2, 3)
    one = analyst(MctsBot(), 40)
    assert one.search(position(CONNECT_FOUR, state)) == one.search(
        position(CONNECT_FOUR, state)
    )


def test_the_worst_come_first_and_what_lost_nothing_not_at_all():
    state = TIC_TAC_TOE.new(FastDealer(0))
    best = Candidate("best", 10, 0.9)

    def judged(ply, value):
        one = evolve(taken(TIC_TAC_TOE, state, "it"), ply=ply)
        return Judgement(one, None, Candidate("it", 10, value), best)

    all_of_them = [judged(1, 0.5), judged(2, 0.9), judged(3, 0.1), judged(4, 0.5)]
    assert [each.taken.ply for each in worst(all_of_them, 9)] == [3, 1, 4]
    assert [each.taken.ply for each in worst(all_of_them, 1)] == [3]


# -------------------------------------------------------------------------- stopping


@pytest.mark.parametrize("make", [MctsBot, IsmctsBot, FlatMcBot])
def test_a_search_that_is_stopped_gives_what_was_found(make):
    shares = []

    def go_on(share):
        shares.append(share)
        return len(shares) <= 25

    one = analyst(make(), 100, go_on=go_on)
    found = one.search(position(CONNECT_FOUR, CONNECT_FOUR.new(FastDealer(0))))
    assert one.stopped
    assert found.iterations == 25
    assert shares == pytest.approx([at / 100 for at in range(26)])


def test_stopped_before_it_began_it_has_found_nothing():
    one = analyst(go_on=bool)
    state = CONNECT_FOUR.new(FastDealer(0))
    judged = one.judge(taken(CONNECT_FOUR, state, CONNECT_FOUR.legal_actions(state)[3]))
    assert judged.found.iterations == 0
    assert judged.loss == 0.0


def test_a_budget_of_time_ends_by_its_clock():
    ticks = iter(range(10_000))
    budget = Budget(seconds=50.0, now=lambda: float(next(ticks)))
    one = Analyst(MctsBot(), budget, 0)
    found = one.search(position(CONNECT_FOUR, CONNECT_FOUR.new(FastDealer(0))))
    assert not one.stopped
    assert 40 < found.iterations <= 50


# --------------------------------------------------------------------------- records


def test_the_decisions_of_a_record_are_numbered_as_plies(tmp_path):
    record = match_of(tmp_path / "m.frec", TIC_TAC_TOE, BLUNDER)
    replay = Replay(record, TIC_TAC_TOE)
    found = taken_in(replay)
    texts = [TIC_TAC_TOE.notation(each.action) for each in found]
    assert texts == list(BLUNDER)
    assert [each.ply for each in found] == [1, 2, 3, 4, 5, 6]
    assert [each.position.seat for each in found] == [0, 1] * 3
    judge = analyst(MctsBot(objective="place"), 400).judge
    assert worst(map(judge, found), 1)[0].taken.ply == 5


def test_plies_of_chance_are_counted_and_nobody_decided_there(tmp_path):
    replay = Replay(match_of(tmp_path / "m.frec", PIG, ()), PIG)
    found = taken_in(replay)
    plies = {each.ply for each in found}
    rolls = set(range(1, replay.ply + 1)) - plies
    assert rolls
    for ply in rolls:
        with pytest.raises(UsageError, match=f"ply {ply} was chance's turn"):
            chosen(found, replay.ply, ply=ply, seat=None)


def test_decisions_are_chosen_by_ply_and_by_seat(tmp_path):
    replay = Replay(match_of(tmp_path / "m.frec", TIC_TAC_TOE, BLUNDER), TIC_TAC_TOE)
    found = taken_in(replay)
    assert chosen(found, 6, ply=None, seat=None) == found
    assert chosen(found, 6, ply=None, seat=1) == found[1::2]
    assert chosen(found, 6, ply=2, seat=1) == [found[1]]
    for ply, seat, says in (
        (0, None, "there is no ply 0; the match has plies 1 to 6"),
        (7, None, "there is no ply 7; the match has plies 1 to 6"),
        (2, 0, "seat 1 decided at ply 2, not seat 0"),
        (None, 5, "seat 5 never decided anything"),
    ):
        with pytest.raises(UsageError, match=says):
            chosen(found, 6, ply=ply, seat=seat)
    for ply, says in ((None, "nobody decided anything"), (1, "nothing was played")):
        with pytest.raises(UsageError, match=says):
            chosen([], 0, ply=ply, seat=None)
