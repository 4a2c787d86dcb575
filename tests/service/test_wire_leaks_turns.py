"""Nothing leaks where a match does not go on as it should.

Seats that are forfeited, on which a stand-in plays on; decisions that come too late;
nonces; pauses and restarts.
"""

from __future__ import annotations

import pytest
from tests.service import hush
from tests.service.leakfaults import BROKEN
from tests.service.leakgate import WireLeakError, check_wire_leaks
from tests.service.leakmutants import watch_truth
from tests.service.leakscripts import LATE, NONCES, STAND_INS, STOPS
from tests.service.worlds import Rules

RULES = {seats: Rules(hush.plugin(), seats=seats, plies=45) for seats in (2, 3)}


def of(scripts, viewer):
    """Return the scripts that a viewer can have a part in."""
    return tuple(one for one in scripts if viewer is not None or not one.own)


def every_other(scripts, viewer):
    """Return half of the scripts, the other half for the next viewer."""
    turn = 0 if viewer is None else 1 + viewer
    return tuple(one for one in of(scripts, viewer) if (one.number + turn) % 2)


@pytest.mark.parametrize("viewer", [None, 0, 1, 2])
async def test_what_stand_ins_do_tells_nothing(viewer, tmp_path):
    scripts = every_other(STAND_INS, viewer)
    report = await check_wire_leaks(RULES[3], viewer, scripts=scripts, folder=tmp_path)
    assert report.different == report.pairs == len(scripts)
    assert report.secrets
    assert "source.ACTION_SOURCE_STAND_IN" in report.kinds
    ways = {one.fails for one in scripts}
    assert ("decline" in ways) == (
        "ruling.other.FAULT_REFUSED_TO_START" in report.kinds
    )


def test_every_way_to_fail_has_its_turn():
    seen = {one for viewer in (0, 1, 2) for one in every_other(STAND_INS, viewer)}
    assert seen == {*STAND_INS}


@pytest.mark.parametrize("viewer", [None, 0, 1])
async def test_decisions_that_come_late_tell_nothing(viewer):
    scripts = of(LATE, viewer)
    report = await check_wire_leaks(RULES[2], viewer, scripts=scripts)
    assert report.different == report.pairs == len(scripts)
    assert report.kinds >= {
        "ruling.other.FAULT_LATE",
        "source.ACTION_SOURCE_SUBSTITUTE",
    }
    if viewer is not None:
        assert report.kinds >= {"ruling.own.FAULT_LATE", "error.decision.stale"}


@pytest.mark.parametrize("viewer", [None, 0, 1])
async def test_nonces_of_others_tell_nothing_before_the_end(viewer):
    report = await check_wire_leaks(RULES[2], viewer, scripts=NONCES)
    assert report.different == report.pairs == len(NONCES)
    if viewer is not None:
        assert report.kinds >= {"match_offer.resumed", "error.nonce.too-long"}


@pytest.mark.parametrize("viewer", [None, 0, 1])
async def test_a_stop_in_a_pause_and_a_crash_tell_nothing(viewer, tmp_path):
    report = await check_wire_leaks(RULES[2], viewer, scripts=STOPS, folder=tmp_path)
    assert report.different == report.pairs == len(STOPS)
    if viewer is not None:
        assert report.kinds >= {"phase.MATCH_PHASE_PAUSED", "match_offer.resumed"}


@pytest.mark.parametrize("name", BROKEN)
async def test_a_server_that_leaks_there_is_caught(name, monkeypatch, tmp_path):
    broken = BROKEN[name]
    watch_truth(monkeypatch)
    broken.change(monkeypatch)
    with pytest.raises(WireLeakError, match=broken.where):
        await check_wire_leaks(
            RULES[broken.seats],
            broken.viewer,
            scripts=broken.scripts,
            folder=tmp_path if any(one.stops for one in broken.scripts) else None,
        )
