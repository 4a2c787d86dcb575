"""``fritillary match``."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from attrs import evolve

from fritillary.app.application import Application
from fritillary.cli.asked import picture_or_why
from fritillary.cli.claims import claimed
from fritillary.cli.codes import error_text
from fritillary.cli.human import HumanBot
from fritillary.cli.interrupted import leave
from fritillary.cli.live import LiveMatch
from fritillary.cli.logs import said, without_errors
from fritillary.cli.loop import breathe, stopped_by
from fritillary.cli.loop import run as run_loop
from fritillary.cli.output import console, print_error, print_note
from fritillary.cli.players import check_players
from fritillary.cli.reach import Access, here_or_at_server
from fritillary.cli.results import (
    Played,
    copied,
    rulings_of,
    tell,
    tell_faults,
)
from fritillary.cli.together import leave_out
from fritillary.cli.values import (
    Data,
    GameId,
    Json,
    Options,
    Preset,
    game_and_options,
    hex_bytes,
    label_data,
    option_data,
)
from fritillary.cli.wish import Wish, seat_clocks
from fritillary.core.errors import (
    FritillaryError,
    RecordError,
    ServiceError,
    StorageError,
)
from fritillary.core.interrupts import INTERRUPTED
from fritillary.plugins.game import Game
from fritillary.record.events import Ruling
from fritillary.record.reader import read_record
from fritillary.record.terms import (
    EndKind,
    PlayerInfo,
    Terms,
    parse_duration,
    parse_policy,
)
from fritillary.referee.lineup import STARTED, PlayerSpec, parse_player
from fritillary.referee.match import Match
from fritillary.referee.player import LocalPlayer

if TYPE_CHECKING:
    from fritillary.service.arena import Arena
    from fritillary.service.hosted import HostedMatch

#: Kinds of player that dial in.
_DIALS_IN = (*STARTED, "remote")

#: A person needs time to start a bot by hand.
_REMOTE_WAIT_MS = 120_000


#: Least time between two moves that are watched.
_PACE: Final = "300ms"


@here_or_at_server
def match(
    game_id: GameId,
    seat: Annotated[
        list[str] | None,
        typer.Option(
            "--seat",
            "-s",
            metavar="PLAYER",
            help="Who plays, seat by seat: uniform, a bot of the game, human, "
            "python:module:Class, exec:COMMAND, stdio:COMMAND, remote:NAME. "
            "Default: uniform.",
        ),
    ] = None,
    option: Options = None,
    preset: Preset = "",
    clock: Annotated[
        list[str] | None,
        typer.Option(
            "--clock",
            metavar="CLOCK",
            help="'5min+2s', 'move=5s,bank=30s' or none; once for all seats, or "
            "once for each.",
        ),
    ] = None,
    policy: Annotated[
        list[str] | None,
        typer.Option(
            "--policy",
            metavar="FAULT=WHAT",
            help="What follows a fault, such as illegal=retry:2,void; may be "
            "repeated. Default: forfeit.",
        ),
    ] = None,
    margin: Annotated[
        str,
        typer.Option(
            "--margin", metavar="TIME", help="Added to deadlines to absorb the link."
        ),
    ] = "50ms",
    record: Annotated[
        Path | None,
        typer.Option(
            "--record",
            metavar="FILE",
            help="Where to put the record. One of a match here is kept in the records "
            "of --data as well; with --server it goes there unless this is given.",
        ),
    ] = None,
    match_id: Annotated[
        str,
        typer.Option("--match-id", metavar="ID", help="Default: a fresh one."),
    ] = "",
    label: Annotated[
        list[str] | None,
        typer.Option(
            "--label",
            metavar="NAME=VALUE",
            help="To find the match by, not shown to bots; may be repeated.",
        ),
    ] = None,
    seed: Annotated[
        str,
        typer.Option("--seed", metavar="HEX", help="Of the deal, 64 digits."),
    ] = "",
    salt: Annotated[
        str,
        typer.Option("--salt", metavar="HEX", help="Of the commitment, 64 digits."),
    ] = "",
    watch: Annotated[
        bool, typer.Option("--watch", "-w", help="Show the match as it goes on.")
    ] = False,
    pace: Annotated[
        str,
        typer.Option(
            "--pace",
            metavar="TIME",
            help=f"Least time between moves with --watch. Default: {_PACE}.",
        ),
    ] = "",
    wait: Annotated[
        str,
        typer.Option(
            "--wait",
            metavar="TIME",
            help="So long bots of remote:NAME are waited for. Default: 2min here, not "
            "at all at a server.",
        ),
    ] = "",
    *,
    access: Access | None,
    data: Data = None,
    as_json: Json = False,
) -> None:
    """Play one refereed and recorded match, here or at a server.

    Ctrl-C calls the match off; its record is kept and says so. At a server a second
    Ctrl-C leaves at once, and the match may go on there. Exit code 1 if the match does
    not count, or a player could not be started.

    Example: fritillary match lepidoptery -s greedy -s uniform --watch
    """
    app = Application(data)
    # A server may have games that are not installed here.
    usual = () if access and seat else ("uniform",) * _fewest(app, game_id)
    players = tuple(seat or usual)
    _check_words(
        players,
        data,
        record,
        access,
        pace=pace,
        wait=wait,
        watch=watch,
        as_json=as_json,
    )
    clocks = seat_clocks(clock or [], len(players))
    terms = Terms(policy=parse_policy(policy or []), margin_ms=parse_duration(margin))
    wish = Wish(
        players=players,
        clocks=clocks,
        terms=terms,
        match_id=match_id,
        labels=label_data(label or []),
        wait_ms=parse_duration(wait) if wait else None,
        seed=hex_bytes(seed, "seed") if seed else None,
        salt=hex_bytes(salt, "salt") if salt else None,
        record=record,
        watch=watch,
        pace_s=parse_duration(pace or _PACE) / 1000,
        as_json=as_json,
    )
    if access:
        from fritillary.cli import match_at_server

        wanted = option_data(option or [])
        if wanted and preset:
            # On the wire it is one or the other.
            game, options = game_and_options(app, game_id, option, preset)
            wanted, preset = game.codec.options_to_data(options), ""
        order = match_at_server.Order(access, game_id, wanted, preset)
        raise typer.Exit(match_at_server.play_out(app, order, wish))
    game, options = game_and_options(app, game_id, option, preset)
    raise typer.Exit(play_out(app, game, options, wish))


def _check_words(
    players: tuple[str, ...],
    data: Path | None,
    record: Path | None,
    access: Access | None,
    *,
    pace: str,
    wait: str,
    watch: bool,
    as_json: bool,
) -> None:
    """Refuse options that would mean nothing beside the others.

    Raises:
        UsageError: naming them.
    """
    kinds = {parse_player(player).kind for player in players}
    if as_json:
        leave_out("--json prints the result alone", {"--watch": watch}, code="watch")
    if not watch:
        leave_out("without --watch there is no pace", {"--pace": pace}, code="pace")
    if "human" in kinds:
        why = "whoever plays at this terminal sees the match anyway"
        leave_out(why, {"--watch": watch}, code="watch")
    if "remote" not in kinds:
        why = "no seat is for a bot of remote:NAME, which could be waited for"
        leave_out(why, {"--wait": wait}, code="wait")
    if access and record:
        why = "with --server the record goes to --record and nowhere else"
        leave_out(why, {"--data": data}, code="data")


def _fewest(app: Application, game_id: str) -> int:
    return app.registry.game(game_id).info.min_seats


def play_out(
    app: Application, game: Game[Any, Any, Any], options: Any, wish: Wish
) -> int:
    """Play a match here and tell how it ended; return the exit code.

    On Ctrl-C and on the signals that are like it the match is called off, its record
    closed, and where it is is told.

    Raises:
        FritillaryError: if there was no match, or a person's seat failed.
    """
    with claimed(wish.record) as claim:
        check_players(wish.players)
        _check_order(app, game, options, wish)
        return _played_out(app, game, options, evolve(wish, claim=claim))


def _played_out(
    app: Application, game: Game[Any, Any, Any], options: Any, wish: Wish
) -> int:
    hosted: list[HostedMatch] = []
    humans: list[HumanBot] = []
    try:
        # What the arena logs of a failure is raised here as well.
        with without_errors("fritillary.service.running"):
            run_loop(_play(app, game, options, wish, hosted, humans))
    except BaseException as ended:
        # What ended the command counts, not what follows from it.
        with contextlib.suppress(OSError):
            try:
                _tell_all(hosted, wish)
            except FritillaryError as error:
                print_error(error_text(error))
        if isinstance(ended, KeyboardInterrupt) and hosted:
            if hosted[0].result is None:
                leave(_unfinished(hosted[0]))
            # It was called off, and all is told.
            raise typer.Exit(INTERRUPTED) from None
        raise
    failed = [human.failure for human in humans if human.failure is not None]
    if failed:
        with contextlib.suppress(OSError):
            _tell_all(hosted, wish, faults=False)
        msg = f"the terminal failed, and the seat was lost by it: {said(failed[0])}"
        raise ServiceError(msg, code="player.terminal") from failed[0]
    return _tell_all(hosted, wish)


def _check_order(
    app: Application, game: Game[Any, Any, Any], options: Any, wish: Wish
) -> None:
    """Refuse what makes no sense before anybody is invited to it."""
    from fritillary.service.ordering import order_of

    order_of(
        app.registry,
        game,
        wish.players,
        options=options,
        clocks=wish.clocks or None,
        terms=wish.terms,
        match_id=wish.match_id,
        labels=wish.labels,
        seed=wish.seed,
        salt=wish.salt,
    )


def _unfinished(one: HostedMatch) -> str:
    """Return what there is of a match that could not be brought to its end."""
    if one.path is None or not one.path.exists():
        return "the match had not begun"
    return f"{one.path} is unfinished; the next 'fritillary serve' closes it as void"


def _tell_all(hosted: list[HostedMatch], wish: Wish, *, faults: bool = True) -> int:
    """Tell how the match ended, if it was begun; return the exit code."""
    code = 1
    for one in hosted:
        played = _played(one)
        if played is not None:
            whole = bool(played.final_hash)
            path = copied(one.path, wish.claim) if whole else one.path
            tell(played, path, as_json=wish.as_json)
            if faults:
                tell_faults(played)
            code = played.code
    return code


async def _play(
    app: Application,
    game: Game[Any, Any, Any],
    options: Any,
    wish: Wish,
    hosted: list[HostedMatch],
    humans: list[HumanBot],
) -> None:
    from fritillary.service.arena import Arena
    from fritillary.service.server import Server
    from fritillary.service.tokens import TokenStore

    await breathe()
    specs = [parse_player(text) for text in wish.players]
    terms = wish.terms
    if any(spec.kind == "remote" for spec in specs):
        terms = evolve(terms, offer_ms=_remote_wait_ms(wish))
    async with contextlib.AsyncExitStack() as stack:
        arena = await stack.enter_async_context(
            Arena(
                app.registry,
                app.signer,
                records=app.records,
                tokens=TokenStore(),
                factories={"human": functools.partial(_human, humans)},
            )
        )
        if any(spec.kind in _DIALS_IN for spec in specs):
            await stack.enter_async_context(Server(arena))
            _invite(arena, specs, _remote_wait_ms(wish))
        one = arena.create(
            game,
            wish.players,
            options=options,
            clocks=wish.clocks or None,
            terms=terms,
            match_id=wish.match_id,
            labels=wish.labels,
            seed=wish.seed,
            salt=wish.salt,
        )
        hosted.append(one)
        for human in humans:
            human.position = functools.partial(_position, one)
        try:
            if wish.watch and not humans:
                await show_live(one, wish.pace_s)
            await asyncio.shield(one.ended)
        except asyncio.CancelledError:
            _call_off(one, f"called off by {stopped_by()}")
            raise
        except OSError:
            _call_off(one, "called off since it could not be shown")
            raise


def _call_off(one: HostedMatch, why: str) -> None:
    # What is shown at a pace may have ended meanwhile.
    with contextlib.suppress(ServiceError):
        one.abort(EndKind.WITHDRAWN, "match.aborted", why)
        print_note("calling the match off")


def _human(
    humans: list[HumanBot], spec: PlayerSpec, game: Game[Any, Any, Any]
) -> LocalPlayer:
    """Return the player for the person at this terminal."""
    del game
    humans.append(HumanBot())
    return LocalPlayer(humans[-1], PlayerInfo("human", player=spec.text))


def _position(hosted: HostedMatch, seat: int) -> str:
    """Return the board as a seat sees it; empty before the deal."""
    match = hosted.match
    if match is None or match.state is None:
        return ""
    game = hosted.order.game
    return picture_or_why(game, game.observe(match.state, seat))


async def show_live(
    hosted: HostedMatch, pace_s: float, whole_s: float = math.inf
) -> None:
    """Show a match on the terminal, from its start to its end.

    Args:
        hosted: the match.
        pace_s: least time between two moves.
        whole_s: most time for all pauses together.
    """
    started = asyncio.Event()
    hosted.on_change(started.set)
    while hosted.match is None and not hosted.over:
        await started.wait()
        started.clear()
    hosted.off_change(started.set)
    if isinstance(hosted.match, Match):
        live = LiveMatch(hosted.match, console(), pace_s=pace_s, whole_s=whole_s)
        await live.show()


def _remote_wait_ms(wish: Wish) -> int:
    return _REMOTE_WAIT_MS if wish.wait_ms is None else max(1, wish.wait_ms)


def _invite(arena: Arena, specs: list[PlayerSpec], wait_ms: int) -> None:
    """Tell how the bots that are waited for can dial in."""
    from fritillary.service.tokens import Role

    for name in {spec.name for spec in specs if spec.kind == "remote"}:
        token = arena.tokens.create(name, Role.BOT, passing=True)
        print_note(
            f"waiting {wait_ms / 1000:g} s for {name}; it dials in with "
            f"FRITILLARY_ADDRESS={arena.address} FRITILLARY_TOKEN={token}"
        )


def _played(hosted: HostedMatch) -> Played | None:
    result = hosted.result
    if result is None:
        return None
    return Played(
        match_id=hosted.id,
        game=hosted.order.game.id,
        players=[info.name for info in hosted.infos],
        finish=result.finish,
        plies=result.plies,
        content_hash=result.content_hash,
        final_hash=result.final_hash,
        rulings=_rulings(hosted),
        problems=dict(hosted.problems),
    )


def _rulings(hosted: HostedMatch) -> tuple[Ruling, ...]:
    try:
        record = read_record(hosted.record(), unfinished=True)
    except (RecordError, StorageError, OSError):
        return ()
    return rulings_of(record.events)
