"""The lines to a program, and what its answers may look like."""

from __future__ import annotations

import json
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.clients.stdio.scene import INFO, OUTCOME, ask
from tests.ids import steady

from fritillary.api.v1 import bot_pb2 as wire
from fritillary.referee.play import remarks_of
from fritillary.referee.player import Answer
from fritillary_client import RESIGN, Ask, Decision, DecisionError
from fritillary_client.encoding import JSON
from fritillary_client.stdio_lines import (
    ask_line,
    end_line,
    read_reply,
    seed_of,
    start_line,
)


def read(line: bytes) -> dict[str, Any]:
    assert line.isascii()
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert line.startswith(b'{"type":')
    found = json.loads(line)
    assert isinstance(found, dict)
    return found


def test_a_start_tells_all_about_the_match() -> None:
    line = read(start_line(attrs.evolve(INFO, variants=(("small", 2),), resumed=True)))
    assert line["type"] == "start"
    assert line["protocol"] == 1
    assert line["match_id"] == "m-1"
    assert (line["seat"], line["seats"]) == (0, 2)
    assert line["options"] == {"heaps": [3, 4, 5]}
    assert line["variants"] == [{"id": "small", "version": 2}]
    assert [player["name"] for player in line["players"]] == ["a", "b"]
    assert line["players"][0]["clock"]["base_ms"] is None
    assert line["seed"] == 77
    assert line["resumed"] is True


def test_an_ask_has_observation_legal_actions_and_clock() -> None:
    line = read(ask_line(ask(5)))
    assert line["type"] == "ask"
    assert line["decision_id"] == 5
    assert line["observation"] == {"decision": 5}
    assert line["legal"][1] == {
        "index": 1,
        "text": "take 1",
        "action": {"stones": 1},
    }
    assert line["clock"]["left_ms"] is None
    assert (line["attempt"], line["problem"], line["events"]) == (1, None, [])


def test_an_ask_tells_events_time_and_what_was_wrong() -> None:
    request = wire.DecisionRequest(
        match_id="m-1", decision_id=9, ply=4, observation=b"{}", legal=[3], attempt=2
    )
    request.legal_actions.add(index=3, text="né\n", action=b'{"a":1}')
    request.error.code = "action.illegal"
    request.error.message = "no"
    request.clock.left_ms = 1500
    event = wire.Event(number=2, ply=4)
    event.action.seat = 1
    event.action.action = b'{"stones":2}'
    event.action.text = "take 2"
    line = read(ask_line(Ask(INFO, request, [event], JSON, None)))
    assert line["attempt"] == 2
    assert line["problem"] == {"code": "action.illegal", "message": "no"}
    assert line["clock"]["left_ms"] == 1500
    assert line["events"][0]["action"] == {"stones": 2}
    assert line["events"][0]["seat"] == 1
    assert line["legal"][0]["text"] == "né\n"


def test_an_end_tells_the_result_and_the_seat_s_part() -> None:
    line = read(end_line(INFO, OUTCOME))
    assert (line["kind"], line["reason"]) == ("played", "last-stone")
    assert (line["score"], line["place"]) == (1, 1)
    assert (line["scores"], line["placing"]) == ([1, 0], [1, 2])
    assert line["deal"] == "not-revealed"


def test_a_decision_s_seed_fits_every_language_and_differs() -> None:
    seeds = [seed_of(2**53 - 1, number) for number in range(200)]
    assert all(0 <= seed < 2**31 for seed in seeds)
    assert len(set(seeds)) == 200
    assert seed_of(77, 1) == seed_of(77, 1) != seed_of(78, 1)


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ('{"index":3}', 3),
        ('{"index":3.0}', 3),
        ('{"index": 3, "text": null, "action": null, "resign": false}', 3),
        ('{"text":"take 2"}', "take 2"),
        ('{"action":{"stones":2}}', {"stones": 2}),
        ('{"resign":true}', RESIGN),
        ('{"resign":true,"note":"hopeless"}', RESIGN),
        ('{"index":0,"note":"why not"}', Decision(0, "why not")),
        ('{"index":0,"probabilities":[0.5,0,0.5]}', Decision(0, "", (0.5, 0.0, 0.5))),
        (
            '{"index":0,"probabilities":[0.3333,0.6666]}',
            Decision(0, "", (0.3333, 0.6666)),
        ),
        ('{"index":0,"probabilities":[]}', 0),
        ('{"index":0,"note":null,"probabilities":null}', 0),
        ('{"index":0,"type":"ask","legal":[],"observation":[[[]]]}', 0),
        ('{"index":0}   ', 0),
    ],
    ids=steady,
)
def test_an_answer_may_be_given_in_any_form(line: str, answer: object) -> None:
    assert read_reply(line.encode()).answer == answer


