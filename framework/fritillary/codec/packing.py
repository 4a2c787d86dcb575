"""Plain data to msgpack or JSON bytes and back, strictly.

Plain data are ``None``, booleans, integers of at most 53 bits, strings, lists and
dicts with string keys, nested at most 64 deep. Whatever else is put in or found in
bytes (floats, binary, extensions, lone surrogates, a repeated key) raises
:class:`CodecError` and nothing else.

Looking at every part of every value would cost more than packing it. Most bytes
show at a glance that there is nothing to look at: see :func:`_is_suspect`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Final, NoReturn

import msgpack

from fritillary.codec.paths import key_step
from fritillary.core.errors import CodecError
from fritillary.core.limits import MAX_INT

#: Longest bytes of one value that are looked at.
MAX_BYTES: Final = 4 * 1024 * 1024

#: Deepest nesting of one value that is looked at: lists and maps in each other.
MAX_DEPTH: Final = 64

#: First bytes of what plain data never need: binary, extensions, floats, and
#: integers of more than 32 bits (which may still be plain).
_FOREIGN: Final = bytes([*range(0xC4, 0xCC), 0xCF, *range(0xD3, 0xD9)])

#: First bytes of lists and maps.
_CONTAINERS: Final = bytes([*range(0x80, 0xA0), *range(0xDC, 0xE0)])


def pack(data: Any) -> bytes:
    """Return the msgpack bytes of plain data.

    Raises:
        CodecError: naming the path of the first part that is not plain.
    """
    try:
        packed: bytes = msgpack.packb(data, strict_types=True)
    except (TypeError, ValueError, OverflowError) as error:
        check_plain(data)
        raise AssertionError from error  # pragma: no cover - plain data can be packed
    if _is_suspect(packed):
        check_plain(data)
    return packed


def pack_own(data: Any) -> bytes:
    """Return the msgpack bytes of data that an event class describes.

    What `pack` would return, without looking for what other languages cannot read:
    the classes of events allow nothing of the kind.

    Raises:
        CodecError: if the data cannot be packed.
    """
    try:
        packed: bytes = msgpack.packb(data, strict_types=True)
    except (TypeError, ValueError, OverflowError):
        return pack(data)
    return packed


def unpack(raw: bytes) -> Any:
    """Return the plain data of msgpack bytes.

    Raises:
        CodecError: if they are not the msgpack of plain data.
    """
    _check_size(raw)
    try:
        data = msgpack.unpackb(raw, object_pairs_hook=_unique)
    except CodecError:
        raise
    except Exception as error:
        # msgpack raises a wide family, some of it from outside its own classes.
        msg = f"not msgpack: {str(error) or type(error).__name__}"
        raise CodecError(msg, code="codec.msgpack") from error
    if _is_suspect(raw):
        check_plain(data)
    return data


def _is_suspect(raw: bytes) -> bool:
    """Say whether msgpack bytes may hold something that is not plain.

    A byte that starts something foreign may as well be the inside of a string or of
    a number; then somebody looks and finds nothing. That is rare, and without such
    a byte, and with no more lists and maps than may nest, all is well for sure.
    """
    size = len(raw)
    return (
        len(raw.translate(None, _FOREIGN)) != size
        or size - len(raw.translate(None, _CONTAINERS)) > MAX_DEPTH
    )


def to_json(data: Any, *, indent: int | None = None) -> str:
    """Return plain data as JSON text."""
    separators = (",", ":") if indent is None else None
    return json.dumps(data, ensure_ascii=False, indent=indent, separators=separators)


def from_json(text: str | bytes) -> Any:
    """Return the plain data of a JSON text; bytes are UTF-8.

    Raises:
        CodecError: if it is not the JSON of plain data.
    """
    _check_size(text)
    try:
        data = json.loads(
            text if isinstance(text, str) else text.decode(),
            object_pairs_hook=_unique,
            parse_float=_no_float,
            parse_constant=_no_float,
        )
    except CodecError:
        raise
    except (ValueError, RecursionError) as error:
        msg = f"not JSON: {error}"
        raise CodecError(msg, code="codec.json") from error
    check_plain(data)
    return data


def check_plain(data: Any) -> None:
    """Check that data are plain.

    Raises:
        CodecError: naming the path of the first part that is not.
    """
    # Paths are made only for who is to be told one.
    if not _are_plain((data,), 0):
        _check(data, "$", 0)


def _are_plain(items: Iterable[Any], depth: int) -> bool:
    """Say whether values, which are nested so deep, are plain for sure."""
    for item in items:
        kind = type(item)
        if kind is int:
            if not -MAX_INT <= item <= MAX_INT:
                return False
        elif kind is str:
            if not _is_text(item):
                return False
        elif kind is list:
            if depth >= MAX_DEPTH or not _are_plain(item, depth + 1):
                return False
        elif kind is dict:
            if (
                depth >= MAX_DEPTH
                or not all(type(key) is str and _is_text(key) for key in item)
                or not _are_plain(item.values(), depth + 1)
            ):
                return False
        elif item is not None and kind is not bool:
            return False
    return True


def _check(data: Any, path: str, depth: int) -> None:
    kind = type(data)
    if data is None or kind is bool:
        return
    if kind is int:
        if not -MAX_INT <= data <= MAX_INT:
            msg = "integers have at most 53 bits"
            raise CodecError(msg, path=path)
    elif kind is str:
        _check_text(data, path)
    elif depth >= MAX_DEPTH and kind in {list, dict}:
        msg = f"nested deeper than {MAX_DEPTH}"
        raise CodecError(msg, path=path)
    elif kind is list:
        for index, item in enumerate(data):
            _check(item, f"{path}[{index}]", depth + 1)
    elif kind is dict:
        for key, item in data.items():
            if type(key) is not str:
                msg = f"map keys are strings, not {type(key).__name__}"
                raise CodecError(msg, path=path)
            _check_text(key, path)
            _check(item, f"{path}{key_step(key)}", depth + 1)
    else:
        msg = f"{kind.__name__} is not allowed"
        raise CodecError(msg, path=path)


def _is_text(text: str) -> bool:
    """Say whether a string is without lone surrogates, which UTF-8 cannot hold."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _check_text(text: str, path: str) -> None:
    if not _is_text(text):
        msg = "text with a lone surrogate"
        raise CodecError(msg, path=path)


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


def _no_float(text: str) -> NoReturn:
    msg = f"{text[:40]}: numbers are integers"
    raise CodecError(msg)
