"""Tokens and the file that keeps their hashes."""

from __future__ import annotations

import errno
import functools
import json
import os
import stat
import subprocess
import sys
import tempfile

import pytest
from tests.odd_files import odd_files

from fritillary.core.errors import ServiceError, StorageError, UsageError
from fritillary.service import tokens
from fritillary.service.locking import locked
from fritillary.service.tokens import Role, TokenStore


def test_a_token_is_known_by_its_text_alone(tmp_path):
    store = TokenStore(tmp_path / "tokens.json")
    text = store.create("bob", Role.BOT)
    assert text.startswith("frt_bot_")
    assert len(text) > 40
    token = store.check(text)
    assert (token.name, token.role, token.revoked_at_ms) == ("bob", Role.BOT, None)
    kept = (tmp_path / "tokens.json").read_text()
    assert text not in kept
    assert text.removeprefix("frt_bot_") not in kept
    assert TokenStore(tmp_path / "tokens.json").check(text) == token


def test_the_file_is_for_its_owner_alone(tmp_path):
    path = tmp_path / "tokens.json"
    TokenStore(path).create("bob", Role.BOT)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    names = {"tokens.json", "tokens.json.lock"}
    assert {one.name for one in tmp_path.iterdir()} == names
    for one in tmp_path.iterdir():
        assert stat.S_IMODE(one.stat().st_mode) == 0o600


def test_no_file_is_made_before_the_first_token(tmp_path):
    assert list(TokenStore(tmp_path / "tokens.json").list()) == []
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("which", ["name", "id", "text"])
def test_a_revoked_token_is_told_from_an_unknown_one(tmp_path, which):
    store = TokenStore(tmp_path / "tokens.json")
    text = store.create("bob", Role.REFEREE)
    token = store.check(text)
    store.revoke({"name": "bob", "id": token.id, "text": text}[which])
    for one in (store, TokenStore(tmp_path / "tokens.json")):
        with pytest.raises(ServiceError) as caught:
            one.check(text)
        assert caught.value.code == "auth.revoked-token"
        assert not one.good(token)
    with pytest.raises(ServiceError) as caught:
        store.check(text + "x")
    assert caught.value.code == "auth.unknown-token"
    with pytest.raises(ServiceError) as caught:
        store.check("")
    assert caught.value.code == "auth.missing-token"


def test_revoking_nothing_is_an_error():
    with pytest.raises(UsageError, match="no good token"):
        TokenStore().revoke("nobody")


def test_what_another_process_does_counts_at_once(tmp_path):
    mine = TokenStore(tmp_path / "tokens.json")
    theirs = TokenStore(tmp_path / "tokens.json")
    text = theirs.create("bob", Role.BOT)
    assert mine.check(text).name == "bob"
    mine.create("eve", Role.BOT)
    assert len(theirs.list()) == 2
    theirs.revoke("bob")
    with pytest.raises(ServiceError, match="revoked"):
        mine.check(text)


def test_a_passing_token_is_never_written(tmp_path):
    store = TokenStore(tmp_path / "tokens.json")
    text = store.create("program", Role.BOT, passing=True)
    assert store.check(text).name == "program"
    assert not list(store.list())
    assert not list(tmp_path.iterdir())
    store.forget(text)
    with pytest.raises(ServiceError, match="does not know"):
        store.check(text)


@pytest.mark.parametrize("name", ["", "a b", "ä", "x" * 65, "../x", "a\n"])
def test_names_are_plain(name):
    with pytest.raises(UsageError, match="token name"):
        TokenStore().create(name, Role.BOT)


def in_processes(path, *calls):
    """Run calls on a store of this file, each in a process of its own, at once."""
    script = (
        "import sys; from pathlib import Path; "
        "from fritillary.service.tokens import Role, TokenStore; "
        "store = TokenStore(Path(sys.argv[1])); sys.stdin.read(); "
        "eval(sys.argv[2])"
    )
    running = [
        subprocess.Popen(
            [sys.executable, "-c", script, str(path), call], stdin=subprocess.PIPE
        )
        for call in calls
    ]
    for one in running:
        assert one.stdin is not None
        one.stdin.close()
    assert [one.wait() for one in running] == [0] * len(calls)


