"""A bot on the raw wire that does everything right, and shows how little that takes.

The bots beside it are made from it by changing one thing.
"""

from __future__ import annotations

import contextlib
import os
import queue
import threading
import time
from typing import Any

import grpc

from fritillary.api.v1 import bot_pb2 as pb
from fritillary.api.v1 import common_pb2

_CONNECT = "/fritillary.api.v1.BotService/Connect"

#: Between a lost link and the next, in seconds.
_PAUSE_S = 0.1


class Bot:
    """Plays any game by the seed that it is given."""

    build = "1"
    games: tuple[str, ...] = ("lepidoptery",)
    capacity = 1

    def __init__(self) -> None:
        self.session = ""
        self.seeds: dict[str, int] = {}
        #: By match: the last request that was answered, and the answer.
        self.given: dict[str, tuple[int, pb.BotMessage]] = {}
        #: By match: how many requests were answered.
        self.counts: dict[str, int] = {}
        self.outbox: queue.Queue[bytes | None] = queue.Queue()
        self.goodbye: pb.Goodbye | None = None
        self.keepalive = pb.Keepalive()
        self.heard = 0.0

    # -- the link

    def run(self) -> int:
        """Play until the server says goodbye for good; return the exit code."""
        while True:
            self.dial()
            pause = self.pause()
            if pause is None:
                return 0
            time.sleep(pause)

    def pause(self) -> float | None:
        """Return how long to wait before the next link; None: there is none."""
        if self.goodbye is None:
            return _PAUSE_S
        if self.goodbye.HasField("reconnect_after_ms"):
            return self.goodbye.reconnect_after_ms / 1000 + _PAUSE_S
        return None

    def dial(self) -> None:
        """Open a stream, and handle it to its end."""
        self.goodbye = None
        self.outbox = queue.Queue()
        self.keepalive = pb.Keepalive()
        self.heard = time.monotonic()
        over = threading.Event()
        options = (("grpc.use_local_subchannel_pool", 1),)
        with grpc.insecure_channel(
            os.environ["FRITILLARY_ADDRESS"], options
        ) as channel:
            connect: Any = channel.stream_stream(_CONNECT)
            call = connect(
                iter(self.outbox.get, None),
                metadata=(
                    ("authorization", f"Bearer {os.environ['FRITILLARY_TOKEN']}"),
                ),
            )
            self.send(hello=self.hello())
            threading.Thread(target=self.watch, args=(call, over), daemon=True).start()
            with contextlib.suppress(grpc.RpcError):
                for raw in call:
                    self.heard = time.monotonic()
                    self.frame(pb.ConnectResponse.FromString(raw))
            over.set()
            self.outbox.put(None)

    def hello(self) -> pb.Hello:
        """Return what is said first."""
        return pb.Hello(
            bot=common_pb2.PlayerInfo(name="zoo", build=self.build),
            games=[pb.GameSupport(game=game) for game in self.games],
            capacity=self.capacity,
            session_token=self.session,
        )

    def watch(self, call: Any, over: threading.Event) -> None:
        """Find out that the server is silent."""
        pinged = 0.0
        while not over.wait(0.05):
            after, within = self.keepalive.ping_after_ms, self.keepalive.pong_within_ms
            silent = time.monotonic() - self.heard
            if not after or silent < after / 1000:
                continue
            if pinged < self.heard:
                pinged = time.monotonic()
                self.send(ping=pb.Ping(id=1))
            elif time.monotonic() - pinged > within / 1000:
                call.cancel()

    def send(self, **message: Any) -> None:
        """Send one message."""
        self.send_all([pb.BotMessage(**message)])

    def send_all(self, messages: list[pb.BotMessage]) -> None:
        """Send one frame."""
        self.outbox.put(pb.ConnectRequest(messages=messages).SerializeToString())

    # -- what the server says

    def frame(self, frame: pb.ConnectResponse) -> None:
        """Handle one frame."""
        for message in frame.messages:
            kind = message.WhichOneof("message")
            if kind is not None and hasattr(self, f"on_{kind}"):
                getattr(self, f"on_{kind}")(getattr(message, kind))

    def on_welcome(self, welcome: pb.Welcome) -> None:
        self.session = welcome.session_token
        self.keepalive = welcome.limits.keepalive

    def on_match_offer(self, offer: pb.MatchOffer) -> None:
        where: Any = {"match_id": offer.match_id, "seat": offer.seat}
        if offer.game.id not in self.games:
            self.send(decline=pb.Decline(**where, code="game.unknown"))
            return
        self.seeds[offer.match_id] = offer.bot_seed
        self.counts.setdefault(offer.match_id, 0)
        self.send(accept=pb.Accept(**where))
        self.send(ready=pb.Ready(**where))

    def on_decision_request(self, request: pb.DecisionRequest) -> None:
        known = self.given.get(request.match_id)
        if known is not None and known[0] == request.decision_id:
            self.send_all([known[1]])
            return
        self.counts[request.match_id] += 1
        self.answer(request)

    def answer(self, request: pb.DecisionRequest) -> None:
        """Answer a request for the first time."""
        self.reply(request, self.choose(request))

    def choose(self, request: pb.DecisionRequest) -> int:
        """Return an index."""
        number = self.seeds[request.match_id] + request.decision_id
        return request.legal[number % len(request.legal)]

    def reply(self, request: pb.DecisionRequest, index: int, shift: int = 0) -> None:
        """Send a decision, and keep it for when it is asked for again."""
        message = pb.BotMessage(
            decision=pb.Decision(
                match_id=request.match_id,
                seat=request.seat,
                decision_id=request.decision_id + shift,
                index=index,
            )
        )
        self.given[request.match_id] = request.decision_id, message
        self.send_all([message])

    def on_match_ended(self, ended: pb.MatchEnded) -> None:
        self.send(ack=pb.Ack(match_id=ended.match_id, seat=ended.seat, ended=True))

    def on_ping(self, ping: pb.Ping) -> None:
        self.send(pong=pb.Pong(id=ping.id))

    def on_goodbye(self, goodbye: pb.Goodbye) -> None:
        self.goodbye = goodbye
