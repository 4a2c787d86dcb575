"""Lists of matches: a page at a time, made in pieces, between which others run."""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Mapping
from collections.abc import Set as AbstractSet
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Final, TypeAlias

from attrs import frozen

from fritillary.api.v1 import common_pb2
from fritillary.api.v1 import match_pb2 as pb
from fritillary.record.events import GameRef
from fritillary.referee.setup import game_ref
from fritillary.service import wire
from fritillary.service.ended import EndedMatch
from fritillary.service.games import named_by
from fritillary.service.hosted import HostedMatch
from fritillary.service.index import Wanted
from fritillary.service.pages import Filling, page_position, page_token
from fritillary.service.places import PLACE, Place
from fritillary.service.stranded import Stranded

if TYPE_CHECKING:
    from fritillary.service.arena import Arena

Shown: TypeAlias = HostedMatch | EndedMatch | Stranded

#: Those that are found without a look at the archive.
_Here: TypeAlias = HostedMatch | Stranded

#: Matches that are written out at a time, in some 2 ms.
_PIECE: Final = 16

#: Matches in memory that are looked through at a time, in about as long.
_LOOKED: Final = 256

#: Matches of a page, if not said otherwise, and at the most.
_USUAL: Final = 100
_MOST: Final = 1_000


@frozen
class _Question:
    """What matches are asked for; the fields are those of the request."""

    phases: Collection[int]
    named: Callable[[GameRef], bool]
    labels: Mapping[str, str]

    @property
    def has_ended(self) -> bool:
        """Whether it is for matches that have ended, too."""
        return not self.phases or common_pb2.MATCH_PHASE_ENDED in self.phases

    def still_fits(self, match: Shown) -> bool:
        """Say whether a match that was wanted still is."""
        return not self.phases or wire.PHASE[match.phase] in self.phases

    def fits(self, one: _Here) -> bool:
        """Say whether a match in memory is wanted."""
        if isinstance(one, Stranded):
            ref, labels = one.game, one.kept.labels
        else:
            ref, labels = game_ref(one.order.game), one.order.labels
        return (
            self.still_fits(one)
            and self.named(ref)
            and self.labels.items() <= labels.items()
        )


class Listing:
    """Makes one page.

    Args:
        arena: where the matches are.
        request: for the page.
        shown: returns a match as whoever asks may see it.
        turn: waits for a turn, one for each piece.

    Raises:
        UsageError: ``page.token``.
    """

    def __init__(
        self,
        arena: Arena,
        request: pb.ListMatchesRequest,
        shown: Callable[[Shown], pb.Match],
        turn: Callable[[], AbstractAsyncContextManager[None]],
    ) -> None:
        self._arena = arena
        self._request = request
        self._shown = shown
        self._turn = turn
        self._question = _Question(
            {*request.phases} - {common_pb2.MATCH_PHASE_UNSPECIFIED},
            named_by(request.game),
            dict(request.labels),
        )
        self._after = Place.parse(page_position(request, PLACE))
        #: All that are in memory, by id.
        self._known: AbstractSet[str] = frozenset()
        #: Those of them that are wanted and to come, the first last.
        self._waiting: list[tuple[Place, _Here]] = []

    async def page(self) -> pb.ListMatchesResponse:
        """Return the page: no more matches than asked for, or than it has room for."""
        await self._look()
        response = pb.ListMatchesResponse()
        page = Filling(response.matches)
        left = min(self._request.page_size or _USUAL, _MOST)
        while True:
            async with self._turn():
                most = min(left, _PIECE)
                found, goes_on = await self._next(most + 1)
                for place, match in found[:most]:
                    if self._question.still_fits(match):
                        if not page.took(self._shown(match)):
                            goes_on = self._after
                            break
                        left -= 1
                    self._after = place
                else:
                    if len(found) > most:
                        if left:
                            continue
                        goes_on = self._after
            if goes_on is not None:
                response.next_page_token = page_token(self._request, goes_on.text())
            return response

    async def _look(self) -> None:
        """Look for matches in memory."""
        async with self._turn():
            in_memory: list[_Here] = [*self._arena.matches()]
            if self._arena.stranded:
                in_memory += self._arena.stranded.values()
                in_memory.sort(key=lambda one: one.place, reverse=True)
            self._known = {one.id for one in in_memory}
        if self._arena.archive is not None and self._question.has_ended:
            async with self._turn():
                await self._arena.archive.look()
        after, fits = self._after, self._question.fits
        for start in range(0, len(in_memory), _LOOKED):
            async with self._turn():
                self._waiting += [
                    (one.place, one)
                    for one in in_memory[start : start + _LOOKED]
                    if (after is None or one.place < after) and fits(one)
                ]
        self._waiting.reverse()

    async def _next(self, most: int) -> tuple[list[tuple[Place, Shown]], Place | None]:
        """Return at most so many of the matches that come next, each with its place.

        With them comes the place up to which the archive was looked through, where
        it holds more than is looked through at once; ``None`` otherwise.
        """
        after = self._after
        while self._waiting and after is not None and self._waiting[-1][0] >= after:
            self._waiting.pop()
        found: list[tuple[Place, Shown]] = []
        found += reversed(self._waiting[-most:])
        archive = self._arena.archive
        if archive is None or not self._question.has_ended:
            return found, None

        archived, goes_on = await archive.newest(
            Wanted(
                after=after,
                until=found[-1][0] if len(found) == most else None,
                most=most,
                known=self._known,
                named=self._question.named,
                labels=self._question.labels,
            )
        )
        found += archived
        if goes_on is not None:
            # Those behind it come with the archived ones that lie between.
            found = [one for one in found if one[0] >= goes_on]
        found.sort(key=operator.itemgetter(0), reverse=True)
        return found[:most], goes_on
