"""Nonces that are sent, and deals that are compared with what was promised."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import msgpack
import pytest

from fritillary.api.v1 import bot_pb2 as wire
from fritillary.api.v1 import common_pb2 as common
from fritillary.core.commitment import bot_seed, commitment
from fritillary.core.dealer import SEALED_ALGORITHM
from fritillary_client import Ask, Bot, MatchInfo, Outcome
from fritillary_client.dealing import Promise
from fritillary_client.encoding import JSON, MSGPACK

DEALS = json.loads(
    (Path(__file__).parents[2] / "golden" / "wire" / "deals.json").read_text(
        encoding="utf-8"
    )
)["deals"]

SEED, SALT, NONCE = b"s" * 32, b"a" * 32, b"my nonce"
OPTIONS = {"heap": 21, "order": ["b", "a"]}


class Witness(Bot):
    """Hears how its matches end."""

    def __init__(self) -> None:
        self.infos: list[MatchInfo] = []
        self.outcomes: asyncio.Queue[Outcome] = asyncio.Queue()

    async def offered(self, info: MatchInfo) -> None:
        self.infos.append(info)

    async def decide(self, ask: Ask) -> int:
        return ask.legal.indices[0]

    async def end(self, outcome: Outcome) -> None:
        self.outcomes.put_nowait(outcome)


def promised(match: str = "m1", seat: int = 0, **changes: Any) -> dict[str, Any]:
    """What an offer with a sealed deal says besides."""
    options = msgpack.packb(OPTIONS)
    return {
        "options": options,
        "commitment": common.Commitment(
            algorithm=SEALED_ALGORITHM, hash=commitment(match, options, SEED, SALT)
        ),
        "bot_seed": bot_seed(SEED, seat),
        "nonce_wanted": True,
        **changes,
    }


def a_reveal(*nonces: bytes, **changes: Any) -> common.Reveal:
    return common.Reveal(**{"seed": SEED, "salt": SALT, "nonces": nonces, **changes})


async def sent(stream: Any, match: str = "m1", **offer: Any) -> bytes:
    """The nonce with which a seat is taken."""
    await stream.offer(match, **offer)
    accept: wire.Accept = await stream.find("accept")
    await stream.find("ready")
    assert accept.match_id == match
    return accept.nonce


@pytest.mark.parametrize("encoding", [MSGPACK, JSON], ids=lambda each: each.name)
@pytest.mark.parametrize("case", DEALS, ids=[each["name"] for each in DEALS])
def test_deals_are_judged_as_in_every_language(case, encoding) -> None:
    offer = wire.MatchOffer(
        match_id=case["match_id"],
        seat=case["seat"],
        options=bytes.fromhex(case[f"options_{encoding.name}"]),
        bot_seed=case["bot_seed"],
        nonce_wanted=case["nonce_wanted"],
    )
    if case["commitment"] is not None:
        offer.commitment.algorithm = case["algorithm"]
        offer.commitment.hash = bytes.fromhex(case["commitment"])
    result = common.MatchResult()
    if case["seed"] is not None:
        result.reveal.seed = bytes.fromhex(case["seed"])
        result.reveal.salt = bytes.fromhex(case["salt"])
        result.reveal.nonces.extend(map(bytes.fromhex, case["nonces"]))
    nonce = None if case["sent"] is None else bytes.fromhex(case["sent"])
    promise = Promise(offer, nonce, encoding)
    assert promise.check(result) == case["deal"]


@pytest.mark.parametrize(
    "options", [b"", b"\x80", b"\xc1", b"{}", b"{", b'{"a":1e999999999}']
)
def test_a_commitment_over_other_options_is_broken_and_no_error(options) -> None:
    offer = wire.MatchOffer(match_id="m1", bot_seed=bot_seed(SEED, 0), options=options)
    offer.commitment.algorithm = SEALED_ALGORITHM
    offer.commitment.hash = commitment("m1", msgpack.packb(OPTIONS), SEED, SALT)
    result = common.MatchResult(reveal=a_reveal())
    for encoding in (MSGPACK, JSON):
        assert Promise(offer, b"", encoding).check(result) == "broken"


async def test_a_nonce_is_drawn_for_each_match_that_wants_one(arena, play) -> None:
    bot = Witness()
    play(bot, capacity=2)
    stream = await arena.stream()
    await stream.welcome()
    one = await sent(stream, "m1", nonce_wanted=True)
    other = await sent(stream, "m2", nonce_wanted=True)
    assert len(one) == len(other) == 16
    assert one != other
    assert [info.nonce_wanted for info in bot.infos] == [True, True]


async def test_a_nonce_that_is_set_is_sent_in_every_match(arena, play) -> None:
    play(Witness(), capacity=2, nonce=NONCE)
    stream = await arena.stream()
    await stream.welcome()
    assert await sent(stream, "m1", nonce_wanted=True) == NONCE
    assert await sent(stream, "m2", nonce_wanted=True) == NONCE


async def test_no_nonce_is_sent_where_none_is_wanted(arena, play) -> None:
    bot = Witness()
    play(bot, nonce=NONCE)
    stream = await arena.stream()
    await stream.welcome()
    assert await sent(stream) == b""
    assert not bot.infos[0].nonce_wanted


async def test_no_nonce_is_sent_for_a_seat_that_is_taken_up_again(arena, play) -> None:
    play(Witness(), nonce=NONCE)
    stream = await arena.stream()
    await stream.welcome()
    assert await sent(stream, nonce_wanted=True, resumed=True) == b""


async def test_a_seat_that_is_offered_again_is_taken_with_the_same_nonce(
    arena, play
) -> None:
    bot = Witness()
    play(bot)
    stream = await arena.stream()
    await stream.welcome()
    nonce = await sent(stream, **promised())
    assert await sent(stream, **promised()) == nonce
    stream.close()
    stream = await arena.stream()
    await stream.welcome()
    # As after a restart of the server: this program still knows what it sent.
    assert await sent(stream, **promised(resumed=True)) == nonce
    await stream.ended(reveal=a_reveal(nonce, b"theirs"))
    assert (await bot.outcomes.get()).deal == "verified"


@pytest.mark.parametrize(
    ("offer", "reveal", "deal"),
    [
        (promised(), a_reveal(NONCE, b""), "verified"),
        (promised(), a_reveal(NONCE, b"theirs"), "verified"),
        (promised(nonce_wanted=False), a_reveal(), "verified"),
        (promised(resumed=True), a_reveal(b"of an earlier run", b""), "verified"),
        (promised(), None, "not-revealed"),
        (promised(commitment=None), a_reveal(NONCE, b""), "not-revealed"),
        (promised(), a_reveal(NONCE, b"", seed=b"x" * 32), "broken"),
        (promised(), a_reveal(NONCE, b"", seed=b""), "broken"),
        (promised(), a_reveal(NONCE, b"", salt=b"x" * 32), "broken"),
        (promised("m2"), a_reveal(NONCE, b""), "broken"),
        (promised(bot_seed=7), a_reveal(NONCE, b""), "broken"),
        (promised(), a_reveal(b"theirs", NONCE), "broken"),
        (promised(), a_reveal(b"", b""), "broken"),
        (promised(), a_reveal(), "broken"),
        (promised(nonce_wanted=False), a_reveal(NONCE, b""), "broken"),
    ],
    ids=[
        "all-fits",
        "another-seat-has-a-nonce-too",
        "none-was-wanted",
        "taken-up-again",
        "no-reveal",
        "no-commitment",
        "another-seed",
        "no-seed",
        "another-salt",
        "committed-for-another-match",
        "another-bot-seed",
        "my-nonce-at-another-seat",
        "my-nonce-left-out",
        "no-nonces",
        "a-nonce-that-was-not-wanted",
    ],
)
async def test_a_bot_hears_whether_the_server_kept_its_promise(
    arena, play, caplog, offer, reveal, deal
) -> None:
    caplog.set_level("INFO", "fritillary_client")
    bot = Witness()
    running = play(bot, nonce=NONCE, matches=1)
    stream = await arena.stream()
    await stream.welcome()
    await stream.seated(**offer)
    await stream.ended(reveal=reveal)
    outcome = await bot.outcomes.get()
    await running.done()
    assert outcome.deal == deal
    assert outcome.placing == (1, 2)
    assert ("the deal is not the one" in caplog.text) == (deal == "broken")


async def test_a_match_that_the_server_has_forgotten_reveals_nothing(
    arena, play
) -> None:
    bot = Witness()
    play(bot)
    stream = await arena.stream()
    await stream.welcome()
    await stream.seated(**promised())
    stream.close()
    stream = await arena.stream()
    await stream.welcome(resumed=False)
    outcome = await bot.outcomes.get()
    assert (outcome.kind, outcome.deal) == ("unknown", "not-revealed")
