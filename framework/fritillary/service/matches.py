"""MatchService: matches made, watched, stopped, fetched."""

from __future__ import annotations

import contextlib
import functools
import logging
from collections.abc import AsyncIterator
from typing import Any, Final, Literal
from weakref import WeakValueDictionary

import grpc

from fritillary.api.v1 import common_pb2, match_pb2_grpc
from fritillary.api.v1 import match_pb2 as pb
from fritillary.core.errors import FritillaryError, ServiceError
from fritillary.record.terms import EndKind
from fritillary.service import wire
from fritillary.service.arena import Arena
from fritillary.service.auth import Leases, caller
from fritillary.service.ended import EndedMatch, wrong_phase
from fritillary.service.errors import guarded
from fritillary.service.fetching import send
from fritillary.service.games import name_of
from fritillary.service.hosted import HostedMatch
from fritillary.service.keeping import goes_on_later
from fritillary.service.limits import OpenStreams
from fritillary.service.listing import Listing, Shown
from fritillary.service.ordering import refuse_programs, spec_of
from fritillary.service.rules_apart import Apart
from fritillary.service.stranded import Stranded
from fritillary.service.tokens import Role, Token
from fritillary.service.turns import Queues, Turns
from fritillary.service.watching import Held, Told, Watch, tell_end

_log = logging.getLogger(__name__)

_Context = grpc.aio.ServicerContext[Any, Any]

#: So many records are fetched at once with one token, if not fewer.
_MAX_FETCHES: Final = 16


class MatchServicer(match_pb2_grpc.MatchServiceServicer):
    """Makes, shows and stops the matches of an arena.

    Args:
        arena: where they are.
        leases: end the streams of tokens that are no longer good.
        apart: where rules run for options that are not their own.

    Attributes:
        watches: counts those that look on.
        programs: whether matches may have players that are programs to be started.
    """

    def __init__(self, arena: Arena, leases: Leases, apart: Apart) -> None:
        self._arena = arena
        self._leases = leases
        self._apart = apart
        self.programs = False
        self.watches = OpenStreams(arena.limits.max_watches, "watched matches")
        fetches = min(arena.limits.max_watches, _MAX_FETCHES)
        self._fetches = OpenStreams(fetches, "records")
        self._catching_up = Turns()
        self._told = Told()
        self._playing_again = Turns()
        self._reading = Turns()
        self._listing = Turns()
        self._lists = Queues()
        self._aborting = Queues()
        #: By id and time of the end; kept as long as somebody looks on.
        self._again: WeakValueDictionary[tuple[str, int | None], HostedMatch] = (
            WeakValueDictionary()
        )
        #: By the hash of the token; kept as long as one of its watches runs.
        self._held: WeakValueDictionary[str, Held] = WeakValueDictionary()

    def _recheck(self) -> None:
        """Check the token again, which may have ended while the call waited.

        Whatever it lets pass must be begun before the next wait.

        Raises:
            ServiceError: ``auth.revoked-token`` or ``auth.expired-token``.
        """
        self._arena.tokens.recheck(caller.get())

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
        if not self.programs:
            refuse_programs(spec_of(seat.player) for seat in request.seats)
        seats = len(request.seats)
        await self._apart.check_options(request.game, request.options, seats)
        self._recheck()
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
        token = caller.get()
        listing = Listing(self._arena, request, self._shown, self._turn_at_listing)
        async with self._lists.one(token.hash):
            page = await listing.page()
        self._recheck()
        return page

    @contextlib.asynccontextmanager
    async def _turn_at_listing(self) -> AsyncIterator[None]:
        async with self._listing.one(caller.get().hash):
            self._recheck()
            yield

    @staticmethod
    def _shown(hosted: Shown) -> pb.Match:
        role = caller.get().role
        message = hosted.to_proto(for_referee=role is Role.REFEREE)
        if role is Role.BOT:
            # Labels are the host's own, and may tell what a seat must not know.
            message.ClearField("labels")
        return message

    async def _find(self, match_id: str) -> Shown:
        """Return a match for a call of which the token is still good."""
        found = await self._arena.find(match_id)
        self._recheck()
        return found

    async def _for_caller(self, match_id: str) -> Shown:
        """Return a match; bots see those they sat in and no others.

        Of a match of others a bot is told what it is told where there is none.
        """
        token = caller.get()
        found: Shown | None = None
        try:
            found = await self._arena.find(match_id)
        except FritillaryError:
            if token.role is not Role.BOT:
                raise
        self._recheck()
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
        hosted = await self._find(request.match_id)
        _check_open(hosted)
        if isinstance(hosted, Stranded):
            for_referee = caller.get().role is Role.REFEREE
            raise hosted.refusal("watch", for_referee=for_referee)
        token = caller.get()
        with self.watches.one(token):
            watching = self._watch(hosted, request, token, context)
            await self._leases.run(token, watching)

    async def _watch(
        self,
        hosted: HostedMatch | EndedMatch,
        request: pb.WatchMatchRequest,
        token: Token,
        context: _Context,
    ) -> None:
        if isinstance(hosted, EndedMatch):
            again = await self._played_again(hosted, token)
            if again is None:
                await tell_end(hosted, context)
                return
            hosted = again
        held = self._held.get(token.hash)
        if held is None:
            most = self._arena.limits.max_outstanding_bytes
            held = self._held[token.hash] = Held(most)
        turn = functools.partial(self._catching_up.one, token.hash)
        with self._arena.followed():
            await Watch(hosted, request, held, turn, self._told).run(context)

    async def _played_again(
        self, ended: EndedMatch, token: Token
    ) -> HostedMatch | None:
        """Return an ended match with all that happened in it, shared by who looks on.

        Args:
            ended: the match.
            token: of who wants to look on.

        Returns:
            The match; ``None`` if it cannot be played again.
        """
        archive = self._arena.archive
        if archive is None:  # pragma: no cover - it was found there
            return None
        # Another record may have taken its place.
        key = ended.id, ended.ended_at_ms
        again = self._again.get(key)
        if again is None:
            async with self._playing_again.one(token.hash):
                again = self._again.get(key)
                if again is None and await self._begins_soon(ended):
                    again = await archive.played_again(ended)
                    if again is not None:
                        self._again[key] = again
        return again

    async def _begins_soon(self, ended: EndedMatch) -> bool:
        """Say whether the rules can begin a match anew without holding up all others.

        Whoever keeps the server may have put a stranger's record among the others.

        Raises:
            ServiceError: ``limit.time`` if it could not be found out by now.
        """
        header = ended.past.header
        if ended.game is None:
            return False
        raw = bytes.fromhex(header.options)
        payload = common_pb2.Payload(encoding=common_pb2.ENCODING_MSGPACK, data=raw)
        options = common_pb2.OptionsChoice(options=payload)
        game_id = name_of(self._arena.registry, ended.game, header.game.full_id)
        try:
            await self._apart.check_options(game_id, options, len(header.seats))
        except ServiceError as error:
            if error.retry_after_ms is not None:
                raise
            why = error.message
        except FritillaryError as error:
            why = error.message
        else:
            return True
        _log.info("match %s cannot be played again: %s", ended.id, why)
        return False

    # -- stopping

    async def _going_on(
        self, match_id: str, what: Literal["pause", "resume"]
    ) -> HostedMatch:
        """Return a match of which the clocks are to stop or to go on.

        Raises:
            ServiceError: ``match.phase`` if it ended long ago, or is stranded;
                ``match.unknown``.
        """
        found = await self._find(match_id)
        if isinstance(found, Stranded):
            raise found.refusal(what, for_referee=True)
        if isinstance(found, EndedMatch):
            raise wrong_phase(found.id, found.phase, what)
        return found

    @guarded
    async def PauseMatch(
        self, request: pb.PauseMatchRequest, context: _Context
    ) -> pb.PauseMatchResponse:
        """Stop the clocks of a match."""
        hosted = await self._going_on(request.match_id, "pause")
        hosted.pause(request.message)
        await hosted.until("paused", "closing", "ended")
        return pb.PauseMatchResponse(match=self._shown(hosted))

    @guarded
    async def ResumeMatch(
        self, request: pb.ResumeMatchRequest, context: _Context
    ) -> pb.ResumeMatchResponse:
        """Let a match go on."""
        hosted = await self._going_on(request.match_id, "resume")
        hosted.resume()
        await hosted.until("running", "waiting", "closing", "ended")
        return pb.ResumeMatchResponse(match=self._shown(hosted))

    @guarded
    async def AbortMatch(
        self, request: pb.AbortMatchRequest, context: _Context
    ) -> pb.AbortMatchResponse:
        """End a match without a result that counts."""
        kind = (
            EndKind.VOID
            if request.kind == common_pb2.MATCH_END_KIND_VOID
            else EndKind.WITHDRAWN
        )
        hosted = await self._find(request.match_id)
        if isinstance(hosted, Stranded):
            # One that is asked for is carried out, however long others take before it.
            async with self._aborting.one(caller.get().hash):
                self._recheck()
                ended = await self._arena.abort_stranded(
                    hosted.id, kind, request.message
                )
            return pb.AbortMatchResponse(match=self._shown(ended))
        if isinstance(hosted, EndedMatch):
            raise wrong_phase(hosted.id, hosted.phase, "abort")
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


