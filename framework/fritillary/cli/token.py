"""``fritillary token``."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Annotated

import typer

from fritillary.app.application import Application
from fritillary.cli.output import print_json, print_note, print_table, say
from fritillary.cli.values import Data, Json

if TYPE_CHECKING:
    from fritillary.service.tokens import Token

app = typer.Typer(
    help="Make, list and revoke the tokens of bots, referees and spectators.",
    no_args_is_help=True,
)


@app.command()
def create(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Who holds it; a bot's own name.")
    ],
    role: Annotated[
        str, typer.Option("--role", help="bot, referee or spectator.")
    ] = "bot",
    data: Data = None,
) -> None:
    """Make a token and print it; it is shown this once.

    Example: fritillary token create my-bot
    """
    from fritillary.core.errors import UsageError
    from fritillary.service.tokens import Role

    if role not in {known.value for known in Role}:
        msg = f"role {role[:40]!r} is none of bot, referee, spectator"
        raise UsageError(msg, code="usage.role")
    print(Application(data).tokens.create(name, Role(role)))
    print_note("keep it secret; only its hash is stored, so it cannot be shown again")


@app.command("list")
def list_tokens(data: Data = None, as_json: Json = False) -> None:
    """List the tokens, without their secrets."""
    tokens = Application(data).tokens.list()
    if as_json:
        print_json(
            [
                {
                    "id": token.id,
                    "name": token.name,
                    "role": token.role.value,
                    "created_at_ms": token.created_at_ms,
                    "revoked_at_ms": token.revoked_at_ms,
                }
                for token in tokens
            ]
        )
    elif tokens:
        print_table(("ID", "NAME", "ROLE", "MADE", "STATE"), map(_row, tokens))
    else:
        print_note("there are no tokens; 'fritillary token create NAME' makes one")


def _row(token: Token) -> tuple[str, ...]:
    made = dt.datetime.fromtimestamp(token.created_at_ms / 1000, dt.UTC)
    state = "good" if token.revoked_at_ms is None else "revoked"
    return (
        token.id,
        token.name,
        token.role.value,
        made.strftime("%Y-%m-%d %H:%M UTC"),
        state,
    )


@app.command()
def revoke(
    which: Annotated[
        str, typer.Argument(metavar="WHICH", help="A name, an id, or a token's text.")
    ],
    data: Data = None,
) -> None:
    """Revoke tokens; a running server ends their sessions within a second or two."""
    for token in Application(data).tokens.revoke(which):
        say(f"revoked {token.id} ({token.name}, {token.role.value})")
