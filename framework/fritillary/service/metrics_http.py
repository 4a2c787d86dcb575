"""The HTTP server of the metrics: few requests at a time, none of them for long.

It has few places. Whoever is slow to ask, or to read the answer, loses its place to who
is new, and in any case after a while, however it trickles; so slow clients, as many as
they are, shut nobody out.
"""

from __future__ import annotations

import contextlib
import logging
import socket
import socketserver
import threading
import time
from collections.abc import Callable
from typing import Any, Final, TypeAlias
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

from attrs import define, field

_log = logging.getLogger(__name__)

#: Requests that are answered at the same time.
_AT_ONCE: Final = 8

_SLOT: Final = "FRITILLARY_SLOT"

_FULL: Final = (
    b"HTTP/1.0 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\n\r\n"
    b"too many ask at the moment\n"
)

_App: TypeAlias = Callable[[Any, Any], Any]


@define(eq=False)
class _Slot:
    """A request that has a place.

    Args:
        link: to the client.

    Attributes:
        since_s: since when it waits, of the monotonic clock.
        waits: whether it waits for the client, and not for us.
        dropped: whether it has lost its place.
    """

    link: socket.socket
    since_s: float = field(factory=time.monotonic)
    waits: bool = True
    dropped: bool = False

    def wait(self) -> None:
        """Wait until the client has read its answer."""
        self.since_s = time.monotonic()
        self.waits = True

    def drop(self) -> None:
        """End it: the thread that waits for the client goes on, and finds it gone."""
        self.dropped = True
        with contextlib.suppress(OSError):
            self.link.shutdown(socket.SHUT_RDWR)


class _Request(WSGIRequestHandler):
    """Answers one request, and logs none."""

    server: Http

    def setup(self) -> None:
        """Note whose place it has."""
        self._slot = self.server.slot(self.request)
        super().setup()
        # Of one read or write; the server looks after all of them together.
        self.connection.settimeout(self.server.most_s)

    def parse_request(self) -> bool:
        """Read the request; one that has lost its place is not answered."""
        read = super().parse_request()
        self._slot.waits = False
        return read and not self._slot.dropped

    def get_environ(self) -> Any:  # noqa: ANN401 - as the base class has it
        """Return what the application is told."""
        return {**super().get_environ(), _SLOT: self._slot}

    def log_message(self, *_: Any) -> None:  # noqa: ANN401 - as the base class has it
        """Log nothing: strangers choose the words."""


class Http(socketserver.ThreadingMixIn, WSGIServer):
    """An HTTP server that asks no name server who it is.

    Args:
        host: to listen on, without brackets.
        port: to listen on; 0 takes a free one.
        app: answers.
        most_s: time for a request, and for reading its answer, in seconds; the
            application itself has to come to an end soon.

    Raises:
        OSError: if it cannot listen there.
    """

    daemon_threads = True
    block_on_close = False

    def __init__(self, host: str, port: int, app: _App, *, most_s: float) -> None:
        found = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        self.address_family = found[0][0]
        self.most_s = most_s
        self._lock = threading.Lock()
        #: Those that came first are first.
        self._slots: dict[socket.socket, _Slot] = {}
        super().__init__((host, port), _Request)
        self.set_app(_guarded(app))

    def server_bind(self) -> None:
        """Listen; the base class would look its own name up."""
        socketserver.TCPServer.server_bind(self)
        host, port, *_ = self.server_address
        self.server_name, self.server_port = str(host), int(port)
        self.setup_environ()

    # -- places

    def slot(self, request: Any) -> _Slot:  # noqa: ANN401 - as the base class has it
        """Return the place of a request, which it may have lost by now."""
        with self._lock:
            return self._slots.get(request) or _Slot(request, dropped=True)

    def service_actions(self) -> None:
        """Drop those that take too long; called several times a second."""
        now_s = time.monotonic()
        with self._lock:
            for slot in list(self._slots.values()):
                if slot.waits and now_s - slot.since_s > self.most_s:
                    self._drop(slot)

    def _drop(self, slot: _Slot) -> None:
        del self._slots[slot.link]
        slot.drop()

    def _has_room(self, request: socket.socket) -> bool:
        """Give a request a place, if need be that of the one that is slow longest."""
        with self._lock:
            if len(self._slots) >= _AT_ONCE:
                slow = next((one for one in self._slots.values() if one.waits), None)
                if slow is None:
                    return False
                self._drop(slow)
            self._slots[request] = _Slot(request)
            return True

    def process_request(self, request: Any, client_address: Any) -> None:  # noqa: ANN401
        """Answer in a thread, if there are not too many."""
        if self._has_room(request):
            super().process_request(request, client_address)
            return
        with contextlib.suppress(OSError):
            request.setblocking(False)
            request.send(_FULL)
        self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:  # noqa: ANN401
        """Answer, and make room for another."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            with self._lock:
                self._slots.pop(request, None)

    def handle_error(self, *_: Any) -> None:  # noqa: ANN401
        """Say little of a client that has left."""
        _log.info("a request for metrics failed", exc_info=True)


def _guarded(app: _App) -> _App:
    """Let an application that fails say so to whoever asks, and to nobody else."""

    def guarded(environ: Any, start_response: Any) -> Any:  # noqa: ANN401
        try:
            return app(environ, start_response)
        except Exception:  # noqa: BLE001 - the server goes on
            _log.info("the metrics cannot be read", exc_info=True)
            start_response("503 Service Unavailable", [])
            return [b"the server is busy or stopping\n"]
        finally:
            environ[_SLOT].wait()

    return guarded
