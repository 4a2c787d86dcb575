"""The byte vectors of the wire: their files are as made, and Python reads them alike.

With FRITILLARY_REWRITE_GOLDEN=1 the files are written anew.
"""

from __future__ import annotations

import json
import os
from typing import Any

import pytest
from google.protobuf.json_format import MessageToDict, ParseDict
from google.protobuf.message import DecodeError
from tests.golden.wire import make

from fritillary.api.v1 import bot_pb2, catalog_pb2
from fritillary.codec.packing import from_json, pack, to_json, unpack
from fritillary.core.commitment import bot_seed, commitment
from fritillary.core.errors import CodecError
from fritillary_client.encoding import JSON, MSGPACK
from fritillary_client.errors import ProtocolError

ENCODINGS = {"msgpack": MSGPACK, "json": JSON}
MADE = make.files()
PAYLOADS = json.loads(MADE["payloads.json"])
FRAMES = json.loads(MADE["frames.json"])
DEALS = json.loads(MADE["deals.json"])


def _named(cases: list[dict[str, Any]]) -> Any:
    return pytest.mark.parametrize("case", cases, ids=[each["name"] for each in cases])


def _type(name: str) -> Any:
    return getattr(bot_pb2, name, None) or getattr(catalog_pb2, name)


@pytest.mark.parametrize("name", sorted(MADE))
def test_a_file_is_as_it_is_made(name):
    path = make.FOLDER / name
    if os.environ.get("FRITILLARY_REWRITE_GOLDEN"):
        path.write_text(MADE[name], encoding="utf-8")
    assert path.read_text(encoding="utf-8") == MADE[name]


@pytest.mark.parametrize("encoding", ENCODINGS)
@_named(PAYLOADS["values"])
def test_the_client_decodes_and_encodes_a_payload_alike(case, encoding):
    coder = ENCODINGS[encoding]
    raw = bytes.fromhex(case[encoding])
    value = coder.decode(raw, "a payload")
    assert _typed(value) == _typed(case["value"])
    again = coder.encode(value)
    if encoding in case["exact"]:
        assert again == raw
    assert _typed(coder.decode(again, "a payload")) == _typed(value)


@_named(PAYLOADS["values"])
def test_the_server_decodes_and_encodes_a_payload_alike(case):
    assert _typed(unpack(bytes.fromhex(case["msgpack"]))) == _typed(case["value"])
    assert _typed(from_json(bytes.fromhex(case["json"]))) == _typed(case["value"])
    if case["exact"]:
        assert pack(case["value"]).hex() == case["msgpack"]
        assert to_json(case["value"]).encode().hex() == case["json"]


def test_few_payloads_are_compared_by_value_alone():
    exact = [case["exact"] for case in PAYLOADS["values"]]
    assert exact.count(["msgpack", "json"]) > 40
    assert exact.count([]) < 5


@_named(PAYLOADS["binary"])
def test_the_client_decodes_and_encodes_bytes_alike(case):
    raw = bytes.fromhex(case["msgpack"])
    value = MSGPACK.decode(raw, "a payload")
    assert value == bytes.fromhex(case["bytes"])
    assert MSGPACK.encode(value) == raw


@pytest.mark.parametrize(
    ("encoding", "name"),
    [
        (encoding, name)
        for encoding in ENCODINGS
        for name in PAYLOADS["broken"][encoding]
    ],
)
def test_a_broken_payload_is_refused(encoding, name):
    raw = bytes.fromhex(PAYLOADS["broken"][encoding][name])
    with pytest.raises(ProtocolError) as refused:
        ENCODINGS[encoding].decode(raw, "a payload")
    assert refused.value.code == f"codec.{encoding}"
    with pytest.raises(CodecError):
        {"msgpack": unpack, "json": from_json}[encoding](raw)


@_named(FRAMES["frames"])
def test_a_frame_is_decoded_and_encoded_alike(case):
    kind = _type(case["type"])
    raw = bytes.fromhex(case["hex"])
    frame = kind.FromString(raw)
    assert MessageToDict(frame) == case["value"]
    assert ParseDict(case["value"], kind()).SerializeToString().hex() == case[
        "hex"
    ] or (not case["exact"])
    again = frame.SerializeToString()
    assert again == raw or not case["exact"]
    assert MessageToDict(kind.FromString(again)) == case["value"]


@pytest.mark.parametrize("kind", ["ConnectRequest", "ConnectResponse"])
def test_the_frames_hold_every_message_of_a_direction(kind):
    message = {"ConnectRequest": "BotMessage", "ConnectResponse": "ServerMessage"}[kind]
    known = {field.json_name for field in _type(message).DESCRIPTOR.oneofs[0].fields}
    held = {
        name
        for case in FRAMES["frames"]
        if case["type"] == kind
        for each in case["value"].get("messages", ())
        for name in each
    }
    assert held - {"messageId"} == known


@pytest.mark.parametrize("name", FRAMES["broken"])
def test_a_broken_frame_is_refused(name):
    with pytest.raises(DecodeError):
        bot_pb2.ConnectResponse.FromString(bytes.fromhex(FRAMES["broken"][name]))


@_named([case for case in DEALS["deals"] if case["deal"] == "verified"])
def test_a_deal_that_is_verified_opens_its_commitment(case):
    seed, salt, options = (
        bytes.fromhex(case[key]) for key in ("seed", "salt", "options_msgpack")
    )
    opened = commitment(case["match_id"], options, seed, salt)
    assert opened.hex() == case["commitment"]
    assert bot_seed(seed, case["seat"]) == case["bot_seed"]
    assert MSGPACK.encode(json.loads(bytes.fromhex(case["options_json"]))) == options


def _typed(value: Any) -> Any:
    """Return a value in which equal parts of different types differ."""
    if isinstance(value, list):
        return [_typed(each) for each in value]
    if isinstance(value, dict):
        return {key: _typed(each) for key, each in value.items()}
    return type(value).__name__, value
