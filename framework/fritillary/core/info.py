"""What a game and a variant say about themselves."""

from __future__ import annotations

import enum
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from attrs import Attribute, Factory, field, frozen, validators

from fritillary.core.points import MAX_SEATS
from fritillary.core.text import show

_ID: Final = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*\Z")

#: An action table has at most this many entries.
MAX_TABLE: Final = 65_536


class Information(enum.Enum):
    """What the seats can see."""

    PERFECT = "perfect"
    HIDDEN = "hidden"


_is = validators.instance_of


def _whole(low: int, high: int | None = None) -> Any:  # noqa: ANN401 - a validator
    """Return a validator of integers in a range; booleans are none."""

    def check(_: object, attribute: Attribute[int], value: object) -> None:
        if type(value) is not int or value < low or (high is not None and value > high):
            span = f"{low} or more" if high is None else f"{low} to {high}"
            msg = f"{attribute.name} must be an integer, {span}; not {show(value)}"
            raise ValueError(msg)

    return check


def _tuple(values: Iterable[Any]) -> tuple[Any, ...]:
    if isinstance(values, str):
        text = show(values)
        msg = f"{text} is text, where a tuple is needed: ({text},)"
        raise TypeError(msg)
    return tuple(values)


def _tuple_of(cls: type) -> Any:  # noqa: ANN401 - a validator
    return validators.deep_iterable(_is(cls))


def _mapping(values: type | None = None) -> Any:  # noqa: ANN401 - a validator
    return validators.deep_mapping(
        _is(str),
        None if values is None else _is(values),
        _is(Mapping),  # type: ignore[type-abstract]
    )


def _check_id(_: object, attribute: Attribute[str], value: object) -> None:
    if not isinstance(value, str) or not _ID.match(value):
        msg = (
            f"{attribute.name} {show(value)} must be lower-case words joined by "
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
        roles: the game's own names for the seats, one each up to ``max_seats``, or
            empty.
        credits: whose game this is.

    Raises:
        TypeError: if a value is of the wrong type.
        ValueError: if one is out of range.
    """

    id: str = field(validator=_check_id)
    title: str = field(validator=_is(str))
    summary: str = field(validator=_is(str))
    rules_version: int = field(validator=_whole(1))
    min_seats: int = field(validator=_whole(1))
    max_seats: int = field(validator=_whole(1, MAX_SEATS))
    information: Information = field(validator=_is(Information))
    chance: bool = field(validator=_is(bool))
    constant_sum: int | None = field(validator=validators.optional(_is(int)))
    max_plies: int = field(validator=_whole(1))
    options: type = field(validator=_is(type))
    state: type = field(validator=_is(type))
    actions: tuple[type, ...] = field(
        converter=_tuple, validator=[validators.min_len(1), _tuple_of(type)]
    )
    observation: type = field(validator=_is(type))
    reasons: Mapping[str, str] = field(validator=_mapping(str))
    presets: Mapping[str, Any] = field(default=Factory(dict), validator=_mapping())
    roles: tuple[str, ...] = field(
        default=(), converter=_tuple, validator=_tuple_of(str)
    )
    credits: str = field(default="", validator=_is(str))

    def __attrs_post_init__(self) -> None:
        if self.max_seats < self.min_seats:
            msg = f"max_seats {self.max_seats} is below min_seats {self.min_seats}"
            raise ValueError(msg)
        if self.roles and len(self.roles) != self.max_seats:
            msg = f"{len(self.roles)} roles for {self.max_seats} seats; name each"
            raise ValueError(msg)


@frozen(kw_only=True)
class VariantInfo:
    """The static description of a variant, returned by ``describe_variant``.

    Args:
        id: lower-case words joined by hyphens; enters the match's game id.
        title: the name for people.
        summary: one sentence: what it changes.
        version: raised when the behaviour changes, and only then.
        games: ids of the games it can be applied to, at least one.

    Raises:
        TypeError: if a value is of the wrong type.
        ValueError: if one is out of range.
    """

    id: str = field(validator=_check_id)
    title: str = field(validator=_is(str))
    summary: str = field(validator=_is(str))
    version: int = field(validator=_whole(1))
    games: tuple[str, ...] = field(
        converter=_tuple, validator=[validators.min_len(1), _tuple_of(str)]
    )
