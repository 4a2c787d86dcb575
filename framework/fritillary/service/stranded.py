"""Matches of an earlier run that cannot be taken up: shown as they stand, and ended.

None of it needs the rules, and nothing of the deal is told before such a match is over.
"""

from __future__ import annotations

import functools
import logging
from pathlib import Path
from typing import BinaryIO, Final, Literal

import attrs
from attrs import field, frozen

from fritillary.api.v1 import common_pb2, match_pb2
from fritillary.core.commitment import commitment
from fritillary.core.errors import FritillaryError, ServiceError, StorageError
from fritillary.plugins.discovery import Registry
from fritillary.record.events import (
    ActionTaken,
    ChanceDrawn,
    Ended,
    GameRef,
    SeatTerms,
    VariantRef,
)
from fritillary.record.reader import Record, read_file
from fritillary.record.signing import Signer
from fritillary.record.writer import in_use
from fritillary.referee.seen import Finish, MatchResult
from fritillary.service import games
from fritillary.service.ended import open_record
from fritillary.service.errors import without_folders
from fritillary.service.ordering import named_of
from fritillary.service.past import REMOTE, result_of, spec_of
from fritillary.service.places import Place
from fritillary.service.private import Kept, PrivateFolder
from fritillary.service.records import SUFFIX
from fritillary.service.restart import (
    LeftEnd,
    check_bound,
    closed,
    end_record,
    log_left,
    record_of,
)
from fritillary.service.showing import stranded_message

_log = logging.getLogger(__name__)

#: Codes of reasons that referees are told: they are about what is installed.
_OPEN_REASONS: Final = ("game.", "record.game", "record.rules-version", "player.")

_NO_GAME: Final = "its game, or a variant of it, cannot be used on this server"

#: What everybody is told, by code: nothing of what the error says, since that names
#: players as they were ordered, files, or what rules made of the deal.
_TOLD: Final = {
    "game.unknown": _NO_GAME,
    "game.ambiguous": _NO_GAME,
    "record.game": _NO_GAME,
    "record.rules-version": "its game, or a variant of it, is here in another version",
    "player.program": "a seat is for a program, and this server starts none",
    "player.not-found": "a seat is for a player that is not found on this server",
}

_HIDDEN_REASON: Final = (
    "what is left of it cannot be used; the log of the server says why"
)


@frozen(eq=False, kw_only=True)
class Stranded:
    """A match that could not be taken up, and has not ended.

    Args:
        kept: as it was ordered, with its secrets.
        record: so far; ``None`` if it has not begun, or cannot be used.
        path: where the record is, or was.
        reason: why it could not be taken up, for referees.
        told: the same for everybody else.
        game_id: under which the game would be reached here; without variants.
        started_at_ms: when all seats were ready; ``None``: not, or not known.
        result: once it has ended without a record that tells of it.
        ended_at_ms: when that was.
    """

    kept: Kept = field(repr=False)
    record: Record | None = field(repr=False)
    path: Path
    reason: str
    told: str
    game_id: str
    started_at_ms: int | None = None
    result: MatchResult | None = None
    ended_at_ms: int | None = None

    unrecorded: Final = False

    @property
    def id(self) -> str:
        """The match id."""
        return self.kept.match_id

    @property
    def over(self) -> bool:
        """Whether it has ended."""
        return self.result is not None

    @property
    def phase(self) -> Literal["stranded", "ended"]:
        """Where it is."""
        return "ended" if self.over else "stranded"

    @property
    def sealed(self) -> bool:
        """Whether others are still to play its deal."""
        return self.kept.sealed

    @property
    def bots(self) -> frozenset[str]:
        """Those that dialled in for it."""
        return frozenset(name for _, name in self.remote_seats())

    def remote_seats(self) -> list[tuple[int, str]]:
        """Return number and bot of the seats that bots took which dial in."""
        return [
            (seat, player.removeprefix(REMOTE))
            for seat, player in enumerate(self.kept.players)
            if player.startswith(REMOTE)
        ]

    @functools.cached_property
    def place(self) -> Place:
        """Where it stands in lists."""
        return Place.of(self.created_at_ms, self.id)

    @functools.cached_property
    def created_at_ms(self) -> int:
        """When it was made, since 1970-01-01 UTC."""
        header = None if self.record is None else self.record.header
        return self.kept.created_at_ms if header is None else header.created_at_ms

    @functools.cached_property
    def game(self) -> GameRef:
        """The game; without versions where no record tells them."""
        if self.record is not None:
            return self.record.header.game
        name, *variants = self.kept.game.split("+")
        distribution, _, plain = name.rpartition(":")
        return GameRef(
            plain,
            0,
            distribution,
            tuple(VariantRef(one.rpartition(":")[2], 0) for one in variants),
        )

    @property
    def ref(self) -> common_pb2.GameRef:
        """The game, named as of a match in memory."""
        return games.ref_of_record(self.game, self.game_id)

    @property
    def seats(self) -> tuple[SeatTerms, ...]:
        """Who plays, and with which clock."""
        if self.record is not None:
            return self.record.header.seats
        infos = (named_of(spec_of(player)) for player in self.kept.players)
        return tuple(map(SeatTerms, infos, self.kept.clocks))

    @property
    def commitment(self) -> bytes:
        """The hash that binds the host to the deal."""
        kept = self.kept
        options, seed, salt = map(bytes.fromhex, (kept.options, kept.seed, kept.salt))
        return commitment(kept.match_id, options, seed, salt)

    @functools.cached_property
    def ply(self) -> int:
        """Plies so far."""
        events = () if self.record is None else self.record.events
        return sum(isinstance(event, (ActionTaken, ChanceDrawn)) for event in events)

    def refusal(
        self,
        what: Literal["wait for", "watch", "pause", "resume"],
        *,
        for_referee: bool,
    ) -> ServiceError:
        """Return what is told of what cannot be done with it.

        Args:
            what: cannot be done.
            for_referee: tell the reason in full.
        """
        why = self.reason if for_referee else self.told
        msg = (
            f"match {self.id} is stranded, there is nothing to {what}: {why}; "
            "a later start of the server may take it up, and a referee can abort it"
        )
        return ServiceError(msg, code="match.phase")

    def to_proto(self, *, for_referee: bool) -> match_pb2.Match:
        """Return the match; see `stranded_message`."""
        return stranded_message(self, for_referee=for_referee)

    def open_record(self) -> BinaryIO:
        """Open the record so far; only for who may have it.

        Raises:
            StorageError: if it cannot be opened.
        """
        return open_record(self.path, self.id)


