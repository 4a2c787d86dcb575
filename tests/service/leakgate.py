"""The gate: what a viewer is sent in two worlds is equal, message by message."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AsyncExitStack
from itertools import compress, islice
from pathlib import Path
from typing import Any, Final

from attrs import define, field
from tests.service import leaklog
from tests.service.leakplay import Playing
from tests.service.leakscripts import SCRIPTS, Script
from tests.service.leakstage import leak_stage
from tests.service.leaktable import Heard
from tests.service.wireform import EVER, OF_THE_NONCES, OF_THE_SEED, form, to_a_bot
from tests.service.worlds import Finder, Pair, Rules, World

from fritillary import Game, Plugin
from fritillary.api.v1 import bot_pb2 as pb
from fritillary.api.v1 import common_pb2, match_pb2

#: Share of the pairs, from 0 to 1, that must differ in truth.
LEAST: Final = 0.5


class WireLeakError(AssertionError):
    """A viewer could tell two worlds apart, or the gate looked at nothing."""


@define
class Report:
    """What the gate went through.

    Args:
        pairs: of matches that were compared.
        different: how many of those differ in truth.
        turns: played in one of the two.
        secrets: turns in which the actions differed.
        messages: compared, from one of the two.
        kinds: of messages, events, errors and phases among them.
    """

    pairs: int = 0
    different: int = 0
    turns: int = 0
    secrets: int = 0
    messages: int = 0
    kinds: set[str] = field(factory=set)

    def judge(self) -> None:
        """Refuse a run that compared too little.

        Raises:
            WireLeakError: if too few pairs differ in truth.
        """
        if self.pairs == 0 or self.different < LEAST * self.pairs:
            msg = f"vacuous: {self.different} of {self.pairs} pairs differ in truth"
            raise WireLeakError(msg)


async def check_wire_leaks(
    rules: Rules,
    viewer: int | None,
    *,
    scripts: Sequence[Script] = SCRIPTS,
    variants: tuple[Plugin, ...] = (),
    reference: tuple[Plugin, ...] = (),
    folder: Path | None = None,
) -> Report:
    """Play pairs of matches that differ only in what a viewer cannot know.

    Args:
        rules: of the game.
        viewer: a seat; ``None`` for spectators.
        scripts: one for each pair.
        variants: that are played at the server, over the rules.
        reference: variants that tell what looks alike.
        folder: where the servers keep their matches for a restart, if they do.

    Raises:
        WireLeakError: if what the viewer is sent differs, or breaks what holds for
            every stream, or if too few pairs differ in truth.
    """
    finder = finder_for(rules, reference)
    report = Report()
    async with AsyncExitStack() as stack:
        stages = [
            await stack.enter_async_context(leak_stage(rules, variants, place))
            for place in places_for(folder)
        ]
        for script in scripts:
            pair = finder.pair(viewer, script.number, script.wish)
            heard = [
                await Playing(stage, rules, pair, which, script).run()
                for which, stage in enumerate(stages)
            ]
            _compare(pair, script, heard, report)
    report.judge()
    return report


#: What was found is used again; keys are kept for their identity.
_finders: dict[tuple[int, ...], tuple[Rules, tuple[Plugin, ...], Finder]] = {}


def finder_for(rules: Rules, reference: tuple[Plugin, ...] = ()) -> Finder:
    """Return what finds pairs under rules, with what it has found already."""
    key = tuple(map(id, (rules, *reference)))
    if key not in _finders:
        finder = Finder(rules, Game(rules.plugin, reference))
        _finders[key] = rules, reference, finder
    return _finders[key][2]


def places_for(folder: Path | None) -> tuple[Path | None, Path | None]:
    """Return a folder for each of two servers, if they are to have one."""
    if folder is None:
        return None, None
    places = folder / "one", folder / "two"
    for place in places:
        place.mkdir()
    return places


def _compare(
    pair: Pair, script: Script, heard: Sequence[Heard], report: Report
) -> None:
    report.pairs += 1
    report.different += pair.differs
    report.turns += len(pair.turns)
    report.secrets += sum(one != two for one, two in (t.actions for t in pair.turns))
    where = f"script {script.number}, viewer {pair.viewer}"
    one, two = heard
    report.messages += compare(one, two, MASKS[script.shared], where)
    try:
        for each, world in zip(heard, pair.worlds, strict=True):
            check_secrets(each, world, pair.viewer)
        if pair.viewer is not None:
            check_stream(one, pair.viewer, sealed=script.sealed)
    except WireLeakError as error:
        msg = f"{where}: {error}"
        raise WireLeakError(msg) from error
    note_kinds(one, report.kinds)


#: What may differ where so much of the deal is shared, see `Wish`.
MASKS: Final = {
    "nothing": EVER | OF_THE_SEED | OF_THE_NONCES,
    "seed": EVER | OF_THE_NONCES,
    "all": EVER,
}


def compare(one: Heard, two: Heard, masks: frozenset[str], where: str) -> int:
    """Compare what was heard in two worlds; return how many messages that were.

    Args:
        one: of the worlds.
        two: the other one.
        masks: fields whose values may differ.
        where: for the error.

    Raises:
        WireLeakError: if anything differs.
    """
    count = 0
    left, right = (_forms(each, masks) for each in (one, two))
    assert left.keys() == right.keys()
    for name, mine in left.items():
        theirs = right[name]
        count += len(mine)
        for place, pair in enumerate(zip(mine, theirs, strict=False)):
            if pair[0] != pair[1]:
                msg = f"{where}: {name}, message {place}: {_differ(*pair)}"
                raise WireLeakError(msg)
        if len(mine) != len(theirs):
            msg = f"{where}: {name}: {len(mine)} messages, and {len(theirs)}"
            longer = mine if len(mine) > len(theirs) else theirs
            extra = longer[min(len(mine), len(theirs))]
            raise WireLeakError(f"{msg}; the first of the others is {extra}")
    return count


def _forms(heard: Heard, masks: frozenset[str]) -> dict[str, list[Any]]:
    """Return all that was heard in its normal form, by where it was heard."""
    out: dict[str, list[Any]] = {}
    for number, stream in enumerate(heard.streams):
        forms = ["closed" if raw is None else to_a_bot(raw, masks) for raw in stream]
        kinds = ["closed" if one == "closed" else one[0][0] for one in forms]
        # Where a Pong stands among the rest is decided by when the bot has asked, and
        # of the Pings all but the first by the time that has passed.
        timely = [
            kind != "pong" and (kind != "ping" or before == "welcome")
            for before, kind in zip(("", *kinds), kinds, strict=False)
        ]
        out[f"stream {number}"] = list(compress(forms, timely))
        out[f"stream {number}, pongs"] = [one for one in forms if one[0][0] == "pong"]
        if heard.frames:
            parts = iter(zip(kinds, timely, strict=True))
            told = [
                [kind for kind, counts in islice(parts, size) if counts]
                for size in heard.frames[number]
            ]
            out[f"stream {number}, frames"] = list(filter(None, told))
    update = match_pb2.WatchMatchResponse.DESCRIPTOR
    for number, (updates, error) in enumerate(heard.watches):
        out[f"watch {number}"] = [
            *(form(raw, update, masks) for raw in updates),
            error,
        ]
    for number, (method, answer) in enumerate(heard.calls):
        if isinstance(answer, bytes):
            of = match_pb2.DESCRIPTOR.message_types_by_name[f"{method}Response"]
            out[f"call {number} {method}"] = [form(answer, of, masks)]
        else:
            out[f"call {number} {method}"] = [answer]
    out |= leaklog.forms(heard.lines)
    return out


def _differ(left: Any, right: Any, path: str = "") -> str:
    """Return the first place where two forms differ."""
    if isinstance(left, tuple) and isinstance(right, tuple):
        for one, two in zip(left, right, strict=False):
            if one != two and isinstance(one, tuple) and isinstance(two, tuple):
                if len(one) == len(two) == 2 and one[0] == two[0]:
                    return _differ(one[1], two[1], f"{path}.{one[0]}")
                break
    return f"{path.lstrip('.')}: {left!r} and {right!r}"


# ------------------------------------------------------------- what holds for a stream


def check_stream(heard: Heard, seat: int, *, sealed: bool) -> None:
    """Check what two worlds that share a leak would share as well.

    Every message is for the seat alone; events are numbered without a gap; requests
    too, and each is closed once; of a sealed deal nothing is revealed.

    Raises:
        WireLeakError: if something does not hold.
    """
    events: dict[int, bytes] = {}
    last = 0
    fresh = False
    ended = b""
    in_session: dict[str, int] = {}
    closed: dict[int, bytes] = {}
    asked: dict[int, pb.DecisionRequest] = {}
    for raw in (raw for stream in heard.streams for raw in stream if raw is not None):
        message = pb.ServerMessage.FromString(raw)
        kind = message.WhichOneof("message")
        _expect(kind is not None, "a message of no known kind", message)
        body = getattr(message, kind or "")
        told = "seat" in body.DESCRIPTOR.fields_by_name and kind != "error"
        _expect(not told or body.seat == seat, "a message for another seat", message)
        if kind == "welcome":
            fresh = not body.resumed
            in_session.clear()
        place = {"event": "number", "decision_closed": "decision_id"}.get(kind or "")
        if place:
            number = getattr(body, place)
            _expect(number > in_session.get(place, 0), "told again", message)
            in_session[place] = number
        if kind == "event":
            before = events.setdefault(body.number, raw)
            _expect(before == raw, "an event that was another before", message)
            _expect(body.number <= last + 1, "a gap in the numbers", message)
            last = max(last, body.number)
        elif kind == "match_status":
            if fresh and body.phase >= common_pb2.MATCH_PHASE_RUNNING:
                # A bot that has begun anew is not told what it missed.
                last, fresh = body.event_number, False
            _expect(body.event_number >= last, "events to come", message)
            open_id = body.open_decision_id
            _expect(not open_id or open_id > max(closed, default=0), "closed", message)
        elif kind == "decision_request":
            before_ = asked.setdefault(body.decision_id, body)
            _expect(len(asked) == max(asked), "a gap in the requests", message)
            _expect(before_.observation == body.observation, "another sight", message)
            _expect(body.event_number == last, "events left out", message)
        elif kind == "decision_closed":
            _expect(body.decision_id in asked, "closes no request", message)
            closed.setdefault(body.decision_id, raw)
        elif kind == "match_ended":
            ended = ended or raw
            _expect(ended == raw, "another end than before", message)
            told = bool(body.result.final_hash) or body.result.HasField("reveal")
            _expect(not (told and sealed), "the deal is sealed", message)
    # Of a seat whose link was lost for good the last one is not told.
    _expect(len(asked) - len(closed) <= 1, "requests that were not closed", asked)


def check_secrets(heard: Heard, world: World, viewer: int | None) -> None:
    """Check that before the end nothing is told which opens the deal.

    Args:
        heard: in one world.
        world: whose seed, salt and nonces are to be kept.
        viewer: whose own nonce is no secret; ``None`` for spectators.

    Raises:
        WireLeakError: if something was told.
    """
    # Of a few bytes others may be equal by chance.
    others = (nonce for seat, nonce in enumerate(world.nonces) if seat != viewer)
    secrets = [world.seed, world.salt, *(one for one in others if len(one) > 8)]
    told: list[tuple[str, bytes]] = []
    for stream in heard.streams:
        for raw in filter(None, stream):
            kind = str(pb.ServerMessage.FromString(raw).WhichOneof("message"))
            told += [(kind, raw)] if kind != "match_ended" else []
    for updates, _ in heard.watches:
        for raw in updates:
            update = match_pb2.WatchMatchResponse.FromString(raw)
            if not update.HasField("ended"):
                told.append(("watch", raw))
    told += [("journal", line.encode()) for line in heard.lines]
    told += [
        (method, answer)
        for method, answer in heard.calls
        if isinstance(answer, bytes) and not _tells_of_an_end(method, answer)
    ]
    for kind, raw in told:
        for secret in secrets:
            found = secret in raw or secret.hex().encode() in raw
            _expect(not found, "the deal can be opened by", f"{kind} {raw!r}")


def _tells_of_an_end(method: str, answer: bytes) -> bool:
    if method == "GetMatch":
        return match_pb2.GetMatchResponse.FromString(answer).match.HasField("result")
    if method == "ListMatches":
        found = match_pb2.ListMatchesResponse.FromString(answer).matches
        return any(one.HasField("result") for one in found)
    return False


def _expect(holds: bool, what: str, message: object) -> None:
    if not holds:
        msg = f"{what}: {message}"
        raise WireLeakError(msg)


# ----------------------------------------------------------------- what was looked at


def note_kinds(heard: Heard, kinds: set[str]) -> None:
    """Add what was heard to a set of kinds."""
    kinds |= leaklog.kinds(heard.lines)
    for stream in heard.streams:
        for raw in stream:
            if raw is not None:
                kinds |= _kinds_of(pb.ServerMessage.FromString(raw))
    for updates, _ in heard.watches:
        for raw in updates:
            update = match_pb2.WatchMatchResponse.FromString(raw)
            which = update.WhichOneof("update")
            kinds.add(f"watch.{which}")
            if which == "event":
                kinds |= _of_event(update.event)


def _kinds_of(message: pb.ServerMessage) -> set[str]:
    kind = str(message.WhichOneof("message"))
    body = getattr(message, kind)
    kinds = {kind}
    if kind == "event":
        kinds |= _of_event(body)
    elif kind == "match_offer" and body.resumed:
        kinds.add("match_offer.resumed")
    elif kind == "match_status":
        kinds.add(f"phase.{common_pb2.MatchPhase.Name(body.phase)}")
    elif kind == "decision_closed":
        kinds.add(f"closed.{pb.DecisionClosure.Name(body.closure)}")
    elif kind == "decision_request" and body.HasField("error"):
        kinds.add("decision_request.again")
    elif kind == "match_ended":
        kinds.add(f"ended.{common_pb2.MatchEndKind.Name(body.result.kind)}")
    elif kind in {"error", "goodbye"}:
        kinds.add(f"{kind}.{body.error.code if kind == 'error' else body.code}")
    return kinds


def _of_event(event: pb.Event) -> set[str]:
    body = event.WhichOneof("body")
    kinds = {f"event.{body}"}
    if body == "action":
        kinds.add(f"source.{pb.ActionSource.Name(event.action.source)}")
    if body == "ruling":
        own = event.HasField("seat") and event.ruling.seat == event.seat
        whose = "own" if own else "other"
        kinds.add(f"ruling.{whose}.{common_pb2.Fault.Name(event.ruling.fault)}")
    return kinds
