"""What a bot is, and the forms in which one can be given."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Sequence
from typing import ClassVar, TypeAlias

from fritillary_client.ask import Ask
from fritillary_client.errors import ConfigurationError
from fritillary_client.values import Answer, GameSupport, MatchInfo, Outcome


class Bot:
    """A bot; subclasses write at least `decide`. Any method may be ``async``.

    Given as a class, each match and seat has an instance of its own, whose methods
    are called one after the other in a thread of their own (or, if ``async``, in the
    event loop). Given as an instance, all matches share it, and with a capacity above
    1 its methods run in several threads at once.

    Attributes:
        games: what the bot can play, unless the client is told otherwise: ids of
            games or `GameSupport`; ``None`` for any game.
        light: whether ``decide`` answers within microseconds and never waits; it is
            then called in the event loop, without a thread.
        needs_table: whether the action table of a game is fetched before its first
            match; without it, and unless they are written out, ``ask.legal`` has
            ``indices`` only.
    """

    games: ClassVar[Sequence[str | GameSupport] | None] = None
    light: bool = False
    needs_table: bool = True

    def offered(self, info: MatchInfo) -> Awaitable[None] | None:
        """Look at a match before its seat is taken; the answer is due within seconds.

        Raises:
            Declined: to refuse. The referee rules on a refusal as on a fault.
        """

    def start(self, info: MatchInfo) -> Awaitable[None] | None:
        """Prepare for a match. It begins when all seats have done so."""

    def decide(self, ask: Ask) -> Answer | Awaitable[Answer]:
        """Answer with one of ``ask.legal``, its index, text or data, or `RESIGN`."""
        raise NotImplementedError

    def end(self, outcome: Outcome) -> Awaitable[None] | None:
        """Hear how the match ended."""


#: The forms in which a bot can be given: a function that decides, a `Bot` class or
#: another factory without arguments, or a `Bot` that all matches share.
AnyBot: TypeAlias = (
    Callable[[Ask], Answer | Awaitable[Answer]] | Callable[[], Bot] | type[Bot] | Bot
)


class _FunctionBot(Bot):
    """Wraps a function that decides."""

    def __init__(self, function: Callable[[Ask], Answer | Awaitable[Answer]]) -> None:
        self.decide = function  # type: ignore[method-assign, assignment]


def factory_of(bot: AnyBot) -> Callable[[], Bot]:
    """Return what makes a bot for one match and seat.

    Raises:
        ConfigurationError: if it is none of the forms of `AnyBot`.
    """
    if isinstance(bot, Bot):
        shared = bot
        return lambda: shared
    if not callable(bot):
        raise _no_bot(bot)
    try:
        needed = [
            parameter
            for parameter in inspect.signature(bot).parameters.values()
            if parameter.default is parameter.empty
            and parameter.kind not in {parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD}
        ]
    except (TypeError, ValueError):
        needed = []
    if inspect.isclass(bot):
        if needed or not callable(getattr(bot, "decide", None)):
            raise _no_bot(bot)
        return bot  # type: ignore[return-value]
    if not needed:
        return bot  # type: ignore[return-value]
    if len(needed) > 1:
        raise _no_bot(bot)
    function: Callable[[Ask], Answer | Awaitable[Answer]] = bot  # type: ignore[assignment]
    return lambda: _FunctionBot(function)


def checked(made: object) -> Bot:
    """Return a bot that a factory made, if it is one.

    Raises:
        ConfigurationError: if not.
    """
    if not isinstance(made, Bot):
        raise _no_bot(made)
    return made


def _no_bot(bot: object) -> ConfigurationError:
    name = getattr(bot, "__qualname__", None) or type(bot).__qualname__
    return ConfigurationError(
        f"{name} is no bot; give a function of one argument, a subclass of Bot that "
        "is made without arguments, or an instance of one",
        code="usage.bot",
    )
