"""Dealers: the only source of randomness that rules may use.

Two kinds live here. :class:`SealedDealer` serves real matches: anyone who knows
the 32-byte seed can deal again in any language, see ``docs/dealing.md`` for the
algorithm and test vectors. :class:`FastDealer` serves search and tests. A third,
which walks through every outcome, is in ``fritillary.testing``.
"""

# ruff: noqa: TID251 - owns the randomness of rules

from __future__ import annotations

import hashlib
import hmac
import random
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar

if TYPE_CHECKING:
    from collections.abc import MutableSequence, Sequence

T = TypeVar("T")

#: Part of the name of a stream.
Label: TypeAlias = str | int

#: Name of the sealed dealer's algorithm, as it stands in commitments.
SEALED_ALGORITHM: Final = "fritillary-deal-1"

SEED_BYTES: Final = 32


class Dealer(ABC):
    """Draws for the rules.

    Named streams are independent of each other and of what was drawn before from
    the parent: ``dealer.stream("deck", 0)`` gives the same deck however the play
    went, which duplicate deals need.
    """

    __slots__ = ()

    @abstractmethod
    def below(self, n: int) -> int:
        """Return a uniform integer in ``0 <= x < n``.

        Raises:
            TypeError: if ``n`` is not an integer.
            ValueError: if ``n`` is less than 1.
        """

    @abstractmethod
    def stream(self, *labels: Label) -> Dealer:
        """Return the independent stream of that name, at its beginning.

        Args:
            labels: strings and integers; 1 and "1" are different names, and so are
                ("a", "b") and ("ab",).

        Raises:
            TypeError: if a label is neither a string nor an integer; booleans are
                neither.
        """

    def shuffle(self, items: MutableSequence[T]) -> None:
        """Shuffle in place; every order is equally likely (Fisher-Yates)."""
        below = self.below
        for i in range(len(items) - 1, 0, -1):
            j = below(i + 1)
            items[i], items[j] = items[j], items[i]

    def choice(self, items: Sequence[T]) -> T:
        """Return one item, each with equal probability.

        Raises:
            ValueError: if there is none.
        """
        if not items:
            msg = "choice() needs at least one item"
            raise ValueError(msg)
        return items[self.below(len(items))]

    def weighted(self, weights: Sequence[int]) -> int:
        """Return an index, each in proportion to its non-negative weight.

        Draws one number below the sum of the weights and counts it off against
        them, first to last.

        Raises:
            TypeError: if a weight is not an integer.
            ValueError: if a weight is negative or all are zero.
        """
        total = 0
        for weight in weights:
            if type(weight) is not int:
                msg = f"weights are integers, not {type(weight).__name__}"
                raise TypeError(msg)
            if weight < 0:
                msg = f"weights must not be negative: {weight}"
                raise ValueError(msg)
            total += weight
        if not total:
            msg = "weighted() needs a weight above zero"
            raise ValueError(msg)
        ball = self.below(total)
        for index, weight in enumerate(weights):
            ball -= weight
            if ball < 0:
                return index
        raise AssertionError  # pragma: no cover - below() is below the sum


