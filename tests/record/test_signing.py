from __future__ import annotations

import concurrent.futures
import os
import re
import stat
import threading

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from tests.odd_files import odd_files

from fritillary.core.errors import StorageError
from fritillary.record.signing import Signer, signature_holds, signed_message


def test_a_missing_key_is_made_for_its_owner_alone(tmp_path):
    path = tmp_path / "signing.key"
    before = os.umask(0)
    try:
        signer = Signer.load(path)
    finally:
        os.umask(before)
    if os.name == "posix":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert re.fullmatch("[0-9a-f]{64}\n", path.read_text())
    assert signer.public == Signer(bytes.fromhex(path.read_text())).public
    assert list(tmp_path.iterdir()) == [path]


def test_a_key_is_used_again_and_not_touched(tmp_path):
    path = tmp_path / "signing.key"
    made = Signer.load(path)
    text = path.read_bytes()
    assert Signer.load(path).public == made.public
    assert path.read_bytes() == text


def test_a_key_may_be_written_by_hand(tmp_path):
    path = tmp_path / "signing.key"
    path.write_text("AB" * 32 + "\r\n")
    assert Signer.load(path).public == Signer(b"\xab" * 32).public


def test_programs_that_start_together_get_one_key(tmp_path):
    for attempt in range(20):
        path = tmp_path / f"{attempt}.key"
        barrier = threading.Barrier(4)

        def load(path=path, barrier=barrier):
            barrier.wait()
            return Signer.load(path).public

        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            keys = {future.result() for future in [pool.submit(load) for _ in range(4)]}
        assert len(keys) == 1
    assert len(list(tmp_path.iterdir())) == 20


@pytest.mark.parametrize(
    "garbage",
    [
        b"",
        b"\n",
        b"secret",
        b"ab" * 31,
        b"ab" * 33,
        b"zz" * 32,
        b"\xff\x00" * 32,
        b"ab " * 32,
        b"ab" * 32 + b"\nmore",
    ],
)
def test_garbage_is_refused_in_one_line_that_does_not_repeat_it(tmp_path, garbage):
    path = tmp_path / "signing.key"
    path.write_bytes(garbage)
    with pytest.raises(StorageError) as caught:
        Signer.load(path)
    assert caught.value.message == (
        f"{path}: not a key of 64 hex digits; move it away to get a new one"
    )
    assert caught.value.code == "storage.key"
    assert path.read_bytes() == garbage


def test_a_path_that_cannot_be_used_is_named_with_the_reason(tmp_path):
    for path, reason in (
        (tmp_path, "not a regular file"),
        (tmp_path / "none" / "signing.key", "No such file or directory"),
    ):
        with pytest.raises(StorageError) as caught:
            Signer.load(path)
        assert caught.value.message == f"{path}: {reason}"


def test_what_is_no_file_of_a_key_is_refused_without_a_wait(tmp_path):
    for path, reason in odd_files(tmp_path, 1024):
        with pytest.raises(StorageError) as caught:
            Signer.load(path)
        assert caught.value.message == f"{path}: {reason}"


def test_a_signature_holds_for_its_key_and_message_alone():
    signer, other = Signer(b"1" * 32), Signer(b"2" * 32)
    signature = signer.sign(b"message")
    assert len(signature) == 64
    assert signer.sign(b"message") == signature
    assert signature_holds(signer.public, signature, b"message")
    assert not signature_holds(signer.public, signature, b"other")
    assert not signature_holds(other.public, signature, b"message")
    assert not signature_holds(signer.public, bytes(64), b"message")
    assert not signature_holds(b"\xff" * 32, signature, b"message")
    assert not signature_holds(b"short", signature, b"message")
    Ed25519PublicKey.from_public_bytes(signer.public).verify(signature, b"message")


def test_fresh_keys_differ():
    assert Signer.generate().public != Signer.generate().public


def test_a_private_key_has_32_bytes():
    with pytest.raises(ValueError, match="32"):
        Signer(b"short")


def test_what_is_signed_says_what_for():
    assert signed_message(b"L" * 32, b"C" * 32) == (
        b"fritillary-record-1" + b"L" * 32 + b"C" * 32
    )
