"""Makes, watches and stops the matches of an arena, and fetches their records."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from typing import Final, Literal, Self, TypeVar

import grpc.aio
from google.protobuf.message import Message

from fritillary.api.v1 import common_pb2 as common
from fritillary.api.v1 import match_pb2 as wire
from fritillary_client import match_wire
from fritillary_client.calls import OPEN_WITHIN_S, Caller, Reads, open_channel
from fritillary_client.encoding import Data
from fritillary_client.endpoint import File, endpoint
from fritillary_client.errors import ArenaError, ConfigurationError, ProtocolError
from fritillary_client.following import Lost, followed
from fritillary_client.matches import Match, MatchResult, Terms, Update
from fritillary_client.values import ClockSettings

_SERVICE: Final = wire.DESCRIPTOR.services_by_name["MatchService"].full_name

_M = TypeVar("_M", bound=Message)


class Referee:
    """A referee, or a spectator, at one server.

    Use it as an async context manager::

        async with Referee("127.0.0.1:7447", token) as referee:
            match = await referee.create_match("nim", ["remote:a", "uniform"])
            async for update in referee.watch(match.match_id):
                ...
            record = await referee.fetch_record(match.match_id)

    Every method raises `ArenaError`: `RefusedError` with the server's own code, such
    as ``match.unknown`` or ``auth.wrong-role``; `LinkError` if no server answers or
    the link is lost; `ConfigurationError` if what was asked for cannot be sent. Making
    and stopping matches is for the role referee; a spectator can do all else.

    Args:
        address: ``HOST:PORT``; default ``FRITILLARY_ADDRESS``.
        token: default ``FRITILLARY_TOKEN``.
        tls: whether to encrypt; default: unless the server is on this machine; also
            there if files for TLS are named.
        ca: file of certificates to trust, PEM; default ``FRITILLARY_CA``, else the
            usual ones.
        cert: file of a certificate to show to the server, PEM; default
            ``FRITILLARY_CERT``, else none.
        key: file of its private key, PEM; default ``FRITILLARY_KEY``.

    Raises:
        ConfigurationError: if address or token are missing or make no sense.

    Attributes:
        address: of the server.
    """

    def __init__(
        self,
        address: str | None = None,
        token: str | None = None,
        *,
        tls: bool | None = None,
        ca: File = None,
        cert: File = None,
        key: File = None,
    ) -> None:
        self._endpoint = endpoint(address, token, tls=tls, ca=ca, cert=cert, key=key)
        self.address = self._endpoint.address
        self._channel: grpc.aio.Channel | None = None
        self._calls: Caller | None = None

    async def __aenter__(self) -> Self:
        self._channel = open_channel(self._endpoint)
        self._calls = self._caller(self._channel)
        return self

    async def __aexit__(self, *_: object) -> None:
        channel, self._channel, self._calls = self._channel, None, None
        if channel is not None:
            await channel.close()

    # ------------------------------------------------------------------------ making

    async def create_match(
        self,
        game: str,
        players: Sequence[str],
        *,
        options: Mapping[str, Data] | None = None,
        preset: str = "",
        clock: ClockSettings | Sequence[ClockSettings] | None = None,
        terms: Terms | None = None,
        rules_version: int | None = None,
        seed: bytes = b"",
        salt: bytes = b"",
        match_id: str = "",
        labels: Mapping[str, str] | None = None,
    ) -> Match:
        """Make a match and start it.

        Args:
            game: full id, with variants where wanted: ``lepidoptery+no-pass``.
            players: by seat: a bot of the server (``uniform``), a connected one
                (``remote:NAME``), ``python:pkg.module:Class``, ``exec:COMMAND`` or
                ``stdio:COMMAND``.
            options: of the game; what is left out has its default.
            preset: name of published options instead.
            clock: one for all seats or one for each; ``None``: untimed.
            terms: policy, margin and ceiling; ``None``: the defaults.
            rules_version: refuse unless the rules have this version.
            seed: of the deal, 32 bytes; empty: the server draws one.
            salt: of the commitment, 32 bytes; empty: the server draws one.
            match_id: 1 to 64 letters, digits, ``.``, ``_`` or ``-``; empty: the
                server makes one.
            labels: free tags to find the match by, at most 16.

        Raises:
            RefusedError: among others ``match.exists``, ``player.absent``,
                ``game.unknown``, ``options.invalid``.
        """
        request = _request(
            lambda: wire.CreateMatchRequest(
                game=game,
                rules_version=rules_version,
                options=match_wire.options(options, preset),
                seats=match_wire.seats(players, clock),
                terms=None if terms is None else match_wire.terms(terms),
                seed=seed,
                salt=salt,
                match_id=match_id,
                labels=labels,
            )
        )
        answer = await self._ask("CreateMatch", request, wire.CreateMatchResponse)
        return match_wire.match(answer.match)

    # ----------------------------------------------------------------------- looking

    async def get_match(self, match_id: str) -> Match:
        """Return a match as it stands."""
        request = _request(lambda: wire.GetMatchRequest(match_id=match_id))
        answer = await self._ask("GetMatch", request, wire.GetMatchResponse)
        return match_wire.match(answer.match)

    async def list_matches(
        self,
        *,
        phases: Iterable[str] = (),
        game: str = "",
        labels: Mapping[str, str] | None = None,
        page_size: int = 0,
    ) -> AsyncGenerator[Match]:
        """Yield matches, newest first; all conditions must hold.

        Args:
            phases: any of these, such as ``running``; empty: all.
            game: only this one, by full id.
            labels: only with all of these.
            page_size: so many are fetched at a time, at most 1000; 0: 100.
        """
        request = _request(
            lambda: wire.ListMatchesRequest(
                phases=[match_wire.phase(word) for word in phases],
                game=game,
                labels=labels,
                page_size=page_size,
            )
        )
        while True:
            page = await self._ask("ListMatches", request, wire.ListMatchesResponse)
            for message in page.matches:
                yield match_wire.match(message)
            if not page.next_page_token:
                return
            request.page_token = page.next_page_token

    async def watch(
        self,
        match_id: str,
        *,
        after: int | None = 0,
        views: bool = False,
        picture: Literal["", "text", "svg"] = "",
    ) -> AsyncGenerator[Update]:
        """Yield what spectators are told, from now to the end of the match.

        The first is a `MatchView`; then what is past, where asked for; then what
        happens; a `MatchResult` is the last. It ends with the link; `follow` does
        not.

        Args:
            match_id: of the match.
            after: tell of past events after this number; 0: all; ``None``: none.
            views: a view after every event, not only at the start.
            picture: the one to draw with each view.
        """
        request = _watching(match_id, after, views=views, picture=picture)
        async with contextlib.aclosing(self._updates(self._open(), request)) as updates:
            async for update in updates:
                yield update

    async def follow(
        self,
        match_id: str,
        *,
        after: int | None = 0,
        views: bool = False,
        picture: Literal["", "text", "svg"] = "",
        give_up_after: float = 60.0,
        lost: Lost | None = None,
    ) -> AsyncGenerator[Update]:
        """Yield what `watch` does, over lost links and restarts of the server.

        Each event comes once, in order. After a lost link there is a `MatchView`
        again, and a `MatchStatus`; then it goes on with the next event. It dials in
        again at growing and partly random intervals; also when the server tells that
        this side read too slowly (``watch.too-slow``) or when to come back.

        Args:
            match_id: of the match.
            after: as in `watch`.
            views: as in `watch`.
            picture: as in `watch`.
            give_up_after: seconds without any answer after which it is given up.
            lost: called with the error and the seconds until the next try whenever
                the link was lost.

        Raises:
            ArenaError: as the others, at once if the server cannot be reached at the
                beginning; ``match.unknown`` also if a server was started anew and
                does not know the match any more.
        """
        self._open()

        async def watch(number: int | None) -> AsyncGenerator[Update]:
            request = _watching(match_id, number, views=views, picture=picture)
            # A channel that has failed holds its next tries back, so each link has
            # one of its own.
            channel = open_channel(self._endpoint)
            answers = self._updates(self._caller(channel), request)
            try:
                async with contextlib.aclosing(answers):
                    async for update in answers:
                        yield update
            finally:
                await channel.close()

        updates = followed(watch, after=after, give_up_after=give_up_after, lost=lost)
        async with contextlib.aclosing(updates):
            async for update in updates:
                yield update

    # ---------------------------------------------------------------------- stopping

    async def pause(self, match_id: str, message: str = "") -> Match:
        """Stop the clocks of a match that is running; return it.

        Args:
            match_id: of the match.
            message: why, as a sentence for all.
        """
        request = _request(
            lambda: wire.PauseMatchRequest(match_id=match_id, message=message)
        )
        answer = await self._ask("PauseMatch", request, wire.PauseMatchResponse)
        return match_wire.match(answer.match)

    async def resume(self, match_id: str) -> Match:
        """Let a match that is paused go on; return it."""
        request = _request(lambda: wire.ResumeMatchRequest(match_id=match_id))
        answer = await self._ask("ResumeMatch", request, wire.ResumeMatchResponse)
        return match_wire.match(answer.match)

    async def abort(
        self, match_id: str, message: str = "", *, void: bool = False
    ) -> Match:
        """End a match that has not ended; it does not count. Return it.

        Args:
            match_id: of the match.
            message: why, as a sentence for all.
            void: it may be replayed; else it is called off.
        """
        kind = common.MATCH_END_KIND_VOID if void else common.MATCH_END_KIND_WITHDRAWN
        request = _request(
            lambda: wire.AbortMatchRequest(
                match_id=match_id, kind=kind, message=message
            )
        )
        answer = await self._ask("AbortMatch", request, wire.AbortMatchResponse)
        return match_wire.match(answer.match)

    # ---------------------------------------------------------------------- fetching

    async def fetch_record(self, match_id: str) -> bytes:
        """Return the record of a match that has ended: the bytes of its file.

        Raises:
            RefusedError: ``record.private`` before the end, ``match.sealed`` while
                others have yet to play the deal.
            ProtocolError: ``record.damaged`` if it did not arrive as it was sent.
        """
        request = _request(lambda: wire.FetchRecordRequest(match_id=match_id))
        raw = bytearray()
        last: wire.FetchRecordResponse | None = None
        async for chunk in self._stream(
            "FetchRecord", request, wire.FetchRecordResponse
        ):
            if chunk.offset != len(raw):
                raise _damaged(match_id)
            raw += chunk.data
            last = chunk
        if (
            last is None
            or last.size != len(raw)
            or last.sha256 != hashlib.sha256(raw).digest()
        ):
            raise _damaged(match_id)
        return bytes(raw)

    # ------------------------------------------------------------------------ inside

    def _caller(self, channel: grpc.aio.Channel) -> Caller:
        server = self._endpoint
        return Caller(
            channel, address=server.address, token=server.token, advice=server.advice
        )

    async def _updates(
        self, calls: Caller, request: wire.WatchMatchRequest
    ) -> AsyncGenerator[Update]:
        """Yield what a watcher is told over one link.

        Raises:
            ArenaError: ``match.no-result`` if the stream ends and the match did not.
        """
        answers = calls.stream(
            f"/{_SERVICE}/WatchMatch", request, wire.WatchMatchResponse
        )
        ended = False
        async with contextlib.aclosing(answers):
            async for answer in answers:
                update = match_wire.update(answer, match_wire.WATCHED)
                if update is not None:
                    ended = isinstance(update, MatchResult)
                    yield update
        if not ended:
            # So it is if a match could not be played at all.
            msg = (
                f"the server at {self.address} told no end of match "
                f"{request.match_id[:64]}"
            )
            raise ArenaError(msg, code="match.no-result")

    async def _ask(self, method: str, request: Message, answer: Reads[_M]) -> _M:
        return await self._open().ask(
            f"/{_SERVICE}/{method}", request, answer, within_s=OPEN_WITHIN_S
        )

    def _stream(
        self, method: str, request: Message, answer: Reads[_M]
    ) -> AsyncGenerator[_M]:
        return self._open().stream(f"/{_SERVICE}/{method}", request, answer)

    def _open(self) -> Caller:
        if self._calls is None:
            msg = "there is no connection; write 'async with Referee(...) as referee:'"
            raise ConfigurationError(msg, code="usage.closed")
        return self._calls


def _watching(
    match_id: str,
    after: int | None,
    *,
    views: bool,
    picture: Literal["", "text", "svg"],
) -> wire.WatchMatchRequest:
    return _request(
        lambda: wire.WatchMatchRequest(
            match_id=match_id,
            encoding=match_wire.WATCHED.number,
            after_event=after,
            view_each_event=views,
            picture=match_wire.PICTURES[picture],
        )
    )


def _request(make: Callable[[], _M]) -> _M:
    """Return a request.

    Raises:
        ConfigurationError: if a value is none that the wire can carry.
    """
    try:
        return make()
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        msg = f"that cannot be asked of a server: {error}"
        raise ConfigurationError(msg, code="usage.value") from error


def _damaged(match_id: str) -> ProtocolError:
    msg = f"the record of match {match_id[:64]} did not arrive as the server has it"
    return ProtocolError(msg, code="record.damaged")
