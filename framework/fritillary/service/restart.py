"""What an earlier run of the server has left: which matches, and where they stand."""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
from attrs import frozen

from fritillary.core.commitment import commitment
from fritillary.core.errors import FritillaryError, RecordError, StorageError
from fritillary.plugins.discovery import Registry
from fritillary.plugins.game import Game
from fritillary.record.chain import length_of
from fritillary.record.events import Ended, Resigned, Ruling
from fritillary.record.reader import Record, read_file, read_record
from fritillary.record.replay import game_of
from fritillary.record.reveal import reveal_record
from fritillary.record.signing import Signer
from fritillary.record.terms import Consequence, Fault
from fritillary.record.writer import FileSink, RecordWriter, in_use
from fritillary.referee.absent import Absent
from fritillary.referee.lineup import parse_player
from fritillary.referee.match import NO_RECORD
from fritillary.referee.play import ended_event
from fritillary.referee.restore import write_end
from fritillary.referee.seen import Finish, MatchResult
from fritillary.service.games import name_of
from fritillary.service.ordering import Order
from fritillary.service.past import SEED_LOST, Past, ended_at_ms, result_of
from fritillary.service.private import FORMAT, Kept, PrivateFolder
from fritillary.service.records import SUFFIX

_log = logging.getLogger(__name__)


@frozen(kw_only=True)
class Left:
    """A match that an earlier run of the server has left.

    Args:
        order: as it was asked for.
        created_at_ms: since 1970-01-01 UTC.
        record: so far; ``None`` if it had not begun: its seats are offered anew, to
            whoever is there then.
        length: of that part of the file which holds the record, in bytes.
        used: of the open decision, seat and milliseconds.
        past: how it ended, if it has.
        heard: whether all its bots have heard of that.
    """

    order: Order
    created_at_ms: int
    record: Record | None = None
    length: int = 0
    used: tuple[int, int] | None = None
    past: Past | None = None
    heard: bool = False

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


@frozen(kw_only=True)
class LeftEnd:
    """A match that has ended, and whose game is not here to tell how it went.

    Args:
        record: closed, unless its deal is held back.
        result: of the match.
        sealed: whether others are still to play its deal.
        heard: whether all its bots have heard of the end.
    """

    record: Record
    result: MatchResult
    sealed: bool
    heard: bool


@frozen(kw_only=True)
class LeftOut:
    """A match that cannot be taken up, or told of.

    Args:
        match_id: of the match.
        error: why.
    """

    match_id: str
    error: Exception


def kept_of(order: Order, created_at_ms: int) -> Kept:
    """Return what is kept of an order."""
    return Kept(
        format=FORMAT,
        match_id=order.match_id,
        game=_lasting_name(order),
        options=order.game.codec.encode_options(order.options).hex(),
        players=tuple(spec.text for spec in order.specs),
        clocks=order.clocks,
        terms=order.terms,
        seed=order.seed.hex(),
        salt=order.salt.hex(),
        seed_given=order.seed_given or False,
        nonces_wanted=order.nonces_wanted,
        labels=order.labels,
        sealed=order.sealed,
        created_at_ms=created_at_ms,
    )


def _lasting_name(order: Order) -> str:
    """Return a full id that others of the same id do not make ambiguous later."""
    home = order.game.distribution
    name = order.game_name
    return f"{home}:{name}" if home and ":" not in name.partition("+")[0] else name


def matches_left(
    private: PrivateFolder, records: Path, registry: Registry, signer: Signer
) -> Iterator[Left | LeftEnd | LeftOut]:
    """Yield the matches of earlier runs that have to be taken up, or told of.

    Those that were noted as ended are not among them; see `match_left`.

    A record that lacks but its closing is closed. A match that cannot be taken up
    now, as when its game is not installed, is told of in the log and left as it is,
    unless it has ended: for that no game is needed.

    Args:
        private: what was kept.
        records: folder of the records.
        registry: the games.
        signer: closes records.
    """
    ended = {match_id for match_id, _ in private.ended()}
    for match_id in private.matches():
        path = records / f"{match_id}{SUFFIX}"
        # Its record may have been moved away since, to forget it.
        if match_id in ended and (_open_to_all(path) or not path.exists()):
            continue
        try:
            left = match_left(match_id, private, records, registry, signer)
            if left is not None:
                yield left
        except Exception as error:  # noqa: BLE001 - whatever files hold, or rules raise
            log_left(f"match {match_id}", error)
            yield LeftOut(match_id=match_id, error=error)


