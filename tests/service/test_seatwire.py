"""What is put together by hand is what the generated classes write."""

from __future__ import annotations

import pytest
from google.protobuf.unknown_fields import UnknownFieldSet
from tests.service import pig

from fritillary import FastDealer, Outcome
from fritillary.api.v1 import bot_pb2 as pb
from fritillary.bots.protocol import UniformBot
from fritillary.record.terms import (
    ClockSettings,
    Consequence,
    EndKind,
    Fault,
    PlayerInfo,
    Source,
)
from fritillary.referee.player import LocalPlayer
from fritillary.referee.seen import (
    Acted,
    Closure,
    Drawn,
    Finish,
    GaveUp,
    Halted,
    MatchResult,
    Offer,
    Problem,
    Request,
    Reveal,
    Ruled,
    SeatEvent,
    WentOn,
)
from fritillary.referee.setup import MatchSetup
from fritillary.service import games, wire
from fritillary.service.framing import head_of, packed, varint
from fritillary.service.seatwire import MatchWire, SeatWire

GAME = pig.registry().game("pig")
OPTIONS = GAME.info.options()
CLOCK = {"left_ms": 2**31 - 1, "base_left_ms": 0, "link_left_ms": 120_000}


def unframed(entry):
    """Return the only message of a frame."""
    (message,) = pb.ConnectResponse.FromString(entry).messages
    found = getattr(message, str(message.WhichOneof("message")))
    assert not len(UnknownFieldSet(found))
    return found


@pytest.fixture(params=[0, 1])
def seat(request):
    return request.param


@pytest.fixture(params=[False, True])
def seat_wire(seat, request):
    match = MatchWire("m" * 64, GAME, OPTIONS, 2)
    return SeatWire(match, seat, wire.MSGPACK, expanded=request.param)


@pytest.mark.parametrize("value", [0, 1, 127, 128, 300, 4095, 4096, 2**31, 2**53 - 1])
def test_varints_are_those_of_protobuf(value):
    assert b"\x08" + varint(value) == (
        pb.Ping(id=value).SerializeToString() or b"\x08\x00"
    )


@pytest.mark.parametrize("numbers", [[], [0], [5, 127], [128], [1, 255, 256, 65535]])
def test_packed_lists_are_those_of_protobuf(numbers):
    raw = b"\x3a" + varint(len(packed(numbers))) + packed(numbers)
    assert list(pb.DecisionRequest.FromString(raw).legal) == numbers


@pytest.mark.parametrize("problem", [None, Problem("action.illegal", "no")])
def test_a_request_has_every_field(seat, seat_wire, problem):
    state = GAME.new(FastDealer(1), OPTIONS, 2)
    state.kitty = 3
    request = Request(
        decision_id=2**40,
        seat=seat,
        event_number=300,
        ply=5000,
        observe=lambda: GAME.observe(state, seat),
        legal=GAME.legal_actions(state),
        reading=dict,
        events=list,
        attempt=2,
        problem=problem,
    )
    found = unframed(seat_wire.request(request, CLOCK))
    expected = pb.DecisionRequest(
        match_id="m" * 64,
        seat=seat,
        decision_id=2**40,
        event_number=300,
        ply=5000,
        observation=GAME.codec.encode_observation(state),
        legal=[0, 1],
        clock=wire.reading(CLOCK),
        attempt=2,
    )
    if problem is not None:
        expected.error.CopyFrom(wire.problem_info(problem))
    if found.legal_actions:
        assert [one.text for one in found.legal_actions] == ["roll", "hold"]
        del found.legal_actions[:]
    assert found == expected


