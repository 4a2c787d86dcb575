"""The codes that cross the wire: where each is told, and what it means.

Meanings and mends are written here, by hand; `docs/fill_codes.py` checks that none is
missing, and makes the table of `docs/protocol.md` from them.
"""

from typing import Final

from attrs import frozen

from fritillary.record.terms import Fault

CALL: Final = "status"
REFUSAL: Final = "Refusal"
NOTICE: Final = "ErrorNotice"
GOODBYE: Final = "Goodbye"
RULING: Final = "ruling"
WITHDRAWN: Final = "withdrawn"
END: Final = "end"

#: Where a code is told, in words, in the order of the page.
PLACES: Final = {
    CALL: (
        "the gRPC status of a call that failed, with the serialised `ErrorInfo` in the "
        "trailing metadata `fritillary-error-bin`"
    ),
    REFUSAL: "`Refusal`, then the same as the status of the stream",
    NOTICE: "`ErrorNotice`",
    GOODBYE: "`Goodbye`, then the end of the stream",
    RULING: (
        "the event `Ruling`, and to the seat itself `DecisionClosed` (RULED) and, in a "
        "retry, `DecisionRequest.error`; where it ends the match also "
        "`MatchResult.code`"
    ),
    WITHDRAWN: "`DecisionClosed` (WITHDRAWN)",
    END: "`MatchResult.code`",
}

_TOKEN: Final = "Ask for a token, or show the right one; trying again is of no use."  # noqa: S105
_LATER: Final = "Wait for `retry_after_ms`, then try again."
_MEND_CALL: Final = "Mend the request."


@frozen
class Code:
    """What is told by a code.

    Args:
        places: where it is told.
        meaning: a sentence.
        mend: what a client does about it.
    """

    places: tuple[str, ...]
    meaning: str
    mend: str


def _fault(meaning: str, mend: str) -> Code:
    return Code((RULING,), meaning, mend)


def _notice(meaning: str, mend: str) -> Code:
    return Code((NOTICE,), meaning, mend)


def _call(meaning: str, mend: str = _MEND_CALL) -> Code:
    return Code((CALL,), meaning, mend)


_LAWFUL: Final = "Answer one of `legal`."
_ASK_LESS: Final = "Ask for less at a time; `SimulatorLimits` says how much."
_UNREADY: Final = "See to it that the bot is connected with room, and answers in time."

