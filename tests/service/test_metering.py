"""What others bring about in the log of a server: so many lines and no more."""

from __future__ import annotations

import asyncio
import logging

import pytest
from tests.service.rawbot import until

from fritillary.core.journal import JOURNAL, JOURNAL_OF_BOTS
from fritillary.service import metering
from fritillary.service.metering import METERED, LineMeter, Meter


class Kept(logging.Handler):
    """Keeps what a filter lets through."""

    def __init__(self, meter):
        super().__init__()
        self.lines = []
        self.addFilter(meter)

    def emit(self, record):
        self.lines.append(record.getMessage())


@pytest.fixture
def clock():
    return [0.0]


@pytest.fixture
async def meter(clock):
    return LineMeter(asyncio.get_running_loop(), lambda: clock[0])


@pytest.fixture
async def kept(meter):
    handler = Kept(meter)
    logger = logging.getLogger("fritillary")
    logger.addHandler(handler)
    yield handler
    meter.tell()
    logger.removeHandler(handler)


def flood(count, name="fritillary.some.part", **more):
    for number in range(count):
        logging.getLogger(name).warning("bot is in its %dth build", number, **more)


async def test_a_place_in_the_code_has_twenty_lines_whatever_they_say(meter, kept):
    flood(5_000)
    assert len(kept.lines) == 20
    meter.tell()
    assert kept.lines[-1] == "left out 4980 more lines: fritillary.some.part 4980"
    meter.tell()
    assert len(kept.lines) == 21


async def test_one_bot_does_not_take_the_lines_of_another(meter, kept):
    flood(50, extra={"source": "eve"})
    flood(5, extra={"source": "bob"})
    assert len(kept.lines) == 25


async def test_after_a_while_there_are_lines_again(clock, meter, kept):
    flood(30)
    clock[0] = 25
    flood(30)
    assert len(kept.lines) == 22


async def test_what_was_left_out_is_told_by_itself(kept, monkeypatch):
    monkeypatch.setattr(metering, "TELL_S", 0.05)
    flood(25)
    await until(lambda: kept.lines[-1].startswith("left out 5 more lines"))


async def test_lines_of_other_threads_are_metered_too(meter, kept):
    await asyncio.gather(*(asyncio.to_thread(flood, 500) for _ in range(4)))
    assert len(kept.lines) == 20
    meter.tell()
    assert kept.lines[-1].startswith("left out 1980 more lines")


async def test_lines_that_were_metered_already_are_let_through(kept):
    flood(200, METERED)
    assert len(kept.lines) == 200


async def test_a_flood_from_everywhere_is_bounded_for_a_day(clock):
    meter = Meter(lambda: clock[0])
    day = 24 * 3600
    written = 0
    for second in range(0, day, 2):
        clock[0] = second
        written += sum(meter.lets(f"{second}-{number}") for number in range(3))
    assert written <= 100 + day / 5
    # Nothing grows with those who are told apart.
    assert len(meter) <= 1024


async def test_what_the_journal_says_of_matches_is_let_through(meter, kept):
    flood(500, JOURNAL)
    assert len(kept.lines) == 500


async def test_bots_that_come_and_go_have_lines_of_their_own_each(meter, kept):
    # Another one's are none the fewer, nor those of the rest of the server.
    for number in range(60):
        flood(50, JOURNAL_OF_BOTS, extra={"source": f"bot-{number}"})
    assert len(kept.lines) == 1_000
    flood(5)
    assert len(kept.lines) == 1_005
    meter.tell()
    assert kept.lines[-1] == f"left out 2000 more lines: {JOURNAL_OF_BOTS} 2000"
