"""Each misbehaving bot fails at exactly what it does wrong."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest
from attrs import frozen

from fritillary import Registry
from fritillary.sparring.check import check
from fritillary.sparring.items import HELLO, ITEMS
from fritillary.sparring.verdicts import Report, Verdict

ROOT = Path(__file__).parents[2]

#: A bot that does what is expected has so many seconds: a busy machine is no fault.
PATIENT_S = 60.0

#: Where nothing will come it is waited for in vain.
IMPATIENT_S = 1.5

#: So many bots of a group are checked at a time.
AT_A_TIME = 5


@frozen
class Row:
    """What a bot is expected to fail at.

    Args:
        fails: items, separated by spaces.
        unchecked: items of which nothing can be said.
        in_vain: those in which something is waited for that never comes.
    """

    fails: str
    unchecked: str = ""
    in_vain: str = ""


#: What only whole matches tell.
ALIKE = "seed memory"

EVERYTHING_ELSE = " ".join(item.id for item in ITEMS if item.id != HELLO)

TABLE = {
    "good": {
        "good": Row(""),
        "writes-garbage": Row(""),
        "answers-twice": Row(""),
        "has-no-build": Row("hello"),
    },
    "matches": {
        "sleeps": Row("match", ALIKE, f"match clean {ALIKE}"),
        "answers-late": Row("match", ALIKE, f"match clean {ALIKE}"),
        "illegal-once": Row("match"),
        "illegal-always": Row("match"),
        "forgets-to-acknowledge": Row("abort", in_vain="abort"),
    },
    "crashes": {
        "crashes-at-start": Row("hello", EVERYTHING_ELSE),
        "crashes-in-the-middle": Row("match", ALIKE),
        "crashes-at-the-end": Row("match", ALIKE),
        "crashes-at-strange-games": Row("foreign"),
    },
    "messages": {
        "answers-an-old-request": Row("match clean", ALIKE, f"match clean {ALIKE}"),
        "floods": Row("match clean", ALIKE),
        "chatters": Row("clean"),
        "sends-garbage": Row("clean"),
        "changes-its-mind": Row("clean"),
        "ignores-pings": Row("ping", in_vain="ping"),
    },
    "decisions": {
        "remembers": Row("memory"),
        "rolls-its-own-dice": Row("seed", "memory"),
        "mixes-up-requests": Row("late"),
        "answers-each-ply-once": Row("errors pause", in_vain="errors pause"),
        "accepts-everything": Row("foreign"),
        "exceeds-its-capacity": Row("capacity", in_vain="capacity"),
    },
    "links": {
        "never-comes-back": Row("resume silence goodbye"),
        "begins-anew": Row("resume"),
        "decides-again": Row("resume"),
        "waits-for-ever": Row("silence", in_vain="silence"),
    },
    "ends": {
        "ignores-goodbye": Row("goodbye farewell"),
        "stays-after-goodbye": Row("farewell", in_vain="farewell"),
        "fails-at-goodbye": Row("farewell"),
        "ignores-sigterm": Row("term", in_vain="term"),
    },
}

#: Bots that take seconds for a decision, and what a few of the items find: all of them
#: would take many minutes.
THINKERS = {
    "thinks": ("ping late errors", ""),
    "reads-nothing-while-it-thinks": ("ping", "ping"),
}


def command(name: str) -> str:
    """Return the player that is a bot of the zoo."""
    return f"exec:env PYTHONPATH={ROOT} {sys.executable} -m tests.sparring.zoo {name}"


async def reports(name: str, row: Row) -> list[Report]:
    """Check a bot; what is waited for in vain is not waited for long."""
    registry = Registry()
    registry.load()
    in_vain = row.in_vain.split()
    others = [item.id for item in ITEMS if item.id not in in_vain]
    done = [await check(command(name), registry, only=others, patience_s=PATIENT_S)]
    if in_vain:
        done.append(
            await check(command(name), registry, only=in_vain, patience_s=IMPATIENT_S)
        )
    return done


@pytest.mark.system
@pytest.mark.timeout(300)
@pytest.mark.parametrize("group", TABLE)
async def test_each_bot_fails_at_exactly_what_it_does_wrong(group: str) -> None:
    places = asyncio.Semaphore(AT_A_TIME)

    async def judged(name: str, row: Row) -> tuple[set[str], set[str]]:
        async with places:
            done = await reports(name, row)
        return (
            {item for one in done for item in one.of(Verdict.FAILED)},
            {item for one in done for item in one.of(Verdict.NOT_CHECKED)},
        )

    rows = TABLE[group]
    found = await asyncio.gather(*(judged(*pair) for pair in rows.items()))
    assert dict(zip(rows, found, strict=True)) == {
        name: (set(row.fails.split()), set(row.unchecked.split()))
        for name, row in rows.items()
    }


@pytest.mark.system
@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", THINKERS)
async def test_a_bot_may_think_but_must_read_meanwhile(name: str) -> None:
    items, fails = (text.split() for text in THINKERS[name])
    registry = Registry()
    registry.load()
    report = await check(command(name), registry, only=items, patience_s=PATIENT_S)
    assert report.of(Verdict.FAILED) == fails
    assert report.of(Verdict.NOT_CHECKED) == []


@pytest.mark.system
@pytest.mark.timeout(300)
async def test_an_attempt_has_its_own_time_after_an_illegal_action() -> None:
    registry = Registry()
    registry.load()
    # Two thoughts do not fit into the patience, one does.
    report = await check(command("thinks"), registry, only=["errors"], patience_s=4.9)
    (finding,) = report.findings
    assert finding.verdict is Verdict.PASSED, finding.seen


@pytest.mark.system
@pytest.mark.timeout(300)
async def test_answers_that_are_sent_twice_are_remarked_on() -> None:
    registry = Registry()
    registry.load()
    (finding,) = (
        await check(
            command("answers-twice"), registry, only=["clean"], patience_s=PATIENT_S
        )
    ).findings
    assert finding.verdict is Verdict.PASSED
    assert "repeat an answer on the same link" in finding.seen


def test_every_bot_of_the_zoo_is_in_a_table() -> None:
    from tests.sparring.zoo.bots import ZOO

    assert {*THINKERS, *(name for rows in TABLE.values() for name in rows)} == set(ZOO)
