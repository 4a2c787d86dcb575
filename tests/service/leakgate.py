"""The gate: what a viewer is sent in two worlds is equal, message by message."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Final

from attrs import define, field
from tests.service.leakplay import Playing
from tests.service.leakstage import leak_stage
from tests.service.leaktable import Heard, Script
from tests.service.wireform import EVER, OF_THE_NONCES, OF_THE_SEED, form, to_a_bot
from tests.service.worlds import Finder, Pair, Rules

from fritillary import Game, Plugin
from fritillary.api.v1 import bot_pb2 as pb
from fritillary.api.v1 import common_pb2, match_pb2

_JSON: Final = common_pb2.ENCODING_JSON

#: Both encodings and forms, every ending, and whatever else a match may be like.
SCRIPTS: Final = (
    Script(number=0, mixed=True, timed=True),
    Script(
        number=1,
        encoding=_JSON,
        expanded=True,
        ending="resign",
        twins=True,
        substitutes=True,
    ),
    Script(number=2, expanded=True, ending="abort", sealed=True, mixed=True),
    Script(number=3, encoding=_JSON, ending="illegal", mixed=True, twins=True),
    Script(number=4, ending="lost", timed=True, twins=True),
    Script(number=5, encoding=_JSON, expanded=True, ending="flood"),
    Script(number=6, expanded=True, ending="void", sealed=True, twins=True),
    Script(number=7, encoding=_JSON, sealed=True, timed=True),
    Script(number=8, ending="decline"),
)

#: The same with a server that is restarted.
RESTARTS: Final = (
    Script(number=10, ending="abort", mixed=True, timed=True, restarts=True),
    Script(
        number=11,
        encoding=_JSON,
        expanded=True,
        ending="resign",
        twins=True,
        restarts=True,
        substitutes=True,
    ),
    Script(number=12, sealed=True, restarts=True),
)

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
    finder = Finder(rules, Game(rules.plugin, reference))
    report = Report()
    async with AsyncExitStack() as stack:
        stages = [
            await stack.enter_async_context(leak_stage(rules, variants, place))
            for place in _places(folder)
        ]
        for script in scripts:
            pair = finder.pair(
                viewer,
                script.number,
                twins=script.twins,
                mixed=script.mixed,
                ends=script.ending == "over",
                substitutes=script.substitutes,
            )
            heard = [
                await Playing(stage, rules, pair, which, script).run()
                for which, stage in enumerate(stages)
            ]
            _compare(pair, script, heard, report)
    report.judge()
    return report


def _places(folder: Path | None) -> tuple[Path | None, Path | None]:
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
    masks = EVER if pair.twins else EVER | OF_THE_SEED | OF_THE_NONCES
    where = f"script {script.number}, viewer {pair.viewer}"
    one, two = (_forms(each, masks) for each in heard)
    for name, mine in one.items():
        theirs = two.get(name, [])
        report.messages += len(mine)
        for place, (left, right) in enumerate(zip(mine, theirs, strict=False)):
            if left != right:
                msg = f"{where}: {name}, message {place}: {_differ(left, right)}"
                raise WireLeakError(msg)
        if len(mine) != len(theirs):
            msg = f"{where}: {name}: {len(mine)} messages, and {len(theirs)}"
            longer = mine if len(mine) > len(theirs) else theirs
            extra = longer[min(len(mine), len(theirs))]
            raise WireLeakError(f"{msg}; the first of the others is {extra}")
    assert one.keys() == two.keys()
    if pair.viewer is not None:
        try:
            check_stream(heard[0], pair.viewer, sealed=script.sealed)
        except WireLeakError as error:
            msg = f"{where}: {error}"
            raise WireLeakError(msg) from error
    _note_kinds(heard[0], report.kinds)


def _forms(heard: Heard, masks: frozenset[str]) -> dict[str, list[Any]]:
    """Return all that was heard in its normal form, by where it was heard."""
    out: dict[str, list[Any]] = {}
    for number, stream in enumerate(heard.streams):
        forms = ["closed" if raw is None else to_a_bot(raw, masks) for raw in stream]
        # Where a Pong stands among the rest is decided by when the bot has asked.
        pongs = [one for one in forms if one[0][0] == "pong"]
        out[f"stream {number}"] = [one for one in forms if one not in pongs]
        out[f"stream {number}, pongs"] = pongs
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


def _expect(holds: bool, what: str, message: object) -> None:
    if not holds:
        msg = f"{what}: {message}"
        raise WireLeakError(msg)


# ----------------------------------------------------------------- what was looked at


def _note_kinds(heard: Heard, kinds: set[str]) -> None:
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
