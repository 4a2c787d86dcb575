"""From a player's answer to a legal action, or to the fault that it is."""
# ruff: noqa: ANN401 - values of any game pass through

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from fritillary.core.errors import CodecError, InvalidActionError
from fritillary.plugins.game import Game
from fritillary.plugins.table import ActionTable, OpenTable
from fritillary.record.choice import choice_bytes, received_bytes
from fritillary.record.terms import Fault
from fritillary.referee.gate import Gate
from fritillary.referee.player import Answer, PlayerFault

Table: TypeAlias = ActionTable[Any] | OpenTable[Any]


def resolve(
    game: Game[Any, Any, Any],
    answer: Answer,
    table: Table,
    legal: Sequence[Any],
    gate: Gate,
    state: Any,
) -> Any:
    """Return the legal action that an answer means: the entry of the table.

    What the game's own code raises (notation, explanation) comes out as it is: no
    seat is to blame for it.

    Raises:
        PlayerFault: malformed, if it names no action of the game; illegal, if the
            action is not legal, with the game's explanation.
    """
    index = answer.index
    if type(index) is int and table.listed and 0 <= index < len(table.actions):
        action = table.actions[index]
        # Rules hand out entries of the table, mostly: equal ones are found below.
        if id(action) in map(id, legal):
            return action
    try:
        action = _meant(game, answer, table, legal)
    except (InvalidActionError, CodecError) as error:
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


def _meant(
    game: Game[Any, Any, Any], answer: Answer, table: Table, legal: Sequence[Any]
) -> Any:
    if answer.index is not None:
        if type(answer.index) is not int:
            msg = f"an index is an integer, not {type(answer.index).__name__}"
            raise InvalidActionError(msg)
        return table.at(answer.index, legal)
    if answer.text is not None:
        text: Any = answer.text
        if not isinstance(text, str):
            msg = f"a notation is text, not {type(text).__name__}"
            raise InvalidActionError(msg)
        return table.parse(text, legal)
    if answer.action is not None:
        return _interned(game, answer.action, table, legal)
    return table.structure(answer.data)


def _interned(
    game: Game[Any, Any, Any], value: Any, table: Table, legal: Sequence[Any]
) -> Any:
    """Return the action that a local bot's value is equal to.

    The value may be anything: nothing but its class is looked at until that is right.
    """
    if type(value) not in game.info.actions:
        msg = f"the bot returned a {type(value).__name__}, which is no action"
        raise InvalidActionError(msg)
    if isinstance(table, OpenTable):
        for action in legal:
            if action == value:
                return action
        return table.structure(_data_of(game, value))
    try:
        index = table.index.get(value)
    except TypeError as error:
        msg = f"the bot returned a {type(value).__name__} that cannot be hashed"
        raise InvalidActionError(msg) from error
    if index is None:
        return table.structure(_data_of(game, value))
    return table.actions[index]


def _data_of(game: Game[Any, Any, Any], value: Any) -> Any:
    """Return an action that a bot built as data.

    Raises:
        InvalidActionError: if its fields are not what their class declares.
    """
    try:
        return game.codec.action_to_data(value)
    except Exception as error:
        # Coding trusts a value, and whoever made this one need not be trusted.
        msg = f"the bot returned a {type(value).__name__} with fields that do not fit"
        raise InvalidActionError(msg) from error


def _offending(game: Game[Any, Any, Any], answer: Answer) -> bytes:
    """Return what a player sent as it stands in the record."""
    value = answer.action
    try:
        if type(answer.index) is int or isinstance(answer.text, str):
            return choice_bytes(index=answer.index, text=answer.text)
        if answer.index is not None or answer.text is not None:
            return received_bytes(repr(answer.index or answer.text).encode())
        if value is None:
            return choice_bytes(data=answer.data)
        if type(value) in game.info.actions:
            return choice_bytes(data=_data_of(game, value))
    except (InvalidActionError, TypeError, ValueError):
        pass  # not even data
    return received_bytes(type(value).__name__.encode())
