"""HTTP/2 by hand: frames in any order, of any size, from a peer that may not read."""
# mypy: disable-error-code="arg-type,misc,unused-ignore"
# Sends what the types forbid.

from __future__ import annotations

import asyncio
import base64
import contextlib
import struct
from collections.abc import Callable, Iterable
from typing import Final, Self

import grpc
import hpack
from google.protobuf.message import DecodeError

from fritillary.api.v1 import common_pb2

PREFACE: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

DATA: Final = 0
HEADERS: Final = 1
PRIORITY: Final = 2
RST_STREAM: Final = 3
SETTINGS: Final = 4
PUSH_PROMISE: Final = 5
PING: Final = 6
GOAWAY: Final = 7
WINDOW_UPDATE: Final = 8
CONTINUATION: Final = 9

ACK: Final = 1
END_STREAM: Final = 1
END_HEADERS: Final = 4

#: Settings by their numbers.
HEADER_TABLE: Final = 1
MAX_STREAMS: Final = 3
INITIAL_WINDOW: Final = 4
MAX_FRAME: Final = 5

#: Largest window, in bytes.
WIDEST: Final = 2**31 - 1

_FIRST_WINDOW: Final = 65_535
_MAX_FRAME: Final = 16_384

#: Most bytes of headers that clients of gRPC take.
_MOST_HEADERS: Final = 8_192

_ERRORS: Final = (
    *("no-error", "protocol-error", "internal-error", "flow-control-error"),
    *("settings-timeout", "stream-closed", "frame-size-error", "refused-stream"),
    *("cancel", "compression-error", "connect-error", "enhance-your-calm"),
    *("inadequate-security", "http-1-1-required"),
)

_STATUSES: Final = {str(one.value[0]): one.name for one in grpc.StatusCode}


def frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    """Return a frame; kind, flags and stream may be whatever has room."""
    size = len(payload).to_bytes(3, "big")
    return size + struct.pack(">BBI", kind, flags, stream) + payload


def settings(pairs: dict[int, int]) -> bytes:
    """Return SETTINGS by their numbers."""
    return frame(
        SETTINGS, 0, 0, b"".join(struct.pack(">HI", *pair) for pair in pairs.items())
    )


def widened(stream: int, more: int) -> bytes:
    """Return WINDOW_UPDATE, which lets the other side send so many bytes more."""
    return frame(WINDOW_UPDATE, 0, stream, struct.pack(">I", more))


def reset(stream: int, error: int = 8) -> bytes:
    """Return RST_STREAM."""
    return frame(RST_STREAM, 0, stream, struct.pack(">I", error))


def headers(
    stream: int,
    method: str,
    token: str = "",
    *,
    more: Iterable[tuple[bytes, bytes]] = (),
    flags: int = END_HEADERS,
) -> bytes:
    """Return HEADERS that begin a call, nothing of them indexed or compressed."""
    fields = [
        (b":method", b"POST"),
        (b":scheme", b"http"),
        (b":path", method.encode()),
        (b":authority", b"localhost"),
        (b"content-type", b"application/grpc"),
        (b"te", b"trailers"),
        *more,
    ]
    if token:
        fields.append((b"authorization", b"Bearer " + token.encode()))
    return frame(HEADERS, flags, stream, b"".join(literal(*one) for one in fields))


def literal(name: bytes, value: bytes) -> bytes:
    """Return a header as HPACK writes one that it neither knows nor keeps."""
    return b"\x00" + _sized(name) + _sized(value)


def _sized(text: bytes) -> bytes:
    if len(text) < 127:
        return bytes((len(text),)) + text
    rest, out = len(text) - 127, bytearray(b"\x7f")
    while rest > 127:
        out.append(rest & 127 | 128)
        rest >>= 7
    out.append(rest)
    return bytes(out) + text


def message(payload: bytes, *, announced: int | None = None, packed: int = 0) -> bytes:
    """Return a message of gRPC.

    Args:
        payload: that follows.
        announced: length in bytes that is claimed; default: the true one.
        packed: whether it is claimed to be compressed.
    """
    size = len(payload) if announced is None else announced
    return struct.pack(">BI", packed, size) + payload


