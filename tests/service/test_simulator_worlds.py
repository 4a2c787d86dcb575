"""Worlds of a simulator, in process: what is drawn, and what is refused."""

from __future__ import annotations

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.service.simcalls import HIDDEN, Asking, Decision, code_of, decision, state_of

from fritillary.api.v1 import common_pb2
from fritillary.api.v1 import simulator_pb2 as pb
from fritillary.bots.search.worlds import worlds as drawn_worlds
from fritillary.codec.packing import pack, unpack
from fritillary.core.dealer import FastDealer
from fritillary.core.errors import FritillaryError


@pytest.mark.parametrize("name", [*HIDDEN, "pig"])
def test_worlds_are_those_that_a_search_in_process_draws(asking, name):
    one = decision(name, 9)
    game, found = asking.at(one, count=5, seed=7)
    observation = one.game.codec.decode_observation(
        one.observation.data, one.state.options
    )
    draw = drawn_worlds(one.game, observation, random.Random(7))
    assert [state_of(one, world) for world in found] == [draw() for _ in range(5)]
    assert asking.sample(
        game=game, observation=one.observation, seat=one.seat, count=5, seed=7
    ) == list(found)


@pytest.mark.parametrize("name", HIDDEN)
def test_worlds_differ_in_what_is_hidden_and_show_the_seat_the_same(asking, name):
    one = decision(name, 9)
    game, found = asking.at(one, count=8, seed=1)
    assert len(set(found)) > 1
    seen = asking.observe(game=game, worlds=found, seat=one.seat)
    assert set(seen) == {one.observation.data}


@pytest.mark.parametrize("name", HIDDEN)
def test_the_truth_has_no_part_in_what_is_answered(name):
    one = decision(name, 9)
    other = one.game.copy(one.state)
    one.game.shuffle_hidden(other, one.seat, FastDealer(5))
    twin = Decision(one.game, other, one.seat, one.seats)
    assert one.state != twin.state
    assert one.observation == twin.observation

    def conversation(of):
        asking = Asking()
        game, worlds = asking.at(of, count=4, seed=3)
        positions = asking.positions(game=game, worlds=worlds, expanded=True)
        index = positions[0].legal[0]
        steps = [pb.SimulatedStep(world=world, index=index) for world in worlds]
        tasks = [pb.PlayOutTask(index=index, count=2)]
        return [
            game,
            worlds,
            positions,
            asking.apply(game=game, steps=steps),
            asking.observe(game=game, worlds=worlds, seat=1 - of.seat),
            asking.play_out(game=game, worlds=worlds, tasks=tasks, seed=5),
        ]

    assert conversation(one) == conversation(twin)


def test_an_observation_may_be_json(asking):
    one = decision("lepidoptery", 4)
    game, found = asking.at(one, count=2, seed=1)
    text = json.dumps(unpack(one.observation.data)).encode()
    seen = common_pb2.Payload(encoding=common_pb2.ENCODING_JSON, data=text)
    assert found == asking.sample(
        game=game, observation=seen, seat=one.seat, count=2, seed=1
    )


def test_worlds_are_the_same_in_any_encoding(asking):
    one = decision("lepidoptery", 4)
    game, found = asking.at(one, count=2)
    json_game, same = asking.at(one, count=2, encoding=common_pb2.ENCODING_JSON)
    assert game != json_game
    assert found == same
    (seen,) = asking.observe(game=json_game, worlds=found[:1], seat=one.seat)
    assert json.loads(seen) == unpack(one.observation.data)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda _: b"", "codec.msgpack"),
        (lambda raw: raw[:-1], "codec.msgpack"),
        (lambda raw: raw[: len(raw) // 2], "codec.msgpack"),
        (lambda _: b"{}", "codec.msgpack"),
        (lambda _: pack({}), "codec.invalid"),
        (lambda _: pack([1]), "codec.invalid"),
        (lambda raw: pack({**unpack(raw), "more": 1}), "codec.invalid"),
        (lambda _: decision("lost-cities").observation.data, "codec.invalid"),
        (lambda _: decision("pig").observation.data, "codec.invalid"),
    ],
    ids=range(9),
)
def test_an_observation_that_cannot_be_read_is_refused(asking, change, code):
    one = decision("lepidoptery", 4)
    game = asking.open("lepidoptery").game
    seen = common_pb2.Payload(
        encoding=common_pb2.ENCODING_MSGPACK, data=change(one.observation.data)
    )
    found = code_of(asking.sample, game=game, observation=seen, seat=one.seat)
    assert found == code


