"""The calls of a simulator, in process: opening games, and much at a time."""

from __future__ import annotations

import json

import pytest
from tests.service.simcalls import GAMES, Asking, code_of, decision

from fritillary.api.v1 import common_pb2
from fritillary.api.v1 import simulator_pb2 as pb
from fritillary.codec.packing import pack, unpack

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
