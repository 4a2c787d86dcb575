"""TLS of the server: its certificate, its key, and whom clients have to be known to."""

from __future__ import annotations

import asyncio
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
from fritillary.service import journal

_log = logging.getLogger(__name__)

#: Of a file of certificates: many times those of all authorities of a browser.
_MAX_BYTES: Final = 4 * 1024 * 1024

#: Files are looked at so often, in seconds.
LOOK_S: Final = 10.0

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
        files: of certificate, key and authorities, where they were read; empty: from
            elsewhere.
    """

    chain: bytes = field(repr=False)
    key: bytes = field(repr=False)
    client_roots: bytes | None = field(default=None, repr=False)
    about: About
    files: tuple[Path, ...] = ()

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
        files = (chain, key) if client_ca is None else (chain, key, client_ca)
        return cls(
            chain=raw_chain, key=raw_key, client_roots=roots, about=about, files=files
        )

    def configuration(self) -> grpc.ServerCertificateConfiguration:
        """Return what gRPC opens connections with."""
        return grpc.ssl_server_certificate_configuration(
            [(self.key, self.chain)], self.client_roots
        )


class LiveTls:
    """TLS of a server that runs while its files are replaced.

    Connections that are open stay as they are; those that are opened later have the
    new certificate. Files that cannot be used change nothing, and are told of.

    Args:
        tls: at the start.
    """

    def __init__(self, tls: ServerTls) -> None:
        self._tls = tls
        #: As the files were when they were read last.
        self._seen = self._stamps()
        #: For gRPC to fetch; ``None``: nothing is new.
        self._fresh: grpc.ServerCertificateConfiguration | None = None

    @property
    def about(self) -> About:
        """The certificate that is in use, for people."""
        return self._tls.about

    def credentials(self) -> grpc.ServerCredentials:
        """Return what gRPC listens with."""
        return grpc.dynamic_ssl_server_credentials(
            self._tls.configuration(),
            # It may return nothing, whatever its stub says.
            self._fetch,  # type: ignore[arg-type]
            require_client_authentication=self._tls.client_roots is not None,
        )

    def _fetch(self) -> grpc.ServerCertificateConfiguration | None:
        """Return what is new; called in a thread of gRPC for each connection."""
        fresh, self._fresh = self._fresh, None
        return fresh

    def _stamps(self) -> tuple[tuple[int, ...], ...]:
        """Return what changes when a file does; empty if one is not there."""
        try:
            found = [path.stat() for path in self._tls.files]
        except OSError:
            return ()
        return tuple((one.st_ino, one.st_size, one.st_mtime_ns) for one in found)

    async def watch(self) -> None:
        """Take up files that are replaced; never returns."""
        before = self._seen
        while self._tls.files:
            await asyncio.sleep(LOOK_S)
            now = self._stamps()
            # Several are replaced one after the other: not before all stay as they are.
            if now == before and now != self._seen:
                self._seen = now
                await self._take_up()
            before = now

    async def _take_up(self) -> None:
        try:
            tls = await asyncio.to_thread(ServerTls.load, *self._tls.files)
            self._fresh = tls.configuration()
        except UsageError as error:
            _log.warning("the certificate in use stays: %s", error.message)
            return
        self._tls = tls
        journal.renewed(tls.about.good_until)


def _read(what: str, path: Path) -> bytes:
    try:
        return read_regular(path, _MAX_BYTES)
    except OSError as error:
        raise UsageError(f"{what} {path}: {error.strerror}", code=CODE) from error
