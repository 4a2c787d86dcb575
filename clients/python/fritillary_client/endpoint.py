"""Where a server is, and how it is spoken to."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from attrs import field, frozen

from fritillary_client.errors import ConfigurationError

#: Environment variables that stand in for arguments.
ADDRESS: Final = "FRITILLARY_ADDRESS"
TOKEN: Final = "FRITILLARY_TOKEN"  # noqa: S105 - the name of one
ROOTS: Final = "FRITILLARY_CA"

_SOCKETS: Final = ("unix:", "unix-abstract:")


@frozen(kw_only=True)
class Endpoint:
    """A server, with all that it takes to be let in.

    Args:
        address: of the server, ``HOST:PORT`` or ``unix:PATH``.
        token: of who calls.
        tls: whether to encrypt.
        roots: certificates to trust, PEM; ``None`` for the usual ones.
    """

    address: str
    token: str = field(repr=False)
    tls: bool
    roots: bytes | None = field(repr=False)


def endpoint(
    address: str | None = None,
    token: str | None = None,
    *,
    tls: bool | None = None,
    ca: str | os.PathLike[str] | None = None,
) -> Endpoint:
    """Return an endpoint, checked and with the defaults filled in.

    Args:
        address: default ``FRITILLARY_ADDRESS``.
        token: default ``FRITILLARY_TOKEN``.
        tls: default: unless the server is on this machine.
        ca: file of certificates to trust, PEM; default ``FRITILLARY_CA``, else the
            usual ones.

    Raises:
        ConfigurationError: naming what is wrong, and the mend.
    """
    where = _checked_address(address or os.environ.get(ADDRESS, ""))
    secret = _checked_token(token or os.environ.get(TOKEN, ""))
    roots = _roots(ca)
    return Endpoint(
        address=where,
        token=secret,
        tls=(roots is not None or not _is_local(where)) if tls is None else tls,
        roots=roots,
    )


def _checked_address(address: str) -> str:
    if not address:
        msg = f"no server is named; set {ADDRESS} or give address='HOST:PORT'"
        raise ConfigurationError(msg, code="usage.address")
    host, colon, port = address.rpartition(":")
    local = address.startswith(_SOCKETS)
    if not local and (not host or not colon or not port.isdecimal() or "/" in address):
        msg = f"address {address[:80]!r} must be of the form HOST:PORT"
        raise ConfigurationError(msg, code="usage.address")
    return address


def _is_local(address: str) -> bool:
    host = address.rpartition(":")[0].strip("[]")
    return (
        host in {"localhost", "::1"}
        or host.startswith("127.")
        or address.startswith(_SOCKETS)
    )


def _checked_token(token: str) -> str:
    token = token.strip()
    if not token:
        msg = f"there is no token; set {TOKEN} or give token='...'"
        raise ConfigurationError(msg, code="usage.token")
    if not token.isascii() or not token.isprintable() or " " in token:
        msg = "the token holds characters that no token has"
        raise ConfigurationError(msg, code="usage.token")
    return token


def _roots(ca: str | os.PathLike[str] | None) -> bytes | None:
    path = ca or os.environ.get(ROOTS)
    if not path:
        return None
    try:
        return Path(path).read_bytes()
    except OSError as error:
        msg = f"certificates {os.fspath(path)}: {error.strerror}"
        raise ConfigurationError(msg, code="usage.ca") from error
