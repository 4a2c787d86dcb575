"""Items about what a referee does to a bot: how does it bear that."""

from __future__ import annotations

from functools import partial
from typing import Final

from fritillary.api.v1 import bot_pb2 as pb
from fritillary.record.terms import EndKind
from fritillary.sparring import madeup
from fritillary.sparring.bout import Bout, choice
from fritillary.sparring.playing import announced, known, move_ms, said
from fritillary.sparring.ring import MOST_MATCHES, Ring
from fritillary.sparring.tape import DOWN, UP, Entry
from fritillary.sparring.verdicts import FailedError, NotCheckedError

_GOES_ON: Final = "the bot goes on and plays another match"

#: Answers that each of many matches must get.
_ANSWERS_EACH: Final = 3

#: Longest time to a Pong while the bot thinks: seconds, and share of the patience.
_PONG_S: Final = 2.0
_PONG_SHARE: Final = 0.2

#: So many Pongs must all wait for an answer: a busy machine may delay one or two.
_PINGS: Final = 3

_OVER: Final = "the match was over before it came to that"


async def first_answer(ring: Ring, bout: Bout, *, strict: bool = True) -> Entry:
    """Wait for a decision that the match cannot do without.

    Raises:
        FailedError: if there is none.
        NotCheckedError: if the match is played to its end without it.
    """
    expected = "the bot decides"
    found = await ring.answer(bout, 0, expected, strict=strict)
    if found is None:
        raise NotCheckedError(_OVER)
    return found


# --------------------------------------------------------------------------- ping


async def ping(ring: Ring) -> str:
    """Ask for a Pong while the bot has nothing to do, and as soon as it is asked."""
    await _ping(ring, 1_000_001, "while it plays no match")
    within_s = min(_PONG_S, _PONG_SHARE * ring.patience_s)
    bout = await ring.begin()
    after, waited_s = 0, 0.0

    def next_one(entry: Entry) -> bool:
        return bout.asks(entry, after) or bout.ended(entry)

    for number in range(1, _PINGS + 1):
        asked = await ring.need(
            next_one,
            "the bot accepts a match, and plays on",
            since=bout.since,
            within=4 * ring.patience_s,
        )
        if bout.ended(asked):
            raise NotCheckedError(_OVER)
        after = asked.body.decision_id
        pong, waited_s = await _ping(ring, 1_000_001 + number, "while it is asked")
        answer = ring.tape.find(partial(bout.answers, after=after - 1), bout.since)
        if answer is None or answer.at_s > pong.at_s:
            return f"a Pong for each Ping, after {waited_s:.1f} s while it was thinking"
        if waited_s <= within_s:
            return (
                f"a Pong for each Ping; it decided within {within_s:g} s, so whether "
                "a Pong waits for longer thoughts cannot be said"
            )
    raise FailedError(
        f"the bot answers a Ping within {within_s:g} s, also while it thinks",
        f"the Pong came only after the answer, {waited_s:.1f} s after the Ping",
    )


async def _ping(ring: Ring, number: int, when: str) -> tuple[Entry, float]:
    """Tell the bot a Ping; return its Pong, and the seconds until it came."""
    since = len(ring.tape)
    ring.relay.tell(ping=pb.Ping(id=number))
    began_s = ring.tape.entries[since].at_s
    pong = await ring.need(
        lambda entry: (
            entry.sender == UP and entry.kind == "pong" and entry.body.id == number
        ),
        f"the bot answers a Ping {when} with a Pong of the same id",
        since=since,
    )
    return pong, pong.at_s - began_s


# --------------------------------------------------------------------------- late


async def late(ring: Ring) -> str:
    """Let decisions come too late, by holding back the answer, then the request."""
    short_ms = await move_ms(ring)
    bout = await ring.begin(move_ms=short_ms)
    with ring.relay.gate(UP, bout.answers, most=1) as gate:
        held = await first_answer(ring, bout, strict=False)
        await _closed(ring, bout, held.body.decision_id)
        gate.release()
        expected = "the bot answers the next request after one that was closed"
        # On a busy machine so short a time may be over again and again.
        await ring.answer(bout, held.body.decision_id, expected, strict=False)
    bout = await ring.begin(move_ms=short_ms)
    asked = await _asked_and_closed(ring, bout)
    if asked:
        await _answers_once(ring, bout, asked)
    return f"two decisions were closed as late after {short_ms} ms; it went on"


