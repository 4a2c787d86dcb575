"""Matches that ended long ago, as their records tell; they need no rules."""

from __future__ import annotations

from pathlib import Path
from typing import Any, BinaryIO, Final, Literal

from attrs import field, frozen

from fritillary.api.v1 import common_pb2, match_pb2
from fritillary.codec.packing import unpack
from fritillary.core.errors import RecordError, ServiceError, StorageError
from fritillary.plugins.game import Game
from fritillary.record.reader import Record, open_file
from fritillary.referee.seen import MatchResult
from fritillary.service import games
from fritillary.service.past import Past, held_back, remote_seats
from fritillary.service.places import Place
from fritillary.service.showing import ended_message


@frozen(eq=False)
class EndedMatch:
    """A match that has ended and that nothing remains to be done for.

    Args:
        past: how it ended.
        bots: that dialled in for it.
        sealed: whether others may still be to play its deal.
        game_id: under which the game is, or would be, reached here; without variants.
        game: the rules; ``None`` where they are not here any more.
    """

    past: Past
    bots: frozenset[str]
    sealed: bool
    game_id: str
    game: Game[Any, Any, Any] | None = field(repr=False)

    over: Final = True
    unrecorded: Final = False
    phase: Final = "ended"

    @classmethod
    def of(
        cls, record: Record, past: Past, game_id: str, game: Game[Any, Any, Any] | None
    ) -> EndedMatch:
        """Return the match of a record; for the arguments see the class.

        Raises:
            FritillaryError: if the options of its header are no data.
        """
        unpack(bytes.fromhex(record.header.options))
        bots = frozenset(name for _, name in remote_seats(record))
        return cls(past, bots, held_back(record), game_id, game)

    @property
    def id(self) -> str:
        """The match id."""
        return self.past.header.match_id

    @property
    def path(self) -> Path:
        """Where the record is."""
        return self.past.path

    @property
    def result(self) -> MatchResult:
        """The result."""
        return self.past.result

    @property
    def place(self) -> Place:
        """Where it stands in lists."""
        return Place.of_record(self.past.header, self.ended_at_ms)

    @property
    def ended_at_ms(self) -> int:
        """When it ended, since 1970-01-01 UTC."""
        return self.past.ended_at_ms

    @property
    def ref(self) -> common_pb2.GameRef:
        """The game, named as of a match in memory."""
        return games.ref_of_record(self.past.header.game, self.game_id)

    def to_proto(self, *, for_referee: bool) -> match_pb2.Match:
        """Return the match; see `ended_message`."""
        return ended_message(self, for_referee=for_referee)

    def open_record(self) -> BinaryIO:
        """Open the record; only for who may have it.

        Raises:
            StorageError: if it cannot be opened.
        """
        return open_record(self.path, self.id)


def open_record(path: Path, match_id: str) -> BinaryIO:
    """Open the record of a match.

    Raises:
        StorageError: if it cannot be opened.
    """
    try:
        return open_file(path)
    except RecordError as error:
        # Its message tells where the record is.
        msg = f"the record of match {match_id} cannot be read"
        raise StorageError(msg, code="storage") from error


def wrong_phase(
    match_id: str, phase: str, what: Literal["abort", "pause", "resume"]
) -> ServiceError:
    """Return what is told of a match that is in no phase for that."""
    msg = f"match {match_id} is {phase}; there is nothing to {what}"
    return ServiceError(msg, code="match.phase")
