"""Search bots and the clock: nothing here depends on how fast the machine is."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import attrs
import pytest
from tests.bots.boards import BUNDLED, CONNECT_FOUR, TIC_TAC_TOE, Told, ask, seated

from fritillary import FastDealer
from fritillary.bots.protocol import Clock
from fritillary.bots.search import FlatMcBot, IsmctsBot, MctsBot
from fritillary.bots.search.budget import Budget, Pace
from fritillary.bots.search.found import Candidate, Found
from fritillary.bots.search.turns import Turns
from fritillary_client.typed import _clock

LONG = 60


class Watch:
    """A clock that stands still unless somebody works."""

    def __init__(self):
        self.seconds = 1_000.0

    def __call__(self):
        return self.seconds


@pytest.fixture
def watch(monkeypatch):
    made = Watch()
    shown = SimpleNamespace(monotonic=made)
    monkeypatch.setattr("fritillary.bots.protocol.time", shown)
    return made


class Worker:
    """A search that takes its time, and finds the last legal action best."""

    def __init__(self, watch, legal, costs):
        self.watch = watch
        self.legal = legal
        self.costs = costs
        self.made = 0

    def iterate(self):
        self.made += 1
        self.watch.seconds += next(self.costs)

    def found(self):
        last = len(self.legal) - 1
        return Found(
            [
                Candidate(each, self.made if i == last else 0, 0.5)
                for i, each in enumerate(self.legal)
            ],
            self.made,
        )


def forever(value):
    while True:
        yield value


class Timed(IsmctsBot):
    """A bot whose searches, and what comes before, take a known time."""

    def __init__(self, watch, *, build=0.0, costs, **settings):
        super().__init__(**settings)
        self._budget = attrs.evolve(self._budget, now=watch)
        self.watch, self.build, self.costs = watch, build, costs
        self.searches = []

    def searching(self, ask, rng):
        self.watch.seconds += self.build
        self.searches.append(Worker(self.watch, ask.legal, self.costs))
        return self.searches[-1]

    @property
    def made(self):
        return [each.made for each in self.searches]


def timed(watch, **settings):
    state = CONNECT_FOUR.new(FastDealer(0))
    bot = seated(Timed(watch, time="1h", **settings), CONNECT_FOUR, state, 0)

    def decide(**clock):
        question = ask(CONNECT_FOUR, state, clock=Clock(**clock))
        begun = watch.seconds
        assert bot.decide(question).action in question.legal
        return (watch.seconds - begun) * 1000

    return bot, decide


# ------------------------------------------------------------------------------- banks


@pytest.mark.parametrize("bank", [300, 2_000, 60_000])
@pytest.mark.parametrize(("build", "cost"), [(0.0, 0.001), (0.004, 0.02), (0.1, 0.003)])
@pytest.mark.parametrize("answer", [0, 1])
def test_a_bank_lasts_for_hundreds_of_decisions(watch, bank, build, cost, answer):
    bot, decide = timed(watch, build=build, costs=forever(cost))
    left = bank
    for _ in range(400 if bank >= 2_000 else 20):
        left -= int(decide(move_ms=left, left_ms=left)) + answer
        assert left > 0
    assert bot.searches


def test_the_longer_a_search_takes_the_sooner_there_is_none(watch):
    bot, decide = timed(watch, costs=forever(0.02))
    left = 5_000
    for _ in range(300):
        left -= int(decide(move_ms=left, left_ms=left))
    assert 0 < len(bot.searches) < 150
    assert left > 400


def test_one_slow_iteration_does_not_end_searching_for_good(watch):
    def costs():
        yield 0.001
        yield 0.9
        yield from forever(0.001)

    bot, decide = timed(watch, costs=costs())
    for _ in range(50):
        decide(move_ms=20_000, left_ms=20_000)
    assert len(bot.searches) > 30


# ------------------------------------------------------------------------------- moves


@pytest.mark.parametrize("move", [100, 200, 1_000, 10_000])
@pytest.mark.parametrize("cost", [0.0001, 0.005, 0.03])
def test_a_move_is_never_late_and_leaves_a_fifth(watch, move, cost):
    bot, decide = timed(watch, build=0.001, costs=forever(cost))
    for _ in range(20):
        assert decide(move_ms=move) <= max(move * 0.8, cost * 1000 + 2)
    assert bot.searches


def test_what_was_waited_before_and_after_the_question_counts(watch):
    bot, _ = timed(watch, build=0.3, costs=forever(0.001))
    question = ask(CONNECT_FOUR, bot_state := CONNECT_FOUR.new(FastDealer(0)))
    question = ask(CONNECT_FOUR, bot_state, clock=Clock(move_ms=1_000))
    watch.seconds += 0.4
    assert question.time_left_ms() == pytest.approx(600)
    begun = watch.seconds
    bot.decide(question)
    assert watch.seconds - begun <= 0.6 * 0.8 - 0.06 + 1e-6
    assert bot.made[0] > 50


def test_without_any_time_it_answers_at_once(watch):
    bot, decide = timed(watch, costs=forever(0.001))
    assert decide(move_ms=0, left_ms=0) == 0
    assert decide(move_ms=50) == 0
    assert not bot.searches


def test_a_search_that_was_not_begun_before_time_ran_out_is_not_asked(watch):
    bot, decide = timed(watch, build=5.0, costs=forever(0.001))
    decide(move_ms=1_000)
    assert bot.made == [0]


def test_who_was_late_leaves_earlier(watch):
    def costs():
        yield 0.001
        yield 0.9
        yield from forever(0.001)

    _, decide = timed(watch, costs=costs())
    late = decide(move_ms=1_000)
    assert late > 800
    assert decide(move_ms=1_000) < 700


@pytest.mark.parametrize("rollout", ["uniform", "greedy"])
def test_an_answer_at_once_is_that_of_the_policy_and_follows_the_seed(rollout):
    game = BUNDLED["lepidoptery"]
    state = game.new(FastDealer(3))

    def choose():
        bot = seated(FlatMcBot(rollout=rollout, seed=5), game, state, 0)
        return bot.decide(ask(game, state, clock=Clock(move_ms=0))).action

    assert choose() == choose()
    assert choose() in game.legal_actions(state)
    if rollout == "greedy":
        greedy = seated(game.bots["greedy"](), game, state, 0)
        chosen = greedy.decide(ask(game, state))
        assert choose() == getattr(chosen, "action", chosen)


# ------------------------------------------------------------------------------ budgets


def budget(**settings):
    return Budget(now=lambda: 100.0, **settings)


def test_what_is_kept_back_is_taken_off():
    seconds = budget(seconds=1e6)
    at = [
        seconds.until(Clock(move_ms=2_000), **more)[1]
        for more in ({}, {"waited": 1.0}, {"late": 0.1}, {"late": 9.0})
    ]
    assert at == pytest.approx([101.54, 100.74, 101.44, 100.77])
    bank = seconds.until(Clock(left_ms=3_000), waited=0.5, reserve=1.5)
    assert bank == (None, pytest.approx(100.04))


def test_an_increment_teaches_nothing_and_half_of_the_bank_is_the_most_kept():
    pace = Pace()
    for left in (1_000, 1_500, 1_400, 1_300):
        pace.asked(Clock(left_ms=left))
    assert list(pace.answers) == pytest.approx([0.1, 0.1])
    assert pace.reserve == pytest.approx(0.5)


def test_bots_that_dial_in_are_told_what_is_left_now():
    def asked(left, **reading):
        clock = SimpleNamespace(**reading)
        question: Any = SimpleNamespace(clock=clock, time_left_ms=lambda: left)
        return _clock(question)

    assert asked(400.4, left_ms=1_000, base_left_ms=5_000) == Clock(400, 4_400)
    assert asked(-3.0, left_ms=1_000, base_left_ms=None) == Clock(0)
    assert asked(None, left_ms=None, base_left_ms=None) == Clock()


# -------------------------------------------------------------------------------- turns


def until(condition):
    done = threading.Event()
    for _ in range(LONG * 100):
        if condition():
            return
        done.wait(0.01)
    raise AssertionError


def test_turns_are_handed_on_in_the_order_of_asking(monkeypatch):
    monkeypatch.setattr("fritillary.bots.search.turns._PATIENCE", LONG)
    turns, order = Turns(), []
    assert turns.take()
    # Within a turn of one's own there is nothing to take.
    assert not turns.take()

    def wait(name):
        assert turns.take()
        order.append(name)
        turns.give()

    threads = [threading.Thread(target=wait, args=(name,)) for name in range(5)]
    for number, thread in enumerate(threads, 1):
        thread.start()
        until(lambda n=number: len(turns.wanted) == n)
    turns.give()
    for thread in threads:
        thread.join(LONG)
    assert order == [0, 1, 2, 3, 4]
    assert turns.take(0)


def test_who_waited_long_enough_goes_on_without(monkeypatch):
    monkeypatch.setattr("fritillary.bots.search.turns._PATIENCE", 0.01)
    turns, got = Turns(), []
    assert turns.take()
    thread = threading.Thread(target=lambda: got.append(turns.take()))
    thread.start()
    thread.join(LONG)
    assert got == [False]
    assert not turns.wanted
    turns.give()
    assert turns.take()


def test_many_searches_at_once_find_what_each_finds_alone():
    state = CONNECT_FOUR.new(FastDealer(0))

    def choose(seed, into):
        bot = seated(
            MctsBot(iterations=150, probabilities=True), CONNECT_FOUR, state, 0
        )
        into[seed] = bot.decide(ask(CONNECT_FOUR, state, seed=seed)).probabilities

    alone: dict[int, tuple[float, ...]] = {}
    together: dict[int, tuple[float, ...]] = {}
    for seed in range(6):
        choose(seed, alone)
    threads = [threading.Thread(target=choose, args=(n, together)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONG)
    assert together == alone


# --------------------------------------------------------------------------- kept trees


def test_a_kept_tree_is_moved_on_over_decisions_without_a_search():
    state = TIC_TAC_TOE.new(FastDealer(0))
    bot = seated(MctsBot(iterations=2_000), TIC_TAC_TOE, state, 0)
    question = ask(TIC_TAC_TOE, state)
    bot.decide(question)
    line = bot._tree.found().best.line
    for begin, clock in ((0, Clock(move_ms=0)), (2, Clock())):
        for action in line[begin : begin + 2]:
            TIC_TAC_TOE.apply(state, action)
        events = [Told(each) for each in line[begin : begin + 2]]
        question = ask(TIC_TAC_TOE, state, clock=clock, events=events)
        if not begin:
            bot.decide(question)
    found = bot.searching(question, question.rng).found()
    assert [each.action for each in found.candidates] == list(question.legal)
    assert found.iterations > 0
