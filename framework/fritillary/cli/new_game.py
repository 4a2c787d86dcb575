"""``fritillary new-game``: a package for a new game, complete as it is written."""

from __future__ import annotations

import keyword
import sys
from pathlib import Path
from typing import Annotated

import typer

import fritillary
from fritillary.app.application import Application
from fritillary.cli.new_folder import check_name, filled, write
from fritillary.cli.output import print_note, say
from fritillary.core.errors import UsageError


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
    _check_free(name)
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


def _check_free(name: str) -> None:
    """Check that a game can have an id, beside all that is here.

    Raises:
        UsageError: if an installed game has it, or it is a name of Python's or of the
            framework's own: whoever calls a module so later shadows that one.
    """
    module = name.replace("-", "_")
    taken = ""
    for _, info in Application().registry.games():
        if info.id == name:
            taken = "the id of a game that is installed"
    if keyword.iskeyword(module) or keyword.issoftkeyword(module):
        taken = "a keyword of Python"
    elif module in sys.stdlib_module_names:
        taken = "a module of Python's standard library"
    elif module.split("_")[0] == "fritillary":
        taken = "a name of the framework's own"
    if taken:
        msg = f"{name!r} is {taken}; choose another id"
        raise UsageError(msg, code="usage.name")


def rendered(name: str, *, hidden: bool = False) -> dict[str, str]:
    """Return the files of a new package: path inside it to text.

    Args:
        name: id of the game.
        hidden: whether cards are hidden.

    Raises:
        UsageError: if the name is no id, or longer than 40 letters.
    """
    check_name(name, noun="id", of="game", such_as="river-race")
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
    return {
        path: filled("new_game", template, words)
        for path, template in templates.items()
    }
