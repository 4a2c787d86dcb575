"""Certificates and private keys as PEM text: what is wrong with them.

Whoever serves or dials in with a certificate has it checked here first, since gRPC
tells no more of a bad one than that it failed.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Final, TypeAlias

from attrs import frozen
from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from fritillary.core.errors import UsageError

#: Code of everything that is wrong with a certificate or a key.
CODE: Final = "usage.tls"

_Key: TypeAlias = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey

#: The curves with which gRPC's TLS signs.
_CURVES: Final = ("secp256r1", "secp384r1")

_KEY_BLOCK: Final = b"PRIVATE KEY-----"
_CERTIFICATE_BLOCK: Final = b"-----BEGIN CERTIFICATE-----"


@frozen
class About:
    """What people want to know of a certificate.

    Args:
        names: of the hosts that it is for: DNS names and addresses.
        good_until: when it, or one of its chain, expires.
    """

    names: tuple[str, ...]
    good_until: dt.datetime


def check_pair(
    chain: bytes,
    key: bytes,
    now: dt.datetime,
    *,
    chain_name: str,
    key_name: str,
) -> About:
    """Check that a certificate and a private key can be used together.

    Args:
        chain: the certificate, followed by those that lead to the authority; PEM.
        key: its private key, PEM, not encrypted.
        now: with a time zone.
        chain_name: of the certificate's file, for errors.
        key_name: of the key's file, for errors.

    Raises:
        UsageError: ``usage.tls``, naming the file and what is wrong with it.
    """
    found = _certificates(chain, chain_name)
    private = _private_key(key, key_name)
    for certificate in found:
        _check_dates(certificate, now, chain_name)
    if _public(found[0]) != _public(private):
        msg = f"key {key_name} does not belong to certificate {chain_name}"
        raise UsageError(msg, code=CODE)
    return About(_names(found[0]), min(map(_good_until, found)))


def check_roots(raw: bytes, now: dt.datetime, *, name: str) -> None:
    """Check that there is a certificate to trust.

    Args:
        raw: certificates of authorities, PEM.
        now: with a time zone.
        name: of the file, for errors.

    Raises:
        UsageError: ``usage.tls``, naming the file and what is wrong with it.
    """
    found = _certificates(raw, name)
    # Of many some may be out of date, as in the bundles that systems bring along.
    if all(_good_until(certificate) < now for certificate in found):
        _check_dates(found[0], now, name)


def _certificates(raw: bytes, name: str) -> Sequence[x509.Certificate]:
    try:
        return x509.load_pem_x509_certificates(raw)
    except (ValueError, UnsupportedAlgorithm) as error:
        problem = "holds no certificate in PEM"
        if _CERTIFICATE_BLOCK in raw:
            problem = "holds a certificate that cannot be read"
        elif _KEY_BLOCK in raw:
            problem = "holds a key where a certificate is wanted"
        raise UsageError(f"certificate {name}: {problem}", code=CODE) from error


def _private_key(raw: bytes, name: str) -> _Key:
    problem = "holds no private key in PEM"
    try:
        key = serialization.load_pem_private_key(raw, None)
    except TypeError as error:
        problem = "is encrypted; decrypt it with 'openssl pkey'"
        raise UsageError(f"key {name}: {problem}", code=CODE) from error
    except (ValueError, UnsupportedAlgorithm) as error:
        if _KEY_BLOCK in raw:
            problem = "holds a key that cannot be read"
        elif _CERTIFICATE_BLOCK in raw:
            problem = "holds a certificate where a key is wanted"
        raise UsageError(f"key {name}: {problem}", code=CODE) from error
    if isinstance(key, rsa.RSAPrivateKey) or (
        isinstance(key, ec.EllipticCurvePrivateKey) and key.curve.name in _CURVES
    ):
        return key
    problem = "is of a kind that gRPC does not use; take RSA, P-256 or P-384"
    raise UsageError(f"key {name}: {problem}", code=CODE)


def _check_dates(certificate: x509.Certificate, now: dt.datetime, name: str) -> None:
    problem = ""
    if _good_until(certificate) < now:
        problem = f"expired on {_good_until(certificate):%Y-%m-%d %H:%M} UTC"
    elif certificate.not_valid_before_utc > now:
        since = certificate.not_valid_before_utc
        problem = f"is not valid before {since:%Y-%m-%d %H:%M} UTC"
    if problem:
        raise UsageError(f"certificate {name}: {problem}", code=CODE)


def _good_until(certificate: x509.Certificate) -> dt.datetime:
    return certificate.not_valid_after_utc


def _public(of: x509.Certificate | _Key) -> bytes:
    return of.public_key().public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )


def _names(certificate: x509.Certificate) -> tuple[str, ...]:
    try:
        found = certificate.extensions.get_extension_for_class(
            x509.SubjectAlternativeName
        ).value
    except (x509.ExtensionNotFound, ValueError):
        return ()
    return (
        *found.get_values_for_type(x509.DNSName),
        *map(str, found.get_values_for_type(x509.IPAddress)),
    )
