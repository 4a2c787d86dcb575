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
    help="Make, list and revoke the tokens of bots, referees and spectators.\n\n"
    "Example: fritillary token create my-bot",
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
    again: Annotated[
        bool,
        typer.Option("--again", help="Also if there is a good one of that name."),
    ] = False,
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
    tokens = Application(data).tokens
    print(tokens.create(name, Role(role), again=again))
    print_note("keep it secret; only its hash is stored, so it cannot be shown again")
    good = [
        token.id
        for token in tokens.list()
        if token.name == name and token.revoked_at_ms is None
    ]
    if len(good) > 1:
        print_note(
            f"{name} has {len(good)} good tokens now ({', '.join(good)}); revoking the "
            "name revokes them all, an id that one"
        )


@app.command("list")
def list_tokens(data: Data = None, as_json: Json = False) -> None:
    """List the tokens, without their secrets.

    Example: fritillary token list
    """
    app = Application(data)
    tokens = app.kept_tokens.list()
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
        print_note(
            f"there are no tokens; 'fritillary token create NAME{app.words}' makes one"
        )


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
    """Revoke tokens; a running server ends their sessions within a second or two.

    Example: fritillary token revoke my-bot
    """
    revoked = Application(data).kept_tokens.revoke(which)
    for token in revoked:
        say(f"revoked {token.id} ({token.name}, {token.role.value})")
    print_note(f"{len(revoked)} token{'s' if len(revoked) > 1 else ''} revoked")
