"""What an order of a match must say: options, clocks, secrets, labels."""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Mapping, Sequence
from typing import Any, Final

from fritillary.core.errors import PluginError, UsageError
from fritillary.plugins.game import Game
from fritillary.record.terms import ClockSettings
from fritillary.referee.lineup import parse_player

UNTIMED: Final = ClockSettings()

_MAX_LABELS: Final = 16
_MAX_LABEL: Final = 64

#: Players are named again and again.
spec_of: Final = functools.lru_cache(1024)(parse_player)


@functools.lru_cache(64)
def _named_options(game: Game[Any, Any, Any], preset: str) -> Any:  # noqa: ANN401
    """Return options, which are frozen and can be shared."""
    return game.options(None, preset)


@functools.lru_cache(64)
def check_deal(game: Game[Any, Any, Any], options: Any, seats: int) -> None:  # noqa: ANN401
    """Refuse options with which so many seats cannot be dealt.

    A game that fails in another way is the referee's affair.
    """
    with contextlib.suppress(PluginError):
        game.check_options(options, seats)


def options_of(game: Game[Any, Any, Any], options: object, preset: str) -> Any:  # noqa: ANN401
    """Return options of data over a preset, or of a value.

    Raises:
        FritillaryError: if they are none of the game.
    """
    if isinstance(options, game.info.options):
        return options
    if options is None:
        return _named_options(game, preset)
    if isinstance(options, Mapping):
        return game.options(options, preset)
    msg = f"{game.id}: options are a mapping or {game.info.options.__name__} values"
    raise UsageError(msg, code="usage.options")


def clocks_of(
    clocks: ClockSettings | Sequence[ClockSettings] | None, seats: int
) -> tuple[ClockSettings, ...]:
    """Return one clock for each seat.

    Raises:
        UsageError: if there are not as many.
    """
    if clocks is None:
        return (UNTIMED,) * seats
    if isinstance(clocks, ClockSettings):
        return (clocks,) * seats
    if len(clocks) != seats:
        msg = f"{seats} seats need as many clocks, not {len(clocks)}"
        raise UsageError(msg, code="usage.clock")
    return tuple(clocks)


def bytes32(what: str, given: bytes | None) -> bytes:
    """Return the 32 bytes that were given, or fresh ones.

    Raises:
        UsageError: if there are not as many.
    """
    if given is None:
        return os.urandom(32)
    if len(given) != 32:
        msg = f"a {what} has 32 bytes, not {len(given)}"
        raise UsageError(msg, code=f"usage.{what}")
    return bytes(given)


def labels_of(labels: Mapping[str, str]) -> dict[str, str]:
    """Return labels that are not too many, nor too long.

    Raises:
        UsageError: if they are.
    """
    if len(labels) > _MAX_LABELS or any(
        not name or len(name) > _MAX_LABEL or len(value) > _MAX_LABEL
        for name, value in labels.items()
    ):
        msg = f"at most {_MAX_LABELS} labels of at most {_MAX_LABEL} characters"
        raise UsageError(msg, code="usage.labels")
    return dict(labels)
