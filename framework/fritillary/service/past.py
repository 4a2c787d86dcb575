"""Matches that have ended, read from their records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from attrs import frozen

from fritillary.core.errors import RecordError, UsageError
from fritillary.core.outcome import Outcome
from fritillary.plugins.game import Game
from fritillary.record.events import (
    ActionTaken,
    ChanceDrawn,
    Dealt,
    Ended,
    Header,
    OutcomeData,
    Revealed,
)
from fritillary.record.reader import Record, content_hash
from fritillary.record.terms import EndKind, Fault
from fritillary.referee.clock import SeatClock
from fritillary.referee.lineup import PlayerSpec, parse_player
from fritillary.referee.play import Play
from fritillary.referee.seen import Finish, MatchResult, Reveal
from fritillary.referee.teller import Teller
from fritillary.service.ordering import Order

REMOTE: Final = "remote:"

#: The end of a match that was begun and cannot be dealt again.
SEED_LOST: Final = Finish(
    EndKind.VOID,
    "server.seed-lost",
    "the server was restarted and the seed of the deal is lost; the match is void",
)


@frozen(kw_only=True)
class Past:
    """How a match ended.

    Args:
        header: of its record.
        result: as the record has it.
        path: of the record.
        ended_at_ms: since 1970-01-01 UTC.
    """

    header: Header
    result: MatchResult
    path: Path
    ended_at_ms: int


@frozen
class PlayedAgain:
    """A match that has ended and was played again for whoever looks on.

    It stands where a `Match` does and is over.

    Args:
        play: at its end.
        result: of the match.
    """

    play: Play
    result: MatchResult

    phase = "ended"
    open_ms = None

    @property
    def state(self) -> Any:  # noqa: ANN401 - of any game
        """The truth; ``None`` if nothing was dealt."""
        return self.play.state

    @property
    def ply(self) -> int:
        """Plies that were played."""
        return self.play.ply

    @property
    def teller(self) -> Teller:
        """Tells watchers what happened."""
        return self.play.teller

    @property
    def clocks(self) -> list[SeatClock]:
        """The clock of each seat."""
        return self.play.clocks

    @property
    def rulings(self) -> Mapping[Fault, int]:
        """None that are to be counted."""
        return {}

    def abort(self, *_: object) -> bool:
        """Say that there is nothing to end."""
        return False

    def pause(self, _: str) -> bool:
        """Say that nothing goes on."""
        return False

    def resume(self) -> bool:
        """Say that there is no pause."""
        return False


def ended_at_ms(path: Path) -> int:
    """Return when a record was written last, in milliseconds since 1970-01-01 UTC.

    The record itself does not tell the time of day. What lies before 1970 is 0.

    Raises:
        OSError: if there is none.
    """
    return max(0, path.stat().st_mtime_ns) // 1_000_000


def result_of(found: Record, seed: bytes | None = None) -> MatchResult | None:
    """Return the result of a record; ``None`` if it has not come to its end.

    Args:
        found: the record.
        seed: that was committed to, 32 bytes, if it is known though not revealed.

    Raises:
        RecordError: if its outcome is none of so many seats.
    """
    ended = found.find(Ended)
    if ended is None:
        return None
    outcome = None
    if ended.outcome is not None:
        outcome = _outcome(ended.outcome, len(found.header.seats))
    revealed = found.find(Revealed)
    dealt = found.find(Dealt)
    played = (ActionTaken, ChanceDrawn)
    known = revealed is not None or seed is not None
    return MatchResult(
        match_id=found.header.match_id,
        finish=Finish(ended.kind, ended.code, ended.message, outcome),
        plies=sum(isinstance(event, played) for event in found.events),
        content_hash=content_hash(found, seed) if known else b"",
        final_hash=found.links[-1] if found.finished else b"",
        reveal=None
        if revealed is None
        else Reveal(
            seed=bytes.fromhex(revealed.seed),
            salt=bytes.fromhex(revealed.salt),
            nonces=()
            if dealt is None
            else tuple(bytes.fromhex(nonce) for nonce in dealt.nonces),
        ),
    )


def order_of_record(found: Record, game: Game[Any, Any, Any], name: str) -> Order:
    """Return the order of a match that has ended, as far as its record tells.

    Seed and salt are empty where they are not revealed. Whether they were given is not
    known. Of programs no more is known than everybody may know.

    Args:
        found: the record.
        game: the rules that it was played with.
        name: the full id under which they are reached here.

    Raises:
        CodecError: if its options are none of the game.
    """
    header = found.header
    revealed = found.find(Revealed)
    return Order(
        match_id=header.match_id,
        game_name=name,
        game=game,
        options=game.codec.decode_options(bytes.fromhex(header.options)),
        specs=tuple(spec_of(seat.player.player) for seat in header.seats),
        clocks=tuple(seat.clock for seat in header.seats),
        terms=header.terms,
        seed=b"" if revealed is None else bytes.fromhex(revealed.seed),
        salt=b"" if revealed is None else bytes.fromhex(revealed.salt),
        seed_given=None,
        labels=header.labels,
        sealed=held_back(found),
    )


def held_back(found: Record) -> bool:
    """Say whether others may still be to play the deal of a match that has ended.

    That of one without a seed too: nobody knows any more whether it was to be sealed.
    """
    return found.find(Ended) is not None and found.find(Revealed) is None


def remote_seats(found: Record) -> Iterator[tuple[int, str]]:
    """Yield seat and name of each bot that had dialled in."""
    for seat, terms in enumerate(found.header.seats):
        text = terms.player.player
        if text.startswith(REMOTE):
            yield seat, text.removeprefix(REMOTE)


def _outcome(data: OutcomeData, seats: int) -> Outcome:
    try:
        outcome = Outcome(data.reason, data.scores, data.placing)
    except (TypeError, ValueError) as error:
        raise RecordError(f"the end: {error}", code="record.invalid") from error
    if len(outcome.scores) != seats:
        msg = f"the end: an outcome of {len(outcome.scores)} seats, not of {seats}"
        raise RecordError(msg, code="record.invalid")
    return outcome


def spec_of(text: str) -> PlayerSpec:
    """Return a player as it was named once."""
    try:
        return parse_player(text)
    except UsageError:
        # Whoever made the match may have named a player of its own.
        return PlayerSpec(text, "local", text)