@pytest.mark.parametrize(
    ("how", "number", "problem"),
    [
        ("accepted", 1, None),
        ("ruled", 300, Problem("fault.late", "too late")),
        ("withdrawn", None, Problem("match.paused", "tea")),
    ],
)
def test_a_closure_has_every_field(seat, seat_wire, how, number, problem):
    closure = Closure(
        decision_id=7,
        how=how,
        event_number=number,
        problem=problem,
        charged_ms=0,
        server_ms=12,
        clock=CLOCK,
    )
    found = unframed(seat_wire.closed(closure, CLOCK, 0, None))
    expected = pb.DecisionClosed(
        match_id="m" * 64,
        seat=seat,
        decision_id=7,
        closure=wire.CLOSURE[how],
        event_number=number,
        time=pb.DecisionTime(charged_ms=0, server_ms=12, think_ms=0),
        clock=wire.reading(CLOCK),
    )
    if problem is not None:
        expected.error.CopyFrom(wire.problem_info(problem))
    assert found == expected


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (Acted(1, pig.HOLD), "action"),
        (Acted(0, pig.Hold(), Source.SUBSTITUTE), "action"),
        (Drawn(pig.Die(6)), "chance"),
        (
            Ruled(None, Fault.REFEREE_ERROR, Consequence.VOID, Problem("a.b", "c")),
            "ruling",
        ),
        (Ruled(0, Fault.LATE, Consequence.RETRY, Problem("a.b", "c"), 3), "ruling"),
        (GaveUp(0), "resigned"),
        (Halted("tea"), "paused"),
        (WentOn(), "resumed"),
        (Finish(EndKind.VOID, "x.y", "z"), "ended"),
    ],
)
def test_an_event_has_every_field(seat, seat_wire, body, field):
    found = unframed(seat_wire.event(SeatEvent(300, 0, body)))
    assert found.WhichOneof("body") == field
    assert (found.match_id, found.seat, found.number, found.ply) == (
        "m" * 64,
        seat,
        300,
        0,
    )
    assert found.HasField("seat")
    if isinstance(body, Acted):
        assert (found.action.seat, found.action.index) == (body.seat, 1)
        assert found.action.source == wire.SOURCE[body.source]
        assert found.action.text == "hold"
    if isinstance(body, Drawn):
        assert found.chance.text == "die 6"
    if isinstance(body, Ruled):
        assert found.ruling.HasField("seat") == (body.seat is not None)
        assert found.ruling.retries_left == body.retries_left
        assert found.ruling.error.code == "a.b"


def test_clocks_beyond_what_the_wire_can_hold_are_cut():
    assert wire.reading({"left_ms": 2**40}).left_ms == 2**31 - 1


def test_an_offer_has_every_field(seat, seat_wire):
    setup = MatchSetup(
        game=GAME,
        players=[
            LocalPlayer(UniformBot(), PlayerInfo(name, "2", "b", "a")) for name in "xy"
        ],
        clocks=[ClockSettings(base_ms=1_000), ClockSettings()],
        match_id="m" * 64,
    )
    header = setup.header(framework="", created_at_ms=0)
    offer = Offer(
        match_id=setup.match_id,
        seat=seat,
        game=GAME,
        options=setup.options,
        seats=header.seats,
        terms=setup.terms,
        algorithm=header.algorithm,
        commitment=setup.commitment,
        nonce_wanted=True,
        bot_seed=2**53 - 1,
    )
    expected = pb.MatchOffer(
        match_id="m" * 64,
        seat=seat,
        game=games.game_ref(GAME),
        table=games.table_message(GAME.table(setup.options, 2)),
        schemas_hash=games.schemas(GAME).hash,
        options=GAME.codec.encode_options(setup.options),
        seats=wire.seat_infos(GAME, header.seats),
        terms=wire.terms(setup.terms),
        nonce_wanted=True,
        bot_seed=2**53 - 1,
        answer_within_ms=setup.terms.offer_ms,
        resumed=True,
    )
    expected.commitment.algorithm = header.algorithm
    expected.commitment.hash = setup.commitment
    # The second time from what was kept.
    for _ in range(2):
        assert unframed(seat_wire.offer(offer, resumed=True)) == expected


@pytest.mark.parametrize("reveal", [None, Reveal(seed=b"s", salt=b"t", nonces=(b"",))])
def test_an_end_has_every_field(seat, seat_wire, reveal):
    result = MatchResult(
        match_id="m" * 64,
        finish=Finish(EndKind.PLAYED, outcome=Outcome.ranked("all-shed", (1, 0))),
        plies=3,
        content_hash=b"c",
        final_hash=b"f",
        reveal=reveal,
    )
    assert unframed(seat_wire.ended(result)) == pb.MatchEnded(
        match_id="m" * 64, seat=seat, result=wire.result(result)
    )


def test_a_status_has_every_field(seat):
    parts = tuple(CLOCK.items())
    raw = wire.status_bytes("waiting", (0, 1), 0, 300, 2**40, (parts, ()), "tea")
    found = pb.MatchStatus.FromString(head_of("m" * 64, seat) + raw)
    assert found == pb.MatchStatus(
        match_id="m" * 64,
        seat=seat,
        phase=wire.PHASE["waiting"],
        waiting_for=[0, 1],
        waiting_left_ms=0,
        event_number=300,
        open_decision_id=2**40,
        clocks=[wire.reading(CLOCK), wire.reading({})],
        message="tea",
    )
