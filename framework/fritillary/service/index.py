"""An index of the folder of records: where matches stand in lists.

It is made while lists are read: of each record the header is read once, as soon as its
match could stand where a page is. What is put into the folder, or taken out of it, is
noticed at the next page; files that were only written to are not looked at again, but
for those that had no header yet.

All of it blocks, and is for one thread at a time.
"""

from __future__ import annotations

import bisect
import logging
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Final

from attrs import define, frozen

from fritillary.core.errors import FritillaryError, RecordError
from fritillary.record.events import MATCH_ID, GameRef, Header
from fritillary.record.reader import read_header
from fritillary.service.hosted import wall_ms
from fritillary.service.places import Place, latest_ms
from fritillary.service.records import SUFFIX

_log = logging.getLogger(__name__)

#: So many headers are read for one part of a page, so that others come in between.
_HEADERS: Final = 64

#: What happens to a folder within so many milliseconds may leave it the same time.
_COARSE_MS: Final = 3_000

_HASH_BYTES: Final = 8

#: Code of a file that cannot be read.
_UNREADABLE: Final = "record.file"


@frozen(kw_only=True)
class Wanted:
    """What matches are asked for.

    Args:
        after: begin after this place; ``None``: from the start.
        until: end before this place; ``None``: at the end.
        most: no more than so many.
        known: ids of matches that are not wanted.
        named: says of a game whether it is wanted.
        labels: that a match must have.
    """

    after: Place | None
    until: Place | None
    most: int
    known: AbstractSet[str]
    named: Callable[[GameRef], bool]
    labels: Mapping[str, str]

    def fits(self, header: Header) -> bool:
        """Say whether a match is wanted, wherever it stands."""
        return self.named(header.game) and (
            self.labels.items() <= header.labels.items()
        )


@frozen
class Part:
    """What was found in a part of the lists.

    Args:
        places: of records that may be wanted; none that is wanted is missing, but some
            may not be of an ended match, or have other labels.
        looked: how many records were looked at.
        last: where the next part begins.
        end: whether there is none.
    """

    places: list[Place]
    looked: int
    last: Place | None
    end: bool


@frozen
class Written:
    """A file as it lies in the folder.

    Args:
        at_ns: when it was written last, since 1970-01-01 UTC; 0 if before.
        size: in bytes.
        inode: its number in the file system.
    """

    at_ns: int
    size: int
    inode: int

    @property
    def at_ms(self) -> int:
        """When it was written last, in milliseconds."""
        return self.at_ns // 1_000_000


def written(path: Path) -> Written | None:
    """Return how a file lies there; ``None`` if it is no regular one."""
    try:
        about = path.stat()
    except OSError:
        return None
    if not stat.S_ISREG(about.st_mode):
        return None
    return Written(max(0, about.st_mtime_ns), about.st_size, about.st_ino)


@define(eq=False, weakref_slot=False)
class _Entry:
    """A record. There are many of them.

    Args:
        match_id: of the match.
        inode: as the folder has it.
        at_ms: when it was written, as far as that is known; negative: not looked at.
        made_at_ms: where its match stands; 0 until its header is read.
        game: shared by all of the same game.
        labels: hashes of the labels, one after the other.
    """

    match_id: str
    inode: int
    at_ms: int
    made_at_ms: int = 0
    game: GameRef | None = None
    labels: bytes = b""


def _placed(entry: _Entry) -> tuple[int, str]:
    return entry.made_at_ms, entry.match_id


def _place(entry: _Entry) -> Place:
    return Place.of(*_placed(entry))


def _key(place: Place | None) -> tuple[int, str] | None:
    """Return what entries are compared with by `_placed`."""
    return None if place is None else (place.made_at_ms, place.match_id)


def _dated(entry: _Entry) -> tuple[int, str]:
    return entry.at_ms, entry.match_id


