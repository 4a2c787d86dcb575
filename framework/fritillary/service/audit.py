"""Refused calls: counted, and told in the log, one line each unless they are many.

Whoever floods the server with calls that it refuses must not fill its disk: each
address and all together have so many lines at once and so many a minute; what is not
shown is counted, and the numbers are told once a minute.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, Final
from urllib.parse import quote, unquote

import grpc
from attrs import field, frozen

from fritillary.service.metering import METERED, Meter, Untold
from fritillary.service.tokens import Token

#: Shown by every command that serves.
_log = logging.getLogger(METERED)

#: So many codes are counted apart; plugins may bring codes of their own.
_CODES: Final = 200

#: Counted only. Nobody is refused: the server stops, which all who are there are told,
#: or a record could not be written, of which the log tells.
_NO_REFUSALS: Final = frozenset({"server.stopping", "record.unwritten"})

#: Longest word of a line, in characters before it is escaped.
_WORD: Final = 100


class Audit:
    """Counts refused calls and tells of them.

    Args:
        now: seconds of a monotonic clock.

    Attributes:
        refused: how many, by code.
        hidden: for how many there was no line.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self.refused: Counter[str] = Counter()
        self.hidden = 0
        self._meter = Meter(now)
        self._untold = Untold("refused %d more calls: %s")

    def refuse(self, method: str, code: str, peer: str, token: Token | None) -> None:
        """Note a refused call; must be called in a running loop.

        Args:
            method: full name, as it was called: it may be anything.
            code: of the error.
            peer: who called, as gRPC says it.
            token: that was shown, if it is known; good or not.
        """
        known = code in self.refused or len(self.refused) < _CODES
        self.refused[code if known else "other"] += 1
        if code in _NO_REFUSALS:
            return
        where = address(peer)
        if not self._meter.lets(where.rpartition(":")[0]):
            self.hidden += 1
            self._untold.count(word(code) if known else "other")
            self._untold.tell_later(asyncio.get_running_loop())
            return
        who = "-" if token is None else f"{named(token)} role={token.role.value}"
        _log.warning(
            "refused method=%s code=%s peer=%s token=%s",
            word(method),
            word(code),
            where,
            who,
        )

    def tell_hidden(self) -> None:
        """Tell how many calls were refused without a line of their own."""
        self._untold.tell()


@frozen
class Call:
    """An RPC that runs.

    Args:
        method: full name.
        token: that was shown, if it is known.
        audit: where it is told if it is refused.
    """

    method: str
    token: Token | None
    audit: Audit = field(repr=False)

    def refused(self, context: grpc.aio.ServicerContext[Any, Any], code: str) -> None:
        """Note that the call was refused, or ended by the server for a fault."""
        self.audit.refuse(self.method, code, context.peer(), self.token)


#: The RPC of the running task; set by the interceptor.
current: ContextVar[Call | None] = ContextVar("current", default=None)


def address(peer: str) -> str:
    """Return an address as people write it, from gRPC's ``ipv6:%5B::1%5D:80``."""
    kind, _, where = peer.partition(":")
    return word(unquote(where), ":[]") if kind in {"ipv4", "ipv6"} else word(peer, ":")


def named(token: Token) -> str:
    """Return how a token is named in a line, as in the list of tokens."""
    return f"{token.name}/{token.id}"


def word(text: str, more: str = "") -> str:
    """Return text as one word of a line, whatever is in it.

    Args:
        text: of a stranger; what is too long is cut.
        more: characters that need no escape.
    """
    return quote(text[:_WORD], safe=f"/._-{more}", errors="replace") or "-"
