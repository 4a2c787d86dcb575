"""Bots of this process, as players."""

from __future__ import annotations

import asyncio

from tests.referee.support import SALT, SEED, SIGNER

from fritillary import BaseBot
from fritillary.record.terms import PlayerInfo
from fritillary.record.writer import MemorySink
from fritillary.referee.match import Match
from fritillary.referee.player import LocalPlayer
from fritillary.referee.setup import MatchSetup


class First(BaseBot):
    """Takes the first legal action, inline."""

    light = True

    def decide(self, ask):
        return ask.legal[0]


def local(bot):
    return LocalPlayer(bot, PlayerInfo("local"))


def answering(*answers, light=True):
    """Return a player whose bot answers from a list, then with the first action."""
    left = list(answers)

    class Bot(BaseBot):
        light: bool

        def decide(self, ask):
            answer = left.pop(0) if left else ask.legal[0]
            if isinstance(answer, BaseException):
                raise answer
            return answer

    bot = Bot()
    bot.light = light
    return local(bot)


def play(players, game, *, seed=SEED, nonces_wanted=False, options=None):
    """Play a match in real time; return its result and the bytes of its record."""

    async def main():
        setup = MatchSetup(
            game=game,
            players=players,
            options=options,
            seed=seed,
            salt=SALT,
            nonces_wanted=nonces_wanted,
        )
        sink = MemorySink()
        return await Match(setup, sink, SIGNER).run(), sink.getvalue()

    return asyncio.run(main())
