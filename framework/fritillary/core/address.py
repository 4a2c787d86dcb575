"""Addresses of the form HOST:PORT, taken apart alike by all that listen or dial in."""

from __future__ import annotations

import ipaddress
import re
from typing import Final

from fritillary.core.errors import UsageError

MAX_PORT: Final = 65_535

#: Characters that are in no host, such as those of a URL.
_NEVER: Final = re.compile(r"[\x00-\x20\x7f/\\@?#]")

_PORT: Final = re.compile(r"[0-9]{1,5}")

#: Longest name of a host and longest part of one, in bytes (RFC 1035, 2.3.4).
_MAX_NAME: Final = 253
_MAX_LABEL: Final = 63


def host_and_port(text: str, *, host: str = "", least: int = 0) -> tuple[str, int]:
    """Take an address apart.

    Args:
        text: ``HOST:PORT``; a host that is an IPv6 address stands in brackets.
        host: stands in where but ``:PORT`` or ``PORT`` is given; empty: none does.
        least: lowest port; 0 where that means a free one.

    Returns:
        The host, IPv6 in its brackets, and the port, at most 65535.

    Raises:
        UsageError: ``usage.address``, naming what is wrong.
    """
    if found := _NEVER.search(text):
        raise _wrong(text, f"holds {found[0]!r}, which no host has")
    if host and _PORT.fullmatch(text):
        text = f":{text}"
    name, colon, port = text.rpartition(":")
    if not colon or text.endswith("]"):
        raise _wrong(text, "names no port")
    if name.startswith("["):
        _check_ipv6(text, name)
    elif ":" in name or name.endswith("]"):
        raise _wrong(text, "is ambiguous: an IPv6 host stands in brackets")
    elif name:
        _check_name(text, name)
    elif not host:
        raise _wrong(text, "names no host")
    if not _PORT.fullmatch(port) or not least <= int(port) <= MAX_PORT:
        why = f"has the port {port[:20]!r}, not one from {least} to {MAX_PORT}"
        raise _wrong(text, why if port else "names no port")
    return name or host, int(port)


def _check_ipv6(text: str, name: str) -> None:
    try:
        if not name.endswith("]"):
            raise ValueError
        ipaddress.IPv6Address(name[1:-1])
    except ValueError:
        raise _wrong(text, "has no IPv6 address in its brackets") from None


def _check_name(text: str, name: str) -> None:
    try:
        # What is not ASCII is looked up by this name.
        plain = name if name.isascii() else name.encode("idna").decode("ascii")
    except UnicodeError:
        plain = ""
    labels = plain.removesuffix(".").split(".")
    if len(plain) > _MAX_NAME or not all(0 < len(one) <= _MAX_LABEL for one in labels):
        raise _wrong(text, "names no host that can be")


def _wrong(text: str, why: str) -> UsageError:
    shown = f"{text[:80]}..." if len(text) > 80 else text
    msg = f"address {shown!r} {why}; it must be of the form HOST:PORT"
    return UsageError(msg, code="usage.address")
