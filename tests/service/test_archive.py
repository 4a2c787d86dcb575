"""The archive, whatever lies in the folder of the records, and its bounds."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import stat
import threading
from pathlib import Path

import attrs
import pytest
from tests.service import take
from tests.service.calls import Caller, outcome_of
from tests.service.house import plays
from tests.service.rawbot import first_legal, until

from fritillary.api.v1 import match_pb2 as pb
from fritillary.app.application import Application
from fritillary.core.errors import RecordError
from fritillary.record.events import Dealt, Ended, OutcomeData, Revealed
from fritillary.record.terms import EndKind
from fritillary.record.writer import MemorySink, RecordWriter
from fritillary.service import archive, arena, index
from fritillary.service.pages import page_token
from fritillary.service.simulator_limits import SimulatorLimits
from fritillary.service.tokens import Role
from fritillary_client import Referee

OPERATE = Path(__file__).parents[2] / "docs" / "operate.md"


@pytest.fixture
def call(house):
    """Return a caller of a role, at the server that runs."""

    def caller(role=Role.SPECTATOR, name="somebody"):
        return Caller(house, role, name)

    return caller


async def listed(call, **wanted):
    async with call() as spectator:
        matches = (await spectator.ListMatches(**wanted)).matches
    return [one.match_id for one in matches]


async def ended_before(house, *match_ids, **more):
    """Play matches to their end, then start the server anew."""
    for match_id in match_ids:
        await house.create("uniform", "uniform", match_id=match_id, **more).ended
    await house.stop()
    await house.start()


# ---------------------------------------------------------- deals that nobody knows of


@pytest.mark.parametrize("sealed", [True, False])
async def test_without_its_seed_a_match_stays_closed(house, call, sealed):
    """Whether others were to play its deal was kept with the seed, and is lost too."""
    async with house.bot(play=plays(2)) as bot:
        house.create(sealed=sealed)
        await bot.until("decision_request", count=3)
        await house.crash()
    house.private.forget("m")
    path = house.records / "m.frec"
    for _ in range(2):
        await house.start()
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        for role, name in ((Role.SPECTATOR, "eve"), (Role.BOT, "bob")):
            async with call(role, name) as somebody:
                fetched = somebody.FetchRecord(match_id="m")
                assert await outcome_of(fetched) == "match.sealed"
                shown = (await somebody.GetMatch(match_id="m")).match
            assert shown.result.code == "server.seed-lost"
            assert not shown.result.HasField("reveal")
        async with call() as spectator:
            watched = spectator.WatchMatch(match_id="m")
            assert await outcome_of(watched) == "match.sealed"
        await house.stop()


async def test_one_that_was_opened_to_others_before_is_closed_all_the_same(house, call):
    async with house.bot(play=plays(2)) as bot:
        house.create(sealed=True)
        await bot.until("decision_request", count=3)
        await house.crash()
    house.private.forget("m")
    await house.start()
    await house.stop()
    (house.records / "m.frec").chmod(0o644)
    await house.start()
    async with call() as spectator:
        assert await outcome_of(spectator.FetchRecord(match_id="m")) == "match.sealed"


# --------------------------------------------------------- records that cannot be shown


def forge(house, match_id, end, **header):
    """Write a record whose chain holds, of a match that went nowhere."""
    sink = MemorySink()
    true = attrs.evolve(house.record("true").header, match_id=match_id, **header)
    RecordWriter(sink, true).add(end)
    (house.records / f"{match_id}.frec").write_bytes(sink.getvalue())


def ended(scores, placing):
    return Ended(EndKind.PLAYED, outcome=OutcomeData("target", scores, placing))


GOOD = ended((1, 0), (1, 2))


@pytest.mark.parametrize(
    ("end", "header"),
    [
        (ended((1, 0), (2, 2)), {}),
        (ended((), ()), {}),
        (ended((1, 0), (1,)), {}),
        (ended((2, 1, 0), (1, 2, 3)), {}),
        (GOOD, {"created_at_ms": -5}),
        (GOOD, {"options": "c1"}),
        (GOOD, {"seats": ()}),
    ],
    ids=[
        "bad-placing",
        "no-scores",
        "a-place-is-missing",
        "a-seat-too-many",
        "before-1970",
        "options-no-data",
        "no-seats",
    ],
)
async def test_a_record_that_makes_no_sense_is_left_out(house, call, end, header):
    await ended_before(house, "true")
    forge(house, "forged", end, **header)
    assert await listed(call) == ["true"]
    async with call() as spectator:
        assert await outcome_of(spectator.GetMatch(match_id="forged")) == (
            "match.unknown"
        )
    await house.stop()
    await house.start()
    assert await listed(call) == ["true"]


async def test_a_forged_record_that_makes_sense_is_shown(house, call):
    await ended_before(house, "true")
    forge(house, "forged", GOOD)
    # It claims to be of the same moment.
    assert await listed(call) == ["true", "forged"]


async def test_options_that_its_rules_stumble_over_leave_no_match_out(
    house, call, monkeypatch
):
    await ended_before(house, "m")
    codec = type(house.arena.registry.game("pig").codec)

    def stumble(codec, raw):
        raise ZeroDivisionError

    with monkeypatch.context() as patch:
        patch.setattr(codec, "decode_options", stumble)
        assert await listed(call) == ["m"]
        async with call() as spectator:
            watched = spectator.WatchMatch(match_id="m", after_event=0)
            told = [one.WhichOneof("update") async for one in watched]
        assert told == ["view", "status", "ended"]
    async with call() as spectator:
        watched = spectator.WatchMatch(match_id="m", after_event=0)
        told = [one.WhichOneof("update") async for one in watched]
    assert told.count("event") > 2


async def test_a_record_whose_options_need_all_memory_is_not_played_again(
    house, call, monkeypatch
):
    """As whoever keeps the server may have it from a stranger."""
    await house.stop()
    await house.start(take.registry())
    short = SimulatorLimits(
        max_call_ms=1_000, max_calls=9, workers=1, memory_bytes=1024**3
    )
    for apart in house.server._apart._by_known.values():
        monkeypatch.setattr(apart, "_limits", short)
    hosted = house.arena.create("take", ["uniform", "uniform"], match_id="true")
    await hosted.ended
    true = house.record("true")
    codec = hosted.order.game.codec
    for match_id, stones in (("small", 5), ("huge", 10**10)):
        options = codec.encode_options(take.Options(stones)).hex()
        sink = MemorySink()
        header = attrs.evolve(true.header, match_id=match_id, options=options)
        writer = RecordWriter(sink, header)
        writer.add(Dealt())
        writer.add(Ended(EndKind.VOID, "host.closing", "it has to end"))
        writer.add(true.find(Revealed))
        (house.records / f"{match_id}.frec").write_bytes(sink.getvalue())
    async with call() as spectator:

        async def told(match_id):
            watched = spectator.WatchMatch(match_id=match_id, after_event=0)
            return [one.WhichOneof("update") async for one in watched]

        async with asyncio.timeout(110):
            assert "event" in await told("small")
            assert "event" not in await told("huge")
            # Nobody is held up who looks on at others afterwards.
            assert "event" in await told("small")


async def test_a_pipe_among_the_records_holds_nobody_up(house, call):
    await ended_before(house, "m")
    for name, mode in (("shut", 0o600), ("open", 0o644)):
        os.mkfifo(house.records / f"{name}.frec", mode)
    assert await listed(call) == ["m"]
    async with call() as spectator:
        assert await outcome_of(spectator.GetMatch(match_id="open")) == "match.unknown"
    with pytest.raises(RecordError):
        index.header_of(house.records / "open.frec")
    await house.stop()
    await house.start()
    assert await listed(call) == ["m"]


# --------------------------------------------------------------------------- its bounds


async def test_files_are_read_one_at_a_time(house, call, monkeypatch):
    await ended_before(house, "a", "b", "c")
    both = threading.Barrier(2)
    read = archive._read

    met: list[bool] = []

    def with_another(*arguments):
        # Broken as soon as one has waited in vain.
        with contextlib.suppress(threading.BrokenBarrierError):
            both.wait(timeout=0.5)
            met.append(True)
        return read(*arguments)

    monkeypatch.setattr(archive, "_read", with_another)
    found = await asyncio.gather(*map(house.arena.find, "abc"))
    assert [one.id for one in found] == ["a", "b", "c"]
    assert not met


async def test_a_page_looks_through_so_many_records_and_no_more(
    house, call, monkeypatch
):
    await ended_before(house, "m0", "m1", labels={"old": ""})
    await ended_before(house, "m2", "m3", "m4")
    for number in range(5):
        os.utime(house.records / f"m{number}.frec", ns=(0, number * 10**9))
    assert await listed(call, labels={"old": ""}) == ["m1", "m0"]
    monkeypatch.setattr(archive, "_LISTED", 4)
    assert await pages_of(house, call, nothing, labels={"old": ""}) == [["m1"], ["m0"]]
    # A page may be empty and yet not the last.
    monkeypatch.setattr(archive, "_LISTED", 2)
    assert await pages_of(house, call, nothing, labels={"old": ""}) == [
        *([], ["m1"], ["m0"])
    ]
    assert await pages_of(house, call, nothing, game="chess") == [[], [], []]
    async with Referee(house.address, house.token("rita", Role.REFEREE)) as referee:
        old = [one.match_id async for one in referee.list_matches(labels={"old": ""})]
    assert old == ["m1", "m0"]
    pages: list[list[str]] = []
    token = ""
    async with call() as spectator:
        while not pages or token:
            page = await spectator.ListMatches(page_size=2, page_token=token)
            pages.append([one.match_id for one in page.matches])
            token = page.next_page_token
    assert pages == [["m4", "m3"], ["m2", "m1"], ["m0"]]


async def test_pages_that_end_early_hold_matches_of_the_memory_once(
    house, call, monkeypatch
):
    await ended_before(house, *(f"m{number}" for number in range(4)))
    for number in range(4):
        made_ns = (4 - number) * 10**9
        os.utime(house.records / f"m{number}.frec", ns=(0, made_ns))
    # As old as the second of four that lie in the archive.
    monkeypatch.setattr(arena, "wall_ms", lambda: 3_500)
    await house.create("uniform", "uniform", match_id="now").ended
    monkeypatch.setattr(archive, "_LISTED", 1)
    pages = await pages_of(house, call, nothing)
    assert list(itertools.chain(*pages)) == ["m0", "now", "m1", "m2", "m3"]


@pytest.mark.parametrize("anew", [False, True], ids=["running", "restarted"])
async def test_matches_are_found_by_the_full_id_of_their_game(house, call, anew):
    games = Application().registry
    await house.stop()
    await house.start(games)
    name = "lepidoptery"
    home = games.game(name).distribution
    asked_for = (name, f"{home}:{name}", f"{name}+no-pass", f"{home}:{name}+no-pass")
    for number, game in enumerate(asked_for):
        players = ["uniform", "uniform"]
        made = house.arena.create(game, players, match_id=f"m{number}")
        await made.ended
    if anew:
        await house.stop()
        await house.start(games)
    assert await listed(call, game=name) == ["m1", "m0"]
    assert await listed(call, game=f"{home}:{name}") == ["m1", "m0"]
    assert await listed(call, game=f"{name}+no-pass") == ["m3", "m2"]
    assert await listed(call, game=f"{home}:{name}+no-pass") == ["m3", "m2"]
    assert await listed(call, game=f"other:{name}") == []
    assert await listed(call, game=f"{name}+pass") == []
    assert len(await listed(call)) == 4


async def nothing(_):
    """Nothing happens between two pages."""


async def pages_of(house, call, between, **wanted):
    """Return the ids of the matches on each page; something happens between them."""
    pages: list[list[str]] = []
    token = ""
    while not pages or token:
        if pages:
            await between(len(pages))
        async with call() as spectator:
            page = await spectator.ListMatches(page_size=2, page_token=token, **wanted)
        pages.append([one.match_id for one in page.matches])
        token = page.next_page_token
    return pages


async def test_pages_go_on_over_restarts_and_whatever_ends_meanwhile(house, call):
    await house.stop()
    await house.start(keep_ended=2)
    for number in range(5):
        await house.create("uniform", "uniform", match_id=f"m{number}").ended
    # The first is written last, by two who are not there yet.
    house.create(match_id="p0")
    house.create(match_id="p1")
    await house.create("uniform", "uniform", match_id="q").ended

    async def happens(after):
        if after == 1:
            async with house.bot(play=first_legal, capacity=8) as bot:
                await bot.until("match_ended", count=2)
            await until(lambda: house.arena.match("p0").over)
        elif after == 2:
            # In memory there are but the last; then none at all.
            house.create("uniform", "uniform", match_id="later")
            await house.arena.wait("later")
        else:
            await house.stop()
            await house.start()

    expected = [["q", "p1"], ["p0", "m4"], ["m3", "m2"], ["m1", "m0"]]
    assert await pages_of(house, call, happens) == expected
    assert await listed(call) == ["later", *itertools.chain(*expected)]


async def test_a_record_whose_time_was_set_back_is_on_one_page_all_the_same(
    house, call
):
    await ended_before(house, "m0", "m1", "m2", "m3", "m4")
    os.utime(house.records / "m4.frec", ns=(0, 10**9))

    async def happens(_):
        await house.stop()
        await house.start()

    assert await pages_of(house, call, happens) == [["m3", "m2"], ["m1", "m0"], ["m4"]]


async def test_a_record_whose_time_is_set_while_the_server_runs_is_listed_once(
    house, call
):
    names = ["m0", "m1", "m2"]
    await ended_before(house, *names)
    path = house.records / "m2.frec"
    about = path.stat()
    assert await listed(call) == ["m2", "m1", "m0"]
    os.utime(path, ns=(0, 10**9))
    for _ in range(2):
        assert await listed(call) == ["m1", "m0", "m2"]
    os.utime(path, ns=(about.st_atime_ns, about.st_mtime_ns))
    # It is met where it was, and stands where it belongs from then on.
    assert sorted(await listed(call)) == names
    assert await listed(call) == ["m2", "m1", "m0"]


async def test_matches_of_one_moment_are_listed_in_the_order_they_were_made(
    house, call, monkeypatch
):
    monkeypatch.setattr(arena, "wall_ms", lambda: 10**12)
    names = ["b", "c", "a"]
    for name in names:
        await house.create("uniform", "uniform", match_id=name).ended
    assert await listed(call) == names[::-1]
    await house.stop()
    await house.start()
    assert await listed(call) == names[::-1]


async def test_files_of_impossible_times_are_listed_in_pages_too(house, call):
    await ended_before(house, "a", "b", "c")
    for name, ns in (("a", -(10**9)), ("b", -1), ("c", 10**9)):
        os.utime(house.records / f"{name}.frec", ns=(0, ns))
    async with call() as spectator:
        first = await spectator.ListMatches(page_size=2)
        token = first.next_page_token
        second = await spectator.ListMatches(page_size=2, page_token=token)
    assert [one.match_id for one in first.matches] == ["c", "b"]
    assert [one.match_id for one in second.matches] == ["a"]
    assert second.matches[0].ended_at_ms == 0


def test_how_many_that_is_is_told_to_whoever_keeps_the_server():
    assert f"the {archive._LISTED:,} newest" in " ".join(OPERATE.read_text().split())


@pytest.mark.parametrize(
    "position",
    [
        *("x", "1", "-1@m", " 1@m", f"{'1' * 16}@m", "\u0661@m", ""),
        *("@", "1@", "@m", "x@m", "1@../m", "1@m@n", "1@m\n", f"1@{'m' * 65}"),
    ],
)
async def test_positions_that_no_page_has_are_refused(house, call, position):
    await ended_before(house, "m")
    token = page_token(pb.ListMatchesRequest(), position)
    async with call() as spectator:
        page = spectator.ListMatches(page_token=token)
        assert await outcome_of(page) == "page.token"


@pytest.mark.parametrize("damage", [b"", b"garbage"], ids=["empty", "garbage"])
async def test_what_was_kept_of_a_match_may_be_damaged_once_it_has_ended(
    house, call, damage
):
    await ended_before(house, "m", sealed=True)
    await house.stop()
    (house.private.path / "m.order").write_bytes(damage)
    await house.start()
    assert await listed(call) == ["m"]
    async with call() as spectator:
        match = (await spectator.GetMatch(match_id="m")).match
        assert await outcome_of(spectator.FetchRecord(match_id="m")) == "match.sealed"
    assert match.ply > 0
