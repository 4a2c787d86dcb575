"""Bots that the tests of the client play with."""

from __future__ import annotations

import threading
from typing import Any

from fritillary_client import Ask, Bot, LegalAction, MatchInfo, Outcome


def first(ask: Ask) -> LegalAction:
    return ask.legal[0]


class Recorder(Bot):
    """Keeps all that it is told."""

    def __init__(self) -> None:
        self.infos: list[MatchInfo] = []
        self.asks: list[Ask] = []
        self.outcomes: list[Outcome] = []
        self.threads: set[int] = set()
        self.answer: Any = None

    def start(self, info: MatchInfo) -> None:
        self.infos.append(info)

    def decide(self, ask: Ask) -> Any:
        self.asks.append(ask)
        self.threads.add(threading.get_ident())
        return ask.legal[0] if self.answer is None else self.answer

    def end(self, outcome: Outcome) -> None:
        self.outcomes.append(outcome)