def stranded(
    match_id: str,
    error: Exception,
    private: PrivateFolder,
    records: Path,
    registry: Registry,
) -> Stranded | None:
    """Return a match that could not be taken up.

    Args:
        match_id: of the match.
        error: why it could not.
        private: what was kept.
        records: folder of the records.
        registry: the games.

    Returns:
        The match; ``None`` if it has ended, or what is kept cannot be shown.
    """
    path = records / f"{match_id}{SUFFIX}"
    try:
        kept = private.load(match_id)
        if kept is None:
            return None
        found = _usable(kept, path)
        if found is not None and found.find(Ended) is not None:
            return None
        one = Stranded(
            kept=kept,
            record=found,
            path=path,
            reason=_reason(error),
            told=_TOLD.get(getattr(error, "code", ""), _HIDDEN_REASON),
            game_id="",
            started_at_ms=None if found is None else private.started_at_ms(match_id),
        )
        ref = one.game
        one = attrs.evolve(one, game_id=registry.name_of(ref.id, ref.distribution))
        # One that cannot be told of would take all others with it.
        one.to_proto(for_referee=True)
    except Exception as failed:  # noqa: BLE001 - whatever the files hold
        log_left(f"what is kept of match {match_id}", failed)
        return None
    return one


def _reason(error: Exception) -> str:
    if isinstance(error, FritillaryError) and error.code.startswith(_OPEN_REASONS):
        return without_folders(error).removeprefix("event 0: ")
    return _HIDDEN_REASON


def _usable(kept: Kept, path: Path) -> Record | None:
    """Return the record of a match; ``None`` if it has none, or none of its deal."""
    try:
        found = record_of(read_file(path))
        if found is not None:
            check_bound(kept, found)
    except (FritillaryError, OSError):
        return None
    return found


def end(
    one: Stranded, finish: Finish, private: PrivateFolder, signer: Signer, now_ms: int
) -> LeftEnd | Stranded:
    """End a match that could not be taken up, for good.

    Its record gets the end, and is closed unless its deal is held back. Where it cannot
    tell of an end, all that is left is moved aside, so that its id is free: it has no
    header, which needs the rules; it is missing, damaged or of another deal; or the
    match had come to another end, which only the rules can tell.

    Args:
        one: the match.
        finish: how it ends.
        private: what was kept.
        signer: closes the record.
        now_ms: since 1970-01-01 UTC.

    Returns:
        The end as its record has it; or the match as it was moved aside.

    Raises:
        StorageError: if its files cannot be used; then nothing has ended.
        RecordError: if its record cannot be read.
    """
    kept, path = one.kept, one.path
    try:
        if path.exists() and in_use(path):
            msg = f"{path}: it is being written by another process"
            raise StorageError(msg, code="storage.record")
        found = _usable(kept, path)
        if found is None or private.unended(kept.match_id):
            return _aside(one, finish, private, now_ms)
        raw, found = end_record(path, read_file(path), found, finish)
    except OSError as error:
        msg = f"{path}: {error.strerror}"
        raise StorageError(msg, code="storage.record") from error
    result = result_of(found, bytes.fromhex(kept.seed))
    if result is None:  # pragma: no cover - it was given an end
        raise TypeError
    try:
        _, found, past = closed(path, raw, found, kept, signer)
        result = past.result
    except (FritillaryError, OSError) as error:
        # The next start does so.
        log_left(f"match {kept.match_id} has ended, and its open record", error)
    # What is kept is needed for as long as the record is open.
    return LeftEnd(record=found, result=result, sealed=not found.finished, heard=False)


def _aside(
    one: Stranded, finish: Finish, private: PrivateFolder, now_ms: int
) -> Stranded:
    name = f"{one.id}-{one.kept.created_at_ms}"
    why = _unrecordable(one, private)
    where = private.move_aside(one.id, name, one.path)
    _log.warning(
        "match %s: its end is in no record, since %s; see %s", one.id, why, where
    )
    result = MatchResult(
        match_id=one.id,
        finish=finish,
        plies=one.ply,
        content_hash=b"",
        final_hash=b"",
        reveal=None,
    )
    return attrs.evolve(
        one,
        result=result,
        ended_at_ms=now_ms,
        reason=f"its end is in no record, since {why}; what was left of it is now in "
        f"private/aside/{name} of the data folder",
    )


def _unrecordable(one: Stranded, private: PrivateFolder) -> str:
    """Return why the record of a match cannot tell of an end."""
    if private.unended(one.id):
        return "it had come to another one, which only its rules can tell"
    if not one.path.exists():
        return "that is missing"
    try:
        if record_of(read_file(one.path)) is None:
            return "it had not begun, and only its rules can begin one"
    except (FritillaryError, OSError):
        pass
    return "that is damaged, or of another deal"
