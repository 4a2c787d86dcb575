"""How bots get in, who is kept out, and how they leave."""

from __future__ import annotations

import asyncio
import json
import shlex
import signal
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen
from tests.clients.contract.conftest import House, Open
from tests.clients.contract.play import SHORT, asked_in, expected
from tests.clients.contract.programs import WITHIN_S
from tests.service.authority import Authority

from fritillary.record.terms import EndKind, LinkBank, Policy, Terms
from fritillary.service.tls import ServerTls

pytestmark = [pytest.mark.system, pytest.mark.timeout(300)]

SIGNALS = [signal.SIGINT, signal.SIGTERM]


async def plays(house: House, bot: Any) -> None:
    """Check that a bot is let in, plays a match as ever, and leaves."""
    await house.went_as_ever(bot, house.create(SHORT))
    await bot.stopped()


# ------------------------------------------------------------------------------ tokens


async def test_a_token_that_the_server_does_not_know_is_one_clear_line(
    house: House,
) -> None:
    bot = await house.started(token="frt_bot_nobody")
    line = await bot.failed("auth.unknown-token")
    assert "does not know this token" in line
    assert bot.events == []


async def test_no_token_no_address_and_no_server_are_one_clear_line_each(
    house: House,
) -> None:
    address, token = "FRITILLARY_ADDRESS", "FRITILLARY_TOKEN"
    bots = {
        "usage.token": house.bot(environment={token: ""}),
        "usage.address": house.bot(environment={address: ""}),
        "link.unreachable": house.bot(environment={address: "127.0.0.1:1"}),
    }
    for code, bot in bots.items():
        await bot.start()
        await bot.failed(code)
        assert bot.events == []


# ----------------------------------------------------------------------------- settings


@pytest.mark.parametrize(
    ("argument", "code"),
    [
        ("", "usage.argument"),
        ("{", "usage.argument"),
        ("null", "usage.argument"),
        ("[]", "usage.argument"),
        ('{"capacity": "many"}', "usage.argument"),
        ('{"capacity": 1.5}', "usage.argument"),
        ('{"games": "lepidoptery"}', "usage.argument"),
        ('{"nonce": 7}', "usage.argument"),
        ('{"encoding": "xml"}', "usage.encoding"),
        ('{"legal": "loud"}', "usage.legal"),
        ('{"answer": "shout"}', "usage.answer"),
        ('{"capacity": 0}', "usage.capacity"),
        ('{"capacity": -1}', "usage.capacity"),
        ('{"matches": 0}', "usage.capacity"),
        ('{"nonce": "0g"}', "usage.nonce"),
        ('{"nonce": "123"}', "usage.nonce"),
        (json.dumps({"nonce": "00" * 33}), "usage.nonce"),
        ('{"ca": "/no/such"}', "usage.ca"),
    ],
)
async def test_settings_that_make_no_sense_are_one_clear_line(
    house: House, argument: str, code: str
) -> None:
    bot = await house.started(argument=argument)
    await bot.failed(code)
    assert bot.events == []


async def test_settings_that_are_null_count_as_left_out(house: House) -> None:
    keys = (
        "encoding legal answer capacity matches games name build give_up_after ca cert "
        "key nonce decline illegal delay_ms resign_at"
    )
    bot = await house.connected(**dict.fromkeys(keys.split()))
    await house.went_as_ever(bot, house.create(SHORT))
    bot.signal(signal.SIGTERM)
    await bot.stopped()


# --------------------------------------------------------------------------------- TLS


@frozen
class Secret:
    """A server in TLS, and whom to trust.

    Args:
        house: of the server.
        authority: signed its certificate.
        other: did not.
    """

    house: House
    authority: Authority
    other: Authority


@pytest.fixture
async def secret(open_house: Open, tmp_path: Path) -> Secret:
    authority = Authority(tmp_path)
    pair = authority.sign("server", "127.0.0.1")
    house = await open_house(tls=ServerTls.load(pair.cert, pair.key))
    return Secret(house, authority, Authority(tmp_path, "other"))


@pytest.mark.parametrize("named_by", ["setting", "environment"])
async def test_a_bot_that_trusts_the_authority_plays_in_tls(
    secret: Secret, named_by: str
) -> None:
    ca = str(secret.authority.ca)
    how: dict[str, Any] = {"environment": {"FRITILLARY_CA": ca}}
    if named_by == "setting":
        how = {"ca": ca}
    await plays(secret.house, await secret.house.connected(matches=1, **how))


async def test_a_bot_that_trusts_another_authority_stays_out(secret: Secret) -> None:
    bot = await secret.house.started(ca=str(secret.other.ca))
    line = await bot.failed("link.certificate")
    assert "not trusted" in line
    assert bot.events == []


