"""The compiled build beside the plain one in the report."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from benchmarks import compiled, peers, report
from benchmarks.rows import Bench, OnCompiled

pytestmark = pytest.mark.system


def measured(target: float | None, rows: int = 1) -> Bench:
    bench = Bench(1, 0.002, with_profiles=False)
    bench.begin("games")
    for number in range(rows):
        bench.compare(
            f"row {number}",
            "ours",
            lambda _: 1,
            "theirs",
            lambda _: 1,
            "plies/s",
            0.0,
            OnCompiled(("playouts", "tic-tac-toe"), target),
        )
    bench.close()
    return bench


def test_the_compiled_build_has_a_column_of_its_own(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # The program that measures it does its work on the plain build as well.
    @contextlib.contextmanager
    def plain() -> Iterator[peers.Peer]:
        program = ("-m", "benchmarks.compiled.work")
        peer = peers.Peer.started(Path(sys.executable), *program)
        yield peer
        peer.stop()

    monkeypatch.setattr(compiled, "running", plain)
    bench = measured(1e12)
    (row,) = report.as_json(bench)["rows"]
    assert row["met"] is True
    assert row["compiled"]["met"] is False
    assert row["compiled"]["rate"] > 0
    lines = capsys.readouterr().out.splitlines()
    (line,) = [line for line in lines if line.startswith("    the compiled build")]
    assert "MISSED" in line
    page = report.filled(report.PAGE.read_text("utf-8"), bench)
    assert "| what | against | median (spread) | target | compiled | target |" in page
    assert "| 1,000,000,000,000, missed |" in page


def test_a_build_that_cannot_be_made_is_left_out_with_the_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = []

    def build() -> bool:
        asked.append(1)
        msg = "checking the tools failed: compiling needs a C compiler\nand more"
        raise compiled.NotCompiledError(msg)

    monkeypatch.setattr(compiled, "build", build)
    bench = measured(None, rows=2)
    told = report.as_json(bench)
    assert [row["compiled"] for row in told["rows"]] == [None, None]
    assert told["left_out"][0] == {
        "part": "games",
        "id": "row 0.compiled",
        "what": "ours, compiled",
        "reason": "checking the tools failed: compiling needs a C compiler",
    }
    # It is not tried again for every row.
    assert len(told["left_out"]) == 2
    assert asked == [1]
