"""Attacks by who sits in a match: on its decisions, and on those of others."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from tests.service.fuzz import garbage
from tests.service.fuzz.attacker import Attacker, frame_of, said
from tests.service.fuzz.kinds import NOTICES, REPLACED, Field, kind, make_match
from tests.service.fuzz.streams import any_frame, choice

from fritillary.api.v1 import bot_pb2 as pb
from fritillary.api.v1 import common_pb2

#: What may be wrong with a decision on an open request.
_RULED = ("action.*", "codec.*", "game.*", "text.*")

#: How a match may end for the seat of an attacker.
_LOST = ("fault.*", "offer.*", "limit.message-size", "match.*")

_GAMES = ("pig", "lepidoptery", "lost-cities", "butterfly-garden")


async def seated(
    field: Field, count: int, attack: Callable[[Attacker, pb.DecisionRequest], Any]
) -> None:
    """Sit in matches; let each open request be attacked.

    Args:
        field: where.
        count: frames in all.
        attack: returns frames for an open request; they end it, by a ruling or
            otherwise.
    """
    for left in field.left(count):
        encoding = field.rng.choice((1, 2))
        hello = {"capacity": 250, "encoding": encoding}
        async with field.attacker(hello=hello) as bot:
            if not bot.welcome:
                continue
            game = field.rng.choice(_GAMES)
            match_id = await make_match(field, game)
            await _play(field, bot, match_id, left, attack)


async def _play(
    field: Field,
    bot: Attacker,
    match_id: str,
    left: int,
    attack: Callable[[Attacker, pb.DecisionRequest], Any],
) -> None:
    while left > 0:
        request = await asked(bot, match_id)
        if request is None:
            done = bot.over or match_id in bot.ended
            field.tally.expect(done, f"nothing more came of match {match_id}")
            return
        frames = attack(bot, request)
        field.tally.sent += len(frames)
        left -= len(frames)
        await bot.send(*frames)


async def asked(bot: Attacker, match_id: str) -> pb.DecisionRequest | None:
    """Return the next request of a match; ``None`` if there is none any more.

    What has to be answered meanwhile is.
    """

    def something() -> bool:
        known = match_id in bot.ended or match_id in bot.requests
        return known or bot.over or bool(bot.answers)

    while not bot.over and match_id not in bot.ended:
        await bot.answer()
        if not await bot.http2.until(something, 3):
            return None
        request = bot.requests.pop(match_id, None)
        if request is not None:
            return request
    return None


def decision(request: pb.DecisionRequest, **more: Any) -> bytes:
    """Return a frame with a decision on a request."""
    return said(
        decision=pb.Decision(
            match_id=request.match_id,
            seat=request.seat,
            decision_id=request.decision_id,
            **more,
        )
    )


@kind("hostile actions", *NOTICES, *REPLACED, *_RULED, *_LOST, share=10, few=300)
async def hostile_actions(field: Field, count: int) -> None:
    """Decisions whose action is nested, endless, doubled, or no action at all."""
    rng = field.rng

    def attack(bot: Attacker, request: pb.DecisionRequest) -> list[bytes]:
        encoding = bot.welcome.encoding if bot.welcome else 0
        as_json = encoding == common_pb2.ENCODING_JSON
        if rng.random() < 0.7:
            lie: dict[str, Any] = {"action": garbage.action(rng, as_json=as_json)}
        else:
            lie = choice(rng)
        return [decision(request, **lie)]

    await seated(field, count, attack)


@kind("notes and odds", *NOTICES, *REPLACED, *_LOST, share=6, few=200)
async def notes_and_odds(field: Field, count: int) -> None:
    """Legal decisions with notes and probabilities of any kind."""
    rng = field.rng

    def attack(bot: Attacker, request: pb.DecisionRequest) -> list[bytes]:
        odds = [garbage.float_of(rng) for _ in range(_odds(rng, len(request.legal)))]
        return [
            decision(
                request,
                index=rng.choice(request.legal),
                note=garbage.text(rng) * (1_000 if rng.random() < 0.02 else 1),
                probabilities=odds,
                think_ms=garbage.number(rng, 32),
            )
        ]

    await seated(field, count, attack)


def _odds(rng: random.Random, legal: int) -> int:
    if rng.random() < 0.02:
        return 20_000
    return rng.choice((0, 1, legal, legal, legal, legal + 1))


@kind("lies at the table", *NOTICES, *REPLACED, *_LOST, share=10, few=400)
async def lies_at_the_table(field: Field, count: int) -> None:
    """Wrong decision ids, seats and matches while a request is open, then a true one.

    Whatever was said before, the true one must be taken.
    """
    rng = field.rng

    def attack(bot: Attacker, request: pb.DecisionRequest) -> list[bytes]:
        lies = [_lie(rng, request, field.matches) for _ in range(rng.randint(1, 12))]
        return [*lies, decision(request, index=rng.choice(request.legal))]

    accepted_before = 0

    def counted(bot: Attacker, request: pb.DecisionRequest) -> list[bytes]:
        nonlocal accepted_before
        field.tally.expect(
            request.attempt == 1, f"a lie has cost something: {request.error.code}"
        )
        accepted_before = bot.accepted
        return attack(bot, request)

    await seated(field, count, counted)


def _lie(rng: random.Random, request: pb.DecisionRequest, matches: list[str]) -> bytes:
    number = request.decision_id
    seat = request.seat
    lies: tuple[Callable[[], bytes], ...] = (
        lambda: _decides(request, decision_id=number + rng.choice((1, 2, 2**40))),
        lambda: _decides(request, decision_id=rng.choice((0, 2**64 - 1))),
        lambda: _decides(request, decision_id=number - 1 if number else 2**63),
        lambda: _decides(request, seat=seat + rng.choice((1, 2, 63, 2**31))),
        lambda: _decides(request, match_id=rng.choice((*matches, "none"))),
        lambda: _decides(request, match_id=garbage.text(rng)),
        lambda: said(
            resign=pb.Resign(
                match_id=request.match_id, seat=seat + 1, decision_id=number
            )
        ),
        lambda: said(
            resign=pb.Resign(match_id=request.match_id, decision_id=number + 1)
        ),
        lambda: said(
            ack=pb.Ack(
                match_id=request.match_id,
                event_number=garbage.number(rng, 32),
                closed_decision_id=garbage.number(rng),
                ended=True,
            )
        ),
        lambda: said(accept=pb.Accept(match_id=request.match_id, nonce=b"x" * 99)),
        lambda: said(decline=pb.Decline(match_id=request.match_id, code="too.late")),
        lambda: said(ready=pb.Ready(match_id=request.match_id)),
        lambda: said(capacity=pb.Capacity(matches=garbage.number(rng, 32))),
        lambda: said(hello=pb.Hello()),
        lambda: any_frame(rng, matches),
    )
    return rng.choice(lies)()


def _decides(request: pb.DecisionRequest, **wrong: Any) -> bytes:
    fields = {
        "match_id": request.match_id,
        "seat": request.seat,
        "decision_id": request.decision_id,
    }
    return said(decision=pb.Decision(**{**fields, **wrong}, index=request.legal[0]))


@kind("offers", *NOTICES, *REPLACED, *_LOST, *_RULED, share=0.25, few=40)
async def offers(field: Field, count: int) -> None:
    """Ready before Accept, Accept twice, Decline after Ready, and silence."""
    rng = field.rng
    for _ in field.left(count):
        hello = {"capacity": 250}
        async with field.attacker(hello=hello, plays=False) as bot:
            if not bot.welcome:
                continue
            match_id = await make_match(field, preset="short")
            await bot.http2.until(lambda bot=bot: bot.over or bot.offers)  # type: ignore[misc]
            frames = _around_an_offer(rng, match_id)
            field.tally.sent += len(frames)
            await bot.send(*frames)
            await bot.sync()


def _around_an_offer(rng: random.Random, match_id: str) -> list[bytes]:
    ready = pb.BotMessage(ready=pb.Ready(match_id=match_id))
    accept = pb.BotMessage(accept=pb.Accept(match_id=match_id, nonce=rng.randbytes(32)))
    long = pb.BotMessage(accept=pb.Accept(match_id=match_id, nonce=rng.randbytes(33)))
    decline = pb.BotMessage(
        decline=pb.Decline(match_id=match_id, message=garbage.text(rng))
    )
    decides = pb.BotMessage(
        decision=pb.Decision(match_id=match_id, decision_id=garbage.number(rng))
    )
    resigns = pb.BotMessage(resign=pb.Resign(match_id=match_id))
    acks = pb.BotMessage(ack=pb.Ack(match_id=match_id, event_number=9, ended=True))
    parts = [ready, accept, accept, long, decline, decides, resigns, acks, ready]
    rng.shuffle(parts)
    return [frame_of(one) for one in parts[: rng.randint(1, len(parts))]]


@kind("flapping", *NOTICES, *REPLACED, *_LOST, *_RULED, share=0.25, few=30)
async def flapping(field: Field, count: int) -> None:
    """Links that are cut in the middle of a match and resumed, until it is over."""
    rng = field.rng
    for _ in field.left(count):
        token, match_id = "", ""
        for _ in range(rng.randint(2, 8)):
            hello = {"capacity": 250, "session_token": token}
            async with field.attacker(hello=hello) as bot:
                if not bot.welcome:
                    break
                token = bot.welcome.session_token
                if not match_id:
                    match_id = await make_match(field, loss_ms=200)
                field.tally.sent += 1
                await _few_decisions(rng, bot, match_id)
            if match_id in bot.ended:
                break


async def _few_decisions(rng: random.Random, bot: Attacker, match_id: str) -> None:
    for _ in range(rng.randint(1, 4)):
        request = await asked(bot, match_id)
        if request is None:
            return
        await bot.send(decision(request, index=request.legal[-1]))
