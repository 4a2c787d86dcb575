"""TLS of the server: its certificate, its key, and whom clients have to be known to."""

from __future__ import annotations

import datetime as dt
import logging
import os
import stat
from pathlib import Path
from typing import Final, Self

import grpc
from attrs import field, frozen

from fritillary.core.errors import UsageError
from fritillary.core.pem import CODE, About, check_pair, check_roots
from fritillary.record.regular import read_regular

_log = logging.getLogger(__name__)

#: Of a file of certificates: many times those of all authorities of a browser.
_MAX_BYTES: Final = 4 * 1024 * 1024

_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO


@frozen(kw_only=True)
class ServerTls:
    """What a server needs for TLS, checked.

    Args:
        chain: its certificate, followed by those that lead to the authority; PEM.
        key: the private key, PEM.
        client_roots: authorities, PEM: every client must show a certificate of one of
            them; ``None``: clients show none.
        about: the certificate, for people.
    """

    chain: bytes = field(repr=False)
    key: bytes = field(repr=False)
    client_roots: bytes | None = field(default=None, repr=False)
    about: About

    @classmethod
    def load(cls, chain: Path, key: Path, client_ca: Path | None = None) -> Self:
        """Read the files and check them.

        Args:
            chain: file of the certificate and its chain.
            key: file of the private key, not encrypted.
            client_ca: file of the authorities of clients.

        Raises:
            UsageError: ``usage.tls``, naming the file and what is wrong with it.
        """
        now = dt.datetime.now(dt.UTC)  # noqa: TID251 - certificates have dates
        raw_chain, raw_key = _read("certificate", chain), _read("key", key)
        about = check_pair(
            raw_chain, raw_key, now, chain_name=str(chain), key_name=str(key)
        )
        roots = None
        if client_ca is not None:
            roots = _read("certificate", client_ca)
            check_roots(roots, now, name=str(client_ca))
        if os.name == "posix" and key.stat().st_mode & _OTHERS:
            _log.warning("key %s is open to others; chmod 600 makes it private", key)
        return cls(chain=raw_chain, key=raw_key, client_roots=roots, about=about)

    def credentials(self) -> grpc.ServerCredentials:
        """Return what gRPC listens with."""
        return grpc.ssl_server_credentials(
            [(self.key, self.chain)],
            self.client_roots,
            require_client_auth=self.client_roots is not None,
        )


def _read(what: str, path: Path) -> bytes:
    try:
        return read_regular(path, _MAX_BYTES)
    except OSError as error:
        raise UsageError(f"{what} {path}: {error.strerror}", code=CODE) from error
