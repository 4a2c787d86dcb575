"""Keeping matches for a restart: what is written down, and what is forgotten."""

from __future__ import annotations

import contextlib
import itertools
import logging
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from attrs import frozen

from fritillary.core.errors import ServiceError, StorageError
from fritillary.plugins.discovery import Registry
from fritillary.record.signing import Signer
from fritillary.referee.match import Match
from fritillary.referee.seen import Finish
from fritillary.service.hosted import HostedMatch, wall_ms
from fritillary.service.hub import Hub
from fritillary.service.lastnews import LastNews
from fritillary.service.limits import Limits
from fritillary.service.locking import only_one
from fritillary.service.ordering import Order
from fritillary.service.past import REMOTE, remote_seats
from fritillary.service.private import PrivateFolder, Used
from fritillary.service.restart import (
    Left,
    LeftEnd,
    LeftOut,
    kept_of,
    match_left,
    matches_left,
    void_without_seed,
)
from fritillary.service.seating_again import last_news
from fritillary.service.stranded import Stranded, end, stranded

_log = logging.getLogger(__name__)

#: Bots hear of an end for so long.
_OWED_MS: Final = 7 * 24 * 3_600 * 1_000

#: So many ends are forgotten at once, at the most.
_AT_ONCE: Final = 64


@frozen
class _Owing:
    """Of a match that has ended.

    Args:
        sealed: whether its deal is held back.
        bots: that sat in it.
        since_ms: when it ended, since 1970-01-01 UTC.
    """

    sealed: bool
    bots: frozenset[str]
    since_ms: int


