"""Vectors of frames in both directions, and of a page of an action table."""
# mypy: disable-error-code="arg-type"
# Messages are made from plain data.

from __future__ import annotations

from typing import Any, Final

import msgpack
from google.protobuf.json_format import MessageToDict

from fritillary.api.v1 import bot_pb2 as bot
from fritillary.api.v1 import catalog_pb2 as catalog
from fritillary.api.v1 import common_pb2 as common

_SEED: Final = bytes(range(32))
_SALT: Final = bytes(range(100, 132))

_ACTION: Final = msgpack.packb({"type": "pass"})
_MOST: Final = 2**53 - 1

#: Some languages write what belongs to a choice after all other fields.
_FULL: Final = "a decision with all that it may hold"


def _from_bot() -> dict[str, list[bot.BotMessage]]:
    message = bot.BotMessage
    return {
        "nothing from the bot": [],
        "hello, the shortest": [message(hello=bot.Hello())],
        "hello": [
            message(
                message_id=7,
                hello=bot.Hello(
                    bot=common.PlayerInfo(
                        name="Rädchen 🦋", version="1.2", build="0a1b", author="A. N."
                    ),
                    games=[
                        bot.GameSupport(
                            game="lepidoptery",
                            rules_versions=[1, 300],
                            variants=["no-pass"],
                        ),
                        bot.GameSupport(game="lost-cities", any_variant=True),
                    ],
                    features=["decision.joint"],
                    encoding=common.ENCODING_JSON,
                    legal_form=bot.LEGAL_FORM_EXPANDED,
                    capacity=0,
                    session_token="s1.abc",
                    acks=[
                        bot.Ack(match_id="m-1", seat=0, event_number=300),
                        bot.Ack(
                            match_id="m-2",
                            seat=1,
                            event_number=4,
                            closed_decision_id=_MOST,
                            ended=True,
                        ),
                    ],
                ),
            )
        ],
        "accept": [message(accept=bot.Accept(match_id="m-1", seat=0, nonce=_SEED))],
        "accept without a seat": [message(accept=bot.Accept(match_id="m-1"))],
        "decline": [
            message(
                decline=bot.Decline(
                    match_id="m-1", seat=1, code="game.other-table", message="no"
                )
            )
        ],
        "answers in all forms": [
            message(decision=bot.Decision(match_id="m-1", decision_id=1, index=0)),
            message(
                decision=bot.Decision(
                    match_id="m-1", seat=0, decision_id=2, index=65535
                )
            ),
            message(
                decision=bot.Decision(
                    match_id="m-1", seat=1, decision_id=_MOST, action=_ACTION
                )
            ),
            message(
                decision=bot.Decision(
                    match_id="m-1", seat=1, decision_id=4, text="run3 of 7 + joker"
                )
            ),
            message(resign=bot.Resign(match_id="m-1", seat=0, decision_id=5)),
        ],
        _FULL: [
            message(
                decision=bot.Decision(
                    match_id="m-1",
                    seat=1,
                    decision_id=_MOST,
                    action=_ACTION,
                    note="why not",
                    probabilities=[0.25, 0.75],
                    think_ms=12,
                )
            ),
        ],
        "small ones from the bot": [
            message(ready=bot.Ready(match_id="m-1", seat=0)),
            message(ack=bot.Ack(match_id="m-1", seat=0, event_number=1)),
            message(capacity=bot.Capacity(matches=0)),
            message(capacity=bot.Capacity(matches=64)),
            message(ping=bot.Ping(id=_MOST)),
            message(pong=bot.Pong(id=1)),
            message(goodbye=bot.Goodbye(code="bot.stopping", message="done")),
        ],
    }


