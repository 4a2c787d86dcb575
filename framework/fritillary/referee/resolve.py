"""From a player's answer to a legal action, or to the fault that it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fritillary.core.errors import CodecError, InvalidActionError
from fritillary.plugins.game import Game
from fritillary.plugins.table import ActionTable, OpenTable
from fritillary.record.choice import choice_bytes, received_bytes
from fritillary.record.terms import Fault
from fritillary.referee.gate import Gate
from fritillary.referee.player import Answer, PlayerFault


def resolve(
    game: Game[Any, Any, Any],
    answer: Answer,
    table: ActionTable[Any] | OpenTable[Any],
    legal: Sequence[Any],
    gate: Gate,
    state: Any,
) -> Any:
    """Return the legal action that an answer means.

    Raises:
        PlayerFault: malformed, if it names no action of the game; illegal, if the
            action is not legal, with the game's explanation.
    """
    try:
        if answer.index is not None:
            action = table.at(answer.index, legal)
        elif answer.text is not None:
            action = table.parse(answer.text, legal)
        elif answer.action is not None:
            action = answer.action
            if action not in legal and table.listed and action not in table.index:  # type: ignore[union-attr]
                msg = "the bot returned something that is no action of the game"
                raise InvalidActionError(msg)
        else:
            action = table.structure(answer.data)
    except (InvalidActionError, CodecError, TypeError) as error:
        raise PlayerFault(
            Fault.MALFORMED,
            str(error),
            code="action.invalid",
            offending=_offending(game, answer),
        ) from error
    if action not in legal:
        raise PlayerFault(
            Fault.ILLEGAL,
            gate.explain(state, action),
            code="action.illegal",
            offending=_offending(game, answer),
        )
    return action


def _offending(game: Game[Any, Any, Any], answer: Answer) -> bytes:
    """Return what a player sent as it stands in the record."""
    if answer.index is not None or answer.text is not None:
        return choice_bytes(index=answer.index, text=answer.text)
    if answer.action is None:
        return choice_bytes(data=answer.data)
    if type(answer.action) in game.info.actions:
        return choice_bytes(data=game.codec.action_to_data(answer.action))
    return received_bytes(type(answer.action).__name__.encode())
