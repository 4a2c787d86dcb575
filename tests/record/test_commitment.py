"""Commit and reveal, and the section of docs/dealing.md about it."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.test_dealing_page import Independent

from fritillary.core.commitment import bot_seed, commitment, mix_nonces

PAGE = Path(__file__).parents[2] / "docs" / "dealing.md"
SECTION = PAGE.read_text("utf-8").partition("## Commit and reveal")[2]

SEEDS = st.binary(min_size=32, max_size=32)
IDS = st.from_regex(r"[A-Za-z0-9._-]{1,64}", fullmatch=True)


# The page in code, and nothing but the page.


def field(part: bytes) -> bytes:
    return len(part).to_bytes(4, "big") + part


def committed(match_id: str, options: bytes, seed: bytes, salt: bytes) -> bytes:
    parts = [b"fritillary-deal-1", match_id.encode("ascii")]
    parts += [hashlib.sha256(options).digest(), seed, salt]
    return hashlib.sha256(b"".join(map(field, parts))).digest()


def mixed(seed: bytes, nonces: list[bytes]) -> bytes:
    if not any(nonces):
        return seed
    return Independent(seed).stream("nonces", *(n.hex() for n in nonces)).seed


def seed_of_bot(seed: bytes, seat: int) -> int:
    return int.from_bytes(Independent(seed).stream("bot", seat).seed[:8], "big") >> 11


@given(IDS, st.binary(max_size=50), SEEDS, SEEDS)
def test_a_commitment_is_what_the_page_says(match_id, options, seed, salt):
    ours = commitment(match_id, options, seed, salt)
    assert ours == committed(match_id, options, seed, salt)


@given(SEEDS, st.lists(st.binary(max_size=32), max_size=4))
def test_nonces_are_mixed_as_the_page_says(seed, nonces):
    assert mix_nonces(seed, nonces) == mixed(seed, nonces)


@given(SEEDS, st.integers(0, 9))
def test_a_bot_seed_is_what_the_page_says(seed, seat):
    assert bot_seed(seed, seat) == seed_of_bot(seed, seat) < 2**53


def test_the_vectors_of_the_page_hold():
    rows = dict(re.findall(r"^\| ([^|]+) \| `([^`]+)` \|$", SECTION, re.MULTILINE))
    seed, salt = (bytes.fromhex(rows.pop(name)) for name in ("seed", "salt"))
    options = bytes.fromhex(rows.pop("options"))
    assert rows == {
        "commitment of match `m-test`": commitment("m-test", options, seed, salt).hex(),
        'seed of the deal with the nonces "", `01`, `0202`': mix_nonces(
            seed, [b"", b"\x01", b"\x02\x02"]
        ).hex(),
        'seed of the deal with the nonces "", ""': mix_nonces(seed, [b"", b""]).hex(),
        "bot seed of seat 0": str(bot_seed(seed, 0)),
        "bot seed of seat 1": str(bot_seed(seed, 1)),
    }


@given(st.tuples(IDS, st.binary(max_size=9), SEEDS, SEEDS), st.data())
def test_every_part_of_a_commitment_counts(parts, data):
    which = data.draw(st.integers(0, 3))
    other = data.draw(
        [IDS, st.binary(max_size=9), SEEDS, SEEDS][which].filter(
            lambda value: value != parts[which]
        )
    )
    altered = [*parts]
    altered[which] = other
    assert commitment(*parts) != commitment(*altered)


def test_seed_and_salt_have_32_bytes():
    for seed, salt in ((b"", bytes(32)), (bytes(32), bytes(31))):
        with pytest.raises(ValueError, match="seed and salt are 32 and 32 bytes"):
            commitment("m", b"", seed, salt)


@given(SEEDS, st.lists(st.binary(max_size=3), min_size=2, max_size=3))
def test_every_nonce_counts_and_so_does_its_seat(seed, nonces):
    assert mix_nonces(seed, [*nonces, b"x"]) != mix_nonces(seed, [*nonces, b"y"])
    if nonces[0] != nonces[-1]:
        assert mix_nonces(seed, nonces) != mix_nonces(seed, nonces[::-1])
    assert (mix_nonces(seed, nonces) == seed) is not any(nonces)
