"""fritillary token."""

import errno
import functools
import json
import os
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Run, one_line

from fritillary.cli import moments, token
from fritillary.service import tokens


def test_a_token_is_made_listed_and_revoked(run: Run) -> None:
    code, text, note = run("token", "create", "my-bot")
    assert code == 0
    assert text.startswith("frt_bot_")
    assert "secret" in note
    rows = json.loads(run("token", "list", "--json")[1])
    assert [(row["name"], row["role"]) for row in rows] == [("my-bot", "bot")]
    assert text.strip() not in run("token", "list")[1]
    code, said, _ = run("token", "revoke", "my-bot")
    assert code == 0
    assert "revoked" in said
    assert "revoked" in run("token", "list")[1]


def test_no_tokens_yet(run: Run, tmp_path: Path) -> None:
    code, out, note = run("token", "list", "--data", tmp_path)
    assert (code, out) == (0, "")
    assert "token create" in note


def test_revoking_a_name_says_how_many_tokens_it_was(run: Run) -> None:
    run("token", "create", "my-bot")
    code, text, note = run("token", "create", "my-bot", "--again")
    assert code == 0
    assert text.startswith("frt_bot_")
    assert "my-bot has 2 good tokens now (" in note
    code, said, note = run("token", "revoke", "my-bot")
    assert code == 0
    assert said.count("revoked ") == 2
    assert note == "2 tokens revoked\n"


def test_a_second_token_of_a_name_is_refused_unless_it_is_wanted(run: Run) -> None:
    run("token", "create", "my-bot")
    code, out, error = run("token", "create", "my-bot")
    assert (code, out) == (2, "")
    assert "my-bot has a good token already" in one_line(error)
    assert "--again" in error
    assert len(json.loads(run("token", "list", "--json")[1])) == 1


#: 2027-03-01 12:00:00 UTC.
NOON = 1_803_902_400_000
DAY = 24 * 3_600_000


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the time of the command's clock, which can be set."""
    now = [NOON]
    monkeypatch.setattr(moments, "now_ms", lambda: now[0])
    monkeypatch.setattr(token, "now_ms", lambda: now[0])
    store = functools.partial(tokens.TokenStore, now_ms=lambda: now[0])
    monkeypatch.setattr(tokens, "TokenStore", store)
    return now


def test_a_token_that_expires_is_listed_with_when_that_is(
    run: Run, clock: list[int]
) -> None:
    code, text, note = run("token", "create", "my-bot", "--expires", "30d")
    assert code == 0
    assert text.startswith("frt_bot_")
    assert "it expires on 2027-03-31 12:00:00 UTC" in note
    run("token", "create", "other")
    rows = json.loads(run("token", "list", "--json")[1])
    assert [(row["expires_at_ms"], row["state"]) for row in rows] == [
        (NOON + 30 * DAY, "good"),
        (None, "good"),
    ]
    first, mine, other = run("token", "list")[1].splitlines()
    assert "EXPIRES" in first
    assert "2027-03-31 12:00:00  good" in mine
    assert "never" in other
    clock[0] += 30 * DAY
    rows = json.loads(run("token", "list", "--json")[1])
    assert [row["state"] for row in rows] == ["expired", "good"]
    assert "2027-03-31 12:00:00  expired" in run("token", "list")[1]
    assert run("token", "revoke", "my-bot")[0] == 0
    assert json.loads(run("token", "list", "--json")[1])[0]["state"] == "revoked"


def test_the_name_of_an_expired_token_gets_another_one_without_more_ado(
    run: Run, clock: list[int]
) -> None:
    run("token", "create", "my-bot", "--expires", "2027-03-02T13:00+01:00")
    code, out, error = run("token", "create", "my-bot")
    assert (code, out) == (2, "")
    assert "until 2027-03-02 12:00:00 UTC; revoke it" in one_line(error)
    assert run("token", "create", "my-bot", "--again", "--expires", "2w")[0] == 0
    clock[0] += DAY
    assert "2027-03-15 12:00:00" in run("token", "create", "my-bot")[2]
    clock[0] += 13 * DAY
    code, _, note = run("token", "create", "my-bot")
    assert code == 0
    # The two before are at their end.
    assert "good tokens" not in note


@pytest.mark.parametrize(
    "words", ["soon", "30", "0d", "2027-02-28T12:00Z", "2028-01-01", "999999999w"]
)
def test_an_expiry_that_is_none_makes_no_token(
    run: Run, clock: list[int], words: str
) -> None:
    run("token", "create", "other")
    code, out, error = run("token", "create", "my-bot", "--expires", words)
    assert (code, out) == (2, "")
    assert repr(words) in one_line(error)
    rows = json.loads(run("token", "list", "--json")[1])
    assert [row["name"] for row in rows] == ["other"]


def test_on_a_full_disk_it_is_said_that_nothing_was_revoked(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("token", "create", "my-bot")

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as broken:
        broken.setattr(os, "fsync", full)
        code, out, error = run("token", "revoke", "my-bot")
    assert (code, out) == (1, "")
    assert "No space left on device; nothing was revoked" in one_line(error)
    assert run("token", "revoke", "my-bot")[0] == 0


@pytest.mark.parametrize("words", [("list",), ("list", "--json"), ("revoke", "bob")])
def test_a_data_folder_that_is_not_there_is_an_error_and_is_not_made(
    run: Run, words: tuple[str, ...], tmp_path: Path
) -> None:
    folder = tmp_path / "no" / "where"
    code, out, error = run("token", *words, "--data", folder)
    assert (code, out) == (2, "")
    assert one_line(error) == f"error: {folder}: there is no such data folder"
    assert not folder.parent.exists()


def test_the_folder_of_the_user_is_not_made_by_looking_into_it(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FRITILLARY_DATA")
    for name in ("XDG_DATA_HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    assert json.loads(run("token", "list", "--json")[1]) == []
    assert "no good token" in run("token", "revoke", "bob")[2]
    assert not (tmp_path / "home").exists()


def test_the_hint_names_the_data_folder_that_is_in_use(
    run: Run, tmp_path: Path
) -> None:
    folder = tmp_path / "my data"
    folder.mkdir()
    note = run("token", "list", "--data", folder)[2]
    assert f"'fritillary token create NAME --data '{folder}'' makes one" in note


READS = (
    ("games",),
    ("game", "lepidoptery"),
    ("perft", "lepidoptery", "--depth", 0),
    ("certify", "lepidoptery", "--law", "copy.equal"),
    ("check-bot", "--list"),
    ("show", "FREC"),
    ("verify", "FREC"),
    ("export", "FREC"),
    ("analyse", "FREC", "--iterations", 1),
)


@pytest.mark.parametrize("words", READS, ids=lambda words: words[0])
def test_what_only_reads_makes_no_data_folder(
    run: Run, words: tuple[Any, ...], frec: Path, tmp_path: Path
) -> None:
    code, _, _ = run(*(frec if word == "FREC" else word for word in words))
    assert code == 0
    assert list(tmp_path.iterdir()) == [frec]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("create", "no spaces please"), "letters"),
        (("create", "x", "--role", "king"), "referee"),
        (("revoke", "nobody"), "nobody"),
    ],
)
def test_wrong_words_are_one_clear_line(
    run: Run, words: tuple[str, ...], said: str
) -> None:
    run("token", "create", "somebody")
    code, out, error = run("token", *words)
    assert code == 2
    assert out == ""
    assert said in error
    assert error.count("\n") == 1