class Keeping:
    """What one arena keeps of its matches until they have ended.

    Args:
        path: folder of what is kept, for its owner alone.
        records: folder of the records.
        hub: the bots that dialled in.
    """

    def __init__(self, path: Path, records: Path, hub: Hub) -> None:
        self._private = PrivateFolder(path)
        self._records = records
        self._hub = hub
        #: By id of matches whose end somebody has yet to hear of, earliest first.
        self._owing: dict[str, _Owing] = {}
        self._lock = contextlib.ExitStack()

    def save(self, order: Order, created_at_ms: int) -> None:
        """Write an order down, its secrets included.

        Raises:
            StorageError: if it cannot be written.
        """
        self._private.save(kept_of(order, created_at_ms))

    def note_started(self, match_id: str, at_ms: int) -> None:
        """Keep when a match started, in milliseconds since 1970-01-01 UTC."""
        self._private.note_started(match_id, at_ms)

    def started_at_ms(self, match_id: str) -> int | None:
        """Return when a match of an earlier run started, if that is kept."""
        return self._private.started_at_ms(match_id)

    def forget(self, match_id: str) -> None:
        """Keep nothing of a match any more."""
        self._private.forget(match_id)

    def has(self, match_id: str) -> bool:
        """Say whether something is kept of a match."""
        return self._private.has(match_id)

    def seed_of(self, match_id: str) -> bytes | None:
        """Return the seed of a match; ``None`` if it is not kept.

        Raises:
            StorageError: if it cannot be read.
        """
        kept = self._private.load(match_id)
        return None if kept is None else bytes.fromhex(kept.seed)

    def ended(self, hosted: HostedMatch) -> None:
        """Note that a match has come to its result."""
        try:
            if hosted.unrecorded:
                # The next start writes down how it ended.
                self._private.note_unended(hosted.id)
                return
        except StorageError:
            _log.exception("match %s goes on with the next start", hosted.id)
            return
        self._owe(hosted.id, hosted.bots, wall_ms(), sealed=hosted.sealed)

    def ended_before(self, left: LeftEnd) -> None:
        """Note a match that had come to its result, and let its bots hear of that."""
        seats = list(remote_seats(left.record))
        if not left.heard:
            self._hub.keep_ends(left.result, seats)
        bots = {name for _, name in seats}
        self._owe(left.result.match_id, bots, wall_ms(), sealed=left.sealed)

    def _owe(
        self, match_id: str, bots: Iterable[str], since_ms: int, *, sealed: bool
    ) -> None:
        self._owing[match_id] = _Owing(sealed, frozenset(bots), since_ms)
        self.heard(match_id)
        if match_id in self._owing and not sealed:
            self._private.note_ended(match_id)
        self._forget_old()

    def _forget_old(self) -> None:
        """Wait no longer for bots that have been away too long."""
        now = wall_ms()
        for match_id, owing in list(itertools.islice(self._owing.items(), _AT_ONCE)):
            if now - owing.since_ms < _OWED_MS:
                break
            for name in owing.bots:
                self._hub.link(name).forget_end(match_id, None)
                self._hub.tidy(name)

    def ended_long_ago(self) -> dict[str, list[tuple[int, str]]]:
        """Return matches of which bots have yet to hear, and forget those too old.

        Nothing of them is read but who played. To be called when the folder is in use.

        Returns:
            Number and bot of each seat, by id, the earliest ends first.
        """
        now = wall_ms()
        found = {}
        owing = {}
        for match_id, ended_at_s in self._private.ended():
            if match_id in self._owing:
                continue
            since_ms = int(ended_at_s * 1000)
            seats = [
                (seat, player.removeprefix(REMOTE))
                for seat, player in enumerate(self._private.players(match_id))
                if player.startswith(REMOTE)
            ]
            if not seats or now - since_ms >= _OWED_MS:
                self._private.forget(match_id)
                continue
            bots = frozenset(name for _, name in seats)
            owing[match_id] = _Owing(sealed=False, bots=bots, since_ms=since_ms)
            found[match_id] = seats
        self._owing = {**owing, **self._owing}
        return found

    def news_of(
        self, registry: Registry, signer: Signer, limits: Limits, match_id: str
    ) -> dict[tuple[int, str], LastNews]:
        """Return what bots may have missed of a match that ended before a restart.

        To be called in a thread; see `last_news`.

        Raises:
            FritillaryError: if that cannot be told.
            OSError: if its files cannot be used.
        """
        left = match_left(match_id, self._private, self._records, registry, signer)
        if left is None:
            msg = f"nothing is kept of match {match_id} any more"
            raise StorageError(msg, code="storage.private")
        return last_news(left, limits)

    def heard(self, match_id: str) -> None:
        """Forget a match that has ended, once all its bots have heard of it."""
        owing = self._owing.get(match_id)
        if owing is None or any(
            self._hub.owes_end(name, match_id) for name in owing.bots
        ):
            return
        del self._owing[match_id]
        if not owing.sealed:
            self._private.forget(match_id)
            return
        try:
            # Its seed is needed until the deal is revealed.
            self._private.note_heard(match_id)
        except StorageError as error:
            _log.warning("match %s: %s", match_id, error.message)

    def note_used(self, hosted: HostedMatch) -> None:
        """Keep what the open decision of a running match has taken so far."""
        match = hosted.match
        if not isinstance(match, Match) or match.phase == "ended":
            return
        opened = match.open_ms
        if opened is None:
            return
        used = Used(events=match.events, seat=opened[0], spent_ms=opened[1])
        try:
            self._private.note_used(hosted.id, used)
        except StorageError as error:
            _log.warning("match %s: %s", hosted.id, error.message)

    # ------------------------------------------------------------ at the next start

    def matches_left(
        self, registry: Registry, signer: Signer
    ) -> Iterator[Left | LeftEnd | LeftOut]:
        """Yield what an earlier run has left; from now on the folder is in use.

        Raises:
            StorageError: if another process uses it.
        """
        self._lock.enter_context(only_one(self._private.path))
        self._private.tidy()
        yield from matches_left(self._private, self._records, registry, signer)

    def stranded(
        self, match_id: str, error: Exception, registry: Registry
    ) -> Stranded | None:
        """Return a match that could not be taken up; see `stranded.stranded`."""
        return stranded(match_id, error, self._private, self._records, registry)

    def bots_of(self, match_id: str) -> set[str]:
        """Return the bots that dialled in for a match of which something is kept."""
        players = self._private.players(match_id)
        return {
            player.removeprefix(REMOTE)
            for player in players
            if player.startswith(REMOTE)
        }

    def end_stranded(
        self, one: Stranded, finish: Finish, signer: Signer, now_ms: int
    ) -> LeftEnd | Stranded:
        """End such a match in its files; to be called in a thread.

        See `stranded.end`. Afterwards `stranded_ended` is to be called in the loop.
        """
        return end(one, finish, self._private, signer, now_ms)

    def stranded_ended(self, one: Stranded, ended: LeftEnd | Stranded) -> None:
        """Let the bots of such a match hear of its end, and wait for it no more.

        Args:
            one: the match as it was.
            ended: what `end_stranded` has returned.
        """
        if isinstance(ended, LeftEnd):
            self.ended_before(ended)
        elif ended.result is not None:
            self._hub.keep_ends(ended.result, ended.remote_seats())
        for name in one.bots:
            self._hub.link(name).stranded.discard(one.id)
            self._hub.tidy(name)

    def void_without_seed(self) -> None:
        """Make matches void of which the seed is lost, and tell of it."""
        for found, result in void_without_seed(self._private, self._records):
            _log.warning("match %s: %s", result.match_id, result.finish.message)
            self._hub.keep_ends(result, remote_seats(found))

    def close(self) -> None:
        """Let others use the folder."""
        self._lock.close()


def goes_on_later() -> ServiceError:
    """Return what is told of a match that the next start takes up."""
    return ServiceError(
        "the server is stopping; the match goes on when it is back",
        code="server.stopping",
        retry_after_ms=1_000,
    )
