"""``fritillary new-bot``: a project of a bot, complete as it is written."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Mapping
from pathlib import Path
from string import Template
from typing import Annotated, Final

import typer
from attrs import frozen

import fritillary
from fritillary.cli import new_bot_sources as sources
from fritillary.cli.new_folder import check_name, filled, rewrite, write
from fritillary.cli.output import print_note, say
from fritillary.core.errors import UsageError

#: Where a project keeps the client that it brings along.
_CLIENT: Final = "fritillary-client"


@frozen
class _Language:
    """What bots in one language can be written with. All texts are templates.

    Args:
        templates: path in the project to template.
        tools: commands that it needs.
        get: how to get them.
        build: what makes the bot.
        player: how the bot is named where it plays.
        refreshed: what follows when the client was replaced; empty where a project
            brings none along.
    """

    templates: Mapping[str, str]
    build: str
    player: str
    tools: tuple[str, ...] = ()
    get: str = ""
    refreshed: str = ""


_LANGUAGES: Final = {
    "python": _Language(
        templates={
            "pyproject.toml": "pyproject.toml",
            "tests/test_$module.py": "test_bot.py",
        },
        build='pip install --editable ".[test]"',
        player='"exec:python $module.py"',
    ),
    "go": _Language(
        templates={"go.mod": "go.mod", "main_test.go": "main_test.go"},
        build="go build -o bin/ .",
        player="exec:bin/$stem",
        tools=("go",),
        get="install Go $go_short or newer",
        refreshed="go mod tidy && go build -o bin/ .",
    ),
    "typescript": _Language(
        templates={
            "package.json": "package.json",
            "tsconfig.json": "tsconfig.json",
            "src/decide.test.ts": "decide.test.ts",
        },
        build="npm install && npm run build",
        player='"exec:node dist/main.js"',
        tools=("node", "npm"),
        get="install Node.js $node or newer, with npm",
        refreshed="npm install && npm run build",
    ),
    "stdio": _Language(
        templates={"test.sh": "test.sh"},
        build="./test.sh",
        player="stdio:./$stem.sh",
        tools=("jq",),
        get="install jq",
    ),
}

#: In every project.
_EVERYWHERE: Final = {"README.md": "README.md", ".gitignore": "gitignore"}


def _listed() -> str:
    """Return the languages in a row."""
    *names, name = _LANGUAGES
    return f"{', '.join(names)} or {name}"


def new_bot(
    language: Annotated[
        str,
        typer.Argument(
            metavar="LANGUAGE",
            help=f"{_listed()}; stdio is a shell script that reads and writes lines.",
        ),
    ],
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME", help="Of the bot: lower-case words joined by hyphens."
        ),
    ],
    folder: Annotated[
        Path | None,
        typer.Argument(metavar="FOLDER", help="To make. Default: NAME."),
    ] = None,
    refresh: Annotated[
        bool,
        typer.Option(
            "--refresh", help="Only replace the client that FOLDER brings along."
        ),
    ] = False,
) -> None:
    """Write a project of a bot that plays any game, to be changed into yours.

    It builds, passes its tests and plays as it is; comments say what to change. Where
    the client is in no package registry, the project brings it along.

    Example: fritillary new-bot go my-bot
    """
    words = _words(language, name)
    target = folder or Path(name)
    if refresh:
        _refresh(language, target, words)
        return
    files = rendered(language, name)
    write(target, files, programs=[path for path in files if path.endswith(".sh")])
    for path in files:
        if not path.startswith(f"{_CLIENT}/"):
            say(str(target / path))
    made = _LANGUAGES[language]
    if made.refreshed:
        say(str(target / _CLIENT))
    print_note(
        f"next: cd {shlex.quote(str(target))}, then {_said(made.build, words)}, then "
        f"fritillary match lepidoptery -s {_said(made.player, words)} -s uniform; "
        "README.md has the rest"
    )
    missing = [tool for tool in made.tools if shutil.which(tool) is None]
    if missing:
        print_note(
            f"there is no {' and no '.join(missing)} on this machine: "
            f"{_said(made.get, words)}"
        )


def stem_of(name: str) -> str:
    """Return what the program and the package of a bot are called.

    No module, library or device has such a name.

    Args:
        name: of the bot.
    """
    return f"{name.removesuffix('-bot')}-bot"


def rendered(language: str, name: str) -> dict[str, str]:
    """Return the files of a new project: path inside it to text.

    Args:
        language: of the bot.
        name: of the bot.

    Raises:
        UsageError: if there is nothing for the language, or the name is no words
            joined by hyphens, or longer than 40 letters.
    """
    words = _words(language, name)
    stem = words["stem"]
    files = {
        _said(path, words): filled(f"bot_{language}", template, words)
        for path, template in {
            **_EVERYWHERE,
            **_LANGUAGES[language].templates,
        }.items()
    }
    if language == "python":
        files[f"{words['module']}.py"] = sources.python_bot(name)
    elif language == "go":
        files["main.go"] = sources.go_bot(name, stem)
    elif language == "stdio":
        files[f"{stem}.sh"] = sources.stdio_bot(stem)
    else:
        files["src/decide.ts"], files["src/main.ts"] = sources.typescript_bot(name)
    if _LANGUAGES[language].refreshed:
        client = sources.client(language)
        files |= {f"{_CLIENT}/{path}": text for path, text in client.items()}
        if language == "go":
            files["go.sum"] = client["go.sum"]
    return files


def _words(language: str, name: str) -> dict[str, str]:
    """Return the words of all templates.

    Raises:
        UsageError: if there is nothing for the language, or the name is none.
    """
    if language not in _LANGUAGES:
        msg = f"there is no project for {language[:40]!r}; choose {_listed()}"
        raise UsageError(msg, code="usage.language")
    check_name(name, noun="name", of="bot", such_as="my-bot")
    stem = stem_of(name)
    return {
        "name": name,
        "stem": stem,
        "module": stem.replace("-", "_"),
        "title": name.replace("-", " ").capitalize(),
        "version": fritillary.__version__,
        **sources.words(language),
    }


def _said(text: str, words: Mapping[str, str]) -> str:
    return Template(text).substitute(words)


def _refresh(language: str, target: Path, words: Mapping[str, str]) -> None:
    """Replace the client of a project.

    Raises:
        UsageError: if it has none, or one for another language.
        StorageError: if it cannot be written.
    """
    refreshed = _LANGUAGES[language].refreshed
    if not refreshed:
        msg = f"a bot in {language} brings no client along that could be replaced"
        raise UsageError(msg, code="usage.refresh")
    files = sources.client(language)
    folder = target / _CLIENT
    manifest = "go.mod" if language == "go" else "package.json"
    if not (folder / manifest).is_file():
        msg = f"{folder}: there is no client for {language}; name the bot's folder"
        raise UsageError(msg, code="usage.folder")
    rewrite(folder, files)
    say(str(folder))
    print_note(f"next: cd {shlex.quote(str(target))}, then {_said(refreshed, words)}")
