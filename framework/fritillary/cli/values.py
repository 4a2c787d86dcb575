"""From words on the command line to options, clocks and policies."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from fritillary.app.application import Application
from fritillary.codec import kinds
from fritillary.codec.packing import from_json
from fritillary.core.errors import CodecError, InvalidOptionsError, UsageError
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
Seats = Annotated[
    int | None, typer.Option("--seats", metavar="N", help="How many seats.")
]
RecordFile = Annotated[Path, typer.Argument(metavar="FILE", help="A match record.")]
MatchId = Annotated[str, typer.Argument(metavar="MATCH", help="Id of a match there.")]


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
    for name in data:
        if name not in kinds_of:
            known = f"known: {', '.join(kinds_of)}" if kinds_of else "it has none"
            msg = f"{game.id} has no option {name[:60]!r}; {known}"
            raise InvalidOptionsError(msg)
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
        check_text(word, what)
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


def check_text(word: str, what: str) -> None:
    """Check that a word is text; only names of files may be any bytes.

    Raises:
        UsageError: ``usage.text``, if it is not UTF-8.
    """
    try:
        word.encode()
    except UnicodeEncodeError as error:
        msg = f"{what} {word[:60]!r} is no text in UTF-8"
        raise UsageError(msg, code="usage.text") from error


def public_key(text: str) -> str:
    """Return the public key that a signature is to be of, as records write it.

    Raises:
        UsageError: if it is none.
    """
    return hex_bytes(text.strip(), "key").hex()


def check_seat(seat: int | None, seats: int) -> None:
    """Check that there is a seat of a number, if one is given.

    Raises:
        UsageError: saying which there are.
    """
    if seat is not None and not 0 <= seat < seats:
        msg = f"there is no seat {seat}; seats are 0 to {seats - 1}"
        raise UsageError(msg, code="usage.seat")


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
