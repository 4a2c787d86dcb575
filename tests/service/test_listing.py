"""Lists of matches: how large a page is, and whom it holds up."""

from __future__ import annotations

import asyncio

import pytest
from tests.service.calls import Caller
from tests.service.rawbot import until

from fritillary.api.v1 import common_pb2, match_pb2
from fritillary.record.terms import EndKind
from fritillary.service.hosted import HostedMatch
from fritillary.service.listing import Listing
from fritillary.service.pages import PAGE_BYTES
from fritillary.service.tokens import Role

#: What a page may have, with all around it.
MOST = 256 * 1024

#: Of a match: about 5 KB.
LABELS = {("é" * 60) + f"{number:02}": "日" * 64 for number in range(16)}


async def played(stage, count, **settings):
    """Play matches; return their ids, the newest first."""
    for number in range(count):
        match_id = f"m{number:03}"
        await stage.arena.play(
            "pig",
            ["uniform", "uniform"],
            match_id=match_id,
            **settings,
        )
    return [f"m{number:03}" for number in reversed(range(count))]


async def pages_of(caller, **wanted):
    """Return all pages of a list."""
    pages: list[match_pb2.ListMatchesResponse] = []
    token = ""
    while token or not pages:
        pages.append(await caller.ListMatches(page_token=token, **wanted))
        token = pages[-1].next_page_token
    return pages


def ids_of(pages):
    return [match.match_id for page in pages for match in page.matches]


@pytest.mark.parametrize("kept", ["in memory", "in the archive", "in both"])
async def test_pages_end_at_a_number_of_bytes_and_go_on(open_stage, tmp_path, kept):
    records = None if kept == "in memory" else tmp_path
    keep = {"in memory": 1_000, "in the archive": 1, "in both": 60}[kept]
    stage = await open_stage(records=records, keep_ended=keep)
    ids = await played(stage, 120, labels=LABELS)
    async with Caller(stage, Role.SPECTATOR) as ann:
        for size in (0, 1_000):
            pages = await pages_of(ann, page_size=size)
            assert len(pages) > 2
            assert all(page.ByteSize() <= MOST for page in pages)
            # None is smaller than it has to be.
            assert all(page.ByteSize() > PAGE_BYTES - 6_000 for page in pages[:-1])
            assert ids_of(pages) == ids
        assert ids_of(await pages_of(ann, page_size=7)) == ids


async def test_a_match_that_is_larger_than_a_page_has_one_of_its_own(
    stage, monkeypatch
):
    ids = await played(stage, 3)
    hosted = await stage.arena.find(ids[1])
    monkeypatch.setattr(hosted, "problems", [(0, "x" * MOST)])
    async with Caller(stage, Role.REFEREE) as referee:
        pages = await pages_of(referee)
    assert [[one.match_id for one in page.matches] for page in pages] == [
        [one] for one in ids
    ]


async def test_the_last_page_has_no_token_however_it_ends(stage):
    ids = await played(stage, 32)
    async with Caller(stage, Role.SPECTATOR) as ann:
        for size in (16, 32, 33):
            pages = await pages_of(ann, page_size=size)
            assert ids_of(pages) == ids
            assert len(pages) == -(-32 // size)


async def test_a_list_is_made_in_pieces_between_which_others_run(stage, monkeypatch):
    await played(stage, 80)
    ticks = 0
    shown: list[int] = []

    async def tick():
        nonlocal ticks
        while True:
            ticks += 1
            await asyncio.sleep(0)

    def to_proto(self, **settings):
        shown.append(ticks)
        return real(self, **settings)

    real = HostedMatch.to_proto
    monkeypatch.setattr(HostedMatch, "to_proto", to_proto)
    ticking = asyncio.ensure_future(tick())
    async with Caller(stage, Role.SPECTATOR) as ann:
        await ann.ListMatches()
    ticking.cancel()
    assert len(shown) == 80
    assert max(shown.count(at) for at in shown) <= 16


async def test_tokens_take_turns_and_each_has_one_list_under_way(stage, monkeypatch):
    await played(stage, 40)
    under_way: list[Listing] = []
    most = 0

    async def page(self):
        nonlocal most
        under_way.append(self)
        most = max(most, len(under_way))
        try:
            return await real(self)
        finally:
            under_way.remove(self)

    real = Listing.page
    monkeypatch.setattr(Listing, "page", page)
    async with (
        Caller(stage, Role.SPECTATOR, "ann") as ann,
        Caller(stage, Role.SPECTATOR, "ben") as ben,
    ):
        many = [asyncio.ensure_future(ann.ListMatches()) for _ in range(30)]
        await until(lambda: under_way)
        # Who comes last need not wait until all others have what they want.
        await ben.ListMatches()
        assert sum(not one.done() for one in many) > 20
        await asyncio.gather(*many)
    assert most == 2


async def test_a_match_that_has_ended_meanwhile_is_not_listed_as_running(
    stage, monkeypatch
):
    running = [common_pb2.MATCH_PHASE_RUNNING]
    async with stage.bot(play=None) as bot, Caller(stage, Role.SPECTATOR) as ann:
        hosted = stage.arena.create("pig", ["remote:bob", "uniform"])
        await bot.until("decision_request")
        (found,) = (await ann.ListMatches(phases=running)).matches
        assert found.match_id == hosted.id

        async def look(self):
            await real(self)
            hosted.abort(EndKind.VOID, "test", "enough")
            await hosted.ended

        real = Listing._look
        monkeypatch.setattr(Listing, "_look", look)
        assert not (await ann.ListMatches(phases=running)).matches
