"""The lines between a program and the client: what is told, and what is answered.

``docs/stdio.md`` documents every field. A line is one JSON object. Those to the program
are ASCII, so that no locale can spoil them; they are made of what the server told the
seat and of nothing else.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

import attrs
from attrs import frozen

from fritillary_client.ask import Ask
from fritillary_client.encoding import Data
from fritillary_client.errors import DecisionError
from fritillary_client.reading import shown
from fritillary_client.values import (
    RESIGN,
    Answer,
    Choice,
    Decision,
    MatchInfo,
    Outcome,
)

#: Version of the lines; raised when a program could misread them.
PROTOCOL: Final = 1

#: A line with more bytes is no answer.
MAX_ANSWER_BYTES: Final = 1024 * 1024

_CHOICES: Final = ("index", "text", "action", "resign")
_FORMS: Final = 'give one of "index", "text", "action", "resign"'
_MAX_INDEX: Final = 2**32 - 1
#: By so much probabilities may miss the sum of 1; a referee keeps no others.
SLACK: Final = 0.001
#: Python reads no more.
_MAX_DIGITS: Final = 4300
_SHOWN: Final = 80


def start_line(info: MatchInfo) -> bytes:
    """Return the line that begins a match."""
    return _line(
        {
            "type": "start",
            "protocol": PROTOCOL,
            "match_id": info.match_id,
            "game": info.game,
            "full_id": info.full_id,
            "rules_version": info.rules_version,
            "variants": [
                {"id": name, "version": version} for name, version in info.variants
            ],
            "seat": info.seat,
            "seats": info.seats,
            "players": [attrs.asdict(player) for player in info.players],
            "options": info.options,
            "seed": info.seed,
            "margin_ms": info.margin_ms,
            "ceiling_ms": info.ceiling_ms,
            "resumed": info.resumed,
        }
    )


def ask_line(ask: Ask) -> bytes:
    """Return the line that asks for a decision.

    Raises:
        ProtocolError: if the server sent garbage.
    """
    problem = ask.error
    return _line(
        {
            "type": "ask",
            "match_id": ask.info.match_id,
            "game": ask.game,
            "seat": ask.seat,
            "seats": ask.info.seats,
            "decision_id": ask.decision_id,
            "ply": ask.ply,
            "attempt": ask.attempt,
            "problem": None if problem is None else attrs.asdict(problem),
            "seed": seed_of(ask.info.seed, ask.decision_id),
            "clock": attrs.asdict(ask.clock),
            "events": [attrs.asdict(event) for event in ask.events],
            "observation": ask.observation,
            "legal": [
                {"index": each.index, "text": each.text, "action": each.action}
                for each in ask.legal
            ],
        }
    )


def end_line(info: MatchInfo, outcome: Outcome) -> bytes:
    """Return the line that ends a match."""
    return _line(
        {
            "type": "end",
            "match_id": info.match_id,
            "seat": info.seat,
            "kind": outcome.kind,
            "code": outcome.code,
            "message": outcome.message,
            "reason": outcome.reason,
            "scores": outcome.scores,
            "placing": outcome.placing,
            "score": outcome.score,
            "place": outcome.place,
            "deal": outcome.deal,
        }
    )


def seed_of(seed: int, decision_id: int) -> int:
    """Return the seed of one decision, from 0 to 2**31 - 1: any language takes it.

    Args:
        seed: of the bot in the match.
        decision_id: of the decision.
    """
    digest = hashlib.sha256(f"{seed}/{decision_id}".encode()).digest()
    return int.from_bytes(digest[:4], "big") >> 1


@frozen
class Reply:
    """What a program answered.

    Args:
        answer: as ``decide`` returns it.
        match_id: that it named; ``None`` if it named none.
        decision_id: the same.
        remark: what of it no referee will keep, and why; empty if there is nothing.
    """

    answer: Answer
    match_id: str | None = None
    decision_id: int | None = None
    remark: str = ""


def read_reply(line: bytes) -> Reply:
    """Read a line that a program wrote.

    Whether the choice is legal is for the referee to say.

    Args:
        line: without its end.

    Raises:
        DecisionError: if it is no answer; says why in one line.
    """
    try:
        found = json.loads(
            line.decode(),
            object_pairs_hook=_object,
            parse_constant=_no_number,
            parse_int=_integer,
        )
    except UnicodeDecodeError as error:
        raise _wrong(line, f"is not UTF-8 at byte {error.start + 1}") from None
    except json.JSONDecodeError as error:
        why = f"is not JSON at character {error.pos + 1}: {error.msg}"
        raise _wrong(line, why) from None
    except RecursionError:
        raise _wrong(line, "is nested too deep") from None
    except _UnfitError as error:
        raise _wrong(line, str(error)) from None
    if not isinstance(found, dict):
        raise _wrong(line, "is no JSON object")
    try:
        return _reply(found)
    except _UnfitError as error:
        raise _wrong(line, str(error)) from None


class _UnfitError(Exception):
    """Says what is wrong with an answer."""


def _reply(found: Mapping[str, Any]) -> Reply:
    given = [
        name
        for name in _CHOICES
        if found.get(name) is not None and (name, found[name]) != ("resign", False)
    ]
    if not given:
        raise _UnfitError(f"names no choice; {_FORMS}")
    if len(given) > 1:
        raise _UnfitError(f"names {' and '.join(given)}; {_FORMS}")
    answer = _answer(given[0], found[given[0]])
    note = _of_type(found, "note", str, "a string")
    probabilities = _probabilities(found)
    if answer is not RESIGN and (note or probabilities):
        answer = Decision(answer, note or "", probabilities)  # type: ignore[arg-type]
    decision_id = found.get("decision_id")
    why = _no_distribution(probabilities)
    return Reply(
        answer,
        _of_type(found, "match_id", str, "a string"),
        None if decision_id is None else _whole("decision_id", decision_id),
        f"no record will have the probabilities: {why}" if why else "",
    )


def _answer(name: str, value: object) -> Choice | Answer:
    if name == "index":
        index = _whole(name, value)
        if not 0 <= index <= _MAX_INDEX:
            raise _UnfitError(
                "has an index out of range; take one from the legal actions"
            )
        return index
    if name == "text":
        if not isinstance(value, str):
            raise _UnfitError(f"has a text that is {_kind(value)}, not a string")
        return value
    if name == "action":
        if not isinstance(value, dict):
            raise _UnfitError(f"has an action that is {_kind(value)}, not an object")
        return value
    if value is not True:
        raise _UnfitError(f"has a resign that is {_kind(value)}, not true")
    return RESIGN


def _probabilities(found: Mapping[str, Any]) -> tuple[float, ...]:
    given = _of_type(found, "probabilities", list, "a list")
    numbers = []
    for each in given or ():
        if isinstance(each, bool) or not isinstance(each, int | float):
            raise _UnfitError(f"has a probability that is {_kind(each)}, not a number")
        try:
            numbers.append(float(each))
        except OverflowError:
            numbers.append(math.inf if each > 0 else -math.inf)
    return tuple(numbers)


def _no_distribution(numbers: tuple[float, ...]) -> str:
    """Say why numbers are no probabilities; empty if they are, or there are none."""
    if not all(0 <= number <= 1 for number in numbers):
        return "one is below 0 or above 1"
    total = math.fsum(numbers)
    if numbers and abs(total - 1) > SLACK:
        return f"they sum to {total:.6g}, not 1"
    return ""


def _of_type(found: Mapping[str, Any], name: str, cls: type, what: str) -> Any:  # noqa: ANN401 - of the class
    value = found.get(name)
    if value is not None and not isinstance(value, cls):
        raise _UnfitError(f"has {_a(name)} that is {_kind(value)}, not {what}")
    return value


def _whole(name: str, value: object) -> int:
    """Return a number without fraction; JSON does not tell 3 from 3.0."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise _UnfitError(f"has {_a(name)} that is {_kind(value)}, not a whole number")
    return value


