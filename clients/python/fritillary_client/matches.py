"""What a referee asks for and what onlookers are told: plain values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from attrs import field, frozen

from fritillary_client.encoding import Data
from fritillary_client.values import Clock, Event, Player, Result


@frozen
class FaultRule:
    """What follows one kind of fault.

    Args:
        fault: ``illegal``, ``malformed``, ``late``, ``stalled``, ``disconnected``,
            ``crashed``, ``flooding``, ``refused-to-start`` or ``referee-error``.
        consequence: ``forfeit``, ``substitute`` or ``void``; empty: the default.
        retries: how often the same decision is asked again before, while the clock
            runs on; only after ``illegal`` and ``malformed``.
    """

    fault: str
    consequence: str = ""
    retries: int = 0


@frozen(kw_only=True)
class Terms:
    """The terms of a match that are the same for all seats.

    In a request, what is ``None`` or empty has the default of the server; in an
    answer all is filled in.

    Args:
        policy: what follows each fault, at most one rule for each.
        stand_in: the bot that plays on for a forfeited seat of more than two.
        link_loss_ms: how long one lost link is waited for at most.
        link_total_ms: the same for all losses of a seat together.
        restarts: how often a program that the server runs is started again.
        margin_ms: added to every deadline to absorb the link; never charged.
        ceiling_ms: for the whole match, pauses not counted.
        offer_ms: to answer an offer.
        ready_ms: to get ready, where the clock of the seat does not say.
    """

    policy: Sequence[FaultRule] = ()
    stand_in: str = ""
    link_loss_ms: int | None = None
    link_total_ms: int | None = None
    restarts: int | None = None
    margin_ms: int | None = None
    ceiling_ms: int | None = None
    offer_ms: int | None = None
    ready_ms: int | None = None


@frozen(kw_only=True)
class Reveal:
    """What opens the commitment to a deal.

    Args:
        seed: that was committed to, 32 bytes.
        salt: of the commitment, 32 bytes.
        nonces: by seat; empty where none were wanted.
    """

    seed: bytes
    salt: bytes
    nonces: tuple[bytes, ...] = ()


@frozen(kw_only=True)
class MatchResult(Result):
    """How a match ended and what it led to.

    Args:
        final_hash: closes the record; empty while that is open.
        reveal: of the deal; ``None`` while it is held back.
    """

    final_hash: bytes = b""
    reveal: Reveal | None = None


@frozen(kw_only=True)
class SeatProblem:
    """Something that went wrong with a bot.

    Args:
        seat: whose.
        message: how the program ended that the server had started, with its last
            words; why the bot left; why it did not get the seat that is kept for
            another build. For the referee alone, since it may hold secrets.
    """

    seat: int
    message: str


@frozen(kw_only=True)
class Match:
    """A match as it stood when the server answered.

    Args:
        match_id: of the match.
        game: id of the game, without variants.
        full_id: of the game with its variants, such as ``lepidoptery+no-pass``.
        rules_version: of the game.
        variants: id and version of each.
        options: of the game, complete.
        seats: who sits where, with which clock.
        players: by seat, as they were named; empty for callers other than referees.
        terms: the same for all.
        phase: ``offered``, ``preparing``, ``running``, ``waiting``, ``paused``,
            ``closing``, ``ended`` or ``stranded``: it could not be taken up after a
            restart of the server.
        ply: plies played so far.
        algorithm: of the deal.
        commitment: the hash that binds the deal.
        seed_given: whether the deal was known beforehand; ``None`` of a match that had
            ended before the server was started, since no record tells it.
        labels: as given by whoever made the match.
        created_at_ms: since 1970-01-01 UTC.
        started_at_ms: the same; ``None``: not yet, or never.
        ended_at_ms: the same; ``None``: not yet.
        result: ``None``: not yet.
        problems: what went wrong with bots, in order; empty for callers other than
            referees.
        stranded_reason: why a match in ``stranded`` could not be taken up; of one that
            was aborted also why no record tells of its end.
    """

    match_id: str
    game: str
    full_id: str
    rules_version: int
    variants: tuple[tuple[str, int], ...] = ()
    options: Data
    seats: tuple[Player, ...]
    players: tuple[str, ...] = ()
    terms: Terms = field(factory=Terms)
    phase: str
    ply: int = 0
    algorithm: str = ""
    commitment: bytes = b""
    seed_given: bool | None = False
    labels: dict[str, str] = field(factory=dict)
    created_at_ms: int = 0
    started_at_ms: int | None = None
    ended_at_ms: int | None = None
    result: MatchResult | None = None
    problems: tuple[SeatProblem, ...] = ()
    stranded_reason: str = ""


@frozen(kw_only=True)
class MatchView:
    """What a spectator sees at one moment.

    Args:
        event_number: of the last event that it includes; 0: none yet.
        ply: plies played so far.
        seats_to_act: that have to decide; empty: none, or it is secret.
        observation: all that everybody may know; ``None`` before the start.
        picture: the one that was asked for; else empty.
    """

    event_number: int = 0
    ply: int = 0
    seats_to_act: tuple[int, ...] = ()
    observation: Data = None
    picture: str = ""


@frozen(kw_only=True)
class MatchStatus:
    """Where a match is.

    Args:
        phase: as in `Match`.
        waiting_for: seats that have not answered, are not ready, or are away.
        waiting_left_ms: how long they are waited for; ``None``: nobody is.
        event_number: of the last event.
        clocks: by seat, at this moment.
        message: why it is paused; else empty.
    """

    phase: str
    waiting_for: tuple[int, ...] = ()
    waiting_left_ms: int | None = None
    event_number: int = 0
    clocks: tuple[Clock, ...] = ()
    message: str = ""


#: One thing that somebody who watches is told; a `MatchResult` is the last.
Update: TypeAlias = MatchView | Event | MatchStatus | MatchResult
