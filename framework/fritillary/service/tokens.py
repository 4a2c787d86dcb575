"""Tokens: who may call, in which role. Only their hashes are kept."""

from __future__ import annotations

import base64
import contextlib
import enum
import errno
import hashlib
import hmac
import json
import logging
import math
import os
import secrets
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal

import attrs
from attrs import field, frozen, validators

from fritillary.core.errors import ServiceError, StorageError, UsageError
from fritillary.core.moments import moment_text
from fritillary.record.regular import read_regular
from fritillary.referee.lineup import BOT_NAME
from fritillary.service.locking import locked

_log = logging.getLogger(__name__)

_FORMAT: Final = 1
_SECRET_BYTES: Final = 32

#: Of the file, which has about 250 for each token.
_MAX_BYTES: Final = 16 * 1024 * 1024

#: What systems answer where a disk, or a user's part of it, is full.
_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT})

_NOTHING_REVOKED: Final = (
    "nothing was revoked: make room, for example by moving old records away, and try "
    "again; removing the file needs no room and ends all tokens"
)

_HASH: Final = r"[0-9a-f]{64}\Z"
_MS: Final = [validators.instance_of(int), validators.ge(0), validators.lt(2**53)]


class Role(enum.Enum):
    """What the holder of a token may do."""

    BOT = "bot"
    REFEREE = "referee"
    SPECTATOR = "spectator"


@frozen(kw_only=True)
class Token:
    """One token, without its secret.

    Args:
        name: of the holder; a bot is matched by it.
        role: of the holder.
        hash: hex of the SHA-256 of the token's text.
        created_at_ms: since 1970-01-01 UTC.
        revoked_at_ms: absent if it was not revoked.
        expires_at_ms: from then on it is no longer good; absent: never.
    """

    name: str = field(
        validator=[validators.instance_of(str), validators.matches_re(BOT_NAME)]
    )
    role: Role = field(converter=Role)
    hash: str = field(
        repr=False,
        validator=[validators.instance_of(str), validators.matches_re(_HASH)],
    )
    created_at_ms: int = field(validator=_MS)
    revoked_at_ms: int | None = field(default=None, validator=validators.optional(_MS))
    expires_at_ms: int | None = field(default=None, validator=validators.optional(_MS))

    def state(self, now_ms: int) -> Literal["good", "revoked", "expired"]:
        """Return whether it is good; one that is both revoked and expired is revoked.

        Args:
            now_ms: since 1970-01-01 UTC.
        """
        if self.revoked_at_ms is not None:
            return "revoked"
        expires_at_ms = self.expires_at_ms
        if expires_at_ms is not None and expires_at_ms <= now_ms:
            return "expired"
        return "good"

    @property
    def id(self) -> str:
        """Tells tokens of one name apart: the start of the hash."""
        return self.hash[:8]


def _wall_ms() -> int:
    return time.time_ns() // 1_000_000  # noqa: TID251 - dates tokens


