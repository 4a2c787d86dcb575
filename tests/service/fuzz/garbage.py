"""Hostile values, drawn from a seeded generator: bytes, numbers, texts, nestings."""

from __future__ import annotations

import json
import random
from typing import Any, Final

import msgpack

#: Numbers at the borders of what somebody may have reckoned with.
EDGES: Final = (
    *(0, 1, 2, 3, 63, 64, 127, 128, 255, 256, 1023, 65_535, 65_536),
    *(2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**53 - 1, 2**53, 2**63 - 1, 2**64 - 1),
)

_TEXTS: Final = (
    *("", " ", "\x00", "\x1b[2J\x1b]0;x\x07", "../../etc/passwd", "%s%n%x", "{0}"),
    *("\u202e", "\ufeff", "\u0000" * 40, "ﷺ" * 50, "a" * 65, "-", ".", "..", "None"),
    *("\U0001f98b" * 30, "e\u0301" * 100, "'; --", "<svg onload=x>", "\r\nX: y", "NaN"),
)


def number(rng: random.Random, bits: int = 64) -> int:
    """Return an unsigned number of some bits, most often one at a border."""
    if rng.random() < 0.7:
        return rng.choice(EDGES) & (1 << bits) - 1
    return rng.getrandbits(rng.randint(1, bits))


def text(rng: random.Random) -> str:
    """Return a text that may be meant badly."""
    choice = rng.random()
    if choice < 0.5:
        return rng.choice(_TEXTS)
    if choice < 0.6:
        return rng.choice(_TEXTS) * rng.randint(1, 200)
    # Surrogates are no characters: protobuf takes none.
    points = (rng.randrange(0xD7FF) for _ in range(rng.randint(1, 40)))
    return "".join(map(chr, points))


def blob(rng: random.Random, most: int = 200) -> bytes:
    """Return random bytes."""
    return rng.randbytes(rng.randint(0, most))


def flipped(rng: random.Random, raw: bytes) -> bytes:
    """Return bytes of which one to four bits are wrong."""
    out = bytearray(raw)
    for _ in range(rng.randint(1, 4) if out else 0):
        out[rng.randrange(len(out))] ^= 1 << rng.randrange(8)
    return bytes(out)


def cut(rng: random.Random, raw: bytes) -> bytes:
    """Return the beginning of some bytes."""
    return raw[: rng.randrange(len(raw))] if raw else raw


def spliced(rng: random.Random, raw: bytes) -> bytes:
    """Return bytes with a part of them left out, doubled or replaced."""
    start = rng.randint(0, len(raw))
    end = rng.randint(start, min(len(raw), start + 20))
    part = rng.choice((b"", raw[start:end] * 2, blob(rng, 20)))
    return raw[:start] + part + raw[end:]


def nested_msgpack(rng: random.Random, deep: int) -> bytes:
    """Return lists or maps in each other, as deep as is said, closed or not."""
    opening = rng.choice((b"\x91", b"\x81\xa1a", b"\xdc\x00\x01", b"\x81\xa4type"))
    return opening * deep + rng.choice((b"", b"\xc0", b"\x01"))


def nested_json(rng: random.Random, deep: int) -> bytes:
    """Return lists or maps in each other, as deep as is said, closed or not."""
    opening, closing = rng.choice((("[", "]"), ('{"a":', "}"), ('{"type":', "}")))
    return (opening * deep + "1" + closing * (deep * rng.randint(0, 1))).encode()