async def test_a_certificate_for_another_name_is_no_good(secret: Secret) -> None:
    port = secret.house.address.rpartition(":")[2]
    bot = await secret.house.started(
        address=f"localhost:{port}", ca=str(secret.authority.ca)
    )
    await bot.failed("link.certificate")


async def test_plain_text_to_a_server_in_tls_is_one_clear_line(secret: Secret) -> None:
    bot = await secret.house.started()
    assert "TLS" in await bot.failed("link.unreachable")


async def test_tls_to_a_server_in_plain_text_is_one_clear_line(
    house: House, tmp_path: Path
) -> None:
    bot = await house.started(ca=str(Authority(tmp_path).ca))
    assert "TLS" in await bot.failed("link.no-tls")


async def test_a_bot_shows_its_certificate_where_one_is_wanted(
    open_house: Open, tmp_path: Path
) -> None:
    authority = Authority(tmp_path)
    server, mine = authority.sign("server", "127.0.0.1"), authority.sign("mine")
    tls = ServerTls.load(server.cert, server.key, authority.ca)
    house = await open_house(tls=tls)
    ca = str(authority.ca)
    shown = {"cert": str(mine.cert), "key": str(mine.key)}
    await plays(house, await house.connected(ca=ca, matches=1, **shown))
    bot = await house.started(ca=ca)
    assert "certificate" in await bot.failed("link.unreachable")


# ------------------------------------------------------------------------------ leaving


@pytest.mark.parametrize("number", SIGNALS)
async def test_the_first_signal_lets_the_match_come_to_its_end(
    house: House, number: signal.Signals
) -> None:
    bot = await house.connected(delay_ms=20)
    hosted = house.create(SHORT)
    await bot.until("asked", count=4)
    bot.signal(number)
    await house.went_as_ever(bot, hosted)
    await bot.stopped()


@pytest.mark.parametrize("number", SIGNALS)
async def test_the_second_signal_leaves_at_once(
    house: House, number: signal.Signals
) -> None:
    bot = await house.connected(delay_ms=200)
    terms = Terms(policy=Policy.of(link=LinkBank(loss_ms=0, total_ms=0)))
    hosted = house.create(SHORT, "remote:bob", "uniform", terms=terms)
    await bot.until("asked")
    bot.signal(number)
    link = house.arena.hub.link("bob")
    session = link.session
    assert session is not None
    async with asyncio.timeout(WITHIN_S):
        while session.capacity:  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.01)
    bot.signal(number)
    await bot.failed("bot.unfinished")
    await house.result(hosted, EndKind.FORFEITED)


async def test_a_bot_whose_place_is_taken_says_what_it_left_and_the_other_plays_on(
    house: House,
) -> None:
    first = await house.connected(delay_ms=200)
    hosted = house.create(SHORT)
    await first.until("asked")
    second = await house.connected(matches=1)
    await first.failed("bot.unfinished")
    await house.result(hosted)
    assert (await second.until("offered"))["resumed"] is True
    await second.stopped()


async def test_a_bot_whose_place_is_taken_between_matches_has_left_nothing(
    house: House,
) -> None:
    first = await house.connected()
    await house.connected()
    await first.stopped()


@pytest.mark.parametrize("number", SIGNALS)
async def test_a_signal_ends_a_bot_that_plays_no_match(
    house: House, number: signal.Signals
) -> None:
    bot = await house.connected()
    bot.signal(number)
    await bot.stopped()
    assert [one["event"] for one in bot.events] == ["connected", "stopped"]


async def test_a_signal_ends_a_bot_that_waits_for_the_server(house: House) -> None:
    bot = await house.connected()
    await house.server.stop()
    await bot.until("lost")
    # With no match in play the first one is enough.
    bot.signal(signal.SIGTERM)
    await bot.stopped()


# ------------------------------------------------------------- programs of the server


async def test_the_server_starts_a_bot_by_itself(house: House) -> None:
    task = json.dumps({"matches": 1})
    player = f"exec:{shlex.join([*house.language.contract, task])}"
    hosted = house.create(SHORT, player, player)
    result = await house.result(hosted)
    wanted = await expected(house.arena.registry, SHORT)
    assert result.content_hash.hex() == wanted.content_hash
    assert hosted.problems == []
    assert hosted.path is not None
    told = []
    for seat in range(2):
        log = hosted.path.with_name(f"{hosted.id}.seat{seat}.log")
        async with asyncio.timeout(WITHIN_S):
            # It is there before it is written.
            while not (log.exists() and log.stat().st_size):  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        lines = log.read_text().splitlines()
        told += [json.loads(line) for line in lines if line.startswith("{")]
    asked = asked_in(told, hosted.id)
    asked.sort(key=lambda one: one["decision_id"])
    assert asked == wanted.asked
