"""The items that are checked, in their order."""

from __future__ import annotations

import difflib
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from attrs import frozen

from fritillary.core.errors import UsageError
from fritillary.sparring import bearing, linking, playing
from fritillary.sparring.ring import Ring


@frozen
class Item:
    """One item.

    Args:
        id: of the item.
        what: is checked, as a sentence about the bot.
        mend: what to do when it fails.
        run: checks it; returns what was seen, or raises `FailedError` or
            `NotCheckedError`.
        starts: whether only a bot can be checked that is started by the checker.
    """

    id: str
    what: str
    mend: str
    run: Callable[[Ring], Awaitable[str]]
    starts: bool = False


HELLO: Final = "hello"
"""The item that comes first, whatever else is wanted."""

_MENDS_LINK: Final = (
    "Dial in again whenever the stream ends without a final Goodbye, wait a little "
    "longer each time, and put the session token of Welcome into Hello."
)


ITEMS: Final = (
    Item(
        HELLO,
        "It dials in and says Hello first, with its name, its build and games that are "
        "installed.",
        "Read FRITILLARY_ADDRESS and FRITILLARY_TOKEN, open Connect with the metadata "
        "`authorization: Bearer TOKEN`, and fill in Hello.bot.name, Hello.bot.build "
        "and Hello.games. What the program wrote last says why it ended.",
        playing.hello,
    ),
    Item(
        "match",
        "It plays whole matches of each game from each seat, by the rules and in time, "
        "acknowledges their end and stays for the next.",
        "Answer each DecisionRequest with one entry of `legal` before `clock.left_ms` "
        "is over, and each MatchEnded with an Ack with `ended`.",
        playing.match,
    ),
    Item(
        "clean",
        "In these matches it sends nothing that the server cannot use, keeps the "
        "limits, and does not flood the server with what was not asked for. An answer "
        "that is sent twice is remarked on.",
        "Look at the ErrorNotice: it names what was wrong with the message. Answer a "
        "request once; keep to Welcome.limits; send nothing else but what a message of "
        "the server asks for, and a Ping after a silence.",
        playing.clean,
    ),
    Item(
        "seed",
        "Started anew, it plays the same match in the same way.",
        "Take all chance from MatchOffer.bot_seed, and let no clock decide. A bot that "
        "searches for as long as it has time cannot pass; name the other items with "
        "--only.",
        playing.seed,
        starts=True,
    ),
    Item(
        "memory",
        "It remembers nothing from one match to the next: the same match again is "
        "played in the same way.",
        "Make what the bot knows anew at each MatchOffer: caches, statistics of the "
        "opponent and random generators too.",
        playing.memory,
    ),
    Item(
        "ping",
        "It answers Ping when it is idle and when it is asked. If it thinks for long, "
        "the Pong does not wait for the answer: 2 s are allowed, or a fifth of "
        "--timeout if that is less.",
        "Answer each Ping with a Pong of the same id at once; think in another thread.",
        bearing.ping,
    ),
    Item(
        "late",
        "When a decision was closed because it came too late, it answers the next one, "
        "and not with what came too late.",
        "Drop the work on a request when its DecisionClosed arrives, and put the "
        "decision_id of the request that was thought about into the Decision.",
        bearing.late,
    ),
    Item(
        "errors",
        "It goes on after errors: an illegal action (asked again), a stale decision, "
        "an unknown match.",
        "Log an ErrorNotice and go on. After an illegal action the request comes again "
        "under a new decision_id with `attempt` and `error`; answer that.",
        bearing.errors,
    ),
    Item(
        "pause",
        "It goes on after a pause of the match: the open request is withdrawn, and "
        "comes again under a new id.",
        "Forget a request that is closed as WITHDRAWN, and answer the next.",
        bearing.pause,
    ),
    Item(
        "abort",
        "It acknowledges the end of a match that is called off, and plays the next.",
        "Handle MatchEnded at any time, also while a request is open.",
        bearing.abort,
    ),
    Item(
        "foreign",
        "It declines a game that it did not announce, and stays for the next match. A "
        "bot that announces any game may play it.",
        "Compare MatchOffer.game with what Hello announced, and answer Decline if it "
        "is none of that.",
        bearing.foreign,
    ),
    Item(
        "capacity",
        "It plays as many matches at a time as it says, and answers the offer of one "
        "more.",
        "Keep what belongs to a match by match_id and seat. Announce a capacity that "
        "the bot can play; Accept or Decline what is more.",
        bearing.capacity,
    ),
    Item(
        "resume",
        "When the link is lost before an answer arrives, it resumes, and sends the "
        "same answer to the same request again.",
        f"{_MENDS_LINK} Keep the last Decision of each match until it is closed, and "
        "send it again when its request comes again.",
        linking.resume,
    ),
    Item(
        "silence",
        "It notices that the server is silent though the connection is open, and dials "
        "in again.",
        "Send a Ping after Limits.keepalive.ping_after_ms without a message, and give "
        "the stream up when nothing comes for pong_within_ms. HTTP/2 keepalive will do "
        "as well, with the figures of Limits.keepalive.",
        linking.silence,
    ),
    Item(
        "goodbye",
        "It comes back after a Goodbye with `reconnect_after_ms`, and not before that.",
        _MENDS_LINK,
        linking.goodbye,
    ),
    Item(
        "farewell",
        "After a Goodbye without `reconnect_after_ms` it ends, with exit code 0.",
        "Leave when Goodbye has no `reconnect_after_ms`; threads and timers that are "
        "left must not keep the program alive.",
        linking.farewell,
        starts=True,
    ),
    Item(
        "term",
        "It ends when it gets SIGTERM.",
        "Handle SIGTERM, or leave it to the system. A script that starts the bot hands "
        "it on, best with `exec`.",
        linking.term,
        starts=True,
    ),
)


def chosen(ids: Sequence[str]) -> tuple[Item, ...]:
    """Return the items with these ids, in their order; all without ids.

    Raises:
        UsageError: if there is no such item.
    """
    known = [item.id for item in ITEMS]
    for wanted in ids:
        if wanted not in known:
            near = difflib.get_close_matches(wanted, known, n=1)
            mend = f"did you mean {near[0]!r}? " if near else ""
            msg = f"no item {wanted[:60]!r}; {mend}--list tells what there is"
            raise UsageError(msg, code="usage.item")
    return tuple(item for item in ITEMS if not ids or item.id in ids)