def _from_server() -> dict[str, list[bot.ServerMessage]]:
    message = bot.ServerMessage
    head = {"match_id": "m-1", "seat": 1}
    clock = common.ClockReading(left_ms=0, base_left_ms=60_000, link_left_ms=120_000)
    result = common.MatchResult(
        kind=common.MATCH_END_KIND_FORFEITED,
        code="fault.late",
        message="the clock ran out",
        outcome=common.Outcome(reason="", scores=[1, -1], placing=[1, 2]),
        final_hash=_SEED,
        reveal=common.Reveal(seed=_SEED, salt=_SALT, nonces=[b"", b"\xab\xcd"]),
    )
    return {
        "nothing from the server": [],
        "welcome": [
            message(
                welcome=bot.Welcome(
                    session_token="s1.abc",
                    resumed=True,
                    bot_name="my-bot",
                    encoding=common.ENCODING_MSGPACK,
                    legal_form=bot.LEGAL_FORM_PACKED,
                    capacity=64,
                    limits=bot.Limits(
                        max_message_bytes=262_144,
                        max_messages_per_second=2_000,
                        max_outstanding_bytes=16_777_216,
                        max_matches=64,
                        max_note_bytes=1_024,
                        keepalive=bot.Keepalive(
                            ping_after_ms=20_000,
                            pong_within_ms=20_000,
                            http2_interval_ms=30_000,
                            http2_timeout_ms=10_000,
                        ),
                        max_streams=4,
                    ),
                    server_version="1",
                )
            )
        ],
        "refusal": [
            message(
                refusal=bot.Refusal(
                    error=common.ErrorInfo(
                        code="server.full", message="later", retry_after_ms=0
                    )
                )
            )
        ],
        "offer": [
            message(
                match_offer=bot.MatchOffer(
                    match_id="m-1",
                    seat=1,
                    game=common.GameRef(
                        id="lepidoptery",
                        rules_version=1,
                        variants=[common.VariantRef(id="no-pass", version=2)],
                    ),
                    table=common.ActionTable(size=200, hash=_SEED),
                    schemas_hash=_SALT,
                    options=b"\x80",
                    seats=[
                        common.SeatInfo(
                            seat=0,
                            role="white",
                            player=common.PlayerInfo(name="uniform"),
                            clock=common.Clock(
                                base_ms=60_000, increment_ms=0, preparation_ms=1_000
                            ),
                        ),
                        common.SeatInfo(seat=1, clock=common.Clock()),
                    ],
                    terms=common.MatchTerms(margin_ms=50, ceiling_ms=3_600_000),
                    commitment=common.Commitment(
                        algorithm="fritillary-deal-1", hash=_SEED
                    ),
                    nonce_wanted=True,
                    bot_seed=_MOST,
                    answer_within_ms=10_000,
                )
            )
        ],
        "a turn": [
            message(
                event=bot.Event(
                    **head,
                    number=300,
                    ply=299,
                    action=bot.ActionTaken(
                        seat=0,
                        index=0,
                        action=_ACTION,
                        text="pass",
                        source=bot.ACTION_SOURCE_PLAYER,
                    ),
                )
            ),
            message(
                decision_request=bot.DecisionRequest(
                    **head,
                    decision_id=300,
                    event_number=300,
                    ply=299,
                    observation=msgpack.packb({"hand": [1, 2]}),
                    legal=[0, 1, 127, 128, 65535],
                    clock=clock,
                    attempt=1,
                )
            ),
            message(
                decision_closed=bot.DecisionClosed(
                    **head,
                    decision_id=300,
                    closure=bot.DECISION_CLOSURE_ACCEPTED,
                    event_number=301,
                    time=bot.DecisionTime(charged_ms=0, server_ms=3, round_trip_ms=1),
                    clock=clock,
                )
            ),
        ],
        "a request written out, asked again": [
            message(
                decision_request=bot.DecisionRequest(
                    **head,
                    decision_id=_MOST,
                    observation=b"{}",
                    legal=[0, 1],
                    legal_actions=[
                        bot.LegalAction(
                            index=0, text="pass", action=b'{"type":"pass"}'
                        ),
                        bot.LegalAction(index=1, text="蝶", action=b'{"type":"play"}'),
                    ],
                    clock=common.ClockReading(),
                    attempt=2,
                    error=common.ErrorInfo(code="action.illegal", message="it is not"),
                )
            )
        ],
        "events of all kinds": [
            message(event=bot.Event(**head, number=number, ply=4, **body))
            for number, body in enumerate(_bodies(result), start=1)
        ],
        "status": [
            message(
                match_status=bot.MatchStatus(
                    **head,
                    phase=common.MATCH_PHASE_WAITING,
                    waiting_for=[0, 1],
                    waiting_left_ms=30_000,
                    event_number=5,
                    open_decision_id=0,
                    clocks=[clock, common.ClockReading()],
                    message="why",
                )
            )
        ],
        "end": [
            message(match_ended=bot.MatchEnded(**head, result=result)),
            message(
                match_ended=bot.MatchEnded(
                    match_id="m-2",
                    seat=0,
                    result=common.MatchResult(
                        kind=common.MATCH_END_KIND_VOID, code="match.aborted"
                    ),
                )
            ),
        ],
        "small ones from the server": [
            message(
                error=bot.ErrorNotice(
                    message_id=7,
                    match_id="m-1",
                    seat=0,
                    decision_id=1,
                    error=common.ErrorInfo(code="decision.stale", message="too late"),
                )
            ),
            message(ping=bot.Ping()),
            message(pong=bot.Pong(id=_MOST)),
            message(
                goodbye=bot.Goodbye(
                    code="server.stopping", message="soon back", reconnect_after_ms=0
                )
            ),
            message(goodbye=bot.Goodbye(code="session.replaced")),
        ],
    }


