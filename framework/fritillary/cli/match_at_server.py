"""The match of ``fritillary match --server``: made, watched and fetched there."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import attrs
from attrs import field, frozen

from fritillary.app.application import Application
from fritillary.cli.lines import event_text, finish_text
from fritillary.cli.live import Screen
from fritillary.cli.loop import run as run_loop
from fritillary.cli.loop import stopped_by
from fritillary.cli.output import console, print_note
from fritillary.cli.results import Played, check_target, tell, tell_faults
from fritillary.cli.wish import Wish
from fritillary.core.errors import (
    FritillaryError,
    ServiceError,
    StorageError,
    UsageError,
)
from fritillary.core.outcome import Outcome
from fritillary.record import terms as record_terms
from fritillary.referee.seen import Finish
from fritillary_client import (
    ArenaError,
    ClockSettings,
    Event,
    FaultRule,
    Match,
    MatchResult,
    MatchView,
    Referee,
    Terms,
)

#: Codes with which a server tells that what was asked for makes no sense.
_USAGE: Final = ("usage.", "options.", "match.id", "game.unknown", "codec.")

#: So long is a picture's line at most.
_WIDE: Final = 400


@frozen
class Order:
    """What is played where.

    Args:
        server: its address.
        token: of a referee.
        game: full id.
        options: as plain data.
        preset: name of published options.
    """

    server: str
    token: str = field(repr=False)
    game: str
    options: dict[str, Any]
    preset: str


def play_out(app: Application, order: Order, wish: Wish) -> int:
    """Play a match at a server and tell how it ended; return the exit code.

    On Ctrl-C the match is called off there; a second one leaves it to the server.
    """
    check_target(wish.record)
    with _our_errors():
        return run_loop(_play(app, order, wish))


@contextlib.contextmanager
def _our_errors() -> Iterator[None]:
    """Raise what the client raises as an error of the command line."""
    try:
        yield
    except ArenaError as error:
        usage = error.code.startswith(_USAGE)
        kind: type[FritillaryError] = UsageError if usage else ServiceError
        message = error.message
        if error.code == "usage.token":
            message = "a server wants to know who asks: give --token"
        if error.code in {"usage.token", "auth.wrong-role"}:
            message += "; 'fritillary token create NAME --role referee' makes one there"
        raise kind(message, code=error.code) from error


async def _play(app: Application, order: Order, wish: Wish) -> int:
    async with Referee(order.server, order.token or None) as referee:
        made = await referee.create_match(
            order.game,
            wish.players,
            options=order.options or None,
            preset=order.preset,
            clock=[ClockSettings(**attrs.asdict(clock)) for clock in wish.clocks],
            terms=_terms(wish.terms),
            seed=wish.seed or b"",
            salt=wish.salt or b"",
            match_id=wish.match_id,
        )
        if not wish.as_json:
            print_note(f"match {made.match_id} at {order.server}")
        try:
            await (_show if wish.watch else _wait)(referee, made, wish)
        except (asyncio.CancelledError, OSError) as error:
            why = "called off since it could not be shown"
            if isinstance(error, asyncio.CancelledError):
                why = f"called off by {stopped_by()}"
            # What is shown at a pace may have ended meanwhile.
            with contextlib.suppress(ArenaError):
                await referee.abort(made.match_id, why)
                print_note("calling the match off")
            await _wait(referee, made, wish)
            with contextlib.suppress(OSError):
                await _tell_end(app, referee, made, wish)
            raise
        return await _tell_end(app, referee, made, wish)


def _terms(terms: record_terms.Terms) -> Terms:
    policy = terms.policy
    return Terms(
        policy=[
            FaultRule(rule.fault.value, rule.consequence.value, rule.retries)
            for rule in policy.rules
        ],
        stand_in=policy.stand_in,
        link_loss_ms=policy.link.loss_ms,
        link_total_ms=policy.link.total_ms,
        restarts=policy.link.restarts,
        # Ceiling, and time for offers and preparation, are the server's to choose.
        margin_ms=terms.margin_ms,
    )


async def _wait(referee: Referee, match: Match, wish: Wish) -> None:
    """Wait for the end of a match."""
    del wish
    async for _ in referee.watch(match.match_id, after=None):
        pass


async def _show(referee: Referee, match: Match, wish: Wish) -> None:
    """Show a match on the terminal to its end."""
    screen = Screen(console(), pace_s=wish.pace_s)
    following = asyncio.ensure_future(_follow(referee, match, screen))
    try:
        await screen.show()
        await following
    finally:
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)


async def _follow(referee: Referee, match: Match, screen: Screen) -> None:
    """Tell a screen what happens.

    What was over before the watching began has no picture of its own; all else is
    shown with the view that comes after it.
    """
    names: list[str] = []
    seen: int | None = None
    ply = 0
    event: Event | None = None

    def show(event: Event, *, past: bool = False) -> None:
        screen.add(event.ply, event_text(names, event), past=past)

    try:
        async for update in referee.watch(match.match_id, views=True, picture="text"):
            if isinstance(update, MatchView):
                if seen is None:
                    seen = update.ply
                screen.picture = _picture(update.picture) or screen.picture
                if event is not None:
                    show(event)
                    event = None
            elif isinstance(update, Event):
                # Programs tell their names when they dial in.
                names = names or _names(await referee.get_match(match.match_id))
                ply = update.ply
                if event is not None:
                    show(event)
                    event = None
                if update.kind == "ended":
                    continue
                if ply <= (seen or 0):
                    show(update, past=True)
                else:
                    event = update
            elif isinstance(update, MatchResult):
                names = names or _names(await referee.get_match(match.match_id))
                if event is not None:
                    show(event)
                screen.add(ply, finish_text(names, _finish(update)))
    finally:
        screen.close()


def _names(match: Match) -> list[str]:
    return [record_terms.clip(seat.name, 64) for seat in match.seats]


def _picture(text: str) -> str:
    """Return a picture without anything that a terminal would act on."""
    return "\n".join(record_terms.clip(line, _WIDE) for line in text.splitlines())


def _finish(result: MatchResult) -> Finish:
    outcome = None
    if result.counts:
        outcome = Outcome(result.reason, result.scores, result.placing)
    kind = record_terms.EndKind(result.kind)
    return Finish(kind, result.code, record_terms.clip(result.message, 500), outcome)


async def _tell_end(
    app: Application, referee: Referee, match: Match, wish: Wish
) -> int:
    """Fetch the record and tell how the match ended; return the exit code."""
    raw = await referee.fetch_record(match.match_id)
    played = Played.of_record(raw)
    if played.match_id != match.match_id:
        msg = f"the server sent the record of another match, {played.match_id}"
        raise ServiceError(msg, code="record.other")
    path = wish.record or app.records / f"{played.match_id}.frec"
    _keep(raw, path)
    tell(played, path, as_json=wish.as_json)
    tell_faults(played)
    return played.code


def _keep(raw: bytes, path: Path) -> None:
    """Write a record, unless the server on this machine has done so."""
    try:
        if path.exists():
            if path.read_bytes() == raw:
                return
            msg = f"{path}: there is another file already; name one with --record"
            raise StorageError(msg, code="storage.exists")
        path.write_bytes(raw)
    except OSError as error:
        raise StorageError(f"{path}: {error.strerror}") from error
