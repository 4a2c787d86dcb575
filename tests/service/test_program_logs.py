"""What programs have written: kept beside their record, bounded, as long as that."""

from __future__ import annotations

import pytest
from tests.service.house import PATIENT
from tests.service.rawbot import until
from tests.service.test_programs import program

from fritillary.record.terms import LinkBank, Policy, Terms
from fritillary.service.proglogs import (
    HEAD_BYTES,
    TAIL_BYTES,
    forget_logs,
    write_log,
)

#: Room for the line that tells what was left out.
SLACK = 100


def test_of_a_long_log_the_middle_is_left_out(tmp_path):
    write_log(tmp_path, "m", 0, [b"first", b"", b"x" * 10_000_000, b"last"])
    raw = (tmp_path / "m.seat0.log").read_bytes()
    assert len(raw) <= HEAD_BYTES + TAIL_BYTES + SLACK
    assert raw.startswith(b"first\nx")
    assert raw.endswith(b"x\nlast\n")
    assert b" bytes left out]\n" in raw


def test_a_log_goes_with_its_record(tmp_path):
    there = [
        "a.frec",
        "a.seat0.log",
        "a.seat12.log",
        "b.seat0.frec",
        "b.seat0.seat1.log",
    ]
    gone = ["b.seat0.log", "c.seat1.log"]
    others = ["notes.log", "seat0.log", "d.seat0.log.txt", "d.seatx.log"]
    for name in (*there, *gone, *others):
        (tmp_path / name).touch()
    assert forget_logs(tmp_path) == len(gone)
    assert {path.name for path in tmp_path.iterdir()} == {*there, *others}
    assert forget_logs(tmp_path / "none") == 0


async def test_at_the_next_start_logs_of_records_that_were_moved_away_are_gone(house):
    for match_id in ("m", "n"):
        await house.create(
            program("play"), "uniform", match_id=match_id, terms=PATIENT
        ).ended
    log = house.records / "m.seat0.log"
    other = house.records / "n.seat0.log"
    await until(lambda: log.exists() and other.exists())
    await house.stop()
    (house.records / "m.frec").unlink()
    await house.start()
    await until(lambda: not log.exists())
    assert other.exists()


@pytest.mark.parametrize("restarts", [0, 5])
async def test_a_program_that_is_started_again_and_again_has_a_bounded_log(
    house, restarts
):
    terms = Terms(
        policy=Policy(link=LinkBank(restarts=restarts)), offer_ms=PATIENT.offer_ms
    )
    await house.create(program("garbage-crash"), "uniform", terms=terms).ended
    log = house.records / "m.seat0.log"
    await until(log.exists)
    assert 0 < log.stat().st_size <= HEAD_BYTES + TAIL_BYTES + SLACK
