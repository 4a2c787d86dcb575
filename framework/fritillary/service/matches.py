"""MatchService: matches made, watched, stopped, fetched."""

from __future__ import annotations

import functools
import operator
from typing import Any, Final
from weakref import WeakValueDictionary

import grpc

from fritillary.api.v1 import common_pb2, match_pb2_grpc
from fritillary.api.v1 import match_pb2 as pb
from fritillary.core.errors import FritillaryError, ServiceError
from fritillary.record.events import Header
from fritillary.record.terms import EndKind
from fritillary.referee.setup import game_ref
from fritillary.service import wire
from fritillary.service.archive import Wanted
from fritillary.service.arena import Arena
from fritillary.service.auth import Leases, caller
from fritillary.service.catalog import page_position, page_token
from fritillary.service.errors import guarded
from fritillary.service.fetching import send
from fritillary.service.games import named_by
from fritillary.service.hosted import HostedMatch
from fritillary.service.limits import OpenStreams
from fritillary.service.places import PLACE, Place
from fritillary.service.tokens import Role, Token
from fritillary.service.turns import Turns
from fritillary.service.watching import Held, Watch

_Context = grpc.aio.ServicerContext[Any, Any]

#: So many records are fetched at once with one token, if not fewer.
_MAX_FETCHES: Final = 16


