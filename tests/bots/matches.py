"""Records of matches in which everything that is played is given."""

from __future__ import annotations

import asyncio

from fritillary import BaseBot
from fritillary.record.reader import read_file, read_record
from fritillary.record.signing import Signer
from fritillary.record.terms import PlayerInfo
from fritillary.record.writer import FileSink
from fritillary.referee.match import Match
from fritillary.referee.player import LocalPlayer
from fritillary.referee.setup import MatchSetup


class Reader(BaseBot):
    """Plays actions in their notation, the first one next; then whatever is legal."""

    def __init__(self, texts):
        self.texts = list(texts)

    def decide(self, ask):
        if not self.texts:
            return ask.legal[0]
        text = self.texts.pop(0)
        return next(each for each in ask.legal if ask.game.notation(each) == text)


def write_match(path, game, texts, *, seed=b"s" * 32, seats=2):
    """Play a match in which the seats take turns; return the path of its record."""
    players = tuple(
        LocalPlayer(Reader(texts[seat::seats]), PlayerInfo(f"reader-{seat}"))
        for seat in range(seats)
    )
    setup = MatchSetup(
        game=game, players=players, match_id="m-1", seed=seed, salt=b"t" * 32
    )
    asyncio.run(Match(setup, FileSink(path), Signer(b"k" * 32)).run())
    return path


def match_of(path, game, texts, **settings):
    """Play such a match; return its record."""
    return read_record(read_file(write_match(path, game, texts, **settings)))
