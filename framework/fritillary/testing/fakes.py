# ruff: noqa: ANN401 - bots answer with actions of any game
"""Bots that do as they are told, for tests."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from fritillary.bots.protocol import Ask, MatchStart
from fritillary.core.errors import UsageError
from fritillary.core.outcome import Outcome


class ScriptedBot:
    """A bot that answers from a list, or calls a function.

    Args:
        script: a function from the ask to the answer; or the answers in order,
            each of them an action, a `Decision`, `Resign`, a notation of a legal
            action, such a function, or an exception to raise.
        then: answers when the list is used up.

    Attributes:
        started: what the bot was told before the match, ``None`` before that.
        asks: the asks so far, in order.
        ended: whether the bot was told the end.
        outcome: what it was told; ``None`` before the end and if void.
    """

    def __init__(
        self,
        script: Callable[[Ask], Any] | Iterable[Any],
        *,
        then: Callable[[Ask], Any] | None = None,
    ) -> None:
        if callable(script):
            self._answers: list[Any] = []
            self._then: Callable[[Ask], Any] | None = script
        else:
            self._answers = list(script)
            self._then = then
        self.started: MatchStart | None = None
        self.asks: list[Ask] = []
        self.ended = False
        self.outcome: Outcome | None = None

    def start(self, info: MatchStart) -> None:
        """Remember what was told."""
        self.started = info

    def decide(self, ask: Ask) -> Any:
        """Return the next answer.

        Raises:
            UsageError: if the list is used up and nothing answers instead.
        """
        turn = len(self.asks)
        self.asks.append(ask)
        if turn < len(self._answers):
            answer = self._answers[turn]
        elif self._then is not None:
            answer = self._then
        else:
            msg = f"the script of {turn} answers is used up"
            raise UsageError(msg)
        # Before calling it: an exception class is callable too.
        if isinstance(answer, BaseException) or (
            isinstance(answer, type) and issubclass(answer, BaseException)
        ):
            raise answer
        if callable(answer) and not isinstance(answer, type):
            answer = answer(ask)
        return _legal_action(ask, answer) if isinstance(answer, str) else answer

    def end(self, outcome: Outcome | None) -> None:
        """Remember the outcome."""
        self.ended = True
        self.outcome = outcome


def _legal_action(ask: Ask, text: str) -> Any:
    for action in ask.legal:
        if ask.game.format_action(action) == text:
            return action
    legal = ", ".join(ask.game.format_action(action) for action in ask.legal)
    msg = f"the script says {text!r}, but legal are: {legal}"
    raise UsageError(msg)
