"""Tokens and the file that keeps their hashes."""

from __future__ import annotations

import json
import stat

import pytest

from fritillary.core.errors import ServiceError, StorageError, UsageError
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
    assert [one.name for one in tmp_path.iterdir()] == ["tokens.json"]


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
    with pytest.raises(StorageError, match="directory"):
        TokenStore(tmp_path)


def test_a_folder_that_cannot_be_written_is_one_clear_line(tmp_path):
    with pytest.raises(StorageError, match="No such file"):
        TokenStore(tmp_path / "missing" / "tokens.json").create("bob", Role.BOT)
