"""``fritillary bench``."""

from __future__ import annotations

from typing import Annotated

import typer

from fritillary.app.application import Application
from fritillary.cli.reach import TOKEN_VARIABLE, check_no_server
from fritillary.cli.secure import Ca, Cert, Key
from fritillary.cli.together import leave_out
from fritillary.cli.values import Json, check_text
from fritillary.core.errors import UsageError

app = typer.Typer(
    help="Measure links and servers.\n\nExample: fritillary bench link --streams 8",
    no_args_is_help=True,
)


@app.callback()
def _group() -> None:
    """Measure links and servers."""


@app.command()
def link(
    server: Annotated[
        str,
        typer.Option(
            "--server",
            metavar="HOST:PORT",
            help="A running server; else one on loopback is started for it.",
        ),
    ] = "",
    token: Annotated[
        list[str] | None,
        typer.Option(
            "--token",
            metavar="TEXT",
            envvar=TOKEN_VARIABLE,
            help="With --server, may be repeated: a token of its own, of a bot that "
            "does not play; a referee's, to measure decisions as well; one more bot's "
            "for each of --streams.",
        ),
    ] = None,
    ca: Ca = None,
    cert: Cert = None,
    key: Key = None,
    count: Annotated[
        int, typer.Option("--count", metavar="N", min=1, help="Pings, and decisions.")
    ] = 1000,
    streams: Annotated[
        int,
        typer.Option(
            "--streams",
            metavar="N",
            min=0,
            max=1000,
            help="Measure again while so many other bots play.",
        ),
    ] = 0,
    game: Annotated[
        str,
        typer.Option(
            "--game", metavar="GAME", help="What is played. Default: the first here."
        ),
    ] = "",
    as_json: Json = False,
) -> None:
    """Measure what a link costs a bot that thinks for nothing.

    Round trips of pings; of decisions, from sending one to hearing that it was taken;
    and what the server's clock makes of them, which is what a margin has to absorb.
    The matches at a server are recorded there like any other, with the label
    purpose=bench-link. Ctrl-C gives the figures so far.

    Example: fritillary bench link --streams 8
    """
    from fritillary.cli import bench_link
    from fritillary_client.echo import Security

    words = [word for word in token or () if word.strip()]
    if not server:
        check_no_server(token, ca, cert, key)
        # What the environment holds is for servers elsewhere.
        words = []
    elif words and not any(word.startswith(bench_link.REFEREE) for word in words):
        leave_out("without a referee's token nothing is played", {"--game": game})
    check_text(game, "game")
    application = Application()
    if not game:
        installed = application.registry.games()
        if not installed:
            msg = "no game is installed; name one that the server has with --game"
            raise UsageError(msg, code="usage.game")
        game = installed[0][0]
    wish = bench_link.Wish(
        server=server,
        tokens=words,
        security=Security(
            tls=None,
            ca=str(ca) if ca else None,
            cert=str(cert) if cert else None,
            key=str(key) if key else None,
        ),
        count=count,
        streams=streams,
        game=game,
    )
    bench_link.measure(application, wish, as_json=as_json)