def _bodies(result: common.MatchResult) -> list[dict[str, Any]]:
    return [
        {"chance": bot.ChanceDrawn(action=_ACTION, text="drawn")},
        {"action": bot.ActionTaken(action=_ACTION, text="face down")},
        {
            "ruling": bot.Ruling(
                seat=0,
                fault=common.FAULT_ILLEGAL,
                consequence=common.CONSEQUENCE_RETRY,
                error=common.ErrorInfo(code="action.illegal", message="it is not"),
                retries_left=1,
            )
        },
        {"resigned": bot.Resigned(seat=0)},
        {"paused": bot.Paused(message="lunch")},
        {"resumed": bot.Resumed()},
        {"ended": result},
    ]


def frames() -> dict[str, Any]:
    """Return the vectors of frames, in both directions."""
    cases = [
        {
            **_frame(name, bot.ConnectRequest(messages=messages)),
            "exact": name != _FULL,
        }
        for name, messages in _from_bot().items()
    ]
    cases.extend(
        _frame(name, bot.ConnectResponse(messages=messages))
        for name, messages in _from_server().items()
    )
    page = catalog.ListActionsResponse(
        actions=[
            catalog.ActionEntry(
                index=0, text="pass", msgpack=_ACTION, json='{"type":"pass"}'
            )
        ],
        next_page_token="1",
        table=common.ActionTable(size=2, hash=_SEED),
    )
    cases.append(_frame("a page of an action table", page))
    head = bot.DecisionClosed(match_id="m-1", seat=1, decision_id=2)
    tail = bot.DecisionClosed(closure=bot.DECISION_CLOSURE_ACCEPTED)
    raw = tail.SerializeToString() + head.SerializeToString()
    closed = bot.ServerMessage(decision_closed=bot.DecisionClosed.FromString(raw))
    cases.append(_lax("fields out of order", [closed], _entry(7, raw)))
    request = bot.DecisionRequest(match_id="m-1", legal=[3, 300])
    raw = bot.DecisionRequest(match_id="m-1").SerializeToString()
    raw += bytes.fromhex("38 03 38 ac02")
    asked = bot.ServerMessage(decision_request=request)
    cases.append(_lax("numbers that are not packed", [asked], _entry(6, raw)))
    # Field 100 as text, and a message of the server of kind 30.
    unknown = bytes.fromhex("a206026869")
    ping = bot.Ping(id=5)
    heard = [bot.ServerMessage(), bot.ServerMessage(ping=ping)]
    raw = bytes.fromhex("0a06 f20103 0a0161")
    raw += _entry(10, ping.SerializeToString() + unknown) + unknown
    cases.append(_lax("what later versions add", heard, raw))
    broken = {
        "a frame cut off": _entry(10, ping.SerializeToString())[:-1].hex(),
        "a field of number 0": "0200",
        "a length beyond the end": "0a7f",
        "text that is not UTF-8": _entry(12, b"\x0a\x02\xc3\x28").hex(),
    }
    return {
        "about": [
            "Frames, in hex, with the type of the message and its JSON form by the",
            "rules of protobuf (proto3 JSON: fields that are not set are left out,",
            "64-bit integers are texts, bytes are base64). `exact`: encoding again,",
            "with fields in the order of their numbers, gives the same bytes; else",
            "bytes that mean the same, unknown fields aside. `broken` are no",
            "ConnectResponse.",
        ],
        "frames": cases,
        "broken": broken,
    }


def _frame(name: str, message: Any) -> dict[str, Any]:
    return {
        "name": name,
        "type": message.DESCRIPTOR.name,
        "hex": message.SerializeToString(deterministic=True).hex(),
        "value": MessageToDict(message),
        "exact": True,
    }


def _lax(name: str, messages: list[bot.ServerMessage], raw: bytes) -> dict[str, Any]:
    frame = _frame(name, bot.ConnectResponse(messages=messages))
    return {**frame, "hex": raw.hex(), "exact": False}


def _entry(field: int, payload: bytes) -> bytes:
    """Return a frame of one message of the server; all is shorter than 128 bytes."""
    body = bytes((field << 3 | 2, len(payload))) + payload
    return bytes((0x0A, len(body))) + body
