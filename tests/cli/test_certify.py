"""The commands certify and perft."""

import json
from pathlib import Path

import pytest
from tests.cli.conftest import Run, one_line


def test_certify_says_a_verdict_on_each_law(run: Run) -> None:
    laws = ("--law", "copy.equal", "--law", "chance.weights")
    code, said, errors = run("certify", "lepidoptery", *laws)
    assert (code, errors) == (0, "")
    holds, skipped, end = said.splitlines()
    assert holds.split()[:2] == ["holds", "copy.equal"]
    assert skipped.split(maxsplit=2)[2] == "there is no chance in play"
    assert end == "lepidoptery, rules 1: keeps the laws (1 holds, 1 skipped)"


def test_certify_writes_a_certificate(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "certificate.json"
    code, _, errors = run(
        *("certify", "lepidoptery", "--law", "copy.equal", "--preset", "bga"),
        *("--seed", 5, "--out", path),
    )
    assert code == 0
    assert str(path.name) in errors
    data = json.loads(path.read_text("utf-8"))
    assert data["holds"] is True
    assert data["passed"] == ["copy.equal"]
    assert data["options"]["same_type_may_beat"] is False
    assert data["seed"] == 5
    assert data["date"].endswith("+00:00")


def test_certify_as_json_and_exit_code_of_a_broken_law(
    run: Run, tmp_path: Path
) -> None:
    words = ("certify", "lepidoptery", "--law", "playthrough.current")
    golden = tmp_path / "golden.txt"
    code, said, _ = run(*words, "--golden", golden, "--json")
    data = json.loads(said)
    assert (code, data["holds"]) == (3, False)
    assert data["laws"][0]["failure"]["law"] == "playthrough.current"
    assert run(*words, "--golden", golden, "--update-golden")[0] == 0
    assert run(*words, "--golden", golden)[0] == 0
    golden.write_text("something else\n", "utf-8")
    code, said, _ = run(*words, "--golden", golden)
    assert code == 3
    assert "law playthrough.current is broken" in said
    assert "lepidoptery, rules 1: breaks laws (1 broken)" in said


def test_wrong_usage_of_certify_is_named(run: Run, tmp_path: Path) -> None:
    for words, message in (
        (("--law", "copy.same"), "there is no law 'copy.same'"),
        (("--profile", "lazy"), "no profile 'lazy'"),
        (("--update-golden",), "--golden names"),
        (("--seats", 7), "is played by 2 seats"),
    ):
        code, _, errors = run("certify", "lepidoptery", *words)
        assert code == 2
        assert message in errors


def test_the_folder_of_a_golden_playthrough_that_is_written_is_made(
    run: Run, tmp_path: Path
) -> None:
    path = tmp_path / "golden" / "playthrough.txt"
    words = ("certify", "lepidoptery", "--law", "playthrough.current")
    assert run(*words, "--golden", path, "--update-golden")[0] == 0
    assert run(*words, "--golden", path)[0] == 0


@pytest.mark.parametrize("option", ["--out", "--golden"])
def test_files_of_certify_that_cannot_be_are_refused_before_anything_is_checked(
    run: Run, tmp_path: Path, option: str
) -> None:
    for path, why in (
        (tmp_path, "there is a folder of that name"),
        (tmp_path / "no" / "where.json", "the folder does not exist"),
    ):
        code, said, error = run("certify", "lepidoptery", option, path)
        assert (code, said) == (2, "")
        assert one_line(error) == f"error: {path}: {why}"


def test_perft_counts_ply_by_ply(run: Run) -> None:
    code, said, _ = run("perft", "lepidoptery", "--depth", 2)
    assert code == 0
    counts = [line.split()[1].replace(",", "") for line in said.splitlines()]
    data = json.loads(run("perft", "lepidoptery", "--depth", 2, "--json")[1])
    assert data["counts"] == [int(count) for count in counts]
    assert data["counts"][0] == 1


def test_perft_takes_the_seed_of_a_match(run: Run) -> None:
    words = ("perft", "lepidoptery", "--depth", 1, "--json", "--seed")
    sealed = json.loads(run(*words, "00" * 32)[1])
    # As in the golden playthrough.
    assert sealed["counts"] == [1, 56]
    other = json.loads(run(*words, 3)[1])
    assert other["counts"] != sealed["counts"]
    code, _, errors = run(*words, "seven")
    assert code == 2
    assert "neither a number nor 64 hex digits" in errors
