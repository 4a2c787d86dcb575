"""A scripted bot on bare stubs: what it sends is what the test says."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import Any, Self

import grpc

from fritillary.api.v1 import bot_pb2 as pb
from fritillary.api.v1 import bot_pb2_grpc


class RawBot:
    """One stream. Messages from the server are kept by kind, in order.

    Args:
        address: of the server.
        token: of the bot.
        hello: fields of Hello.
        play: answers a request with a BotMessage, or nothing.
        auto: answer offers and Pings, acknowledge ends.
    """

    def __init__(
        self,
        address: str,
        token: str,
        *,
        play: Callable[[pb.DecisionRequest], pb.BotMessage | None] | None = None,
        auto: bool = True,
        **hello: Any,
    ) -> None:
        self.channel = grpc.aio.insecure_channel(
            address, options=(("grpc.use_local_subchannel_pool", 1),)
        )
        metadata = (("authorization", f"Bearer {token}"),) if token else ()
        self.call = bot_pb2_grpc.BotServiceStub(self.channel).Connect(metadata=metadata)
        self.hello = hello
        self.play = play
        self.auto = auto
        self.log: list[tuple[str, Any]] = []
        self._new = asyncio.Event()
        self._writing = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def open(self) -> None:
        """Say Hello and wait for the answer."""
        self.listen()
        await self.send(hello=pb.Hello(**self.hello))
        await self.until("welcome", "refusal")

    def listen(self) -> None:
        """Begin to read."""
        self._task = asyncio.create_task(self._read())

    async def close(self) -> None:
        """Cut the link."""
        self.call.cancel()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        await self.channel.close()

    async def send(self, **message: Any) -> None:
        """Send one message."""
        await self.send_all(pb.BotMessage(**message))

    async def send_all(self, *messages: pb.BotMessage) -> None:
        """Send messages in one frame."""
        # gRPC has room for one write at a time.
        async with self._writing:
            await self.call.write(pb.ConnectRequest(messages=messages))

    async def _read(self) -> None:
        try:
            while True:
                frame: Any = await self.call.read()
                if frame is grpc.aio.EOF:
                    break
                answers = []
                for message in frame.messages:
                    kind = message.WhichOneof("message")
                    body = getattr(message, kind)
                    self.log.append((kind, body))
                    if self.auto:
                        answers += self._answers(kind, body)
                self._new.set()
                if answers:
                    with contextlib.suppress(grpc.RpcError, asyncio.InvalidStateError):
                        await self.send_all(*answers)
        except grpc.RpcError:
            pass
        finally:
            self.log.append(("closed", None))
            self._new.set()

    def _answers(self, kind: str, body: Any) -> list[pb.BotMessage]:
        if kind == "ping":
            return [pb.BotMessage(pong=pb.Pong(id=body.id))]
        if kind == "match_offer":
            where = {"match_id": body.match_id, "seat": body.seat}
            return [
                pb.BotMessage(accept=pb.Accept(**where)),
                pb.BotMessage(ready=pb.Ready(**where)),
            ]
        if kind == "match_ended":
            return [pb.BotMessage(ack=pb.Ack(match_id=body.match_id, ended=True))]
        if kind == "decision_request" and self.play is not None:
            answer = self.play(body)
            return [] if answer is None else [answer]
        return []

    def all(self, kind: str) -> list[Any]:
        """Return all messages of a kind so far."""
        return [body for one, body in self.log if one == kind]

    def kinds(self) -> list[str]:
        """Return the kinds of all messages so far."""
        return [kind for kind, _ in self.log]

    async def until(self, *kinds: str, count: int = 1, within: float = 60) -> Any:
        """Wait until so many messages of some kinds are there; return the last."""
        async with asyncio.timeout(within):
            while True:
                found = [body for kind, body in self.log if kind in kinds]
                if len(found) >= count:
                    return found[count - 1]
                self._new.clear()
                await self._new.wait()


async def until(condition: Callable[[], object], within: float = 60) -> None:
    """Wait until a condition holds."""
    async with asyncio.timeout(within):
        while not condition():  # noqa: ASYNC110 - conditions of any kind
            await asyncio.sleep(0.01)


def decide(request: pb.DecisionRequest, **choice: Any) -> pb.BotMessage:
    """Return a decision on a request."""
    return pb.BotMessage(
        decision=pb.Decision(
            match_id=request.match_id,
            seat=request.seat,
            decision_id=request.decision_id,
            **choice,
        )
    )


def first_legal(request: pb.DecisionRequest) -> pb.BotMessage:
    """Roll on."""
    return decide(request, index=request.legal[0])


def last_legal(request: pb.DecisionRequest) -> pb.BotMessage:
    """Hold whenever possible."""
    return decide(request, index=request.legal[-1])
