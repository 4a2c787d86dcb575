"""Games and servers that leak: the gate must catch every one of them."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any, Final

import attrs
from tests.service import hush

from fritillary import Plugin, VariantInfo, hookimpl
from fritillary.core.journal import journal as log
from fritillary.referee import gate, match, teller
from fritillary.referee.play import Play
from fritillary.referee.requests import Requests
from fritillary.referee.seen import Halted, Problem, Ruled
from fritillary.service import journal, matches
from fritillary.service.framing import varint
from fritillary.service.hosted import HostedMatch
from fritillary.service.hub import UnusableMessageError
from fritillary.service.remote import RemotePlayer
from fritillary.service.seatwire import Dialect, SeatWire
from fritillary.service.session import Session

# -------------------------------------------------------------------------- the games


def leaky(name: str, **hooks: Any) -> Plugin:
    """Return a variant of Hush with some hooks wrapped.

    Args:
        name: of the variant; its id.
        hooks: wrappers by hook.
    """

    @hookimpl
    def describe_variant() -> VariantInfo:
        return VariantInfo(
            id=name, title=name, summary="Leaks.", version=1, games=("hush",)
        )

    return Plugin(
        name, types.SimpleNamespace(describe_variant=describe_variant, **hooks)
    )


def observing(change: Callable[[Any, Any], dict[str, Any]]) -> Any:
    """Return a wrapper of ``observe`` that changes fields.

    Args:
        change: gives them for state and seat.
    """

    @hookimpl(wrapper=True)
    def observe(state: Any, seat: Any) -> Any:
        seen = yield
        return attrs.evolve(seen, **change(state, seat))

    return observe


def _by_rank(state: Any, seat: Any) -> dict[str, Any]:
    # The sizes stand in the order of the hands, which nobody knows.
    order = sorted(state.hands)
    return {"hand_sizes": tuple(10 + order.index(hand) for hand in state.hands)}


@hookimpl(wrapper=True)
def _unmasked(state: Any, action: Any, seat: Any) -> Any:
    seen = yield
    return action if seen is not None else None


@hookimpl(wrapper=True)
def _wider(state: Any) -> Any:
    legal = yield
    # Any card will do, if the next one is good.
    mine = state.seat == 0 and state.step == hush.CARD
    return hush.TABLE[2:] if mine and state.deck[-1] else legal


def _told_again(state: Any, seat: Any) -> dict[str, Any]:
    # Between the lines: what others have heard.
    return {"deck": len(state.deck) + (0 if seat is None else sum(state.words))}


#: By name: the variant, the viewer who sees it, and where the gate finds it.
GAMES: Final[dict[str, tuple[Plugin, int | None, str]]] = {
    "the top of the deck": (
        leaky("top", observe=observing(lambda state, _: {"deck": state.deck[-1]})),
        0,
        "decision_request.observation",
    ),
    "an order that follows from hidden hands": (
        leaky("order", observe=observing(_by_rank)),
        1,
        "decision_request.observation",
    ),
    "what others have heard": (
        leaky("heard", observe=observing(_told_again)),
        0,
        "decision_request.observation",
    ),
    "masked actions as they are": (
        leaky("open", observe_action=_unmasked),
        1,
        "event.(chance|action)",
    ),
    "legal actions that depend on the deck": (
        leaky("wider", legal_actions=_wider),
        0,
        "decision_request.legal",
    ),
    "spectators who see a hand": (
        leaky(
            "guest",
            observe=observing(
                lambda state, seat: {} if seat == 0 else {"hand": state.hands[0]}
            ),
        ),
        None,
        "view.observation",
    ),
}


# ------------------------------------------------------------------------- the servers

#: Matches in play, for servers that look where they must not.
PLAYS: Final[dict[str, Play]] = {}
SEATS: Final[dict[str, set[RemotePlayer]]] = {}


def watch_truth(patch: Any) -> None:
    """Let the mutants get at the truth.

    Args:
        patch: pytest's.
    """
    begin, accept = Play.begin, RemotePlayer.accept

    def begun(self: Play) -> None:
        PLAYS[self.setup.match_id] = self
        begin(self)

    async def accepted(self: RemotePlayer, offer: Any) -> bytes:
        SEATS.setdefault(self.match_id, set()).add(self)
        return await accept(self, offer)

    PLAYS.clear()
    SEATS.clear()
    patch.setattr(Play, "begin", begun)
    patch.setattr(RemotePlayer, "accept", accepted)


def secret_of(match_id: str) -> int:
    """Return a number that follows from what is hidden."""
    play = PLAYS.get(match_id)
    if play is None:
        return 0
    state = play.state
    return sum((place + 1) * card for place, card in enumerate(state.deck))


def _rulings_in_full(patch: Any) -> None:
    def ruling(self: Any, *args: Any) -> Any:
        return Ruled(*args)

    patch.setattr(gate.Gate, "ruling", ruling)


def _size_of_what_was_tried(patch: Any) -> None:
    tell = Play.tell_ruling

    def tell_ruling(
        self: Play, seat: int, fault: Any, consequence: Any, left: int = 0
    ) -> None:
        tell(self, seat, fault, consequence, left + len(fault.offending))

    patch.setattr(Play, "tell_ruling", tell_ruling)


def _explained_from_the_truth(patch: Any) -> None:
    explain = gate.Gate.explain

    def told(self: Any, state: Any, action: Any) -> str:
        return f"{explain(self, state, action)}; the deck is {state.deck}"

    patch.setattr(gate.Gate, "explain", told)


def _remarks_to_all(patch: Any) -> None:
    act = Play.act

    def acted(self: Play, seat: int, *args: Any, **settings: Any) -> Any:
        self.teller.tell(self.ply, Halted(str(settings.get("remarks"))))
        return act(self, seat, *args, **settings)

    patch.setattr(Play, "act", acted)


def _something_when_others_decide(patch: Any) -> None:
    decided = RemotePlayer.decided

    def heard(self: RemotePlayer, decision: Any, *args: Any) -> None:
        for other in SEATS[self.match_id] - {self}:
            if other._session is not None:
                other._session.send(other._unheard.closed[1])
        decided(self, decision, *args)

    patch.setattr(RemotePlayer, "decided", heard)


def _closures_to_all(patch: Any) -> None:
    closed = RemotePlayer.closed

    def told(self: RemotePlayer, closure: Any) -> None:
        closed(self, closure)
        for other in SEATS[self.match_id] - {self}:
            if other._session is not None:
                other._session.send(self._unheard.closed[1])

    patch.setattr(RemotePlayer, "closed", told)


def _gaps(patch: Any) -> None:
    take = teller.Teller._take

    def taken(self: Any, receiver: int) -> Any:
        start = self._read[receiver]
        events = take(self, receiver)
        hidden = self._read[receiver] - start - len(events)
        self._everyone[receiver].number += hidden
        return events

    patch.setattr(teller.Teller, "_take", taken)


def _another_seats_numbers(patch: Any) -> None:
    status = HostedMatch._status

    def told(self: HostedMatch, seat: int | None, head: bytes) -> bytes:
        return status(self, 1 if seat == 0 else 0, head)

    patch.setattr(HostedMatch, "_status", told)


def _truth_in_the_status(patch: Any) -> None:
    entry = HostedMatch._status_entry

    def told(self: HostedMatch, seat: int) -> bytes:
        self._pause_message = f"{secret_of(self.id)}"
        return entry(self, seat)

    patch.setattr(HostedMatch, "_status_entry", told)


def _truth_in_notices(patch: Any) -> None:
    notice = Session._notice

    def told(self: Session, message: Any, error: Any) -> None:
        which = str(message.WhichOneof("message"))
        where = getattr(getattr(message, which, None), "match_id", "")
        text = f"{error.message} ({secret_of(where)})"
        notice(self, message, UnusableMessageError(text, code=error.code))

    patch.setattr(Session, "_notice", told)


def _padded_events(patch: Any) -> None:
    body = Dialect.body

    def padded(self: Dialect, of: Any) -> bytes:
        size = max((secret_of(one) for one in PLAYS), default=0) % 100
        # A field that no receiver knows.
        return body(self, of) + b"\xfa\x01" + varint(size) + bytes(size)

    patch.setattr(Dialect, "body", padded)


def _clocks_that_come_and_go(patch: Any) -> None:
    with_link = RemotePlayer._with_link

    def told(self: RemotePlayer, parts: dict[str, int]) -> dict[str, int]:
        parts = with_link(self, parts)
        if secret_of(self.match_id) % 2:
            del parts["link_left_ms"]
        return parts

    patch.setattr(RemotePlayer, "_with_link", told)


def _more_when_resumed(patch: Any) -> None:
    take_seat = RemotePlayer._take_seat

    def taken(self: RemotePlayer) -> None:
        take_seat(self)
        for _ in range(secret_of(self.match_id) % 7):
            self.send_status()

    patch.setattr(RemotePlayer, "_take_seat", taken)


def _more_when_offered_again(patch: Any) -> None:
    offer = SeatWire.offer

    def offered(self: SeatWire, of: Any, *, resumed: bool) -> bytes:
        if resumed:
            number = secret_of(of.match_id)
            of = attrs.evolve(of, terms=attrs.evolve(of.terms, offer_ms=1 + number))
        return offer(self, of, resumed=resumed)

    patch.setattr(SeatWire, "offer", offered)


def _a_withdrawal_that_says_why(patch: Any) -> None:
    withdraw = Requests.withdraw

    def told(self: Requests, problem: Problem, *args: Any) -> None:
        secret = secret_of(self._play.setup.match_id)
        withdraw(self, Problem(problem.code, f"{problem.message} {secret}"), *args)

    patch.setattr(Requests, "withdraw", told)


def _a_seal_that_is_broken(patch: Any) -> None:
    build = match.Match.__init__

    def built(self: Any, *args: Any, **settings: Any) -> None:
        build(self, *args, **{**settings, "reveal": True})

    patch.setattr(match.Match, "__init__", built)


def _labels_to_bots(patch: Any) -> None:
    def shown(hosted: HostedMatch) -> Any:
        return hosted.to_proto(for_referee=False)

    patch.setattr(matches.MatchServicer, "_shown", staticmethod(shown))


def _records_before_the_end(patch: Any) -> None:
    patch.setattr(matches, "_check_view", lambda *_: None)


def _more_after_a_restart(patch: Any) -> None:
    write = RemotePlayer._write_before

    def written(self: RemotePlayer, wire: SeatWire) -> None:
        if self._unheard.unwritten is not None:
            for _ in range(secret_of(self.match_id) % 7):
                self.send_status()
        write(self, wire)

    patch.setattr(RemotePlayer, "_write_before", written)


def _another_seats_past(patch: Any) -> None:
    take_up, write = RemotePlayer.take_up, RemotePlayer._write_before

    def taken(self: RemotePlayer, offer: Any) -> None:
        SEATS.setdefault(self.match_id, set()).add(self)
        take_up(self, offer)

    def written(self: RemotePlayer, wire: SeatWire) -> None:
        mine = self._unheard.unwritten
        for other in SEATS[self.match_id] - {self}:
            theirs = other._unheard.unwritten
            if theirs and theirs.events and mine:
                mine.events = theirs.events
        write(self, wire)

    patch.setattr(RemotePlayer, "take_up", taken)
    patch.setattr(RemotePlayer, "_write_before", written)


def _truth_in_the_journal(patch: Any) -> None:
    ended = journal._ended

    def told(hosted: HostedMatch) -> None:
        log.info("match over match=%s %d", hosted.id, secret_of(hosted.id))
        ended(hosted)

    patch.setattr(journal, "_ended", told)


def _spectators_in_a_seat(patch: Any) -> None:
    build = gate.Gate.__init__

    def built(self: Any, game: Any, seat: int | None) -> None:
        build(self, game, 0 if seat is None else seat)

    patch.setattr(gate.Gate, "__init__", built)


#: By name: what is changed, the viewer who is told, and where the gate finds it.
SERVERS: Final[dict[str, tuple[Callable[[Any], None], int | None, str]]] = {
    "rulings on others in full": (_rulings_in_full, 0, "event.ruling.error.message"),
    "the size of what others tried": (
        _size_of_what_was_tried,
        0,
        "event.ruling.retries_left",
    ),
    "a journal that knows the truth": (
        _truth_in_the_journal,
        0,
        "fritillary.journal, matches, message",
    ),
    "rulings that spectators are told in full": (
        _rulings_in_full,
        None,
        "event.ruling.error.message",
    ),
    "explanations from the truth": (
        _explained_from_the_truth,
        0,
        "decision_closed.error.message",
    ),
    "notes, probabilities and thinking": (_remarks_to_all, 1, "event.paused.message"),
    "the same for spectators": (_remarks_to_all, None, "event.paused.message"),
    "that others have decided, told twice": (
        _something_when_others_decide,
        0,
        "told again",
    ),
    "how requests of others were closed": (
        _closures_to_all,
        1,
        "decision_closed|another seat",
    ),
    "gaps where something was hidden": (_gaps, 0, "a gap in the numbers"),
    "numbers of another seat": (
        _another_seats_numbers,
        0,
        "closed: match_status|events to come",
    ),
    "a status that knows the truth": (_truth_in_the_status, 1, "match_status.message"),
    "error notices that know the truth": (_truth_in_notices, 0, "error.error.message"),
    "events of another length": (_padded_events, 1, "event.unknown 31"),
    "clocks that come and go": (_clocks_that_come_and_go, 0, "clock"),
    "more messages after a lost link": (_more_when_resumed, 0, "match_status"),
    "offers made again that differ": (
        _more_when_offered_again,
        0,
        "match_offer.terms.offer_ms",
    ),
    "why a request was withdrawn": (
        _a_withdrawal_that_says_why,
        1,
        "decision_closed.error.message",
    ),
    "a sealed deal": (_a_seal_that_is_broken, 1, "the deal is sealed"),
    "labels of the host": (_labels_to_bots, 0, "match.labels.value"),
    "records before the end": (_records_before_the_end, 1, "FetchRecord"),
    "spectators in the place of a seat": (
        _spectators_in_a_seat,
        None,
        "event.action|view.observation",
    ),
}

#: The same where the server is restarted.
RESTARTED: Final[dict[str, tuple[Callable[[Any], None], int | None, str]]] = {
    "more messages after a restart": (_more_after_a_restart, 0, "match_status"),
    "what another seat saw before": (_another_seats_past, 0, "event"),
}
