"""The options that say where a server is, and who asks it."""

from __future__ import annotations

from typing import Annotated, Final, TypeAlias

import typer

#: Where a server listens, and is looked for, unless somebody says otherwise.
DEFAULT_ADDRESS: Final = "127.0.0.1:7447"

_TOKEN: Final = "FRITILLARY_TOKEN"  # noqa: S105 - a name

ServerAddress: TypeAlias = Annotated[
    str,
    typer.Option(
        "--server",
        metavar="HOST:PORT",
        envvar="FRITILLARY_ADDRESS",
        help="Where it is played.",
    ),
]
OnlookerToken: TypeAlias = Annotated[
    str,
    typer.Option(
        "--token", metavar="TEXT", envvar=_TOKEN, help="Of a spectator or a referee."
    ),
]
RefereeToken: TypeAlias = Annotated[
    str,
    typer.Option("--token", metavar="TEXT", envvar=_TOKEN, help="Of a referee."),
]