#: Bytes that claim what does not follow, or what nobody needs.
_MSGPACK: Final = (
    *(b"", b"\xc1", b"\xdd\xff\xff\xff\xff", b"\xdf\xff\xff\xff\xff", b"\xdb\xff\xff"),
    *(b"\xdb\xff\xff\xff\xff", b"\xc6\xff\xff\xff\xff", b"\xc9\xff\xff\xff\xff\x01"),
    *(b"\xcb\x7f\xf8\x00\x00\x00\x00\x00\x00", b"\xcb\x7f\xf0\x00\x00\x00\x00\x00\x00"),
    *(b"\xcf" + b"\xff" * 8, b"\xd3\x80" + b"\x00" * 7, b"\xa2\xff\xfe", b"\xa1\xed"),
    *(b"\x82\xa1a\x01\xa1a\x02", b"\x81\x01\x02", b"\x81\xc0\xc0", b"\x81\x91\x01\x02"),
    *(b"\xd6\xff\x00\x00\x00\x00", b"\xc7\x0c\xff" + b"\xff" * 12, b"\xc0\xc0"),
    *(b"\x81\xa4type\xc0", b"\x81\xa4type\xa4pass", b"\x80", b"\x90", b"\xc4\x01a"),
    *(b"\xa3\xed\xa0\x80", b"\x81\xa4type\xda\xff\xff", b"\xdc\xff\xff" + b"\x90" * 99),
)

_JSON: Final = (
    *(b"", b"nul", b"NaN", b"Infinity", b"-Infinity", b"1e999", b"1.0", b'"\\ud800"'),
    *(b"9" * 5_000, b"-" + b"9" * 400, b"9007199254740993", b"[1,]", b"{}{}", b"\xff"),
    *(b'{"a":1,"a":2}', b'{"type":"pass","type":"pass"}', b"\xef\xbb\xbf{}", b"\x00"),
    *(b'"\\u0000"', b"'a'", b"[" * 3, b'{"a"', b'{"type":null}', b'{"type":{}}'),
    *(b'"\xed\xa0\x80"', b"\xfe\xff\x00{", b"true", b"/**/1", b"0x10", b"01", b"-0"),
)


def action(rng: random.Random, *, as_json: bool) -> bytes:
    """Return what claims to be an action in an encoding."""
    choice = rng.random()
    if choice < 0.4:
        return rng.choice(_JSON if as_json else _MSGPACK)
    if choice < 0.55:
        deep = rng.choice((60, 64, 65, 66, 500, 1_025, 5_000, 40_000))
        return (nested_json if as_json else nested_msgpack)(rng, deep)
    if choice < 0.65:
        return blob(rng)
    value = plain(rng, 3)
    raw = (
        json.dumps(value, allow_nan=True).encode("utf-8", "surrogatepass")
        if as_json
        else msgpack.packb(value, unicode_errors="surrogatepass")
    )
    return flipped(rng, raw) if rng.random() < 0.3 else raw


def long_list(count: int, *, as_json: bool) -> bytes:
    """Return options that are one list of so many numbers."""
    if as_json:
        return b'{"heights":[' + b",".join([b"6"] * count) + b"]}"
    head = b"\x81\xa7heights\xdd" + count.to_bytes(4, "big")
    return head + b"\x06" * count


def plain(rng: random.Random, depth: int) -> Any:
    """Return data of any kind that both encodings can write."""
    choice = rng.randrange(9 if depth else 6)
    if choice == 0:
        return rng.choice((None, True, False, float("nan"), 1e300, -0.0, 0.5))
    if choice == 1:
        return number(rng) if rng.random() < 0.5 else -number(rng, 63)
    if choice in {2, 3}:
        return text(rng)
    if choice == 4:
        return rng.choice(("pair", "take", "pass", "roll", "hold", "die", "place"))
    if choice == 5:
        return rng.choice(([], {}, [[]], [None] * 40, {"": {}}))
    if choice == 6:
        return [plain(rng, depth - 1) for _ in range(rng.randint(0, 5))]
    names = (
        "type",
        "index",
        "face",
        "card",
        "heap",
        "stones",
        "seat",
        "a",
        "",
        "x" * 99,
    )
    return {rng.choice(names): plain(rng, depth - 1) for _ in range(rng.randint(0, 5))}


def float_of(rng: random.Random) -> float:
    """Return what claims to be a probability."""
    edges = (float("nan"), float("inf"), float("-inf"), -1.0, 1e308, 5e-324, 1.0, 0.0)
    return rng.choice((*edges, rng.random(), -rng.random(), 0.5))
