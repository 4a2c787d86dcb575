"""Results in the order of the schedule."""

from __future__ import annotations

from typing import Generic, TypeVar

from attrs import define, field

T = TypeVar("T")


@define
class Frontier(Generic[T]):
    """Hands results on in the order of the schedule, in whatever order they come.

    Short matches end first, and length and result go together: a test that is fed in
    the order of the ends is biased, the more so the more matches are under way. Held
    back until all before them are there, results make the same test at any number of
    workers, and a run that was broken off goes on as if it had not been.

    Attributes:
        due: number of the result that is waited for; all before it were handed on.
    """

    due: int = field(default=0, init=False)
    _held: dict[int, T] = field(factory=dict, init=False)

    def add(self, number: int, result: T) -> list[T]:
        """Take a result; return those that are due now, in order.

        Args:
            number: place in the schedule, counted from 0.
            result: of that place; one that does not count keeps its place as well.

        Raises:
            ValueError: if the place has its result already, or is none.
        """
        if number < self.due or number in self._held:
            msg = f"the result of place {number} came before"
            raise ValueError(msg)
        self._held[number] = result
        handed = []
        while self.due in self._held:
            handed.append(self._held.pop(self.due))
            self.due += 1
        return handed
