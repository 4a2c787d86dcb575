"""Keeping matches for a restart: what is written down, and what is forgotten."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from pathlib import Path

from fritillary.core.errors import ServiceError, StorageError
from fritillary.plugins.discovery import Registry
from fritillary.record.signing import Signer
from fritillary.referee.match import Match
from fritillary.service.hosted import HostedMatch
from fritillary.service.hub import Hub
from fritillary.service.locking import only_one
from fritillary.service.ordering import Order
from fritillary.service.private import PrivateFolder, Used
from fritillary.service.restart import (
    Left,
    kept_of,
    matches_left,
    remote_seats,
    void_without_seed,
)

_log = logging.getLogger(__name__)


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
        #: By id of matches whose end somebody has yet to hear of: whether the deal is
        #: held back, and the bots.
        self._owing: dict[str, tuple[bool, frozenset[str]]] = {}
        self._lock = contextlib.ExitStack()

    def save(self, order: Order, created_at_ms: int) -> None:
        """Write an order down, its secrets included.

        Raises:
            StorageError: if it cannot be written.
        """
        self._private.save(kept_of(order, created_at_ms))

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
        self._owing[hosted.id] = hosted.order.sealed, frozenset(hosted.bots)
        self.heard(hosted.id)

    def heard(self, match_id: str) -> None:
        """Forget a match that has ended, once all its bots have heard of it."""
        owing = self._owing.get(match_id)
        if owing is None or any(
            self._hub.owes_end(name, match_id) for name in owing[1]
        ):
            return
        del self._owing[match_id]
        sealed, _ = owing
        if not sealed:
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

    def matches_left(self, registry: Registry, signer: Signer) -> Iterator[Left]:
        """Yield what an earlier run has left; from now on the folder is in use.

        Raises:
            StorageError: if another process uses it.
        """
        self._lock.enter_context(only_one(self._private.path))
        self._private.tidy()
        yield from matches_left(self._private, self._records, registry, signer)

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
