"""The pytest plugin, as a stranger has it: in a process and a folder of its own."""

import subprocess
import sys
from importlib import metadata

import pytest
from tests.examples.projects import EXAMPLES

ROOT = EXAMPLES.parent


def run(*words, cwd):
    return subprocess.run(
        [
            sys.executable,
            *("-m", "pytest", "-p", "no:cacheprovider", "-p", "no:asyncio"),
            *("-o", "addopts=", "-W", "ignore", *words),
        ],
        capture_output=True,
        text=True,
        timeout=100,
        cwd=cwd,
        env={"PATH": "", "PYTHONPATH": str(ROOT), "COLUMNS": "100"},
        check=False,
    )


def test_pytest_finds_the_plugin():
    points = metadata.entry_points(group="pytest11")
    assert "_fritillary_pytest" in {point.value for point in points}


def test_the_plugin_imports_nothing_heavy():
    program = "import sys, _fritillary_pytest; print(*sorted(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    assert not loaded & {"fritillary", "attrs", "pluggy", "pytest", "hypothesis"}


@pytest.mark.system
def test_a_game_gets_one_test_for_each_law_that_applies(tmp_path):
    done = run(
        *("--pyargs", "fritillary.testing.conformance", "-v"),
        *("--fritillary-game", "python:examples.kuhn_poker.kuhn_poker"),
        *("-k", "leak or turn or picture"),
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for law in ("leak.observation", "leak.vacuous", "turn.max-plies", "picture.text"):
        assert f"{law} PASSED" in done.stdout
    assert "picture.svg" not in done.stdout
    assert "chance." not in done.stdout


@pytest.mark.system
def test_tests_of_ones_own_run_beside_and_a_broken_law_fails(tmp_path):
    (tmp_path / "test_mine.py").write_text("def test_mine():\n    pass\n")
    done = run(
        *("-v", "-k", "mine or outcome"),
        *("--fritillary-game", "python:tests.testing.broken_play:sums_are_broken"),
        cwd=tmp_path,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert "test_mine PASSED" in done.stdout
    assert "outcome.constant-sum FAILED" in done.stdout
    assert "law outcome.constant-sum is broken: Scores add up" in done.stdout
    assert "mend: Correct the scores" in done.stdout
    assert "Traceback" not in done.stdout


@pytest.mark.system
def test_wrong_usage_is_named(tmp_path):
    for words, message in (
        (("--fritillary-game", "no-such-game"), "no game 'no-such-game'"),
        (
            ("--fritillary-game", "lepidoptery", "--fritillary-profile", "lazy"),
            "no profile 'lazy'",
        ),
    ):
        done = run(*words, cwd=tmp_path)
        assert done.returncode == 4
        assert message in done.stdout + done.stderr
