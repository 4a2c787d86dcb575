"""What goes in comes out, as the same bytes in every process."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgpack
import pytest
from attrs import evolve
from hypothesis import given
from tests.codec import zoo
from tests.codec.zoo import CODEC

from fritillary.codec.packing import check_plain, from_json, pack, to_json, unpack
from fritillary.codec.values import decode_json_options

ROOT = Path(__file__).parents[2]


@given(zoo.states)
def test_states_come_back_equal(state: zoo.State) -> None:
    raw = CODEC.encode_state(state)
    back = CODEC.decode_state(raw, state.options)
    assert back == state
    assert back.options is state.options
    assert back.derived == state.derived
    assert CODEC.encode_state(back) == raw
    assert type(back.deck) is tuple
    assert type(back.rows[0]) is tuple if back.rows else True


@given(zoo.states)
def test_observations_come_back_equal_from_bytes_data_and_json(
    state: zoo.State,
) -> None:
    raw = CODEC.encode_observation(state)
    data = CODEC.observation_to_data(state)
    assert pack(data) == raw
    assert CODEC.decode_observation(raw, state.options) == state
    assert CODEC.observation_from_data(data, state.options) == state
    again = from_json(to_json(data))
    assert CODEC.observation_from_data(again, state.options) == state


@given(zoo.moves)
def test_actions_come_back_equal(action: Any) -> None:
    data = CODEC.action_to_data(action)
    assert CODEC.action_from_data(data) == action
    assert CODEC.action_from_data(unpack(CODEC.encode_action(action))) == action
    assert CODEC.action_from_data(from_json(CODEC.action_to_json(action))) == action
    assert next(iter(data)) == "type"


@given(zoo.options)
def test_options_come_back_equal(options: zoo.Options) -> None:
    assert CODEC.decode_options(CODEC.encode_options(options)) == options
    data = CODEC.options_to_data(options)
    assert CODEC.options_from_data(data) == options
    assert decode_json_options(CODEC, to_json(data)) == options


def test_no_bytes_are_the_default_options() -> None:
    assert CODEC.decode_options(b"") == zoo.Options()


def test_left_out_options_have_their_defaults() -> None:
    assert CODEC.options_from_data({"width": 5}) == zoo.Options(width=5)
    assert CODEC.options_from_data({}) == zoo.Options()


def test_an_action_of_the_only_class_needs_no_tag() -> None:
    codec = type(CODEC)(evolve(zoo.INFO, actions=(zoo.Move,)))
    assert codec.action_to_data(zoo.Move(1)) == {"piece": 1, "by": 1}
    assert codec.action_from_data({"piece": 1}) == zoo.Move(1)


@given(zoo.states)
def test_data_are_plain_and_share_nothing_with_the_state(state: zoo.State) -> None:
    data = CODEC.observation_to_data(state)
    check_plain(data)
    before = CODEC.encode_state(state)
    for value in data.values():
        if isinstance(value, list | dict):
            value.clear()
    assert CODEC.encode_state(state) == before


def test_the_data_of_a_state_read_well() -> None:
    assert CODEC.observation_to_data(zoo.some_state()) == {
        "to_move": 1,
        "over": False,
        "note": "ähem",
        "colour": "blue",
        "size": 2,
        "hand": [1, 1, 10],
        "table": [0, 1, 3],
        "hands": [[], [1]],
        "deck": [5, 4, 300, -7],
        "flags": [True, False],
        "words": ["one", "two"],
        "rows": [[1, 2], []],
        "pair": [3, "red"],
        "scores": {"a": -1, "b": 2},
        "heaps": {"": [], "left": [{"cards": [1, 2], "_hidden": True}]},
        "cages": [
            {
                "animals": [1, 2],
                "keeper": None,
                "last": {"type": "swap", "pieces": [1, 2]},
            },
            {"animals": [], "keeper": "Jo", "last": None},
        ],
        "spare": {"animals": [0], "keeper": None, "last": None},
        "moves": [{"type": "move", "piece": 1, "by": 2}, {"type": "give-up"}],
        "last": {"type": "move", "piece": 3, "by": 1},
    }


#: Records hold these bytes for ever.
GOLDEN = "6977927eb24b87be366e96665c4b8c7d"


def _digest() -> str:
    return hashlib.sha256(CODEC.encode_state(zoo.some_state())).hexdigest()[:32]


def test_the_bytes_of_a_value_never_change() -> None:
    assert _digest() == GOLDEN


@pytest.mark.parametrize("hash_seed", ["0", "1", "4242"])
def test_the_bytes_do_not_depend_on_the_hash_seed(hash_seed: str) -> None:
    script = (
        "from tests.codec import test_round_trip as t\n"
        "import json\n"
        "schemas = json.dumps(t.CODEC.schemas())\n"
        "print(t._digest(), t.hashlib.sha256(schemas.encode()).hexdigest())"
    )
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    schemas = hashlib.sha256(to_json_spaced(CODEC.schemas()).encode()).hexdigest()
    assert done.stdout.split() == [_digest(), schemas]


def to_json_spaced(data: Any) -> str:
    import json

    return json.dumps(data)


def test_maps_are_sorted_whatever_the_order_of_the_dict() -> None:
    state = zoo.some_state()
    other = zoo.some_state()
    other.scores = dict(reversed(other.scores.items()))
    assert CODEC.encode_state(state) == CODEC.encode_state(other)


def test_bytes_of_other_writers_need_not_be_canonical() -> None:
    state = zoo.some_state()
    data = CODEC.observation_to_data(state)
    shuffled = dict(reversed(data.items()))
    raw = msgpack.packb(shuffled)
    assert raw != CODEC.encode_state(state)
    assert CODEC.decode_state(raw, state.options) == state
