"""Matches that have ended are found after a restart, from their records."""

from __future__ import annotations

import os

import pytest
from tests.service import pig
from tests.service.calls import Caller, outcome_of
from tests.service.house import plays
from tests.service.rawbot import first_legal, until

from fritillary.api.v1 import common_pb2, match_pb2
from fritillary.plugins.discovery import Registry
from fritillary.record.terms import EndKind
from fritillary.service import archive
from fritillary.service.tokens import Role

ENDED = common_pb2.MATCH_PHASE_ENDED


@pytest.fixture
def call(house):
    """Return a caller of a role, at the server that runs."""

    def caller(role=Role.SPECTATOR, name="somebody"):
        return Caller(house, role, name)

    return caller


async def played(house, match_id="m", **more):
    async with house.bot(play=first_legal) as bot:
        result = await house.create(match_id=match_id, **more).ended
        await bot.until("match_ended")
    return result


async def got(call, match_id="m"):
    async with call() as spectator:
        return (await spectator.GetMatch(match_id=match_id)).match


async def test_a_match_that_ended_before_is_as_it_was(house, call):
    await played(house, labels={"round": "1"})
    before = await got(call)
    await house.stop()
    await house.start()
    assert not house.arena.matches()
    after = await got(call)
    assert after.phase == ENDED
    # When it was started is not in the record.
    before.ClearField("started_at_ms")
    # The time of the end is that of the file.
    assert abs(after.ended_at_ms - before.ended_at_ms) < 1_000
    before.ended_at_ms = after.ended_at_ms
    # Nor is whether the seed was given: see match.proto.
    assert (before.seed_given, before.seed_given_unknown) == (True, False)
    before.seed_given, before.seed_given_unknown = False, True
    assert after == before


async def test_whether_its_seed_was_given_is_known_of_a_match_that_goes_on(house, call):
    async with house.bot(play=plays(1)) as bot:
        house.create()
        house.create(match_id="n", seed=None, salt=None)
        await bot.until("decision_request", count=2)
        await house.crash()
    await house.start()
    for match_id, given in (("m", True), ("n", False)):
        match = await got(call, match_id)
        assert (match.seed_given, match.seed_given_unknown) == (given, False)


async def test_its_end_is_dated_by_its_record(house, call):
    await played(house)
    await house.stop()
    os.utime(house.records / "m.frec", ns=(0, 1_234_567_000_000))
    await house.start()
    assert (await got(call)).ended_at_ms == 1_234_567


async def test_its_record_is_fetched_and_its_end_watched(house, call):
    result = await played(house)
    await house.stop()
    await house.start()
    async with call() as spectator:
        parts = [part.data async for part in spectator.FetchRecord(match_id="m")]
        watched = [one async for one in spectator.WatchMatch(match_id="m")]
    assert b"".join(parts) == (house.records / "m.frec").read_bytes()
    assert watched[-1].ended.result.final_hash == result.final_hash
    assert watched[-1].ended.result.kind == common_pb2.MATCH_END_KIND_PLAYED


async def test_who_looks_on_late_is_told_all_of_it(house, call):
    await played(house)

    async def all_of_it():
        wanted = {"match_id": "m", "after_event": 0, "picture": match_pb2.PICTURE_TEXT}
        async with call() as spectator:
            return [one async for one in spectator.WatchMatch(**wanted)]

    before = await all_of_it()
    await house.stop()
    await house.start()
    after = await all_of_it()
    assert [one.event for one in after] == [one.event for one in before]
    assert after[0] == before[0]
    assert after[0].view.picture.startswith("scores")
    assert after[-1] == before[-1]
    assert len(after) > 10


async def test_it_is_over_for_whoever_would_stop_it(house, call):
    await played(house)
    await house.stop()
    await house.start()
    async with call(Role.REFEREE) as referee:
        for method in ("PauseMatch", "ResumeMatch", "AbortMatch"):
            outcome = await outcome_of(getattr(referee, method)(match_id="m"))
            assert outcome == "match.phase"


async def test_a_bot_finds_those_it_sat_in_and_no_others(house, call):
    await played(house)
    await house.create("uniform", "uniform", match_id="theirs").ended
    await house.stop()
    await house.start()
    async with call(Role.BOT, "bob") as bot:
        assert (await bot.GetMatch(match_id="m")).match.phase == ENDED
        assert await outcome_of(bot.GetMatch(match_id="theirs")) == "match.unknown"
        assert await outcome_of(bot.FetchRecord(match_id="theirs")) == "match.unknown"


