"""Checks of what hooks give back, for where a wrong type must not go further.

The hot paths call the hooks themselves. Whatever is wrong becomes a `PluginError`
that names the game, the hook and the mend.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fritillary.codec.values import ValueCodec
from fritillary.core.errors import FritillaryError, PluginError
from fritillary.core.info import GameInfo
from fritillary.core.points import Act, Chance, DecisionPoint, Over
from fritillary.core.text import show, told
from fritillary.plugins.table import ActionTable, OpenTable, as_actions


def failed(game: str, hook: str, error: BaseException) -> PluginError:
    """Return the error of a hook that raised."""
    msg = f"{game}: {hook}() failed: {told(error)}; mend the hook"
    return PluginError(msg, code="plugin.failed")


def wrong(game: str, hook: str, value: Any, must: str) -> PluginError:
    """Return the error of a hook that gave something else than it must."""
    msg = f"{game}: {hook}() must return {must}, not {show(value, 60)}"
    return PluginError(msg, code="plugin.result")


def called(game: str, hook: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """Return what a hook gives.

    Raises:
        PluginError: if it raises anything but an error of this framework, or an
            interrupt by the user.
    """
    try:
        return function(*arguments)
    except (FritillaryError, KeyboardInterrupt):
        raise
    except BaseException as error:
        raise failed(game, hook, error) from error


def text_from(
    game: str, hook: str, function: Callable[..., Any], *arguments: Any
) -> str:
    """Return the text that a hook gives.

    Raises:
        PluginError: if it gives none.
    """
    text = called(game, hook, function, *arguments)
    if not isinstance(text, str):
        raise wrong(game, hook, text, "text (str)")
    return text


def check_seen(info: GameInfo, seen: object) -> None:
    """Check that what ``observe`` gives is of the class of observations.

    Raises:
        PluginError: if it is not.
    """
    if not isinstance(seen, info.observation):
        raise wrong(info.id, "observe", seen, f"a {info.observation.__name__}")


def point_from(game: str, point: Any) -> DecisionPoint:
    """Return a decision point.

    Raises:
        PluginError: if it is none.
    """
    if not isinstance(point, (Act, Chance, Over)):
        must = "ACTS[seat], CHANCE or Over(outcome)"
        raise wrong(game, "decision_point", point, must)
    return point


def legal_from(game: str, legal: Any) -> tuple[Any, ...]:
    """Return legal actions as a tuple, as far as their type and number go.

    Raises:
        PluginError: if they are no sequence, or there are none.
    """
    if type(legal) is not tuple:
        legal = as_actions(game, "legal_actions", legal, code="plugin.legal")
    if not legal:
        msg = (
            f"{game}: legal_actions() gave no action; a seat that is to act has at "
            "least one, so add an action for passing, or end the match"
        )
        raise PluginError(msg, code="plugin.legal")
    return legal  # type: ignore[no-any-return]


def check_legal(
    game: str,
    codec: ValueCodec,
    table: ActionTable[Any] | OpenTable[Any],
    legal: tuple[Any, ...],
) -> None:
    """Check that legal actions are what the contract wants, one by one.

    Entries of the table, in its order, none twice; without a table: actions of the
    game's classes that keep their value on the wire, none twice.

    Raises:
        PluginError: naming the first that is not.
    """
    place = -1
    seen: set[bytes] = set()
    for action in legal:
        if type(action) not in codec.info.actions:
            msg = f"which is no action of {game}; return entries of all_actions()"
            raise _not_legal(game, action, msg)
        if isinstance(table, OpenTable):
            raw = codec.encode_action(action)
            if codec.action_from_data(codec.action_to_data(action)) != action:
                msg = "whose fields are not what their class declares; mend them"
                raise _not_legal(game, action, msg)
            if raw in seen:
                raise _not_legal(game, action, "twice; give it once")
            seen.add(raw)
            continue
        index = table.index.get(action)
        if index is None:
            msg = "which is not in the table; add it to all_actions()"
            raise _not_legal(game, action, msg)
        if index <= place:
            msg = "twice, or after a later one; keep to the order of all_actions()"
            raise _not_legal(game, action, msg)
        place = index


def _not_legal(game: str, action: Any, why: str) -> PluginError:
    msg = f"{game}: legal_actions() gave {show(action)}, {why}"
    return PluginError(msg, code="plugin.legal")
