"""Positions and steps of a simulator, in process: those of the rules."""

from __future__ import annotations

import random

import pytest
from tests.service.simcalls import HIDDEN, code_of, decision, state_of

from fritillary.api.v1 import common_pb2
from fritillary.api.v1 import simulator_pb2 as pb
from fritillary.codec.packing import pack
from fritillary.core.dealer import FastDealer
from fritillary.core.errors import FritillaryError


@pytest.mark.parametrize("name", [*HIDDEN, "pig"])
def test_positions_and_steps_are_those_of_the_rules(asking, name):
    one = decision(name)
    game, (world,) = asking.at(one, seed=4)
    state = state_of(one, world)
    table = one.game.table(one.state.options, one.seats)
    rng = random.Random(1)
    plies = 0
    while True:
        (position,) = asking.positions(game=game, worlds=[world], expanded=True)
        turn = position.WhichOneof("turn")
        if turn == "over":
            break
        plies += 1
        if turn == "chance":
            assert one.game.decision_point(state).seat is None
            step = pb.SimulatedStep(world=world, draw=plies)
            (result,) = asking.apply(game=game, steps=[step], expanded=True)
            action = one.game.draw_chance(state, FastDealer(plies))
            assert result.drawn == one.game.codec.encode_action(action)
        else:
            legal = one.game.legal(state)
            assert position.seat == one.game.decision_point(state).seat
            assert [table.at(index) for index in position.legal] == list(legal)
            assert [each.text for each in position.legal_actions] == [
                one.game.notation(each) for each in legal
            ]
            action = rng.choice(legal)
            step = pb.SimulatedStep(world=world)
            if plies % 2:
                step.index = table.index[action]
            else:
                step.action.data = one.game.codec.encode_action(action)
            (result,) = asking.apply(game=game, steps=[step], expanded=True)
            assert result.drawn == b""
        one.game.apply(state, action)
        world = result.world
        assert state_of(one, world) == state
        assert [result.position] == asking.positions(
            game=game, worlds=[world], expanded=True
        )
    outcome = one.game.outcome_of(state)
    assert list(position.over.scores) == list(outcome.scores)
    assert list(position.over.placing) == list(outcome.placing)
    assert position.over.reason == outcome.reason
    assert not position.legal
    # After the end nothing can be applied, and playouts have nothing to do.
    for step in (
        pb.SimulatedStep(world=world, index=0),
        pb.SimulatedStep(world=world, draw=0),
    ):
        assert code_of(asking.apply, game=game, steps=[step]) == "match.over"
    tasks = [pb.PlayOutTask(index=0, count=1)]
    assert code_of(asking.play_out, game=game, worlds=[world], tasks=tasks) == (
        "match.over"
    )
    (totals,) = asking.play_out(game=game, worlds=[world]).totals
    assert list(totals.score_sums) == list(outcome.scores)


def test_without_a_table_an_index_counts_in_the_legal_actions(asking):
    one = decision("pig-without-table", 4)
    assert not asking.open("pig-without-table").HasField("table")
    game, (world,) = asking.at(one)
    (position,) = asking.positions(game=game, worlds=[world], expanded=True)
    assert list(position.legal) == [0, 1]
    assert [each.text for each in position.legal_actions] == ["roll", "hold"]
    (held,) = asking.apply(game=game, steps=[pb.SimulatedStep(world=world, index=1)])
    after = state_of(one, world)
    one.game.apply(after, one.game.legal(after)[1])
    assert state_of(one, held.world) == after
    # There nothing but a roll is legal.
    step = pb.SimulatedStep(world=held.world, index=1)
    assert code_of(asking.apply, game=game, steps=[step]) == "action.invalid"
    tasks = [pb.PlayOutTask(index=1, count=3)]
    totals = asking.play_out(game=game, worlds=[world], tasks=tasks, seed=2)
    same = decision("pig", 4)
    game, worlds = asking.at(same)
    assert totals == asking.play_out(game=game, worlds=worlds, tasks=tasks, seed=2)


def test_a_spectator_sees_what_spectators_see(asking):
    one = decision("lepidoptery", 6)
    game, (world,) = asking.at(one)
    (seen,) = asking.observe(game=game, worlds=[world])
    spectator = one.game.seen(one.state, None)
    assert seen == one.game.codec.encode_observation(spectator)


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({}, "simulator.step"),
        ({"index": 110}, "action.invalid"),
        ({"index": 2**32 - 1}, "action.invalid"),
        ({"action": common_pb2.Payload(data=b"")}, "codec.msgpack"),
        ({"action": common_pb2.Payload(data=pack({}))}, "action.invalid"),
        ({"draw": 1}, "action.not-your-turn"),
    ],
    ids=range(6),
)
def test_steps_that_cannot_be_made_are_refused_and_named(asking, fields, code):
    one = decision("lepidoptery", 4)
    game, (world,) = asking.at(one)
    (position,) = asking.positions(game=game, worlds=[world])
    good = pb.SimulatedStep(world=world, index=position.legal[0])
    bad = pb.SimulatedStep(world=world, **fields)
    with pytest.raises(FritillaryError, match="step 1: ") as caught:
        asking.apply(game=game, steps=[good, bad])
    assert caught.value.code == code


def test_an_illegal_action_is_refused_with_the_reason(asking):
    one = decision("lepidoptery", 4)
    game, (world,) = asking.at(one)
    (position,) = asking.positions(game=game, worlds=[world])
    index = next(each for each in range(110) if each not in position.legal)
    steps = [pb.SimulatedStep(world=world, index=index)]
    assert code_of(asking.apply, game=game, steps=steps) == "action.illegal"
    tasks = [pb.PlayOutTask(index=index, count=1)]
    with pytest.raises(FritillaryError, match="task 0: ") as caught:
        asking.play_out(game=game, worlds=[world], tasks=tasks)
    assert caught.value.code == "action.illegal"


def test_no_action_can_be_named_where_chance_is_to_act(asking):
    one = decision("pig")
    game, (world,) = asking.at(one)
    (rolled,) = asking.apply(game=game, steps=[pb.SimulatedStep(world=world, index=0)])
    assert rolled.position.chance
    step = pb.SimulatedStep(world=rolled.world, index=0)
    assert code_of(asking.apply, game=game, steps=[step]) == "action.not-your-turn"
    drawn = {
        asking.apply(
            game=game, steps=[pb.SimulatedStep(world=rolled.world, draw=seed)]
        )[0].drawn
        for seed in range(60)
    }
    assert len(drawn) == 6
