"""A bot on a bare connection: it sends what it likes, and counts what it is told."""
# mypy: disable-error-code="arg-type,misc,unused-ignore"
# Sends what the types forbid.

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Self

from google.protobuf.message import DecodeError
from tests.service.fuzz.http2 import Http2, message
from tests.service.fuzz.tally import Tally

from fritillary.api.v1 import bot_pb2 as pb

CONNECT: Final = "/fritillary.api.v1.BotService/Connect"

#: Pings of `sync` count from here; no other has such a number.
_SYNC: Final = 1 << 60


def frame_of(*messages: pb.BotMessage) -> bytes:
    """Return a frame of some messages."""
    return pb.ConnectRequest(messages=messages).SerializeToString()


def said(**body: Any) -> bytes:
    """Return a frame of one message."""
    return frame_of(pb.BotMessage(**body))


class Attacker:
    """One stream of a bot.

    Args:
        address: of the server.
        token: of the bot.
        tally: counts codes, and how the stream ends.
        hello: fields of Hello; ``None``: it says none.
        plays: whether it takes the seats that it is offered.
        connection: to share; default: one of its own.

    Attributes:
        welcome: what the server said to Hello.
        requests: those that are open, by match.
        offers: of matches that go on.
        ended: ids of matches that have.
        accepted: how many of its decisions were.
        answers: what it has to answer and has not yet.
    """

    def __init__(
        self,
        address: str,
        token: str,
        tally: Tally,
        *,
        hello: dict[str, Any] | None = None,
        plays: bool = True,
        connection: Http2 | None = None,
    ) -> None:
        self._token = token
        self._tally = tally
        self._hello = hello
        self._plays = plays
        self._own = connection is None
        self.http2 = connection or Http2(address)
        self.stream = 0
        self.welcome: pb.Welcome | None = None
        self.requests: dict[str, pb.DecisionRequest] = {}
        self.offers: dict[str, pb.MatchOffer] = {}
        self.ended: set[str] = set()
        self.accepted = 0
        self.answers: list[bytes] = []
        self._synced = self._syncs = _SYNC
        self._counted = False

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def open(self) -> None:
        """Dial in, and say Hello unless there is none."""
        if self._own:
            await self.http2.open()
        self.stream = await self.http2.call(CONNECT, self._token, self._hear)
        if self._hello is not None:
            await self.send(said(hello=pb.Hello(**self._hello)))
            await self.http2.until(lambda: self.welcome or self.over)

    async def close(self) -> None:
        """Leave without a word."""
        self._count_end()
        if self._own:
            await self.http2.close()

    @property
    def over(self) -> bool:
        """Whether the stream or its connection has ended."""
        return self.stream in self.http2.ends or bool(self.http2.gone)

    async def end(self, within: float = 60) -> str:
        """Wait for the end; return how it was."""
        how = await self.http2.ended(self.stream, within)
        self._count_end()
        return how

    def _count_end(self) -> None:
        if self.over and not self._counted:
            self._counted = True
            self._tally.ended(self.http2.ends.get(self.stream) or self.http2.gone)

    async def send(self, *frames: bytes) -> bool:
        """Send frames; return whether all went."""
        return await self.http2.data(self.stream, b"".join(map(message, frames)))

    async def sync(self, within: float = 60) -> bool:
        """Wait until all that was sent was handled; return whether the stream lives."""
        self._syncs += 1
        wanted = self._syncs
        await self.answer()
        await self.send(said(ping=pb.Ping(id=wanted)))
        done = await self.http2.until(
            lambda: self._synced >= wanted or self.over, within
        )
        self._tally.expect(done, "frames were not handled in time")
        return not self.over

    async def answer(self) -> None:
        """Send what has to be answered."""
        answers, self.answers = self.answers, []
        if answers:
            await self.send(*answers)

    def _hear(self, raw: bytes) -> None:
        try:
            messages: Sequence[pb.ServerMessage] = pb.ConnectResponse.FromString(
                raw
            ).messages
        except DecodeError:
            self._tally.expect(False, "the server wrote a frame that nobody can read")
            return
        for one in messages:
            kind = one.WhichOneof("message")
            if kind is not None:
                getattr(self, f"_on_{kind}", lambda _: None)(getattr(one, kind))

    def _on_welcome(self, body: pb.Welcome) -> None:
        self.welcome = body

    def _on_refusal(self, body: pb.Refusal) -> None:
        self._check(body.error.code, "a refusal")

    def _on_goodbye(self, body: pb.Goodbye) -> None:
        self._check(body.code, "a goodbye")
        self._tally.code(body.code)

    def _on_error(self, body: pb.ErrorNotice) -> None:
        self._check(body.error.code, "a notice")
        self._tally.code(body.error.code)

    def _check(self, code: str, what: str) -> None:
        self._tally.expect(code, f"{what} has no code")

    def _on_ping(self, body: pb.Ping) -> None:
        self.answers.append(said(pong=pb.Pong(id=body.id)))

    def _on_pong(self, body: pb.Pong) -> None:
        if _SYNC < body.id <= self._syncs:
            self._synced = body.id

    def _on_match_offer(self, body: pb.MatchOffer) -> None:
        self.offers[body.match_id] = body
        if self._plays:
            where = {"match_id": body.match_id, "seat": body.seat}
            self.answers.append(
                frame_of(
                    pb.BotMessage(accept=pb.Accept(**where)),
                    pb.BotMessage(ready=pb.Ready(**where)),
                )
            )

    def _on_decision_request(self, body: pb.DecisionRequest) -> None:
        self.requests[body.match_id] = body

    def _on_decision_closed(self, body: pb.DecisionClosed) -> None:
        open_one = self.requests.get(body.match_id)
        if open_one is not None and open_one.decision_id == body.decision_id:
            del self.requests[body.match_id]
        if body.closure == pb.DECISION_CLOSURE_ACCEPTED:
            self.accepted += 1
        elif body.closure == pb.DECISION_CLOSURE_RULED:
            self._check(body.error.code, "a ruling")
            self._tally.code(body.error.code)

    def _on_match_ended(self, body: pb.MatchEnded) -> None:
        self.ended.add(body.match_id)
        self.requests.pop(body.match_id, None)
        self.offers.pop(body.match_id, None)
        self.answers.append(said(ack=pb.Ack(match_id=body.match_id, ended=True)))
