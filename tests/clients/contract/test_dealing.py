"""Bots mix their own bytes into the deal, and see whether the host kept its word."""

from __future__ import annotations

from typing import Any

import pytest
from tests.clients.contract.conftest import House
from tests.clients.contract.play import SHORT, verified
from tests.clients.contract.tampering import tamper, written

from fritillary.record.events import Dealt

pytestmark = [pytest.mark.system, pytest.mark.timeout(300)]

NONCE = "00ff10"


def nonces(house: House, hosted: Any) -> tuple[str, ...]:
    """Return the nonces that the record of a match holds."""
    dealt = verified(hosted, house.arena.registry).record.find(Dealt)
    assert dealt is not None
    return dealt.nonces


async def deals_told(house: House, hosted: Any, bot: Any) -> list[str]:
    """Return what the bot says of the deal in each seat, after an honest match."""
    await house.result(hosted)
    told = [await bot.until("ended", seat=seat) for seat in range(2)]
    return [one["deal"] for one in told]


async def test_the_nonce_of_a_bot_is_used_and_the_deal_verified(house: House) -> None:
    bot = await house.connected(nonce=NONCE, matches=1)
    hosted = house.create(SHORT, nonces_wanted=True)
    assert await deals_told(house, hosted, bot) == ["verified"] * 2
    assert nonces(house, hosted) == (NONCE, NONCE)
    assert len(bot.told("offered", nonce_wanted=True)) == 2
    await bot.stopped()


async def test_without_one_each_seat_draws_sixteen_bytes(house: House) -> None:
    bot = await house.connected(matches=1)
    hosted = house.create(SHORT, nonces_wanted=True)
    assert await deals_told(house, hosted, bot) == ["verified"] * 2
    found = nonces(house, hosted)
    assert [len(bytes.fromhex(nonce)) for nonce in found] == [16, 16]
    assert found[0] != found[1]
    await bot.stopped()


async def test_where_none_is_wanted_none_is_sent(house: House) -> None:
    bot = await house.connected(nonce=NONCE, matches=1)
    hosted = house.create(SHORT, nonces_wanted=False)
    assert await deals_told(house, hosted, bot) == ["verified"] * 2
    assert nonces(house, hosted) == ()
    await bot.stopped()


async def test_a_deal_that_is_held_back_is_not_revealed(house: House) -> None:
    bot = await house.connected(matches=1)
    hosted = house.create(SHORT, sealed=True)
    await house.arena.wait(hosted.id)
    for seat in range(2):
        assert (await bot.until("ended", seat=seat))["deal"] == "not-revealed"
    await bot.stopped()


def other_seed(reveal: Any) -> None:
    reveal.seed = bytes(32)


def other_salt(reveal: Any) -> None:
    reveal.salt = bytes(32)


def other_nonces(reveal: Any) -> None:
    reveal.nonces[:] = [b"mine", b"mine"]


def no_nonces(reveal: Any) -> None:
    del reveal.nonces[:]


@pytest.mark.parametrize("lie", [other_seed, other_salt, other_nonces, no_nonces])
async def test_a_deal_that_was_not_the_promised_one_is_told_as_broken(
    house: House, monkeypatch: pytest.MonkeyPatch, lie: Any
) -> None:
    def change(kind: str, body: Any) -> bytes:
        if kind == "match_ended":
            lie(body.result.reveal)
        return written(kind, body)

    tamper(house, monkeypatch, change)
    bot = await house.connected(nonce=NONCE, matches=1)
    hosted = house.create(SHORT, nonces_wanted=True)
    assert await deals_told(house, hosted, bot) == ["broken"] * 2
    await bot.stopped()
