"""Ports for servers that are stopped and started again."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def kept_port() -> Iterator[int]:
    """Keep a port of 127.0.0.1 from being given to any other program.

    The port of a server that has stopped may else go to whoever asks for any port, or
    dials out, before the server starts again. A server that sets ``SO_REUSEADDR``, as
    those of gRPC and of asyncio do, can listen at the port; while none does, who dials
    in is refused.

    Yields:
        The port.
    """
    with socket.socket() as keeper:
        keeper.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        keeper.bind(("127.0.0.1", 0))
        yield keeper.getsockname()[1]