async def test_they_are_listed_after_those_that_go_on_in_pages(house, call):
    for number in range(5):
        labels = {"odd": str(number % 2)}
        await house.create(
            "uniform", "uniform", match_id=f"m{number}", labels=labels
        ).ended
    await house.stop()
    for number in range(5):
        # Some at the same moment: file systems are coarse.
        os.utime(house.records / f"m{number}.frec", ns=(0, number // 2 * 10**9))
    await house.start()
    house.create("remote:bob", "uniform", match_id="now")
    async with call() as spectator:
        pages: list[list[str]] = []
        token = ""
        while not pages or token:
            page = await spectator.ListMatches(page_size=2, page_token=token)
            pages.append([one.match_id for one in page.matches])
            token = page.next_page_token
        odd = await spectator.ListMatches(labels={"odd": "1"})
        other = await spectator.ListMatches(game="chess")
        going_on = await spectator.ListMatches(phases=[common_pb2.MATCH_PHASE_OFFERED])
        ended = await spectator.ListMatches(phases=[ENDED], game="pig")
        forged = await outcome_of(spectator.ListMatches(page_token="1@../x.zz"))
    assert pages == [["now", "m4"], ["m3", "m2"], ["m1", "m0"]]
    assert [one.match_id for one in odd.matches] == ["m3", "m1"]
    assert not other.matches
    assert [one.match_id for one in going_on.matches] == ["now"]
    assert len(ended.matches) == 5
    assert forged == "page.token"


async def test_only_so_many_are_kept_in_memory(house, monkeypatch):
    monkeypatch.setattr(archive, "_KEPT", 2)
    for number in range(4):
        await house.create("uniform", "uniform", match_id=f"m{number}").ended
    await house.stop()
    await house.start()
    first = await house.arena.find("m0")
    assert await house.arena.find("m0") is first
    for number in (1, 2):
        await house.arena.find(f"m{number}")
    assert len(house.arena.archive._kept) == 2
    assert await house.arena.find("m0") is not first


async def test_those_that_memory_has_let_go_are_found_as_well(house, call):
    await house.stop()
    await house.start(keep_ended=1)
    for number in range(3):
        await house.create("uniform", "uniform", match_id=f"m{number}").ended
        await until(lambda: len(house.arena.matches()) == 1)
    assert [one.id for one in house.arena.matches()] == ["m2"]
    assert (await got(call, "m0")).phase == ENDED
    async with call() as spectator:
        listed = (await spectator.ListMatches()).matches
    assert sorted(one.match_id for one in listed) == ["m0", "m1", "m2"]


async def test_a_match_that_was_made_void_at_the_start_is_found(house, call):
    async with house.bot(play=plays(2)) as bot:
        house.create()
        await bot.until("decision_request", count=3)
        await house.crash()
    house.private.forget("m")
    await house.start()
    match = await got(call)
    assert match.result.kind == common_pb2.MATCH_END_KIND_VOID
    assert match.result.code == "server.seed-lost"
    assert match.commitment.hash.hex() == house.record().header.commitment


async def test_a_deal_that_is_held_back_stays_so(house, call):
    await house.create("uniform", "uniform", sealed=True).ended
    for _ in range(2):
        await house.stop()
        await house.start()
    match = await got(call)
    assert match.phase == ENDED
    assert not match.result.HasField("reveal")
    async with call() as spectator:
        assert await outcome_of(spectator.FetchRecord(match_id="m")) == "match.sealed"
        assert await outcome_of(spectator.WatchMatch(match_id="m")) == "match.sealed"


async def test_what_is_no_record_of_a_match_is_unknown_and_lists_have_the_rest(
    house, call, tmp_path
):
    await played(house)
    async with house.bot(play=plays(1)) as bot:
        house.create(match_id="open")
        await bot.until("decision_request", count=2)
        await house.crash()
    raw = (house.records / "m.frec").read_bytes()
    (house.records / "renamed.frec").write_bytes(raw)
    (house.records / "garbage.frec").write_bytes(b"garbage")
    (house.records / "folder.frec").mkdir()
    # Left as it is: its game is not here any more.
    await house.start(Registry())
    async with call() as spectator:
        for unknown in (
            "renamed",
            "garbage",
            "folder",
            "never",
            "../m",
            "",
            ".",
        ):
            outcome = await outcome_of(spectator.GetMatch(match_id=unknown))
            assert outcome == "match.unknown", unknown
        listed = [one.match_id for one in (await spectator.ListMatches()).matches]
    assert listed == ["open", "m"]
    await house.stop()
    await house.start(pig.registry())
    async with call() as spectator:
        listed = [one.match_id for one in (await spectator.ListMatches()).matches]
    assert listed == ["open", "m"]


async def test_an_end_that_was_not_heard_is_dated_by_its_record_too(house):
    async with house.deaf_bot(play=first_legal) as bot:
        await house.create().ended
        await bot.until("match_ended")
        await house.crash()
    os.utime(house.records / "m.frec", ns=(0, 1_234_567_000_000))
    await house.start()
    assert (await house.arena.find("m")).ended_at_ms == 1_234_567
    assert (await house.arena.wait("m")).finish.kind is EndKind.PLAYED
