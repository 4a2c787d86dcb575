"""What an earlier run of the server has left: which matches, and where they stand."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from attrs import frozen

from fritillary.core.commitment import commitment
from fritillary.core.errors import FritillaryError, RecordError, StorageError
from fritillary.core.outcome import Outcome
from fritillary.plugins.discovery import Registry
from fritillary.plugins.game import Game
from fritillary.record.chain import length_of
from fritillary.record.events import (
    ActionTaken,
    ChanceDrawn,
    Dealt,
    Ended,
    Resigned,
    Revealed,
    Ruling,
)
from fritillary.record.reader import Record, content_hash, read_file, read_record
from fritillary.record.replay import game_of
from fritillary.record.reveal import reveal_record
from fritillary.record.signing import Signer
from fritillary.record.terms import Consequence, EndKind, Fault
from fritillary.record.writer import FileSink, RecordWriter, in_use
from fritillary.referee.lineup import parse_player
from fritillary.referee.seen import Finish, MatchResult, Reveal
from fritillary.service.hosted import Order
from fritillary.service.private import FORMAT, Kept, PrivateFolder

_log = logging.getLogger(__name__)

SUFFIX: Final = ".frec"

_REMOTE: Final = "remote:"

_SEED_LOST: Final = Finish(
    EndKind.VOID,
    "server.seed-lost",
    "the server was restarted and the seed of the deal is lost; the match is void",
)


@frozen(kw_only=True)
class Left:
    """A match that an earlier run of the server has left.

    Args:
        order: as it was asked for.
        created_at_ms: since 1970-01-01 UTC.
        record: so far; ``None`` if there was none.
        length: of that part of the file which holds the record, in bytes.
        used: of the open decision, seat and milliseconds.
        result: if it has ended.
    """

    order: Order
    created_at_ms: int
    record: Record | None = None
    length: int = 0
    used: tuple[int, int] | None = None
    result: MatchResult | None = None

    @property
    def begun(self) -> bool:
        """Whether it was dealt, so that it is taken up and not begun."""
        return self.record is not None and len(self.record.events) > 1

    def refused(self) -> set[int]:
        """Return the seats that did not get ready."""
        return {
            event.seat
            for event in self._events()
            if isinstance(event, Ruling)
            and event.fault is Fault.REFUSED_TO_START
            and event.seat is not None
        }

    def forfeited(self) -> set[int]:
        """Return the seats that are asked nothing more."""
        return {
            event.seat
            for event in self._events()
            if event.seat is not None
            and (
                isinstance(event, Resigned) or event.consequence is Consequence.FORFEIT
            )
        }

    def _events(self) -> Iterator[Ruling | Resigned]:
        for event in () if self.record is None else self.record.events:
            if isinstance(event, (Ruling, Resigned)):
                yield event


def kept_of(order: Order, created_at_ms: int) -> Kept:
    """Return what is kept of an order."""
    return Kept(
        format=FORMAT,
        match_id=order.match_id,
        game=order.game_name,
        options=order.game.codec.encode_options(order.options).hex(),
        players=tuple(spec.text for spec in order.specs),
        clocks=order.clocks,
        terms=order.terms,
        seed=order.seed.hex(),
        salt=order.salt.hex(),
        seed_given=order.seed_given,
        nonces_wanted=order.nonces_wanted,
        labels=order.labels,
        sealed=order.sealed,
        created_at_ms=created_at_ms,
    )


def matches_left(
    private: PrivateFolder, records: Path, registry: Registry, signer: Signer
) -> Iterator[Left]:
    """Yield the matches of earlier runs that have to be taken up, or told of.

    A record that lacks but its closing is closed. A match that cannot be taken up
    now, as when its game is not installed, is told of in the log and left as it is.

    Args:
        private: what was kept.
        records: folder of the records.
        registry: the games.
        signer: closes records.
    """
    for match_id in private.matches():
        try:
            kept = private.load(match_id)
            if kept is not None:
                yield _left(kept, records / f"{match_id}{SUFFIX}", registry, signer)
        except (FritillaryError, OSError) as error:
            why = error.message if isinstance(error, FritillaryError) else str(error)
            _log.warning("match %s is left as it is: %s", match_id, why)


def _left(kept: Kept, path: Path, registry: Registry, signer: Signer) -> Left:
    raw = read_file(path) if path.exists() else b""
    found = _record(raw)
    game = registry.game(kept.game) if found is None else game_of(found, registry)
    order = _order(kept, game)
    if found is None:
        return Left(order=order, created_at_ms=kept.created_at_ms)
    header = found.header
    bound = commitment(
        kept.match_id, bytes.fromhex(kept.options), order.seed, order.salt
    )
    if header.commitment != bound.hex():
        msg = "what was kept is not what its record commits to"
        raise StorageError(msg, code="storage.private")
    if in_use(path):
        msg = "its record is being written by another process"
        raise StorageError(msg, code="storage.private")
    result = None
    if found.find(Ended) is not None:
        if not found.finished and not order.sealed:
            raw = reveal_record(path, order.seed, order.salt, signer)
            found = read_record(raw)
            path.chmod(0o644)
        result = result_of(found)
    used = kept.used
    return Left(
        order=order,
        created_at_ms=header.created_at_ms,
        record=found,
        length=length_of(raw, len(found.events)),
        used=(used.seat, used.spent_ms)
        if used is not None and used.events == len(found.events)
        else None,
        result=result,
    )


def _record(raw: bytes) -> Record | None:
    """Return the record; ``None`` if not even its header was written."""
    try:
        return read_record(raw, unfinished=True) if raw else None
    except RecordError as error:
        # A header is written at once; less than one was torn by a power cut.
        if error.code == "record.torn" or len(raw) < 64:
            return None
        raise


def _order(kept: Kept, game: Game[Any, Any, Any]) -> Order:
    return Order(
        match_id=kept.match_id,
        game_name=kept.game,
        game=game,
        options=game.codec.decode_options(bytes.fromhex(kept.options)),
        specs=tuple(map(parse_player, kept.players)),
        clocks=kept.clocks,
        terms=kept.terms,
        seed=bytes.fromhex(kept.seed),
        salt=bytes.fromhex(kept.salt),
        seed_given=kept.seed_given,
        nonces_wanted=kept.nonces_wanted,
        labels=kept.labels,
        sealed=kept.sealed,
    )


def result_of(found: Record) -> MatchResult | None:
    """Return the result of a record; ``None`` if it has not come to its end."""
    ended = found.find(Ended)
    if ended is None:
        return None
    outcome = None
    if ended.outcome is not None:
        data = ended.outcome
        outcome = Outcome(data.reason, data.scores, data.placing)
    revealed = found.find(Revealed)
    dealt = found.find(Dealt)
    played = (ActionTaken, ChanceDrawn)
    return MatchResult(
        match_id=found.header.match_id,
        finish=Finish(ended.kind, ended.code, ended.message, outcome),
        plies=sum(isinstance(event, played) for event in found.events),
        content_hash=b"" if revealed is None else content_hash(found),
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


# ------------------------------------------------------------------ without a seed


def void_without_seed(
    private: PrivateFolder, records: Path
) -> Iterator[tuple[Record, MatchResult]]:
    """Make matches void that were begun and of which the seed is lost.

    Yields:
        Each record and its result.
    """
    known = set(private.matches())
    for path in sorted(records.glob(f"*{SUFFIX}")):
        try:
            # Records that have come to their end may be read by others.
            open_to_all = path.stat().st_mode & 0o044
            if path.stem in known or open_to_all or in_use(path):
                continue
            raw = read_file(path)
            found = _record(raw)
            if found is None or found.find(Ended) is not None:
                continue
            yield found, _make_void(path, raw, found)
        except (FritillaryError, OSError) as error:
            _log.warning("%s is left as it is: %s", path.name, error)


def _make_void(path: Path, raw: bytes, found: Record) -> MatchResult:
    sink = FileSink(path, after=length_of(raw, len(found.events)))
    writer = RecordWriter(sink, found.header, found)
    finish = _SEED_LOST
    writer.add(Ended(finish.kind, finish.code, finish.message))
    writer.hold()
    path.chmod(0o644)
    return MatchResult(
        match_id=found.header.match_id,
        finish=finish,
        plies=0,
        content_hash=b"",
        final_hash=b"",
    )


def remote_seats(found: Record) -> Iterator[tuple[int, str]]:
    """Yield seat and name of each bot that had dialled in."""
    for seat, terms in enumerate(found.header.seats):
        text = terms.player.player
        if text.startswith(_REMOTE):
            yield seat, text.removeprefix(_REMOTE)