def _a(name: str) -> str:
    return f"an {name}" if name == "index" else f"a {name}"


def _kind(value: object) -> str:
    """Say in the words of JSON what a value is."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return "a number"
    if isinstance(value, float):
        return "a number with a fraction" if math.isfinite(value) else "too large"
    if isinstance(value, str):
        return "a string"
    return "a list" if isinstance(value, list) else "an object"


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object; of a name that is there twice nobody knows which counts."""
    found = dict(pairs)
    if len(found) < len(pairs):
        counts = Counter(name for name, _ in pairs)
        name = counts.most_common(1)[0][0]
        raise _UnfitError(f"names {shown(name)[:_SHOWN]} twice")
    return found


def _no_number(name: str) -> float:
    raise _UnfitError(f"cannot be read: {name} is no number of JSON")


def _integer(digits: str) -> int:
    """Return an integer of a line; any with more digits is out of every range."""
    if (count := len(digits.removeprefix("-"))) > _MAX_DIGITS:
        raise _UnfitError(f"cannot be read: a number has {count} digits")
    return int(digits)


def _wrong(line: bytes, why: str) -> DecisionError:
    return DecisionError(f"the answer {why}: {quoted(line)}")


def quoted(line: bytes) -> str:
    """Return the beginning of a line, fit to be shown."""
    text = shown(line[: 4 * _SHOWN].decode("utf-8", "replace"))
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def _line(data: Data) -> bytes:
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return f"{text}\n".encode("ascii")