def test_an_observation_of_another_seat_is_refused(asking):
    one = decision("lepidoptery", 4)
    game = asking.open("lepidoptery").game
    found = code_of(
        asking.sample, game=game, observation=one.observation, seat=1 - one.seat
    )
    assert found == "position.invalid"


def test_a_seat_that_there_is_not_is_refused(asking):
    one = decision("lepidoptery", 4)
    game, found = asking.at(one)
    for seat in (2, 2**32 - 1):
        assert (
            code_of(asking.sample, game=game, observation=one.observation, seat=seat)
            == code_of(asking.observe, game=game, worlds=found, seat=seat)
            == "simulator.seat"
        )


@given(data=st.data())
def test_an_observation_with_lies_gives_worlds_that_fit_or_is_refused(data):
    asking = Asking()
    one = decision("lepidoptery", 4)
    game = asking.open("lepidoptery").game
    seen = unpack(one.observation.data)
    name = data.draw(st.sampled_from(sorted(seen)))
    lie = st.recursive(
        st.none() | st.booleans() | st.integers(-3, 99) | st.text(max_size=3),
        lambda inner: st.lists(inner, max_size=5),
        max_leaves=8,
    )
    raw = pack({**seen, name: data.draw(lie)})
    payload = common_pb2.Payload(encoding=common_pb2.ENCODING_MSGPACK, data=raw)
    try:
        (world,) = asking.sample(game=game, observation=payload, seat=one.seat)
    except FritillaryError as error:
        assert error.code in {"codec.invalid", "position.invalid"}  # noqa: PT017
    else:
        (again,) = asking.observe(game=game, worlds=[world], seat=one.seat)
        assert again == raw


@pytest.mark.parametrize(
    "change",
    [
        lambda _: b"",
        lambda world: world[:7],
        lambda world: world[:8],
        lambda world: world[:-1],
        lambda world: world + b"\0",
        lambda world: b"\0" + world[1:],
        lambda world: world[:9] + bytes([world[9] ^ 1]) + world[10:],
    ],
    ids=range(7),
)
def test_bytes_that_are_no_world_are_refused_and_named(asking, change):
    one = decision("lepidoptery", 4)
    game, (world,) = asking.at(one)
    bad = change(world)
    steps = [pb.SimulatedStep(world=each, index=0) for each in (world, bad)]
    assert code_of(asking.apply, game=game, steps=steps[1:]) == "simulator.world"
    for call in (asking.positions, asking.observe, asking.play_out):
        with pytest.raises(FritillaryError, match="world 1: ") as caught:
            call(game=game, worlds=[world, bad])
        assert caught.value.code == "simulator.world"


def test_a_world_of_another_game_options_or_seats_is_refused(asking):
    one = decision("pig")
    _, (world,) = asking.at(one)
    for game, fields in (
        ("lepidoptery", {}),
        ("pig", {"seats": 3}),
        ("pig", {"options": common_pb2.OptionsChoice(preset="short")}),
    ):
        other = asking.open(game, **fields).game
        assert (
            code_of(asking.positions, game=other, worlds=[world]) == "simulator.world"
        )


def test_an_observation_of_more_seats_than_were_opened_is_refused(asking):
    three = decision("pig", seats=3)
    game = asking.open("pig", seats=2).game
    (world,) = asking.sample(game=game, observation=three.observation, seat=0)
    assert code_of(asking.play_out, game=game, worlds=[world]) == "position.invalid"
