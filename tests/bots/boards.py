"""Games and plain loops for tests of bots."""

from __future__ import annotations

import random

from tests.examples.test_connect_four import GAME as CONNECT_FOUR
from tests.examples.test_kuhn_poker import GAME as KUHN_POKER
from tests.examples.test_pig import GAME as PIG
from tests.examples.test_tic_tac_toe import GAME as TIC_TAC_TOE

from fritillary import FastDealer, Registry, SealedDealer
from fritillary.bots.protocol import Ask, Clock, Decision, MatchStart
from fritillary.core.points import Over

REGISTRY = Registry()
REGISTRY.load()

BUNDLED = {
    name: REGISTRY.game(name)
    for name in ("lepidoptery", "lost-cities", "butterfly-garden")
}
GAMES = {
    **BUNDLED,
    "connect-four": CONNECT_FOUR,
    "kuhn-poker": KUHN_POKER,
    "pig": PIG,
    "tic-tac-toe": TIC_TAC_TOE,
}


class Told:
    """An event, as bots see it."""

    def __init__(self, action):
        self.body = self
        self.action = action


def seated(bot, game, state, seat, *, seats=2):
    """Return the bot at a seat of a match."""
    bot.start(MatchStart("test", game, state.options, seat, seats))
    return bot


def ask(game, state, *, clock=None, seed=0, events=()):
    """Return what the seat to act is asked."""
    seat = game.decision_point(state).seat
    return Ask(
        game,
        seat,
        game.observe(state, seat),
        game.legal_actions(state),
        random.Random(seed),
        clock or Clock(),
        events,
    )


def action_of(decided):
    return decided.action if isinstance(decided, Decision) else decided


def play(game, bots, *, seed=0, options=None):
    """Play a match without a referee, and return its outcome.

    Every action is checked to be legal.
    """
    seats = len(bots)
    state = game.new(SealedDealer(seed.to_bytes(32, "big")), options, seats)
    dealer = FastDealer(random.Random(seed))
    for seat, bot in enumerate(bots):
        seated(bot, game, state, seat, seats=seats)
    news: list[list[Told]] = [[] for _ in bots]
    while True:
        point = game.decision_point(state)
        if type(point) is Over:
            return point.outcome
        if point.seat is None:
            action = game.draw_chance(state, dealer)
        else:
            seat = point.seat
            question = ask(game, state, seed=f"{seed}/{seat}", events=news[seat])
            action = action_of(bots[seat].decide(question))
            news[seat] = []
            assert action in game.legal_actions(state)
        for seat, told in enumerate(news):
            told.append(Told(game.observe_action(state, action, seat)))
        game.apply(state, action)
