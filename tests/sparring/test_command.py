"""The command: what it prints, its exit codes, bots that are started by hand."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable

import pytest
from tests.cli.conftest import Program, Run, one_line
from tests.sparring.test_zoo import ROOT, command

from fritillary.sparring.items import ITEMS

pytestmark = [pytest.mark.system, pytest.mark.timeout(180)]

Start = Callable[..., Program]

#: Generous where something must come.
PATIENT = ("--timeout", "60")


def items(printed: str) -> dict[str, str]:
    """Return the verdicts of a report in JSON."""
    return {one["item"]: one["verdict"] for one in json.loads(printed)["items"]}


def test_what_is_checked_can_be_listed(run: Run) -> None:
    code, out, _ = run("check-bot", "--list", "--json")
    assert code == 0
    assert [one["item"] for one in json.loads(out)] == [item.id for item in ITEMS]
    code, out, _ = run("check-bot", "--list")
    assert code == 0
    assert all(item.id in out for item in ITEMS)


@pytest.mark.parametrize(
    ("words", "mend"),
    [
        ((), "--list"),
        (("human",), "name a bot"),
        (("exec:no-such-program-here",), "install it"),
        (("no-such-bot",), "no installed game has a bot"),
        (("no-such-bot", "--game", "lepidoptery"), "lepidoptery has no bot"),
        (("uniform", "--game", "no-such-game"), "fritillary games"),
        (("uniform", "--only", "resum"), "did you mean 'resume'"),
    ],
)
def test_words_that_make_no_sense_are_mended(
    run: Run, words: tuple[str, ...], mend: str
) -> None:
    code, out, errors = run("check-bot", *words)
    assert code == 2
    assert out == ""
    assert mend in one_line(errors)


def test_a_bot_that_passes_ends_with_0(run: Run) -> None:
    code, out, errors = run(
        "check-bot", command("good"), "--only", "ping", "--only", "abort", *PATIENT
    )
    assert code == 0
    assert re.search(r"^passed +ping ", out, re.MULTILINE)
    assert "the bot keeps the protocol (2 passed)" in out
    assert "checking ping" in errors


def test_a_failure_tells_what_was_expected_and_seen_and_ends_with_3(run: Run) -> None:
    code, out, _ = run(
        "check-bot", command("fails-at-goodbye"), "--only", "farewell", *PATIENT
    )
    assert code == 3
    assert re.search(r"^failed +farewell +expected: .*exit code 0", out, re.MULTILINE)
    assert "seen: the program ended with exit code 1" in out
    assert "mend: Leave when Goodbye" in out
    assert "<- goodbye" in out


def test_json_is_one_object_and_nothing_else(run: Run) -> None:
    code, out, errors = run(
        "check-bot", command("accepts-everything"), "--only", "foreign", "--json",
        *PATIENT,
    )  # fmt: skip
    assert code == 3
    assert errors == ""
    report = json.loads(out)
    assert report["holds"] is False
    assert report["whole"] is True
    assert report["games"] == ["lepidoptery"]
    (item,) = report["items"]
    assert (item["item"], item["verdict"]) == ("foreign", "failed")
    assert "accept" in {one["kind"] for one in item["messages"]}
    assert {one["sender"] for one in item["messages"]} <= {"bot", "server", "checker"}


def test_every_message_is_printed_on_demand_but_no_secret(run: Run) -> None:
    code, _, errors = run(
        "check-bot", command("good"), "--only", "resume", "--verbose", *PATIENT
    )
    assert code == 0
    assert "-> hello" in errors
    assert "<- welcome" in errors
    assert re.search(r"-> decision .*\[held back\]", errors)
    assert "loses what was held back: decision" in errors
    shown = re.findall(r"session_token=(\S+)", errors)
    assert set(shown) == {'"(secret)"'}


def test_what_is_shown_of_a_match_is_what_its_seat_may_see(run: Run) -> None:
    _, _, errors = run(
        "check-bot", command("good"), "--only", "pause", "--verbose", *PATIENT
    )
    told = re.findall(r"observation=\S*?\"seat\":(\d)", errors)
    assert told
    assert set(told) == {"0"}


def test_a_bot_that_never_comes_is_told_with_its_last_words(run: Run) -> None:
    code, out, _ = run("check-bot", command("crashes-at-start"), "--json", *PATIENT)
    assert code == 3
    verdicts = items(out)
    assert verdicts.pop("hello") == "failed"
    assert set(verdicts.values()) == {"not checked"}
    assert "weights.bin" in json.loads(out)["items"][0]["seen"]


def started_by_hand(checker: Program) -> subprocess.Popen[bytes]:
    """Start the bot that a checker waits for."""
    invitation = checker.error_line()
    found = re.search(r"FRITILLARY_ADDRESS=(\S+) FRITILLARY_TOKEN=(\S+)", invitation)
    assert found is not None, invitation
    return subprocess.Popen(
        [sys.executable, "-m", "tests.sparring.zoo", "good"],
        cwd=ROOT,
        env={
            **os.environ,
            "FRITILLARY_ADDRESS": found[1],
            "FRITILLARY_TOKEN": found[2],
        },
    )


def test_a_bot_that_is_started_by_hand_is_waited_for_and_sent_away(
    start: Start,
) -> None:
    checker = start(
        "check-bot", "remote:mine", "--json", "--game", "lepidoptery", *PATIENT
    )
    bot = started_by_hand(checker)
    try:
        out, _ = checker.process.communicate(timeout=120)
        assert bot.wait(60) == 0
    finally:
        bot.kill()
        bot.wait()
    assert checker.process.returncode == 0
    verdicts = items(out)
    needs_start = {item.id for item in ITEMS if item.starts}
    assert {one for one, verdict in verdicts.items() if verdict != "passed"} == (
        needs_start
    )
    assert {verdicts[one] for one in needs_start} == {"not checked"}


def test_ctrl_c_sends_a_bot_away_that_was_started_by_hand(start: Start) -> None:
    checker = start(
        "check-bot", "remote:mine", "--json", "--verbose", "--game", "lepidoptery",
        *PATIENT,
    )  # fmt: skip
    bot = started_by_hand(checker)
    try:
        while "<- decision_request" not in checker.error_line():
            assert checker.process.poll() is None
        checker.signal(signal.SIGINT)
        _, errors = checker.process.communicate(timeout=60)
        assert checker.process.returncode == 130, errors
        assert bot.wait(60) == 0
    finally:
        bot.kill()
        bot.wait()


def test_ctrl_c_tells_what_was_found_so_far(start: Start) -> None:
    checker = start("check-bot", command("sleeps"), "--json", "--verbose", *PATIENT)
    # It sleeps when it is asked for the sixth time.
    while "decision_id=6 " not in checker.error_line():
        assert checker.process.poll() is None
    checker.signal(signal.SIGINT)
    out, errors = checker.process.communicate(timeout=60)
    assert checker.process.returncode == 130, errors
    report = json.loads(out)
    assert report["whole"] is False
    assert items(out) == {"hello": "passed"}
