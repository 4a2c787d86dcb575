"""Bots that each do one thing wrong, and two that only look as if they did."""

from __future__ import annotations

import os
import random
import signal
import sys
import threading
import time

from tests.sparring.zoo.good import Bot

from fritillary.api.v1 import bot_pb2 as pb
from fritillary.api.v1 import common_pb2

#: The request of a match at which many of them misbehave. Those items that need few
#: decisions do not come so far.
SIXTH = 6

ZOO: dict[str, type[Bot]] = {"good": Bot}


def beast(cls: type[Bot]) -> type[Bot]:
    """Put a bot into the zoo, under its name in lower case with hyphens."""
    name = "".join(f"-{c.lower()}" if c.isupper() else c for c in cls.__name__)
    ZOO[name.lstrip("-")] = cls
    return cls


# ---------------------------------------------------------------- harmless, after all


@beast
class WritesGarbage(Bot):
    """Its standard output is nobody's business."""

    def answer(self, request: pb.DecisionRequest) -> None:
        sys.stdout.buffer.write(b"\xff\x00\x1b[2J{" * 1000 + b"\n")
        sys.stdout.flush()
        super().answer(request)


@beast
class AnswersTwice(Bot):
    """To repeat what was accepted is harmless."""

    def answer(self, request: pb.DecisionRequest) -> None:
        super().answer(request)
        self.send_all([self.given[request.match_id][1]])


# ---------------------------------------------------------------------------- hello


@beast
class HasNoBuild(Bot):
    build = ""


@beast
class CrashesAtStart(Bot):
    def run(self) -> int:
        print("no such file: weights.bin", file=sys.stderr)
        return 3


# -------------------------------------------------------------------------- matches


@beast
class Sleeps(Bot):
    def answer(self, request: pb.DecisionRequest) -> None:
        if self.counts[request.match_id] == SIXTH:
            time.sleep(3600)
        super().answer(request)


@beast
class AnswersLate(Bot):
    def answer(self, request: pb.DecisionRequest) -> None:
        if self.counts[request.match_id] == SIXTH:
            time.sleep(request.clock.left_ms / 1000 + 0.5)
        super().answer(request)


@beast
class CrashesInTheMiddle(Bot):
    def answer(self, request: pb.DecisionRequest) -> None:
        if self.counts[request.match_id] == SIXTH:
            os._exit(3)
        super().answer(request)


@beast
class CrashesAtTheEnd(Bot):
    def on_match_ended(self, ended: pb.MatchEnded) -> None:
        if ended.result.kind == common_pb2.MATCH_END_KIND_PLAYED:
            os._exit(3)
        super().on_match_ended(ended)


@beast
class IllegalOnce(Bot):
    def answer(self, request: pb.DecisionRequest) -> None:
        if self.counts[request.match_id] == SIXTH:
            self.reply(request, _illegal(request))
        else:
            super().answer(request)


@beast
class IllegalAlways(Bot):
    def choose(self, request: pb.DecisionRequest) -> int:
        return _illegal(request)


def _illegal(request: pb.DecisionRequest) -> int:
    return next(n for n in range(len(request.legal) + 1) if n not in request.legal)


@beast
class AnswersAnOldRequest(Bot):
    def answer(self, request: pb.DecisionRequest) -> None:
        shift = -1 if self.counts[request.match_id] == SIXTH else 0
        self.reply(request, self.choose(request), shift)


@beast
class ForgetsToAcknowledge(Bot):
    """Of matches that were called off it does not want to know."""

    def on_match_ended(self, ended: pb.MatchEnded) -> None:
        if ended.result.HasField("outcome"):
            super().on_match_ended(ended)


# ------------------------------------------------------------------ useless messages


@beast
class Floods(Bot):
    def answer(self, request: pb.DecisionRequest) -> None:
        if self.counts[request.match_id] == SIXTH:
            # In one frame: of many, a slow machine may not read more than is allowed.
            self.send_all([pb.BotMessage(ping=pb.Ping(id=1))] * 40_000)
        super().answer(request)


@beast
class Chatters(Bot):
    """It keeps the limits, and sends what nobody asked it for."""

    def answer(self, request: pb.DecisionRequest) -> None:
        for number in range(1, 151):
            self.send(ping=pb.Ping(id=number))
        # Below the rate that is allowed.
        time.sleep(0.05)
        super().answer(request)


@beast
class SendsGarbage(Bot):
    def answer(self, request: pb.DecisionRequest) -> None:
        if self.counts[request.match_id] == SIXTH:
            self.outbox.put(b"\xff\xff\xff")
            self.send_all([pb.BotMessage()])
        super().answer(request)


@beast
class ChangesItsMind(Bot):
    def answer(self, request: pb.DecisionRequest) -> None:
        super().answer(request)
        if self.counts[request.match_id] == SIXTH:
            kept = self.given[request.match_id]
            self.reply(request, request.legal[0] + request.legal[-1] + 1)
            self.given[request.match_id] = kept


