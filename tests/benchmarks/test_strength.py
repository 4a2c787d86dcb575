"""The tables of strength: what is played, kept, gone on with and told."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import attrs
import pytest
from benchmarks import strength, strength_report
from benchmarks.strength_pairings import (
    PAIRINGS,
    Pairing,
    Played,
    StrengthError,
    Task,
    check,
    deal_seed,
    play,
)
from benchmarks.strength_run import Kept, next_task, rows_of
from benchmarks.strength_workers import Workers, workers
from tests.docs.keys import documented

pytestmark = [pytest.mark.system, pytest.mark.timeout(600)]

ROOT = Path(__file__).parents[2]

#: Quick, and with draws.
TINY = Pairing("tic-tac-toe", "mcts:iterations=20", "uniform", 10)
OTHER = Pairing("tic-tac-toe", "mcts:iterations=40", "mcts:iterations=4", 6)

#: A match of minutes.
LONG = Pairing("connect-four", "flat-mc:iterations=1000000000", "uniform", 1)


def words(*pairings: Pairing) -> list[str]:
    found = []
    for pairing in pairings:
        game = " ".join((pairing.game, *pairing.options))
        cap = str(pairing.cap)
        found += ["--pairing", game, pairing.player, pairing.against, cap]
    return [*found, "--least", "4"]


def tables(
    capsys: pytest.CaptureFixture[str], kept: Path, *arguments: str
) -> tuple[int, str]:
    capsys.readouterr()
    code = strength.main([*words(TINY, OTHER), "--keep", str(kept), *arguments])
    return code, capsys.readouterr().out


def left_of(group: int) -> list[str]:
    """Return the commands of workers that are left of a group of processes."""
    found = subprocess.run(
        ["ps", "-eo", "pgid=,args="], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    return [
        line for line in found if line.split()[0] == str(group) and "spawn_main" in line
    ]


# ---------------------------------------------------------------------------- the run


def test_a_run_tells_blocks_score_and_verdict_of_every_pairing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = tmp_path / "deep" / "kept.jsonl"
    code, told = tables(capsys, kept, "--jobs", "1")
    assert code == 0
    row = re.search(
        r"^\| `mcts:iterations=20` \| `uniform` \| 10 of 10 \| (\S+) % \(\S+\) \| "
        r"(\d+)–(\d+) \| \+\d+ \(\S+ to \S+\) \| undecided at the cap \|$",
        told,
        re.MULTILINE,
    )
    assert row is not None, told
    assert float(row[2]) < float(row[1]) < float(row[3])
    lines = [json.loads(line) for line in kept.read_text("utf-8").splitlines()]
    # Both pairings, every block, both seatings.
    assert len(lines) == 2 * (10 + 6)
    mine = [line for line in lines if line["pairing"] == TINY.key]
    scores = [line["score"] for line in mine]
    assert float(row[1]) == pytest.approx(100 * sum(scores) / 20, abs=0.06)
    # Nothing is left to play.
    assert tables(capsys, kept) == (0, told)
    assert len(kept.read_text("utf-8").splitlines()) == 32


@pytest.mark.parametrize("jobs", [2, 3])
def test_the_table_is_the_same_from_any_number_of_jobs(
    jobs: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, alone = tables(capsys, tmp_path / "1.jsonl", "--jobs", "1")
    _, told = tables(capsys, tmp_path / "n.jsonl", "--jobs", str(jobs))
    assert told == alone


@pytest.mark.parametrize("lines", [0, 1, 7, 31])
def test_a_run_goes_on_from_what_is_kept(
    lines: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = tmp_path / "kept.jsonl"
    _, whole = tables(capsys, kept, "--jobs", "1")
    text = kept.read_text("utf-8").splitlines(keepends=True)
    # The last line was being written when the machine stopped.
    kept.write_text("".join(text[:lines]) + text[lines][:25], "utf-8")
    code, told = tables(capsys, kept, "--jobs", "2")
    assert (code, told) == (0, whole)
    again = kept.read_text("utf-8").splitlines(keepends=True)
    assert again[:lines] == text[:lines]

    def told_of(line: str) -> str:
        data = json.loads(line)
        del data["seconds"]
        return json.dumps(data)

    assert sorted(map(told_of, again)) == sorted(map(told_of, text))


def test_ctrl_c_tells_what_there_is_and_the_next_run_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = tmp_path / "kept.jsonl"
    command = [sys.executable, "-m", "benchmarks.strength", "--keep", str(kept)]
    with subprocess.Popen(
        [*command, *words(TINY, OTHER, LONG), "--jobs", "3"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as running:
        try:
            # Two are kept busy; the third plays out what is quick.
            until = time.monotonic() + 120
            while not kept.exists() or kept.read_text("utf-8").count("\n") < 32:
                assert running.poll() is None
                assert time.monotonic() < until
                time.sleep(0.05)
            os.killpg(running.pid, signal.SIGINT)
            told, errors = running.communicate(timeout=60)
        finally:
            if running.poll() is None:
                os.killpg(running.pid, signal.SIGKILL)
    assert (running.returncode, errors) == (130, "")
    assert "| 0 of 1 | | | | not finished |" in told
    assert told.endswith("interrupted; the same command goes on from here\n")
    assert not left_of(running.pid)
    _, whole = tables(capsys, tmp_path / "other.jsonl", "--jobs", "1")
    code, after = tables(capsys, kept, "--jobs", "1")
    assert (code, after) == (0, whole)


def test_a_person_who_looks_on_sees_how_far_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    kept = tmp_path / "kept.jsonl"
    strength.main([*words(TINY, OTHER), "--keep", str(kept), "--jobs", "1"])
    shown = capsys.readouterr().err.split("\r")
    assert shown[1].startswith("0 of 2 tests over, 0 blocks; 0 min to go at most")
    assert "2 of 2 tests over, 16 blocks; 0 min to go at most" in shown[-3]
    # The line is wiped when it is done.
    assert not "".join(shown[-2:]).strip()


def test_another_seed_or_version_is_another_run(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kept = tmp_path / "kept.jsonl"
    _, told = tables(capsys, kept, "--jobs", "1")
    _, none = tables(capsys, kept, "--show", "--seed", "2")
    assert none.count("| 0 of ") == 2
    monkeypatch.setattr("fritillary.__version__", "99.0")
    _, none = tables(capsys, kept, "--show")
    assert none.count("| 0 of ") == 2
    monkeypatch.undo()
    assert tables(capsys, kept, "--show") == (0, told)


def test_a_lower_cap_is_a_shorter_look_at_the_same_matches(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = tmp_path / "kept.jsonl"
    tables(capsys, kept, "--jobs", "1")
    _, told = tables(capsys, kept, "--cap", "3", "--show")
    assert told.count("| 3 of 3 |") == 2
    assert len(kept.read_text("utf-8").splitlines()) == 32


# -------------------------------------------------------------------------- its parts


def test_a_block_is_one_deal_in_both_seatings_and_the_same_for_all_pairings() -> None:
    seeds = {
        (deal_seed(Task(pairing, 1, 4, seating)))
        for pairing in (TINY, OTHER)
        for seating in (0, 1)
    }
    assert len(seeds) == 1
    others = {
        deal_seed(Task(TINY, 1, 5, 0)),
        deal_seed(Task(TINY, 2, 4, 0)),
        deal_seed(Task(LONG, 1, 4, 0)),
    }
    assert len(others | seeds) == 4


@pytest.mark.parametrize("seating", [0, 1])
def test_the_score_is_that_of_the_player_wherever_it_sits(seating: int) -> None:
    strong = Pairing("tic-tac-toe", "mcts:iterations=300", "uniform", 1)
    weak = Pairing("tic-tac-toe", "uniform", "mcts:iterations=300", 1)
    scores = [play(Task(strong, 1, block, seating)).score for block in range(4)]
    others = [play(Task(weak, 1, block, seating)).score for block in range(4)]
    assert sum(scores) >= 3.5
    assert sum(others) <= 0.5


def test_a_match_is_the_same_when_it_is_played_again() -> None:
    one, again = (play(Task(TINY, 1, 3, 1)) for _ in range(2))
    assert (one.score, one.plies) == (again.score, again.plies)


def test_rows_take_turns_by_their_pace(tmp_path: Path) -> None:
    pairings = [attrs.evolve(TINY, pace=4.0), attrs.evolve(OTHER, pace=0.5)]
    rows = rows_of(pairings, 1, 1, Kept(tmp_path / "none.jsonl"))
    given: Counter[str] = Counter()
    for _ in range(18):
        found = next_task(rows)
        assert found is not None
        given[found[1].pairing.key] += 1
    assert given == {TINY.key: 16, OTHER.key: 2}
    # What is left is given out as well.
    while (found := next_task(rows)) is not None:
        given[found[1].pairing.key] += 1
    assert given == {TINY.key: 20, OTHER.key: 12}


def test_matches_beyond_the_end_of_a_test_do_not_count(tmp_path: Path) -> None:
    (row,) = rows_of([attrs.evolve(TINY, cap=40)], 1, 1, Kept(tmp_path / "none.jsonl"))
    # All before the first are there when it comes.
    for block in reversed(range(40)):
        for seating in (0, 1):
            row.take(Task(row.pairing, 1, block, seating), Played(1.0, 5, 0.0))
    assert row.over
    assert row.test.blocks.number == 17
    assert row.next_task() is None


def test_every_pairing_of_the_page_can_be_played_and_has_a_name_of_its_own() -> None:
    for pairing in PAIRINGS:
        check(pairing)
    assert len({pairing.name for pairing in PAIRINGS}) == len(PAIRINGS)
    assert len({pairing.key for pairing in PAIRINGS}) == len(PAIRINGS)


# ---------------------------------------------------------------------- what goes wrong


@pytest.fixture
def worker() -> Iterator[Workers]:
    with workers(1) as crew:
        yield crew


def test_a_worker_that_dies_is_noticed(worker: Workers) -> None:
    worker.give(Task(LONG, 1, 0, 0))
    (process,) = worker._processes.values()
    process.kill()
    with pytest.raises(
        StrengthError, match=r"ended with code -9 in block 0 of connect"
    ):
        worker.results()


def test_a_match_that_cannot_be_played_is_told(worker: Workers) -> None:
    worker.give(Task(Pairing("lepidoptery", "mcts", "greedy", 1), 1, 0, 0))
    with pytest.raises(StrengthError, match="mcts cannot play lepidoptery"):
        worker.results()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--only", "chess"], "no pairing is called 'chess'; there are lepidoptery/"),
        (["--cap", "0"], "argument --cap: at least 1"),
        (["--cap", "many"], "argument --cap: invalid positive value: 'many'"),
        (["--jobs", "-1"], "argument --jobs: at least 1"),
        (["--capp", "1"], "unrecognized arguments: --capp 1"),
        (["--pairing", "a", "b", "c"], "argument --pairing: expected 4 arguments"),
        (["--pairing", "chess", "a", "b", "1"], "no game 'chess'"),
        (["--pairing", "lepidoptery", "grredy", "uniform", "1"], "mean 'greedy'?"),
        (["--pairing", "lepidoptery", "remote:x", "greedy", "1"], "in process"),
        (["--pairing", "lepidoptery", "greedy", "uniform", "0"], "from 1"),
        (["--pairing", "lost-cities games=2", "uniform", "uniform", "1"], "games"),
        (["--pairing", "lost-cities x", "uniform", "uniform", "1"], "name=value"),
        ([*words(TINY), "--write"], "--write is for the pairings of the page"),
        ([*words(TINY), *words(TINY)], "names the same match twice"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_bad_argument_is_told_in_one_line(
    arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        strength.main(arguments)
    told = capsys.readouterr()
    assert ended.value.code == 2
    assert told.err.startswith("make strength: ")
    assert says in told.err
    assert told.err.count("\n") == 1
    assert not told.out


@pytest.mark.parametrize("content", ["no json\n", "[1]\n", '{"pairing": "x"}\n', "é\n"])
def test_a_file_that_holds_something_else_is_left_alone(
    content: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = tmp_path / "kept.jsonl"
    kept.write_text(content, "utf-8")
    with pytest.raises(SystemExit) as ended:
        tables(capsys, kept)
    assert ended.value.code == 1
    assert "kept.jsonl, line 1 is no result" in capsys.readouterr().err
    assert kept.read_text("utf-8") == content


def test_a_file_that_cannot_be_written_is_told_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("", "utf-8")
    with pytest.raises(SystemExit) as ended:
        tables(capsys, tmp_path / "file" / "kept.jsonl", "--jobs", "1")
    assert ended.value.code == 1
    told = capsys.readouterr().err
    assert told.startswith("make strength: cannot ")
    assert told.count("\n") == 1


# ------------------------------------------------------------------------------ report


def test_the_json_has_the_documented_keys_and_no_infinity(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "told.json"
    kept = tmp_path / "kept.jsonl"
    # One block is won whole, so that its Elo is infinite.
    tables(capsys, kept, "--cap", "1", "--jobs", "1", "--json", str(file))
    told = json.loads(file.read_text("utf-8"), parse_constant=pytest.fail)
    assert set(told) == documented(strength_report.PAGE, "report")
    assert [set(row) for row in told["rows"]] == [
        documented(strength_report.PAGE, "row")
    ] * 2
    assert [row["blocks"] for row in told["rows"]] == [1, 1]


def test_the_page_has_a_row_for_every_pairing_and_a_place_for_every_table(
    tmp_path: Path,
) -> None:
    page = strength_report.PAGE.read_text("utf-8")
    rows = rows_of(PAIRINGS, 1, None, Kept(tmp_path / "none.jsonl"))
    empty = strength_report.filled(page, rows)
    for row in rows:
        start = f"| `{row.pairing.player}` | `{row.pairing.against}` | "
        assert f"{start}0 of {row.pairing.cap} | | | | not finished |" in empty
        assert start in page
    for name in ("settings", *strength_report.games_of(rows)):
        assert page.count(f"<!-- bench: {name} -->") == 1


def test_write_fills_the_page_with_all_rows_whichever_were_played(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "strength.md"
    page.write_text(strength_report.PAGE.read_text("utf-8"), "utf-8")
    monkeypatch.setattr(strength_report, "PAGE", page)
    kept = str(tmp_path / "kept.jsonl")
    arguments = ["--only", "lepidoptery/greedy-200", "--show", "--write"]
    assert strength.main([*arguments, "--keep", kept]) == 0
    assert capsys.readouterr().out.count("| 0 of ") == 1
    assert page.read_text("utf-8").count("| 0 of ") == len(PAIRINGS)


def test_help_has_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        strength.main(["--help"])
    assert ended.value.code == 0
    told = capsys.readouterr().out
    assert 'make strength ARGS="--only lepidoptery --cap 40"' in told
