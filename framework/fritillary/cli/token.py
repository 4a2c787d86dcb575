"""``fritillary token``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from fritillary.app.application import Application
from fritillary.cli.moments import now_ms, parse_expiry
from fritillary.cli.output import print_json, print_note, say
from fritillary.cli.tables import print_table
from fritillary.cli.values import Data, Json
from fritillary.core.moments import moment_text

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
        typer.Option("--again", help="Also beside a good one of that name."),
    ] = False,
    expires: Annotated[
        str | None,
        typer.Option(
            "--expires",
            metavar="WHEN",
            help="After 12h, 30d or 2w, or at a time such as 2026-11-30T15:00Z; else "
            "never. What runs with it ends then.",
        ),
    ] = None,
    data: Data = None,
) -> None:
    """Make a token and print it; it is shown this once.

    A name whose tokens have expired, or were revoked, gets another one; beside a good
    one only with --again. That expires as is said with it, the old one as before.

    Example: fritillary token create my-bot --expires 30d
    """
    from fritillary.core.errors import UsageError
    from fritillary.service.tokens import Role

    if role not in {known.value for known in Role}:
        msg = f"role {role[:40]!r} is none of bot, referee, spectator"
        raise UsageError(msg, code="usage.role")
    expires_at_ms = None if expires is None else parse_expiry(expires, now_ms())
    tokens = Application(data).tokens
    print(tokens.create(name, Role(role), again=again, expires_at_ms=expires_at_ms))
    print_note("keep it secret; only its hash is stored, so it cannot be shown again")
    if expires_at_ms is not None:
        print_note(f"it expires on {moment_text(expires_at_ms)}")
    good = [token.id for token in tokens.good_of(name)]
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
    store = app.kept_tokens
    tokens = store.list()
    if as_json:
        print_json(
            [
                {
                    "id": token.id,
                    "name": token.name,
                    "role": token.role.value,
                    "created_at_ms": token.created_at_ms,
                    "expires_at_ms": token.expires_at_ms,
                    "revoked_at_ms": token.revoked_at_ms,
                    "state": store.state(token),
                }
                for token in tokens
            ]
        )
    elif tokens:
        titles = ("ID", "NAME", "ROLE", "MADE (UTC)", "EXPIRES (UTC)", "STATE")
        print_table(
            titles,
            (_row(token, store.state(token)) for token in tokens),
            beneath=("MADE (UTC)",),
        )
    else:
        print_note(
            f"there are no tokens; 'fritillary token create NAME{app.words}' makes one"
        )


def _row(token: Token, state: str) -> tuple[str, ...]:
    expires_at_ms = token.expires_at_ms
    return (
        token.id,
        token.name,
        token.role.value,
        _short(token.created_at_ms),
        "never" if expires_at_ms is None else _short(expires_at_ms),
        state,
    )


def _short(ms: int) -> str:
    return moment_text(ms).removesuffix(" UTC")


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
