"""The benchmarks run, their JSON is as documented, their page has a place for them."""

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from benchmarks import __main__ as program
from benchmarks import hot_paths, peers, report
from benchmarks.peers import work
from benchmarks.rows import Bench, Row
from tests.docs.keys import documented

pytestmark = [pytest.mark.system, pytest.mark.timeout(600)]

#: Clients of other languages have to be built first; no small sample is small there.
SMALL = [part for part in program.PARTS if part != "clients"]


#: Bots must have had the time to play in a sample, on a busy machine as well.
SERVED = {"grpc": 1.0, "crowd": 1.0}


def tiny(part: str) -> Bench:
    return Bench(
        rounds=1,
        seconds=SERVED.get(part, 0.002),
        with_peers=False,
        with_compiled=False,
        with_profiles=False,
        simulations=20,
        busy=2,
        idle=3,
        many=5,
    )


@pytest.mark.parametrize("part", SMALL)
def test_every_part_measures_and_its_figures_have_a_place(part: str) -> None:
    bench = tiny(part)
    bench.begin(part)
    program.PARTS[part](bench)
    told = json.loads(json.dumps(report.as_json(bench)))
    assert told["rows"]
    for row in told["rows"]:
        assert set(row) == documented(report.PAGE, "row"), row
        assert row["part"] == part
        assert row["low"] <= row["median"] <= row["high"]
    assert len({row["id"] for row in told["rows"]}) == len(told["rows"])
    page = report.filled(report.PAGE.read_text("utf-8"), bench)
    for row in told["rows"]:
        assert f"| {row['what']} | {row['against']} | " in page


def test_the_json_has_the_documented_keys() -> None:
    bench = tiny("games")
    bench.begin("games")
    bench.value("a.b", "something", [1.0, 3.0, 2.0], "us", 2.5, at_most=True)
    bench.against_peer(
        "c.d", "ours", lambda _: 1, "theirs", ("open_spiel.playouts", "x"), "plies/s"
    )
    told = report.as_json(bench)
    assert set(told) == documented(report.PAGE, "report")
    assert told["rows"][0]["met"] is True
    assert told["left_out"] == [
        {
            "part": "games",
            "id": "c.d",
            "what": "ours / theirs",
            "reason": "peers were not asked for",
        }
    ]


def test_a_peer_that_cannot_be_installed_is_named_with_the_reason(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(peers, "ENVIRONMENT", tmp_path)
    monkeypatch.setattr(peers, "_python", lambda: Path(sys.executable))
    # There is no such option: it fails at once, without looking anywhere.
    monkeypatch.setattr(peers, "pinned", lambda: {"rlcard": ["--no-such-option"]})
    bench = Bench(1, 0.002)
    bench.begin("playouts")
    work = ("rlcard.playouts", "leduc-holdem")
    bench.against_peer("a", "ours", lambda _: 1, "RLCard", work, "plies/s")
    bench.close()
    assert "ours / RLCard: left out; rlcard: installing it failed" in (
        capsys.readouterr().out
    )


def test_a_peer_works_when_it_is_told_to_and_says_what_fails() -> None:
    # The program of the peers, in an environment that has none of them.
    peer = peers.Peer.started(Path(sys.executable))
    try:
        with pytest.raises(peers.PeerError, match="No module named 'rlcard'"):
            peer.rate("rlcard.playouts", ("leduc-holdem",), 0.01)
        with pytest.raises(peers.PeerError, match="KeyError"):
            peer.rate("rlcard.nothing", (), 0.01)
        peer.process.kill()
        peer.process.wait()
        with pytest.raises(peers.PeerError, match="its process ended"):
            peer.rate("rlcard.playouts", ("uno",), 0.01)
    finally:
        peer.stop()


@pytest.mark.parametrize("part", ["playouts", "match", "search"])
def test_every_peer_is_pinned_and_knows_its_work(
    part: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def against_peer(*arguments: Any) -> None:
        asked.append(arguments[5][0])

    monkeypatch.setattr(Bench, "against_peer", against_peer)
    bench = tiny(part)
    bench.begin(part)
    program.PARTS[part](bench)
    assert asked
    assert set(asked) <= set(work.WORK)
    assert {name.partition(".")[0] for name in asked} <= set(peers.pinned())


def test_a_missed_target_is_known_and_its_profile_is_shown(
    capsys: pytest.CaptureFixture[str],
) -> None:
    bench = Bench(1, 0.002)
    bench.begin("match")
    shown = []
    bench.value("a", "a", [2.0], "us", 1.0, profile=lambda: shown.append("a"))
    bench.value(
        "b", "b", [2.0], "us", 1.0, at_most=True, profile=lambda: shown.append("b")
    )
    assert shown == ["b"]
    assert [row.met for row in bench.rows["match"] if isinstance(row, Row)] == [
        True,
        False,
    ]
    assert "MISSED" in capsys.readouterr().out


@pytest.mark.parametrize(
    "name", [name for name in hot_paths.PATHS if name not in {"server", "one-stream"}]
)
def test_every_hot_path_has_a_profile(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(hot_paths.profiles, "SECONDS", 0.01)
    hot_paths.PATHS[name]()
    assert re.search(r"\d %\s+\d+ calls", capsys.readouterr().out)


def test_the_page_has_a_place_for_every_part() -> None:
    page = report.PAGE.read_text("utf-8")
    for part in (*program.PARTS, "versions"):
        assert page.count(f"<!-- bench: {part} -->") == 1
