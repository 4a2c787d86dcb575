"""The archive: matches that have ended, found in the folder of their records.

Nothing of it is kept but the last few that were asked for, and where matches stand in
lists. Files are read in a thread, one at a time: who asks for many delays those who ask
too, and no match.
"""

from __future__ import annotations

import asyncio
import bisect
import functools
import logging
import os
import stat
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Final, NoReturn, TypeVar

from attrs import frozen

from fritillary.core.errors import FritillaryError
from fritillary.plugins.discovery import Registry
from fritillary.record.events import MATCH_ID, Header
from fritillary.record.reader import Record, read_file, read_header, read_record
from fritillary.record.replay import game_of
from fritillary.referee.absent import Absent
from fritillary.referee.restore import tell_again
from fritillary.referee.seen import MatchResult
from fritillary.service.hosted import HostedMatch
from fritillary.service.ordering import Order
from fritillary.service.past import (
    Past,
    PlayedAgain,
    ended_at_ms,
    held_back,
    order_of_record,
    result_of,
)
from fritillary.service.places import Place
from fritillary.service.records import SUFFIX

_log = logging.getLogger(__name__)

#: So many matches are kept, of those that were asked for last.
_KEPT: Final = 64

#: So many records are looked through for one page.
_LISTED: Final = 10_000

T = TypeVar("T")


#: A record is not written before its match was made, but for clocks that are put
#: right, in milliseconds. One that seems to be was given its time by hand, and counts
#: as made when it was written.
_BEFORE_MS: Final = 60_000


@frozen(order=True)
class Written:
    """A record as it lies in the folder; the greatest was written last.

    Args:
        at_ns: when, since 1970-01-01 UTC; 0 if before.
        match_id: of the match.
    """

    at_ns: int
    match_id: str

    @property
    def latest_ms(self) -> int:
        """When its match was made at the latest, since 1970-01-01 UTC."""
        return self.at_ns // 1_000_000 + _BEFORE_MS

    def place(self, header: Header) -> Place:
        """Return where its match stands in lists."""
        made_at_ms = header.created_at_ms
        if made_at_ms > self.latest_ms:
            made_at_ms = self.at_ns // 1_000_000
        return Place.of(made_at_ms, self.match_id)


@frozen(kw_only=True)
class Wanted:
    """What matches are asked for.

    Args:
        after: begin after this place; ``None``: from the start.
        until: end before this place; ``None``: at the end.
        most: no more than so many.
        known: ids of matches that are not wanted.
        fits: says of each other one whether it is wanted.
    """

    after: Place | None
    until: Place | None
    most: int
    known: AbstractSet[str]
    fits: Callable[[Header], bool]

    def spans(self, place: Place) -> bool:
        """Say whether a place lies where matches are asked for."""
        return (self.after is None or place < self.after) and (
            self.until is None or place > self.until
        )


