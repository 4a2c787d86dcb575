"""How a refused choice stands in a record, so that anyone can refuse it again.

``index:7``, ``text:pair 7``, ``data:{"type":"pass"}`` (JSON), or ``bytes:`` and what
was received where not even that could be read. At most 4,096 bytes are kept; data
that were cut can no longer be judged. Text can, since notation is looked at so far
only.
"""
# ruff: noqa: ANN401 - values of any game

from __future__ import annotations

import codecs
from collections.abc import Sequence
from typing import Any, Final

from fritillary.codec.packing import from_json, to_json
from fritillary.core.errors import CodecError, InvalidActionError
from fritillary.plugins.table import ActionTable, OpenTable

#: So many bytes of what a player sent are kept.
MAX_OFFENDING: Final = 4_096

#: Lone surrogates are kept as they came: in another spelling they could be legal.
_SURROGATES: Final = "surrogatepass"

_DECODER: Final = codecs.getincrementaldecoder("utf-8")


def choice_bytes(
    *, index: int | None = None, text: str | None = None, data: Any = None
) -> bytes:
    """Return how a choice stands in the record.

    Raises:
        TypeError: if the data are not plain.
        ValueError: if the index has too many digits to be written down.
    """
    if index is not None:
        kind, body = "index", str(index)
    elif text is not None:
        kind, body = "text", text
    else:
        kind, body = "data", to_json(data)
    return f"{kind}:{body}".encode("utf-8", _SURROGATES)[:MAX_OFFENDING]


def received_bytes(raw: bytes) -> bytes:
    """Return how bytes that could not be read stand in the record."""
    return (b"bytes:" + raw)[:MAX_OFFENDING]


def was_cut(raw: bytes) -> bool:
    """Say whether there may have been more of a choice."""
    return len(raw) >= MAX_OFFENDING


def can_judge(raw: bytes) -> bool:
    """Say whether enough of a choice stands in the record, in a readable form."""
    if raw.startswith(b"text:"):
        return True
    return not was_cut(raw) and raw.startswith((b"index:", b"data:"))


def action_of(
    raw: bytes, table: ActionTable[Any] | OpenTable[Any], legal: Sequence[Any]
) -> Any:
    """Return the action that a choice in a record means, legal or not.

    Raises:
        InvalidActionError: if it names no action of the game.
    """
    try:
        # A character that was cut in two is left out.
        kind, _, body = _DECODER(_SURROGATES).decode(raw).partition(":")
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
