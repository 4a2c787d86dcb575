"""What goes to a seat as bytes: each thing is serialised once, then kept.

Everything here is made from the values of :mod:`fritillary.referee.seen` alone,
which come out of the referee's gate.
"""
# ruff: noqa: ANN401 - values of any game pass through

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any, Final

from fritillary.api.v1 import bot_pb2 as pb
from fritillary.api.v1 import common_pb2
from fritillary.plugins.game import Game
from fritillary.plugins.table import ActionTable
from fritillary.record.events import SeatTerms
from fritillary.record.terms import Source, Terms
from fritillary.referee.seen import (
    Acted,
    Body,
    Closure,
    Drawn,
    Finish,
    GaveUp,
    Halted,
    MatchResult,
    Offer,
    Request,
    Ruled,
    SeatEvent,
    WentOn,
)
from fritillary.service import games, wire
from fritillary.service.framing import (
    DECISION_CLOSED,
    DECISION_REQUEST,
    EVENT,
    MATCH_ENDED,
    MATCH_OFFER,
    framed,
    head_of,
    nested,
    packed,
    size_6,
    size_7,
    varint,
    varint_3,
    varint_4,
    varint_5,
)


def ended_entry(head: bytes, result: MatchResult) -> bytes:
    """Return MatchEnded of the seat that ``head`` names."""
    return framed(MATCH_ENDED, head + nested(3, wire.result_bytes(result)))


# ---------------------------------------------------------------------- one match

#: So many actions of a game without a table are kept ready.
_KEPT_ACTIONS: Final = 4096

#: So many offers of a game are kept ready: players and terms differ.
_KEPT_OFFERS: Final = 64

#: So many games under some options, in an encoding, are kept ready.
_KEPT_DIALECTS: Final = 64


