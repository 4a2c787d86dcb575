"""Options, observations and actions as bytes, in either encoding of the wire."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final, TypeAlias

import msgpack
from attrs import frozen

from fritillary.api.v1 import common_pb2 as common
from fritillary_client.errors import ConfigurationError, ProtocolError

#: A value as it travels: ``None``, booleans, integers, strings, lists, and dicts with
#: string keys. Its shape is in the JSON Schemas of the game.
Data: TypeAlias = Any


@frozen
class Encoding:
    """One way of writing data as bytes.

    Args:
        name: ``msgpack`` or ``json``.
        number: of the encoding in the protocol.
        encode: data to bytes; raises `TypeError`, `ValueError` or `OverflowError`.
    """

    name: str
    number: common.Encoding.ValueType
    encode: Callable[[Data], bytes]
    _decode: Callable[[bytes], Data]

    def decode(self, raw: bytes, what: str) -> Data:
        """Return the data of bytes from the server.

        Args:
            raw: the bytes.
            what: they are, for the error.

        Raises:
            ProtocolError: if they cannot be read.
        """
        try:
            return self._decode(raw)
        except Exception as error:
            # msgpack raises a wide family, some of it from outside its own classes.
            msg = f"the server sent {what} that is not {self.name}: {error}"
            raise ProtocolError(msg, code=f"codec.{self.name}") from error


def _to_msgpack(data: Data) -> bytes:
    return msgpack.packb(data)  # type: ignore[no-any-return]


def _to_json(data: Data) -> bytes:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode()


MSGPACK: Final = Encoding(
    "msgpack", common.ENCODING_MSGPACK, _to_msgpack, msgpack.unpackb
)
JSON: Final = Encoding("json", common.ENCODING_JSON, _to_json, json.loads)

_BY_NAME: Final = {encoding.name: encoding for encoding in (MSGPACK, JSON)}
_BY_NUMBER: Final = {encoding.number: encoding for encoding in (MSGPACK, JSON)}


def named(name: str) -> Encoding:
    """Return an encoding by name.

    Raises:
        ConfigurationError: if there is none.
    """
    try:
        return _BY_NAME[name]
    except KeyError:
        known = " or ".join(_BY_NAME)
        msg = f"no encoding {name!r}; say {known}"
        raise ConfigurationError(msg, code="usage.encoding") from None


def numbered(number: common.Encoding.ValueType) -> Encoding:
    """Return an encoding by its number in the protocol.

    Raises:
        ProtocolError: if this client does not know it.
    """
    try:
        return _BY_NUMBER[number]
    except KeyError:
        msg = f"the server uses encoding {number}, which this client does not know"
        raise ProtocolError(msg, code="encoding.unknown") from None
