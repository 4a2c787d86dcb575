"""Servers that mix up the matches of one stream: the gate must catch every one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import attrs
from tests.service.leakmany import MANY
from tests.service.leakmutants import PLAYS, secret_of

from fritillary.core.errors import ServiceError
from fritillary.referee.requests import Requests
from fritillary.referee.seen import Acted, SeatEvent
from fritillary.service import hub, matches
from fritillary.service.outbox import Outbox
from fritillary.service.remote import RemotePlayer
from fritillary.service.seatwire import SeatWire
from fritillary.service.session import Session


def _secrets() -> int:
    return sum(secret_of(one) for one in PLAYS)


def _statuses_of_other_matches(patch: Any) -> None:
    notify = RemotePlayer.notify

    def told(self: RemotePlayer, event: SeatEvent) -> None:
        notify(self, event)
        for other in self._link.players():
            if other.match_id != self.match_id and secret_of(self.match_id) % 2:
                other.send_status()

    patch.setattr(RemotePlayer, "notify", told)


def _another_order(patch: Any) -> None:
    send = Session.send

    def sent(self: Session, entry: bytes) -> None:
        if b"hidden-a" in entry and _secrets() % 2:
            # Whatever else is sent in this turn of the loop comes first.
            self._loop.call_soon(send, self, entry)
        else:
            send(self, entry)

    patch.setattr(Session, "send", sent)


def _other_frames(patch: Any) -> None:
    put = Outbox.put

    def apart(self: Outbox, entry: bytes) -> None:
        if _secrets() % 2:
            put(self, entry)
            return
        self.held += len(entry)
        self._last = bytearray(entry)
        self._frames.append(self._last)

    patch.setattr(Outbox, "put", apart)


def _numbers_for_all_matches(patch: Any) -> None:
    begin = Requests.begin
    ids: dict[int, int] = {}

    def opened(self: Requests, decision: Any, *args: Any) -> Any:
        self._ids[decision.seat] = ids.get(decision.seat, 0)
        request = begin(self, decision, *args)
        ids[decision.seat] = self._ids[decision.seat]
        return request

    patch.setattr(Requests, "begin", opened)


def _events_kept_for_all_matches(patch: Any) -> None:
    write = SeatWire.event
    last: dict[int, Acted] = {}

    def written(self: SeatWire, event: SeatEvent) -> bytes:
        body = event.body
        if type(body) is Acted:
            event = attrs.evolve(event, body=last.get(body.seat, body))
            last[body.seat] = body
        return write(self, event)

    patch.setattr(SeatWire, "event", written)


def _whether_there_is_a_match(patch: Any) -> None:
    seat, add = hub.Link.seat, hub.Link.add
    # Bots of one server share their counts.
    known: list[tuple[Any, str]] = []

    def added(self: hub.Link, player: RemotePlayer) -> None:
        known.append((self.counts, player.match_id))
        add(self, player)

    def found(self: hub.Link, match_id: str, number: int | None) -> Any:
        mine = match_id in self.matches
        if not mine and any(
            one is self.counts and match_id == other for one, other in known
        ):
            msg = f"seat {number} of this match is not yours"
            raise hub.UnusableMessageError(msg, code="seat.wrong")
        return seat(self, match_id, number)

    patch.setattr(hub.Link, "add", added)
    patch.setattr(hub.Link, "seat", found)


def _whether_there_is_one_to_show(patch: Any) -> None:
    async def found(self: Any, match_id: str) -> Any:
        hosted = await self._arena.find(match_id)
        if MANY not in hosted.bots:
            msg = f"you did not sit in {match_id!r}"
            raise ServiceError(msg, code="match.unknown")
        return hosted

    patch.setattr(matches.MatchServicer, "_for_caller", found)


#: By name: what is changed, where the gate finds it, and whether in a restart.
MIXED_UP: Final[dict[str, tuple[Callable[[Any], None], str, bool]]] = {
    "statuses of one match for events of another": (
        _statuses_of_other_matches,
        "stream 0.*match_status",
        False,
    ),
    "an order that follows from what is hidden": (_another_order, "stream 0", False),
    "frames that follow from what is hidden": (_other_frames, "frames", False),
    "numbers of requests for all matches together": (
        _numbers_for_all_matches,
        "decision_id",
        False,
    ),
    "the same after a restart": (_numbers_for_all_matches, "decision_id", True),
    "events that are kept for all matches together": (
        _events_kept_for_all_matches,
        "event.action",
        False,
    ),
    "whether there is a match of others": (
        _whether_there_is_a_match,
        "error.error",
        False,
    ),
    "whether there is one to show": (_whether_there_is_one_to_show, "GetMatch", False),
}
