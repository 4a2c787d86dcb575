"""The server's key: Ed25519, through the cryptography package."""

from __future__ import annotations

import os
from pathlib import Path

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import (
    Ed25519PrivateKey,
    Ed25519PublicKey,
)

from fritillary.core.errors import StorageError

_KEY_BYTES = 32


class Signer:
    """Signs records with one private key.

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
        try:
            try:
                descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            except FileExistsError:
                text = path.read_text("ascii")
            else:
                text = os.urandom(_KEY_BYTES).hex()
                with os.fdopen(descriptor, "w", encoding="ascii") as file:
                    file.write(text + "\n")
                    file.flush()
                    os.fsync(file.fileno())
            return cls(bytes.fromhex(text.strip()))
        except (OSError, ValueError) as error:
            msg = f"{path}: not a usable key ({error}); move it away to get a new one"
            raise StorageError(msg, code="storage.key") from error

    def sign(self, message: bytes) -> bytes:
        """Return the signature of a message, 64 bytes."""
        return self._key.sign(message)


def signature_holds(public: bytes, signature: bytes, message: bytes) -> bool:
    """Say whether a signature is that of a key over a message."""
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True
