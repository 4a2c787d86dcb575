"""Plain data to msgpack or JSON bytes and back, strictly.

Plain data are ``None``, booleans, integers of at most 53 bits, strings, lists and
dicts with string keys. Bytes that hold anything else, or that repeat a key, raise
:class:`CodecError` and nothing else.
"""

from __future__ import annotations

import json
from typing import Any, Final, NoReturn

import msgpack

from fritillary.core.errors import CodecError

#: Other languages read larger integers as floats.
MAX_INT: Final = 2**53 - 1

#: Longest bytes of one value that are looked at.
MAX_BYTES: Final = 4 * 1024 * 1024

#: Deepest nesting of one value that is looked at.
MAX_DEPTH: Final = 64


def pack(data: Any) -> bytes:
    """Return the msgpack bytes of plain data."""
    packed: bytes = msgpack.packb(data)
    return packed


def unpack(raw: bytes) -> Any:
    """Return the plain data of msgpack bytes.

    Raises:
        CodecError: if they are not the msgpack of plain data.
    """
    _check_size(raw)
    try:
        return msgpack.unpackb(
            raw,
            object_pairs_hook=_unique,
            list_hook=None,
            ext_hook=_no_extension,
        )
    except CodecError:
        raise
    except Exception as error:
        # msgpack raises a wide family, some of it from outside its own classes.
        msg = f"not msgpack: {str(error) or type(error).__name__}"
        raise CodecError(msg, code="codec.msgpack") from error


def to_json(data: Any, *, indent: int | None = None) -> str:
    """Return plain data as JSON text."""
    separators = (",", ":") if indent is None else None
    return json.dumps(data, ensure_ascii=False, indent=indent, separators=separators)


def from_json(text: str | bytes) -> Any:
    """Return the plain data of a JSON text.

    Raises:
        CodecError: if it is not the JSON of plain data.
    """
    _check_size(text)
    try:
        return json.loads(
            text,
            object_pairs_hook=_unique,
            parse_float=_no_float,
            parse_constant=_no_float,
        )
    except CodecError:
        raise
    except (ValueError, RecursionError) as error:
        msg = f"not JSON: {error}"
        raise CodecError(msg, code="codec.json") from error


def check_plain(data: Any, path: str = "$", depth: int = 0) -> None:
    """Check that data are plain.

    Raises:
        CodecError: naming the path of the first part that is not.
    """
    if depth > MAX_DEPTH:
        msg = f"nested deeper than {MAX_DEPTH}"
        raise CodecError(msg, path=path)
    kind = type(data)
    if data is None or kind is bool:
        return
    if kind is int:
        if not -MAX_INT <= data <= MAX_INT:
            msg = "integers have at most 53 bits"
            raise CodecError(msg, path=path)
    elif kind is str:
        _check_text(data, path)
    elif kind is list:
        for index, item in enumerate(data):
            check_plain(item, f"{path}[{index}]", depth + 1)
    elif kind is dict:
        for key, item in data.items():
            if type(key) is not str:
                msg = f"map keys are strings, not {type(key).__name__}"
                raise CodecError(msg, path=path)
            _check_text(key, path)
            check_plain(item, f"{path}.{key}", depth + 1)
    else:
        msg = f"{kind.__name__} is not allowed"
        raise CodecError(msg, path=path)


def _check_text(text: str, path: str) -> None:
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError as error:
            msg = "text with a lone surrogate"
            raise CodecError(msg, path=path) from error


def _check_size(raw: str | bytes) -> None:
    if len(raw) > MAX_BYTES:
        msg = f"{len(raw)} bytes are more than the {MAX_BYTES} allowed"
        raise CodecError(msg, code="codec.too-large")


def _unique(pairs: list[tuple[Any, Any]]) -> dict[Any, Any]:
    data = dict(pairs)
    if len(data) != len(pairs):
        msg = "a map repeats a key"
        raise CodecError(msg)
    return data


def _no_extension(code: int, _: bytes) -> NoReturn:
    msg = f"msgpack extension type {code} is not allowed"
    raise CodecError(msg)


def _no_float(text: str) -> NoReturn:
    msg = f"{text}: numbers are integers"
    raise CodecError(msg)