def _open_to_all(path: Path) -> bool:
    """Say whether others may read a record: then it has come to its end."""
    try:
        return bool(path.stat().st_mode & 0o044)
    except OSError:
        return False


def match_left(
    match_id: str,
    private: PrivateFolder,
    records: Path,
    registry: Registry,
    signer: Signer,
) -> Left | LeftEnd | None:
    """Return a match of an earlier run; ``None`` if nothing of it is kept.

    Args:
        match_id: of the match.
        private: what was kept.
        records: folder of the records.
        registry: the games.
        signer: closes records.

    Raises:
        FritillaryError: if it cannot be taken up, or told of.
        OSError: if its files cannot be used.
    """
    kept = private.load(match_id)
    if kept is None:
        return None
    path = records / f"{match_id}{SUFFIX}"
    return _left(kept, path, registry, signer, unended=private.unended(match_id))


def log_left(what: str, error: Exception) -> None:
    """Tell in the log why a match, or a file, is left as it is.

    Args:
        what: it is.
        error: the reason; one that nobody foresaw is told with where it was raised.
    """
    foreseen = isinstance(error, (FritillaryError, OSError))
    why = error.message if isinstance(error, FritillaryError) else str(error)
    trace = None if foreseen else error
    _log.warning("%s is left as it is: %s", what, why, exc_info=trace)


def _left(
    kept: Kept, path: Path, registry: Registry, signer: Signer, *, unended: bool
) -> Left | LeftEnd:
    if not path.exists():
        # It was there before the order was kept. To deal again would give those who
        # know how it went the same cards once more.
        msg = f"its record {path.name} is missing; put it back, or remove what is kept"
        raise StorageError(msg, code="storage.private")
    raw = read_file(path)
    found = record_of(raw)
    if in_use(path):
        msg = "its record is being written by another process"
        raise StorageError(msg, code="storage.private")
    if found is None:
        order = _order(kept, registry.game(kept.game), registry)
        return Left(order=order, created_at_ms=kept.created_at_ms)
    check_bound(kept, found)
    try:
        order = _order(kept, game_of(found, registry), registry)
    except FritillaryError as error:
        if found.find(Ended) is None:
            raise
        _log.warning(
            "match %s has ended, and bots that were away hear of its end alone: %s",
            kept.match_id,
            error.message,
        )
        _, found, end = closed(path, raw, found, kept, signer)
        return LeftEnd(
            record=found,
            result=end.result,
            sealed=kept.sealed and not found.finished,
            heard=kept.heard,
        )
    header = found.header
    if unended and found.find(Ended) is None:
        sink = FileSink(path, after=length_of(raw, len(found.events)))
        players = tuple(Absent(seat.player) for seat in header.seats)
        write_end(order.setup(players), found, sink, NO_RECORD)
        raw = read_file(path)
        found = read_record(raw, unfinished=True)
    past = None
    if found.find(Ended) is not None:
        raw, found, past = closed(path, raw, found, kept, signer)
        # The deal may have been revealed since.
        order = attrs.evolve(order, sealed=order.sealed and not found.finished)
    elif len(found.events) == 1:
        return Left(order=order, created_at_ms=header.created_at_ms)
    used = kept.used
    return Left(
        order=order,
        created_at_ms=header.created_at_ms,
        record=found,
        length=length_of(raw, len(found.events)),
        used=(used.seat, used.spent_ms)
        if used is not None and used.events == len(found.events)
        else None,
        past=past,
        heard=kept.heard,
    )


