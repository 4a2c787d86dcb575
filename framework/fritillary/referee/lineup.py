"""Naming players: from one string to who takes the seat.

A player is ``uniform``, ``greedy``, ``human``, a bot with parameters such as
``ismcts:iterations=500``, ``python:pkg.module:Class``, ``exec:COMMAND``,
``stdio:COMMAND`` or ``remote:NAME``.
"""
# ruff: noqa: ANN401 - values of any game pass through

from __future__ import annotations

import difflib
import functools
import inspect
import re
import shlex
from collections.abc import Callable, Mapping
from typing import Any, Final

from attrs import field, frozen

from fritillary.bots.protocol import Bot, UniformBot
from fritillary.bots.search import FlatMcBot, IsmctsBot, MctsBot, SearchBot
from fritillary.core.errors import FritillaryError, GameError, PluginError, UsageError
from fritillary.core.info import Information
from fritillary.core.text import line, show
from fritillary.plugins.checks import called, failed
from fritillary.plugins.game import Game
from fritillary.record.terms import PlayerInfo
from fritillary.referee.player import LocalPlayer

#: Bots for every game.
BUILT_IN: Final[Mapping[str, Callable[..., Bot]]] = {
    "uniform": UniformBot,
    "mcts": MctsBot,
    "ismcts": IsmctsBot,
    "flat-mc": FlatMcBot,
}

#: What the referee calls on a bot.
_BOT: Final = ("start", "decide", "end")

#: Kinds of player that are programs: those that dial in by themselves, and those that
#: read and write lines and for which ``fritillary bot`` dials in.
COMMANDS: Final = ("exec", "stdio")

#: Kinds of player that the arena starts.
STARTED: Final = (*COMMANDS, "python")

_NAME: Final = re.compile(r"[a-z][a-z0-9-]*\Z")
_CLASS: Final = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*\Z")

#: The name under which a bot dials in, as it stands in its token.
BOT_NAME: Final = re.compile(r"[A-Za-z0-9._-]{1,64}\Z")


@frozen
class PlayerSpec:
    """A player's name, taken apart.

    Args:
        text: as it was written.
        kind: ``local``, ``human``, ``exec``, ``stdio``, ``python`` or ``remote``.
        name: of the bot; the class of ``python``; the name of ``remote``.
        command: the words of ``exec`` and ``stdio``.
        parameters: of a local bot.
    """

    text: str
    kind: str
    name: str = ""
    command: tuple[str, ...] = ()
    parameters: dict[str, Any] = field(factory=dict)


def parse_player(text: str) -> PlayerSpec:
    """Take a player's name apart.

    Raises:
        UsageError: if it cannot be read; says how to write it.
    """
    head, colon, rest = text.strip().partition(":")
    if head in COMMANDS:
        try:
            command = tuple(shlex.split(rest))
        except ValueError as error:
            msg = f"player {text[:80]!r}: {error}"
            raise UsageError(msg, code="usage.player") from error
        if not command:
            msg = f"player '{head}:' needs a command, such as '{head}:python3 bot.py'"
            raise UsageError(msg, code="usage.player")
        return PlayerSpec(text, head, command[0], command)
    if head == "python":
        if not _CLASS.match(rest):
            msg = f"player {text[:80]!r} must be of the form python:pkg.module:Class"
            raise UsageError(msg, code="usage.player")
        return PlayerSpec(text, "python", rest)
    if head == "remote":
        if not BOT_NAME.match(rest):
            msg = f"player {text[:80]!r} must be of the form remote:NAME"
            raise UsageError(msg, code="usage.player")
        return PlayerSpec(text, "remote", rest)
    if not _NAME.match(head):
        msg = (
            f"player {text[:80]!r} is none of a bot's name, human, "
            "python:pkg.module:Class, exec:COMMAND, stdio:COMMAND, remote:NAME"
        )
        raise UsageError(msg, code="usage.player")
    if head == "human":
        return PlayerSpec(text, "human", "human")
    parameters: dict[str, Any] = {}
    for part in rest.split(",") if colon else ():
        name, equals, value = part.partition("=")
        if not equals or not name.strip():
            msg = f"player {text[:80]!r}: write parameters as name=value,name=value"
            raise UsageError(msg, code="usage.player")
        if name.strip() in parameters:
            msg = f"player {text[:80]!r}: {name.strip()[:60]} is given twice"
            raise UsageError(msg, code="usage.player")
        parameters[name.strip()] = _value(value.strip())
    return PlayerSpec(text, "local", head, parameters=parameters)


def _value(text: str) -> Any:
    if text in {"true", "false"}:
        return text == "true"
    try:
        return int(text)
    except ValueError:
        return text


def local_bots(game: Game[Any, Any, Any]) -> dict[str, Callable[..., Bot]]:
    """Return the bots that play a game in process, by name."""
    return {
        name: factory
        for name, factory in {**BUILT_IN, **game.bots}.items()
        if factory is not MctsBot or _is_open(game)
    }


def _is_open(game: Game[Any, Any, Any]) -> bool:
    return game.info.information is Information.PERFECT


def make_bot(spec: PlayerSpec, game: Game[Any, Any, Any]) -> Bot:
    """Return a fresh local bot.

    Raises:
        UsageError: if the game has no such bot, or the parameters do not fit.
        PluginError: if the game fails to make it.
    """
    factory = {**BUILT_IN, **game.bots}.get(spec.name)
    if factory is None:
        known = local_bots(game)
        near = difflib.get_close_matches(spec.name, known, n=1)
        mend = f"did you mean {near[0]!r}? " if near else ""
        msg = (
            f"{game.info.id} has no bot {spec.name!r}; {mend}known: "
            f"{', '.join(sorted(known))}"
        )
        raise UsageError(msg, code="usage.player")
    if not spec.parameters:
        bot = called(game.id, "bots", factory)
    else:
        try:
            inspect.signature(factory).bind(**spec.parameters)
            bot = factory(**spec.parameters)
        except (TypeError, ValueError) as error:
            msg = f"player {spec.text[:80]!r}: {line(error)}"
            raise UsageError(msg, code="usage.player") from error
        except (FritillaryError, KeyboardInterrupt):
            raise
        except BaseException as error:
            raise failed(game.id, "bots", error) from error
    if isinstance(bot, SearchBot):
        try:
            bot.check(game)
        except GameError as error:
            msg = f"player {spec.text[:80]!r}: {error.message}"
            raise UsageError(msg, code="usage.player") from error
    if not all(callable(getattr(bot, name, None)) for name in _BOT):
        msg = (
            f"{game.id}: the bot {spec.name!r} of bots() is {show(bot)}, which lacks "
            "one of start(), decide() and end(); derive its class from BaseBot"
        )
        raise PluginError(msg, code="plugin.bots")
    return bot  # type: ignore[no-any-return]


def local_player(spec: PlayerSpec, game: Game[Any, Any, Any]) -> LocalPlayer:
    """Return a fresh player for a local bot.

    Raises:
        UsageError: see :func:`make_bot`.
    """
    return LocalPlayer(make_bot(spec, game), named(spec.name, spec.text))


@functools.lru_cache(256)
def named(name: str, text: str) -> PlayerInfo:
    """Return who takes a seat, as far as its name tells.

    Args:
        name: to show.
        text: the string that named the player.
    """
    return PlayerInfo(name, player=text)
