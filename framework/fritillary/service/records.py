"""The folder in which an arena writes its records."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from fritillary.core.errors import StorageError
from fritillary.record.writer import FileSink, MemorySink

SUFFIX: Final = ".frec"


class Records:
    """One file for each match; without a folder they stay in memory.

    Args:
        path: the folder, made when the first record is; ``None``: in memory.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path

    def file(self, match_id: str) -> Path:
        """Return where the record of a match is, or would be."""
        return (self.path or Path()) / f"{match_id}{SUFFIX}"

    def has(self, match_id: str) -> bool:
        """Say whether there is a file of that name."""
        return self.path is not None and self.file(match_id).exists()

    def new(self, match_id: str) -> FileSink | MemorySink:
        """Open a new record.

        Raises:
            StorageError: if it cannot be written, or is there already.
        """
        if self.path is None:
            return MemorySink()
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            msg = f"{self.path}: {error.strerror}"
            raise StorageError(msg, code="storage.folder") from error
        sink = FileSink(self.file(match_id))
        try:
            # Nothing was written yet: until its end the record is for the host alone.
            sink.path.chmod(0o600)
        except OSError as error:
            sink.close()
            sink.path.unlink(missing_ok=True)
            msg = f"{sink.path}: {error.strerror}"
            raise StorageError(msg, code="storage.folder") from error
        return sink
