"""Every client plays the same matches, in whatever form it is asked and answers."""

from __future__ import annotations

from typing import Any

import pytest
from tests.clients.contract.conftest import House
from tests.clients.contract.play import (
    DEALS,
    SHORT,
    Deal,
    outcome_of,
    verified,
)

from fritillary.record.events import ActionTaken
from fritillary.service.hub import Link

pytestmark = [pytest.mark.system, pytest.mark.timeout(300)]

#: Any two of encoding, form of the legal actions and form of the answers meet.
FORMS = (
    ("msgpack", "packed", "index"),
    ("json", "packed", "text"),
    ("msgpack", "packed", "action"),
    ("json", "expanded", "index"),
    ("msgpack", "expanded", "text"),
    ("json", "expanded", "action"),
)


async def check(house: House, bot: Any, hosted: Any, deal: Deal) -> None:
    """Check that a match went as it goes for everybody."""
    outcome = outcome_of(await house.went_as_ever(bot, hosted, deal))
    for seat in range(2):
        told = await bot.until("ended", match_id=hosted.id, seat=seat)
        assert told == {
            "event": "ended",
            "match_id": hosted.id,
            "seat": seat,
            "kind": "played",
            "code": "",
            "scores": list(outcome.scores),
            "placing": list(outcome.placing),
            "deal": "verified",
        }


@pytest.mark.parametrize("form", FORMS, ids="-".join)
async def test_all_games_are_played_alike_at_once_on_one_stream(
    house: House, form: tuple[str, str, str]
) -> None:
    encoding, legal, answer = form
    how = {"encoding": encoding, "legal": legal, "answer": answer}
    bot = await house.connected(**how, capacity=len(DEALS), matches=len(DEALS))
    matches = [house.create(deal) for deal in DEALS]
    for hosted, deal in zip(matches, DEALS, strict=True):
        await check(house, bot, hosted, deal)
        for seat in range(2):
            offered = await bot.until("offered", match_id=hosted.id, seat=seat)
            assert offered["game"] == deal.game
            assert offered["resumed"] is False
            assert offered["nonce_wanted"] is False
    await bot.stopped()


async def test_a_bot_is_offered_no_more_than_it_takes(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    add, most = Link.add, 0

    def added(link: Link, player: Any) -> None:
        nonlocal most
        add(link, player)
        most = max(most, len(link.matches))

    monkeypatch.setattr(Link, "add", added)
    deals = [Deal(SHORT.game, number=number) for number in range(1, 7)]
    bot = await house.connected(capacity=2, matches=len(deals))
    matches = [house.create(deal) for deal in deals]
    for hosted, deal in zip(matches, deals, strict=True):
        await check(house, bot, hosted, deal)
    assert most == 2
    await bot.stopped()


async def test_only_games_that_a_bot_plays_are_offered(house: House) -> None:
    bot = await house.connected(games=[SHORT.game], matches=1)
    other = house.create(DEALS[1])
    await check(house, bot, house.create(SHORT), SHORT)
    await bot.stopped()
    assert {told["game"] for told in bot.told("offered")} == {SHORT.game}
    assert not other.over


async def test_the_server_is_told_who_plays_and_measures_the_link(
    house: House,
) -> None:
    bot = await house.connected(name="the bot", build="the build", matches=1)
    hosted = house.create(SHORT)
    await check(house, bot, hosted, SHORT)
    assert [(info.name, info.build) for info in hosted.infos] == [
        ("the bot", "the build")
    ] * 2
    actions = verified(hosted, house.arena.registry).record.events
    first = next(event for event in actions if isinstance(event, ActionTaken))
    assert first.round_trip_ms is not None
    await bot.stopped()
