"""``fritillary matches``."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from fritillary.app.application import Application
from fritillary.cli.moments import parse_since
from fritillary.cli.reach import Access, OnlookerToken, RefereeToken, at_server
from fritillary.cli.values import Json, MatchId, label_data, public_key

app = typer.Typer(
    help="List, show, pause, resume and abort matches at a server; fetch records."
    "\n\nExample: fritillary matches list --phase open",
    no_args_is_help=True,
)

Message: TypeAlias = Annotated[
    str,
    typer.Option(
        "--message",
        "-m",
        metavar="TEXT",
        help="Why, as a sentence that players and onlookers are shown.",
    ),
]


class Kind(enum.Enum):
    """How a match ends that is aborted."""

    WITHDRAWN = "withdrawn"
    VOID = "void"


@app.command("list")
@at_server(OnlookerToken)
def list_matches(
    phase: Annotated[
        list[str] | None,
        typer.Option(
            "--phase",
            metavar="PHASE",
            help="Only in this phase: offered, preparing, running, waiting, paused, "
            "closing, ended, or stranded: not taken up after a restart; open: all but "
            "ended. May be repeated.",
        ),
    ] = None,
    game: Annotated[
        str,
        typer.Option(
            "--game", metavar="GAME", help="Only this one, with +variant for each."
        ),
    ] = "",
    label: Annotated[
        list[str] | None,
        typer.Option(
            "--label",
            metavar="NAME=VALUE",
            help="Only with this label; may be repeated.",
        ),
    ] = None,
    bot: Annotated[
        str,
        typer.Option(
            "--bot",
            metavar="NAME",
            help="Only where this player sits, as it is seated (remote:NAME, or NAME) "
            "or as it calls itself.",
        ),
    ] = "",
    since: Annotated[
        str,
        typer.Option(
            "--since",
            metavar="WHEN",
            help="Only those made since: 90min, 2h or 3d ago, or a date or time (UTC) "
            "such as 2026-11-30 or 2026-11-30T15:00.",
        ),
    ] = "",
    limit: Annotated[
        int, typer.Option("--limit", min=0, metavar="N", help="At most; 0: all.")
    ] = 50,
    *,
    access: Access,
    as_json: Json = False,
) -> None:
    """List matches, the newest first, those that have ended among them.

    Example: fritillary matches list --phase ended --since 2h
    """
    from fritillary.cli import matches_at_server as there

    wanted = there.Wanted(
        phases=tuple(phase or ()),
        game=game,
        labels=label_data(label or []),
        bot=bot,
        since_ms=parse_since(since) if since else 0,
        limit=limit,
    )
    there.list_matches(access, wanted, as_json=as_json)


@app.command("show")
@at_server(OnlookerToken)
def show_match(
    match_id: MatchId,
    *,
    access: Access,
    as_json: Json = False,
) -> None:
    """Show where a match is: players, clocks, who has to decide, what went wrong.

    Players as they were named, and what went wrong with them, are told to referees.

    Example: fritillary matches show MATCH
    """
    from fritillary.cli import matches_at_server as there

    there.show(access, match_id, as_json=as_json)


@app.command()
@at_server(RefereeToken)
def pause(
    match_id: MatchId,
    message: Message = "",
    *,
    access: Access,
    as_json: Json = False,
) -> None:
    """Stop the clocks of a match.

    Example: fritillary matches pause MATCH --message lunch
    """
    from fritillary.cli import matches_at_server as there

    there.pause(access, match_id, message, as_json=as_json)


@app.command()
@at_server(RefereeToken)
def resume(
    match_id: MatchId,
    *,
    access: Access,
    as_json: Json = False,
) -> None:
    """Let a match that is paused go on.

    Example: fritillary matches resume MATCH
    """
    from fritillary.cli import matches_at_server as there

    there.resume(access, match_id, as_json=as_json)


@app.command()
@at_server(RefereeToken)
def abort(
    match_id: MatchId,
    kind: Annotated[
        Kind,
        typer.Option(
            "--kind",
            metavar="WHAT",
            help="withdrawn: it is called off; void: it may be replayed.",
        ),
    ] = Kind.WITHDRAWN,
    message: Message = "",
    *,
    access: Access,
    as_json: Json = False,
) -> None:
    """End a match that goes on; it does not count.

    So ends also one that is stranded: it could not be taken up after a restart of the
    server, as when its game is not installed there any more.

    Example: fritillary matches abort MATCH --kind void
    """
    from fritillary.cli import matches_at_server as there

    void = kind is Kind.VOID
    there.abort(access, match_id, message, void=void, as_json=as_json)


@app.command()
@at_server(OnlookerToken)
def fetch(
    match_id: MatchId,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Where to put it; default: MATCH.frec in this folder.",
        ),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace a file that is there.")
    ] = False,
    signed_by: Annotated[
        str,
        typer.Option(
            "--signed-by",
            metavar="HEX",
            help="The public key that must have signed it.",
        ),
    ] = "",
    *,
    access: Access,
    as_json: Json = False,
) -> None:
    """Fetch the record of a match that has ended, and verify it.

    Where the game is not installed here only the chain, the signature and the form are
    checked, and a remark says so. Exit code 3 if the record does not hold; it is kept.

    Example: fritillary matches fetch MATCH --output final.frec
    """
    from fritillary.cli import fetching_at_server as there

    order = there.Order(
        access=access,
        match_id=match_id,
        path=output,
        overwrite=overwrite,
        signed_by=public_key(signed_by) if signed_by else "",
        as_json=as_json,
    )
    raise typer.Exit(there.fetch(Application(), order))
