"""From what ``decide`` returned to the message that answers a request."""

from __future__ import annotations

import operator
from collections.abc import Mapping

from fritillary.api.v1 import bot_pb2 as wire
from fritillary_client.encoding import Encoding
from fritillary_client.errors import DecisionError
from fritillary_client.values import Decision, LegalAction, Quoted, Resign

_FORMS = "return one of ask.legal, its index, its text, its data, a Decision, or RESIGN"
_MAX_INDEX = 2**32 - 1
_MAX_MS = 2**31 - 1

#: Bytes of a frame around its only message, at most.
_ENVELOPE = 16


class _UnfitError(Exception):
    """Says what was decided that is no decision."""


def message_of(
    decided: object,
    request: wire.DecisionRequest,
    encoding: Encoding,
    limits: wire.Limits,
    *,
    think_ms: int,
) -> wire.BotMessage:
    """Return the answer to a request.

    Whether the choice is legal is for the referee to say: its explanation is better
    than any that could be given here, and the policy may allow another attempt.

    Raises:
        DecisionError: if ``decide`` returned something that is no decision.
    """
    try:
        return _message(decided, request, encoding, limits, think_ms)
    except _UnfitError as error:
        if isinstance(decided, Quoted):
            # Of the program's line; how Python fares with it is no help.
            msg = f"the answer has {error}: {decided.line}"
            raise DecisionError(msg) from None
        raise DecisionError(f"decide() returned {error}") from error.__cause__


def _message(
    decided: object,
    request: wire.DecisionRequest,
    encoding: Encoding,
    limits: wire.Limits,
    think_ms: int,
) -> wire.BotMessage:
    if isinstance(decided, Resign) or decided is Resign:
        return wire.BotMessage(
            resign=wire.Resign(
                match_id=request.match_id,
                seat=request.seat,
                decision_id=request.decision_id,
            )
        )
    decision = wire.Decision(
        match_id=request.match_id,
        seat=request.seat,
        decision_id=request.decision_id,
        think_ms=min(max(think_ms, 0), _MAX_MS),
    )
    choice = decided
    if isinstance(decided, Decision):
        choice = decided.choice
        _set_extras(decision, decided, len(request.legal), limits)
    _set_choice(decision, choice, request, encoding)
    most = limits.max_message_bytes
    if most and decision.ByteSize() + _ENVELOPE > most:
        # Notes and probabilities are a courtesy, the choice is not.
        decision.ClearField("probabilities")
        decision.ClearField("note")
        if decision.ByteSize() + _ENVELOPE > most:
            msg = f"an action of more than {most} bytes"
            raise _UnfitError(msg)
    return wire.BotMessage(decision=decision)


def _set_choice(
    decision: wire.Decision,
    choice: object,
    request: wire.DecisionRequest,
    encoding: Encoding,
) -> None:
    if isinstance(choice, LegalAction):
        decision.index = choice.index
    elif isinstance(choice, str):
        try:
            decision.text = choice
        except ValueError as error:
            msg = f"text that is not Unicode: {choice[:40]!r}"
            raise _UnfitError(msg) from error
    elif isinstance(choice, Mapping):
        try:
            decision.action = encoding.encode(dict(choice))
        except (TypeError, ValueError, OverflowError, RecursionError) as error:
            msg = f"an action that cannot be sent: {_why(error)}"
            raise _UnfitError(msg) from error
    else:
        decision.index = _index(choice, request)


def _index(choice: object, request: wire.DecisionRequest) -> int:
    if choice is None:
        msg = f"None; {_FORMS}"
        raise _UnfitError(msg)
    try:
        if isinstance(choice, bool):
            raise TypeError
        index = operator.index(choice)  # type: ignore[arg-type]
    except TypeError:
        msg = f"{_shown(choice)}; {_FORMS}"
        raise _UnfitError(msg) from None
    if not 0 <= index <= _MAX_INDEX:
        legal = request.legal
        msg = (
            f"the index {index}; legal are {len(legal)} indices from "
            f"{legal[0] if legal else 0}"
        )
        raise _UnfitError(msg)
    return index


def _set_extras(
    decision: wire.Decision, decided: Decision, legal: int, limits: wire.Limits
) -> None:
    note: object = decided.note
    probabilities = list(decided.probabilities)
    if not isinstance(note, str):
        msg = f"Decision.note must be a string, not {_shown(note)}"
        raise DecisionError(msg)
    if note:
        raw = note.encode(errors="replace")
        if limits.max_note_bytes:
            raw = raw[: limits.max_note_bytes]
        decision.note = raw.decode(errors="ignore")
    if probabilities:
        if len(probabilities) != legal:
            msg = (
                f"{len(probabilities)} probabilities for {legal} legal actions; "
                "give one for each"
            )
            raise _UnfitError(msg)
        try:
            decision.probabilities.extend(map(float, probabilities))
        except (TypeError, ValueError) as error:
            msg = f"Decision.probabilities must be numbers: {error}"
            raise DecisionError(msg) from error


def _why(error: Exception) -> str:
    """Say why an action cannot be encoded; no library says that to everybody."""
    if isinstance(error, UnicodeError):
        return "it holds text that is not Unicode"
    if isinstance(error, OverflowError):
        return "it holds a number of more than 64 bits"
    if isinstance(error, RecursionError) or "recursion limit" in str(error):
        return "it is nested too deep"
    return str(error)


def _shown(value: object) -> str:
    try:
        text = repr(value)
    except Exception:  # noqa: BLE001 - a stranger's __repr__
        text = "something"
    return f"{text[:60]} ({type(value).__name__})"
