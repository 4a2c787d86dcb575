"""Who chooses for a forfeited seat where play goes on."""
# ruff: noqa: ANN401, TID251 - values of any game; seeds the stand-ins from the sealed dealer

from __future__ import annotations

import functools
import inspect
import random
from collections.abc import Callable, Sequence
from typing import Any, Final

from fritillary.bots.protocol import Ask, Bot, MatchStart
from fritillary.core.dealer import SealedDealer
from fritillary.core.errors import UsageError
from fritillary.referee.clock import UNTIMED
from fritillary.referee.gate import Gate
from fritillary.referee.lineup import make_bot, parse_player
from fritillary.referee.player import answer_of
from fritillary.referee.setup import MatchSetup

#: The stand-in that needs no bot: a uniformly random choice of the sealed dealer.
UNIFORM: Final = "uniform"


class StandIns:
    """Chooses for forfeited seats, each through its own gate.

    Args:
        setup: names the stand-in in its policy.
        gates: one for each seat.
        choose: answers instead of the bot that the policy names.

    Raises:
        UsageError: if the game has no such bot, or it cannot answer at once.
    """

    def __init__(
        self,
        setup: MatchSetup,
        gates: Sequence[Gate],
        choose: Callable[[Ask], Any] | None = None,
    ) -> None:
        self._setup = setup
        self._gates = gates
        self._choose = choose
        self._bots: dict[int, Bot] = {}
        name = setup.terms.policy.stand_in
        self._spec = None
        if choose is None and name != UNIFORM:
            self._spec = parse_player(name)
            # A mistake shows before the match, not when a seat is forfeited.
            bot = make_bot(self._spec, setup.game)
            if inspect.iscoroutinefunction(bot.decide):
                msg = f"stand-in {name[:80]!r} does not answer at once"
                raise UsageError(msg, code="usage.player")

    def action(
        self, seat: int, legal: Sequence[Any], state: Any, dealer: SealedDealer
    ) -> Any:
        """Return a legal action.

        Args:
            seat: that is forfeited.
            legal: what it may do.
            state: the truth, of which the stand-in sees what the seat may.
            dealer: for this decision alone.

        Raises:
            RuntimeError: if the stand-in answers with no legal action.
        """
        if self._choose is None and self._spec is None:
            return dealer.choice(legal)
        ask = Ask(
            self._setup.game,
            seat,
            functools.partial(self._gates[seat].observation, state),
            legal,
            random.Random(dealer.below(2**53)),
            UNTIMED,
        )
        decide = self._choose or self._bot(seat, dealer).decide
        chosen = answer_of(decide(ask)).action
        for action in legal:
            if action == chosen:
                return action
        msg = f"the stand-in of seat {seat} chose nothing legal"
        raise RuntimeError(msg)

    def _bot(self, seat: int, dealer: SealedDealer) -> Bot:
        bot = self._bots.get(seat)
        if bot is None:
            setup = self._setup
            if self._spec is None:
                raise TypeError
            self._bots[seat] = bot = make_bot(self._spec, setup.game)
            bot.start(
                MatchStart(
                    setup.match_id,
                    setup.game,
                    setup.options,
                    seat,
                    len(setup.players),
                    dealer.stream("bot").below(2**53),
                )
            )
        return bot
