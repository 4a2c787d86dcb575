"""An authority of the tests, and what it signs."""

from __future__ import annotations

import datetime as dt
import ipaddress
from pathlib import Path
from typing import Any

from attrs import frozen
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

HOUR = dt.timedelta(hours=1)


def key_pem(key: Any, password: str = "") -> bytes:
    """Return a private key as text, encrypted if there is a password."""
    how: Any = serialization.NoEncryption()
    if password:
        how = serialization.BestAvailableEncryption(password.encode())
    pem = serialization.Encoding.PEM
    text: bytes = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, how)
    return text


@frozen
class Pair:
    """Files of a certificate and of its key."""

    cert: Path
    key: Path


class Authority:
    """Signs certificates.

    Args:
        folder: for the files that it makes.
        name: of it, and of its own file.
    """

    def __init__(self, folder: Path, name: str = "authority") -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _named(name)
        certificate = (
            _begun(self._name, self._name, self._key, HOUR)
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), True)
            .sign(self._key, hashes.SHA256())
        )
        self.ca = folder / f"{name}.pem"
        self.ca.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))

    def sign(
        self,
        name: str,
        *hosts: str,
        good_for: dt.timedelta = HOUR,
        key: Any = None,
    ) -> Pair:
        """Return a certificate and its key.

        Args:
            name: of the subject, and of the files.
            hosts: names and addresses that it is for.
            good_for: from now; below nothing it has expired.
            key: that it certifies; ``None`` makes one.
        """
        key = key or ec.generate_private_key(ec.SECP256R1())
        builder = _begun(_named(name), self._name, key, good_for)
        if hosts:
            names = x509.SubjectAlternativeName(list(map(_host, hosts)))
            builder = builder.add_extension(names, False)
        certificate = builder.sign(self._key, hashes.SHA256())
        pair = Pair(self._folder / f"{name}.crt", self._folder / f"{name}.key")
        pair.cert.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        pair.key.write_bytes(key_pem(key))
        pair.key.chmod(0o600)
        return pair


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _host(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _begun(
    subject: x509.Name, issuer: x509.Name, key: Any, good_for: dt.timedelta
) -> x509.CertificateBuilder:
    now = dt.datetime.now(dt.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - 48 * HOUR)
        .not_valid_after(now + good_for)
    )
