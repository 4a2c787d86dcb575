"""Integers that stand for collections: compact in memory, readable in bytes.

Sets and multisets of cards are single integers in memory, because a rules engine
copies and compares them all the time. In bytes, JSON and schemas they are sorted
lists of integers, which every language can read.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterable
from typing import Annotated, Final, TypeAlias

from attrs import field, frozen, validators

#: As many different items as there are where no size is given: a list of foreign
#: integers must not grow into a number that fills the memory.
MAX_ITEMS: Final = 4_096

#: So many items have their bits ready in a table.
_TABLED: Final = 256


@functools.cache
def _bits_of(bits: int, lowest: int, size: int) -> dict[int, int]:
    return {lowest + place: 1 << place * bits for place in range(min(size, _TABLED))}


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
    _table: dict[int, int] = field(init=False, eq=False, repr=False)

    def __attrs_post_init__(self) -> None:
        table = _bits_of(self.bits, self.lowest, self.items)
        object.__setattr__(self, "_table", table)

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
        """Pack a list of integers in rising order, several times faster.

        Raises:
            ValueError: if the order falls, an item is out of range or occurs too
                often.
        """
        if items != sorted(items):
            msg = "expected a list in rising order"
            raise ValueError(msg)
        if self.bits == 1:
            too_often = len(set(items)) != len(items)
        else:
            most = (1 << self.bits) - 1
            too_often = any(map(operator.eq, items, items[most:]))
        if too_often:
            return self.pack(items)  # says which one
        try:
            return sum(map(self._table.__getitem__, items))
        except KeyError:
            return self.pack(items)  # out of range, or out of the table

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
