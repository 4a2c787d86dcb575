"""What the host keeps of a match for a restart: its order, its seed, its salt."""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import attrs
from attrs import field, frozen, validators

from fritillary.codec.converter import make_converter
from fritillary.codec.packing import pack, unpack
from fritillary.core.errors import CodecError, StorageError
from fritillary.record.events import MATCH_ID
from fritillary.record.regular import open_regular, read_regular
from fritillary.record.terms import ClockSettings, Terms
from fritillary.record.writer import sync_folder
from fritillary.service.moving import move_all, private_folder

_log = logging.getLogger(__name__)

#: Version of the file's form.
FORMAT: Final = 1

_SUFFIX: Final = ".order"

#: Of a match whose end could not be written down.
_UNENDED: Final = ".unended"

#: Of a match that has ended and is recorded, and of which bots have yet to hear.
_ENDED: Final = ".ended"

#: Of a few digits: when a match started. Nothing is lost with it, so it is not synced.
_STARTED: Final = ".started"

#: Folder of what is left of matches that were ended without a record of that.
_MOVED: Final = "aside"

#: Of a file that is not yet whole.
_ASIDE: Final = ".new"

#: More than any of them has.
_MAX_BYTES: Final = 16 * 1024 * 1024

#: More than the time of a match has.
_MAX_DIGITS: Final = 15

#: How it is opened.
_ANEW: Final = os.O_WRONLY | os.O_CREAT | os.O_TRUNC

_HASH: Final = validators.matches_re(r"[0-9a-f]{64}\Z")


@frozen(kw_only=True)
class Used:
    """Time that an open decision had taken when the server stopped in order.

    Args:
        events: of the record at that moment; with another number it does not count.
        seat: whose decision.
        spent_ms: so far.
    """

    events: int
    seat: int
    spent_ms: int


@frozen(kw_only=True)
class Kept:
    """A match as it was ordered, with the secrets of its deal.

    Args:
        format: of the file.
        match_id: of the match.
        game: full id, with the distribution that it is from.
        options: hex of their canonical msgpack.
        players: as they were named.
        clocks: one for each seat.
        terms: the same for all.
        seed: hex of the seed that was committed to.
        salt: hex of the salt.
        seed_given: whether seed or salt came from outside.
        nonces_wanted: whether bots may mix into the deal.
        labels: free tags.
        sealed: the deal is still to be played by others.
        created_at_ms: since 1970-01-01 UTC.
        used: of the decision that was open at an orderly stop.
        heard: whether all its bots have heard of its end.
    """

    format: int
    match_id: str = field(validator=validators.matches_re(MATCH_ID))
    game: str
    options: str
    players: tuple[str, ...]
    clocks: tuple[ClockSettings, ...]
    terms: Terms
    seed: str = field(validator=_HASH, repr=False)
    salt: str = field(validator=_HASH, repr=False)
    seed_given: bool
    nonces_wanted: bool
    labels: dict[str, str]
    sealed: bool
    created_at_ms: int
    used: Used | None = None
    heard: bool = False


_CONVERTER: Final = make_converter()
_dump = _CONVERTER.get_unstructure_hook(Kept)
_build = _CONVERTER.get_structure_hook(Kept)


