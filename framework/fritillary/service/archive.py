"""The archive: matches that have ended, found in the folder of their records.

Nothing of it is kept but the last few that were asked for, and where matches stand in
lists. Files are read in a thread, one at a time: who asks for many delays those who ask
too, and no match.
"""

from __future__ import annotations

import asyncio
import functools
import logging
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NoReturn, TypeVar

from fritillary.core.errors import FritillaryError
from fritillary.plugins.discovery import Registry
from fritillary.plugins.game import Game
from fritillary.record.events import MATCH_ID
from fritillary.record.reader import Record, read_file, read_record
from fritillary.record.replay import game_of
from fritillary.referee.absent import Absent
from fritillary.referee.restore import tell_again
from fritillary.referee.seen import MatchResult
from fritillary.service.ended import EndedMatch
from fritillary.service.games import name_of
from fritillary.service.hosted import HostedMatch
from fritillary.service.index import Index, Wanted, Written, written
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
        self.records = records
        self._registry = registry
        self._seed_of = seed_of
        self._kept: OrderedDict[tuple[str, Written], EndedMatch] = OrderedDict()
        self._index = Index(records)
        self._reading = asyncio.Lock()

    async def find(self, match_id: str) -> EndedMatch | None:
        """Return a match that has ended; ``None`` if there is none of that id.

        There is none either where a record cannot be shown, whatever is wrong with it.
        """
        if not MATCH_ID.match(match_id):
            return None
        path = self._path(match_id)
        lies = await self.in_thread(functools.partial(written, path))
        if lies is None:
            return None
        key = match_id, lies
        kept = self._kept.get(key)
        if kept is not None:
            self._kept.move_to_end(key)
            return kept
        found = await self.in_thread(functools.partial(_read, path, self._seed_of))
        if found is None:
            return None
        record, past = found
        ref = record.header.game
        try:
            game_id = self._registry.name_of(ref.id, ref.distribution)
            ended = EndedMatch.of(record, past, game_id, self._game(record))
            # One that cannot be told of would take all others with it.
            ended.to_proto(for_referee=True)
        except Exception:  # noqa: BLE001 - whatever the record holds
            _log.warning("match %s cannot be shown", match_id, exc_info=True)
            return None
        self._kept[key] = ended
        while len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        return ended

    def _game(self, record: Record) -> Game[Any, Any, Any] | None:
        try:
            return game_of(record, self._registry)
        except FritillaryError:
            return None

    async def played_again(self, ended: EndedMatch) -> HostedMatch | None:
        """Return a match with all that happened in it, for whoever looks on.

        Returns:
            The match; ``None`` where it cannot be played again: its deal is held back,
            the game is not here any more or in another version, or its rules fail.
        """
        found = await self.in_thread(
            functools.partial(_read, ended.path, self._seed_of)
        )
        if found is None or found[1].result.reveal is None:
            return None
        record, past = found
        try:
            game = game_of(record, self._registry)
            full_id = record.header.game.full_id
            order = order_of_record(
                record, game, name_of(self._registry, game, full_id)
            )
            match = await self.in_thread(
                functools.partial(_play_again, order, record, past.result)
            )
        except FritillaryError as error:
            _log.info("match %s cannot be played again: %s", ended.id, error.message)
            return None
        except Exception:  # noqa: BLE001 - whatever the rules raise; the end is told
            _log.exception("match %s cannot be played again", ended.id)
            return None
        again = HostedMatch(order, _no_sink, result=past.result)
        again.match = match
        return again

    async def look(self) -> None:
        """Notice what has changed in the folder; to be called before each page."""
        await self.in_thread(self._index.look)

    async def newest(
        self, wanted: Wanted
    ) -> tuple[list[tuple[Place, EndedMatch]], Place | None]:
        """Return matches that have ended, those that were made last first.

        Returns:
            The matches; and the last place that was looked at, if so many were that
            the search ended there; ``None`` if it came to its end.
        """
        listed: list[tuple[Place, EndedMatch]] = []
        looked = 0
        last = wanted.after
        while True:
            most = wanted.most - len(listed)
            part = await self.in_thread(
                functools.partial(
                    self._index.part, wanted, last, most, _LISTED - looked
                )
            )
            looked += part.looked
            last = part.last
            end = part.end
            for place in part.places:
                ended = await self.find(place.match_id)
                if ended is None or not wanted.fits(ended.past.header):
                    continue
                if ended.place != place:
                    moved = functools.partial(self._index.moved, place.match_id)
                    await self.in_thread(moved)
                    if ended.place < place:
                        # It comes later.
                        end = False
                        continue
                listed.append((place, ended))
            if end or len(listed) == wanted.most:
                return listed, None
            if looked == _LISTED:
                return listed, last

    def _path(self, match_id: str) -> Path:
        return self.records / f"{match_id}{SUFFIX}"

    async def in_thread(self, read: Callable[[], T]) -> T:
        """Read something in a thread, when whatever is read before it has been."""
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


def _seed(seed_of: Callable[[str], bytes | None], match_id: str) -> bytes | None:
    """Return the seed of a match; ``None`` where what was kept cannot be read."""
    try:
        return seed_of(match_id)
    except FritillaryError as error:
        _log.info("the seed of match %s is lost: %s", match_id, error.message)
        return None


def _read(
    path: Path, seed_of: Callable[[str], bytes | None]
) -> tuple[Record, Past] | None:
    """Read a record; ``None`` if it is none of a match that has ended."""
    try:
        record = read_record(read_file(path), unfinished=True)
        match_id = record.header.match_id
        seed = _seed(seed_of, match_id) if held_back(record) else None
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