CODES: Final[dict[str, Code]] = {
    "action.illegal": Code(
        (CALL, RULING),
        "The decision, or the step of a simulation, names an action of the game that "
        "is not legal now; the message says why, from what the seat knows.",
        _LAWFUL,
    ),
    "action.invalid": Code(
        (CALL, RULING),
        "The decision, or the step, cannot be read, or names no action of the game.",
        _LAWFUL + " Where it did, the action table is another one: compare its hash.",
    ),
    "action.not-your-turn": _call(
        "A step of a simulation names an action where chance is to act, or draws "
        "where a seat is.",
        "Look at the `turn` of the position.",
    ),
    "auth.expired-token": Code(
        (CALL, GOODBYE, REFUSAL),
        "The token has expired, maybe while the call ran.",
        _TOKEN,
    ),
    "auth.missing-token": _call(
        "The call shows no token.", "Send the metadata `authorization: Bearer TOKEN`."
    ),
    "auth.revoked-token": Code(
        (CALL, GOODBYE, REFUSAL),
        "The token was revoked, maybe while the call ran.",
        _TOKEN,
    ),
    "auth.unavailable": _call(
        "The server cannot look the token up at the moment.", _LATER
    ),
    "auth.unknown-token": _call("The server does not know the token.", _TOKEN),
    "auth.wrong-address": _call(
        "The address is for programs that the server has started itself.",
        "Dial in at the address that the server announces.",
    ),
    "auth.wrong-role": _call("The call is for another role.", _TOKEN),
    "bot.failed": Code(
        (RULING,),
        "The bot said in its Goodbye that it had failed, and was not back in time. "
        "`MatchResult.code` is that of the fault.",
        "Look at its log; a referee finds what it said in `Match.problems`.",
    ),
    "bot.gone": Code(
        (GOODBYE,),
        "The match is over for which the server had started the program.",
        "End.",
    ),
    "codec.invalid": _call("A payload holds what its class does not; names the path."),
    "codec.json": _call("A payload is no JSON."),
    "codec.msgpack": _call("A payload is no MessagePack."),
    "codec.too-large": _call("A payload has more than 4 MiB."),
    "decision.stale": _notice(
        "The request is closed: answered already, ruled on or withdrawn, or its match "
        "has ended, or could not be taken up after a restart.",
        "Nothing: an answer and its end may cross. What is still open is asked again.",
    ),
    "decision.unknown": _notice(
        "There was no request with this `decision_id`.",
        "Repeat the `decision_id` of the request.",
    ),
    "encoding.unknown": Code(
        (REFUSAL,), "`Hello.encoding` is none of this server.", "Say MSGPACK or JSON."
    ),
    "frame.malformed": _notice(
        "The bytes of the frame are no ConnectRequest.",
        "Mend the client. (A client on generated code cannot do this.)",
    ),
    "game.ambiguous": _call(
        "Two installed plugins claim the id.", "Say `distribution:id`."
    ),
    "game.no-table": _call(
        "The game has no action table.",
        "Take the legal actions of each request, which are written out.",
    ),
    "game.no-worlds": _call(
        "The game cannot draw worlds that fit an observation.",
        "Nothing a client can do: play without a search.",
    ),
    "game.other-version": _call("The rules have another version than was asked for."),
    "game.unknown": _call("No game, or no variant, has that id."),
    "hello.late": Code(
        (REFUSAL,),
        "No Hello came within 10 s.",
        "Say Hello as soon as the stream opens.",
    ),
    "hello.missing": Code(
        (REFUSAL,), "The first message was not Hello.", "Say Hello first."
    ),
    "hello.repeated": _notice(
        "The session is open already.", "Open another stream to say Hello again."
    ),
    "hello.too-large": Code(
        (REFUSAL,),
        "Hello has more bytes, acks, games or features than any bot needs.",
        "Name the games that the bot plays, and acknowledge the matches it sits in.",
    ),
    "internal": _call(
        "The server failed; its log says why.",
        "Tell whoever runs it; try again later.",
    ),
    "limit.calls": _call(
        "Too many calls run at once, with this token or from this address.", _LATER
    ),
    "limit.message-rate": Code(
        (GOODBYE, REFUSAL, RULING),
        "More than `Limits.max_messages_per_second`.",
        "Send less: one answer for one request.",
    ),
    "limit.message-size": Code(
        (CALL, GOODBYE, RULING),
        "A frame, or a request with a token, of more than `Limits.max_message_bytes`; "
        "a request without a token of more than 4 KiB; a request or an answer of "
        "more than `SimulatorLimits.max_message_bytes`.",
        "Send smaller frames; ask for less at a time; show the token.",
    ),
    "limit.outstanding-bytes": Code(
        (GOODBYE, RULING),
        "More than `Limits.max_outstanding_bytes` wait for a bot that does not read.",
        "Read the stream also while the bot thinks.",
    ),
    "limit.streams": _call(
        "Too many streams, watched matches or fetches of records are open with this "
        "token.",
        "Close one; " + _LATER[0].lower() + _LATER[1:],
    ),
    "limit.playouts": _call(
        "More than `SimulatorLimits.max_playouts` in one call.", _ASK_LESS
    ),
    "limit.time": _call(
        "A call of the simulator took longer than `SimulatorLimits.max_call_ms`; the "
        "rules of a game took longer than 2 s for options that are not its own, or "
        "had no time for them; a stream without a token was open for 5 min.",
        _ASK_LESS + " With `within_ms` the answer comes in time. Open another stream.",
    ),
    "limit.unread": _call(
        "Too many answers to calls with this token, or from this address, are not "
        "read.",
        "Read them, or end the calls; " + _LATER[0].lower() + _LATER[1:],
    ),
    "limit.worlds": _call(
        "More than `SimulatorLimits.max_worlds` worlds, steps or tasks in one call.",
        _ASK_LESS,
    ),
    "link.silent": Code(
        (GOODBYE,),
        "Nothing was heard after a Ping, and no decision of the bot was open.",
        "Dial in again and resume; answer Pings also while the bot thinks.",
    ),
    "match.aborted": Code(
        (WITHDRAWN, END), "A referee has called the match off.", "Nothing."
    ),
    "match.exists": _call(
        "There is a match of that id.", "Choose another id, or none."
    ),
    "match.forfeited": Code(
        (END,),
        "Seats had been forfeited, and the others played on to the end.",
        "Nothing.",
    ),
    "match.id": _call("The id of the match is not of the right form."),
    "match.over": _call(
        "A step of a simulation follows the end of the match.",
        "Look at the `turn` of the position.",
    ),
    "match.paused": Code(
        (WITHDRAWN,),
        "A referee has stopped the match; the seat is asked anew when it goes on.",
        "Forget the request and wait for the next.",
    ),
    "match.phase": _call("The match is not in a phase that allows it.", "Nothing."),
    "match.sealed": _call(
        "Others have yet to play the deal of this match.", "Come back later."
    ),
    "match.unknown": Code(
        (CALL, NOTICE),
        "There is no such match, or the bot does not sit in it (any more).",
        "Forget the match.",
    ),
    "message.empty": _notice(
        "No message is set, or one that this server does not know.",
        "Use what the server has; see `Welcome.features`.",
    ),
    "method.unknown": _call("The server has no such method.", "Mend the client."),
    "nonce.too-long": _notice(
        "A nonce has at most 32 bytes. The seat is not accepted yet.",
        "Accept with a shorter one, or none.",
    ),
    "offer.declined": _fault("The bot has declined the offer.", "Nothing."),
    "offer.nonce": _fault("A bot of the server gave a nonce that is none.", "Nothing."),
    "options.invalid": _call(
        "Options, a preset or the number of seats are none of the game."
    ),
    "page.token": _call(
        "The page token belongs to another question.", "Begin with an empty one."
    ),
    "player.absent": Code(
        (CALL, RULING),
        "A `remote:` player is not connected, does not play the game or takes no more "
        "matches.",
        _UNREADY,
    ),
    "player.ended": _fault(
        "The program of the seat ended before it was ready.", "Look at its log."
    ),
    "player.not-found": _fault(
        "The program of the seat could not be started.", "Mend its command."
    ),
    "player.program": _call(
        "A player is a program that the server would have to start, and it starts none "
        "for matches of referees.",
        "Let the program dial in, and name it `remote:NAME`.",
    ),
    "player.silent": _fault(
        "The program of the seat did not dial in in time.", "Look at its log."
    ),
    "position.invalid": _call(
        "No seat can see such an observation, or not this seat.",
        "Send what came in the request, with the seat it came to.",
    ),
    "record.open": _call(
        "The match goes on, and its record is not closed yet.",
        "Fetch it after the end.",
    ),
    "record.unwritten": _call(
        "The match has ended, or could not be played, and the server could not write "
        "its record to the end, as when its disk is full; the message says what became "
        "of the match.",
        "Tell whoever runs the server; a match that is void may be played again.",
    ),
    "record.private": _call(
        "The match goes on, and the server writes no record for spectators.",
        "Watch the match, or fetch the record after the end.",
    ),
    "record.view": _call(
        "The server writes no record of what spectators saw.", "Fetch the full one."
    ),
    "referee.error": Code(
        (RULING, WITHDRAWN, END),
        "The referee or the game failed; no seat is to blame, and the match is void.",
        "Tell whoever runs the server; its log says why.",
    ),
    "referee.record": Code(
        (WITHDRAWN, END),
        "The record cannot be written; the match is void.",
        "Tell whoever runs the server.",
    ),
    "request.late": _call(
        "No request came within 10 s of the call.", "Send it with the call."
    ),
    "request.malformed": _call("The bytes are no request of this method."),
    "request.missing": _call("The call ended without a request."),
    "rollout.plies": _call(
        "The game cannot judge a match that is not over, or too many plies are asked "
        "for.",
        "Leave `plies` out, or see `OpenGameResponse.evaluates`.",
    ),
    "rollout.policy": _call(
        "The game has no such bot to play rollouts.",
        "Name one of `OpenGameResponse.policies`, or `uniform`.",
    ),
    "seat.missing": _notice(
        "The bot holds several seats of the match and named none.", "Name the seat."
    ),
    "seat.not-accepted": _notice("Ready came before Accept.", "Accept first."),
    "seat.other-build": _notice(
        "The seat is kept for another build of the bot.",
        "Play with the build that was seated; this one gets new matches only.",
    ),
    "seat.resigned": Code((END,), "A seat has given up.", "Nothing."),
    "seat.taken": _notice(
        "Decline came after Ready.", "Answer the next request with Resign to give up."
    ),
    "seat.wrong": _notice("The seat is another's.", "Name the seat of the offer."),
    "server.full": Code(
        (REFUSAL,),
        "The server takes no more bots. This server says `limit.calls` and "
        "`limit.streams` instead; others may say this.",
        _LATER,
    ),
    "server.seed-lost": Code(
        (END,),
        "The seed of the deal was lost over a restart; the match is void.",
        "Nothing.",
    ),
    "server.stopping": Code(
        (CALL, GOODBYE, WITHDRAWN, END),
        "The server stops. Matches go on when it is back, unless it keeps no folder; "
        "then they are called off.",
        "Dial in again after `reconnect_after_ms` or `retry_after_ms`, and resume.",
    ),
    "session.in-use": Code(
        (REFUSAL,),
        "The bot yields (feature `visit.yields`), and another session of it is open, "
        "or a seat is kept for it.",
        "Dial in with the token of another bot.",
    ),
    "session.other-build": Code(
        (REFUSAL,),
        "The session belongs to another build of the bot.",
        "Say Hello without `session_token`; it gets new matches only.",
    ),
    "session.other-settings": Code(
        (REFUSAL,),
        "Encoding, legal form or features are not those of the session.",
        "Say Hello as before, or without `session_token`.",
    ),
    "session.replaced": Code(
        (GOODBYE,),
        "The same bot has opened another session.",
        "End, and do not come back: two that do would throw each other out for ever.",
    ),
    "simulator.count": _call("No world, or no playout, is asked for."),
    "simulator.failed": _call(
        "The process that worked on the call has ended, as a game can make it by "
        "taking all memory; there is a new one.",
        "Tell whoever wrote the game; ask for something else.",
    ),
    "simulator.game": _call(
        "The bytes that name the game are none that OpenGame gave.",
        "Pass on `OpenGameResponse.game`.",
    ),
    "simulator.position": _call("A task names a world that was not given."),
    "simulator.seat": _call("The game was opened for fewer seats."),
    "simulator.step": _call("A step says nothing of what is applied."),
    "simulator.world": _call(
        "The bytes are no world, or one of another game, of other options or seats.",
        "Pass on what SampleWorlds or ApplyActions gave for the same game.",
    ),
    "usage.clock": _call("A clock has parts that do not go together, or is missing."),
    "usage.labels": _call("Labels are too many or too long."),
    "usage.options": _call("The options are no map."),
    "usage.player": _call("A player is named that there is not, or not here."),
    "usage.salt": _call("A salt has 32 bytes."),
    "usage.seed": _call("A seed has 32 bytes."),
    "usage.terms": _call("Policy, margin or ceiling make no sense."),
    "watch.too-slow": _call(
        "The watcher does not read what it is sent.", "Watch again with `after_event`."
    ),
    **{
        f"fault.{fault.value}": _fault(meaning, mend)
        for fault, (meaning, mend) in {
            Fault.ILLEGAL: ("As `action.illegal`, of a bot of the server.", _LAWFUL),
            Fault.MALFORMED: ("As `action.invalid`, of a bot of the server.", _LAWFUL),
            Fault.LATE: (
                "The clock ran out before the decision arrived.",
                "Watch `ClockReading.left_ms`; answer with time to spare for the link.",
            ),
            Fault.STALLED: (
                "The match reached `MatchTerms.ceiling_ms`.",
                "Play faster, or agree on another ceiling.",
            ),
            Fault.DISCONNECTED: (
                "The link was lost and did not come back in time.",
                "Dial in again at once, and resume; see `LinkBank`.",
            ),
            Fault.CRASHED: (
                "The program of the seat ended, or a bot of the server failed.",
                "Look at its log.",
            ),
            Fault.FLOODING: (
                "A limit was exceeded. Its own code stands in its place.",
                "See the codes `limit`.",
            ),
            Fault.REFUSED_TO_START: (
                "The offer was not answered, or the seat was not ready, in time.",
                _UNREADY,
            ),
            Fault.REFEREE_ERROR: (
                "The referee failed. `referee.error` stands in its place.",
                "See there.",
            ),
        }.items()
    },
}

#: Beginnings of codes that are told alike: all of a family in one row.
FAMILIES: Final[dict[str, Code]] = {
    "plugin": _call(
        "A game or a variant of the server breaks its contract.",
        "Nothing a client can do: tell whoever runs the server.",
    ),
    "storage": _call(
        "The server cannot use one of its folders or files.",
        "Nothing a client can do: tell whoever runs the server.",
    ),
}

#: Codes that have no row, and why.
APART: Final[dict[str, str]] = {
    "action.ambiguous": (
        "raised where games are played in process; a referee says something else"
    ),
    **dict.fromkeys(
        (
            "server.address-in-use",
            "server.needs-loopback",
            "server.needs-tls",
            "server.tls",
            "usage.address",
            "usage.duration",
            "usage.expires",
            "usage.ply",
            "usage.policy",
            "usage.records",
            "usage.seat",
            "usage.tls",
            "usage.token-exists",
            "usage.token-name",
        ),
        "told to whoever starts a server, on its command line",
    ),
    **dict.fromkeys(
        ("game", "service", "storage", "usage"), "a class of errors, which have codes"
    ),
}