class PrivateFolder:
    """Keeps one file for each match that may have to be taken up.

    Args:
        path: the folder, for its owner alone; made when the first match is.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def _file(self, match_id: str) -> Path:
        for suffix in (_UNENDED, _ENDED):
            path = self.path / f"{match_id}{suffix}"
            if path.exists():
                return path
        return self.path / f"{match_id}{_SUFFIX}"

    def tidy(self) -> None:
        """Let nobody else in, and remove what a kill left unfinished.

        To be called by who uses the folder alone.

        Raises:
            StorageError: if others cannot be kept out.
        """
        try:
            self.path.chmod(0o700)
        except OSError as error:
            msg = f"{self.path}: {error.strerror}"
            raise StorageError(msg, code="storage.private") from error
        left = [*self.path.glob(f"*{_ASIDE}")]
        left += [
            path for path in self.path.glob(f"*{_STARTED}") if not self.has(path.stem)
        ]
        for path in left:
            try:
                path.unlink()
            except OSError as error:
                _log.warning("%s is left as it is: %s", path.name, error.strerror)

    def has(self, match_id: str) -> bool:
        """Say whether something is kept of a match."""
        return self._file(match_id).exists()

    def save(self, kept: Kept) -> None:
        """Write a match down; when this returns it survives a power cut.

        Raises:
            StorageError: if it cannot be written.
        """
        path = self._file(kept.match_id)
        aside = self.path / f"{kept.match_id}{_ASIDE}"
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = open_regular(aside, _ANEW)
            with os.fdopen(descriptor, "wb") as file:
                file.write(pack(_dump(kept)))
                file.flush()
                os.fsync(file.fileno())
            aside.replace(path)
            sync_folder(self.path)
        except OSError as error:
            with contextlib.suppress(OSError):
                aside.unlink(missing_ok=True)
            msg = f"{path}: {error.strerror}"
            raise StorageError(msg, code="storage.private") from error

    def load(self, match_id: str) -> Kept | None:
        """Return what is kept of a match; ``None`` if nothing is.

        Raises:
            StorageError: if it cannot be read, or is no such file.
        """
        path = self._file(match_id)
        try:
            raw = read_regular(path, _MAX_BYTES)
        except FileNotFoundError:
            return None
        except OSError as error:
            msg = f"{path}: {error.strerror}"
            raise StorageError(msg, code="storage.private") from error
        try:
            data = unpack(raw)
            version = data.get("format") if isinstance(data, Mapping) else None
            if version != FORMAT:
                msg = f"{path}: not a file of format {FORMAT}"
                raise StorageError(msg, code="storage.private")
            kept: Kept = _build(data, Kept)
        except CodecError as error:
            msg = f"{path}: {error.message}"
            raise StorageError(msg, code="storage.private") from error
        if kept.match_id != match_id:
            msg = f"{path}: it is of match {kept.match_id}"
            raise StorageError(msg, code="storage.private")
        return kept

    def note_used(self, match_id: str, used: Used) -> None:
        """Keep what an open decision had taken.

        Raises:
            StorageError: if it cannot be written.
        """
        kept = self.load(match_id)
        if kept is not None:
            self.save(attrs.evolve(kept, used=used))

    def note_heard(self, match_id: str) -> None:
        """Keep that all bots have heard of the end of a match.

        Raises:
            StorageError: if it cannot be written.
        """
        kept = self.load(match_id)
        if kept is not None:
            self.save(attrs.evolve(kept, heard=True))

    def note_started(self, match_id: str, at_ms: int) -> None:
        """Keep when all seats of a match were ready; it is told, and nothing more.

        Args:
            match_id: of the match.
            at_ms: since 1970-01-01 UTC.
        """
        path = self.path / f"{match_id}{_STARTED}"
        with contextlib.suppress(OSError):
            descriptor = open_regular(path, _ANEW)
            with os.fdopen(descriptor, "w", encoding="ascii") as file:
                file.write(str(at_ms))

    def started_at_ms(self, match_id: str) -> int | None:
        """Return when a match started; ``None`` if that is not kept."""
        try:
            raw = read_regular(self.path / f"{match_id}{_STARTED}", _MAX_DIGITS)
        except OSError:
            return None
        return int(raw) if raw.isdigit() else None

    def note_unended(self, match_id: str) -> None:
        """Keep that a match has ended, though its record could not be written.

        A file gets another name: where the disk is full, that can still be done.

        Raises:
            StorageError: if it cannot.
        """
        path = self._file(match_id)
        try:
            path.replace(self.path / f"{match_id}{_UNENDED}")
            sync_folder(self.path)
        except OSError as error:
            msg = f"{path}: {error.strerror}"
            raise StorageError(msg, code="storage.private") from error

    def unended(self, match_id: str) -> bool:
        """Say whether that was noted of a match."""
        return self._file(match_id).suffix == _UNENDED

    def note_ended(self, match_id: str) -> None:
        """Keep that a match has ended and is recorded.

        Nothing is lost where that is not kept: its record tells the same.
        """
        path = self._file(match_id)
        with contextlib.suppress(OSError):
            path.replace(self.path / f"{match_id}{_ENDED}")
            # The time from which its bots may be away.
            os.utime(self.path / f"{match_id}{_ENDED}")

    def ended(self) -> Iterator[tuple[str, float]]:
        """Yield the matches of which that was noted, the earliest ends first.

        Yields:
            Id, and when it ended, in seconds since 1970-01-01 UTC.
        """
        found = []
        for path in self.path.glob(f"*{_ENDED}"):
            match_id = path.name.removesuffix(_ENDED)
            with contextlib.suppress(OSError):
                if MATCH_ID.match(match_id):
                    found.append((path.stat().st_mtime, match_id))
        for at, match_id in sorted(found):
            yield match_id, at

    def players(self, match_id: str) -> tuple[str, ...]:
        """Return who was to play, by seat, and check nothing else: there may be many.

        Returns:
            The players as they were named; none if that cannot be read.
        """
        try:
            data = unpack(read_regular(self._file(match_id), _MAX_BYTES))
        except (OSError, CodecError):
            return ()
        players = data.get("players") if isinstance(data, Mapping) else None
        return tuple(map(str, players)) if isinstance(players, list) else ()

    def forget(self, match_id: str) -> None:
        """Keep nothing of a match any more."""
        for path in (self._file(match_id), self.path / f"{match_id}{_STARTED}"):
            with contextlib.suppress(OSError):
                path.unlink()

    def move_aside(self, match_id: str, name: str, record: Path) -> Path:
        """Keep what is left of a match where no start looks for it.

        Args:
            match_id: of the match.
            name: of a folder for it, within that of all such matches.
            record: goes with it, if it is there.

        Returns:
            The folder.

        Raises:
            StorageError: if something cannot be moved; then all is where it was.
        """
        folder = self.path / _MOVED / name
        kept = self._file(match_id)
        try:
            private_folder(folder.parent)
            private_folder(folder)
            # The seed goes last: a record that lies there without it becomes void.
            there = [record] if os.path.lexists(record) else []
            move_all([*there, kept], folder)
        except OSError as error:
            with contextlib.suppress(OSError):
                folder.rmdir()
            msg = f"{error.filename or folder}: {error.strerror}"
            raise StorageError(msg, code="storage.private") from error
        with contextlib.suppress(OSError):
            (self.path / f"{match_id}{_STARTED}").unlink()
        return folder

    def matches(self) -> Iterator[str]:
        """Yield the ids of the matches that are kept."""
        ids = {
            path.name.removesuffix(suffix)
            for suffix in (_SUFFIX, _UNENDED, _ENDED)
            for path in self.path.glob(f"*{suffix}")
        }
        yield from filter(MATCH_ID.match, sorted(ids))
