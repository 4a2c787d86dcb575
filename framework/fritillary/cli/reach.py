"""The options that say where a server is, and who asks it."""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeAlias, get_type_hints

import typer
from attrs import field, frozen

from fritillary.cli.secure import Ca, Cert, Key
from fritillary.cli.values import check_text
from fritillary.core.errors import UsageError

if TYPE_CHECKING:
    from fritillary_client import Referee

#: Where a server listens, and is looked for, unless somebody says otherwise.
DEFAULT_ADDRESS: Final = "127.0.0.1:7447"

#: The environment may say where a server is, and who asks it.
ADDRESS_VARIABLE: Final = "FRITILLARY_ADDRESS"
TOKEN_VARIABLE: Final = "FRITILLARY_TOKEN"  # noqa: S105 - a name

ServerAddress: TypeAlias = Annotated[
    str,
    typer.Option(
        "--server",
        metavar="HOST:PORT",
        envvar=ADDRESS_VARIABLE,
        help="Where it is played.",
    ),
]
OtherServer: TypeAlias = Annotated[
    str,
    typer.Option(
        "--server",
        metavar="HOST:PORT",
        help="Play at this running server in place of here.",
    ),
]
OnlookerToken: TypeAlias = Annotated[
    str,
    typer.Option(
        "--token",
        metavar="TEXT",
        envvar=TOKEN_VARIABLE,
        help="Of a spectator or a referee.",
    ),
]
RefereeToken: TypeAlias = Annotated[
    str,
    typer.Option(
        "--token", metavar="TEXT", envvar=TOKEN_VARIABLE, help="Of a referee."
    ),
]
OtherToken: TypeAlias = Annotated[
    str,
    typer.Option(
        "--token",
        metavar="TEXT",
        envvar=TOKEN_VARIABLE,
        help="Of a referee, with --server.",
    ),
]


@frozen
class Access:
    """A server, and what it takes to be let in.

    Args:
        server: its address.
        token: of who asks.
        ca: file of certificates to trust.
        cert: file of a certificate to show to the server.
        key: file of its private key.
    """

    server: str
    token: str = field(repr=False)
    ca: Path | None = None
    cert: Path | None = None
    key: Path | None = None

    def referee(self) -> Referee:
        """Return a client that is not yet connected.

        Raises:
            ConfigurationError: if something about it makes no sense.
        """
        from fritillary_client import Referee

        return Referee(
            self.server, self.token or None, ca=self.ca, cert=self.cert, key=self.key
        )


def check_no_server(
    token: str | list[str] | None,
    ca: Path | None,
    cert: Path | None,
    key: Path | None,
) -> None:
    """Refuse what is for a server where none is named.

    A token in the environment is for servers elsewhere, and no mistake.

    Raises:
        UsageError: ``usage.token`` or ``usage.tls``, naming what it is.
    """
    from_environment = os.environ.get(TOKEN_VARIABLE, "")
    if token and token not in (from_environment, from_environment.split()):
        msg = "--token is for a server; name it with --server"
        raise UsageError(msg, code="usage.token")
    if ca or cert or key:
        msg = "--ca, --cert and --key are for a server; name it with --server"
        raise UsageError(msg, code="usage.tls")


def _if_any(
    server: str, token: str, ca: Path | None, cert: Path | None, key: Path | None
) -> Access | None:
    """Return the access to a server; ``None`` if none is named."""
    if server:
        return Access(server, token, ca, cert, key)
    check_no_server(token, ca, cert, key)
    return None


def at_server(token: object) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator of commands that ask a server.

    In place of its parameter ``access`` the command has the options that make one.

    Args:
        token: the alias of its option for a token.
    """
    return _with_access(ServerAddress, DEFAULT_ADDRESS, token, Access)


def here_or_at_server(command: Callable[..., None]) -> Callable[..., None]:
    """Decorate a command that asks a server only if one is named.

    As `at_server`; else ``access`` is ``None``, and options for a server are refused.
    """
    return _with_access(OtherServer, "", OtherToken, _if_any)(command)


def _with_access(
    server: object, address: str, token: object, make: Callable[..., Access | None]
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    options: dict[str, tuple[object, object]] = {
        "server": (server, address),
        "token": (token, ""),
        "ca": (Ca, None),
        "cert": (Cert, None),
        "key": (Key, None),
    }

    def decorated(command: Callable[..., None]) -> Callable[..., None]:
        hints = get_type_hints(command, include_extras=True)
        parameters = []
        for one in inspect.signature(command).parameters.values():
            if one.name == "access":
                parameters += [
                    inspect.Parameter(
                        name, one.KEYWORD_ONLY, default=default, annotation=hint
                    )
                    for name, (hint, default) in options.items()
                ]
            else:
                parameters.append(
                    one.replace(kind=one.KEYWORD_ONLY, annotation=hints[one.name])
                )

        @functools.wraps(command)
        def called(**words: Any) -> None:
            for name, word in words.items():
                if isinstance(word, str):
                    check_text(word, name.replace("_", " "))
            access = make(**{name: words.pop(name) for name in options})
            command(access=access, **words)

        # Typer reads both.
        called.__annotations__ = {one.name: one.annotation for one in parameters}
        vars(called)["__signature__"] = inspect.Signature(parameters)
        return called

    return decorated
