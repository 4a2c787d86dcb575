"""Items about whole matches: are they played, by the rules, and alike."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from attrs import Factory, define

from fritillary.api.v1 import bot_pb2 as pb
from fritillary.api.v1 import common_pb2
from fritillary.record.terms import Consequence
from fritillary.sparring.bout import Bout, choice
from fritillary.sparring.ring import Ring
from fritillary.sparring.tape import DOWN, UP, Entry
from fritillary.sparring.verdicts import FailedError, NotCheckedError

#: Of the deal that is played again and again.
_SEED: Final = 7

#: Where matches are kept for other items.
_PLAYED: Final = "played"
_SAME: Final = "same"
_THINKS: Final = "thinks"

_LIMIT: Final = "limit."

#: A bot that sends more messages for each that it gets, beyond those that are free, was
#: not asked for them. An answer takes one; a keepalive of its own a few a minute.
_MOST_EACH: Final = 5
_FREE: Final = 100

#: What the server only sends because the bot has sent something.
_ECHOES: Final = frozenset({"pong", "error"})

#: Least time for decisions of which some are to come too late.
_SHORTEST_MS: Final = 300

#: So many decisions tell how long a bot thinks that has played no plain matches.
_SAMPLE: Final = 3

#: Such a time is so many times the longest of the plain matches.
_EASILY: Final = 4


@define
class Played:
    """The plain matches.

    Args:
        begin: position of the tape before them.
        end: position of the tape behind them.
        count: of those played to their end.
        wrong: what went wrong in them, a sentence each; empty: nothing.
        illegal: whether an action was illegal or no action at all.
        decisions: of the bot.
        longest_ms: time of the longest of them.
        first: what was decided in the first match, if it was played to its end, and
            by a bot that had played nothing before.
    """

    begin: int
    end: int = 0
    count: int = 0
    wrong: list[str] = Factory(list)
    illegal: bool = False
    decisions: int = 0
    longest_ms: int = 0
    first: list[Any] | None = None


# --------------------------------------------------------------------------- hello


async def hello(ring: Ring) -> str:
    """Meet the bot: what does it say of itself."""
    stream = await ring.start()
    said = stream.hello
    if said is None:  # pragma: no cover - there is no Welcome without it
        raise FailedError("Hello comes first", "there was none")
    plays = announced(said)
    wanted = ring.wanted
    ring.games = list(wanted) or [
        one for one in ring.installed if plays is None or one in plays
    ]
    expected = "Hello names the bot, its build, and games that are installed"
    lacks = [
        what
        for what, there in (("name", said.bot.name), ("build", said.bot.build))
        if not there
    ]
    if lacks:
        raise FailedError(expected, f"Hello has no {' and no '.join(lacks)}")
    if not ring.games:
        what = ", ".join(sorted(plays or ()))
        raise FailedError(expected, f"none of these is installed: {what}")
    if plays is not None:
        missing = [one for one in wanted if one.partition("+")[0] not in plays]
        if missing:
            raise FailedError(
                f"{' and '.join(wanted)} announced",
                f"not announced: {', '.join(missing)}",
            )
    if stream.welcome is not None and not stream.welcome.capacity:
        await ring.need(
            lambda entry: entry.kind == "capacity" and entry.body.matches,
            "the bot takes at least one match at a time",
            since=0,
        )
    games = "any game" if plays is None else ", ".join(sorted(plays))
    version = f" {said.bot.version}" if said.bot.version else ""
    capacity = said.capacity if said.HasField("capacity") else 1
    return f"{said.bot.name}{version}; plays {games}; takes {capacity} at a time"


def announced(said: pb.Hello) -> set[str] | None:
    """Return the ids of the games that a bot announces; ``None``: any."""
    return {one.game.rpartition(":")[2] for one in said.games} or None


def said(ring: Ring) -> pb.Hello:
    """Return the last Hello of the bot."""
    found = [stream.hello for stream in ring.relay.streams if stream.hello is not None]
    return found[-1] if found else pb.Hello()


# --------------------------------------------------------------------------- matches


def known(ring: Ring) -> Played | None:
    """Return the plain matches if they were played."""
    done: Played | None = ring.kept.get(_PLAYED)
    return done


async def played(ring: Ring) -> Played:
    """Play every game from every seat, once for all items."""
    done = known(ring)
    if done is not None:
        return done
    done = ring.kept[_PLAYED] = Played(len(ring.tape))
    fresh = ring.fresh
    for game in ring.games:
        for seat in range(ring.seats(game)):
            what = f"{game}, seat {seat}"
            ring.remark(f"a match of {what}")
            bout = await ring.begin(game, seat, seed=_SEED, late=Consequence.FORFEIT)
            try:
                await _play_out(ring, bout)
            except FailedError as failure:
                done.wrong.append(f"{what}: {failure.seen}")
                # Late, gone or flooding: the next would go on like that.
                ring.spoiled = True
            else:
                done.count += 1
                if fresh and done.count == 1:
                    done.first = bout.line(ring.tape)
            _judge(ring, bout, what, done)
            if ring.spoiled:
                done.end = len(ring.tape)
                return done
    done.end = len(ring.tape)
    return done


def _judge(ring: Ring, bout: Bout, what: str, done: Played) -> None:
    faults = bout.faults(ring.tape)
    if faults:
        ruling = faults[0].body.ruling
        name = common_pb2.Fault.Name(ruling.fault).removeprefix("FAULT_").lower()
        count = f"{len(faults)} faults, first " if len(faults) > 1 else ""
        done.wrong.append(f"{what}: {count}{name}: {ruling.error.message}")
        done.illegal |= any(
            fault.body.ruling.fault
            in {common_pb2.FAULT_ILLEGAL, common_pb2.FAULT_MALFORMED}
            for fault in faults
        )
    for entry in ring.tape.all(
        lambda entry: entry.kind == "decision_closed" and bout.about(entry), bout.since
    ):
        done.decisions += 1
        done.longest_ms = max(done.longest_ms, entry.body.time.server_ms)


async def _play_out(ring: Ring, bout: Bout) -> None:
    """Wait for the end of a match, and for the bot to have heard of it.

    Raises:
        FailedError: if it is not played to its end.
    """
    expected = "the match is played to its end"
    after = 0
    while (entry := await ring.answer(bout, after, expected)) is not None:
        after = entry.body.decision_id
    await ring.need(
        bout.acknowledges,
        "the bot acknowledges the end",
        since=bout.since,
    )


async def match(ring: Ring) -> str:
    """Tell how the plain matches went."""
    done = await played(ring)
    if done.wrong:
        raise FailedError(
            "every match is played to its end, by the rules and in time",
            "; ".join(done.wrong),
        )
    return (
        f"{done.count} matches of {', '.join(ring.games)} with {done.decisions} "
        f"decisions, the longest of {done.longest_ms} ms"
    )


async def clean(ring: Ring) -> str:
    """Tell whether the bot sent anything in the plain matches that is of no use."""
    done = await played(ring)
    if not done.decisions:
        raise NotCheckedError("no decision was made in any match")

    entries = ring.tape.entries[done.begin : done.end]
    found = _useless(entries)
    if found:
        first = found[0].body
        why = first if found[0].kind == "goodbye" else first.error
        more = f", and {len(found) - 1} more" if len(found) > 1 else ""
        raise FailedError(
            "the bot sends nothing that the server cannot use",
            f"{why.code}: {why.message}{more}",
        )
    sent = sum(entry.sender == UP for entry in entries)
    got = sum(entry.sender == DOWN and entry.kind not in _ECHOES for entry in entries)
    if sent > _FREE + _MOST_EACH * got:
        raise FailedError(
            "the bot sends what it is asked for, and little more",
            f"it floods: {sent} messages from it, {got} to it",
        )
    again = _sent_again(entries)
    if again:
        return (
            f"{sent} messages; {again} of them repeat an answer on the same link, "
            "which is harmless and of no use: answer a request once"
        )
    return f"{sent} messages, all of use"


def _sent_again(entries: list[Entry]) -> int:
    """Count answers to requests that had an answer on the same link."""
    keys = [
        (entry.link, entry.body.match_id, entry.body.decision_id)
        for entry in entries
        if entry.sender == UP and entry.kind == "decision"
    ]
    return len(keys) - len(set(keys))


def _useless(entries: list[Entry]) -> list[Entry]:
    """Return what the server complained of."""
    sent: dict[tuple[str, int], list[Any]] = {}
    found = []
    for entry in entries:
        if entry.sender == UP and entry.kind == "decision":
            key = entry.body.match_id, entry.body.decision_id
            sent.setdefault(key, []).append(choice(entry))
        elif entry.kind == "goodbye" and entry.sender == DOWN:
            if entry.body.code.startswith(_LIMIT):
                found.append(entry)
        elif entry.kind == "error":
            same = sent.get((entry.body.match_id, entry.body.decision_id), [])
            # To repeat a decision is harmless, even after the end of the match.
            if len(same) < 2 or len(set(same)) > 1:
                found.append(entry)
    return found


# --------------------------------------------------------------------------- alike


async def _line(ring: Ring) -> list[Any]:
    """Play the deal that is played again and again; return what the bot decides."""
    bout = await ring.begin(seed=_SEED, late=Consequence.FORFEIT)
    try:
        await _play_out(ring, bout)
    except FailedError as failure:
        why = f"the match was not played to its end: {failure.seen}"
        raise NotCheckedError(why) from failure
    return bout.line(ring.tape)


def _compare(one: list[Any], other: list[Any], expected: str) -> None:
    """Compare what was decided in two matches.

    Raises:
        FailedError: naming the first difference.
    """
    for number, (first, second) in enumerate(zip(one, other, strict=False), 1):
        if first != second:
            seen = f"decision {number} was {_told(first)}, then {_told(second)}"
            raise FailedError(expected, seen)
    if len(one) != len(other):  # pragma: no cover - it is the same match until there
        seen = f"{len(one)} decisions, then {len(other)}"
        raise FailedError(expected, seen)


def _told(one: tuple[str, Any]) -> str:
    how, what = one
    return how if what is None else f"{how} {what!r}"


async def seed(ring: Ring) -> str:
    """Start the bot twice, and let it play the same match."""
    ring.must_start()
    done = known(ring)
    first = None if done is None else done.first
    if first is None:
        await ring.restart()
        first = await _line(ring)
    await ring.restart()
    second = await _line(ring)
    _compare(first, second, "equal matches are played alike by each start of the bot")
    ring.kept[_SAME] = ring.restarts, second
    return f"{len(second)} decisions, all the same"


async def memory(ring: Ring) -> str:
    """Let the bot play the same match again without starting it anew."""
    restarts, first = ring.kept.get(_SAME, (-1, []))
    if restarts != ring.restarts:
        first = await _line(ring)
    second = await _line(ring)
    expected = "an equal match is played alike, whatever was played before"
    try:
        _compare(first, second, expected)
    except FailedError:
        if ring.starts and not await _repeats(ring):
            why = "the bot plays differently each time it is started"
            raise NotCheckedError(why) from None
        raise
    return f"{len(second)} decisions, all the same"


async def _repeats(ring: Ring) -> bool:
    """Say whether the bot plays alike at all."""
    await ring.restart()
    first = await _line(ring)
    await ring.restart()
    return first == await _line(ring)


async def move_ms(ring: Ring) -> int:
    """Return a time per decision that the bot keeps easily, but for busy machines.

    Raises:
        FailedError: if it is not known how long the bot thinks, and it does not decide.
    """
    done = known(ring)
    longest_ms = await _thinks_ms(ring) if done is None else done.longest_ms
    most = round(ring.patience_s * 1000)
    return min(most, max(_SHORTEST_MS, _EASILY * longest_ms))


async def _thinks_ms(ring: Ring) -> int:
    """Return how long the bot thinks, by a few decisions, once for all items."""
    if _THINKS not in ring.kept:
        bout = await ring.begin()
        longest_s = 0.0
        after = 0
        for _ in range(_SAMPLE):
            found = await ring.answer(bout, after, "the bot decides")
            if found is None:
                break
            after = found.body.decision_id
            asked = ring.tape.find(partial(bout.asks, after=after - 1), bout.since)
            if asked is not None:
                longest_s = max(longest_s, found.at_s - asked.at_s)
        ring.kept[_THINKS] = round(longest_s * 1000)
    thinks_ms: int = ring.kept[_THINKS]
    return thinks_ms