class SealedDealer(Dealer):
    """HMAC-SHA256 in counter mode over a 32-byte seed, without modulo bias.

    Block ``k`` of a stream is ``HMAC(seed, "block" + k)`` with ``k`` as 8 bytes,
    big-endian. ``below(n)`` takes as many bytes as ``n - 1`` needs, drops the
    surplus low bits and draws again while the value is not below ``n``;
    ``below(1)`` takes nothing. The seed of a named stream is
    ``HMAC(seed, "stream" + labels)``.

    Args:
        seed: exactly 32 bytes.

    Raises:
        TypeError: if the seed is not bytes.
        ValueError: if it has another length.
    """

    __slots__ = ("_buffer", "_counter", "_position", "_seed")

    def __init__(self, seed: bytes) -> None:
        if type(seed) is not bytes:
            msg = f"a seed is bytes, not {type(seed).__name__}"
            raise TypeError(msg)
        if len(seed) != SEED_BYTES:
            msg = f"a sealed dealer needs a seed of {SEED_BYTES} bytes, not {len(seed)}"
            raise ValueError(msg)
        self._seed = seed
        self._counter = 0
        self._buffer = b""
        self._position = 0

    def below(self, n: int) -> int:
        """Return a uniform integer in ``0 <= x < n``; see the class."""
        if type(n) is not int or n < 1:
            raise _bad_bound(n)
        if n == 1:
            return 0
        bits = (n - 1).bit_length()
        size = (bits + 7) >> 3
        surplus = (size << 3) - bits
        while True:
            start = self._position
            end = start + size
            while end > len(self._buffer):
                self._buffer = self._buffer[start:] + self._block()
                start, end = 0, size
            self._position = end
            value = int.from_bytes(self._buffer[start:end], "big") >> surplus
            if value < n:
                return value

    def shuffle(self, items: MutableSequence[T]) -> None:
        """Shuffle in place; what the common way does, without a call for each draw."""
        count = len(items)
        if count > 256:
            super().shuffle(items)
            return
        buffer = self._buffer
        position = self._position
        for i in range(count - 1, 0, -1):
            surplus = 8 - i.bit_length()
            while True:
                if position >= len(buffer):
                    buffer = self._block()
                    position = 0
                j = buffer[position] >> surplus
                position += 1
                if j <= i:
                    break
            items[i], items[j] = items[j], items[i]
        self._buffer = buffer
        self._position = position

    def stream(self, *labels: Label) -> SealedDealer:
        """Return the stream of that name; equal names give equal streams."""
        return SealedDealer(self.derive(*labels))

    def derive(self, *labels: Label) -> bytes:
        """Return the 32-byte seed of the stream of that name."""
        message = b"stream" + b"".join(map(_encode_label, labels))
        return hmac.digest(self._seed, message, hashlib.sha256)

    def _block(self) -> bytes:
        block = hmac.digest(
            self._seed, b"block" + self._counter.to_bytes(8, "big"), hashlib.sha256
        )
        self._counter += 1
        return block


class FastDealer(Dealer):
    """A seeded generator for search and tests: fast, reproducible, not secret.

    Args:
        seed: an integer, a string, or a ``random.Random`` to draw from.

    Raises:
        TypeError: if the seed is something else.
    """

    __slots__ = ("_random", "_seed")

    def __init__(self, seed: int | str | random.Random = 0) -> None:
        #: Made on the first draw: seeding is slow, and many only open streams.
        self._random: random.Random | None = None
        if isinstance(seed, random.Random):
            self._random = seed
            self._seed: int | str = seed.getrandbits(64)
        elif type(seed) in {int, str}:
            self._seed = seed
        else:
            msg = f"a seed is an integer or a string, not {type(seed).__name__}"
            raise TypeError(msg)

    def below(self, n: int) -> int:
        """Return a uniform integer in ``0 <= x < n``."""
        if type(n) is not int or n < 1:
            raise _bad_bound(n)
        return (self._random or self._seeded()).randrange(n)

    def stream(self, *labels: Label) -> FastDealer:
        """Return the stream of that name; equal seeds and names give equal ones."""
        for label in labels:
            _check_label(label)
        return FastDealer(f"{self._seed!r}/{labels!r}")

    def shuffle(self, items: MutableSequence[T]) -> None:
        """Shuffle in place by sorting on random keys, which is faster here."""
        draw = (self._random or self._seeded()).random
        items[:] = sorted(items, key=lambda _: draw())

    def _seeded(self) -> random.Random:
        # As text, since -1 and 1 seed a generator alike.
        self._random = generator = random.Random(repr(self._seed))
        return generator


def _bad_bound(n: object) -> Exception:
    if type(n) is not int:
        return TypeError(f"below() needs an integer, not {type(n).__name__}")
    return ValueError(f"below() needs at least 1, not {n}")


def _check_label(label: Label) -> None:
    if type(label) is not str and type(label) is not int:
        msg = f"labels are strings and integers, not {type(label).__name__}"
        raise TypeError(msg)


def _encode_label(label: Label) -> bytes:
    _check_label(label)
    if isinstance(label, str):
        kind, body = b"s", label.encode()
    else:
        kind, body = b"i", b"%d" % label
    return kind + len(body).to_bytes(4, "big") + body
