"""How a refused choice stands in a record, so that anyone can refuse it again.

``index:7``, ``text:pair 7``, ``data:{"type":"pass"}`` (JSON), or ``bytes:`` and what
was received where not even that could be read. At most 4,096 bytes are kept; a choice
that was cut can no longer be judged.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from fritillary.codec.packing import from_json, to_json
from fritillary.core.errors import CodecError, InvalidActionError
from fritillary.plugins.table import ActionTable, OpenTable

#: So many bytes of what a player sent are kept.
MAX_OFFENDING: Final = 4_096


def choice_bytes(
    *, index: int | None = None, text: str | None = None, data: Any = None
) -> bytes:
    """Return how a choice stands in the record."""
    if index is not None:
        kind, body = "index", str(index)
    elif text is not None:
        kind, body = "text", text
    else:
        kind, body = "data", to_json(data)
    return f"{kind}:{body}".encode("utf-8", "replace")[:MAX_OFFENDING]


def received_bytes(raw: bytes) -> bytes:
    """Return how bytes that could not be read stand in the record."""
    return (b"bytes:" + raw)[:MAX_OFFENDING]


def can_judge(raw: bytes) -> bool:
    """Say whether a choice stands in the record whole, in a readable form."""
    return len(raw) < MAX_OFFENDING and raw.startswith((b"index:", b"text:", b"data:"))


def action_of(
    raw: bytes, table: ActionTable[Any] | OpenTable[Any], legal: Sequence[Any]
) -> Any:
    """Return the action that a choice in a record means, legal or not.

    Raises:
        InvalidActionError: if it names no action of the game.
    """
    kind, _, body = raw.decode("utf-8", "replace").partition(":")
    try:
        if kind == "index":
            return table.at(int(body), legal)
        if kind == "text":
            return table.parse(body, legal)
        if kind == "data":
            return table.structure(from_json(body))
    except (CodecError, ValueError) as error:
        raise InvalidActionError(str(error)) from error
    msg = "the choice could not be read"
    raise InvalidActionError(msg)
