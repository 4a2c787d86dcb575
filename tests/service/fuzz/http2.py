"""HTTP/2 by hand: frames that a decent library would not write."""

from __future__ import annotations

import asyncio
import contextlib
import struct
from collections.abc import Iterable
from typing import Final, Self

import hpack

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
MAX_STREAMS: Final = 3
INITIAL_WINDOW: Final = 4
MAX_FRAME: Final = 5

#: Largest window, in bytes.
WIDEST: Final = 2**31 - 1

_ERROR_CODES: Final = (
    *("no-error", "protocol-error", "internal-error", "flow-control-error"),
    *("settings-timeout", "stream-closed", "frame-size-error", "refused-stream"),
    *("cancel", "compression-error", "connect-error", "enhance-your-calm"),
    *("inadequate-security", "http-1-1-required"),
)

CONNECT: Final = "/fritillary.api.v1.BotService/Connect"


def frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    """Return a frame; kind, flags and stream may be any that have room."""
    return struct.pack(
        ">IBBI", len(payload) << 8 | kind, flags, 0, stream
    )[:3] + struct.pack(">BBI", kind, flags, stream) + payload


def settings(**values: int) -> bytes:
    """Return SETTINGS; the names are ``s4=0`` for INITIAL_WINDOW_SIZE 0."""
    pairs = [(int(name[1:]), value) for name, value in values.items()]
    return frame(SETTINGS, 0, 0, b"".join(struct.pack(">HI", *one) for one in pairs))


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
    return frame(HEADERS, flags, stream, b"".join(map(_literal, fields)))


def _literal(pair: tuple[bytes, bytes]) -> bytes:
    return b"\x00" + b"".join(_sized(text) for text in pair)


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
        announced: length in bytes that is said; default: the true one.
        packed: whether it is said to be compressed.
    """
    size = len(payload) if announced is None else announced
    return struct.pack(">BI", packed, size) + payload


def data(stream: int, payload: bytes, *, most: int = 16_384) -> bytes:
    """Return DATA frames, of which none is longer than `most`."""
    return b"".join(
        frame(DATA, 0, stream, payload[start : start + most])
        for start in range(0, len(payload), most)
    )


class Http2:
    """A connection that reads what comes and keeps what it means.

    It keeps to nothing by itself but the answers to SETTINGS and PING.

    Args:
        address: HOST:PORT.

    Attributes:
        ends: how streams ended: code of the service, gRPC status or HTTP/2 error.
        gone: how the connection ended; empty while it is open.
        window: bytes that may be sent on the connection.
        windows: bytes that may be sent on a stream, for those that were told of.
        first_window: bytes that may be sent on a fresh stream.
        received: bytes of DATA, by stream.
    """

    def __init__(self, address: str) -> None:
        self._address = address
        self.ends: dict[int, str] = {}
        self.gone = ""
        self.window = self.first_window = 65_535
        self.windows: dict[int, int] = {}
        self.received: dict[int, int] = {}
        self.changed = asyncio.Event()
        self._decoder = hpack.Decoder()
        self._fields: dict[int, dict[bytes, bytes]] = {}
        self._task: asyncio.Task[None] | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def __aenter__(self) -> Self:
        host, _, port = self._address.rpartition(":")
        reader, self._writer = await asyncio.open_connection(host, int(port))
        self._task = asyncio.create_task(self._read(reader))
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        if self._writer is not None:
            # Whatever is not yet sent is not worth waiting for.
            self._writer.transport.abort()

    async def send(self, raw: bytes, *, within: float = 5) -> bool:
        """Write; return whether the other side has taken it."""
        writer = self._writer
        if writer is None or self.gone:
            return False
        try:
            writer.write(raw)
            async with asyncio.timeout(within):
                await writer.drain()
        except (OSError, TimeoutError):
            return False
        return True

    async def ended(self, stream: int, within: float = 5) -> str:
        """Wait for the end of a stream or of the connection; return how it was."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(within):
                while stream not in self.ends and not self.gone:
                    self.changed.clear()
                    await self.changed.wait()
        return self.ends.get(stream) or self.gone or "open"

    async def _read(self, reader: asyncio.StreamReader) -> None:
        try:
            while True:
                head = await reader.readexactly(9)
                size = int.from_bytes(head[:3], "big")
                kind, flags, stream = struct.unpack(">BBI", head[3:])
                self._take(kind, flags, stream, await reader.readexactly(size))
                self.changed.set()
        except (OSError, EOFError):
            self.gone = self.gone or "cut"
        except hpack.HPACKError:  # pragma: no cover - gRPC writes none
            self.gone = "hpack"
        finally:
            self.changed.set()

    def _take(self, kind: int, flags: int, stream: int, payload: bytes) -> None:
        if kind == SETTINGS and not flags & ACK:
            for number, value in struct.iter_unpack(">HI", payload):
                if number == INITIAL_WINDOW:
                    self.first_window = value
            self._answer(frame(SETTINGS, ACK, 0))
        elif kind == PING and not flags & ACK:
            self._answer(frame(PING, ACK, 0, payload))
        elif kind == WINDOW_UPDATE:
            more = int.from_bytes(payload, "big")
            if stream:
                left = self.windows.get(stream, self.first_window)
                self.windows[stream] = left + more
            else:
                self.window += more
        elif kind == DATA:
            self.received[stream] = self.received.get(stream, 0) + len(payload)
        elif kind == HEADERS:
            found = self._decoder.decode(payload, raw=True)
            fields = self._fields.setdefault(stream, {})
            fields |= {bytes(name): bytes(value) for name, value in found}
            if flags & END_STREAM:
                self.ends.setdefault(stream, code_of(self._fields.pop(stream)))
        elif kind == RST_STREAM:
            self.ends.setdefault(stream, _error(payload))
        elif kind == GOAWAY:
            self.gone = f"goaway {_error(payload[4:8])}"

    def _answer(self, raw: bytes) -> None:
        if self._writer is not None:
            self._writer.write(raw)


def _error(payload: bytes) -> str:
    number = int.from_bytes(payload[:4], "big")
    known = number < len(_ERROR_CODES)
    return f"http2.{_ERROR_CODES[number] if known else number}"


def code_of(trailers: dict[bytes, bytes]) -> str:
    """Return the code of the service in trailers, else the status of gRPC."""
    raise NotImplementedError
