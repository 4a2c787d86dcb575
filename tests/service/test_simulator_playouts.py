"""Batches of playouts: equal to those in process, in order, within limits, in time."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter

import pytest
from tests.service.simcalls import Asking, code_of, decision

from fritillary.api.v1 import common_pb2
from fritillary.api.v1 import simulator_pb2 as pb
from fritillary.bots.protocol import MatchStart
from fritillary.bots.search.payoffs import Payoff, by_place
from fritillary.bots.search.rollouts import rollout_of
from fritillary.core.errors import FritillaryError
from fritillary.core.outcome import Outcome
from fritillary.plugins.playout import playout
from fritillary.service.simulator_limits import GivenUpError

GAMES = ["lepidoptery", "lost-cities", "butterfly-garden", "pig"]


def first_tasks(asking, game, worlds, count=1, many=3):
    """Return a task for each of the first legal actions."""
    (position,) = asking.positions(game=game, worlds=worlds[:1])
    return [pb.PlayOutTask(index=index, count=count) for index in position.legal[:many]]


def trap(asking, how):
    """Return Trap as it is opened, and a world of it."""
    one = decision("trap")
    payload = common_pb2.Payload(
        encoding=common_pb2.ENCODING_JSON, data=f'{{"how": "{how}"}}'.encode()
    )
    choice = common_pb2.OptionsChoice(options=payload)
    game = asking.open("trap", options=choice).game
    return game, asking.sample(game=game, observation=one.observation, seat=0)


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("seats", [2, 3])
def test_totals_are_those_of_playouts_in_process(asking, name, seats):
    if seats > decision(name).game.info.max_seats:
        name = "pig"
    one = decision(name, 5, seats=seats)
    game, worlds = asking.at(one, count=3, seed=2)
    tasks = first_tasks(asking, game, worlds, count=4)
    response = asking.play_out(game=game, worlds=worlds, tasks=tasks, seed=9)
    assert response.complete

    rules, rng = one.game, random.Random(9)
    table = rules.table(one.state.options, seats)
    found: list[list[Outcome]] = [[] for _ in tasks]
    for _ in range(4):
        for world in worlds:
            for task, outcomes in zip(tasks, found, strict=True):
                state = rules.codec.decode_state(world[8:], one.state.options)
                rules.apply(state, table.at(task.index))
                outcomes.append(playout(rules, state, rng))
    for totals, outcomes in zip(response.totals, found, strict=True):
        assert totals.playouts == totals.ended == len(outcomes) == 12
        payoffs = zip(*map(by_place, outcomes), strict=True)
        assert list(totals.mean_payoffs) == [sum(each) / 12 for each in payoffs]
        scores = list(zip(*(one.scores for one in outcomes), strict=True))
        assert list(totals.score_sums) == [sum(each) for each in scores]
        squares = [sum(score**2 for score in each) for each in scores]
        assert list(totals.score_square_sums) == squares
        first = Counter(
            (seat, each.placing.count(1) > 1)
            for each in outcomes
            for seat, place in enumerate(each.placing)
            if place == 1
        )
        assert list(totals.wins) == [first[seat, False] for seat in range(seats)]
        assert list(totals.shared_wins) == [first[seat, True] for seat in range(seats)]


@pytest.mark.parametrize(
    ("name", "policy"), [("lost-cities", "cautious"), ("lepidoptery", "greedy")]
)
def test_a_bot_of_the_game_may_play(asking, name, policy):
    one = decision(name, 5)
    game, worlds = asking.at(one, count=2)
    (task,) = first_tasks(asking, game, worlds, count=2, many=1)
    fields = {"game": game, "worlds": worlds, "tasks": [task], "seed": 9}
    (totals,) = asking.play_out(**fields, policy=policy).totals

    rules, rng = one.game, random.Random(9)
    start = MatchStart("m", rules, one.state.options, 0, 2)
    rollout = rollout_of(rules, start, Payoff("place"), rng, policy=policy, depth=None)
    payoffs = []
    for _ in range(2):
        for world in worlds:
            state = rules.codec.decode_state(world[8:], one.state.options)
            rules.apply(state, rules.table(one.state.options, 2).at(task.index))
            payoffs.append(rollout(state))
    means = [sum(each) / 4 for each in zip(*payoffs, strict=True)]
    assert list(totals.mean_payoffs) == means
    assert totals.playouts == totals.ended == 4
    assert asking.play_out(**fields).totals != [totals]


def test_the_same_seed_plays_the_same_and_another_differs(asking):
    one = decision("lepidoptery", 3)
    game, worlds = asking.at(one, count=4)
    tasks = first_tasks(asking, game, worlds, count=5)

    def played(seed, by=asking):
        return by.play_out(game=game, worlds=worlds, tasks=tasks, seed=seed)

    assert played(1) == played(1) == played(1, Asking())
    assert played(1) != played(2)
    assert played(2**64 - 1) == played(2**64 - 1)


def test_without_a_task_each_world_is_played_once_from_where_it_is(asking):
    one = decision("pig", 4)
    game, worlds = asking.at(one, count=3)
    (totals,) = asking.play_out(game=game, worlds=worlds).totals
    assert totals.playouts == 3


def test_a_task_may_name_its_worlds(asking):
    one = decision("lepidoptery", 4)
    game, worlds = asking.at(one, count=4, seed=8)
    (index,) = {each.index for each in first_tasks(asking, game, worlds, many=1)}
    some = pb.PlayOutTask(index=index, worlds=[3, 1, 3], count=2)
    response = asking.play_out(game=game, worlds=worlds, tasks=[some], seed=1)
    assert response.totals[0].playouts == 4
    alone = pb.PlayOutTask(index=index, count=2)
    chosen = [worlds[1], worlds[3]]
    assert response == asking.play_out(game=game, worlds=chosen, tasks=[alone], seed=1)
    for bad in (4, 2**32 - 1):
        task = pb.PlayOutTask(worlds=[0, bad], count=1)
        found = code_of(asking.play_out, game=game, worlds=worlds, tasks=[task])
        assert found == "simulator.position"


# -------------------------------------------------------------------------- limits


def test_as_many_playouts_as_allowed_and_not_one_more():
    asking = Asking(max_playouts=12)
    one = decision("pig")
    game, worlds = asking.at(one, count=3)
    tasks = [pb.PlayOutTask(count=2), pb.PlayOutTask(count=2)]
    response = asking.play_out(game=game, worlds=worlds, tasks=tasks)
    assert [each.playouts for each in response.totals] == [6, 6]
    for more in (1, 2**32 - 1):
        tasks = [*tasks[:2], pb.PlayOutTask(worlds=[0], count=more)]
        found = code_of(asking.play_out, game=game, worlds=worlds, tasks=tasks)
        assert found == "limit.playouts"


def test_no_playouts_are_no_task(asking):
    game, worlds = asking.at(decision("pig"))
    tasks = [pb.PlayOutTask(count=0)]
    found = code_of(asking.play_out, game=game, worlds=worlds, tasks=tasks)
    assert found == "simulator.count"


@pytest.mark.parametrize("policy", ["nope", "uniform2", "python:os:System", "x" * 999])
def test_a_bot_that_the_game_does_not_have_is_refused(asking, policy):
    game, worlds = asking.at(decision("lepidoptery"))
    found = code_of(asking.play_out, game=game, worlds=worlds, policy=policy)
    assert found == "rollout.policy"


def test_plies_are_for_games_that_can_judge_and_are_not_too_many(asking):
    game, worlds = asking.at(decision("lepidoptery"))
    found = code_of(asking.play_out, game=game, worlds=worlds, plies=3)
    assert found == "rollout.plies"
    game, worlds = asking.at(decision("trap"))
    most = asking.limits.max_plies
    for plies in (most + 1, 2**32 - 1):
        found = code_of(asking.play_out, game=game, worlds=worlds, plies=plies)
        assert found == "rollout.plies"
    for plies, payoff in ((0, 1.0), (1, 5 / 6), (2, 4 / 6), (3, 1.0), (most, 1.0)):
        (totals,) = asking.play_out(game=game, worlds=worlds, plies=plies).totals
        assert list(totals.mean_payoffs) == [pytest.approx(payoff)]
        assert totals.ended == (plies >= 3)


def test_a_call_that_takes_too_long_is_an_error_unless_it_says_within():
    asking = Asking(max_call_ms=1_000)
    game, worlds = asking.at(decision("pig"), count=2)
    tasks = [pb.PlayOutTask(count=200_000), pb.PlayOutTask(count=300_000, worlds=[1])]
    fields = {"game": game, "worlds": worlds, "tasks": tasks}
    assert code_of(asking.play_out, **fields) == "limit.time"
    for within in (300, 10_000):
        response = asking.play_out(**fields, within_ms=within)
        assert not response.complete
        both, one = (each.playouts for each in response.totals)
        assert 0 < both < 400_000
        # Wherever it is cut short, all have been played about equally often.
        assert abs(both - 2 * one) <= 2
    response = asking.play_out(**fields, within_ms=0)
    assert [each.playouts for each in response.totals] == [0, 0]
    assert response.totals[0].mean_payoffs == []


def test_what_is_done_in_time_is_what_would_be_done_without_one(asking):
    game, worlds = asking.at(decision("pig"), count=2)
    fields = {"game": game, "worlds": worlds, "tasks": [pb.PlayOutTask(count=3)]}
    assert asking.play_out(**fields) == asking.play_out(**fields, within_ms=60_000)


@pytest.mark.parametrize("within", [{}, {"within_ms": 60_000}])
def test_a_call_that_is_given_up_stops_between_two_playouts(asking, within):
    game, worlds = asking.at(decision("pig"))
    tasks = [pb.PlayOutTask(count=1_000_000)]
    watch = asking.watch()
    timer = threading.Timer(0.1, lambda: setattr(watch, "given_up", True))
    begun = time.monotonic()
    timer.start()
    with pytest.raises(GivenUpError):
        asking.play_out(watch, game=game, worlds=worlds, tasks=tasks, **within)
    # A million take minutes.
    assert time.monotonic() - begun < 30
    timer.join()


def test_a_hook_that_fails_is_named(asking):
    game, worlds = trap(asking, "raise")
    found = code_of(asking.play_out, game=game, worlds=worlds)
    assert found == "plugin.failed"
    step = pb.SimulatedStep(world=worlds[0], index=0)
    with pytest.raises(FritillaryError, match=r"trap: .*LookupError") as caught:
        asking.apply(game=game, steps=[step])
    assert caught.value.code == "plugin.failed"
