"""A server of a later version: what a client does not know, it ignores."""

from __future__ import annotations

from typing import Any

import pytest
from tests.clients.contract.conftest import House
from tests.clients.contract.play import SHORT
from tests.clients.contract.tampering import tamper, written

from fritillary.service.framing import framed

pytestmark = [pytest.mark.system, pytest.mark.timeout(300)]

#: Fields 2000 (three bytes) and 2001 (a number), which no message has.
FIELDS = b"\x82\x7d\x03new\x88\x7d\x07"

#: A kind of message that there is not.
MESSAGE = framed(15, b"\x0a\x03new")


async def test_unknown_fields_and_messages_are_ignored(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    def change(kind: str, body: Any) -> bytes:
        known = written(kind, body, FIELDS)
        # Welcome comes first in any version.
        return known + MESSAGE if kind == "welcome" else MESSAGE + known + FIELDS

    tamper(house, monkeypatch, change)
    bot = await house.connected(matches=1)
    await house.went_as_ever(bot, house.create(SHORT))
    await bot.stopped()
