"""Where a server is, and how it is spoken to."""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Callable
from typing import Final, TypeAlias

from attrs import field, frozen

from fritillary.core.address import host_and_port
from fritillary.core.errors import UsageError
from fritillary_client.errors import ConfigurationError

#: Environment variables that stand in for arguments.
ADDRESS: Final = "FRITILLARY_ADDRESS"
TOKEN: Final = "FRITILLARY_TOKEN"  # noqa: S105 - the name of one
ROOTS: Final = "FRITILLARY_CA"
CERTIFICATE: Final = "FRITILLARY_CERT"
KEY: Final = "FRITILLARY_KEY"

_SOCKETS: Final = ("unix:", "unix-abstract:")

#: Of a file of certificates or a key.
_MAX_BYTES: Final = 4 * 1024 * 1024

#: Where a file is; ``None`` where the environment decides.
File: TypeAlias = str | os.PathLike[str] | None


@frozen(kw_only=True)
class Endpoint:
    """A server, with all that it takes to be let in.

    Args:
        address: of the server, ``HOST:PORT`` or ``unix:PATH``.
        token: of who calls.
        tls: whether to encrypt.
        roots: certificates to trust, PEM; ``None`` for the usual ones.
        certificate: to show to the server, PEM; ``None``: none.
        key: of that certificate, PEM.
    """

    address: str
    token: str = field(repr=False)
    tls: bool
    roots: bytes | None = field(repr=False)
    certificate: bytes | None = field(repr=False)
    key: bytes | None = field(repr=False)

    @property
    def advice(self) -> str:
        """What it may be if the server closes the connection and says nothing."""
        if not self.tls:
            return f"if it speaks TLS, name its authority with ca (--ca) or {ROOTS}"
        if self.certificate is None:
            return f"if it wants a client certificate, set {CERTIFICATE} and {KEY}"
        return "it may not trust the client certificate"


def endpoint(
    address: str | None = None,
    token: str | None = None,
    *,
    tls: bool | None = None,
    ca: File = None,
    cert: File = None,
    key: File = None,
) -> Endpoint:
    """Return an endpoint, checked and with the defaults filled in.

    Args:
        address: default ``FRITILLARY_ADDRESS``.
        token: default ``FRITILLARY_TOKEN``.
        tls: default: unless the server is on this machine; also there if files for
            TLS are named.
        ca: file of certificates to trust, PEM; default ``FRITILLARY_CA``, else the
            usual ones.
        cert: file of a certificate to show to the server, and of those that lead to
            its authority, PEM; default ``FRITILLARY_CERT``, else none.
        key: file of its private key, PEM; default ``FRITILLARY_KEY``.

    Raises:
        ConfigurationError: naming what is wrong, and the mend.
    """
    for name, file in (("ca", ca), ("cert", cert), ("key", key)):
        # The usual certificates would be trusted in place of those that were meant.
        if file == "":
            msg = f"{name} is an empty word; name a file, or leave it out"
            raise ConfigurationError(msg, code="usage.tls")
    where = _checked_address(address or os.environ.get(ADDRESS, ""))
    secret = _checked_token(token or os.environ.get(TOKEN, ""))
    if tls is False:
        if ca or cert or key:
            msg = "ca, cert and key are for TLS; leave them out, or tls=False"
            raise ConfigurationError(msg, code="usage.tls")
        roots = certificate = private = None
    else:
        roots = _roots(ca)
        certificate, private = _pair(cert, key)
    if tls is None:
        tls = bool(roots or certificate) or not _is_local(where)
    return Endpoint(
        address=where,
        token=secret,
        tls=tls,
        roots=roots,
        certificate=certificate,
        key=private,
    )


def _checked_address(address: str) -> str:
    if not address:
        msg = (
            "no server is named; give address='HOST:PORT' (--address), or set "
            f"{ADDRESS}"
        )
        raise ConfigurationError(msg, code="usage.address")
    if address.startswith(_SOCKETS):
        return address
    # gRPC would take a port above 65535 modulo 65536, and guess at an IPv6 host.
    _told(lambda: host_and_port(address, least=1))
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
        msg = f"there is no token; give token='...' (--token), or set {TOKEN}"
        raise ConfigurationError(msg, code="usage.token")
    if not token.isascii() or not token.isprintable() or " " in token:
        msg = "the token holds characters that no token has"
        raise ConfigurationError(msg, code="usage.token")
    return token


def _roots(ca: File) -> bytes | None:
    named = ca or os.environ.get(ROOTS)
    if not named:
        return None
    path = os.fspath(named)
    raw = _read("certificates", path, "usage.ca")

    def check() -> None:
        from fritillary.core.pem import check_roots

        check_roots(raw, _now(), name=path)

    _told(check)
    return raw


def _pair(cert: File, key: File) -> tuple[bytes | None, bytes | None]:
    """Return the certificate to show to the server, and its key."""
    cert = cert or os.environ.get(CERTIFICATE)
    key = key or os.environ.get(KEY)
    if not cert and not key:
        return None, None
    if not cert or not key:
        missing = f"key (--key, {KEY})" if cert else f"cert (--cert, {CERTIFICATE})"
        msg = f"cert and key go together; {missing} is missing"
        raise ConfigurationError(msg, code="usage.tls")
    names = os.fspath(cert), os.fspath(key)
    chain = _read("certificate", names[0], "usage.tls")
    private = _read("key", names[1], "usage.tls")

    def check() -> None:
        from fritillary.core.pem import check_pair

        check_pair(chain, private, _now(), chain_name=names[0], key_name=names[1])

    _told(check)
    return chain, private


def _read(what: str, path: str, code: str) -> bytes:
    from fritillary.record.regular import read_regular

    try:
        return read_regular(path, _MAX_BYTES)
    except OSError as error:
        msg = f"{what} {path}: {error.strerror}"
        raise ConfigurationError(msg, code=code) from error


def _told(check: Callable[[], object]) -> None:
    """Raise what a check of the framework raises as an error of the client."""
    try:
        check()
    except UsageError as error:
        raise ConfigurationError(error.message, code=error.code) from error


def _now() -> dt.datetime:
    return dt.datetime.now(dt.UTC)  # noqa: TID251 - certificates have dates
