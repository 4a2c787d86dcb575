"""The question to a bot; what is costly is built when it is looked at."""
# ruff: noqa: TID251 - gives each decision a generator of its own seed

from __future__ import annotations

import random
import time
from collections.abc import Sequence

from fritillary.api.v1 import bot_pb2 as wire
from fritillary_client import reading
from fritillary_client.encoding import Data, Encoding
from fritillary_client.errors import ProtocolError
from fritillary_client.tables import Table
from fritillary_client.values import (
    Clock,
    Event,
    LegalAction,
    LegalActions,
    MatchInfo,
    Problem,
)


class Ask:
    """A seat has to decide.

    Attributes:
        info: about the match: game, options, seats, players.
        clock: what was left when the server asked.
        ply: plies played so far.
        attempt: 1 for the first time of asking; more after a fault.
        error: what was wrong with the attempt before; ``None`` at the first.
        closed: whether the server no longer waits for an answer; a bot that thinks
            long may look at it and return anything.
    """

    __slots__ = (
        "_arrived",
        "_encoding",
        "_events",
        "_legal",
        "_news",
        "_observation",
        "_request",
        "_rng",
        "_table",
        "attempt",
        "clock",
        "closed",
        "error",
        "info",
        "ply",
    )

    def __init__(
        self,
        info: MatchInfo,
        request: wire.DecisionRequest,
        news: Sequence[wire.Event],
        encoding: Encoding,
        table: Table | None,
    ) -> None:
        self.info = info
        self.clock: Clock = reading.clock(request.clock)
        self.ply = request.ply
        self.attempt = request.attempt or 1
        self.error: Problem | None = (
            Problem(request.error.code, request.error.message)
            if request.HasField("error")
            else None
        )
        self.closed = False
        self._request = request
        self._rng: random.Random | None = None
        self._news = news
        self._encoding = encoding
        self._table = table
        self._arrived = time.monotonic()
        self._observation: Data = None
        self._legal: LegalActions | None = None
        self._events: tuple[Event, ...] | None = None

    @property
    def rng(self) -> random.Random:
        """A generator for this decision, seeded with ``info.seed`` and its number.

        A bot that takes its chances from here alone is reproducible, also where it is
        started again in the midst of a match.
        """
        if self._rng is None:
            self._rng = random.Random(f"{self.info.seed}/{self.decision_id}")
        return self._rng

    @property
    def decision_id(self) -> int:
        """Number of the question within match and seat; a retry has a higher one."""
        return self._request.decision_id

    @property
    def seat(self) -> int:
        """Where the bot sits."""
        return self.info.seat

    @property
    def game(self) -> str:
        """Id of the game, without variants."""
        return self.info.game

    @property
    def options(self) -> Data:
        """The options of the game, complete."""
        return self.info.options

    @property
    def observation(self) -> Data:
        """All that the seat may know, without the options.

        Raises:
            ProtocolError: if the server sent garbage.
        """
        if self._observation is None:
            self._observation = self._encoding.decode(
                self._request.observation, "an observation"
            )
        return self._observation

    @property
    def observation_bytes(self) -> bytes:
        """The observation as it arrived, in the encoding of the session."""
        return self._request.observation

    @property
    def legal(self) -> LegalActions:
        """The legal actions, never empty."""
        if self._legal is None:
            self._legal = self._build_legal()
        return self._legal

    @property
    def events(self) -> tuple[Event, ...]:
        """What has happened since the bot was last asked, as its seat may see it.

        After a lost link some may be missing; the observation never lacks anything.

        Raises:
            ProtocolError: if the server sent garbage.
        """
        if self._events is None:
            self._events = tuple(
                reading.event(each, self._encoding) for each in self._news
            )
        return self._events

    def time_left_ms(self) -> float | None:
        """Return what is left now, by this computer's clock; ``None`` if untimed."""
        if self.clock.left_ms is None:
            return None
        return self.clock.left_ms - (time.monotonic() - self._arrived) * 1000

    def _build_legal(self) -> LegalActions:
        indices = self._request.legal
        written = self._request.legal_actions
        if written:
            if len(written) != len(indices):
                msg = f"the server wrote out {len(written)} of {len(indices)} actions"
                raise ProtocolError(msg)
            actions = [self._written(each) for each in written]
            return LegalActions(indices, lambda position, _: actions[position])
        at = self._table.at if self._table is not None else _no_table
        return LegalActions(indices, lambda _, index: at(index))

    def _written(self, action: wire.LegalAction) -> LegalAction:
        return LegalAction(
            action.index,
            action.text,
            lambda: self._encoding.decode(action.action, "an action"),
        )


def _no_table(index: int) -> LegalAction:
    msg = f"there is no action table in which to look up index {index}"
    raise ProtocolError(msg, code="game.no-table")
