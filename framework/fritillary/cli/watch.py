"""``fritillary watch``."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from fritillary.app.application import Application
from fritillary.cli.reach import Access, OnlookerToken, at_server
from fritillary.cli.together import leave_out
from fritillary.cli.values import MatchId
from fritillary.core.errors import UsageError
from fritillary.record.terms import parse_duration

#: How long a server that has gone away is waited for.
_PATIENCE: Final = "1min"


@at_server(OnlookerToken)
def watch(
    match_id: MatchId = "",
    *,
    access: Access,
    latest: Annotated[
        bool,
        typer.Option(
            "--latest", help="The newest match that goes on; waits if there is none."
        ),
    ] = False,
    follow: Annotated[
        bool,
        typer.Option("--follow", help="After the end, go on with the next match."),
    ] = False,
    give_up: Annotated[
        str,
        typer.Option(
            "--give-up",
            metavar="TIME",
            help="So long a server that has gone away is waited for. Default: "
            f"{_PATIENCE}.",
        ),
    ] = "",
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object a line.")
    ] = False,
) -> None:
    """Watch a match at a server as spectators may see it, or list those that go on.

    Whoever comes late is told what has happened so far; a server that goes away is
    waited for. Where the output is no terminal each thing that happens is a line: the
    time, the ply and what happened, with - for what is not known. With --json the type
    of an object is match, view, event, status, lost, found or result. Ctrl-C leaves;
    the match goes on.

    Example: fritillary watch --latest --follow --token TOKEN
    """
    if match_id and latest:
        msg = "name a match or ask for the latest one, not both"
        raise UsageError(msg, code="usage.latest")
    from fritillary.cli import watch_at_server as there

    wish = there.Wish(access, parse_duration(give_up or _PATIENCE) / 1000, as_json)
    if match_id or latest or follow:
        there.watch(Application(), wish, match_id, follow=follow)
    else:
        leave_out("a list waits for no server", {"--give-up": give_up})
        there.list_open(wish)