def test_an_answer_may_name_match_and_decision() -> None:
    reply = read_reply(b'{"index":1,"match_id":"m-1","decision_id":7}')
    assert (reply.match_id, reply.decision_id) == ("m-1", 7)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b"{", "not JSON at character 2"),
        (b'{"index":1', "not JSON"),
        (b'{"index":1}{"index":1}', "not JSON at character 12: Extra data"),
        (b"{'index':1}", "not JSON"),
        (b'{"index":\xff}', "not UTF-8 at byte 10"),
        (b'{"text":"a\x00b"}', "not JSON"),
        (b'{"index":NaN}', "NaN is no number"),
        (b'{"index":1,"probabilities":[-Infinity]}', "-Infinity is no number"),
        (b'{"index":0,"probabilities":["1"]}', "is a string, not a number"),
        (b'{"index":0,"probabilities":0.5}', "not a list"),
        (b'{"index":1e999}', "too large, not a whole number"),
        (
            b'{"index":1.5}',
            "has an index that is a number with a fraction, not a whole number",
        ),
        (b'{"index":true}', "an index that is true, not a whole number"),
        (b'{"index":"1"}', "a string, not a whole number"),
        (b'{"index":-1}', "out of range"),
        (b'{"index":9007199254740993}', "out of range"),
        (b'{"index":%s}' % (b"9" * 5000), "cannot be read: a number has 5000 digits"),
        (b'{"action":{"n":-%s}}' % (b"9" * 5000), "a number has 5000 digits"),
        (b"{}", "names no choice; give one of"),
        (b'{"indx":1}', "names no choice"),
        (b'{"index":1,"text":"a"}', "names index and text; give one of"),
        (b'{"index":999999,"index":4}', "names index twice"),
        (b'{"index":4,"index":4}', "names index twice"),
        (b'{"text":"a","note":"","text":null}', "names text twice"),
        (b'{"index":4,"decision_id":1,"decision_id":2}', "names decision_id twice"),
        (b'{"action":{"heap":0,"heap":1}}', "names heap twice"),
        (b'{"index":4,"a\\u001b":1,"a\\u001b":2}', " twice"),
        (b'{"index":4,"%s":1,"%s":2}' % (b"x" * 5000, b"x" * 5000), " twice"),
        (b'{"text":1}', "text that is a number, not a string"),
        (b'{"action":"pass"}', "action that is a string, not an object"),
        (b'{"resign":"yes"}', "resign that is a string, not true"),
        (b'{"index":0,"note":{}}', "note that is an object, not a string"),
        (b'{"index":0,"match_id":4}', "match_id that is a number"),
        (b'{"index":0,"decision_id":"4"}', "decision_id that is a string"),
        (b'{"action":%s0%s}' % (b'{"a":' * 5000, b"}" * 5000), "nested too deep"),
    ],
    ids=lambda value: steady(value)[:60],
)
def test_what_is_no_answer_is_told_in_one_line(line: bytes, why: str) -> None:
    with pytest.raises(DecisionError) as caught:
        read_reply(line)
    message = caught.value.message
    assert why in message
    assert message.startswith("the answer ")
    assert message.isprintable()
    assert len(message) < 400


@pytest.mark.parametrize(
    ("numbers", "why"),
    [
        ("[1,0,0.5]", "they sum to 1.5, not 1"),
        ("[0.5,0.498]", "they sum to 0.998, not 1"),
        ("[0,0]", "they sum to 0, not 1"),
        ("[1.5,-0.5]", "one is below 0 or above 1"),
        ("[1e999]", "one is below 0 or above 1"),
        (f"[1{'0' * 400}]", "one is below 0 or above 1"),
        (f"[-1{'0' * 400}]", "one is below 0 or above 1"),
    ],
    ids=lambda value: value[:20],
)
def test_numbers_that_are_no_probabilities_are_remarked_upon(
    numbers: str, why: str
) -> None:
    reply = read_reply(f'{{"index":3,"probabilities":{numbers}}}'.encode())
    assert isinstance(reply.answer, Decision)
    assert reply.answer.choice == 3
    assert reply.remark == f"no record will have the probabilities: {why}"


@pytest.mark.parametrize(
    "numbers",
    [
        [0.5, 0.5],
        [0.5, 0.4991],
        [0.5, 0.4989],
        [0.5, 0.5009],
        [0.5, 0.5011],
        [-0.1, 1.1],
    ],
    ids=steady,
)
def test_what_is_remarked_upon_is_what_a_referee_leaves_out(numbers) -> None:
    line = json.dumps({"index": 0, "probabilities": numbers})
    kept = remarks_of(Answer(index=0, probabilities=numbers), len(numbers))
    assert ("probabilities" in kept) == (not read_reply(line.encode()).remark)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)
_FIELDS = st.sampled_from(
    ["index", "text", "action", "resign", "note", "probabilities", "decision_id"]
)


@given(
    st.binary().map(lambda tail: b"{" + tail)
    | st.dictionaries(_FIELDS, _JSON).map(lambda found: json.dumps(found).encode())
)
def test_no_line_does_more_harm_than_to_be_refused(line: bytes) -> None:
    try:
        said = repr(read_reply(line).answer)
    except DecisionError as error:
        said = error.message
        fit = said.isprintable() and len(said) < 600
    else:
        fit = bool(said)
    assert fit, line
