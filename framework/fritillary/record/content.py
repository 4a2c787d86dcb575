"""The content hash: what happened in a match, without times, ids and measurements."""

from __future__ import annotations

import hashlib
from typing import Any

from fritillary.codec.packing import pack_own
from fritillary.record.events import (
    ActionTaken,
    ChanceDrawn,
    Ended,
    Header,
    RecordEvent,
    Resigned,
    Ruling,
)


class Content:
    """Collects what happened and hashes it.

    The hash is SHA-256 over the msgpack of a list: first ``["match", full game id,
    rules version, [variant versions], options hex, number of seats, hex of SHA-256 of
    the seed that the deal really used]``, then one list for each event that counts:
    ``["action", seat, index or action hex, source]``, ``["chance", action hex or
    nothing]``, ``["ruling", seat, fault, consequence, code, offending hex]``,
    ``["resigned", seat]``, ``["ended", kind, code, reason, scores, placing]``.
    """

    def __init__(self, header: Header) -> None:
        self._header = header
        self._deal = ""
        self._happened: list[list[Any]] = []

    def dealt(self, seed: bytes) -> None:
        """Note the seed that the deal really used."""
        self._deal = hashlib.sha256(seed).hexdigest()

    def action(self, seat: int, index: int | str | None, source: str) -> None:
        """Note an action; the shortest way for the hot path."""
        self._happened.append(["action", seat, index, source])

    def add(self, event: RecordEvent) -> None:
        """Note an event; those that do not count are left out."""
        match event:
            case ActionTaken():
                which = event.action if event.index is None else event.index
                self.action(event.seat, which, event.source.value)
            case ChanceDrawn():
                self._happened.append(["chance", event.action])
            case Ruling():
                self._happened.append(
                    [
                        "ruling",
                        event.seat,
                        event.fault.value,
                        event.consequence.value,
                        event.code,
                        event.offending,
                    ]
                )
            case Resigned():
                self._happened.append(["resigned", event.seat])
            case Ended():
                what: list[Any] = ["ended", event.kind.value, event.code]
                if event.outcome is not None:
                    outcome = event.outcome
                    what += [
                        outcome.reason,
                        list(outcome.scores),
                        list(outcome.placing),
                    ]
                self._happened.append(what)
            case _:
                pass

    def digest(self) -> bytes:
        """Return the hash."""
        header = self._header
        first: list[Any] = [
            "match",
            header.game.full_id,
            header.game.rules_version,
            [variant.version for variant in header.game.variants],
            header.options,
            len(header.seats),
            self._deal,
        ]
        return hashlib.sha256(pack_own([first, *self._happened])).digest()
