"""Plain data and their bytes: msgpack and JSON, whoever wrote them."""

from __future__ import annotations

import json
import struct
from typing import Any

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fritillary.codec.packing import (
    MAX_BYTES,
    MAX_DEPTH,
    check_plain,
    from_json,
    pack,
    to_json,
    unpack,
)
from fritillary.core.errors import CodecError
from fritillary.core.limits import MAX_INT

texts = st.text(st.characters(exclude_categories=["Cs"]))
plain = st.recursive(
    st.none() | st.booleans() | st.integers(-MAX_INT, MAX_INT) | texts,
    lambda inner: st.lists(inner) | st.dictionaries(texts, inner),
)
anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats()
    | st.binary()
    | texts,
    lambda inner: st.lists(inner) | st.dictionaries(texts | st.binary(), inner),
    max_leaves=8,
)


def is_plain(data: Any) -> bool:
    """Say the same as `check_plain`, more simply."""
    if data is None or type(data) in {bool, str}:
        return True
    if type(data) is int:
        return abs(data) < 2**53
    if type(data) is list:
        return all(map(is_plain, data))
    return type(data) is dict and all(
        type(key) is str and is_plain(value) for key, value in data.items()
    )


@given(plain)
def test_plain_data_come_back(data: Any) -> None:
    check_plain(data)
    raw = pack(data)
    assert raw == msgpack.packb(data)
    assert unpack(raw) == data
    assert from_json(to_json(data)) == data
    assert from_json(to_json(data, indent=2).encode()) == data


@given(anything)
def test_everything_else_is_refused_both_ways(data: Any) -> None:
    raw = msgpack.packb(data)
    if is_plain(data):
        assert unpack(raw) == data
        assert pack(data) == raw
        return
    for call in (lambda: unpack(raw), lambda: pack(data), lambda: check_plain(data)):
        with pytest.raises(CodecError):
            call()


@given(plain)
def test_integers_in_longer_forms_are_read(data: Any) -> None:
    def widely(value: Any) -> bytes:
        if type(value) is int:
            return b"\xd3" + struct.pack(">q", value)
        if type(value) is list:
            return (
                b"\xdd" + struct.pack(">I", len(value)) + b"".join(map(widely, value))
            )
        return msgpack.packb(value)

    assert unpack(widely(data)) == data


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"", "not msgpack"),
        (b"\xc1", "not msgpack"),
        (b"\x01\x02", "not msgpack: unpack.* received extra data"),
        (b"\x92\x01", "not msgpack"),
        (b"\xa2\xff\xff", "not msgpack"),
        (b"\xa3\xed\xa0\x80", "not msgpack"),
        (b"\x81\x01\x02", "not msgpack: int is not allowed for map key"),
        (b"\x81\xc0\x02", "not msgpack"),
        (b"\x81\xc4\x01a\x02", "map keys are strings, not bytes"),
        (b"\x81\x91\x01\x02", "not msgpack"),
        (b"\x82\xa1a\x01\xa1a\x01", "a map repeats a key"),
        (b"\xcb" + struct.pack(">d", 1.0), "float is not allowed"),
        (b"\x91\xca" + struct.pack(">f", 2.0), r"\$\[0\]: float is not allowed"),
        (b"\xcb\x7f\xf8\0\0\0\0\0\0", "float is not allowed"),
        (b"\xcf" + struct.pack(">Q", 2**53), "53 bits"),
        (b"\xd3" + struct.pack(">q", -(2**53)), "53 bits"),
        (b"\xc4\x01x", "bytes is not allowed"),
        (b"\xd4\x05x", "ExtType is not allowed"),
        (b"\xd6\xff\x00\x00\x00\x00", "Timestamp is not allowed"),
        (b"\xdd\xff\xff\xff\xff", "not msgpack"),
        (b"\xdf\xff\xff\xff\xff", "not msgpack"),
        (b"\xdb\xff\xff\xff\xff", "not msgpack"),
        (b"\x91" * 10_000 + b"\x01", "not msgpack"),
    ],
    ids=lambda value: value[:12].hex() if isinstance(value, bytes) else "",
)
def test_bytes_that_are_not_plain_msgpack_are_refused(raw: bytes, message: str) -> None:
    with pytest.raises(CodecError, match=message):
        unpack(raw)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not JSON"),
        ("{", "not JSON"),
        ("[1,]", "not JSON"),
        ("1 2", "not JSON"),
        ("'a'", "not JSON"),
        ("1.0", "1.0: numbers are integers"),
        ("1e2", "1e2: numbers are integers"),
        ("NaN", "NaN: numbers are integers"),
        ("-Infinity", "-Infinity: numbers are integers"),
        (str(2**53), "53 bits"),
        ("9" * 5000, "not JSON"),
        ('{"a":1,"a":2}', "a map repeats a key"),
        ('["\\ud800"]', r"\$\[0\]: text with a lone surrogate"),
        ('{"\\ud800":1}', "text with a lone surrogate"),
        ("\ufeff1", "not JSON"),
        (b"\xff", "not JSON"),
        ("1".encode("utf-16"), "not JSON"),
        ("[" * 100_000, "not JSON"),
    ],
    ids=lambda value: repr(value[:12]),
)
def test_text_that_is_not_plain_json_is_refused(
    text: str | bytes, message: str
) -> None:
    with pytest.raises(CodecError, match=message):
        from_json(text)


def nested(depth: int, kind: type) -> Any:
    data: Any = 1
    for _ in range(depth):
        data = [data] if kind is list else {"a": data}
    return data


@pytest.mark.parametrize("kind", [list, dict])
def test_nesting_has_a_limit_that_is_the_same_everywhere(kind: type) -> None:
    deep, deeper = nested(MAX_DEPTH, kind), nested(MAX_DEPTH + 1, kind)
    assert unpack(pack(deep)) == deep
    assert from_json(to_json(deep)) == deep
    for call in (
        lambda: pack(deeper),
        lambda: unpack(msgpack.packb(deeper)),
        lambda: from_json(json.dumps(deeper)),
    ):
        with pytest.raises(CodecError, match="nested deeper than 64"):
            call()
    with pytest.raises(CodecError, match="nested deeper"):
        pack(nested(900, kind))


def test_many_lists_beside_each_other_are_not_deep() -> None:
    wide = [[number] for number in range(1000)]
    assert unpack(pack(wide)) == wide


def test_huge_values_are_not_looked_at() -> None:
    with pytest.raises(CodecError, match="more than the") as caught:
        unpack(bytes(MAX_BYTES + 1))
    assert caught.value.code == "codec.too-large"
    with pytest.raises(CodecError, match="more than the"):
        from_json(" " * MAX_BYTES + "1")


def test_what_cannot_be_packed_at_all_is_refused() -> None:
    loop: list[Any] = []
    loop.append(loop)
    for data in (loop, object(), ({},), [complex(1)]):
        with pytest.raises(CodecError):
            pack(data)