async def _closed(ring: Ring, bout: Bout, decision_id: int) -> None:
    await ring.need(
        lambda entry: bout.closes(entry, decision_id),
        "the server closes the decision",
        since=bout.since,
        within=4 * ring.patience_s,
        alive=False,
    )


async def _asked_and_closed(ring: Ring, bout: Bout) -> int:
    """Tell the bot of a request, of its closing and of the next request at once.

    So it is at the first when that is closed, however quick it is.

    Returns:
        The second request; 0 if the match was over before.
    """
    with ring.relay.gate(DOWN, lambda e: bout.about(e) and _in_play(e)) as gate:
        first = await ring.need(
            bout.asks, "the server asks", since=bout.since, within=4 * ring.patience_s
        )
        after = first.body.decision_id
        second = await ring.need(
            lambda entry: bout.asks(entry, after) or bout.ended(entry),
            "the server asks again",
            since=bout.since,
            within=4 * ring.patience_s,
        )
        gate.release()
    return 0 if bout.ended(second) else second.body.decision_id


def _in_play(entry: Entry) -> bool:
    return entry.kind in {
        "decision_request",
        "decision_closed",
        "event",
        "match_status",
        "match_ended",
    }


async def _answers_once(ring: Ring, bout: Bout, asked: int) -> None:
    """See that a request gets one answer, and that its own.

    Raises:
        FailedError: if not.
    """
    expected = "the bot answers the open request once, and not with what came too late"
    if await ring.answer(bout, asked - 1, expected, strict=False) is None:
        return
    # What it sends for the request is there once it has answered another one.
    await ring.answer(bout, asked, _GOES_ON, strict=False)
    choices = {
        choice(entry)
        for entry in ring.tape.all(bout.answers, bout.since)
        if entry.body.decision_id == asked
    }
    if len(choices) > 1:
        seen = f"request {asked} was answered in {len(choices)} different ways"
        raise FailedError(expected, seen)


# --------------------------------------------------------------------------- errors


async def errors(ring: Ring) -> str:
    """Let the server complain of an illegal, a stale and a misplaced decision."""
    bout = await ring.begin(attempts=2)
    with ring.relay.gate(UP, bout.answers, most=1) as gate:
        first = await first_answer(ring, bout)
        gate.lose()
        old = pb.Decision(
            match_id=bout.id,
            seat=bout.seat,
            decision_id=first.body.decision_id,
            index=_illegal(ring, first),
        )
        ring.relay.say(decision=old)
        expected = "the bot answers the request that asks again after an illegal action"
        second = await ring.answer(bout, first.body.decision_id, expected)
    if second is None:
        raise NotCheckedError(_OVER)
    after = second.body.decision_id
    with ring.relay.gate(UP, lambda entry: bout.answers(entry, after)):
        third = await ring.answer(bout, after, "the bot plays on after the ruling")
        for code, wrong in (
            ("decision.stale", old),
            ("match.unknown", pb.Decision(match_id="check-none", seat=0)),
        ):
            ring.relay.say(decision=wrong)
            await _complains(ring, code, bout.since)
        last = after if third is None else third.body.decision_id
    await ring.answer(bout, last, "the bot plays on after errors")
    await ring.plays_on(_GOES_ON)
    return "it was told of an illegal action, a stale decision and an unknown match"


def _illegal(ring: Ring, answer: Entry) -> int:
    """Return an index that is not legal."""
    request = ring.tape.find(
        lambda entry: (
            entry.kind == "decision_request"
            and entry.body.match_id == answer.body.match_id
            and entry.body.decision_id == answer.body.decision_id
        )
    )
    legal: set[int] = set() if request is None else set(request.body.legal)
    return next(index for index in range(len(legal) + 1) if index not in legal)


