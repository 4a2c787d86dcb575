"""What a game and a variant say about themselves."""

from __future__ import annotations

import enum
import re
from collections.abc import Mapping
from typing import Any, Final

from attrs import Factory, field, frozen, validators

from fritillary.core.points import MAX_SEATS

_ID: Final = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*\Z")

#: An action table has at most this many entries.
MAX_TABLE: Final = 65_536


class Information(enum.Enum):
    """What the seats can see."""

    PERFECT = "perfect"
    HIDDEN = "hidden"


def _check_id(_: object, attribute: Any, value: str) -> None:  # noqa: ANN401 - attrs
    if not isinstance(value, str) or not _ID.match(value):
        msg = (
            f"{attribute.name} {value!r} must be lower-case words joined by "
            "hyphens, such as 'lost-cities'"
        )
        raise ValueError(msg)


@frozen(kw_only=True)
class GameInfo:
    """The static description of a game, returned by its ``describe`` hook.

    Args:
        id: lower-case words joined by hyphens.
        title: the name for people.
        summary: one sentence: what kind of game this is.
        rules_version: raised when the behaviour changes, and only then.
        min_seats: fewest seats.
        max_seats: most seats.
        information: whether something is hidden from a seat.
        chance: whether `Chance` decision points occur during play (a random deal
            at the start alone does not count).
        constant_sum: the sum of the scores of every outcome, or ``None`` if it
            varies.
        max_plies: no match has more plies (actions and chance outcomes).
        options: attrs class of the options; every field has a default.
        state: attrs class of the state.
        actions: the attrs classes of the actions, chance actions included.
        observation: attrs class of the observation.
        reasons: for every reason of an outcome, a sentence for people.
        presets: named options, such as published rule sets.
        roles: the game's own names for the seats, or empty.
        credits: whose game this is.
    """

    id: str = field(validator=_check_id)
    title: str
    summary: str
    rules_version: int = field(validator=validators.ge(1))
    min_seats: int = field(validator=validators.ge(1))
    max_seats: int = field(validator=validators.le(MAX_SEATS))
    information: Information
    chance: bool
    constant_sum: int | None
    max_plies: int = field(validator=validators.ge(1))
    options: type
    state: type
    actions: tuple[type, ...]
    observation: type
    reasons: Mapping[str, str]
    presets: Mapping[str, Any] = Factory(dict)
    roles: tuple[str, ...] = ()
    credits: str = ""

    def __attrs_post_init__(self) -> None:
        if self.max_seats < self.min_seats:
            msg = f"max_seats {self.max_seats} is below min_seats {self.min_seats}"
            raise ValueError(msg)


@frozen(kw_only=True)
class VariantInfo:
    """The static description of a variant, returned by ``describe_variant``.

    Args:
        id: lower-case words joined by hyphens; enters the match's game id.
        title: the name for people.
        summary: one sentence: what it changes.
        version: raised when the behaviour changes, and only then.
        games: ids of the games it can be applied to.
    """

    id: str = field(validator=_check_id)
    title: str
    summary: str
    version: int = field(validator=validators.ge(1))
    games: tuple[str, ...] = field(converter=tuple)
