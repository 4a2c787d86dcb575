"""Messages of the protocol as plain data and as lines for people."""
# ruff: noqa: ANN401 - fields of any message

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from fritillary.codec.packing import to_json
from fritillary.core.errors import CodecError
from fritillary.record.terms import clip
from fritillary.service import wire

#: Bytes that hold a value in the encoding of the session.
_PAYLOADS: Final = frozenset({"action", "observation", "options"})

_SECRETS: Final = frozenset({"session_token"})

#: Longest line, and longest field in it, in characters.
_LINE: Final = 400
_FIELD: Final = 120


def body_of(message: Any) -> tuple[str, Any]:
    """Return kind and body of a BotMessage or ServerMessage; "" if it is empty."""
    kind = message.WhichOneof("message")
    return ("", None) if kind is None else (kind, getattr(message, kind))


def data_of(message: Message, encoding: int) -> dict[str, Any]:
    """Return a message as plain data; secrets are left out.

    Args:
        message: any of the protocol.
        encoding: of the session; values that cannot be read are hex digits.
    """
    coder = wire.coder(encoding)
    return _fields(message, coder.decode)


def _fields(message: Message, decode: Callable[[bytes], Any]) -> dict[str, Any]:
    data: dict[str, Any] = {}
    for field, value in message.ListFields():
        name = field.name
        if name in _SECRETS:
            data[name] = "(secret)"
        elif isinstance(value, (str, bytes, int, float)):
            data[name] = _scalar(field, value, decode)
        elif isinstance(value, Message):
            data[name] = _fields(value, decode)
        else:
            data[name] = [
                _fields(one, decode)
                if isinstance(one, Message)
                else _scalar(field, one, decode)
                for one in value
            ]
    return data


def _scalar(field: FieldDescriptor, value: Any, decode: Callable[[bytes], Any]) -> Any:
    if field.enum_type is not None:
        known = field.enum_type.values_by_number.get(value)
        return value if known is None else known.name
    if not isinstance(value, bytes):
        return value
    if field.name in _PAYLOADS:
        try:
            return decode(value)
        except CodecError:
            pass
    return value.hex()


def line_of(message: Any, encoding: int) -> str:
    """Return a BotMessage or ServerMessage in one line."""
    kind, body = body_of(message)
    if body is None:
        return "(a message with nothing in it)"
    fields = (
        f"{name}={clip(to_json(value), _FIELD)}"
        for name, value in data_of(body, encoding).items()
    )
    return clip(" ".join((kind, *fields)), _LINE)
