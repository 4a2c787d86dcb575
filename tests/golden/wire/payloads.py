"""Vectors of payloads: options, observations, actions in both encodings."""

from __future__ import annotations

import json
from typing import Any

import msgpack


def _values() -> dict[str, Any]:
    edges = (
        *(0, 1, 127, 128, 255, 256, 65535, 65536),
        *(2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**53 - 1),
        *(-1, -32, -33, -128, -129, -32768, -32769),
        *(-(2**31), -(2**31) - 1, -(2**53) + 1),
    )
    deep: Any = []
    for _ in range(60):
        deep = [deep]
    return {
        "null": None,
        "true": True,
        "false": False,
        **{f"integer {number}": number for number in edges},
        "text empty": "",
        "text": "pass",
        "text of 31 bytes": "a" * 31,
        "text of 32 bytes": "a" * 32,
        "text of 256 bytes": "a" * 256,
        "text of many scripts": "Rädchen, 蝶, бабочка, فراشة, 🦋, e\u0301",
        "text with signs that JSON escapes": 'a"b\\c/d\b\f\n\r\t\x00\x1f\x7f',
        "text with signs of HTML": "<b>&amp;</b> 'x'",
        "text of lines": "a\u2028b\u2029c\u0085d\ufeffe",
        "list empty": [],
        "list": [1, "two", None, True, [3, [-4]]],
        "list of 15": list(range(15)),
        "list of 16": list(range(16)),
        "map empty": {},
        "map": {"a": 1, "b": {"c": [], "d": {}}, "e": None},
        "map of 16": {f"k{number:02d}": number for number in range(16)},
        "map with odd keys": {"": 0, " ": 1, "__proto__": 2, "constructor": 3, "é": 4},
        "deep": deep,
        "an action": {"combo": "run3", "joker": 0, "rank": 12, "type": "play"},
        "an observation": {
            "columns": [[0, 1], [], [1, 1, 0]],
            "hand": [0, 2, 0, 1],
            "markers": [None, "pair"],
            "score": -17,
        },
    }


def payloads() -> dict[str, Any]:
    """Return the vectors of payloads: options, observations, actions."""
    cases = [
        {
            "name": name,
            "value": value,
            "msgpack": msgpack.packb(value).hex(),
            "json": json_bytes(value).hex(),
            # Some languages' JSON escapes line separators, which is as good.
            "exact": ["msgpack"] if "\u2028" in str(value) else ["msgpack", "json"],
        }
        for name, value in _values().items()
    ]
    unsorted = {"order": [1], "heights": 2, "b": {"z": 1, "y": 2}, "a": 0}
    lax = {
        "map whose keys are not sorted": (unsorted, msgpack.packb(unsorted), b""),
        "integers longer than need be": (
            [1, 1, 1, 1, -1, -1, -1],
            bytes.fromhex("97")
            + bytes.fromhex("cc01 cd0001 ce00000001 d30000000000000001")
            + bytes.fromhex("d0ff d1ffff d3ffffffffffffffff"),
            b" [ 1,\n1 , 1,1,-1,\t-1,-1 ] ",
        ),
        "text and containers longer than need be": (
            {"a": ["b"]},
            bytes.fromhex("de0001 d90161 dd00000001 db0000000162"),
            b'{"\\u0061":["\\u0062"]}',
        ),
        "text escaped as a pair": ("🦋", msgpack.packb("🦋"), rb'"\ud83e\udd8b"'),
    }
    cases.extend(
        {
            "name": name,
            "value": value,
            "msgpack": packed.hex(),
            "json": (text or json_bytes(value)).hex(),
            "exact": [],
        }
        for name, (value, packed, text) in lax.items()
    )
    binary = [
        {
            "name": f"{size} bytes",
            "bytes": raw.hex(),
            "msgpack": msgpack.packb(raw).hex(),
        }
        for size, raw in ((size, bytes(range(size))) for size in (0, 1, 32, 256))
    ]
    broken = {
        "msgpack": {
            "nothing": "",
            "a list cut off": "9201",
            "a text cut off": "a36162",
            "a number cut off": "cd01",
            "a map cut off": "81a161",
            "a length without its list": "dd7fffffff",
            "more than one value": "0102",
            "a byte that is never used": "c1",
            "text that is not UTF-8": "a2c328",
        },
        "json": {
            name: text.hex()
            for name, text in {
                "nothing": b"",
                "a list cut off": b"[1,",
                "a text cut off": b'"ab',
                "a word cut off": b"nul",
                "more than one value": b"1 2",
                "a comma too many": b"[1,]",
                "a key that is no text": b"{1:2}",
                "text that is not UTF-8": b'"\xc3("',
            }.items()
        },
    }
    return {
        "about": [
            "Payloads in both encodings, in hex. Decoding gives `value`.",
            "Encoding that value again gives the same bytes in the encodings that",
            "`exact` names (keys of maps are sorted in these); in the others, bytes",
            "that decode to the same value. `binary`: MessagePack alone has it; games",
            "send none. `broken` bytes are refused with an error, in good time.",
        ],
        "values": cases,
        "binary": binary,
        "broken": broken,
    }


def json_bytes(value: Any) -> bytes:
    """Return the JSON text of a value as the server writes it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
