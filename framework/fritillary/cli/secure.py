"""The options for TLS, of commands that serve and of commands that dial in."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from fritillary.core.errors import UsageError

if TYPE_CHECKING:
    from fritillary.service.tls import ServerTls

#: The client looks at the environment by itself.
Ca: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--ca",
        metavar="FILE",
        help="Trust the server if its certificate is of these, PEM; default: "
        "$FRITILLARY_CA.",
    ),
]
Cert: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--cert",
        metavar="FILE",
        help="Certificate to show to the server, PEM; default: $FRITILLARY_CERT.",
    ),
]
Key: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--key",
        metavar="FILE",
        help="Private key of --cert, PEM; default: $FRITILLARY_KEY.",
    ),
]

TlsCert: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--tls-cert",
        metavar="FILE",
        help="Certificate of the server with its chain, PEM; turns TLS on.",
    ),
]
TlsKey: TypeAlias = Annotated[
    Path | None,
    typer.Option("--tls-key", metavar="FILE", help="Private key of --tls-cert, PEM."),
]
TlsClientCa: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--tls-client-ca",
        metavar="FILE",
        help="Let only clients in that show a certificate of one of these, PEM.",
    ),
]


def server_tls(
    cert: Path | None, key: Path | None, client_ca: Path | None
) -> ServerTls | None:
    """Return the TLS that the options ask for; ``None``: they ask for none.

    Raises:
        UsageError: ``usage.tls``, if a file cannot be used or an option is missing.
    """
    if cert is None and key is None and client_ca is None:
        return None
    missing = "--tls-cert" if cert is None else "--tls-key"
    if cert is None or key is None:
        msg = f"{missing} is missing: a server with TLS needs certificate and key"
        raise UsageError(msg, code="usage.tls")
    from fritillary.service.tls import ServerTls

    return ServerTls.load(cert, key, client_ca)