class Dialect:
    """A game under some options in one encoding; matches share it.

    Args:
        game: the rules.
        options: of the game.
        seats: how many there are.
        coder: the encoding.
    """

    def __init__(
        self, game: Game[Any, Any, Any], options: Any, seats: int, coder: wire.Coder
    ) -> None:
        self.coder = coder
        self._game = game
        self._table = game.table(options, seats)
        self._by_id = games.indices(self._table)
        self._packed_by_id = {key: varint(n) for key, n in self._by_id.items()}
        self._encode = coder.encode
        self._observation_data = game.codec.observation_to_data
        self.options = coder.encode(game.codec.options_to_data(options))
        self._bodies: dict[tuple[Any, ...], bytes] = {}
        self._plain_bodies: dict[tuple[int, int], bytes] = {}
        self._written: dict[Any, pb.LegalAction] = {}
        self._offered: dict[tuple[str, tuple[SeatTerms, ...], Terms], bytes] = {}

    def index(self, action: Any) -> int | None:
        """Return the index of an action in the table; ``None`` if it has none."""
        index = self._by_id.get(id(action))
        # An equal action that the rules built anew is found by its fields.
        if index is None and isinstance(self._table, ActionTable):
            return self._table.index.get(action)
        return index

    def action(self, action: Any) -> bytes:
        """Return an action in the encoding."""
        return self._encode(self._game.codec.action_to_data(action))

    def observation(self, observation: Any) -> bytes:
        """Return an observation in the encoding, without the options."""
        return self._encode(self._observation_data(observation))

    # -- offers

    def offered(
        self, ref: common_pb2.GameRef, seats: tuple[SeatTerms, ...], terms: Terms
    ) -> bytes:
        """Return the fields of an offer that matches have in common.

        Args:
            ref: names the game.
            seats: players and clocks.
            terms: of the match.
        """
        key = (ref.id, seats, terms)
        known = self._offered.get(key)
        if known is None:
            message = pb.MatchOffer(
                game=ref,
                table=games.table_message(self._table),
                schemas_hash=games.schemas(self._game).hash,
                options=self.options,
                seats=wire.seat_infos(self._game, seats),
                terms=wire.terms(terms),
            )
            if len(self._offered) >= _KEPT_OFFERS:
                self._offered.clear()
            known = self._offered[key] = message.SerializeToString()
        return known

    # -- events

    def body(self, body: Body) -> bytes:
        """Return the body of an event as it stands in ``Event``."""
        if type(body) is Acted:
            if body.source is Source.PLAYER:
                index = self._by_id.get(id(body.action))
                if index is not None:
                    plain = (body.seat, index)
                    known = self._plain_bodies.get(plain)
                    if known is None:
                        known = self._plain_bodies[plain] = self._action_body(body)
                    return known
            key: tuple[Any, ...] = (body.seat, body.action, body.source)
        elif type(body) is Drawn:
            key = (body.action,)
        else:
            return self._other_body(body)
        known = self._bodies.get(key)
        if known is None:
            if len(self._bodies) >= _KEPT_ACTIONS:
                self._bodies.clear()
            known = self._bodies[key] = self._action_body(body)
        return known

    def _action_body(self, body: Acted | Drawn) -> bytes:
        raw = self.action(body.action)
        text = self._game.format_action(body.action)
        if isinstance(body, Drawn):
            return nested(6, pb.ChanceDrawn(action=raw, text=text).SerializeToString())
        return nested(
            5,
            pb.ActionTaken(
                seat=body.seat,
                index=self.index(body.action),
                action=raw,
                text=text,
                source=wire.SOURCE[body.source],
            ).SerializeToString(),
        )

    def _other_body(self, body: Body) -> bytes:
        match body:
            case Ruled():
                return nested(
                    7,
                    pb.Ruling(
                        seat=body.seat,
                        fault=wire.FAULT[body.fault],
                        consequence=wire.CONSEQUENCE[body.consequence],
                        error=wire.problem_info(body.problem),
                        retries_left=body.retries_left,
                    ).SerializeToString(),
                )
            case GaveUp():
                return nested(8, pb.Resigned(seat=body.seat).SerializeToString())
            case Halted():
                return nested(9, pb.Paused(message=body.message).SerializeToString())
            case WentOn():
                return nested(10, b"")
            case Finish():
                return nested(11, wire.finish_bytes(body))
        msg = f"no event on the wire for {type(body).__name__}"
        raise TypeError(msg)

    # -- requests

    def legal(self, legal: Sequence[Any]) -> list[int]:
        """Return the indices of legal actions."""
        if not self._table.listed:
            return list(range(len(legal)))
        by_id = self._by_id
        try:
            return [by_id[id(action)] for action in legal]
        except KeyError:
            return [self._table.index[action] for action in legal]

    def packed(self, legal: Sequence[Any]) -> bytes:
        """Return the indices of legal actions as a packed protobuf field."""
        try:
            return b"".join(map(self._packed_by_id.__getitem__, map(id, legal)))
        except KeyError:
            return packed(self.legal(legal))

    def written(
        self, legal: Sequence[Any], indices: Sequence[int]
    ) -> list[pb.LegalAction]:
        """Return the legal actions written out."""
        written = self._written
        if not self._table.listed or len(written) > _KEPT_ACTIONS:
            written.clear()
        out = []
        for index, action in zip(indices, legal, strict=True):
            known = written.get(index)
            if known is None:
                known = written[index] = pb.LegalAction(
                    index=index,
                    text=self._game.format_action(action),
                    action=self.action(action),
                )
            out.append(known)
        return out

    @property
    def listed(self) -> bool:
        """Whether the game has an action table."""
        return self._table.listed


@functools.lru_cache(_KEPT_DIALECTS)
def _dialect(
    game: Game[Any, Any, Any], options: Any, seats: int, coder: wire.Coder
) -> Dialect:
    return Dialect(game, options, seats, coder)


@functools.lru_cache(_KEPT_DIALECTS)
def _ref(game: Game[Any, Any, Any], name: str) -> common_pb2.GameRef:
    return games.game_ref(game, name)


class MatchWire:
    """One match on the wire, in whichever encodings its receivers speak.

    Args:
        match_id: of the match.
        game: the rules.
        options: of the game.
        seats: how many there are.
        name: the full id under which the game was asked for.
    """

    def __init__(
        self,
        match_id: str,
        game: Game[Any, Any, Any],
        options: Any,
        seats: int,
        name: str = "",
    ) -> None:
        self.match_id = match_id
        self.game = game
        self.options = options
        self.seats = seats
        self.ref = _ref(game, name)

    def dialect(self, coder: wire.Coder) -> Dialect:
        """Return the match in one encoding."""
        return _dialect(self.game, self.options, self.seats, coder)

    def spectator_event(self, event: SeatEvent, coder: wire.Coder) -> pb.Event:
        """Return an event for spectators."""
        head = pb.Event(
            match_id=self.match_id, number=event.number, ply=event.ply
        ).SerializeToString()
        return pb.Event.FromString(head + self.dialect(coder).body(event.body))


