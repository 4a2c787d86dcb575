"""What ``new-game`` and ``new-bot`` share: names, and folders written as a whole."""

from __future__ import annotations

import contextlib
import re
import tempfile
from collections.abc import Collection, Iterator, Mapping
from importlib import resources
from pathlib import Path
from string import Template
from typing import Final

from fritillary.cli.interrupted import telling_of_interrupts
from fritillary.core.errors import StorageError, UsageError

#: What `GameInfo` takes as an id, and every package system as part of a name.
_NAME: Final = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*\Z")

#: So that no line of a template becomes too long.
_LONGEST: Final = 40


def check_name(name: str, *, noun: str, of: str, such_as: str) -> None:
    """Check the name of what is to be written.

    Args:
        name: as it was given.
        noun: what such a name is called.
        of: whose name it is.
        such_as: an example.

    Raises:
        UsageError: if it is more than lower-case words joined by hyphens, or longer
            than 40 letters.
    """
    if not _NAME.match(name):
        msg = (
            f"{name[:60]!r} is no {noun} for a {of}; write lower-case words joined by "
            f"hyphens, such as {such_as}"
        )
        raise UsageError(msg, code="usage.name")
    if len(name) > _LONGEST:
        article = "an" if noun[0] in "aeiou" else "a"
        msg = (
            f"{article} {noun} has at most {_LONGEST} letters, and {name[:60]!r} has "
            f"{len(name)}"
        )
        raise UsageError(msg, code="usage.name")


def filled(folder: str, template: str, words: Mapping[str, str]) -> str:
    """Return a template with its words.

    Args:
        folder: of the templates, below ``templates/``.
        template: the file without ``.tmpl``.
        words: by what stands after the dollar sign.
    """
    source = resources.files("fritillary.cli").joinpath("templates", folder)
    text = source.joinpath(f"{template}.tmpl").read_text("utf-8")
    return Template(text).substitute(words)


def write(
    target: Path, files: Mapping[str, str], *, programs: Collection[str] = ()
) -> None:
    """Write files into a new folder: all of them, or nothing.

    Args:
        target: the folder to make.
        files: path inside it to text.
        programs: those that can be executed.

    Raises:
        UsageError: if it exists, or the folder it is to be in does not.
        StorageError: if it cannot be written.
    """
    if target.exists() or target.is_symlink():
        msg = f"{target}: it exists already; choose another name or folder"
        raise UsageError(msg, code="usage.folder")
    if not target.parent.is_dir():
        msg = f"{target.parent}: there is no such folder"
        raise UsageError(msg, code="usage.folder")

    def kept() -> str:
        return f"{target} is complete" if target.exists() else f"there is no {target}"

    with telling_of_interrupts(kept), _draft(target, files, programs) as made:
        made.rename(target)


def rewrite(target: Path, files: Mapping[str, str]) -> None:
    """Put files in place of all that a folder holds: all of them, or nothing.

    Args:
        target: the folder, which exists.
        files: path inside it to text.

    Raises:
        StorageError: if it cannot be written.
    """
    with _draft(target, files) as made:
        old = made.with_name(f"{made.name}.old")
        try:
            target.rename(old)
            made.rename(target)
        except BaseException:
            if old.exists() and not target.exists():
                old.rename(target)
            raise


@contextlib.contextmanager
def _draft(
    target: Path, files: Mapping[str, str], programs: Collection[str] = ()
) -> Iterator[Path]:
    """Write files beside a folder, so that renaming puts the whole in place at once.

    Raises:
        StorageError: if it cannot be written.
    """
    try:
        with tempfile.TemporaryDirectory(
            prefix=f".{target.name}-", dir=target.parent
        ) as draft:
            made = Path(draft) / target.name
            for path, text in files.items():
                (made / path).parent.mkdir(parents=True, exist_ok=True)
                (made / path).write_text(text, "utf-8", newline="\n")
            for path in programs:
                (made / path).chmod(0o755)
            yield made
    except OSError as error:
        msg = f"{target}: {error.strerror}"
        raise StorageError(msg, code="storage.folder") from error