# ----------------------------------------------------------------------------- alike


@beast
class Remembers(Bot):
    def choose(self, request: pb.DecisionRequest) -> int:
        return request.legal[len(self.seeds) % len(request.legal)]


@beast
class RollsItsOwnDice(Bot):
    def choose(self, request: pb.DecisionRequest) -> int:
        return random.SystemRandom().choice(request.legal)


# --------------------------------------------------------------------------- referee


@beast
class IgnoresPings(Bot):
    def on_ping(self, ping: pb.Ping) -> None:
        pass


@beast
class Thinks(Bot):
    """It thinks in another thread than the one that reads, and for long."""

    seconds = 2.5
    asked = ("", 0)

    def answer(self, request: pb.DecisionRequest) -> None:
        copy = pb.DecisionRequest()
        copy.CopyFrom(request)
        self.asked = copy.match_id, copy.decision_id
        threading.Thread(target=self.think, args=(copy,), daemon=True).start()

    def think(self, request: pb.DecisionRequest) -> None:
        time.sleep(self.seconds)
        if self.asked == (request.match_id, request.decision_id):
            super().answer(request)

    def on_decision_closed(self, closed: pb.DecisionClosed) -> None:
        self.asked = "", 0


@beast
class ReadsNothingWhileItThinks(Bot):
    def answer(self, request: pb.DecisionRequest) -> None:
        # Twice as long as a Pong may take, however late the Ping is sent.
        time.sleep(4)
        super().answer(request)


@beast
class MixesUpRequests(Bot):
    """It puts the newest id into whatever it sends."""

    def __init__(self) -> None:
        super().__init__()
        self.newest: dict[str, int] = {}

    def frame(self, frame: pb.ConnectResponse) -> None:
        for message in frame.messages:
            if message.HasField("decision_request"):
                request = message.decision_request
                self.newest[request.match_id] = request.decision_id
        super().frame(frame)

    def answer(self, request: pb.DecisionRequest) -> None:
        newest = self.newest[request.match_id]
        late = newest != request.decision_id
        index = request.legal[0] + 1000 if late else self.choose(request)
        self.reply(request, index, newest - request.decision_id)


@beast
class AnswersEachPlyOnce(Bot):
    """A request that comes again under another id is no news to it."""

    def __init__(self) -> None:
        super().__init__()
        self.plies: set[tuple[str, int]] = set()

    def answer(self, request: pb.DecisionRequest) -> None:
        key = request.match_id, request.ply
        if key not in self.plies:
            self.plies.add(key)
            super().answer(request)


@beast
class AcceptsEverything(Bot):
    def on_match_offer(self, offer: pb.MatchOffer) -> None:
        self.games = (*self.games, offer.game.id)
        super().on_match_offer(offer)
        self.games = Bot.games


@beast
class CrashesAtStrangeGames(Bot):
    def on_match_offer(self, offer: pb.MatchOffer) -> None:
        if offer.game.id not in self.games:
            os._exit(3)
        super().on_match_offer(offer)


@beast
class ExceedsItsCapacity(Bot):
    """It says that it plays three matches, and knows of the last one alone."""

    capacity = 3
    last = ""

    def on_match_offer(self, offer: pb.MatchOffer) -> None:
        self.last = offer.match_id
        super().on_match_offer(offer)

    def answer(self, request: pb.DecisionRequest) -> None:
        request.match_id = self.last
        super().answer(request)


# ------------------------------------------------------------------------------ links


@beast
class NeverComesBack(Bot):
    def pause(self) -> float | None:
        return None


@beast
class BeginsAnew(Bot):
    def on_welcome(self, welcome: pb.Welcome) -> None:
        super().on_welcome(welcome)
        self.session = ""


@beast
class DecidesAgain(Bot):
    """What was lost is answered in another way."""

    def dial(self) -> None:
        self.given.clear()
        super().dial()

    def choose(self, request: pb.DecisionRequest) -> int:
        number = self.counts[request.match_id]
        return request.legal[number % len(request.legal)]


@beast
class WaitsForEver(Bot):
    def on_welcome(self, welcome: pb.Welcome) -> None:
        self.session = welcome.session_token


@beast
class IgnoresGoodbye(Bot):
    def on_goodbye(self, goodbye: pb.Goodbye) -> None:
        pass


@beast
class StaysAfterGoodbye(Bot):
    def pause(self) -> float | None:
        pause = super().pause()
        return 3600.0 if pause is None else pause


@beast
class FailsAtGoodbye(Bot):
    def run(self) -> int:
        return super().run() or 1


@beast
class IgnoresSigterm(Bot):
    def run(self) -> int:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        return super().run()
