"""Garbage raises `CodecError`, and nothing else."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable
from typing import Any

import msgpack
from hypothesis import given
from hypothesis import strategies as st
from tests.codec import zoo
from tests.codec.test_packing import anything
from tests.codec.zoo import CODEC

from fritillary.codec.packing import from_json, unpack
from fritillary.core.errors import CodecError, InvalidOptionsError

STATE = zoo.some_state()
RAW = CODEC.encode_state(STATE)
OPTIONS = STATE.options


def path_of_error(call: Callable[[], Any]) -> str:
    """Return where the error is, or nothing if there is none."""
    try:
        call()
    except CodecError as error:
        return error.path if error.reason else "no reason"
    return ""


def try_everything(raw: bytes) -> None:
    """Decode bytes as everything; what decodes must encode to what decodes alike."""
    path = path_of_error(lambda: CODEC.decode_state(raw, OPTIONS))
    assert not path or path.startswith("$")
    if not path:
        state = CODEC.decode_state(raw, OPTIONS)
        assert CODEC.decode_state(CODEC.encode_state(state), OPTIONS) == state
    with contextlib.suppress(CodecError, InvalidOptionsError):
        CODEC.decode_options(raw)
    for read in (unpack, from_json):
        with contextlib.suppress(CodecError):
            read(raw)


@given(st.binary(max_size=60))
def test_random_bytes(raw: bytes) -> None:
    try_everything(raw)


@given(anything)
def test_msgpack_of_anything(data: Any) -> None:
    try_everything(msgpack.packb(data))


@given(st.data())
def test_bytes_of_a_state_with_a_few_changes(data: st.DataObject) -> None:
    raw = bytearray(RAW)
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(raw) - 1))
        match data.draw(st.integers(0, 3)):
            case 0:
                raw[at] = data.draw(st.integers(0, 255))
            case 1:
                del raw[at:]
            case 2:
                raw[at:at] = data.draw(st.binary(max_size=4))
            case _:
                del raw[at : at + data.draw(st.integers(1, 4))]
        if not raw:
            break
    try_everything(bytes(raw))


def test_every_single_byte_of_a_state_changed_to_many_others() -> None:
    rng = random.Random(1)
    for at in range(len(RAW)):
        for value in {*range(0xC0, 0xE0, 3), *rng.sample(range(256), 4), 0x80, 0x90}:
            try_everything(RAW[:at] + bytes([value]) + RAW[at + 1 :])


@given(zoo.states, st.data())
def test_data_of_a_state_with_a_part_replaced(
    state: zoo.State, data: st.DataObject
) -> None:
    plain = CODEC.observation_to_data(state)
    name = data.draw(st.sampled_from(sorted(plain)))
    plain[name] = data.draw(anything)
    path = path_of_error(lambda: CODEC.observation_from_data(plain, state.options))
    assert path in {"", "$"} or path.startswith(f"$.{name}")
