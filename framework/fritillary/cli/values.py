"""From words on the command line to options, clocks and policies."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from fritillary.app.application import Application
from fritillary.codec import kinds
from fritillary.codec.packing import from_json
from fritillary.core.errors import CodecError, UsageError
from fritillary.plugins.game import Game

GameId = Annotated[
    str,
    typer.Argument(
        metavar="GAME", help="Id of a game, with +variant for each variant."
    ),
]
Options = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        "-o",
        metavar="NAME=VALUE",
        help="An option of the game; may be repeated. Lists are comma-separated; "
        "'none' leaves out what may be left out.",
    ),
]
Preset = Annotated[
    str, typer.Option("--preset", metavar="NAME", help="Named options of the game.")
]
Data = Annotated[
    Path | None,
    typer.Option(
        "--data",
        metavar="DIR",
        help="Folder of keys, tokens and records (else $FRITILLARY_DATA).",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print data as JSON.")]


def game_and_options(
    app: Application, game_id: str, words: list[str] | None, preset: str
) -> tuple[Game[Any, Any, Any], Any]:
    """Return a game and its options from the words of the command line.

    Raises:
        FritillaryError: naming what is wrong.
    """
    game = app.registry.game(game_id)
    data = option_data(words or [])
    kinds_of = {
        name: kinds.kind_of(annotation)
        for name, annotation in kinds.fields_of(game.info.options)
    }
    fitted = {name: _fitted(kinds_of.get(name), value) for name, value in data.items()}
    return game, game.options(fitted, preset)


def _fitted(kind: kinds.Kind | None, value: Any) -> Any:
    """Return a value in the form that its option has.

    A list of one item, or of none, cannot be told from a word by its looks.
    """
    if isinstance(kind, kinds.Nullable):
        if value is None or value == "none":
            return None
        kind = kinds.kind_of(kind.inner)
    listed = (kinds.Items, kinds.FixedTuple, kinds.PackedInt)
    if isinstance(kind, listed) and not isinstance(value, list):
        return [] if value == "" else [value]
    return value


def option_data(words: list[str]) -> dict[str, Any]:
    """Return options as data, from words of the form ``name=value``.

    Raises:
        UsageError: if a word has another form, or a name is repeated.
    """
    return {name: _value(value) for name, value in _pairs(words, "option")}


def label_data(words: list[str]) -> dict[str, str]:
    """Return labels, from words of the form ``name=value``.

    Raises:
        UsageError: if a word has another form, or a name is repeated.
    """
    return dict(_pairs(words, "label"))


def _pairs(words: list[str], what: str) -> Iterator[tuple[str, str]]:
    names = set()
    for word in words:
        name, equals, value = word.partition("=")
        name = name.strip()
        if not equals or not name:
            msg = f"{what} {word[:60]!r} must be of the form name=value"
            raise UsageError(msg, code=f"usage.{what}")
        if name in names:
            msg = f"{what} {name!r} is given twice"
            raise UsageError(msg, code=f"usage.{what}")
        names.add(name)
        yield name, value


def _value(text: str) -> Any:
    try:
        return from_json(text)
    except CodecError:
        pass
    if "," in text:
        return [_value(part.strip()) for part in text.split(",")]
    return text


def hex_bytes(text: str, what: str) -> bytes:
    """Return bytes of hex digits.

    Raises:
        UsageError: if they are not 32 bytes.
    """
    try:
        raw = bytes.fromhex(text)
    except ValueError:
        raw = b""
    if len(raw) != 32:
        msg = f"a {what} is 64 hex digits"
        raise UsageError(msg, code=f"usage.{what}")
    return raw
