"""Reading a bot's decision: from a message to an answer, or a fault."""

from __future__ import annotations

import functools
from typing import Any, Final

from fritillary.api.v1 import bot_pb2 as pb
from fritillary.core.errors import CodecError
from fritillary.record.choice import received_bytes
from fritillary.record.terms import Fault, clip
from fritillary.referee.player import Answer, PlayerFault
from fritillary.service.wire import Coder

#: Longest sentence of a bot, or about what cannot be read of it, in characters.
SENTENCE: Final = 500


@functools.lru_cache(4096)
def brief(index: int, think_ms: int | None) -> Answer:
    """Return an answer that is an index and little else, which most are."""
    return Answer(index=index, think_ms=think_ms)


def answer_of(
    decision: pb.Decision,
    choice: str | None,
    value: Any,  # noqa: ANN401 - of any choice
    coder: Coder,
    *,
    think_ms: int | None,
    round_trip_ms: int | None,
    max_note_bytes: int,
) -> Answer:
    """Return the answer that a decision gives.

    Args:
        decision: as it came.
        choice: which of its fields names the action.
        value: of that field.
        coder: the bot's encoding.
        think_ms: as the bot reports it.
        round_trip_ms: of the link, if it was measured anew.
        max_note_bytes: longest note that is kept.

    Raises:
        PlayerFault: ``malformed`` if it names no action, or none that can be read.
    """
    data = None
    if choice == "action":
        try:
            data = coder.decode(value)
        except CodecError as error:
            raise _malformed(str(error), value) from error
    elif choice is None:
        raise _malformed("the decision names no action", b"")
    probabilities = decision.probabilities
    if choice == "index" and not (
        probabilities or decision.note or round_trip_ms is not None
    ):
        return brief(value, think_ms)
    return Answer(
        index=value if choice == "index" else None,
        text=value if choice == "text" else None,
        data=data,
        note=_note(decision.note, max_note_bytes) if decision.note else "",
        probabilities=probabilities,
        think_ms=think_ms,
        round_trip_ms=round_trip_ms,
    )


def _note(note: str, most: int) -> str:
    cut = note.encode("utf-8", "replace")[:most]
    return clip(cut.decode("utf-8", "ignore"), most)


def _malformed(why: str, raw: bytes) -> PlayerFault:
    return PlayerFault(
        Fault.MALFORMED,
        clip(why, SENTENCE),
        code="action.invalid",
        offending=received_bytes(raw),
    )