def closed(
    path: Path, raw: bytes, found: Record, kept: Kept, signer: Signer
) -> tuple[bytes, Record, Past]:
    """Close the record of a match that has ended, if it lacks but that.

    Args:
        path: of the record.
        raw: all its bytes.
        found: the record.
        kept: of the match, with its secrets.
        signer: closes it, unless its deal is held back.

    Returns:
        The bytes, the record, and how the match ended.

    Raises:
        FritillaryError: if it cannot be closed.
        OSError: if its file cannot be used.
    """
    about = path.stat()
    seed = bytes.fromhex(kept.seed)
    if not found.finished and not kept.sealed:
        raw = reveal_record(path, seed, bytes.fromhex(kept.salt), signer)
        found = read_record(raw)
        # Its time is that of the end.
        os.utime(path, ns=(about.st_atime_ns, about.st_mtime_ns))
    if found.finished:
        path.chmod(0o644)
    result = result_of(found, seed)
    if result is None:  # pragma: no cover - it has ended
        raise TypeError
    past = Past(
        header=found.header, result=result, path=path, ended_at_ms=ended_at_ms(path)
    )
    return raw, found, past


def record_of(raw: bytes) -> Record | None:
    """Return the record; ``None`` if not even its header was written.

    Raises:
        RecordError: if it is none.
    """
    try:
        return read_record(raw, unfinished=True) if raw else None
    except RecordError as error:
        # A header is written at once; less than one was torn by a power cut.
        if error.code == "record.torn" or len(raw) < 64:
            return None
        raise


def check_bound(kept: Kept, found: Record) -> None:
    """Check that a record is of the deal that was kept.

    Raises:
        StorageError: if it is of another one.
    """
    options, seed, salt = map(bytes.fromhex, (kept.options, kept.seed, kept.salt))
    bound = commitment(kept.match_id, options, seed, salt)
    if found.header.commitment != bound.hex():
        msg = "what was kept is not what its record commits to"
        raise StorageError(msg, code="storage.private")


def _order(kept: Kept, game: Game[Any, Any, Any], registry: Registry) -> Order:
    return Order(
        match_id=kept.match_id,
        game_name=name_of(registry, game, kept.game),
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


# ------------------------------------------------------------------ without a seed


def void_without_seed(
    private: PrivateFolder, records: Path
) -> Iterator[tuple[Record, MatchResult]]:
    """Make matches void that were begun and of which the seed is lost.

    Their records stay closed to others: nobody knows whether the deal was to be
    played by somebody else.

    Yields:
        Each record and its result.
    """
    known = set(private.matches())
    for path in sorted(records.glob(f"*{SUFFIX}")):
        try:
            if path.stem in known or _open_to_all(path) or in_use(path):
                continue
            raw = read_file(path)
            if not raw:
                # The server was killed before it had kept the order.
                path.unlink()
                continue
            found = record_of(raw)
            if found is None:
                continue
            ended = found.find(Ended)
            if ended is None:
                _, found = end_record(path, raw, found, SEED_LOST)
                result = result_of(found)
                if result is None:  # pragma: no cover - it was given an end
                    raise TypeError
                yield found, result
            if found.finished:
                path.chmod(0o644)
        except Exception as error:  # noqa: BLE001 - whatever the file holds
            log_left(path.name, error)


def end_record(
    path: Path, raw: bytes, found: Record, finish: Finish
) -> tuple[bytes, Record]:
    """Write an end into a record, which stays open; no rules are needed for that.

    Args:
        path: of the record.
        raw: all its bytes.
        found: the record, of a match that has not ended.
        finish: how it ends.

    Returns:
        The bytes and the record as they are now.

    Raises:
        FritillaryError: if it cannot be written.
    """
    sink = FileSink(path, after=length_of(raw, len(found.events)))
    try:
        writer = RecordWriter(sink, found.header, found)
        writer.add(ended_event(finish))
        writer.hold()
    except BaseException:
        with contextlib.suppress(StorageError):
            sink.close()
        raise
    raw = read_file(path)
    return raw, read_record(raw, unfinished=True)