@pytest.mark.system
def test_no_change_of_one_process_undoes_that_of_another(tmp_path):
    path = tmp_path / "tokens.json"
    store = TokenStore(path)
    for number in range(4):
        store.create(f"old{number}", Role.BOT)
    in_processes(
        path,
        *(f"store.create('new{number}', Role.BOT)" for number in range(4)),
        *(f"store.revoke('old{number}')" for number in range(4)),
    )
    kept = {token.name: token.revoked_at_ms is None for token in store.list()}
    assert kept == {
        **{f"new{number}": True for number in range(4)},
        **{f"old{number}": False for number in range(4)},
    }


def test_a_lock_that_is_held_is_waited_for_but_not_for_ever(tmp_path):
    path = tmp_path / "lock"
    with (
        locked(path),
        pytest.raises(TimeoutError, match="another process"),
        locked(path, within_s=0.05),
    ):
        pytest.fail("it is held twice")
    with locked(path, within_s=0.05):
        pass


def test_a_lock_that_cannot_be_had_is_one_clear_line(tmp_path, monkeypatch):
    store = TokenStore(tmp_path / "tokens.json")
    monkeypatch.setattr(tokens, "locked", functools.partial(locked, within_s=0.05))
    with (
        locked(tmp_path / "tokens.json.lock"),
        pytest.raises(StorageError, match="another process") as caught,
    ):
        store.create("bob", Role.BOT)
    assert caught.value.code == "storage.tokens"
    assert not store.list()


def test_while_the_file_is_damaged_what_was_known_counts(tmp_path, caplog):
    path = tmp_path / "tokens.json"
    store = TokenStore(path)
    text, bad = (store.create(name, Role.BOT) for name in ("bob", "eve"))
    token = store.check(text)
    store.revoke("eve")
    good = path.read_bytes()
    path.write_bytes(b"{")
    for _ in range(3):
        assert store.good(token)
        assert store.check(text) == token
        with pytest.raises(ServiceError, match="revoked"):
            store.check(bad)
        with pytest.raises(ServiceError, match="cannot read") as caught:
            store.check("frt_bot_never-seen")
        assert caught.value.code == "auth.unavailable"
        assert str(path) not in caught.value.message
    assert len(caplog.records) == 1
    # Nothing is written over what somebody may still want to mend.
    for change in (lambda: store.create("new", Role.BOT), lambda: store.revoke("bob")):
        with pytest.raises(StorageError, match="no token file"):
            change()
    assert path.read_bytes() == b"{"
    path.write_bytes(good)
    with pytest.raises(ServiceError, match="does not know"):
        store.check("frt_bot_never-seen")
    TokenStore(path).revoke("bob")
    assert not store.good(token)


def test_what_cannot_be_written_is_not_known_either(tmp_path, monkeypatch):
    store = TokenStore(tmp_path / "tokens.json")
    text = store.create("bob", Role.BOT)

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tempfile, "mkstemp", full)
    for change in (lambda: store.create("new", Role.BOT), lambda: store.revoke("bob")):
        with pytest.raises(StorageError, match="No space"):
            change()
    assert [one.name for one in store.list()] == ["bob"]
    assert store.check(text).name == "bob"


def test_on_a_full_disk_a_revocation_says_what_to_do(tmp_path, monkeypatch):
    path = tmp_path / "tokens.json"
    store = TokenStore(path)
    token = store.check(store.create("bob", Role.BOT))

    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StorageError) as caught:
        store.revoke("bob")
    assert "No space left on device; nothing was revoked: make room" in (
        caught.value.message
    )
    assert store.good(token)
    assert {one.name for one in tmp_path.iterdir()} == {path.name, f"{path.name}.lock"}
    # What it says works, also where nothing can be written.
    before = store.changes()
    path.unlink()
    assert store.changes() > before
    assert not store.good(token)


