"""A bot that knows of the arena what docs/protocol.md says, and has no generated code.

It asks the server by reflection what its messages look like, makes them as it goes, and
plays whatever it is offered, each decision in another of the forms that there are:

    FRITILLARY_ADDRESS=HOST:PORT FRITILLARY_TOKEN=TOKEN python reflection_bot.py

With ``--packed`` it asks for bare indices and looks them up in the action table; with
``--cut N`` it cuts its own link after so many decisions, and resumes. Asked the same
again it answers the same.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import queue
import random
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import (  # type: ignore[import-untyped]
    ProtoReflectionDescriptorDatabase,
)

PACKAGE = "fritillary.api.v1"

#: Tells this program from others of its name.
BUILD = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:16]

#: Statuses of a link that was lost, or of a server that is not back yet.
LOST = (grpc.StatusCode.CANCELLED, grpc.StatusCode.UNAVAILABLE)

#: For so long a lost link is tried again, in seconds.
GIVE_UP_S = 60.0


class Api:
    """The server's messages, as it describes them itself.

    Args:
        address: of the server.
        token: of the bot.
    """

    def __init__(self, address: str, token: str) -> None:
        self._address = address
        self._metadata = (("authorization", f"Bearer {token}"),)
        self._channel = self._dial()
        self._pool = DescriptorPool(ProtoReflectionDescriptorDatabase(self._channel))
        # All is asked for now: later this connection may be gone.
        for service in ("BotService", "CatalogService"):
            self._pool.FindServiceByName(f"{PACKAGE}.{service}")

    def _dial(self) -> grpc.Channel:
        # A connection of its own: another stream on one that is dead hears nothing.
        options = (
            ("grpc.use_local_subchannel_pool", 1),
            ("grpc.keepalive_time_ms", 30_000),
            ("grpc.keepalive_timeout_ms", 10_000),
            ("grpc.keepalive_permit_without_calls", 1),
        )
        return grpc.insecure_channel(self._address, options=options)

    def dial_again(self) -> None:
        """Give the connection up for another."""
        self._channel.close()
        self._channel = self._dial()

    def message(self, name: str) -> type[Any]:
        """Return the class of a message."""
        return GetMessageClass(self._pool.FindMessageTypeByName(f"{PACKAGE}.{name}"))

    def value(self, enum: str, name: str) -> int:
        """Return the number of a value of an enumeration."""
        return int(
            self._pool.FindEnumTypeByName(f"{PACKAGE}.{enum}")
            .values_by_name[name]
            .number
        )

    def call(self, method: str, request: Any) -> Any:
        """Return the answer to a unary call, such as ``CatalogService/GetGame``."""
        found = self._pool.FindMethodByName(f"{PACKAGE}.{method.replace('/', '.')}")
        ask = self._channel.unary_unary(
            f"/{PACKAGE}.{method}",
            request_serializer=type(request).SerializeToString,
            response_deserializer=GetMessageClass(found.output_type).FromString,
        )
        return ask(request, metadata=self._metadata, timeout=60)

    def connect(self, frames: Iterator[Any]) -> Any:
        """Open a stream."""
        request = self.message("ConnectRequest")
        response = self.message("ConnectResponse")
        connect = self._channel.stream_stream(
            f"/{PACKAGE}.BotService/Connect",
            request_serializer=request.SerializeToString,
            response_deserializer=response.FromString,
        )
        return connect(frames, metadata=self._metadata)


class Bot:
    """A session, over as many streams as it takes.

    Args:
        api: of the server.
        packed: ask for indices alone, in MessagePack; else all in words, in JSON.
        cut: cut the link after so many decisions; 0: never.
    """

    def __init__(self, api: Api, *, packed: bool, cut: int) -> None:
        self._api = api
        self._packed = packed
        self._cut = cut
        self._session_token = ""
        self._decisions = 0
        self._welcomed = False
        self._heard = 0.0
        self._keepalive: Any = None
        self._outgoing: queue.SimpleQueue[Any] = queue.SimpleQueue()
        #: By match and seat.
        self._acks: dict[tuple[str, int], Any] = {}
        self._seeds: dict[tuple[str, int], int] = {}
        self._tables: dict[bytes, list[Any]] = {}
        self._table_of: dict[str, list[Any]] = {}

    def play(self) -> None:
        """Play until the server says goodbye for good.

        Raises:
            SystemExit: if it will not have the bot, or is not there any more.
        """
        tries = 0
        lost = time.monotonic()
        while (wait_s := self._one_stream()) is not None:
            if self._welcomed:
                self._welcomed = False
                tries, lost = 0, time.monotonic()
            elif time.monotonic() - lost > GIVE_UP_S:
                raise SystemExit("the server is gone")
            # Not all at once: chance is no part of the play here.
            back_off_s = min(0.1 * 2**tries, 5.0) * random.uniform(0.5, 1.5)
            time.sleep(wait_s + back_off_s)
            self._api.dial_again()
            tries += 1

    def _one_stream(self) -> float | None:
        """Serve a stream to its end.

        Returns:
            Seconds after which to dial in again; nothing if that is not wanted.
        """
        self._outgoing = queue.SimpleQueue()
        self._send(hello=self._hello())
        stream = self._api.connect(iter(self._outgoing.get, None))
        over = threading.Event()
        self._heard = time.monotonic()
        self._keepalive = None
        threading.Thread(target=self._watch, args=(stream, over), daemon=True).start()
        wait_s: float | None = 0.0
        try:
            for frame in stream:
                self._heard = time.monotonic()
                for message in frame.messages:
                    kind = message.WhichOneof("message")
                    if kind == "goodbye":
                        goodbye = message.goodbye
                        again = goodbye.HasField("reconnect_after_ms")
                        wait_s = goodbye.reconnect_after_ms / 1000 if again else None
                    elif kind == "refusal":
                        raise SystemExit(f"refused: {message.refusal.error.code}")
                    elif kind is not None:
                        # A message that is not known here is no reason to stop.
                        handle = getattr(self, f"_on_{kind}", None)
                        if handle is not None:
                            handle(getattr(message, kind))
                if 0 < self._cut <= self._decisions:
                    self._cut = 0
                    stream.cancel()
                    print("the link is cut", file=sys.stderr)
        except grpc.RpcError as error:
            if error.code() not in LOST:
                raise SystemExit(f"{error.code()}: {error.details()}") from None
        finally:
            over.set()
            self._outgoing.put(None)
        return wait_s

    def _watch(self, stream: Any, over: threading.Event) -> None:
        """Ping a server that is silent, and give up one that stays so."""
        pinged = False
        while not over.wait(0.1):
            limits = self._keepalive
            if limits is None:
                continue
            silent_ms = (time.monotonic() - self._heard) * 1000
            if silent_ms < limits.ping_after_ms:
                pinged = False
            elif not pinged:
                pinged = True
                self._send(ping={"id": 1})
            elif silent_ms >= limits.ping_after_ms + limits.pong_within_ms:
                print("the server is silent", file=sys.stderr)
                stream.cancel()

    def _send(self, **message: Any) -> None:
        frame = self._api.message("ConnectRequest")()
        frame.messages.add(**message)
        self._outgoing.put(frame)

    def _hello(self) -> Any:
        form = "LEGAL_FORM_PACKED" if self._packed else "LEGAL_FORM_EXPANDED"
        encoding = "ENCODING_MSGPACK" if self._packed else "ENCODING_JSON"
        return self._api.message("Hello")(
            bot={"name": "reflection", "version": "1", "build": BUILD},
            legal_form=self._api.value("LegalForm", form),
            encoding=self._api.value("Encoding", encoding),
            session_token=self._session_token,
            acks=self._acks.values(),
        )

    # ------------------------------------------------------------- from the server

    def _on_welcome(self, welcome: Any) -> None:
        if self._session_token:
            print(f"resumed: {welcome.resumed}", file=sys.stderr)
        self._session_token = welcome.session_token
        self._welcomed = True
        self._keepalive = welcome.limits.keepalive

    def _on_ping(self, ping: Any) -> None:
        self._send(pong={"id": ping.id})

    def _on_match_offer(self, offer: Any) -> None:
        where = {"match_id": offer.match_id, "seat": offer.seat}
        chance = random.Random(offer.bot_seed)
        nonce = chance.randbytes(16) if offer.nonce_wanted else b""
        self._send(accept={**where, "nonce": nonce})
        self._seeds[offer.match_id, offer.seat] = offer.bot_seed
        if self._packed and offer.HasField("table"):
            if offer.table.hash not in self._tables:
                self._tables[offer.table.hash] = self._table(offer)
            self._table_of[offer.match_id] = self._tables[offer.table.hash]
        self._send(ready=where)

    def _table(self, offer: Any) -> list[Any]:
        """Return the whole action table of an offer."""
        name = "+".join([offer.game.id, *(each.id for each in offer.game.variants)])
        request = self._api.message("ListActionsRequest")(
            game=name,
            options={
                "options": {
                    "encoding": self._api.value("Encoding", "ENCODING_MSGPACK"),
                    "data": offer.options,
                }
            },
            seats=len(offer.seats),
            page_size=50,
        )
        entries: list[Any] = []
        while True:
            page = self._api.call("CatalogService/ListActions", request)
            entries += page.actions
            request.page_token = page.next_page_token
            if not page.next_page_token:
                break
        if (page.table.hash, len(entries)) != (offer.table.hash, offer.table.size):
            raise SystemExit("the table is not the one of the offer")
        return entries

    def _on_event(self, event: Any) -> None:
        self._ack(event).event_number = event.number

    def _on_decision_closed(self, closed: Any) -> None:
        self._ack(closed).closed_decision_id = closed.decision_id

    def _on_match_ended(self, ended: Any) -> None:
        print(f"ended: {ended.result.outcome.reason}", file=sys.stderr)
        self._send(ack={"match_id": ended.match_id, "seat": ended.seat, "ended": True})
        self._acks.pop((ended.match_id, ended.seat), None)

    def _ack(self, about: Any) -> Any:
        key = (about.match_id, about.seat)
        if key not in self._acks:
            self._acks[key] = self._api.message("Ack")(
                match_id=about.match_id, seat=about.seat
            )
        return self._acks[key]

    def _on_decision_request(self, request: Any) -> None:
        seed = self._seeds[request.match_id, request.seat]
        chance = random.Random(f"{seed}/{request.decision_id}")
        index = chance.choice(request.legal)
        table = self._table_of.get(request.match_id)
        if table is not None:
            entry, action = table[index], table[index].msgpack
        else:
            entry = next(each for each in request.legal_actions if each.index == index)
            action = entry.action
        forms: list[dict[str, Any]] = [
            {"index": index},
            {"text": entry.text},
            {"action": action},
        ]
        self._send(
            decision={
                "match_id": request.match_id,
                "seat": request.seat,
                "decision_id": request.decision_id,
                **forms[request.decision_id % len(forms)],
            }
        )
        self._decisions += 1


def main() -> None:
    """Play at the server that the arguments or the environment name."""
    parser = argparse.ArgumentParser(description="Plays any game, by reflection alone.")
    parser.add_argument("--address", default=os.environ.get("FRITILLARY_ADDRESS"))
    parser.add_argument("--token", default=os.environ.get("FRITILLARY_TOKEN"))
    parser.add_argument("--packed", action="store_true")
    parser.add_argument("--cut", type=int, default=0, metavar="N")
    given = parser.parse_args()
    api = Api(given.address, given.token)
    Bot(api, packed=given.packed, cut=given.cut).play()


if __name__ == "__main__":
    main()