@functools.lru_cache(1024)
def _asking(attempt: int, clock: wire.Parts) -> bytes:
    """Return what requests say after their legal actions; most say the same."""
    return pb.DecisionRequest(
        clock=wire.reading(dict(clock)), attempt=attempt
    ).SerializeToString()


@functools.lru_cache(1024)
def _closing(
    how: str,
    charged_ms: int,
    server_ms: int,
    think_ms: int | None,
    round_trip_ms: int | None,
    clock: wire.Parts,
) -> bytes:
    """Return what closures say that quick bots see again and again."""
    return pb.DecisionClosed(
        closure=wire.CLOSURE[how],
        time=pb.DecisionTime(
            charged_ms=charged_ms,
            server_ms=server_ms,
            think_ms=think_ms,
            round_trip_ms=round_trip_ms,
        ),
        clock=wire.reading(dict(clock)),
    ).SerializeToString()


class SeatWire:
    """One seat of a match, in the terms of one session.

    Args:
        match: on the wire.
        seat: which.
        coder: the encoding of the session.
        expanded: whether legal actions are written out.

    Events, requests and closures are most of what is sent; they are put together
    from parts by the rules of protobuf, field by field, with the fields numbered as
    in the .proto. A test compares each with what the generated classes write.
    """

    __slots__ = ("_dialect", "_expanded", "_head", "_match")

    def __init__(
        self, match: MatchWire, seat: int, coder: wire.Coder, *, expanded: bool
    ) -> None:
        self._match = match
        self._dialect = match.dialect(coder)
        self._expanded = expanded or not self._dialect.listed
        # The first two fields of whatever is said of a match to a seat.
        self._head = head_of(match.match_id, seat)

    def offer(self, offer: Offer, *, resumed: bool) -> bytes:
        """Return an offer."""
        match = self._match
        rest = pb.MatchOffer(
            nonce_wanted=offer.nonce_wanted,
            bot_seed=offer.bot_seed,
            answer_within_ms=offer.terms.offer_ms,
            resumed=resumed,
        )
        rest.commitment.algorithm = offer.algorithm
        rest.commitment.hash = offer.commitment
        return framed(
            MATCH_OFFER,
            self._head
            + self._dialect.offered(match.ref, offer.seats, offer.terms)
            + rest.SerializeToString(),
        )

    def event(self, event: SeatEvent) -> bytes:
        """Return an event."""
        return framed(
            EVENT,
            b"".join(
                (
                    self._head,
                    varint_3(event.number),
                    varint_4(event.ply),
                    self._dialect.body(event.body),
                )
            ),
        )

    def request(self, request: Request, clock: Mapping[str, int]) -> bytes:
        """Return a request, with the clock of this moment."""
        dialect = self._dialect
        legal = request.legal
        observation = dialect.observation(request.observe())
        indices = dialect.packed(legal)
        payload = b"".join(
            (
                self._head,
                varint_3(request.decision_id),
                varint_4(request.event_number),
                varint_5(request.ply),
                size_6(len(observation)),
                observation,
                size_7(len(indices)),
                indices,
                _asking(request.attempt, tuple(clock.items())),
            )
        )
        if self._expanded or request.problem is not None:
            rest = pb.DecisionRequest()
            if self._expanded:
                rest.legal_actions.extend(dialect.written(legal, dialect.legal(legal)))
            if request.problem is not None:
                rest.error.CopyFrom(wire.problem_info(request.problem))
            payload += rest.SerializeToString()
        return framed(DECISION_REQUEST, payload)

    def closed(
        self,
        closure: Closure,
        clock: Mapping[str, int],
        think_ms: int | None,
        round_trip_ms: int | None,
    ) -> bytes:
        """Return how a request was closed."""
        payload = b"".join(
            (
                self._head,
                varint_3(closure.decision_id),
                _closing(
                    closure.how,
                    closure.charged_ms,
                    closure.server_ms,
                    think_ms,
                    round_trip_ms,
                    tuple(clock.items()),
                ),
                b"" if closure.event_number is None else varint_5(closure.event_number),
            )
        )
        if closure.problem is not None:
            payload += nested(6, wire.problem_info(closure.problem).SerializeToString())
        return framed(DECISION_CLOSED, payload)

    def ended(self, result: MatchResult) -> bytes:
        """Return the result."""
        return ended_entry(self._head, result)
