"""Matches that do not go on as they began, and what a bot hears of it."""

from __future__ import annotations

from typing import Any

import pytest
from tests.clients.contract.conftest import House
from tests.clients.contract.play import (
    DEALS,
    SHORT,
    Deal,
    asked_in,
    expected,
    outcome_of,
    verified,
)
from tests.clients.contract.tampering import tamper, written
from tests.service.rawbot import until

from fritillary.record.events import ActionTaken, Paused, Resumed, Ruling
from fritillary.record.terms import (
    ClockSettings,
    Consequence,
    EndKind,
    Fault,
    FaultRule,
    LinkBank,
    Policy,
    Source,
    Terms,
)

pytestmark = [pytest.mark.system, pytest.mark.timeout(300)]

#: Long enough for a test to do something while a bot thinks, in milliseconds.
THINKING = 300


def policy(*rules: FaultRule, **more: Any) -> Terms:
    return Terms(policy=Policy.of(*rules, **more))


def events(house: House, hosted: Any, kind: type) -> list[Any]:
    """Return all events of a kind in the record of a match."""
    record = verified(hosted, house.arena.registry).record
    return [event for event in record.events if isinstance(event, kind)]


async def plays_on(house: House, bot: Any) -> None:
    """Check that a bot plays another match as if nothing had been, and leaves."""
    await house.went_as_ever(bot, house.create(SHORT))
    assert not bot.told("lost")
    await bot.stopped()


async def test_a_declined_offer_is_told_to_the_referee(house: House) -> None:
    declined = DEALS[2]
    bot = await house.connected(decline=declined.game, matches=1)
    hosted = house.create(declined, "uniform", "remote:bob")
    result = await house.result(hosted, EndKind.FORFEITED)
    assert outcome_of(result).placing == (1, 2)
    (ruling,) = events(house, hosted, Ruling)
    assert (ruling.seat, ruling.fault) == (1, Fault.REFUSED_TO_START)
    assert ruling.code == "offer.declined"
    why = "the bot declined (contract.declined: the contract says so)"
    assert ruling.message == why
    await plays_on(house, bot)
    assert not bot.told("asked", match_id=hosted.id)


def other_game(game: Any) -> None:
    game.id = "chess"


def other_variant(game: Any) -> None:
    game.variants.add(id="three-passes", version=1)


@pytest.mark.parametrize("change", [other_game, other_variant])
async def test_a_game_that_was_not_announced_is_declined_without_asking_the_bot(
    house: House, monkeypatch: pytest.MonkeyPatch, change: Any
) -> None:
    lying = True

    def changed(kind: str, body: Any) -> bytes:
        if kind == "match_offer" and lying:
            change(body.game)
        return written(kind, body)

    tamper(house, monkeypatch, changed)
    bot = await house.connected(games=[f"{SHORT.game}+no-pass"], matches=1)
    hosted = house.create(SHORT, "uniform", "remote:bob")
    await house.result(hosted, EndKind.FORFEITED)
    (ruling,) = events(house, hosted, Ruling)
    assert (ruling.seat, ruling.code) == (1, "offer.declined")
    assert "(game.not-announced: the bot has not announced " in ruling.message
    assert not bot.told("offered")
    lying = False
    await plays_on(house, bot)


@pytest.mark.parametrize("announced", ["lepidoptery+no-pass", "anybody:lepidoptery"])
async def test_a_game_that_was_announced_is_played(
    house: House, announced: str
) -> None:
    bot = await house.connected(games=[announced], matches=1)
    await plays_on(house, bot)


async def test_a_variant_that_was_announced_is_played(house: House) -> None:
    bot = await house.connected(games=["lepidoptery+no-pass"], matches=1)
    hosted = house.create(Deal("lepidoptery+no-pass"))
    await house.result(hosted)
    assert (await bot.until("ended"))["kind"] == "played"
    await bot.stopped()


async def test_after_an_illegal_action_the_bot_is_asked_again(house: House) -> None:
    # Text that names no action is a fault of its own.
    terms = policy(
        *(
            FaultRule(fault, Consequence.FORFEIT, retries=1)
            for fault in (Fault.ILLEGAL, Fault.MALFORMED)
        )
    )
    illegal = [2, 9]
    bot = await house.connected(illegal=illegal, matches=1)
    hosted = house.create(SHORT, terms=terms)
    result = await house.result(hosted)
    wanted = await expected(house.arena.registry, SHORT, terms, illegal)
    assert result.content_hash.hex() == wanted.content_hash
    await bot.until("ended", match_id=hosted.id, seat=1)
    assert asked_in(bot.events, hosted.id) == wanted.asked
    again = [one["decision_id"] for one in wanted.asked if one["attempt"] == 2]
    assert len(again) == len(illegal)
    assert len(events(house, hosted, Ruling)) == len(illegal)
    await bot.stopped()


