"""The errors of the client, each with a stable dotted code."""

from __future__ import annotations


class ArenaError(Exception):
    """Base of all errors that the client raises on purpose.

    Attributes:
        code: stable dotted string; the server's own where the server sent it.
        message: one sentence for people.
        retry_after_ms: when trying again makes sense; ``None`` if it never does.
    """

    default_code = "arena"

    def __init__(
        self, message: str, *, code: str = "", retry_after_ms: int | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code or self.default_code
        self.retry_after_ms = retry_after_ms

    def __str__(self) -> str:
        return f"{self.message} [{self.code}]"


class ConfigurationError(ArenaError):
    """The client was told too little, or something that cannot be."""

    default_code = "usage"


class LinkError(ArenaError):
    """There is no server at the address, or the link to it was lost for good."""

    default_code = "link.lost"


class RefusedError(ArenaError):
    """The server will not have this bot, such as ``auth.unknown-token``."""

    default_code = "refused"


class ProtocolError(ArenaError):
    """The server sent what cannot be understood, or what makes no sense."""

    default_code = "protocol.garbage"


class BotError(ArenaError):
    """The bot failed; the cause is what it raised.

    Args:
        message: one sentence for people; it may quote what the bot has said.
        code: stable dotted string.
        retry_after_ms: of no use here.
        how: it failed, without anything of the bot's own, such as
            ``decide() raised KeyError``: the server is told this much.
    """

    default_code = "bot.failed"
    default_how = ""

    def __init__(
        self,
        message: str,
        *,
        code: str = "",
        retry_after_ms: int | None = None,
        how: str = "",
    ) -> None:
        super().__init__(message, code=code, retry_after_ms=retry_after_ms)
        self.how = how or self.default_how


class DecisionError(BotError):
    """The bot answered with something that is no decision."""

    default_code = "bot.answer"
    default_how = "what it answered is no decision"


class Declined(ArenaError):  # noqa: N818 - a message to the server, not a failure
    """Raised by `Bot.offered` to refuse a seat; the server is told code and message."""

    default_code = "bot.declined"
