"""The errors of the framework, each with a stable dotted code.

The code is what scripts and other languages rely on; the message is a sentence
for people and may change. Faults of bots during a match are data in the record,
never exceptions.
"""

from __future__ import annotations

from typing import Self

from fritillary.core.text import line


class FritillaryError(Exception):
    """Base of every error this framework raises on purpose.

    Attributes:
        code: stable dotted string, such as ``action.illegal``.
    """

    code = "internal"

    def __init__(self, message: str, *, code: str | None = None) -> None:
        super().__init__(message)
        if code is not None:
            self.code = code

    @property
    def message(self) -> str:
        """The sentence for people."""
        return str(self.args[0])

    def bare(self) -> Self:
        """Return the error without where it came from, to be kept.

        The frames that it came through may hold what it is kept in: a cycle, which
        waits for the garbage collector with all that was worked on there.
        """
        self.__traceback__ = self.__context__ = self.__cause__ = None
        return self


class GameError(FritillaryError):
    """Something about one game or one match is not as its rules want it."""

    code = "game"


class UnknownGameError(GameError):
    """No game, or no variant, has that id."""

    code = "game.unknown"


class AmbiguousGameError(GameError):
    """Two installed plugins claim the same id."""

    code = "game.ambiguous"


class InvalidOptionsError(GameError):
    """The options of a game, or its number of seats, are out of range."""

    code = "options.invalid"


class InvalidActionError(GameError):
    """Bytes, text, an index or data that name no action of the game."""

    code = "action.invalid"


class IllegalActionError(GameError):
    """A known action that the position does not allow; the state is untouched."""

    code = "action.illegal"


class AmbiguousActionError(InvalidActionError):
    """A text that fits several actions."""

    code = "action.ambiguous"


class NotYourTurnError(GameError):
    """An action of a seat that is not to act."""

    code = "action.not-your-turn"


class MatchOverError(GameError):
    """An action after the end."""

    code = "match.over"


class InvalidPositionError(GameError):
    """A text position that cannot be read, or that cannot arise."""

    code = "position.invalid"


class CodecError(FritillaryError):
    """Bytes or data that are not what they should be.

    Attributes:
        path: where in the data, such as ``$.columns[2]``; ``$`` is the whole.
    """

    code = "codec.invalid"

    def __init__(
        self, message: str, *, path: str = "$", code: str | None = None
    ) -> None:
        super().__init__(message if path == "$" else f"{path}: {message}", code=code)
        self.path = path
        self.reason = message


class PluginError(FritillaryError):
    """A plugin that breaks the contract; names plugin, hook and mend.

    The message is one line of at most 1,000 characters, whatever stands in it.
    """

    code = "plugin.invalid"

    def __init__(self, message: str, *, code: str | None = None) -> None:
        super().__init__(line(message, 1_000), code=code)


class RecordError(FritillaryError):
    """A match record that cannot be read, or that does not hold."""

    code = "record.invalid"


class StorageError(FritillaryError):
    """A folder or file that cannot be used."""

    code = "storage"


class ServiceError(FritillaryError):
    """The service refuses, or cannot be reached.

    Attributes:
        retry_after_ms: when trying again makes sense; ``None`` if it never does.
    """

    code = "service"

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        retry_after_ms: int | None = None,
    ) -> None:
        super().__init__(message, code=code)
        self.retry_after_ms = retry_after_ms


class UsageError(FritillaryError):
    """A request that makes no sense as it was put (player name, option, address)."""

    code = "usage"