class MatchServicer(match_pb2_grpc.MatchServiceServicer):
    """Makes, shows and stops the matches of an arena.

    Args:
        arena: where they are.
        leases: end the streams of tokens that are revoked.

    Attributes:
        watches: counts those that look on.
    """

    def __init__(self, arena: Arena, leases: Leases) -> None:
        self._arena = arena
        self._leases = leases
        self.watches = OpenStreams(arena.limits.max_watches, "watched matches")
        fetches = min(arena.limits.max_watches, _MAX_FETCHES)
        self._fetches = OpenStreams(fetches, "records")
        self._catching_up = Turns()
        self._playing_again = Turns()
        self._reading = Turns()
        #: By id and time of the end; kept as long as somebody looks on.
        self._again: WeakValueDictionary[tuple[str, int | None], HostedMatch] = (
            WeakValueDictionary()
        )
        #: By the hash of the token; kept as long as one of its watches runs.
        self._held: WeakValueDictionary[str, Held] = WeakValueDictionary()

    # -- making

    @guarded
    async def CreateMatch(
        self, request: pb.CreateMatchRequest, context: _Context
    ) -> pb.CreateMatchResponse:
        """Make a match and start it."""
        game = self._arena.registry.game(request.game)
        version = game.info.rules_version
        if request.HasField("rules_version") and request.rules_version != version:
            msg = f"{game.id} has rules version {version}, not {request.rules_version}"
            raise FritillaryError(msg, code="game.other-version")
        usual = wire.clock_settings(request.clock)
        clocks = [
            wire.clock_settings(seat.clock) if seat.HasField("clock") else usual
            for seat in request.seats
        ]
        terms, ceiling_ms = wire.match_terms(request.terms)
        hosted = self._arena.create(
            request.game,
            [seat.player for seat in request.seats],
            options=wire.game_options(game, request.options),
            clocks=clocks,
            terms=terms,
            ceiling_ms=ceiling_ms,
            match_id=request.match_id,
            seed=request.seed or None,
            salt=request.salt or None,
            labels=dict(request.labels),
            wait_for_remote=False,
        )
        return pb.CreateMatchResponse(match=hosted.to_proto(for_referee=True))

    # -- looking

    @guarded
    async def ListMatches(
        self, request: pb.ListMatchesRequest, context: _Context
    ) -> pb.ListMatchesResponse:
        """List matches, newest first."""
        size = min(request.page_size or 100, 1_000)
        found, goes_on = await self._wanted(request, size + 1)
        if len(found) > size:
            goes_on = found[size - 1][0]
        return pb.ListMatchesResponse(
            matches=[self._shown(hosted) for _, hosted in found[:size]],
            next_page_token=(
                "" if goes_on is None else page_token(request, goes_on.text())
            ),
        )

    async def _wanted(
        self, request: pb.ListMatchesRequest, most: int
    ) -> tuple[list[tuple[Place, HostedMatch]], Place | None]:
        """Return at most so many of the matches asked for, each with its place.

        With them comes the place up to which the archive was looked through, where
        it holds more than is looked through at once; ``None`` otherwise.
        """
        phases = {*request.phases} - {common_pb2.MATCH_PHASE_UNSPECIFIED}
        labels = dict(request.labels).items()
        named = named_by(request.game)
        after = Place.parse(page_position(request, PLACE))
        in_memory = self._arena.matches()
        found = [
            (hosted.place, hosted)
            for hosted in in_memory
            if (after is None or hosted.place < after)
            and (not phases or wire.PHASE[hosted.phase] in phases)
            and named(game_ref(hosted.order.game))
            and labels <= hosted.order.labels.items()
        ][:most]
        archive = self._arena.archive
        ended = not phases or common_pb2.MATCH_PHASE_ENDED in phases
        if archive is None or not ended:
            return found, None

        def fits(header: Header) -> bool:
            return named(header.game) and labels <= header.labels.items()

        archived, goes_on = await archive.newest(
            Wanted(
                after=after,
                until=found[-1][0] if len(found) == most else None,
                most=most,
                known={hosted.id for hosted in in_memory},
                fits=fits,
            )
        )
        found += archived
        if goes_on is not None:
            # Those behind it come with the archived ones that lie between.
            found = [one for one in found if one[0] >= goes_on]
        found.sort(key=operator.itemgetter(0), reverse=True)
        return found[:most], goes_on

    @staticmethod
    def _shown(hosted: HostedMatch) -> pb.Match:
        role = caller.get().role
        message = hosted.to_proto(for_referee=role is Role.REFEREE)
        if role is Role.BOT:
            # Labels are the host's own, and may tell what a seat must not know.
            message.ClearField("labels")
        return message

    async def _for_caller(self, match_id: str) -> HostedMatch:
        """Return a match; bots see those they sat in and no others.

        Of a match of others a bot is told what it is told where there is none.
        """
        token = caller.get()
        found: HostedMatch | None = None
        try:
            found = await self._arena.find(match_id)
        except FritillaryError:
            if token.role is not Role.BOT:
                raise
        if found is None or (token.role is Role.BOT and token.name not in found.bots):
            msg = f"there is no match {match_id[:64]!r} that you sat in"
            raise ServiceError(msg, code="match.unknown")
        return found

    @guarded
    async def GetMatch(
        self, request: pb.GetMatchRequest, context: _Context
    ) -> pb.GetMatchResponse:
        """Return one match."""
        hosted = await self._for_caller(request.match_id)
        return pb.GetMatchResponse(match=self._shown(hosted))

    @guarded
    async def WatchMatch(  # type: ignore[override]
        self, request: pb.WatchMatchRequest, context: _Context
    ) -> None:
        """Follow a match as a spectator."""
        hosted = await self._arena.find(request.match_id)
        _check_open(hosted)
        token = caller.get()
        with self.watches.one(token):
            watching = self._watch(hosted, request, token, context)
            await self._leases.run(token, watching)

    async def _watch(
        self,
        hosted: HostedMatch,
        request: pb.WatchMatchRequest,
        token: Token,
        context: _Context,
    ) -> None:
        if hosted.over and hosted.match is None:
            hosted = await self._played_again(hosted, token)
        held = self._held.get(token.hash)
        if held is None:
            most = self._arena.limits.max_outstanding_bytes
            held = self._held[token.hash] = Held(most)
        turn = functools.partial(self._catching_up.one, token.hash)
        with self._arena.followed():
            await Watch(hosted, request, held, turn).run(context)

    async def _played_again(self, hosted: HostedMatch, token: Token) -> HostedMatch:
        """Return an ended match with all that happened in it, shared by who looks on.

        Args:
            hosted: the match; returned as it is if it cannot be played again.
            token: of who wants to look on.
        """
        archive = self._arena.archive
        if archive is None:
            return hosted
        # Another record may have taken its place.
        key = hosted.id, hosted.ended_at_ms
        again = self._again.get(key)
        if again is None:
            async with self._playing_again.one(token.hash):
                again = self._again.get(key)
                if again is None:
                    again = await archive.played_again(hosted)
                    self._again[key] = again
        return again

    # -- stopping

    @guarded
    async def PauseMatch(
        self, request: pb.PauseMatchRequest, context: _Context
    ) -> pb.PauseMatchResponse:
        """Stop the clocks of a match."""
        hosted = await self._arena.find(request.match_id)
        hosted.pause(request.message)
        await hosted.until("paused", "closing", "ended")
        return pb.PauseMatchResponse(match=self._shown(hosted))

    @guarded
    async def ResumeMatch(
        self, request: pb.ResumeMatchRequest, context: _Context
    ) -> pb.ResumeMatchResponse:
        """Let a match go on."""
        hosted = await self._arena.find(request.match_id)
        hosted.resume()
        await hosted.until("running", "waiting", "closing", "ended")
        return pb.ResumeMatchResponse(match=self._shown(hosted))

    @guarded
    async def AbortMatch(
        self, request: pb.AbortMatchRequest, context: _Context
    ) -> pb.AbortMatchResponse:
        """End a match without a result that counts."""
        hosted = await self._arena.find(request.match_id)
        kind = (
            EndKind.VOID
            if request.kind == common_pb2.MATCH_END_KIND_VOID
            else EndKind.WITHDRAWN
        )
        hosted.abort(kind, "match.aborted", request.message)
        await hosted.until("closing", "ended")
        return pb.AbortMatchResponse(match=self._shown(hosted))

    # -- fetching

    @guarded
    async def FetchRecord(  # type: ignore[override]
        self, request: pb.FetchRecordRequest, context: _Context
    ) -> None:
        """Return the record of a match in chunks."""
        hosted = await self._for_caller(request.match_id)
        _check_open(hosted)
        _check_view(hosted, request.view)
        token = caller.get()
        with self._fetches.one(token), hosted.open_record() as file:
            sending = send(file, request.offset, self._reading, token.hash, context)
            await self._leases.run(token, sending)


def _check_open(hosted: HostedMatch) -> None:
    if hosted.order.sealed:
        msg = f"others have yet to play the deal of match {hosted.id}; come back later"
        raise ServiceError(msg, code="match.sealed")


def _check_view(hosted: HostedMatch, view: int) -> None:
    """Refuse what must not, or cannot, be fetched.

    Until the match has ended its record is for the host alone: it holds the actions
    of all seats as they were. What spectators may know is told by WatchMatch.
    """
    if hosted.unrecorded:
        msg = f"the record of match {hosted.id} could not be written to its end"
        raise ServiceError(msg, code="record.open")
    if hosted.result is None or not hosted.over:
        if view == pb.RECORD_VIEW_FULL:
            msg = f"match {hosted.id} goes on; its record is open until its end"
            raise ServiceError(msg, code="record.open")
        msg = f"match {hosted.id} goes on; watch it until its record is closed"
        raise ServiceError(msg, code="record.private")
    if view == pb.RECORD_VIEW_SPECTATOR:
        msg = "this server writes no record of what spectators saw; fetch the full one"
        raise ServiceError(msg, code="record.view")
