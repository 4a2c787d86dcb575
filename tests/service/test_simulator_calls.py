"""The calls of a simulator, in process: what they answer, and what they refuse."""

from __future__ import annotations

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.service.simcalls import GAMES, Asking, Decision, decision

from fritillary.api.v1 import common_pb2
from fritillary.api.v1 import simulator_pb2 as pb
from fritillary.bots.search.worlds import worlds as drawn_worlds
from fritillary.codec.packing import pack, unpack
from fritillary.core.dealer import FastDealer
from fritillary.core.errors import FritillaryError

HIDDEN = ["lepidoptery", "lost-cities"]


@pytest.fixture
def asking():
    return Asking()


def code_of(call, *arguments, **fields):
    """Return the code of the error that a call raises."""
    with pytest.raises(FritillaryError) as caught:
        call(*arguments, **fields)
    return caught.value.code


def state_of(one, world):
    """Return the state of a world."""
    return one.game.codec.decode_state(world[8:], one.state.options)


# ------------------------------------------------------------------------- opening


def test_a_game_is_opened_with_what_its_offer_tells(asking):
    options = {"heights": [5, 5, 5, 5, 5]}
    for payload in (
        common_pb2.Payload(encoding=common_pb2.ENCODING_MSGPACK, data=pack(options)),
        common_pb2.Payload(
            encoding=common_pb2.ENCODING_JSON, data=json.dumps(options).encode()
        ),
    ):
        opened = asking.open(
            "lepidoptery", options=common_pb2.OptionsChoice(options=payload)
        )
        game = GAMES.game("lepidoptery")
        table = game.table(game.options(options), 2)
        assert opened.ref.id == "lepidoptery"
        assert opened.ref.rules_version == game.info.rules_version
        assert (opened.table.size, opened.table.hash) == (len(table), table.digest())
        assert (opened.seats, list(opened.policies)) == (2, sorted(game.bots))
        assert not opened.evaluates
        assert opened.limits == asking.limits.to_proto()


def test_a_game_named_twice_has_the_same_bytes_in_every_simulator(asking):
    opened = asking.open("pig", seats=3)
    assert opened.game == Asking().open("pig", seats=3).game
    assert opened.seats == 3
    others = {
        asking.open("pig", **fields).game
        for fields in (
            {},
            {"seats": 3, "encoding": common_pb2.ENCODING_JSON},
            {"seats": 3, "options": common_pb2.OptionsChoice(preset="short")},
        )
    }
    assert len(others | {opened.game}) == 4


def test_variants_belong_to_a_game(asking):
    opened = asking.open("lepidoptery+no-pass")
    assert [each.id for each in opened.ref.variants] == ["no-pass"]
    assert opened.game != asking.open("lepidoptery").game


@pytest.mark.parametrize(
    ("game", "fields", "code"),
    [
        ("", {}, "game.unknown"),
        ("nope", {}, "game.unknown"),
        ("pig+nope", {}, "game.unknown"),
        ("pig", {"seats": 9}, "options.invalid"),
        ("pig", {"seats": 2**32 - 1}, "options.invalid"),
        ("pig", {"options": common_pb2.OptionsChoice(preset="x")}, "options.invalid"),
    ],
)
def test_games_that_there_are_not_are_refused(asking, game, fields, code):
    assert code_of(asking.open, game, **fields) == code


@pytest.mark.parametrize(
    "change",
    [
        lambda _: b"",
        lambda _: b"\xc1",
        lambda parts: pack(parts)[:-1],
        lambda parts: pack(parts) + b"\0",
        lambda parts: pack(parts[:-1]),
        lambda parts: pack([2, *parts[1:]]),
        lambda parts: pack([parts[0], 5, *parts[2:]]),
        lambda parts: pack([*parts[:-1], "json"]),
        lambda _: pack({"game": 1}),
    ],
    ids=range(9),
)
def test_bytes_that_name_no_game_are_refused(asking, change):
    game = change(unpack(asking.open("pig").game))
    for call in (asking.sample, asking.positions, asking.apply, asking.observe):
        assert code_of(call, game=game) == "simulator.game"
    assert code_of(asking.play_out, game=game) == "simulator.game"


def test_a_game_of_other_rules_is_refused(asking):
    form, name, rules, *rest = unpack(asking.open("pig").game)
    old = pack([form, name, rules + 1, *rest])
    assert code_of(asking.positions, game=old) == "game.other-version"


def test_a_game_that_somebody_made_up_is_checked_as_any_other(asking):
    form, name, rules, variants, _, seats, encoding = unpack(asking.open("pig").game)
    for options, many, code in (
        ({"target": "x"}, seats, "options.invalid"),
        ([1], seats, "options.invalid"),
        ({}, 99, "options.invalid"),
        ({}, "two", "options.invalid"),
    ):
        made_up = pack([form, name, rules, variants, options, many, encoding])
        assert code_of(asking.positions, game=made_up) == code


# -------------------------------------------------------------------------- worlds


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


# ------------------------------------------------------------------------- positions


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


# --------------------------------------------------------------------- much at a time


def test_empty_requests_have_empty_answers(asking):
    game = asking.open("pig").game
    assert asking.positions(game=game) == []
    assert asking.apply(game=game) == []
    assert asking.observe(game=game) == []
    response = asking.play_out(game=game)
    assert response == pb.PlayOutResponse(totals=response.totals, complete=True)
    assert response.totals[0].playouts == 0


def test_more_worlds_than_allowed_are_refused():
    asking = Asking(max_worlds=3)
    one = decision("pig")
    game, worlds = asking.at(one, count=3)
    for count in (4, 2**32 - 1):
        assert (
            code_of(
                asking.sample,
                game=game,
                observation=one.observation,
                seat=0,
                count=count,
            )
            == "limit.worlds"
        )
    step = pb.SimulatedStep(world=worlds[0], index=0)
    task = pb.PlayOutTask(count=1)
    many = [*worlds, worlds[0]]
    assert code_of(asking.positions, game=game, worlds=many) == "limit.worlds"
    assert code_of(asking.observe, game=game, worlds=many) == "limit.worlds"
    assert code_of(asking.play_out, game=game, worlds=many) == "limit.worlds"
    assert code_of(asking.apply, game=game, steps=[step] * 4) == "limit.worlds"
    assert code_of(asking.play_out, game=game, tasks=[task] * 4) == "limit.worlds"
    assert len(asking.positions(game=game, worlds=worlds)) == 3


def test_nothing_to_draw_is_refused(asking):
    one = decision("pig")
    game = asking.open("pig").game
    assert (
        code_of(asking.sample, game=game, observation=one.observation, count=0)
        == "simulator.count"
    )


def test_an_answer_that_would_be_too_large_is_refused():
    one = decision("lepidoptery", 4)
    game, worlds = Asking().at(one, count=20)
    size = sum(map(len, worlds))
    asking = Asking(max_message_bytes=size)
    assert len(asking.at(one, count=20)[1]) == 20
    small = Asking(max_message_bytes=size - 1)
    assert code_of(small.at, one, count=20) == "limit.message-size"
    tiny = Asking(max_message_bytes=100)
    fields = {"game": game, "worlds": worlds}
    assert code_of(tiny.positions, **fields) == "limit.message-size"
    assert code_of(tiny.observe, **fields) == "limit.message-size"
    (position,) = Asking().positions(game=game, worlds=worlds[:1])
    step = pb.SimulatedStep(world=worlds[0], index=position.legal[0])
    assert code_of(tiny.apply, game=game, steps=[step]) == "limit.message-size"
