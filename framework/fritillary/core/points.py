"""Decision points: whose turn it is, as a tagged value.

The present contract is sequential: exactly one seat acts at an :class:`Act`.
Another kind of decision point (several seats at once) may be added, so code that
branches on the kind should not treat "none of the others" as one of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from attrs import field, frozen

if TYPE_CHECKING:
    from fritillary.core.outcome import Outcome

#: More seats than any table has; ``ACTS`` holds one interned value for each.
MAX_SEATS: Final = 64


@frozen
class Act:
    """Seat ``seat`` chooses one of the legal actions."""

    seat: int


@frozen
class Chance:
    """The rules draw one of the weighted chance outcomes; no seat acts."""

    seat: None = field(default=None, init=False)


@frozen
class Over:
    """The match has ended with ``outcome``."""

    outcome: Outcome
    seat: None = field(default=None, init=False)


DecisionPoint: TypeAlias = Act | Chance | Over

#: ``ACTS[seat]`` is the one `Act` value of that seat: asking costs nothing.
ACTS: Final[tuple[Act, ...]] = tuple(Act(seat) for seat in range(MAX_SEATS))

#: The one `Chance` value.
CHANCE: Final = Chance()