def test_a_second_good_token_of_a_name_must_be_wanted(tmp_path):
    store = TokenStore(tmp_path / "tokens.json")
    first = store.check(store.create("bob", Role.BOT, again=False))
    for role in Role:
        with pytest.raises(UsageError, match=f"already, {first.id} of") as caught:
            store.create("bob", role, again=False)
        assert caught.value.code == "usage.token-exists"
    store.create("eve", Role.BOT, again=False)
    store.revoke("bob")
    store.create("bob", Role.BOT, again=False)
    store.create("bob", Role.BOT)
    assert len(store.revoke("bob")) == 2


def test_revoking_makes_no_files(tmp_path):
    with pytest.raises(UsageError, match="no good token"):
        TokenStore(tmp_path / "missing" / "tokens.json").revoke("bob")
    assert not list(tmp_path.iterdir())


GOOD = {
    "name": "bob",
    "role": "bot",
    "hash": "0" * 64,
    "created_at_ms": 1,
    "revoked_at_ms": None,
}


def spoiled(**fields):
    """Return the bytes of a token file with one bad token."""
    return json.dumps({"format": 1, "tokens": [{**GOOD, **fields}]}).encode()


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\xff\xfe",
        b"null",
        b"[]",
        b"{}",
        b'{"format": 1}',
        b'{"format": 1, "tokens": 7}',
        b'{"format": 1, "tokens": [7]}',
        b'{"format": 2, "tokens": []}',
        b"[" * 100_000,
        spoiled(name=7),
        spoiled(name="a b"),
        spoiled(role="king"),
        spoiled(role=[]),
        spoiled(hash="xyz"),
        spoiled(hash=None),
        spoiled(created_at_ms="soon"),
        spoiled(created_at_ms=-1),
        spoiled(revoked_at_ms=1.5),
        spoiled(more=1),
    ],
)
def test_a_file_of_garbage_is_one_clear_line(tmp_path, raw):
    path = tmp_path / "tokens.json"
    path.write_bytes(raw)
    with pytest.raises(StorageError) as caught:
        TokenStore(path)
    assert caught.value.code == "storage.tokens"
    assert "\n" not in caught.value.message
    assert caught.value.message.startswith(str(path))
    assert len(caught.value.message) < 300 + len(str(path))
    assert path.read_bytes() == raw


def test_a_folder_in_place_of_the_file_is_one_clear_line(tmp_path):
    with pytest.raises(StorageError, match="not a regular file"):
        TokenStore(tmp_path)


def test_what_is_no_file_of_tokens_is_refused_without_a_wait(tmp_path):
    for path, reason in odd_files(tmp_path, 16777216):
        with pytest.raises(StorageError) as caught:
            TokenStore(path)
        assert caught.value.message == f"{path}: {reason}"
        assert caught.value.code == "storage.tokens"


def test_a_pipe_in_place_of_the_lock_is_refused_without_a_wait(tmp_path):
    path = tmp_path / "tokens.json"
    os.mkfifo(tmp_path / "tokens.json.lock")
    with pytest.raises(StorageError, match="not a regular file"):
        TokenStore(path).create("bob", Role.BOT)


def test_no_more_tokens_are_written_than_can_be_read(tmp_path, monkeypatch):
    path = tmp_path / "tokens.json"
    store = TokenStore(path)
    store.create("bob", Role.BOT)
    kept = path.read_bytes()
    monkeypatch.setattr(tokens, "_MAX_BYTES", len(kept) + 10)
    with pytest.raises(StorageError, match="full"):
        store.create("eve", Role.BOT)
    assert path.read_bytes() == kept
    assert [one.name for one in store.list()] == ["bob"]


def test_a_folder_that_cannot_be_written_is_one_clear_line(tmp_path):
    with pytest.raises(StorageError, match="No such file"):
        TokenStore(tmp_path / "missing" / "tokens.json").create("bob", Role.BOT)
