"""The server's key: Ed25519, through the cryptography package."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
from pathlib import Path
from typing import Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import (
    Ed25519PrivateKey,
    Ed25519PublicKey,
)

from fritillary.core.errors import StorageError
from fritillary.record.regular import read_regular

_KEY_BYTES: Final = 32

#: More than any key file has.
_MAX_FILE_BYTES: Final = 1024

_KEY_TEXT: Final = re.compile(rb"[0-9a-fA-F]{64}\s*\Z")

#: Says what a signature is for, so that it can stand for nothing else.
_PURPOSE: Final = b"fritillary-record-1"


def signed_message(link: bytes, content_hash: bytes) -> bytes:
    """Return what is signed when a record is closed.

    Args:
        link: of the last event before the closing one, 32 bytes.
        content_hash: 32 bytes.
    """
    return _PURPOSE + link + content_hash


class Signer:
    """Signs records with one private key.

    Args:
        private: the key, 32 bytes.

    Raises:
        ValueError: if it has another length.

    Attributes:
        public: the 32 bytes of the public key.
    """

    def __init__(self, private: bytes) -> None:
        self._key = Ed25519PrivateKey.from_private_bytes(private)
        self.public: bytes = self._key.public_key().public_bytes_raw()

    @classmethod
    def generate(cls) -> Signer:
        """Return a signer with a fresh key that is kept nowhere."""
        return cls(os.urandom(_KEY_BYTES))

    @classmethod
    def load(cls, path: Path) -> Signer:
        """Return the signer of a key file, which is made if it is missing.

        Raises:
            StorageError: if the file cannot be used.
        """
        return cls(load_key(path))

    def sign(self, message: bytes) -> bytes:
        """Return the signature of a message, 64 bytes."""
        return self._key.sign(message)


def load_key(path: Path) -> bytes:
    """Return the 32 bytes of a key file, which is made if it is missing.

    Programs that start at the same moment get the same key. The file holds 64 hex
    digits, and only its owner may read it.

    Raises:
        StorageError: if the file cannot be used.
    """
    try:
        if not path.exists():
            _make(path)
        raw = read_regular(path, _MAX_FILE_BYTES)
    except OSError as error:
        msg = f"{path}: {error.strerror}"
        raise StorageError(msg, code="storage.key") from error
    if not _KEY_TEXT.match(raw):
        msg = f"{path}: not a key of 64 hex digits; move it away to get a new one"
        raise StorageError(msg, code="storage.key")
    return bytes.fromhex(raw.decode("ascii"))


def _make(path: Path) -> None:
    """Make a key file, unless somebody else just did.

    Written aside and then linked: nobody ever sees half a key, and the first one wins.
    """
    aside = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(os.urandom(_KEY_BYTES).hex() + "\n")
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(FileExistsError):
            os.link(aside, path)
    finally:
        aside.unlink()


def signature_holds(public: bytes, signature: bytes, message: bytes) -> bool:
    """Say whether a signature is that of a key over a message."""
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True
