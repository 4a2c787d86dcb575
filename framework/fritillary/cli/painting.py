"""Pictures of what a server shows to spectators."""

from __future__ import annotations

from typing import Any, Final, Literal

from fritillary.app.application import Application
from fritillary.cli.asked import picture_or_why
from fritillary.core.errors import FritillaryError
from fritillary.plugins.game import Game
from fritillary.record.terms import clip
from fritillary_client import Match, MatchView

#: So long is a line of a picture at most.
_WIDE: Final = 400


def received_picture(text: str) -> str:
    """Return a picture without anything that a terminal would act on."""
    return "\n".join(clip(line, _WIDE) for line in text.splitlines())


class Painter:
    """Draws what spectators of one match see.

    The game draws it here if it is installed with the same rules and variants; else
    the server is asked for its pictures.

    Args:
        app: knows the games that are installed.
        match: to be drawn.

    Attributes:
        wanted: the pictures to ask the server for.
    """

    def __init__(self, app: Application, match: Match) -> None:
        self._game: Game[Any, Any, Any] | None = None
        self._options: Any = None
        try:
            game = app.registry.game(match.full_id)
            variants = tuple((each.id, each.version) for each in game.variants)
            same = (game.info.rules_version, variants)
            if same == (match.rules_version, match.variants):
                self._options = game.codec.options_from_data(match.options)
                self._game = game
        except FritillaryError:
            pass
        self.wanted: Literal["", "text"] = "" if self._game is not None else "text"

    def picture(self, view: MatchView) -> str:
        """Return a view as lines of text; empty if there is nothing to be drawn yet."""
        if self._game is None:
            return received_picture(view.picture)
        if view.observation is None:
            return ""
        try:
            observation = self._game.codec.observation_from_data(
                view.observation, self._options
            )
        except FritillaryError as error:
            return f"(the server's observation cannot be read: {error.message})"
        return picture_or_why(self._game, observation)
