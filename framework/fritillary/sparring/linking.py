"""Items about the link: lost, silent, closed; and about the end of the program."""

from __future__ import annotations

import asyncio
from typing import Final

from fritillary.sparring.bout import Bout, choice
from fritillary.sparring.relay import Stream
from fritillary.sparring.ring import Ring
from fritillary.sparring.tape import DOWN, UP, Entry
from fritillary.sparring.verdicts import FailedError, NotCheckedError

#: In seconds of patience: a bot that keeps to figures of its own notices silence after
#: 20 s and as much again; the usual patience is 10 s.
_SILENCE: Final = 5

#: Share of the patience that the bot is told as figures of the keepalive; they are no
#: longer than that many milliseconds.
_TOLD: Final = 0.1
_TOLD_MS: Final = 1_000

#: In milliseconds: when the server asks the bot to come back.
_AFTER_MS: Final = 500

_PLAYS: Final = "the bot plays a match"

#: A clock that is read twice may tell so much less, in seconds.
_CLOCK_S: Final = 0.02


async def _back(ring: Ring, since: int, expected: str, within: float = 0) -> Stream:
    """Wait for the bot to open another session."""
    found = await ring.need(
        lambda entry: entry.kind == "welcome",
        expected,
        since=since,
        within=within or 2 * ring.patience_s,
    )
    return ring.relay.streams[found.link - 1]


# --------------------------------------------------------------------------- resume


async def resume(ring: Ring) -> str:
    """Lose the link before an answer has arrived, then before what follows it."""
    bout = await ring.begin()
    held = await _lost_answer(ring, bout)
    given, decision_id = choice(held), held.body.decision_id
    since = len(ring.tape)
    ring.front.cut()
    stream = await _back(ring, since, "the bot dials in again when the link is lost")
    if stream.welcome is None or not stream.welcome.resumed:
        raise FailedError(
            "the bot resumes with the session token of its Welcome",
            "it began a new session",
        )
    again = await ring.need(
        lambda entry: bout.answers(entry, decision_id - 1),
        "the bot sends the answer again that was lost",
        since=since,
    )
    if (again.body.decision_id, choice(again)) != (decision_id, given):
        raise FailedError(
            "the bot sends the answer again that was lost, and no other",
            f"{_told(held)}, then {_told(again)}",
        )
    with ring.relay.gate(
        DOWN, lambda entry: bout.about(entry) and not bout.ended(entry)
    ) as gate:
        await ring.need(
            lambda entry: bout.closes(entry, decision_id) or bout.ended(entry),
            "the server takes the answer",
            since=since,
        )
        gate.lose()
        since = len(ring.tape)
        ring.front.cut()
        gate.release()
        await _back(ring, since, "the bot dials in again when the link is lost")
    await ring.answer(bout, decision_id, "the bot plays on after it has come back")
    return "it resumed twice, and sent the answer again that was lost"


async def _lost_answer(ring: Ring, bout: Bout) -> Entry:
    """Wait for a decision among several actions, and lose it."""
    choices: dict[int, int] = {}
    lost = 0

    def fits(entry: Entry) -> bool:
        nonlocal lost
        if not bout.answers(entry):
            return False
        decision_id = entry.body.decision_id
        if not lost and choices.get(decision_id, 0) > 1:
            lost = decision_id
        # Should it be sent twice, it is lost twice.
        return bool(decision_id == lost)

    def asked(entry: Entry) -> bool:
        if bout.asks(entry):
            choices[entry.body.decision_id] = len(entry.body.legal)
        return False

    with ring.relay.gate(DOWN, asked), ring.relay.gate(UP, fits) as gate:
        await ring.need(
            lambda entry: gate.kept or bout.ended(entry),
            "the bot decides among several",
            since=bout.since,
            within=3 * ring.patience_s,
        )
        if not gate.kept:
            raise NotCheckedError("the match was over before it came to that")
        held = gate.kept[0][1]
        gate.lose()
        return held


def _told(answer: Entry) -> str:
    how, what = choice(answer)
    return f"request {answer.body.decision_id} was answered with {how} {what!r}"


# --------------------------------------------------------------------------- silence


async def silence(ring: Ring) -> str:
    """Let nothing pass any more, though the connection stays open."""
    # Until it has answered something, the bot may not have heard Welcome.
    await ring.plays_on(_PLAYS)
    told_ms = min(_TOLD_MS, round(ring.patience_s * 1000 * _TOLD))
    ring.relay.keepalive_ms = told_ms, told_ms
    try:
        since = len(ring.tape)
        ring.front.cut()
        await _back(ring, since, "the bot dials in again when the link is lost")
    finally:
        ring.relay.keepalive_ms = None
    await ring.plays_on(_PLAYS)
    since = len(ring.tape)
    ring.tape.note("the link carries nothing any more, but stays open")
    ring.front.fall_silent()
    expected = "the bot notices that the server is silent, and dials in again"
    began = asyncio.get_running_loop().time()
    await _back(ring, since, expected, _SILENCE * ring.patience_s)
    waited = asyncio.get_running_loop().time() - began
    await ring.plays_on("the bot plays on after it has come back")
    return f"it came back after {waited:.1f} s of silence"


# --------------------------------------------------------------------------- goodbye


async def goodbye(ring: Ring) -> str:
    """Close the stream with the wish that the bot comes back."""
    since = len(ring.tape)
    _close(ring, "server.stopping", "the server starts anew", _AFTER_MS)
    stream = await _back(ring, since, "the bot comes back when the server asks it to")
    went = ring.tape.find(lambda entry: entry.kind == "goodbye", since)
    came = ring.tape.find(lambda entry: entry.link == stream.number, since)
    waited = came.at_s - went.at_s if went is not None and came is not None else 0.0
    if waited < _AFTER_MS / 1000 - _CLOCK_S:
        raise FailedError(
            f"the bot comes back when {_AFTER_MS} ms are over, as it was told",
            f"it came back after {waited * 1000:.0f} ms",
        )
    await ring.plays_on("the bot plays on after it has come back")
    return f"it came back after {waited:.1f} s"


def _close(ring: Ring, code: str, message: str, after_ms: int | None) -> None:
    session = ring.session
    if session is None:
        raise FailedError("the bot stays connected", "it is not connected")
    session.close(code, message, reconnect_after_ms=after_ms)


async def farewell(ring: Ring) -> str:
    """Close the stream for good."""
    ring.must_start()
    since = len(ring.tape)
    _close(ring, "bot.gone", "there are no more matches for this bot", None)
    expected = "the program ends with exit code 0 when the server says goodbye for good"
    program = ring.program

    def done(entry: Entry) -> bool:
        return entry.kind == "hello" or (program is not None and program.ended.done())

    await ring.need(done, expected, since=since, alive=False)
    if program is None or not program.ended.done():
        raise FailedError(expected, "it dialled in again")
    if program.ended.result() != 0:
        raise FailedError(expected, program.how())
    return "the program ended with exit code 0"


async def term(ring: Ring) -> str:
    """Send the program SIGTERM."""
    ring.must_start()
    since = len(ring.tape)
    program = ring.program
    expected = "the program ends when it gets SIGTERM"
    if program is None:  # pragma: no cover - it was started
        raise FailedError(expected, "there is no program")
    ring.tape.note("SIGTERM is sent")
    program.ask_to_end()
    await ring.need(lambda _: program.ended.done(), expected, since=since, alive=False)
    return program.how()
