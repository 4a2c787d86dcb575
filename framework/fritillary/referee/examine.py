"""Checking the game before a seat is blamed: nobody loses by a fault of the rules."""
# ruff: noqa: ANN401 - values of any game pass through

from __future__ import annotations

from typing import Any, TypeAlias

from fritillary.core.errors import FritillaryError, PluginError
from fritillary.core.points import Act
from fritillary.core.text import told
from fritillary.plugins.checks import check_legal, legal_from
from fritillary.plugins.game import Game
from fritillary.plugins.table import ActionTable, OpenTable

Table: TypeAlias = ActionTable[Any] | OpenTable[Any]


def examine(
    game: Game[Any, Any, Any],
    table: Table,
    state: Any,
    seat: int,
    legal: tuple[Any, ...],
) -> None:
    """Check what the game gave a seat that is about to be blamed for something.

    The legal actions are those of the contract, the observation is one that can be
    sent, asking again gives the same, and asking changes nothing. It costs as much as
    a few decisions, so it is for the moment before a ruling.

    Args:
        game: the rules.
        table: of the match.
        state: the truth, as it was when the seat was asked.
        seat: that was asked.
        legal: what it was told that it may do.

    Raises:
        PluginError: if the game is to blame.
    """
    try:
        _examine(game, table, state, seat, legal)
    except (FritillaryError, KeyboardInterrupt):
        raise
    except BaseException as error:
        msg = f"{game.id}: what the game gave seat {seat} is not sound: {told(error)}"
        raise PluginError(msg) from error


def _examine(
    game: Game[Any, Any, Any],
    table: Table,
    state: Any,
    seat: int,
    legal: tuple[Any, ...],
) -> None:
    codec = game.codec
    check_legal(game.id, codec, table, legal)
    before = codec.encode_state(state)
    point = game.point(state)
    if type(point) is not Act or point.seat != seat:
        raise _fickle(game, "decision_point")
    if legal_from(game.id, game.legal_actions(state)) != legal:
        raise _fickle(game, "legal_actions")
    seen = codec.encode_observation(game.seen(state, seat))
    codec.decode_observation(seen, state.options)
    if codec.encode_observation(game.seen(state, seat)) != seen:
        raise _fickle(game, "observe")
    if codec.encode_state(state) != before:
        msg = (
            f"{game.id}: asking changes the state; decision_point(), legal_actions() "
            "and observe() must leave it alone"
        )
        raise PluginError(msg, code="plugin.impure")


def _fickle(game: Game[Any, Any, Any], hook: str) -> PluginError:
    msg = (
        f"{game.id}: {hook}() gives something else when it is asked again; its result "
        "must follow from its arguments alone"
    )
    return PluginError(msg, code="plugin.impure")
