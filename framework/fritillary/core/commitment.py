"""Commit and reveal: the host's promise not to choose the deal afterwards."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Final

from fritillary.core.dealer import SEALED_ALGORITHM, SEED_BYTES, SealedDealer

SALT_BYTES: Final = 32
MAX_NONCE_BYTES: Final = 32


def commitment(match_id: str, options: bytes, seed: bytes, salt: bytes) -> bytes:
    """Return the hash that is published before the first message of a match.

    SHA-256 over algorithm, match id, SHA-256 of the options' bytes, seed and salt,
    each preceded by its length as 4 bytes, big-endian.

    Args:
        match_id: of the match.
        options: their canonical msgpack.
        seed: 32 bytes.
        salt: 32 bytes.

    Raises:
        ValueError: if seed or salt has another length.
    """
    if len(seed) != SEED_BYTES or len(salt) != SALT_BYTES:
        msg = f"seed and salt are {SEED_BYTES} and {SALT_BYTES} bytes"
        raise ValueError(msg)
    fields = (
        SEALED_ALGORITHM.encode(),
        match_id.encode(),
        hashlib.sha256(options).digest(),
        seed,
        salt,
    )
    joined = b"".join(len(part).to_bytes(4, "big") + part for part in fields)
    return hashlib.sha256(joined).digest()


def mix_nonces(seed: bytes, nonces: Sequence[bytes]) -> bytes:
    """Return the seed that the deal really uses.

    Without nonces it is the committed seed; else the seed of its stream
    ``("nonces", hex of seat 0's nonce, hex of seat 1's, ...)``.
    """
    if not any(nonces):
        return seed
    return SealedDealer(seed).derive("nonces", *(nonce.hex() for nonce in nonces))


def bot_seed(seed: bytes, seat: int) -> int:
    """Return the number below 2**53 given to the bot of a seat.

    The top 53 bits of the seed of the stream ``("bot", seat)`` of the committed seed:
    it is known before the nonces are, and tells nothing about the deal.
    """
    return int.from_bytes(SealedDealer(seed).derive("bot", seat)[:8], "big") >> 11
