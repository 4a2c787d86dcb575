"""docs/dealing.md: its vectors hold, and its words are enough to deal again."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fritillary.core import dealer as dealers
from fritillary.core.commitment import bot_seed, commitment, mix_nonces
from fritillary.core.dealer import SEALED_ALGORITHM, SealedDealer

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "dealing.md"
GOLDEN = ROOT / "tests" / "golden" / "dealing.json"

SEED = bytes(range(32))


# The page in code, and nothing but the page: no import from the framework.


def encode(label: str | int) -> bytes:
    if isinstance(label, str):
        body, kind = label.encode("utf-8"), b"s"
    else:
        body, kind = str(label).encode("ascii"), b"i"
    return kind + len(body).to_bytes(4, "big") + body


class Independent:
    def __init__(self, seed: bytes) -> None:
        self.seed, self.counter = seed, 0
        self.rest: list[int] = []

    def mac(self, message: bytes) -> bytes:
        return hmac.new(self.seed, message, hashlib.sha256).digest()

    def take(self, count: int) -> int:
        value = 0
        for _ in range(count):
            if not self.rest:
                self.rest = list(self.mac(b"block" + self.counter.to_bytes(8, "big")))
                self.counter += 1
            value = value * 256 + self.rest.pop(0)
        return value

    def below(self, n: int) -> int:
        bits = 0
        while 2**bits < n:
            bits += 1
        count = -(-bits // 8)
        while n > 1:
            value = self.take(count) // 2 ** (8 * count - bits)
            if value < n:
                return value
        return 0

    def shuffle(self, items: list[Any]) -> None:
        i = len(items) - 1
        while i >= 1:
            j = self.below(i + 1)
            items[i], items[j] = items[j], items[i]
            i -= 1

    def weighted(self, weights: list[int]) -> int:
        ball, index = self.below(sum(weights)), 0
        while ball >= weights[index]:
            ball -= weights[index]
            index += 1
        return index

    def stream(self, *labels: str | int) -> Independent:
        return Independent(self.mac(b"stream" + b"".join(map(encode, labels))))


def commit(match_id: str, options: bytes, seed: bytes, salt: bytes) -> bytes:
    message = b""
    for part in (
        b"fritillary-deal-1",
        match_id.encode("utf-8"),
        hashlib.sha256(options).digest(),
        seed,
        salt,
    ):
        message += len(part).to_bytes(4, "big") + part
    return hashlib.sha256(message).digest()


def mix(seed: bytes, nonces: list[bytes]) -> bytes:
    if all(nonce == b"" for nonce in nonces):
        return seed
    return Independent(seed).stream("nonces", *(n.hex() for n in nonces)).seed


def number_for(seed: bytes, seat: int) -> int:
    first = Independent(seed).stream("bot", seat).seed[:8]
    return int.from_bytes(first, "big") // 2**11


LABELS: list[list[str | int]] = [
    [],
    ["deck"],
    ["deck", 0],
    ["deck", 1],
    ["a", "b"],
    ["ab"],
    [1],
    ["1"],
    [-1],
    [0],
    [""],
    ["Rädchen"],
]

MATCH, ENCODED_OPTIONS, SALT = "match-1", b"\x80", bytes(range(32, 64))

NONCES: list[list[bytes]] = [[], [b"", b""], [b"\xab\xcd", b""], [b"", b"\xab\xcd"]]

BELOWS = [6, 6, 6, 2, 1, 256, 257, 1000, 65_536, 65_537, 52, 2**53, 10**20, 3, 3, 3]


def vectors() -> dict[str, Any]:
    """Compute the vectors of the page with the framework."""
    dealer = SealedDealer(SEED)
    deck = list(range(52))
    SealedDealer(SEED).stream("deck", 0).shuffle(deck)
    ten = list(range(10))
    SealedDealer(SEED).shuffle(ten)
    weigher = SealedDealer(SEED)
    blocks = SealedDealer(SEED)
    return {
        "algorithm": SEALED_ALGORITHM,
        "seed": SEED.hex(),
        "blocks": [blocks._block().hex() for _ in range(3)],
        "labels": [
            {
                "labels": labels,
                "bytes": b"".join(map(dealers._encode_label, labels)).hex(),
                "seed": SealedDealer(SEED).derive(*labels).hex(),
            }
            for labels in LABELS
        ],
        # Text, since these are larger than what JSON numbers carry everywhere.
        "below": [[str(n), str(dealer.below(n))] for n in BELOWS],
        "shuffle_10": ten,
        "stream_deck_0_shuffle_52": deck,
        "weighted_3_0_1_4": [weigher.weighted([3, 0, 1, 4]) for _ in range(16)],
        "commitment": {
            "match_id": MATCH,
            "options": ENCODED_OPTIONS.hex(),
            "salt": SALT.hex(),
            "hash": commitment(MATCH, ENCODED_OPTIONS, SEED, SALT).hex(),
        },
        "nonces": [
            {
                "nonces": [nonce.hex() for nonce in nonces],
                "seed": mix_nonces(SEED, nonces).hex(),
            }
            for nonces in NONCES
        ],
        "bot_seeds": [[seat, str(bot_seed(SEED, seat))] for seat in range(3)],
    }


def test_the_golden_file_holds_what_the_framework_deals() -> None:
    if os.environ.get("FRITILLARY_REWRITE_GOLDEN"):
        GOLDEN.write_text(_pretty(vectors()) + "\n", "utf-8")
    assert json.loads(GOLDEN.read_text("utf-8")) == vectors()


def _pretty(data: dict[str, Any]) -> str:
    """Write one vector a line."""

    def line(value: Any) -> str:
        return json.dumps(value, ensure_ascii=False)

    rows = []
    for key, value in data.items():
        if isinstance(value, list) and not isinstance(value[0], int):
            inner = ",\n".join(f"    {line(part)}" for part in value)
            rows.append(f"  {line(key)}: [\n{inner}\n  ]")
        else:
            rows.append(f"  {line(key)}: {line(value)}")
    return "{\n" + ",\n".join(rows) + "\n}"


def test_the_page_quotes_the_golden_file() -> None:
    page = PAGE.read_text("utf-8")
    golden = GOLDEN.read_text("utf-8").rstrip()
    if os.environ.get("FRITILLARY_REWRITE_GOLDEN"):
        block = f"```json\n{golden}\n```"
        page = re.sub(r"```json\n.*?\n```", lambda _: block, page, flags=re.DOTALL)
        PAGE.write_text(page, "utf-8")
    (quoted,) = re.findall(r"```json\n(.*?)\n```", page, re.DOTALL)
    assert quoted == golden
    assert f"`{SEALED_ALGORITHM}`" in page


def test_a_program_written_from_the_page_agrees_with_every_vector() -> None:
    golden = json.loads(GOLDEN.read_text("utf-8"))
    seed = bytes.fromhex(golden["seed"])
    assert [
        Independent(seed).mac(b"block" + k.to_bytes(8, "big")).hex() for k in range(3)
    ] == golden["blocks"]
    for row in golden["labels"]:
        assert b"".join(map(encode, row["labels"])).hex() == row["bytes"]
        assert Independent(seed).stream(*row["labels"]).seed.hex() == row["seed"]
    dealer = Independent(seed)
    assert [[n, str(dealer.below(int(n)))] for n, _ in golden["below"]] == golden[
        "below"
    ]
    ten = list(range(10))
    Independent(seed).shuffle(ten)
    assert ten == golden["shuffle_10"]
    deck = list(range(52))
    Independent(seed).stream("deck", 0).shuffle(deck)
    assert deck == golden["stream_deck_0_shuffle_52"]
    dealer = Independent(seed)
    drawn = [dealer.weighted([3, 0, 1, 4]) for _ in range(16)]
    assert drawn == golden["weighted_3_0_1_4"]
    row = golden["commitment"]
    options, salt = bytes.fromhex(row["options"]), bytes.fromhex(row["salt"])
    assert commit(row["match_id"], options, seed, salt).hex() == row["hash"]
    for row in golden["nonces"]:
        nonces = [bytes.fromhex(nonce) for nonce in row["nonces"]]
        assert mix(seed, nonces).hex() == row["seed"]
    for seat, number in golden["bot_seeds"]:
        assert str(number_for(seed, seat)) == number


@given(
    st.binary(min_size=32, max_size=32),
    st.lists(st.binary(max_size=32), max_size=4),
    st.text(max_size=9),
    st.binary(max_size=20),
)
def test_commitments_and_nonces_agree_everywhere(
    seed: bytes, nonces: list[bytes], match_id: str, options: bytes
) -> None:
    salt = hashlib.sha256(seed).digest()
    expected = commit(match_id, options, seed, salt)
    assert commitment(match_id, options, seed, salt) == expected
    assert mix_nonces(seed, nonces) == mix(seed, nonces)
    for seat in range(3):
        assert bot_seed(seed, seat) == number_for(seed, seat) < 2**53


@pytest.mark.parametrize(("seed", "salt"), [(31, 32), (32, 31), (33, 32), (32, 0)])
def test_a_commitment_takes_32_bytes_of_seed_and_salt(seed: int, salt: int) -> None:
    with pytest.raises(ValueError, match="32 and 32 bytes"):
        commitment("match-1", b"", bytes(seed), bytes(salt))


@given(
    st.binary(min_size=32, max_size=32),
    st.lists(st.text(max_size=4) | st.integers(), max_size=3),
    st.lists(
        st.integers(1, 2**70)
        | st.lists(st.integers(0, 9), min_size=1, max_size=5).filter(any),
        max_size=20,
    ),
    st.integers(0, 40),
)
def test_a_program_written_from_the_page_agrees_everywhere(
    seed: bytes, name: list[str | int], draws: list[int | list[int]], size: int
) -> None:
    ours = SealedDealer(seed).stream(*name)
    theirs = Independent(seed).stream(*name)
    for draw in draws:
        if isinstance(draw, int):
            assert ours.below(draw) == theirs.below(draw)
        else:
            assert ours.weighted(draw) == theirs.weighted(draw)
    one, two = list(range(size)), list(range(size))
    ours.shuffle(one)
    theirs.shuffle(two)
    assert one == two