def _check_open(hosted: Shown) -> None:
    if hosted.sealed:
        msg = f"others have yet to play the deal of match {hosted.id}; come back later"
        raise ServiceError(msg, code="match.sealed")


def _check_view(hosted: Shown, view: int) -> None:
    """Refuse what must not, or cannot, be fetched.

    Until the match has ended its record is for the host alone: it holds the actions
    of all seats as they were. What spectators may know is told by WatchMatch.
    """
    if isinstance(hosted, HostedMatch) and hosted.unrecorded:
        raise _unwritten(hosted)
    if hosted.result is None or not hosted.over:
        if view == pb.RECORD_VIEW_FULL:
            msg = f"match {hosted.id} goes on; its record is open until its end"
            raise ServiceError(msg, code="record.open")
        msg = f"match {hosted.id} goes on; watch it until its record is closed"
        if isinstance(hosted, Stranded):
            msg = f"match {hosted.id} is stranded; its record is open until its end"
        raise ServiceError(msg, code="record.private")
    if view == pb.RECORD_VIEW_SPECTATOR:
        msg = "this server writes no record of what spectators saw; fetch the full one"
        raise ServiceError(msg, code="record.view")


def _unwritten(hosted: HostedMatch) -> ServiceError:
    """Return why there is no whole record of a match that is over.

    Where the record is, is the server's own business.
    """
    error: BaseException | None = hosted.ended.exception()
    if isinstance(error, ServiceError) and error.retry_after_ms is not None:
        return goes_on_later()
    while error is not None and not isinstance(error, OSError):
        error = error.__cause__
    why = "the log of the server says why"
    if isinstance(error, OSError) and error.strerror:
        why = error.strerror
    result = hosted.result
    if result is None:
        msg = f"match {hosted.id} could not be played: {why}"
    elif result.finish.kind is EndKind.VOID:
        msg = f"match {hosted.id} is void: its record cannot be written ({why})"
    else:
        kind = result.finish.kind.value
        msg = (
            f"match {hosted.id} has ended ({kind}), and the end of its record cannot "
            f"be written ({why}); the next start of the server does so"
        )
    return ServiceError(msg, code="record.unwritten")
