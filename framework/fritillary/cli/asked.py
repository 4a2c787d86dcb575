"""Asking a game for text, whatever a stranger's game may answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from fritillary.cli.logs import said
from fritillary.core.errors import PluginError
from fritillary.plugins.game import Game

A = TypeVar("A")


def text_of(
    game: Game[Any, Any, Any], hook: str, function: Callable[[A], object], argument: A
) -> str:
    """Return the text that a hook gives.

    Raises:
        PluginError: if it raises, or gives something else.
    """
    try:
        text = function(argument)
    # Even leaving the process is not a game's to decide.
    except (Exception, SystemExit) as error:
        msg = f"{game.id}: {hook}() failed: {said(error)}"
        raise PluginError(msg, code="plugin.failed") from error
    if not isinstance(text, str):
        msg = f"{game.id}: {hook}() must return text, not {type(text).__name__}"
        raise PluginError(msg, code="plugin.text")
    return text


def picture(game: Game[Any, Any, Any], observation: object) -> str:
    """Return an observation as text.

    Raises:
        PluginError: if the game cannot draw it.
    """
    return text_of(game, "draw_text", game.draw_text, observation)


def picture_or_why(game: Game[Any, Any, Any], observation: object) -> str:
    """Return an observation as text, or why there is none, where play goes on."""
    try:
        return picture(game, observation)
    except PluginError as error:
        return f"({error.message})"


def notation(game: Game[Any, Any, Any], action: object) -> str:
    """Return an action in notation, or why there is none."""
    try:
        return text_of(game, "format_action", game.format_action, action)
    except PluginError as error:
        return f"({error.message})"