class TokenStore:
    """The tokens of a server.

    The file is read again when it has changed, so that a token made or revoked by
    another process counts at once. While it cannot be read, what was known before
    counts. Whoever changes it holds the lock of a file beside it, ``NAME.lock``.

    Args:
        path: JSON file with mode 0600, made when the first token is; ``None``
            keeps all in memory.
        now_ms: the wall clock, by which tokens are dated and expire.

    Raises:
        StorageError: if the file is there and no token file.
    """

    def __init__(
        self, path: Path | None = None, *, now_ms: Callable[[], int] = _wall_ms
    ) -> None:
        self._path = path
        self._now_ms = now_ms
        self._stamp: tuple[int, int, int] | None = None
        #: What is wrong with the file; empty: nothing.
        self._problem = ""
        self._kept: dict[str, Token] = {}
        self._passing: dict[str, Token] = {}
        self._changes = 0
        #: The next token that expires does so then, as seen at a moment.
        self._due_ms: float = -math.inf
        self._seen_ms: float = -math.inf
        self._refresh()

    def create(
        self,
        name: str,
        role: Role,
        *,
        passing: bool = False,
        again: bool = True,
        expires_at_ms: int | None = None,
    ) -> str:
        """Make a token and return its text, which is kept nowhere.

        Args:
            name: of the holder: 1 to 64 letters, digits, ``.``, ``_`` or ``-``.
            role: of the holder.
            passing: never written to the file.
            again: also if the file has a good token of that name, which stays as it
                is.
            expires_at_ms: since 1970-01-01 UTC; ``None``: never, whatever holds for
                other tokens of that name.

        Raises:
            UsageError: if the name is none, or the token would be expired at once;
                ``usage.token-exists`` if the name has a good token already.
            StorageError: if the file cannot be read, locked or written.
        """
        if not BOT_NAME.match(name):
            msg = (
                f"token name {name[:70]!r} must be 1 to 64 letters, digits, dots, "
                "underscores or hyphens"
            )
            raise UsageError(msg, code="usage.token-name")
        now_ms = self._now_ms()
        if expires_at_ms is not None and expires_at_ms <= now_ms:
            msg = f"{moment_text(expires_at_ms)} is over; a token must expire later"
            raise UsageError(msg, code="usage.expires")
        secret = base64.urlsafe_b64encode(secrets.token_bytes(_SECRET_BYTES))
        text = f"frt_{role.value}_{secret.decode().rstrip('=')}"
        token = Token(
            name=name,
            role=role,
            hash=_hash(text),
            created_at_ms=now_ms,
            expires_at_ms=expires_at_ms,
        )
        if passing:
            self._passing[token.hash] = token
        else:
            with self._changing():
                if not again:
                    self._check_free(name)
                self._save({**self._kept, token.hash: token})
        if expires_at_ms is not None:
            self._due_ms = min(self._due_ms, expires_at_ms)
        return text

    def _check_free(self, name: str) -> None:
        for token in self.good_of(name):
            ends = token.expires_at_ms
            until = "" if ends is None else f" until {moment_text(ends)}"
            msg = (
                f"{name} has a good token already, {token.id} of the role "
                f"{token.role.value}{until}; revoke it, or add one with --again"
            )
            raise UsageError(msg, code="usage.token-exists")

    def good_of(self, name: str) -> Sequence[Token]:
        """Return the good tokens of a name that are kept, as far as known."""
        return [
            token
            for token in self._kept.values()
            if token.name == name and self.state(token) == "good"
        ]

    def state(self, token: Token) -> Literal["good", "revoked", "expired"]:
        """Return whether a token, as it was read, is good now."""
        return token.state(self._now_ms())

    def list(self) -> Sequence[Token]:
        """Return all tokens that are kept, oldest first."""
        self._refresh()
        return sorted(self._kept.values(), key=lambda token: token.created_at_ms)

    def kept(self) -> Mapping[str, Token]:
        """Return the tokens that are kept, by hash, as far as known. Never raises."""
        return self._kept

    def revoke(self, which: str) -> Sequence[Token]:
        """Revoke all tokens of a name, or the one of an id or text.

        One that has expired can be revoked, too: then it stays at an end, even if the
        clock was wrong.

        Returns:
            Those that were revoked.

        Raises:
            UsageError: if there are none that are not yet revoked.
            StorageError: if the file cannot be read, locked or written.
        """
        passing = self._revoked(self._passing, which)
        kept: dict[str, Token] = {}
        # Where there is no file there is nothing to be locked either.
        if self._path is None or self._path.exists():
            with self._changing(_NOTHING_REVOKED):
                kept = self._revoked(self._kept, which)
                if kept:
                    self._save({**self._kept, **kept})
        self._passing |= passing
        self._changes += 1
        if not kept and not passing:
            msg = f"no good token has the name or id {which[:70]!r}"
            raise UsageError(msg, code="usage.token-name")
        return [*kept.values(), *passing.values()]

    def _revoked(self, tokens: Mapping[str, Token], which: str) -> dict[str, Token]:
        """Return those among tokens that are meant, as revoked now."""
        digest = _hash(which)
        now = self._now_ms()
        return {
            token.hash: attrs.evolve(token, revoked_at_ms=now)
            for token in tokens.values()
            if token.revoked_at_ms is None
            and (which in {token.name, token.id} or digest == token.hash)
        }

    def forget(self, text: str) -> None:
        """Drop a passing token."""
        self._passing.pop(_hash(text), None)

    def check(self, text: str) -> Token:
        """Return the token of a text.

        Raises:
            ServiceError: ``auth.missing-token``, ``auth.unknown-token``,
                ``auth.revoked-token`` or ``auth.expired-token``; ``auth.unavailable``
                if the token is not known and the file cannot be read.
        """
        if not text:
            msg = "a token is needed: send the metadata 'authorization: Bearer TOKEN'"
            raise ServiceError(msg, code="auth.missing-token")
        self._look()
        token = self.find(text)
        if token is None:
            if self._problem:
                msg = "the server cannot read its tokens at the moment; try again"
                raise ServiceError(msg, code="auth.unavailable", retry_after_ms=1_000)
            msg = (
                "the server does not know this token; it may be of another server, or "
                "of another data folder"
            )
            raise ServiceError(msg, code="auth.unknown-token")
        if self.state(token) != "good":
            raise self.ended(token)
        return token

    def recheck(self, token: Token) -> None:
        """Check again that a token is good, before something is done with it.

        Raises:
            ServiceError: ``auth.revoked-token`` or ``auth.expired-token``.
        """
        if not self.good(token):
            raise self.ended(token)
        # The clock may have been set back since the last look.
        self._due_ms = min(self._due_ms, token.expires_at_ms or math.inf)

    def ended(self, token: Token) -> ServiceError:
        """Return what is told to who has shown a token that is no longer good.

        Only whoever has its whole text learns that there is, or was, such a token.
        """
        now = self._passing.get(token.hash) or self._kept.get(token.hash)
        ends = None if now is None else now.expires_at_ms
        if now is None or ends is None or self.state(now) != "expired":
            msg = "this token was revoked; ask for a new one"
            return ServiceError(msg, code="auth.revoked-token")
        msg = (
            f"this token expired on {moment_text(ends)}; ask who runs the server for a "
            "new one (fritillary token create NAME)"
        )
        return ServiceError(msg, code="auth.expired-token")

    def find(self, text: str) -> Token | None:
        """Return the token of a text, also one at its end, as far as known."""
        digest = _hash(text)
        token = self._passing.get(digest) or self._kept.get(digest)
        if token is None or not hmac.compare_digest(token.hash, digest):
            return None
        return token

    def is_passing(self, token: Token) -> bool:
        """Say whether a token was made for a while and never written to the file."""
        return token.hash in self._passing

    def changes(self) -> int:
        """Return a number that is another one after tokens were revoked or expired.

        The file is read again if it has changed. Never raises.
        """
        self._look()
        self._look_at_clock()
        return self._changes

    def good(self, token: Token) -> bool:
        """Say whether a token that was checked earlier is still good, as far as known.

        Never raises.
        """
        self._look()
        return self.stays(token)

    def stays(self, token: Token) -> bool:
        """Say the same as `good`, without a look at the file."""
        now = self._passing.get(token.hash) or self._kept.get(token.hash)
        return now is not None and self.state(now) == "good"

    def _look_at_clock(self) -> None:
        """Count a change if a token has expired since the last look."""
        now_ms = self._now_ms()
        # A clock that was set back brings tokens back, too.
        if self._seen_ms <= now_ms < self._due_ms:
            self._seen_ms = now_ms
            return
        self._seen_ms = now_ms
        self._changes += 1
        self._due_ms = min(
            (
                token.expires_at_ms
                for token in (*self._kept.values(), *self._passing.values())
                if token.expires_at_ms is not None and token.expires_at_ms > now_ms
            ),
            default=math.inf,
        )

    # --------------------------------------------------------------- the file

    def _look(self) -> None:
        """Read the file if it has changed; if it cannot be read, go on without."""
        try:
            self._refresh()
            problem = ""
        except StorageError as error:
            problem = error.message
        if problem != self._problem:
            if problem:
                _log.error(
                    "%s; what was known before counts until it is mended", problem
                )
            else:
                _log.warning("%s can be read again", self._path)
        self._problem = problem

    def _refresh(self) -> None:
        if self._path is None:
            return
        try:
            status = self._path.stat()
            stamp = (status.st_mtime_ns, status.st_size, status.st_ino)
            if stamp == self._stamp:
                return
            raw = read_regular(self._path, _MAX_BYTES)
        except FileNotFoundError:
            self._changes += bool(self._kept)
            self._kept = {}
            self._stamp = None
            return
        except OSError as error:
            # Once it is mended it may look as before; then it is read all the same.
            self._stamp = None
            raise self._failed(error) from error
        self._stamp = None
        self._kept = _parse(raw, self._path)
        self._stamp = stamp
        self._changes += 1
        self._due_ms = -math.inf

    def _failed(self, error: OSError, advice: str = "") -> StorageError:
        told = f"; {advice}" if advice and error.errno in _FULL else ""
        msg = f"{self._path}: {error.strerror}{told}"
        return StorageError(msg, code="storage.tokens")

    @contextlib.contextmanager
    def _changing(self, advice: str = "") -> Iterator[None]:
        """Hold the lock, with the file as it is now read.

        Args:
            advice: is told where the disk is full.
        """
        if self._path is None:
            yield
            return
        lock = self._path.with_name(f"{self._path.name}.lock")
        try:
            with locked(lock):
                self._stamp = None
                self._refresh()
                yield
        except OSError as error:
            raise self._failed(error, advice) from error

    def _save(self, tokens: dict[str, Token]) -> None:
        """Write the tokens; the lock must be held."""
        if self._path is None:
            self._kept = tokens
            return
        rows = [
            attrs.asdict(token, filter=_kept, value_serializer=_plain)
            for token in tokens.values()
        ]
        text = json.dumps({"format": _FORMAT, "tokens": rows}, indent=1) + "\n"
        if len(text) > _MAX_BYTES:
            msg = f"{self._path}: full; move it away and make new tokens"
            raise StorageError(msg, code="storage.tokens")
        # mkstemp makes files of mode 0600.
        descriptor, name = tempfile.mkstemp(
            dir=self._path.parent, prefix=f".{self._path.name}-"
        )
        try:
            with os.fdopen(descriptor, "w", encoding="ascii") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            Path(name).replace(self._path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
        self._stamp = None
        self._refresh()


def _kept(about: attrs.Attribute[Any], value: object) -> bool:
    """Say whether a field is written: files without expiries stay as they were."""
    return about.name != "expires_at_ms" or value is not None


def _plain(_: Any, __: Any, value: Any) -> Any:  # noqa: ANN401 - an attrs callback
    return value.value if isinstance(value, Role) else value


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def _parse(raw: bytes, path: Path) -> dict[str, Token]:
    try:
        data = json.loads(raw)
        if data["format"] != _FORMAT:
            msg = f"its format is {str(data['format'])[:20]}, not {_FORMAT}"
            raise ValueError(msg)
        tokens = [Token(**row) for row in data["tokens"]]
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        why = str(error).partition("\n")[0][:120] or type(error).__name__
        msg = f"{path}: no token file ({why}); move it away and make new tokens"
        raise StorageError(msg, code="storage.tokens") from error
    return {token.hash: token for token in tokens}
