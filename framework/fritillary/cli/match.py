"""``fritillary match``."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from attrs import Factory, evolve, frozen

from fritillary.app.application import Application
from fritillary.cli.human import HumanBot
from fritillary.cli.live import LiveMatch, finish_text
from fritillary.cli.loop import run as run_loop
from fritillary.cli.output import console, print_json, print_note
from fritillary.cli.values import (
    Data,
    GameId,
    Json,
    Options,
    Preset,
    game_and_options,
    hex_bytes,
)
from fritillary.core.errors import StorageError, UsageError
from fritillary.plugins.game import Game
from fritillary.record.terms import (
    ClockSettings,
    EndKind,
    PlayerInfo,
    Terms,
    parse_clock,
    parse_duration,
    parse_policy,
)
from fritillary.referee.lineup import PlayerSpec, parse_player
from fritillary.referee.player import LocalPlayer

if TYPE_CHECKING:
    from fritillary.service.arena import Arena
    from fritillary.service.hosted import HostedMatch

#: Kinds of player that dial in.
_DIALS_IN = ("exec", "python", "remote")

#: A person needs time to start a bot by hand.
_REMOTE_WAIT_MS = 120_000


@frozen(kw_only=True)
class Plan:
    """A match as the command line asks for it.

    Args:
        game: the rules.
        options: of the game.
        players: one string a seat.
        clocks: one for each seat.
        terms: the same for all.
        match_id: of the match; empty for a fresh one.
        seed: of the deal; ``None`` draws one.
        salt: of the commitment; ``None`` draws one.
        record: file to which the record is copied at the end.
        watch: show the match as it goes on.
        pace_s: least time between two moves on the screen.
    """

    game: Game[Any, Any, Any]
    options: Any
    players: tuple[str, ...]
    clocks: tuple[ClockSettings, ...] = ()
    terms: Terms = Factory(Terms)
    match_id: str = ""
    seed: bytes | None = None
    salt: bytes | None = None
    record: Path | None = None
    watch: bool = False
    pace_s: float = 0.0


def match(
    game_id: GameId,
    seat: Annotated[
        list[str] | None,
        typer.Option(
            "--seat",
            "-s",
            metavar="PLAYER",
            help="Who plays, seat by seat: uniform, a bot of the game, human, "
            "python:module:Class, exec:COMMAND, remote:NAME. Default: uniform.",
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
            metavar="FAULT=CONSEQUENCE",
            help="What follows a fault, such as illegal=retry:2,substitute; may be "
            "repeated. Default: forfeit.",
        ),
    ] = None,
    margin: Annotated[
        str, typer.Option("--margin", help="Added to deadlines to absorb the link.")
    ] = "50ms",
    record: Annotated[
        Path | None,
        typer.Option("--record", metavar="FILE", help="Copy the record there."),
    ] = None,
    match_id: Annotated[str, typer.Option("--match-id", metavar="ID")] = "",
    seed: Annotated[
        str, typer.Option("--seed", metavar="HEX", help="The deal's, 64 digits.")
    ] = "",
    salt: Annotated[
        str, typer.Option("--salt", metavar="HEX", help="The commitment's, 64 digits.")
    ] = "",
    watch: Annotated[
        bool, typer.Option("--watch", "-w", help="Show the match as it goes on.")
    ] = False,
    pace: Annotated[
        str, typer.Option("--pace", help="Least time between moves with --watch.")
    ] = "200ms",
    data: Data = None,
    as_json: Json = False,
) -> None:
    """Play one refereed and recorded match.

    Example: fritillary match lepidoptery --seat greedy --seat uniform --watch
    """
    app = Application(data)
    game, options = game_and_options(app, game_id, option, preset)
    players = tuple(seat or ("uniform",) * game.info.min_seats)
    plan = Plan(
        game=game,
        options=options,
        players=players,
        clocks=seat_clocks(clock or [], len(players)),
        terms=Terms(
            policy=parse_policy(policy or []), margin_ms=parse_duration(margin)
        ),
        match_id=match_id,
        seed=hex_bytes(seed, "seed") if seed else None,
        salt=hex_bytes(salt, "salt") if salt else None,
        record=record,
        watch=watch and not as_json,
        pace_s=parse_duration(pace) / 1000,
    )
    raise typer.Exit(play_out(app, plan, as_json=as_json))


def seat_clocks(words: list[str], seats: int) -> tuple[ClockSettings, ...]:
    """Return a clock for each seat, from none, one, or one each.

    Raises:
        UsageError: for another number of clocks, or one that cannot be read.
    """
    clocks = tuple(map(parse_clock, words or ["none"]))
    if len(clocks) == 1:
        return clocks * seats
    if len(clocks) != seats:
        msg = f"--clock is given {len(clocks)} times for {seats} seats; once, or each"
        raise UsageError(msg, code="usage.clock")
    return clocks


def play_out(app: Application, plan: Plan, *, as_json: bool = False) -> int:
    """Play a match and tell how it ended; return the exit code.

    On Ctrl-C the match is called off, its record closed, and where it is is told.
    """
    if plan.record is not None:
        _check_target(plan.record)
    hosted: list[HostedMatch] = []
    try:
        run_loop(_play(app, plan, hosted))
    finally:
        for one in hosted:
            if one.result is None:
                continue
            path = _kept(one, plan)
            if as_json:
                print_json(result_data(one, path))
            else:
                _tell(one, path)
    result = hosted[0].result
    void = result is None or result.finish.kind in (EndKind.VOID, EndKind.WITHDRAWN)
    return 1 if void else 0


async def _play(app: Application, plan: Plan, hosted: list[HostedMatch]) -> None:
    from fritillary.service.arena import Arena
    from fritillary.service.server import Server
    from fritillary.service.tokens import TokenStore

    specs = [parse_player(text) for text in plan.players]
    terms = plan.terms
    if any(spec.kind == "remote" for spec in specs):
        terms = evolve(terms, offer_ms=_REMOTE_WAIT_MS)
    async with contextlib.AsyncExitStack() as stack:
        arena = await stack.enter_async_context(
            Arena(
                app.registry,
                app.signer,
                records=app.records,
                tokens=TokenStore(),
                factories={"human": human_player},
            )
        )
        if any(spec.kind in _DIALS_IN for spec in specs):
            await stack.enter_async_context(Server(arena))
            _invite(arena, specs)
        one = arena.create(
            plan.game,
            plan.players,
            options=plan.options,
            clocks=plan.clocks or None,
            terms=terms,
            match_id=plan.match_id,
            seed=plan.seed,
            salt=plan.salt,
        )
        hosted.append(one)
        if plan.watch:
            await show_live(one, plan.pace_s)
        await asyncio.shield(one.ended)


def human_player(spec: PlayerSpec, game: Game[Any, Any, Any]) -> LocalPlayer:
    """Return the player for the person at this terminal."""
    del game
    return LocalPlayer(HumanBot(), PlayerInfo("human", player=spec.text))


async def show_live(hosted: HostedMatch, pace_s: float) -> None:
    """Show a match on the terminal, from its start to its end."""
    started = asyncio.Event()
    hosted.on_change(started.set)
    while hosted.match is None and not hosted.over:
        await started.wait()
        started.clear()
    hosted.off_change(started.set)
    if hosted.match is not None:
        await LiveMatch(hosted.match, console(), pace_s=pace_s).show()


def _invite(arena: Arena, specs: list[PlayerSpec]) -> None:
    """Tell how the bots that are waited for can dial in."""
    from fritillary.service.tokens import Role

    for name in {spec.name for spec in specs if spec.kind == "remote"}:
        token = arena.tokens.create(name, Role.BOT, passing=True)
        print_note(
            f"waiting {_REMOTE_WAIT_MS // 1000} s for {name}; it dials in with "
            f"FRITILLARY_ADDRESS={arena.address} FRITILLARY_TOKEN={token}"
        )


def _check_target(path: Path) -> None:
    if path.exists():
        msg = f"{path}: there is a file already; name another with --record"
        raise UsageError(msg, code="usage.record")
    if not path.absolute().parent.is_dir():
        msg = f"{path}: the folder does not exist"
        raise UsageError(msg, code="usage.record")


def _kept(hosted: HostedMatch, plan: Plan) -> Path | None:
    """Copy the record to where it is wanted; return where it is."""
    path = hosted.path
    if path is None or plan.record is None:
        return path
    try:
        shutil.copyfile(path, plan.record)
    except OSError as error:
        msg = f"{plan.record}: {error.strerror}; the record is in {path}"
        raise StorageError(msg) from error
    return plan.record


def names_of(hosted: HostedMatch) -> list[str]:
    """Return the names of the players, by seat."""
    return [info.name for info in hosted.infos]


def result_data(hosted: HostedMatch, path: Path | None) -> dict[str, Any]:
    """Return the result of a match as data."""
    result = hosted.result
    if result is None:
        return {"match_id": hosted.id, "ended": None}
    finish = result.finish
    outcome = finish.outcome
    return {
        "match_id": hosted.id,
        "game": hosted.order.game.id,
        "players": names_of(hosted),
        "ended": finish.kind.value,
        "code": finish.code,
        "message": finish.message,
        "reason": None if outcome is None else outcome.reason,
        "scores": None if outcome is None else list(outcome.scores),
        "placing": None if outcome is None else list(outcome.placing),
        "plies": result.plies,
        "content_hash": result.content_hash.hex(),
        "final_hash": result.final_hash.hex(),
        "record": None if path is None else str(path),
    }


def _tell(hosted: HostedMatch, path: Path | None) -> None:
    result = hosted.result
    if result is None:
        return
    out = console()
    out.print(finish_text(names_of(hosted), result.finish), style="bold", markup=False)
    out.print(f"{result.plies} plies, content {result.content_hash.hex()}")
    if path is not None:
        out.print(f"record {path}", markup=False)
