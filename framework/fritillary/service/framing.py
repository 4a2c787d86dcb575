"""The bytes of protobuf, as far as frames are put together by hand.

A message of which most was serialised before is joined from parts, field by field.
Numbers and lengths are looked up: each message has some ten of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

# Fields of ServerMessage.
WELCOME: Final = 1
REFUSAL: Final = 2
MATCH_OFFER: Final = 3
MATCH_STATUS: Final = 4
EVENT: Final = 5
DECISION_REQUEST: Final = 6
DECISION_CLOSED: Final = 7
MATCH_ENDED: Final = 8
ERROR: Final = 9
PING: Final = 10
PONG: Final = 11
GOODBYE: Final = 12

#: Numbers and sizes below are looked up.
_SMALL: Final = 4096


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


class _Varints(dict[int, bytes]):
    """Varints after a tag; asking for one that is not small makes it.

    Args:
        tag: what stands before each.
    """

    def __init__(self, tag: bytes = b"") -> None:
        super().__init__((value, tag + _varint(value)) for value in range(_SMALL))
        self._tag = tag

    def __missing__(self, value: int) -> bytes:
        return self._tag + _varint(value)


#: Returns a protobuf varint.
varint: Final = _Varints().__getitem__

#: Return a varint as the field of that number.
varint_3: Final = _Varints(b"\x18").__getitem__
varint_4: Final = _Varints(b"\x20").__getitem__
varint_5: Final = _Varints(b"\x28").__getitem__

#: Return what stands before so many bytes that are the field of that number.
size_6: Final = _Varints(b"\x32").__getitem__
size_7: Final = _Varints(b"\x3a").__getitem__

_TAGS: Final = tuple(bytes((field << 3 | 2,)) for field in range(16))


def packed(numbers: Sequence[int]) -> bytes:
    """Return numbers as a packed protobuf field."""
    try:
        raw = bytes(numbers)
    except ValueError:
        return b"".join(map(varint, numbers))
    # Up to 127 a varint is the byte itself.
    return raw if raw.isascii() else b"".join(map(varint, numbers))


def nested(field: int, message: bytes) -> bytes:
    """Return a message as a field of another.

    Args:
        field: at most 15.
        message: serialised.
    """
    return _TAGS[field] + varint(len(message)) + message


class _Fronts(dict[int, bytes]):
    """What stands before a message of some size in a frame, by that size.

    Args:
        field: of the message in ServerMessage.
    """

    def __init__(self, field: int) -> None:
        super().__init__()
        self._field = field

    def __missing__(self, size: int) -> bytes:
        length = varint(size)
        # The tag of the field is one byte.
        whole = varint(1 + len(length) + size)
        front = b"\n" + whole + _TAGS[self._field] + length
        if size < _SMALL:
            self[size] = front
        return front


_FRONTS: Final = tuple(map(_Fronts, range(len(_TAGS))))


def framed(field: int, payload: bytes) -> bytes:
    """Return a message as one entry of ``ConnectResponse.messages``.

    Entries that stand one after the other are a ConnectResponse: that is how
    protobuf writes a list. So what was serialised once can go into any frame.

    Args:
        field: of ServerMessage.
        payload: the serialised message.
    """
    return _FRONTS[field][len(payload)] + payload


def head_of(match_id: str, seat: int) -> bytes:
    """Return match and seat, with which most messages to a seat begin."""
    raw = match_id.encode()
    return b"\n" + varint(len(raw)) + raw + b"\x10" + varint(seat)
