"""Session tokens: what a bot shows to go on with the session it had."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import secrets
from typing import Final

from attrs import frozen

from fritillary.codec.packing import pack, unpack
from fritillary.core.errors import CodecError, ServiceError

_MAC_BYTES: Final = 32


@frozen
class SessionKey:
    """What must be the same for a session to be resumed.

    Args:
        bot: name that the bot's token was issued for.
        build: of the bot.
        encoding: its number on the wire.
        expanded: whether legal actions are written out.
        features: in use.
    """

    bot: str
    build: str
    encoding: int
    expanded: bool
    features: tuple[str, ...]


class SessionTokens:
    """Makes and reads session tokens: an HMAC over bot, instance and build.

    Args:
        secret: of the server; the same one reads tokens from before a restart.
    """

    def __init__(self, secret: bytes) -> None:
        self._secret = secret
        #: Of this run alone.
        self._passing = secrets.token_bytes(32)

    def new(self, key: SessionKey, *, lasting: bool = True) -> str:
        """Return the token of a new session.

        Args:
            key: of the session.
            lasting: it can be resumed after a restart of the server.
        """
        instance = secrets.token_hex(8)
        payload = pack(
            [
                instance,
                key.bot,
                key.build,
                key.encoding,
                key.expanded,
                list(key.features),
            ]
        )
        raw = _mac(self._secret if lasting else self._passing, payload) + payload
        return base64.urlsafe_b64encode(raw).decode()

    def resumes(self, text: str, key: SessionKey) -> bool:
        """Say whether a token goes on with a session of the same bot.

        A token that this server did not make, or made for another bot, opens a new
        session.

        Raises:
            ServiceError: ``session.other-build`` or ``session.other-settings``.
        """
        if not text:
            return False
        try:
            raw = base64.b64decode(text.encode(), altchars=b"-_", validate=True)
        except (binascii.Error, ValueError):
            return False
        payload = raw[_MAC_BYTES:]
        if not any(
            hmac.compare_digest(_mac(secret, payload), raw[:_MAC_BYTES])
            for secret in (self._secret, self._passing)
        ):
            return False
        try:
            _, bot, build, encoding, expanded, features = unpack(payload)
        except (CodecError, ValueError, TypeError):  # pragma: no cover - ours
            return False
        if bot != key.bot:
            return False
        if build != key.build:
            msg = (
                "this session belongs to another build of the bot; dial in without "
                "its session token"
            )
            raise ServiceError(msg, code="session.other-build")
        if (encoding, expanded, tuple(features)) != (
            key.encoding,
            key.expanded,
            key.features,
        ):
            msg = (
                "encoding, legal form and features must be those of the session; "
                "dial in without its session token to change them"
            )
            raise ServiceError(msg, code="session.other-settings")
        return True


def _mac(secret: bytes, payload: bytes) -> bytes:
    return hmac.new(secret, payload, hashlib.sha256).digest()
