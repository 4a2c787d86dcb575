"""The log of commands that serve: a time for each line, and the journal among them."""

from __future__ import annotations

import logging
import re

import pytest
from tests.cli.conftest import Run

from fritillary.cli.logs import kept, told
from fritillary.core.journal import journal, journal_of_bots

TIME = r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ"


def test_where_lines_are_kept_each_begins_with_its_time(
    capsys: pytest.CaptureFixture[str],
) -> None:
    log = logging.getLogger("fritillary.some.part")
    with told(debug=False):
        log.warning("before")
        with kept():
            log.warning("match m could not be played", exc_info=OSError(28, "full"))
            logging.getLogger("asyncio").error("something else")
        log.warning("after")
    before, played, other, after = capsys.readouterr().err.splitlines()
    assert (before, after) == ("before", "after")
    assert re.fullmatch(f"{TIME} match m could not be played: full", played)
    assert re.fullmatch(f"{TIME} something else", other)


def test_the_journal_is_told_where_lines_are_kept_or_with_debug(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for debug in (False, True):
        with told(debug=debug):
            journal.info("match begun")
            with kept():
                journal.info("match made")
                journal_of_bots.info("bot connected")
            journal.info("match over")
        lines = [line.split(" ", 1) for line in capsys.readouterr().err.splitlines()]
        told_of = [words[-1] for words in lines if re.fullmatch(TIME, words[0])]
        assert told_of == ["match made", "bot connected"]
        assert len(lines) == (4 if debug else 2)


def test_a_match_that_is_played_here_has_no_journal_unless_it_is_asked_for(
    run: Run,
) -> None:
    words = (
        "match",
        "lepidoptery",
        "-s",
        "greedy",
        "-s",
        "uniform",
        "--seed",
        "01" * 32,
    )
    code, _, errors = run(*words)
    assert code == 0
    assert "match made" not in errors
    code, _, errors = run("--debug", *words)
    assert code == 0
    assert "match made match=m-" in errors
    assert "01" * 32 not in errors