class Archive:
    """Finds matches that have ended.

    Args:
        records: the folder.
        registry: the games.
        seed_of: returns the seed of a match whose deal is held back, if it is known.
    """

    def __init__(
        self,
        records: Path,
        registry: Registry,
        seed_of: Callable[[str], bytes | None],
    ) -> None:
        self._records = records
        self._registry = registry
        self._seed_of = seed_of
        self._kept: OrderedDict[Written, HostedMatch] = OrderedDict()
        #: Of the newest that were listed, so that their headers are read once.
        self._places: dict[Written, Place] = {}
        self._reading = asyncio.Lock()

    async def find(self, match_id: str) -> HostedMatch | None:
        """Return a match that has ended; ``None`` if there is none of that id.

        There is none either where a record cannot be shown, whatever is wrong with it.

        Raises:
            RecordError: if the game is not installed, or in another version.
        """
        if not MATCH_ID.match(match_id):
            return None
        path = self._path(match_id)
        written = await self._in_thread(functools.partial(_written, path))
        if written is None:
            return None
        kept = self._kept.get(written)
        if kept is not None:
            self._kept.move_to_end(written)
            return kept
        found = await self._in_thread(functools.partial(_read, path, self._seed_of))
        if found is None:
            return None
        record, past = found
        game = game_of(record, self._registry)
        try:
            order = order_of_record(record, game)
            hosted = HostedMatch(order, _no_sink, past=past)
            # One that cannot be told of would take all others with it.
            hosted.to_proto(for_referee=True)
        except Exception:  # noqa: BLE001 - whatever the record holds, or rules raise
            _log.warning("match %s cannot be shown", match_id, exc_info=True)
            return None
        self._kept[written] = hosted
        while len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        return hosted

    async def played_again(self, hosted: HostedMatch) -> HostedMatch:
        """Return a match with all that happened in it, for whoever looks on.

        Args:
            hosted: the match; returned as it is unless it is one that ended long ago
                and can be played again.
        """
        path, result = hosted.path, hosted.result
        if hosted.match is not None or result is None or path is None:
            return hosted
        found = await self._in_thread(functools.partial(_read, path, self._seed_of))
        if found is None or result.reveal is None:
            return hosted
        record, past = found
        try:
            match = await self._in_thread(
                functools.partial(_play_again, hosted.order, record, past.result)
            )
        except Exception:  # noqa: BLE001 - whatever the rules raise; the end is told
            _log.exception("match %s cannot be played again", hosted.id)
            return hosted
        again = HostedMatch(hosted.order, _no_sink, past=past)
        again.match = match
        return again

    async def newest(
        self, wanted: Wanted
    ) -> tuple[list[tuple[Place, HostedMatch]], Place | None]:
        """Return matches that have ended, those that were made last first.

        Matches of games that are not here are left out.

        Returns:
            The matches; and the last place that was looked at, if so many were that
            the search ended there; ``None`` if it came to its end.
        """
        listed: list[tuple[Place, HostedMatch]] = []
        looked = 0
        last: Place | None = None
        async for place in self._span(wanted):
            if looked == _LISTED:
                return listed, last
            looked += 1
            last = place
            header = await self._header(place.match_id)
            if header is None or not wanted.fits(header):
                continue
            try:
                hosted = await self.find(place.match_id)
            except FritillaryError as error:
                _log.info("match %s is not listed: %s", place.match_id, error.message)
                continue
            if hosted is not None:
                listed.append((place, hosted))
                if len(listed) == wanted.most:
                    break
        return listed, None

    async def _span(self, wanted: Wanted) -> AsyncIterator[Place]:
        """Yield the places where matches are asked for, the greatest first."""
        records = await self._in_thread(functools.partial(_records, self._records))
        self._places = {
            one: self._places[one] for one in records[:_LISTED] if one in self._places
        }
        #: In rising order. One is yielded as soon as none of the records that are left
        #: can stand before it.
        met: list[Place] = []
        for written in records:
            while met and met[-1].made_at_ms > written.latest_ms:
                yield met.pop()
            until = wanted.until
            if until is not None and until.made_at_ms > written.latest_ms:
                break
            if written.match_id in wanted.known:
                continue
            place = self._places.get(written)
            if place is None:
                header = await self._header(written.match_id)
                if header is None:
                    continue
                place = self._places[written] = written.place(header)
            if wanted.spans(place):
                bisect.insort(met, place)
        while met:
            yield met.pop()

    async def _header(self, match_id: str) -> Header | None:
        path = self._path(match_id)
        return await self._in_thread(functools.partial(_header, path))

    def _path(self, match_id: str) -> Path:
        return self._records / f"{match_id}{SUFFIX}"

    async def _in_thread(self, read: Callable[[], T]) -> T:
        await self._reading.acquire()
        reading = asyncio.ensure_future(asyncio.to_thread(read))
        # The thread of a call that is cancelled runs on: the next one waits for it.
        reading.add_done_callback(lambda _: self._reading.release())
        return await asyncio.shield(reading)


def _play_again(order: Order, record: Record, result: MatchResult) -> PlayedAgain:
    """Play a match again, in a loop of its own; to be called in a thread."""

    async def play() -> PlayedAgain:
        seats = tuple(Absent(seat.player) for seat in record.header.seats)
        return PlayedAgain(tell_again(order.setup(seats), record, result), result)

    return asyncio.run(play())


def _no_sink() -> NoReturn:
    """Open nothing: the record of a match that has ended is written."""
    raise AssertionError


def _written(path: Path) -> Written | None:
    try:
        about = path.stat()
    except OSError:
        return None
    if not stat.S_ISREG(about.st_mode):
        return None
    return Written(max(0, about.st_mtime_ns), path.name.removesuffix(SUFFIX))


def _records(folder: Path) -> list[Written]:
    """Return what lies in the folder, what was written last first."""
    try:
        with os.scandir(folder) as entries:
            found = (
                _written(folder / entry.name)
                for entry in entries
                if entry.name.endswith(SUFFIX)
            )
            return sorted((one for one in found if one is not None), reverse=True)
    except OSError:
        return []


def _header(path: Path) -> Header | None:
    try:
        return read_header(path)
    except FritillaryError:
        return None
    except Exception:  # noqa: BLE001 - whatever the file holds
        _log.warning("%s is no record of a match", path.name, exc_info=True)
        return None


def _read(
    path: Path, seed_of: Callable[[str], bytes | None]
) -> tuple[Record, Past] | None:
    """Read a record; ``None`` if it is none of a match that has ended."""
    try:
        record = read_record(read_file(path), unfinished=True)
        match_id = record.header.match_id
        seed = seed_of(match_id) if held_back(record) else None
        result = result_of(record, seed)
        if result is None or f"{match_id}{SUFFIX}" != path.name:
            return None
        ended = ended_at_ms(path)
    except (FritillaryError, OSError) as error:
        _log.info("%s is no record of a match: %s", path.name, error)
        return None
    except Exception:  # noqa: BLE001 - whatever the file holds
        _log.warning("%s is no record of a match", path.name, exc_info=True)
        return None
    past = Past(header=record.header, result=result, path=path, ended_at_ms=ended)
    return record, past