async def _complains(ring: Ring, code: str, since: int) -> None:
    await ring.need(
        lambda entry: entry.kind == "error" and entry.body.error.code == code,
        "the server complains",
        since=since,
        alive=False,
    )


# ----------------------------------------------------------------- by the referee


async def pause(ring: Ring) -> str:
    """Pause a match while the bot is asked, and let it go on."""
    bout = await ring.begin(attempts=2)
    with ring.relay.gate(UP, bout.answers, most=1) as gate:
        held = await first_answer(ring, bout)
        bout.hosted.pause("a pause")
        await ring.need(
            lambda entry: (
                entry.kind == "event"
                and bout.about(entry)
                and entry.body.WhichOneof("body") == "paused"
            ),
            "the server pauses the match",
            since=bout.since,
            alive=False,
        )
        gate.release()
        bout.hosted.resume()
        after = held.body.decision_id
        expected = "the bot answers the request that follows the pause"
        await ring.answer(bout, after, expected)
    return "it went on after the pause"


async def abort(ring: Ring) -> str:
    """Call a match off while the bot is asked."""
    bout = await ring.begin()
    with ring.relay.gate(UP, bout.answers):
        await first_answer(ring, bout)
        bout.hosted.abort(EndKind.WITHDRAWN, "match.aborted", "called off")
        await ring.need(
            bout.acknowledges,
            "the bot acknowledges the end of a match that was called off",
            since=bout.since,
        )
    await ring.plays_on(_GOES_ON)
    return "it acknowledged the end and went on"


# --------------------------------------------------------------------------- offers


async def foreign(ring: Ring) -> str:
    """Offer a game that the bot did not announce."""
    plays = announced(said(ring))
    bout = await ring.begin(madeup.ID)
    expected = "the bot declines a game that it did not announce"
    found = await ring.need(
        lambda entry: entry.sender == UP and _replies(entry, bout),
        expected,
        since=bout.since,
    )
    if found.kind == "accept" and plays is not None:
        raise FailedError(expected, f"it accepted {madeup.ID}")
    await ring.plays_on(_GOES_ON)
    if found.kind == "accept":
        return "it announces any game, and accepted one that was made up"
    code = found.body.code
    return f"it declined ({code})" if code else "it declined, without a code"


def _replies(entry: Entry, bout: Bout) -> bool:
    return entry.kind in {"accept", "decline"} and bout.about(entry)


async def capacity(ring: Ring) -> str:
    """Offer as many matches as the bot takes, and one more."""
    hello = said(ring)
    wanted = hello.capacity if hello.HasField("capacity") else 1
    count = min(max(wanted, 1), MOST_MATCHES)
    # A bot that plays one match badly is not blamed for it here.
    done = known(ring)
    sound = done is None or not done.illegal
    bouts = [await ring.begin(beside=number > 0) for number in range(count)]
    with ring.relay.gate(UP, lambda e: any(bout.answers(e) for bout in bouts)):
        for number, bout in enumerate(bouts, 1):
            expected = f"the bot plays match {number} of {count} at the same time"
            await ring.answer(bout, 0, expected)
        extra = await ring.begin(beside=True)
        reply = await ring.need(
            lambda entry: entry.sender == UP and _replies(entry, extra),
            "the bot declines or accepts one match more than it takes",
            since=extra.since,
        )
    if reply.kind == "accept":
        bouts.append(extra)
    for bout in bouts:
        after = 0
        for _ in range(_ANSWERS_EACH):
            found = await ring.answer(
                bout, after, "the bot plays on in each of its matches"
            )
            if found is None:
                break
            after = found.body.decision_id
        faults = bout.faults(ring.tape) if sound else []
        if faults:
            seen = faults[0].body.ruling.error.message
            raise FailedError("the bot plays many matches by the rules", seen)
    verb = "accepted" if reply.kind == "accept" else "declined"
    many = f"{count} matches" if count > 1 else "one match"
    return f"it played {many} at a time, and {verb} one more"