def code_of(trailers: dict[bytes, bytes]) -> str:
    """Return the code of the service in trailers, else the status of gRPC."""
    packed = trailers.get(b"fritillary-error-bin")
    if packed is not None:
        with contextlib.suppress(DecodeError, ValueError):
            raw = base64.b64decode(packed + b"=" * (-len(packed) % 4))
            return common_pb2.ErrorInfo.FromString(raw).code
    status = trailers.get(b"grpc-status")
    if status is None:
        return f"http.{trailers.get(b':status', b'?').decode()}"
    return _STATUSES.get(status.decode(), "?")


class Http2:
    """A connection that reads what comes, and answers SETTINGS and PING alone.

    Args:
        address: HOST:PORT.
        window: bytes that the server may send on each stream before it is told that
            they were read, which it never is.
        connection_window: the same for all streams together.

    Attributes:
        ends: how streams ended: code of the service, status of gRPC, or HTTP/2 error.
        gone: how the connection ended; empty while it is open.
        reads: whether anything is read.
    """

    def __init__(
        self, address: str, *, window: int = WIDEST, connection_window: int = WIDEST
    ) -> None:
        self._address = address
        self._mine = window
        self._all_mine = connection_window
        self.ends: dict[int, str] = {}
        self.gone = ""
        self._window = self._first_window = _FIRST_WINDOW
        self._windows: dict[int, int] = {}
        self._next = 1
        self._changed = asyncio.Event()
        self._decoder = hpack.Decoder()
        self._fields: dict[int, dict[bytes, bytes]] = {}
        self._block = b""
        self._last = False
        self._inbox: dict[int, bytearray] = {}
        self._hears: dict[int, Callable[[bytes], None]] = {}
        self._task: asyncio.Task[None] | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def open(self) -> None:
        """Connect, and send what opens the conversation.

        Raises:
            OSError: if nobody answers.
        """
        host, _, port = self._address.rpartition(":")
        reader, self._writer = await asyncio.open_connection(host, int(port))
        self._task = asyncio.create_task(self._read(reader))
        more = self._all_mine - _FIRST_WINDOW
        await self.send(
            PREFACE
            + settings({INITIAL_WINDOW: self._mine})
            + (widened(0, more) if more > 0 else b"")
        )

    async def close(self) -> None:
        """Cut the connection."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        if self._writer is not None:
            # Whatever is not sent yet is not worth waiting for.
            self._writer.transport.abort()

    def pause(self) -> None:
        """Read nothing any more, not even from the socket."""
        if self._task is not None:
            self._task.cancel()
        if self._writer is not None:
            with contextlib.suppress(RuntimeError):
                self._writer.transport.pause_reading()  # type: ignore[attr-defined]

    async def send(self, raw: bytes, *, within: float = 60) -> bool:
        """Write bytes as they are; return whether the other side has room for them."""
        writer = self._writer
        if writer is None or self.gone or writer.transport.is_closing():
            return False
        try:
            writer.write(raw)
            async with asyncio.timeout(within):
                await writer.drain()
        except (OSError, TimeoutError):
            return False
        return True

    def stream(self) -> int:
        """Return the number of a fresh stream."""
        number = self._next
        self._next += 2
        return number

    async def call(
        self,
        method: str,
        token: str = "",
        hears: Callable[[bytes], None] = lambda _: None,
        **more: Iterable[tuple[bytes, bytes]],
    ) -> int:
        """Begin a call; return its stream.

        Args:
            method: full name.
            token: of the caller.
            hears: called with every message.
            **more: headers.
        """
        number = self.stream()
        self._hears[number] = hears
        await self.send(headers(number, method, token, **more))
        return number

    async def data(
        self, stream: int, raw: bytes, *, end: bool = False, within: float = 60
    ) -> bool:
        """Write bytes of a stream as its windows allow; return whether all went.

        Args:
            stream: which.
            raw: messages, or what passes for them.
            end: say that nothing follows.
            within: seconds to wait for room.
        """
        start = 0
        while start < len(raw) or end:
            if stream in self.ends or self.gone:
                return False
            left = self._windows.setdefault(stream, self._first_window)
            size = min(self._window, left, _MAX_FRAME, len(raw) - start)
            if size <= 0 < len(raw) - start:
                if not await self._change(within):
                    return False
                continue
            last = start + size >= len(raw)
            part = raw[start : start + size]
            flags = END_STREAM if end and last else 0
            if not await self.send(frame(DATA, flags, stream, part), within=within):
                return False
            self._window -= size
            self._windows[stream] -= size
            start += size
            if last:
                return True
        return True

    async def _change(self, within: float) -> bool:
        self._changed.clear()
        try:
            async with asyncio.timeout(within):
                await self._changed.wait()
        except TimeoutError:
            return False
        return True

    async def until(self, done: Callable[[], object], within: float = 60) -> bool:
        """Wait until something holds; return whether it does."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + within
        while not done():
            left = deadline - loop.time()
            if left <= 0 or not await self._change(left):
                return bool(done())
        return True

    async def begun(self, stream: int, within: float = 60) -> bool:
        """Wait until a stream is answered, or will not be; return whether it is."""
        return await self.until(
            lambda: stream in self._fields or stream in self.ends or self.gone, within
        )

    async def ended(self, stream: int, within: float = 60) -> str:
        """Wait for the end of a stream or of the connection; return how it was."""
        await self.until(lambda: stream in self.ends or self.gone, within)
        return self.ends.get(stream) or self.gone or "open"

    def forget(self, stream: int) -> str:
        """Drop what is kept of a stream; return how it ended."""
        self._hears.pop(stream, None)
        self._inbox.pop(stream, None)
        self._windows.pop(stream, None)
        self._fields.pop(stream, None)
        return self.ends.pop(stream, "")

    async def _read(self, reader: asyncio.StreamReader) -> None:
        try:
            while True:
                head = await reader.readexactly(9)
                size = int.from_bytes(head[:3], "big")
                kind, flags, stream = struct.unpack(">BBI", head[3:])
                self._take(kind, flags, stream, await reader.readexactly(size))
                self._changed.set()
        except (OSError, EOFError):
            self.gone = self.gone or "cut"
        except hpack.HPACKError:  # pragma: no cover - gRPC writes what can be read
            self.gone = "hpack"
        finally:
            self._changed.set()

    def _take(self, kind: int, flags: int, stream: int, payload: bytes) -> None:
        if kind == DATA:
            self._hear(stream, payload)
            if flags & END_STREAM:
                self.ends.setdefault(stream, "no-trailers")
        elif kind in {HEADERS, CONTINUATION}:
            self._block += payload
            self._last = self._last or bool(kind == HEADERS and flags & END_STREAM)
            if flags & END_HEADERS:
                self._take_headers(stream)
        elif kind == WINDOW_UPDATE:
            more = int.from_bytes(payload, "big")
            if stream:
                left = self._windows.get(stream, self._first_window)
                self._windows[stream] = left + more
            else:
                self._window += more
        elif kind == SETTINGS and not flags & ACK:
            for number, value in struct.iter_unpack(">HI", payload):
                if number == INITIAL_WINDOW:
                    for one in self._windows:
                        self._windows[one] += value - self._first_window
                    self._first_window = value
            self._answer(frame(SETTINGS, ACK, 0))
        elif kind == PING and not flags & ACK:
            self._answer(frame(PING, ACK, 0, payload))
        elif kind == RST_STREAM:
            self.ends.setdefault(stream, _error(payload))
        elif kind == GOAWAY:
            self.gone = f"goaway {_error(payload[4:8])}"

    def _take_headers(self, stream: int) -> None:
        block, self._block = self._block, b""
        last, self._last = self._last, False
        found = self._decoder.decode(block, raw=True)
        fields = self._fields.setdefault(stream, {})
        fields |= {bytes(name): bytes(value) for name, value in found}
        # Clients take no more than that, see SETTINGS_MAX_HEADER_LIST_SIZE.
        if sum(map(len, (*fields, *fields.values()))) > _MOST_HEADERS:
            self.ends.setdefault(stream, "headers-too-large")
        elif last:
            self.ends.setdefault(stream, code_of(self._fields.pop(stream)))

    def _hear(self, stream: int, payload: bytes) -> None:
        hears = self._hears.get(stream)
        if hears is None:
            return
        inbox = self._inbox.setdefault(stream, bytearray())
        inbox += payload
        start = 0
        while len(inbox) - start >= 5:
            end = start + 5 + int.from_bytes(inbox[start + 1 : start + 5], "big")
            if len(inbox) < end:
                break
            hears(bytes(inbox[start + 5 : end]))
            start = end
        del inbox[:start]

    def _answer(self, raw: bytes) -> None:
        if self._writer is not None:
            self._writer.write(raw)


def _error(payload: bytes) -> str:
    number = int.from_bytes(payload[:4], "big")
    return f"http2.{_ERRORS[number] if number < len(_ERRORS) else number}"
