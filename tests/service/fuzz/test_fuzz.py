"""The fuzz at a size for every run: what strangers send harms nobody else."""

from __future__ import annotations

import asyncio

import pytest
from tests.service.fuzz.__main__ import told
from tests.service.fuzz.kinds import KINDS
from tests.service.fuzz.rounds import (
    FRAGMENTS,
    LONGEST_TURN_MS,
    TOLERANCE,
    Report,
    fuzz,
    judged,
)
from tests.service.fuzz.target import Target

pytestmark = [pytest.mark.system, pytest.mark.timeout(600)]

FRAMES = 5_000


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """What came of all kinds at once, beside honest matches."""
    found = Report()
    with Target(tmp_path_factory.mktemp("fuzz")) as target:
        asyncio.run(fuzz(target, found, FRAMES, seed=20))
    return found


@pytest.mark.parametrize("name", sorted(KINDS))
def test_each_kind_is_refused_as_it_should_be(report, name):
    assert report.tallies[name].sent > 0
    assert [what for what in report.wrong if what.startswith(f"{name}: ")] == []


def test_the_server_stays_up_and_keeps_nothing_of_the_attackers(report):
    kinds = tuple(f"{name}: " for name in KINDS)
    assert [what for what in report.wrong if not what.startswith(kinds)] == []
    assert report.sent >= FRAMES
    before, after = report.used
    assert after - before <= TOLERANCE
    # What is kept for single blocks is little after so few frames.
    assert report.after - report.start <= TOLERANCE


def test_honest_matches_end_as_they_do_without_the_fuzz(report):
    assert len(report.matches) >= 3
    for wanted, seen in report.matches.values():
        assert wanted
        assert set(seen) == {wanted}


class Gone(Target):
    """A server that is gone and has left a traceback."""

    up = False

    def __init__(self) -> None:
        pass

    def unexpected(self) -> list[str]:
        return ["Traceback (most recent call last):"]


def test_what_is_left_behind_does_not_go_unnoticed():
    before = {"rss": 0, "used": 0, "links": 1, "tasks": 3, "files": 9}
    after = {
        "rss": TOLERANCE + FRAGMENTS + 2**20,
        "used": TOLERANCE + 2**20,
        "links": 2,
        "tasks": 4,
        "files": 12,
        "turn_ms": LONGEST_TURN_MS + 1,
    }
    said = "\n".join(judged(Gone(), before, after))
    for word in (
        "still in use",
        "given back",
        "links",
        "tasks",
        "files",
        "had a go",
        "gone",
        "Traceback",
    ):
        assert word in said


def test_a_fuzz_that_was_stopped_does_not_say_that_all_held():
    early = told(Report(start=1, peak=2), 1.0, 1)
    assert early[-1].startswith("stopped early")
    assert told(Report(start=1, peak=2, after=1), 1.0, 1)[-1] == "all held"
    wrong = told(Report(start=1, wrong=["x"]), 1.0, 1)
    assert wrong[-1] == "1 things did not hold"
