"""Action tables: fetched once from the server and kept by their hash."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Awaitable, Callable
from typing import Protocol

from fritillary.api.v1 import bot_pb2 as wire
from fritillary.api.v1 import catalog_pb2 as catalog
from fritillary.api.v1 import common_pb2 as common
from fritillary_client.encoding import MSGPACK, Encoding
from fritillary_client.errors import ArenaError, ProtocolError
from fritillary_client.reading import full_id
from fritillary_client.values import LegalAction

#: Entries asked for at a time: a page stays far below the usual limit of 4 MB.
_PAGE = 5_000


class Lister(Protocol):
    """Asks the server for one page of a table."""

    def __call__(
        self, request: catalog.ListActionsRequest, /
    ) -> Awaitable[catalog.ListActionsResponse]:
        """Return the page.

        Raises:
            ArenaError: if the server cannot or will not.
        """


class Table:
    """All actions that a seat can ever take, by index."""

    __slots__ = ("_actions",)

    def __init__(self, entries: list[catalog.ActionEntry]) -> None:
        self._actions = [
            LegalAction(
                entry.index,
                entry.text,
                functools.partial(MSGPACK.decode, entry.msgpack, "an action"),
            )
            for entry in entries
        ]

    def __len__(self) -> int:
        return len(self._actions)

    def at(self, index: int) -> LegalAction:
        """Return the action of an index.

        Raises:
            ProtocolError: if the server sent an index that is not in its table.
        """
        try:
            return self._actions[index]
        except IndexError:
            msg = f"the server sent index {index} of a table of {len(self)} actions"
            raise ProtocolError(msg) from None


class Tables:
    """The tables met so far, by hash."""

    def __init__(self) -> None:
        self._tables: dict[bytes, Table] = {}
        self._locks: dict[bytes, asyncio.Lock] = {}

    async def get(
        self, offer: wire.MatchOffer, encoding: Encoding, lister: Callable[[], Lister]
    ) -> Table:
        """Return the table of an offer, from the server if it is a new one.

        Raises:
            ArenaError: if the server does not hand it out.
        """
        key = offer.table.hash
        async with self._locks.setdefault(key, asyncio.Lock()):
            if key not in self._tables:
                self._tables[key] = await _fetch(offer, encoding, lister())
            return self._tables[key]


async def _fetch(offer: wire.MatchOffer, encoding: Encoding, lister: Lister) -> Table:
    request = catalog.ListActionsRequest(
        game=full_id(offer.game),
        options=common.OptionsChoice(
            options=common.Payload(encoding=encoding.number, data=offer.options)
        ),
        seats=len(offer.seats),
        page_size=_PAGE,
    )
    if not offer.options:
        request.ClearField("options")
    entries: list[catalog.ActionEntry] = []
    while True:
        page = await lister(request)
        if page.table.hash != offer.table.hash:
            msg = "the catalog's action table is not the one of the offer"
            raise ArenaError(msg, code="game.other-table")
        entries.extend(page.actions)
        if not page.next_page_token or not page.actions:
            break
        request.page_token = page.next_page_token
    if [entry.index for entry in entries] != list(range(offer.table.size)):
        msg = (
            f"the catalog gave {len(entries)} entries of an action table of "
            f"{offer.table.size}"
        )
        raise ProtocolError(msg, code="game.other-table")
    return Table(entries)