class Index:
    """Knows where the records of a folder stand in lists.

    Args:
        folder: of the records.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._entries: dict[str, _Entry] = {}
        #: Those whose header was read, the last in lists first.
        self._placed: list[_Entry] = []
        #: Those whose header is yet to be read, what was written last at the end.
        self._unread: list[_Entry] = []
        #: How the files lay there that had no header; ``None``: that could not be read.
        self._headless: dict[str, Written | None] = {}
        self._games: dict[GameRef, GameRef] = {}
        #: Time of the folder when its names were read; ``None``: to be read anew.
        self._read_at_ns: int | None = None

    def look(self) -> None:
        """Notice what was put into the folder, and what was taken out of it."""
        now_ms = wall_ms()
        try:
            changed_ns = self._folder.stat().st_mtime_ns
            if changed_ns != self._read_at_ns:
                with os.scandir(self._folder) as entries:
                    # The number costs nothing: it comes with the name.
                    self._names({one.name: one.inode() for one in entries})
                settled = now_ms - changed_ns // 1_000_000 > _COARSE_MS
                self._read_at_ns = changed_ns if settled else None
        except OSError:
            self._names({})
            self._read_at_ns = None
        for match_id, before in list(self._headless.items()):
            if written(self._path(match_id)) != before:
                self._again(match_id)

    def moved(self, match_id: str) -> None:
        """Look at a record again that does not stand where it stood."""
        entry = self._entries.get(match_id)
        if entry is not None and entry.game is not None:
            del self._placed[
                bisect.bisect_left(self._placed, _placed(entry), key=_placed)
            ]
            self._again(match_id)

    def part(self, wanted: Wanted, after: Place | None, most: int, looks: int) -> Part:
        """Return places of records that may be wanted, the first in lists first.

        Args:
            wanted: which.
            after: begin after this place; ``None``: from the start.
            most: no more than so many.
            looks: look at so many records at most.
        """
        labels = _hashed(wanted.labels)
        until = _key(wanted.until)
        found: list[Place] = []
        looked = 0
        last: _Entry | None = None
        end = True
        for entry in self._from(after):
            if entry is None:
                end = False
                break
            if until is not None and _placed(entry) <= until:
                break
            if looked == looks or len(found) == most:
                end = False
                break
            last = entry
            if entry.match_id in wanted.known:
                continue
            looked += 1
            if entry.game and wanted.named(entry.game) and _has(entry.labels, labels):
                found.append(_place(entry))
        return Part(found, looked, after if last is None else _place(last), end)

    def _from(self, after: Place | None) -> Iterator[_Entry | None]:
        """Yield records after a place in order; ``None`` if too many had to be read."""
        at = len(self._placed)
        #: What comes next stands behind it.
        before = _key(after)
        if before is not None:
            at = bisect.bisect_left(self._placed, before, key=_placed)
        read = 0
        while True:
            # None that is yet to be read can stand before the next.
            while self._unread and (
                not at
                or latest_ms(self._unread[-1].at_ms) >= self._placed[at - 1].made_at_ms
            ):
                if read == _HEADERS:
                    yield None
                    return
                read += 1
                entry = self._read()
                if entry is not None and (before is None or _placed(entry) < before):
                    at += 1
            if not at:
                return
            at -= 1
            before = _placed(self._placed[at])
            yield self._placed[at]

    def _read(self) -> _Entry | None:
        """Read the header of what was written last; ``None`` if it has none."""
        entry = self._unread.pop()
        path = self._path(entry.match_id)
        # First: what is written meanwhile is read again.
        lies = written(path)
        try:
            header = None if lies is None else header_of(path)
        except RecordError as error:
            _log.info("match %s is not listed: %s", entry.match_id, error.message)
            header = lies = None
        if header is None or lies is None or header.match_id != entry.match_id:
            self._headless[entry.match_id] = lies
            return None
        place = Place.of_record(header, lies.at_ms)
        entry.made_at_ms = place.made_at_ms
        entry.game = self._games.setdefault(header.game, header.game)
        entry.labels = b"".join(_hashed(header.labels))
        bisect.insort(self._placed, entry, key=_placed)
        return entry

    def _names(self, names: Mapping[str, int]) -> None:
        """Take the names in the folder, each with its number."""
        there: set[str] = set()
        new: list[_Entry] = []
        for name, inode in names.items():
            match_id = name.removesuffix(SUFFIX)
            if match_id == name or not MATCH_ID.match(match_id):
                continue
            entry = self._entries.get(match_id)
            if entry is None or entry.inode != inode:
                new.append(_Entry(match_id, inode, -1))
            else:
                there.add(match_id)
        if len(there) != len(self._entries):
            self._keep(there)
        for entry in new:
            self._entries[entry.match_id] = entry
        self._date(new)

    def _keep(self, there: AbstractSet[str]) -> None:
        """Keep these, and no others."""
        self._entries = {
            one: self._entries[one] for one in self._entries if one in there
        }
        self._placed = [one for one in self._placed if one.match_id in there]
        self._unread = [one for one in self._unread if one.match_id in there]
        self._headless = {
            one: lies for one, lies in self._headless.items() if one in there
        }
        self._games = {one.game: one.game for one in self._placed if one.game}

    def _again(self, match_id: str) -> None:
        """Have a header read again."""
        self._headless.pop(match_id, None)
        entry = self._entries[match_id]
        entry.game = None
        self._date([entry])

    def _date(self, entries: list[_Entry]) -> None:
        """Note when files were written whose headers are to be read."""
        if not entries:
            return
        for entry in entries:
            lies = written(self._path(entry.match_id))
            # One that is none of ours has no header either.
            entry.at_ms = 0 if lies is None else lies.at_ms
        self._unread += entries
        self._unread.sort(key=_dated)

    def _path(self, match_id: str) -> Path:
        return self._folder / f"{match_id}{SUFFIX}"


def header_of(path: Path) -> Header | None:
    """Return the header of a record; ``None`` if it has none.

    Raises:
        RecordError: ``record.file`` if it cannot be read, perhaps only now.
    """
    try:
        return read_header(path)
    except FritillaryError as error:
        if error.code == _UNREADABLE:
            raise
        return None
    except Exception:  # noqa: BLE001 - whatever the file holds
        _log.warning("%s is no record of a match", path.name, exc_info=True)
        return None


def _hashed(labels: Mapping[str, str]) -> list[bytes]:
    return [
        hash(label).to_bytes(_HASH_BYTES, "big", signed=True)
        for label in labels.items()
    ]


def _has(labels: bytes, wanted: list[bytes]) -> bool:
    if not wanted:
        return True
    steps = range(0, len(labels), _HASH_BYTES)
    there = {labels[step : step + _HASH_BYTES] for step in steps}
    return there.issuperset(wanted)
