"""``fritillary new-game``: a package for a new game, complete as it is written."""

from __future__ import annotations

import re
import tempfile
from importlib import resources
from pathlib import Path
from string import Template
from typing import Annotated, Final

import typer

import fritillary
from fritillary.cli.output import print_note, say
from fritillary.core.errors import StorageError, UsageError

#: What `GameInfo` takes as an id.
_NAME: Final = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*\Z")

#: So that no line of a template becomes too long.
_LONGEST: Final = 40


def new_game(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME", help="Id of the game: lower-case words joined by hyphens."
        ),
    ],
    hidden: Annotated[
        bool, typer.Option("--hidden", help="A card game with hidden hands.")
    ] = False,
    folder: Annotated[
        Path,
        typer.Option("--dir", metavar="DIR", help="Where to make the folder NAME."),
    ] = Path(),
) -> None:
    """Write an installable package of a tiny game, to be changed into yours.

    It installs, plays and certifies as it is; comments say what to change.

    Example: fritillary new-game river-race --hidden
    """
    files = rendered(name, hidden=hidden)
    target = folder / name
    write(target, files)
    for path in files:
        say(str(target / path))
    print_note(
        f"next: pip install --editable {target}, then fritillary play {name} and "
        f"fritillary certify {name}"
    )


def module_of(name: str) -> str:
    """Return the module of a game, a name that shadows no other module.

    Args:
        name: id of the game.
    """
    return f"{name.removesuffix('-game').replace('-', '_')}_game"


def rendered(name: str, *, hidden: bool = False) -> dict[str, str]:
    """Return the files of a new package: path inside it to text.

    Args:
        name: id of the game.
        hidden: whether cards are hidden.

    Raises:
        UsageError: if the name is no id, or longer than 40 letters.
    """
    if not _NAME.match(name):
        msg = (
            f"{name[:60]!r} is no id for a game; write lower-case words joined by "
            "hyphens, such as river-race"
        )
        raise UsageError(msg, code="usage.name")
    if len(name) > _LONGEST:
        msg = f"an id has at most {_LONGEST} letters, and {name[:60]!r} has {len(name)}"
        raise UsageError(msg, code="usage.name")
    module = module_of(name)
    kind = "hidden" if hidden else "open"
    templates = {
        "README.md": "README.md",
        "pyproject.toml": "pyproject.toml",
        f"{module}.py": f"{kind}.py",
        f"tests/test_{module}.py": f"{kind}_test.py",
    }
    words = {
        "name": name,
        "module": module,
        "title": name.replace("-", " ").capitalize(),
        "version": fritillary.__version__,
    }
    source = resources.files("fritillary.cli").joinpath("templates", "new_game")
    return {
        path: Template(
            source.joinpath(f"{template}.tmpl").read_text("utf-8")
        ).substitute(words)
        for path, template in templates.items()
    }


def write(target: Path, files: dict[str, str]) -> None:
    """Write files into a new folder: all of them, or nothing.

    Args:
        target: the folder to make.
        files: path inside it to text.

    Raises:
        UsageError: if it exists, or the folder it is to be in does not.
        StorageError: if it cannot be written.
    """
    if target.exists() or target.is_symlink():
        msg = f"{target}: it exists already; choose another name or --dir"
        raise UsageError(msg, code="usage.folder")
    if not target.parent.is_dir():
        msg = f"{target.parent}: there is no such folder"
        raise UsageError(msg, code="usage.folder")
    try:
        # Beside the target, so that renaming puts the whole in place at once.
        with tempfile.TemporaryDirectory(
            prefix=f".{target.name}-", dir=target.parent
        ) as draft:
            made = Path(draft) / target.name
            for path, text in files.items():
                (made / path).parent.mkdir(parents=True, exist_ok=True)
                (made / path).write_text(text, "utf-8", newline="\n")
            made.rename(target)
    except OSError as error:
        msg = f"{target}: {error.strerror}"
        raise StorageError(msg, code="storage.folder") from error
