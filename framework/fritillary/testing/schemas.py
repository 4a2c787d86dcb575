# ruff: noqa: ANN401 - data of every game pass through
"""Checks of data against the JSON Schemas that a game publishes."""

from __future__ import annotations

import functools
from typing import Any

from fritillary.core.errors import UsageError
from fritillary.testing.scene import AnyGame, Scene, Viewer


@functools.lru_cache(maxsize=8)
def schema_checker(game: AnyGame) -> SchemaChecker:
    """Return the checker of a game, made once."""
    return SchemaChecker(game)


class SchemaChecker:
    """Validates the data of one game.

    Raises:
        UsageError: if the library jsonschema is not installed.
    """

    def __init__(self, game: AnyGame) -> None:
        try:
            from jsonschema import Draft202012Validator
        except ImportError as error:
            msg = "these checks need the library jsonschema: pip install jsonschema"
            raise UsageError(msg) from error
        self._validators = {}
        for name, schema in game.codec.schemas().items():
            Draft202012Validator.check_schema(schema)
            self._validators[name] = Draft202012Validator(schema)

    def check(self, scene: Scene, what: str, data: Any, viewer: Viewer = -1) -> None:
        """Validate data.

        Args:
            scene: where they come from.
            what: ``options``, ``action`` or ``observation``.
            data: plain data.
            viewer: of an observation; -1 if there is none.

        Raises:
            LawError: ``codec.schema``.
        """
        for error in self._validators[what].iter_errors(data):
            raise scene.broken(
                "codec.schema", f"{what}{error.json_path[1:]}: {error.message}", viewer
            )
