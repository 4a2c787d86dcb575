"""Servers that leak where a match does not go on as it should, or somebody looks on.

Seats that are forfeited or late, nonces, pauses and restarts, spectators and referees.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import attrs
from attrs import frozen
from tests.service import hush
from tests.service.leakmutants import PLAYS, SEATS, secret_of
from tests.service.leakscripts import LATE, NONCES, SCRIPTS, STAND_INS, STOPS, Script

from fritillary.record.terms import Source
from fritillary.referee import asking, prepare
from fritillary.referee.asking import Asking
from fritillary.referee.play import Play
from fritillary.referee.player import PlayerFault
from fritillary.referee.seen import Acted, Halted, Offer
from fritillary.referee.standin import StandIns
from fritillary.referee.teller import Teller
from fritillary.service import listing, matches
from fritillary.service.auth import caller
from fritillary.service.hub import UnusableMessageError
from fritillary.service.remote import RemotePlayer
from fritillary.service.seatwire import SeatWire
from fritillary.service.tokens import Role
from fritillary.service.watching import Watch

# ------------------------------------------------------------------------- stand-ins


def _lays_by_the_truth(match_id: str, legal: Sequence[Any]) -> Any:
    """Return a card to lay that follows from what is hidden; ``None`` for none.

    Laying has no other consequences than that all see it.
    """
    lays = [action for action in legal if action in hush.LAYS]
    return lays[secret_of(match_id) % len(lays)] if lays else None


def _stand_ins_that_know_the_truth(patch: Any) -> None:
    choose = StandIns.action

    def action(self: StandIns, seat: int, legal: Sequence[Any], *more: Any) -> Any:
        found = _lays_by_the_truth(self._setup.match_id, legal)
        return choose(self, seat, legal, *more) if found is None else found

    patch.setattr(StandIns, "action", action)


def _stand_ins_unmasked(patch: Any) -> None:
    acted = Teller.acted

    def told(self: Teller, ply: int, what: tuple[Any, ...]) -> None:
        bodies = what[0] if len(what) == 1 else []
        for seat, body in enumerate(bodies):
            if (
                type(body) is Acted
                and body.source is Source.STAND_IN
                and body.seat == seat
            ):
                what = ([body] * len(bodies),)
        acted(self, ply, what)

    patch.setattr(Teller, "acted", told)


def _why_a_seat_is_out(patch: Any) -> None:
    follow = Play.follow

    def told(self: Play, seat: int, fault: PlayerFault, consequence: Any) -> None:
        follow(self, seat, fault, consequence)
        self.teller.tell(self.ply, Halted(f"{fault.message} {fault.offending.hex()}"))

    patch.setattr(Play, "follow", told)


# --------------------------------------------------------------------------- too late


def _late_with_the_truth(patch: Any) -> None:
    ran_out = asking._ran_out

    def told(kind: Any) -> PlayerFault:
        secret = max(secret_of(one) for one in PLAYS)
        return PlayerFault(kind, f"{ran_out(kind).message}, {secret}")

    patch.setattr(asking, "_ran_out", told)


def _others_of_what_was_late(patch: Any) -> None:
    decided = RemotePlayer.decided

    def heard(self: RemotePlayer, decision: Any, *args: Any) -> None:
        try:
            decided(self, decision, *args)
        except UnusableMessageError:
            for other in SEATS[self.match_id] - {self}:
                other.send_status()
            raise

    patch.setattr(RemotePlayer, "decided", heard)


def _substitutes_that_know_the_truth(patch: Any) -> None:
    choose = Play.substitute

    def substitute(self: Play, seat: int, legal: Sequence[Any]) -> None:
        found = _lays_by_the_truth(self.setup.match_id, legal)
        choose(self, seat, legal if found is None else (found,))

    patch.setattr(Play, "substitute", substitute)


# ----------------------------------------------------------------------------- nonces

_NONCES: Final[dict[str, int]] = {}


def _hearing_nonces(patch: Any) -> None:
    accepted = RemotePlayer.accepted

    def heard(self: RemotePlayer, nonce: bytes) -> None:
        before = _NONCES.get(self.match_id, 0)
        _NONCES[self.match_id] = before + sum(nonce) * (1 + self.seat)
        accepted(self, nonce)

    _NONCES.clear()
    patch.setattr(RemotePlayer, "accepted", heard)


def _offered_again(patch: Any, change: Callable[[Offer, int], dict[str, Any]]) -> None:
    _hearing_nonces(patch)
    offer = SeatWire.offer

    def offered(self: SeatWire, of: Offer, *, resumed: bool) -> bytes:
        if resumed:
            of = attrs.evolve(of, **change(of, _NONCES[of.match_id]))
        return offer(self, of, resumed=resumed)

    patch.setattr(SeatWire, "offer", offered)


def _seeds_that_follow_from_nonces(patch: Any) -> None:
    _offered_again(patch, lambda of, sum_: {"bot_seed": of.bot_seed ^ sum_})


def _commitments_to_nonces(patch: Any) -> None:
    def change(of: Offer, sum_: int) -> dict[str, Any]:
        return {"commitment": of.commitment[:-2] + (sum_ % 65536).to_bytes(2)}

    _offered_again(patch, change)


def _lengths_of_nonces(patch: Any) -> None:
    accepted = RemotePlayer.accepted

    def told(self: RemotePlayer, nonce: bytes) -> None:
        accepted(self, nonce)
        for other in SEATS[self.match_id] - {self}:
            for _ in range(len(nonce) % 3):
                other.send_status()

    patch.setattr(RemotePlayer, "accepted", told)


def _seeds_in_offers(patch: Any) -> None:
    offer_of = prepare.offer_of

    def offered(setup: Any, header: Any, seat: int) -> Offer:
        return attrs.evolve(offer_of(setup, header, seat), commitment=setup.seed)

    patch.setattr(prepare, "offer_of", offered)


# ------------------------------------------------------------------ pauses and restarts


def _pauses_that_tell_more(patch: Any) -> None:
    stay = Asking.stay_paused

    async def told(self: Asking, decision: Any = None) -> None:
        if decision is None:
            play = self._play
            play.teller.tell(play.ply, Halted(f"{secret_of(play.setup.match_id)}"))
        await stay(self, decision)

    patch.setattr(Asking, "stay_paused", told)


def _the_past_unmasked(patch: Any) -> None:
    act = Play.act

    def acted(
        self: Play, seat: int, action: Any, source: Source, **more: Any
    ) -> tuple[Any, ...]:
        what = act(self, seat, action, source, **more)
        return (seat, action, source) if more.get("again") else what

    patch.setattr(Play, "act", acted)


# ----------------------------------------------------------------------- who looks on


def _records_for_referees(patch: Any) -> None:
    check = matches._check_view

    def checked(hosted: Any, view: int) -> None:
        if caller.get().role is not Role.REFEREE:
            check(hosted, view)

    patch.setattr(matches, "_check_view", checked)


def _lists_that_know_the_truth(patch: Any) -> None:
    following = listing.Listing._next

    async def found(self: Any, most: int) -> Any:
        found, goes_on = await following(self, most)
        more = [one for one in found for _ in range(1 + secret_of(one[1].id) % 5)]
        return more, goes_on

    patch.setattr(listing.Listing, "_next", found)


def _a_seat_for_referees(patch: Any) -> None:
    build, show = Watch.__init__, Watch._view

    def built(self: Any, *args: Any) -> None:
        build(self, *args)
        self.referee = caller.get().role is Role.REFEREE

    def view(self: Any) -> Any:
        seen = show(self)
        match = self._hosted.match
        if self.referee and match is not None and match.state is not None:
            dialect = self._hosted.wire.dialect(self._coder)
            seen = type(seen).FromString(seen.SerializeToString())
            seen.observation = dialect.observation(
                match.teller.gates[0].observation(match.state)
            )
        return seen

    patch.setattr(Watch, "__init__", built)
    patch.setattr(Watch, "_view", view)


@frozen
class Broken:
    """A server that leaks.

    Args:
        change: breaks it; takes pytest's patch.
        viewer: who is told.
        where: the gate finds it.
        scripts: in which it shows.
        seats: how many play.
    """

    change: Callable[[Any], None]
    viewer: int | None
    where: str
    scripts: tuple[Script, ...]
    seats: int = 2


def _of(scripts: Sequence[Script], *numbers: int) -> tuple[Script, ...]:
    return tuple(one for one in scripts if one.number in numbers)


#: By name.
BROKEN: Final[dict[str, Broken]] = {
    "stand-ins that know the truth": Broken(
        _stand_ins_that_know_the_truth, 0, "event.action", _of(STAND_INS, 20, 21), 3
    ),
    "what stand-ins do, as it is": Broken(
        _stand_ins_unmasked, 1, "event.action", _of(STAND_INS, 20, 21, 22), 3
    ),
    "the same for spectators": Broken(
        _stand_ins_unmasked, None, "event.action", _of(STAND_INS, 22, 23, 26), 3
    ),
    "why a seat is forfeited": Broken(
        _why_a_seat_is_out, 2, "event.paused.message", _of(STAND_INS, 20), 3
    ),
    "rulings on late decisions that know the truth": Broken(
        _late_with_the_truth, 0, "error.message", _of(LATE, 32)
    ),
    "that others still decide, though late": Broken(
        _others_of_what_was_late, 0, "match_status", _of(LATE, 31)
    ),
    "substitutes for late decisions by the truth": Broken(
        _substitutes_that_know_the_truth, 1, "event.action", _of(LATE, 31, 32)
    ),
    "seeds of bots that follow from others' nonces": Broken(
        _seeds_that_follow_from_nonces, 0, "match_offer.bot_seed", _of(NONCES, 41)
    ),
    "commitments to others' nonces": Broken(
        _commitments_to_nonces, 1, "match_offer.commitment.hash", _of(NONCES, 41)
    ),
    "how long others' nonces are": Broken(
        _lengths_of_nonces, 0, "match_status", NONCES
    ),
    "the seed in the offer": Broken(
        _seeds_in_offers, 0, "the deal can be opened by", _of(SCRIPTS, 3)
    ),
    "pauses that tell more after a restart": Broken(
        _pauses_that_tell_more, 1, "event.paused.message", _of(STOPS, 13)
    ),
    "what was masked before a crash": Broken(
        _the_past_unmasked, 0, "event.action", _of(STOPS, 14)
    ),
    "records for referees before the end": Broken(
        _records_for_referees, None, "FetchRecord", SCRIPTS[1:2]
    ),
    "lists that know the truth": Broken(
        _lists_that_know_the_truth, None, "ListMatches", SCRIPTS[:2]
    ),
    "the view of a seat for referees": Broken(
        _a_seat_for_referees, None, "watch 1.*view.observation", SCRIPTS[:2]
    ),
}
