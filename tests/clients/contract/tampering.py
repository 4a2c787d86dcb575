"""A server that says what it should not: what it sends is changed on the way out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.clients.contract.conftest import House

from fritillary.api.v1 import bot_pb2 as pb
from fritillary.service.framing import framed
from fritillary.service.session import Session

#: Returns the entries of a frame that are sent in place of a message.
Change = Callable[[str, Any], bytes]


def written(kind: str, body: Any, more: bytes = b"") -> bytes:
    """Return a message as an entry of a frame.

    Args:
        kind: name of its field in ``ServerMessage``.
        body: the message.
        more: bytes of further fields.
    """
    number = pb.ServerMessage.DESCRIPTOR.fields_by_name[kind].number
    return framed(number, body.SerializeToString() + more)


def tamper(house: House, monkeypatch: pytest.MonkeyPatch, change: Change) -> None:
    """Change all that the server of a house sends.

    Args:
        house: whose server; others of this process show what would have been right.
        monkeypatch: of the test.
        change: is called with the kind of a message and the message.
    """
    send = Session.send

    def sent(session: Session, entry: bytes) -> None:
        if session._hub is not house.arena.hub:
            send(session, entry)
            return
        (message,) = pb.ConnectResponse.FromString(entry).messages
        kind = message.WhichOneof("message")
        assert kind is not None
        send(session, change(kind, getattr(message, kind)))

    monkeypatch.setattr(Session, "send", sent)
