"""The one gate: builds everything that goes to a seat or a spectator."""
# ruff: noqa: ANN401 - values of any game pass through

from __future__ import annotations

from typing import Any, Final

from fritillary.plugins.checks import check_seen, failed, wrong
from fritillary.plugins.game import Game
from fritillary.record.terms import Consequence, Fault
from fritillary.referee.seen import Body, Problem, Ruled, SeatEvent

#: What others are told of a fault: nothing of what was tried.
GENERAL: Final = {
    Fault.ILLEGAL: "the decision was not legal",
    Fault.MALFORMED: "the decision could not be read",
    Fault.LATE: "the clock ran out",
    Fault.STALLED: "the match reached its ceiling of time",
    Fault.DISCONNECTED: "the link was lost",
    Fault.CRASHED: "the bot failed",
    Fault.FLOODING: "a limit was exceeded",
    Fault.REFUSED_TO_START: "the seat was not taken in time, or refused",
    Fault.REFEREE_ERROR: "the referee failed; no seat is to blame",
}

#: The code of a fault by which a bot loses that has said it failed, and is not back.
BOT_FAILED: Final = "bot.failed"

#: What others are told where the code of a fault says more than its kind.
_BY_CODE: Final = {BOT_FAILED: "the bot said that it had failed, and was not back"}


def general(fault: Fault, code: str) -> str:
    """Return what others are told of a fault; nothing of it is the bot's own text.

    Args:
        fault: its kind.
        code: of the problem, as the record has it.
    """
    return _BY_CODE.get(code) or GENERAL[fault]


class Gate:
    """Builds what one receiver may see.

    Args:
        game: the rules.
        seat: of the receiver; ``None`` for spectators.

    Attributes:
        number: of the last event that the receiver has.
    """

    __slots__ = ("_actions", "_game", "_seen", "number", "seat")

    def __init__(self, game: Game[Any, Any, Any], seat: int | None) -> None:
        self._game = game
        self._seen = game.info.observation
        self._actions = game.info.actions
        self.seat = seat
        self.number = 0

    def observation(self, state: Any) -> Any:
        """Return all that the receiver may know.

        Raises:
            PluginError: if the game gives no observation, or asks for an exit.
        """
        try:
            seen = self._game.observe(state, self.seat)
        except (Exception, KeyboardInterrupt):
            raise
        except BaseException as error:
            # Whoever looks may do so where it would end the whole program.
            raise failed(self._game.id, "observe", error) from error
        if not isinstance(seen, self._seen):
            check_seen(self._game.info, seen)
        return seen

    def action(self, state: Any, actor: int | None, action: Any) -> Any:
        """Return an action as the receiver sees it; ``None`` if not at all.

        Args:
            state: before the action.
            actor: the seat that acts; ``None`` for chance.
            action: the truth.

        Raises:
            PluginError: if the game gives no action.
        """
        if actor is not None and actor == self.seat:
            return action
        view = self._game.observe_action(state, action, self.seat)
        if view is not None and type(view) not in self._actions:
            must = "an action of GameInfo.actions, or None"
            raise wrong(self._game.id, "observe_action", view, must)
        return view

    def explain(self, state: Any, action: Any) -> str:
        """Say why the receiver may not do that, from what it knows."""
        return self._game.explain(self.observation(state), action)

    def ruling(
        self,
        seat: int | None,
        fault: Fault,
        consequence: Consequence,
        problem: Problem,
        retries_left: int,
    ) -> Ruled:
        """Return a ruling; only the seat at fault is told the details."""
        if self.seat is None or self.seat != seat:
            problem = Problem(problem.code, general(fault, problem.code))
        return Ruled(seat, fault, consequence, problem, retries_left)

    def event(self, ply: int, body: Body) -> SeatEvent:
        """Number an event for the receiver."""
        self.number += 1
        return SeatEvent(self.number, ply, body)
