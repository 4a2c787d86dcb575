"""The outcome of a match: why it ended, a score per seat, and the placing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from attrs import Attribute, frozen, validators
from attrs import field as _field

from fritillary.core.limits import MAX_INT


def _check_ints(
    _: object, field: Attribute[tuple[int, ...]], values: tuple[int, ...]
) -> None:
    for value in values:
        # Booleans are integers to Python alone.
        if type(value) is not int:
            msg = f"{field.name} are integers, not {value!r:.40}"
            raise TypeError(msg)
        if not -MAX_INT <= value <= MAX_INT:
            msg = f"{field.name} have at most 53 bits"
            raise ValueError(msg)


def _tuple(values: Iterable[int]) -> tuple[int, ...]:
    return tuple(values)


@frozen
class Outcome:
    """Final result of one match.

    Args:
        reason: stable word for how the rules ended it; its sentence is in
            ``GameInfo.reasons``.
        scores: one integer per seat, in seat order.
        placing: one place per seat, 1 is best; seats that tie share a place and
            the places after them stay empty (1, 1, 3).
    """

    reason: str = _field(validator=validators.instance_of(str))
    scores: tuple[int, ...] = _field(converter=_tuple, validator=_check_ints)
    placing: tuple[int, ...] = _field(converter=_tuple, validator=_check_ints)

    def __attrs_post_init__(self) -> None:
        if not 0 < len(self.scores) == len(self.placing):
            msg = "an outcome needs one score and one place per seat"
            raise ValueError(msg)
        if self.placing != rank(tuple(-place for place in self.placing)):
            msg = f"placing {self.placing} is not of the form 1, 1, 3"
            raise ValueError(msg)

    @classmethod
    def ranked(cls, reason: str, scores: Sequence[int]) -> Outcome:
        """Place the seats by score, highest first; equal scores share a place."""
        return cls(reason, tuple(scores), rank(scores))

    @property
    def winners(self) -> tuple[int, ...]:
        """The seats that share the first place."""
        return tuple(seat for seat, place in enumerate(self.placing) if place == 1)


def rank(scores: Sequence[int]) -> tuple[int, ...]:
    """Return the place of each seat, 1 best, ties sharing a place (1, 1, 3)."""
    return tuple(1 + sum(other > score for other in scores) for score in scores)
