"""Records of games that are not installed any more, or not as they were."""

from __future__ import annotations

import pytest
from tests.service.calls import Caller, outcome_of
from tests.service.house import plays
from tests.service.rawbot import first_legal, until
from tests.service.shelf import shelf

from fritillary.api.v1 import common_pb2
from fritillary.record.events import Ended
from fritillary.service.tokens import Role

#: What is installed at the second start.
OTHERS = pytest.mark.parametrize(
    "others",
    [
        shelf(),
        shelf("home", version=2),
        shelf("home", variant=0),
        shelf("home", variant=2),
    ],
    ids=["no-game", "other-rules", "no-variant", "other-variant"],
)


async def played(house):
    """Play a match, and start the server anew with other games."""
    await house.stop()
    await house.start(shelf("home"))
    async with house.bot(play=first_legal) as bot:
        made = house.arena.create(
            "pig+same",
            ["remote:bob", "uniform"],
            match_id="m",
            options={"target": 30},
            labels={"round": "1"},
        )
        await made.ended
        await bot.until("match_ended")
    async with Caller(house, Role.REFEREE, "rita") as referee:
        return (await referee.GetMatch(match_id="m")).match


@OTHERS
async def test_they_are_told_of_as_they_were(house, others):
    before = await played(house)
    await house.stop()
    await house.start(others)
    async with Caller(house, Role.REFEREE, "rita") as referee:
        after = (await referee.GetMatch(match_id="m")).match
        listed = (await referee.ListMatches()).matches
        (found,) = (await referee.ListMatches(game="home:pig+same")).matches
        assert not (await referee.ListMatches(game="pig")).matches
    assert [*listed] == [found] == [after]
    # What no record tells.
    before.ClearField("started_at_ms")
    before.ended_at_ms = after.ended_at_ms
    before.seed_given_unknown = True
    assert after == before


@OTHERS
async def test_they_are_fetched(house, others):
    await played(house)
    await house.stop()
    await house.start(others)
    raw = (house.records / "m.frec").read_bytes()
    for role, name in ((Role.SPECTATOR, "eve"), (Role.BOT, "bob")):
        async with Caller(house, role, name) as somebody:
            parts = [one.data async for one in somebody.FetchRecord(match_id="m")]
        assert b"".join(parts) == raw
    async with Caller(house, Role.BOT, "eve") as nobody:
        assert await outcome_of(nobody.FetchRecord(match_id="m")) == "match.unknown"


@OTHERS
async def test_of_what_was_played_only_the_end_is_told(house, others):
    before = await played(house)
    await house.stop()
    await house.start(others)
    async with Caller(house, Role.SPECTATOR, "eve") as eve:
        watched = eve.WatchMatch(match_id="m", after_event=0)
        view, status, ended = [one async for one in watched]
    assert view.HasField("view")
    assert status.status.phase == common_pb2.MATCH_PHASE_ENDED
    assert ended.ended.match_id == "m"
    assert ended.ended.result == before.result


@OTHERS
async def test_there_is_nothing_to_stop(house, others):
    await played(house)
    await house.stop()
    await house.start(others)
    async with Caller(house, Role.REFEREE, "rita") as referee:
        for method in ("PauseMatch", "ResumeMatch", "AbortMatch"):
            call = getattr(referee, method)(match_id="m")
            assert await outcome_of(call) == "match.phase"


@OTHERS
async def test_a_match_goes_on_once_its_game_is_back(house, others, caplog):
    await house.stop()
    await house.start(shelf("home"))
    async with house.bot(play=plays(1)) as bot:
        house.arena.create("pig+same", ["remote:bob", "uniform"], match_id="m")
        await bot.until("decision_request", count=2)
        await house.crash()
    await house.start(others)
    assert house.taken_up == 0
    assert "match m is left as it is" in caplog.text
    await house.stop()
    await house.start(shelf("home"))
    assert house.taken_up == 1
    async with house.bot(play=first_legal) as bot:
        await bot.until("match_ended")


async def ended_unheard(house, **more):
    """Let a match end without its bot hearing of it; return the session's token."""
    await house.stop()
    await house.start(shelf("home"))
    async with house.deaf_bot(play=first_legal) as bot:
        made = house.arena.create(
            "pig+same", ["remote:bob", "uniform"], match_id="m", **more
        )
        await made.ended
        await bot.until("match_ended")
        await house.crash()
        return bot.log[0][1].session_token


@OTHERS
async def test_a_bot_that_was_away_hears_of_the_end(house, others):
    token = await ended_unheard(house)
    await house.start(others)
    async with house.bot(session_token=token) as bot:
        told = await bot.until("match_ended")
        # Nothing more is owed, nor kept.
        await until(lambda: "m" not in set(house.private.matches()))
    assert told.match_id == "m"
    assert told.result.kind == common_pb2.MATCH_END_KIND_PLAYED
    assert not house.arena.hub.owes_end("bob", "m")


@OTHERS
async def test_a_record_that_lacks_but_its_closing_is_closed(house, others):
    token = await ended_unheard(house)
    path = house.records / "m.frec"
    whole = path.read_bytes()
    house.cut(len(house.record().events) - 2)
    assert isinstance(house.record().events[-1], Ended)
    await house.start(others)
    assert path.read_bytes() == whole
    async with Caller(house, Role.SPECTATOR, "eve") as eve:
        parts = [one.data async for one in eve.FetchRecord(match_id="m")]
    assert b"".join(parts) == whole
    async with house.bot(session_token=token) as bot:
        assert (await bot.until("match_ended")).result.HasField("reveal")


@OTHERS
async def test_a_deal_that_others_are_to_play_stays_closed(house, others):
    token = await ended_unheard(house, sealed=True)
    await house.start(others)
    async with house.bot(session_token=token) as bot:
        assert not (await bot.until("match_ended")).result.HasField("reveal")
        await until(lambda: not house.arena.hub.owes_end("bob", "m"))
    async with Caller(house, Role.SPECTATOR, "eve") as eve:
        assert await outcome_of(eve.FetchRecord(match_id="m")) == "match.sealed"
    # Its seed is needed until the deal is revealed.
    assert "m" in set(house.private.matches())
    await house.stop()
    await house.start(others)
    assert not house.arena.hub.owes_end("bob", "m")