async def test_an_illegal_action_that_is_not_forgiven_loses_that_match_alone(
    house: House,
) -> None:
    bot = await house.connected(illegal=[1], matches=1, games=[SHORT.game])
    hosted = house.create(SHORT)
    result = await house.result(hosted, EndKind.FORFEITED)
    for seat in range(2):
        told = await bot.until("ended", match_id=hosted.id, seat=seat)
        assert (told["kind"], told["code"]) == ("forfeited", result.finish.code)
        assert told["placing"] == list(outcome_of(result).placing)
    await bot.stopped()


async def test_an_aborted_match_ends_and_the_bot_plays_the_next(house: House) -> None:
    bot = await house.connected(delay_ms=THINKING, matches=2)
    hosted = house.create(SHORT)
    await bot.until("asked", count=2)
    hosted.abort(EndKind.VOID, "match.aborted", "called off")
    await house.result(hosted, EndKind.VOID)
    for seat in range(2):
        told = await bot.until("ended", match_id=hosted.id, seat=seat)
        assert (told["kind"], told["code"]) == ("void", "match.aborted")
        assert (told["scores"], told["placing"]) == ([], [])
    hosted = house.create(SHORT)
    await bot.until("asked", match_id=hosted.id)
    hosted.abort(EndKind.WITHDRAWN, "match.aborted", "called off again")
    assert (await bot.until("ended", match_id=hosted.id))["kind"] == "withdrawn"
    await bot.stopped()


async def test_a_match_goes_on_after_a_pause(house: House) -> None:
    bot = await house.connected(delay_ms=20, matches=1)
    hosted = house.create(SHORT)
    await bot.until("asked", count=4)
    hosted.pause("tea")
    await until(lambda: hosted.phase == "paused", within=60)
    hosted.resume()
    await house.result(hosted)
    assert len(events(house, hosted, Paused)) == 1
    assert len(events(house, hosted, Resumed)) == 1
    for seat in range(2):
        assert (await bot.until("ended", seat=seat))["kind"] == "played"
        heard = [one["news"] for one in bot.told("asked", seat=seat)]
        numbers = [number for news in heard for number in news]
        assert numbers == list(range(1, len(numbers) + 1))
    await bot.stopped()


async def test_a_bot_resigns(house: House) -> None:
    bot = await house.connected(resign_at=5, matches=1)
    hosted = house.create(SHORT, "remote:bob", "uniform")
    result = await house.result(hosted, EndKind.FORFEITED)
    assert result.finish.code == "seat.resigned"
    told = await bot.until("ended")
    assert (told["kind"], told["placing"]) == ("forfeited", [2, 1])
    assert told["code"] == "seat.resigned"
    await bot.stopped()


async def test_answers_that_come_too_late_change_nothing(house: House) -> None:
    rule = FaultRule(Fault.LATE, Consequence.SUBSTITUTE)
    terms = Terms(policy=Policy.of(rule), margin_ms=0, ceiling_ms=3_600_000)
    # The other one would be too late too, on a busy machine.
    clocks = (ClockSettings(move_ms=20), ClockSettings())
    bot = await house.connected(delay_ms=80, matches=2)
    hosted = house.create(SHORT, "remote:bob", "uniform", terms=terms, clocks=clocks)
    await house.result(hosted)
    assert (await bot.until("ended", match_id=hosted.id))["kind"] == "played"
    sources = [e.source for e in events(house, hosted, ActionTaken) if e.seat == 0]
    assert set(sources) == {Source.SUBSTITUTE}
    rulings = events(house, hosted, Ruling)
    assert [one.fault for one in rulings] == [Fault.LATE] * len(sources)
    await plays_on(house, bot)


async def test_a_token_that_is_revoked_ends_the_bot_in_mid_match(house: House) -> None:
    bot = await house.connected(delay_ms=THINKING)
    terms = policy(link=LinkBank(loss_ms=0, total_ms=0))
    hosted = house.create(SHORT, "uniform", "remote:bob", terms=terms)
    await bot.until("asked", count=2)
    house.arena.tokens.revoke("bob")
    line = await bot.failed("auth.revoked-token")
    assert "revoked" in line
    assert not bot.told("lost")
    result = await house.result(hosted, EndKind.FORFEITED)
    assert outcome_of(result).placing == (1, 2)
