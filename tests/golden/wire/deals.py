"""Vectors of deals, made from the words of docs/dealing.md alone."""

from __future__ import annotations

import hashlib
import hmac
from typing import Any, Final

import msgpack
from tests.golden.wire.payloads import json_bytes

_ALGORITHM: Final = "fritillary-deal-1"
_SEED: Final = bytes(range(32))
_SALT: Final = bytes(range(100, 132))


def _field(raw: bytes) -> bytes:
    return len(raw).to_bytes(4, "big") + raw


def _commitment(match_id: str, options: bytes, seed: bytes, salt: bytes) -> bytes:
    parts = (
        _ALGORITHM.encode(),
        match_id.encode(),
        hashlib.sha256(options).digest(),
        seed,
        salt,
    )
    return hashlib.sha256(b"".join(map(_field, parts))).digest()


def _bot_seed(seed: bytes, seat: int) -> int:
    label = str(seat).encode()
    name = b"streams" + _field(b"bot") + b"i" + _field(label)
    stream = hmac.new(seed, name, hashlib.sha256).digest()
    return int.from_bytes(stream[:8], "big") >> 11


def deals() -> dict[str, Any]:
    """Return matches whose deals were revealed, and what is to be made of them."""
    options = {"order": ["run3", "pair"], "heights": [4, 7], "a": {"z": 1, "b": "é"}}
    whole: dict[str, Any] = {
        "match_id": "m-test",
        "seat": 1,
        "options_msgpack": msgpack.packb(options).hex(),
        "options_json": json_bytes(options).hex(),
        "algorithm": _ALGORITHM,
        "commitment": _commitment("m-test", msgpack.packb(options), _SEED, _SALT).hex(),
        "bot_seed": _bot_seed(_SEED, 1),
        "nonce_wanted": True,
        "sent": "0202",
        "seed": _SEED.hex(),
        "salt": _SALT.hex(),
        "nonces": ["01", "0202"],
    }
    plain = {
        **whole,
        "options_msgpack": "80",
        "options_json": b"{}".hex(),
        "commitment": _commitment("m-test", b"\x80", _SEED, _SALT).hex(),
    }
    other = bytes([1, *_SEED[1:]])
    cases = {
        "all as it should be": (whole, "verified"),
        "options without fields": (plain, "verified"),
        "no nonces were wanted": (
            {**whole, "nonce_wanted": False, "sent": "", "nonces": []},
            "verified",
        ),
        "none was sent": ({**whole, "sent": "", "nonces": ["01", ""]}, "verified"),
        "no reveal": (
            {**whole, "seed": None, "salt": None, "nonces": None},
            "not-revealed",
        ),
        "no commitment": (
            {**whole, "algorithm": None, "commitment": None},
            "not-revealed",
        ),
        "neither": (
            {
                **whole,
                **dict.fromkeys(("algorithm", "commitment", "seed", "salt", "nonces")),
            },
            "not-revealed",
        ),
        "taken up again by a program that does not know what it sent": (
            {**whole, "sent": None},
            "verified",
        ),
        "another seed": ({**whole, "seed": other.hex()}, "broken"),
        "another salt": ({**whole, "salt": other.hex()}, "broken"),
        "another match": ({**whole, "match_id": "m-other"}, "broken"),
        "other options": (
            {
                **whole,
                "options_msgpack": plain["options_msgpack"],
                "options_json": plain["options_json"],
            },
            "broken",
        ),
        "another algorithm": ({**whole, "algorithm": "fritillary-deal-2"}, "broken"),
        "a seed that is too short": ({**whole, "seed": _SEED[:31].hex()}, "broken"),
        "another bot seed": ({**whole, "bot_seed": whole["bot_seed"] + 1}, "broken"),
        "my nonce was left out": ({**whole, "nonces": ["01", ""]}, "broken"),
        "my nonce was changed": ({**whole, "nonces": ["01", "0203"]}, "broken"),
        "all nonces were left out": ({**whole, "nonces": []}, "broken"),
        "a nonce that I never sent": ({**whole, "sent": ""}, "broken"),
    }
    return {
        "about": [
            "What a bot knows of its deal: the offer, the nonce that it sent (null:",
            "not known), and the reveal (null: absent). `deal` is the verdict:",
            "verified, not-revealed or broken. The commitment is over the MessagePack",
            "of the options as the server writes it, with the keys in the order in",
            "which they are sent, also where the session speaks JSON. Bytes are in",
            "hex.",
        ],
        "deals": [
            {"name": name, **case, "deal": verdict}
            for name, (case, verdict) in cases.items()
        ],
    }
