"""Integers that stand for collections: compact in memory, readable in bytes.

Sets and multisets of cards are single integers in memory, because a rules engine
copies and compares them all the time. In bytes, JSON and schemas they are sorted
lists of integers, which every language can read.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Final, TypeAlias

from attrs import field, frozen, validators

#: As many different items as there are where no size is given: a list of foreign
#: integers must not grow into a number that fills the memory.
MAX_ITEMS: Final = 4_096


@frozen
class Packed:
    """How an integer is packed: marks a field through ``typing.Annotated``.

    Args:
        bits: bits per item, 1 to 16; 1 packs a set, more pack a multiset whose
            counts are below ``2 ** bits``.
        lowest: the item that the lowest bits stand for.
        size: how many different items there are, 1 or more; ``None`` for 4,096.
    """

    bits: int = field(default=1, validator=[validators.ge(1), validators.le(16)])
    lowest: int = 0
    size: int | None = field(
        default=None, validator=validators.optional(validators.ge(1))
    )

    @property
    def items(self) -> int:
        """How many different items there can be."""
        return MAX_ITEMS if self.size is None else self.size

    def pack(self, items: Iterable[int]) -> int:
        """Pack items, in any order, into an integer.

        Raises:
            ValueError: if an item is out of range or occurs too often.
        """
        packed = 0
        top = (1 << self.bits) - 1
        size = self.items
        for item in items:
            place = item - self.lowest
            if not 0 <= place < size:
                msg = f"{item} is out of range"
                raise ValueError(msg)
            shift = place * self.bits
            if (packed >> shift) & top == top:
                msg = f"{item} occurs too often"
                raise ValueError(msg)
            packed += 1 << shift
        return packed

    def pack_sorted(self, items: list[int]) -> int:
        """Pack a list of integers in rising order, checked on the way.

        Raises:
            TypeError: if an item is no integer; a bool is none.
            ValueError: if the order falls, an item is out of range or occurs too
                often.
        """
        # States are full of such lists, most of them short: one plain loop is less
        # than a call for each thing to be checked.
        lowest, bits = self.lowest, self.bits
        end = lowest + (MAX_ITEMS if self.size is None else self.size)
        packed = 0
        if bits == 1:
            last = lowest - 1
            for item in items:
                if type(item) is not int or not last < item < end:
                    return self._pack_checked(items)
                packed |= 1 << item - lowest
                last = item
            return packed
        most = (1 << bits) - 1
        last, count, unit = lowest, 0, 1
        for item in items:
            if type(item) is not int or not last <= item < end:
                return self._pack_checked(items)
            if item > last:
                last, count, unit = item, 0, 1 << (item - lowest) * bits
            elif count == most:
                return self._pack_checked(items)
            count += 1
            packed += unit
        return packed

    def _pack_checked(self, items: list[int]) -> int:
        """Say what is wrong with a list, if it is wrong."""
        for item in items:
            if type(item) is not int:
                msg = f"expected integers, got {type(item).__name__}"
                raise TypeError(msg)
        if items != sorted(items):
            msg = "expected a list in rising order"
            raise ValueError(msg)
        return self.pack(items)

    def unpack(self, packed: int) -> list[int]:
        """Return the items in rising order, each as often as it occurs.

        Raises:
            ValueError: if the integer is negative or holds an item out of range.
        """
        if packed < 0 or packed.bit_length() > self.items * self.bits:
            what = "a negative integer" if packed < 0 else "the integer"
            msg = f"{what} holds items out of range"
            raise ValueError(msg)
        items: list[int] = []
        item = self.lowest
        if self.bits == 1:
            while packed:
                low = packed & -packed
                items.append(item + low.bit_length() - 1)
                packed ^= low
            return items
        top = (1 << self.bits) - 1
        while packed:
            count = packed & top
            if count:
                items += [item] * count
            packed >>= self.bits
            item += 1
        return items


#: A set of small non-negative integers as a bitmask: bit ``k`` stands for ``k``.
CardSet: TypeAlias = Annotated[int, Packed()]

CARD_SET: Final = Packed()
