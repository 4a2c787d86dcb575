"""What is told of a stranded match names no player as it was ordered."""

from __future__ import annotations

import grpc
import pytest
from tests.service.calls import Caller
from tests.service.house import plays
from tests.service.shelf import shelf

from fritillary.core.errors import (
    FritillaryError,
    GameError,
    ServiceError,
    StorageError,
    UnknownGameError,
)
from fritillary.service import taking_up
from fritillary.service.tokens import Role

#: Of it nobody but a referee may hear any part.
SPECS = (
    "exec:/opt/secret/bot --api-key=SECRET123 --persona=stockfish",
    "stdio:/opt/secret/bot --api-key=SECRET123",
)
SECRETS = ("secret", "SECRET123", "persona", "stockfish", "api-key")

#: Whatever may stop a match from being taken up, with a message that tells all.
ERRORS = [
    one(f"{SPECS[0]}: {code}", code=code)
    for one, code in (
        (ServiceError, "player.program"),
        (ServiceError, "player.not-found"),
        (ServiceError, "player.absent"),
        (FritillaryError, "player.of-some-kind"),
        (UnknownGameError, "game.unknown"),
        (GameError, "game.state"),
        (FritillaryError, "record.game"),
        (FritillaryError, "record.rules-version"),
        (StorageError, "storage.private"),
    )
]


async def stranded(house, spec, **more):
    """Kill the server while a match with a program is offered; start the next."""
    await house.stop()
    await house.start(shelf("home"))
    async with house.bot(play=plays(0)) as bot:
        house.arena.create("pig", ["remote:bob", spec], match_id="m")
        await bot.until("match_offer")
        await house.crash()
    await house.start(shelf("home"), **more)
    assert [*house.arena.stranded] == ["m"]


async def told(house, role, name):
    """Return all that somebody is told of the match, and the reason."""
    async with Caller(house, role, name) as one:
        match = (await one.GetMatch(match_id="m")).match
        said = [str(match)]
        for method in ("ListMatches", "WatchMatch", "FetchRecord", "PauseMatch"):
            wanted = {} if method == "ListMatches" else {"match_id": "m"}
            call = getattr(one, method)(**wanted)
            try:
                if hasattr(call, "__aiter__"):
                    said += [str(part) async for part in call]
                else:
                    said.append(str(await call))
            except grpc.aio.AioRpcError as error:
                said.append(f"{error.details()} {error.trailing_metadata()}")
    return "\n".join(said), match.stranded_reason


async def check(house):
    for role, name in ((Role.SPECTATOR, "eve"), (Role.BOT, "bob")):
        said, reason = await told(house, role, name)
        assert reason
        assert not [secret for secret in SECRETS if secret in said]


@pytest.mark.parametrize("spec", SPECS, ids=["exec", "stdio"])
async def test_who_is_no_referee_does_not_hear_how_a_program_was_named(house, spec):
    await stranded(house, spec, programs=False)
    await check(house)
    _, reason = await told(house, Role.REFEREE, "rita")
    assert spec[:20] in reason


@pytest.mark.parametrize("error", ERRORS, ids=[one.code for one in ERRORS])
async def test_whatever_the_reason_says_is_for_referees_and_the_log(
    house, monkeypatch, error
):
    def fails(*_, **__):
        raise error

    monkeypatch.setattr(taking_up, "refuse_programs", fails)
    await stranded(house, SPECS[0], programs=False)
    await check(house)
