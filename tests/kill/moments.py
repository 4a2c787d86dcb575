"""The moments of a match at which something is done to it.

They are hit exactly: the function in which a moment lies is wrapped, and at the wanted
occurrence its process tells the harness and stands still until it may go on.
"""

from __future__ import annotations

import functools
import json
import os
import socket
import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

from fritillary.record.events import Dealt, Ended, Restarted, Ruling
from fritillary.record.writer import FileSink, RecordWriter
from fritillary.service.private import PrivateFolder
from fritillary.service.remote import RemotePlayer
from fritillary.service.spawn import Child
from fritillary_client.client import Client
from fritillary_client.seat import Seat


class Control:
    """A process's line to the harness.

    Args:
        path: of the socket on which the harness listens.
        tag: how the harness calls the process.
        armed: moment and occurrence (from 1) at which to stand still.

    Attributes:
        counts: how often each moment came.
        programs: launchers of the programs that this process has started.
    """

    def __init__(self, path: str, tag: str, armed: tuple[str, int] | None) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(path)
        self._lines = self._socket.makefile("rb")
        self._lock = threading.Lock()
        self._armed = armed
        self.counts: Counter[str] = Counter()
        self.programs: list[int] = []
        self.tell(hello=tag, pid=os.getpid())

    def tell(self, **what: Any) -> None:
        with self._lock:
            self._socket.sendall(json.dumps(what).encode() + b"\n")

    def due(self, moment: str) -> bool:
        """Count a moment; return whether it is the wanted one."""
        self.counts[moment] += 1
        return self._armed == (moment, self.counts[moment])

    def stand_still(self, moment: str) -> None:
        self.tell(at=moment, programs=self.programs)
        self._lines.readline()

    def hit(self, moment: str) -> None:
        if self.due(moment):
            self.stand_still(moment)


def _wrap(
    control: Control, owner: type, method: str, before: str = "", after: str = ""
) -> None:
    original = getattr(owner, method)

    @functools.wraps(original)
    def wrapped(*args: Any, **settings: Any) -> Any:
        if before:
            control.hit(before)
        result = original(*args, **settings)
        if after:
            control.hit(after)
        return result

    setattr(owner, method, wrapped)


_EVENTS = {Dealt: "Dealt", Ruling: "Ruling", Ended: "Ended", Restarted: "Restarted"}


def watch_server(control: Control) -> None:
    """Wrap what lies in the server."""
    _wrap(control, PrivateFolder, "save", after="kept")
    _wrap(control, RemotePlayer, "accept", before="offer")
    _wrap(control, RemotePlayer, "accepted", before="accepted")
    _wrap(control, RemotePlayer, "readied", before="readied")
    _wrap(control, RemotePlayer, "_send_request", after="request")
    _wrap(control, RemotePlayer, "decided", before="decided")
    _wrap(control, RemotePlayer, "closed", after="closed")
    _wrap(control, RemotePlayer, "end", after="end-told")
    _watch_record(control)
    start = Child.start

    async def started(child: Child) -> None:
        await start(child)
        if child._process is not None:
            control.programs.append(child._process.pid)

    owner: Any = Child
    owner.start = started


def _watch_record(control: Control) -> None:
    begin, write = RecordWriter.__init__, FileSink.write
    #: The event that is being written.
    now = [""]

    def writing(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(call)
        def wrapped(*args: Any, **settings: Any) -> Any:
            event = name
            if not event:
                kind = type(args[1])
                event = _EVENTS.get(kind, kind.__name__)
            control.hit(f"before:{event}")
            now[0] = event
            result = call(*args, **settings)
            now[0] = ""
            control.hit(f"after:{event}")
            return result

        return wrapped

    def torn(sink: FileSink, raw: bytes) -> None:
        if now[0] and control.due(f"torn:{now[0]}"):
            write(sink, raw[: len(raw) // 2])
            control.stand_still(f"torn:{now[0]}")
            raw = raw[len(raw) // 2 :]
        write(sink, raw)

    def begun(writer: RecordWriter, sink: Any, header: Any, after: Any = None) -> None:
        begin(writer, sink, header, after)
        if after is None:
            control.hit("after:Header")

    sinks: Any = FileSink
    sinks.write = torn
    owner: Any = RecordWriter
    owner.__init__ = begun
    owner.add = writing("", RecordWriter.add)
    owner.add_action = writing("ActionTaken", RecordWriter.add_action)
    owner.reveal = writing("Revealed", RecordWriter.reveal)
    owner.close = writing("Closed", RecordWriter.close)


def watch_bot(control: Control) -> None:
    """Wrap what lies in the client of a bot."""
    _wrap(control, Client, "_on_offer", before="bot:offer")
    _wrap(control, Seat, "_say_ready", after="bot:ready")
    _wrap(control, Seat, "asked", before="bot:request")
    _wrap(control, Seat, "_send_answer", before="bot:answering", after="bot:answered")
    _wrap(control, Seat, "closed", before="bot:closed")
    _wrap(control, Client, "_on_ended", before="bot:end", after="bot:end-heard")
