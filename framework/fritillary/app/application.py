"""The application: one registry of plugins, one data folder, one key."""

from __future__ import annotations

import contextlib
import functools
import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from fritillary.core.errors import StorageError, UsageError
from fritillary.plugins.discovery import Registry
from fritillary.record.signing import Signer, load_key

if TYPE_CHECKING:
    from fritillary.service.tokens import TokenStore

#: The environment variable that names the data folder.
DATA: Final = "FRITILLARY_DATA"


def default_data() -> Path:
    """Return the data folder of this user."""
    named = os.environ.get(DATA)
    if named:
        return Path(named)
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData/Local")
    else:
        base = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local/share")
    return base / "fritillary"


class Application:
    """Owns what the commands share; everything is loaded when first asked for.

    Args:
        data: the data folder; ``None`` for the user's own.
    """

    def __init__(self, data: Path | None = None) -> None:
        self._data = data or default_data()
        self._named = data is not None or bool(os.environ.get(DATA))

    @functools.cached_property
    def registry(self) -> Registry:
        """The installed games and variants."""
        registry = Registry()
        # What a plugin prints while it is imported is no result of the command.
        with contextlib.redirect_stdout(sys.stderr):
            registry.load()
        return registry

    @functools.cached_property
    def data(self) -> Path:
        """The data folder, made if missing, for this user alone.

        Raises:
            StorageError: if it cannot be used.
        """
        return private_folder(self._data)

    @functools.cached_property
    def records(self) -> Path:
        """The folder of the records, made if missing."""
        return private_folder(self.data / "records")

    @functools.cached_property
    def signer(self) -> Signer:
        """The key that closes records, made if missing."""
        return Signer.load(self.data / "signing.key")

    @functools.cached_property
    def private(self) -> Path:
        """The folder of what is kept for a restart, seeds among it; made if missing."""
        return private_folder(self.data / "private")

    @functools.cached_property
    def session_secret(self) -> bytes:
        """What session tokens are made with, made if missing: 32 bytes."""
        return load_key(self.data / "session.key")

    @functools.cached_property
    def tokens(self) -> TokenStore:
        """The tokens of bots, referees and spectators."""
        from fritillary.service.tokens import TokenStore

        return TokenStore(self.data / "tokens.json")

    @functools.cached_property
    def kept_tokens(self) -> TokenStore:
        """The tokens that there are; for this the data folder is not made.

        Raises:
            UsageError: ``usage.data`` if a folder was named that is not there.
        """
        from fritillary.service.tokens import TokenStore

        if self._named and not self._data.is_dir():
            msg = f"{self._data}: there is no such data folder"
            raise UsageError(msg, code="usage.data")
        return TokenStore(self._data / "tokens.json")

    @property
    def words(self) -> str:
        """What has another command use this data folder, a blank before it.

        Empty where that is the user's own, which needs no words.
        """
        if not self._named:
            return ""
        return f" --data {shlex.quote(str(self._data.absolute()))}"


def private_folder(path: Path) -> Path:
    """Return a folder that only its owner may enter, made if missing.

    Raises:
        StorageError: if it cannot be used.
    """
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not os.access(path, os.W_OK | os.X_OK):
            raise PermissionError(13, "permission denied")
    except OSError as error:
        msg = f"{path}: {error.strerror}; name another folder with --data"
        raise StorageError(msg, code="storage.folder") from error
    return path
