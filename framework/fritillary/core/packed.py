"""Integers that stand for collections: compact in memory, readable in bytes.

Sets and multisets of cards are single integers in memory, because a rules engine
copies and compares them all the time. In bytes, JSON and schemas they are sorted
lists of integers, which every language can read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated, Final, TypeAlias

from attrs import frozen


@frozen
class Packed:
    """How an integer is packed: marks a field through ``typing.Annotated``.

    Args:
        bits: bits per item; 1 packs a set, more pack a multiset whose counts are
            below ``2 ** bits``.
        lowest: the item that the lowest bits stand for.
        size: how many different items there are; ``None`` for no limit.
    """

    bits: int = 1
    lowest: int = 0
    size: int | None = None

    def pack(self, items: Iterable[int]) -> int:
        """Pack items into an integer.

        Raises:
            ValueError: if an item is out of range or occurs too often.
        """
        packed = 0
        top = (1 << self.bits) - 1
        for item in items:
            place = item - self.lowest
            if place < 0 or (self.size is not None and place >= self.size):
                msg = f"{item} is out of range"
                raise ValueError(msg)
            shift = place * self.bits
            if (packed >> shift) & top == top:
                msg = f"{item} occurs too often"
                raise ValueError(msg)
            packed += 1 << shift
        return packed

    def unpack(self, packed: int) -> Iterator[int]:
        """Yield the items in rising order, each as often as it occurs."""
        top = (1 << self.bits) - 1
        item = self.lowest
        while packed:
            for _ in range(packed & top):
                yield item
            packed >>= self.bits
            item += 1


#: A set of small non-negative integers as a bitmask: bit ``k`` stands for ``k``.
CardSet: TypeAlias = Annotated[int, Packed()]

CARD_SET: Final = Packed()
