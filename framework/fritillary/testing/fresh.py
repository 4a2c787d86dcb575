# ruff: noqa: ANN401, T201 - values of every game; the answer is printed
"""Plays matches in a process of its own, and tells what they looked like.

``python -m fritillary.testing.fresh`` reads a request from its standard input and
prints the answer, both as JSON.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import json
import sys
from collections.abc import Mapping
from typing import Any, Final

from attrs import evolve

from fritillary.codec.packing import to_json
from fritillary.core.dealer import SealedDealer
from fritillary.core.errors import UsageError
from fritillary.plugins.binding import Plugin
from fritillary.plugins.discovery import Registry
from fritillary.plugins.game import Game
from fritillary.testing.calls import calls, plain
from fritillary.testing.checks import Plan, walk
from fritillary.testing.scene import AnyGame, Scene

#: How a source begins that names a module instead of an installed game.
PYTHON: Final = "python:"


def find_game(source: str) -> AnyGame:
    """Return the game of a source.

    Args:
        source: an id as `Registry.game` takes it; or ``python:module:attribute``,
            where the attribute is a `Game`, a module with hooks, or a function
            that returns one of them; ``python:module`` is a module with hooks.

    Raises:
        FritillaryError: if there is no such game.
    """
    if not source.startswith(PYTHON):
        registry = Registry()
        registry.load()
        return registry.game(source)
    name, _, attribute = source.removeprefix(PYTHON).partition(":")
    try:
        found: Any = importlib.import_module(name)
        if attribute:
            found = getattr(found, attribute)
    except (ImportError, AttributeError) as error:
        msg = f"there is no {source!r}: {error}"
        raise UsageError(msg) from error
    if callable(found):
        found = found()
    return found if isinstance(found, Game) else Game(Plugin(source, found))


def parts(scene: Scene) -> dict[str, Any]:
    """Return everything about a position, by name, as plain data."""
    game = scene.game
    shown: dict[str, Any] = {"state": plain(game, scene.state)}
    if not scene.actions:
        sealed = SealedDealer(bytes(32)).stream("deal")
        shown["sealed deal"] = plain(game, game.new(sealed, scene.options, scene.seats))
    shown["state bytes"] = game.codec.encode_state(scene.state).hex()
    for number, call in enumerate(calls(scene)):
        viewer = "" if call.viewer == -1 else f" for {call.viewer}"
        shown[f"{call.hook}(){viewer} [{number}]"] = plain(game, call.run())
    return shown


def answer(request: Mapping[str, Any]) -> dict[str, Any]:
    """Play what a request asks for.

    Args:
        request: ``game`` (a source), ``options`` (data or null), ``seats`` (number
            or null), ``matches``, ``seed``, ``positions``; ``reverse``, whether to
            look at the last position first; and ``detail``: null for digests of all
            parts, or match, ply and part for one of them in full.
    """
    game = find_game(request["game"])
    options = request["options"]
    plan = Plan(
        options=None if options is None else game.options(options),
        seats=request["seats"],
        matches=request["matches"],
        seed=request["seed"],
        positions=request["positions"],
        least=0,
    )
    seen = [
        evolve(scene, state=game.copy(scene.state), actions=list(scene.actions))
        for scene in walk(game, plan)
    ]
    detail = request["detail"]
    positions = []
    wanted: Any = None
    where: Scene | None = None
    for scene in reversed(seen) if request["reverse"] else seen:
        shown = parts(scene)
        if detail is None:
            digests = {name: _digest(value) for name, value in shown.items()}
            place = {"match": scene.match, "ply": scene.ply, "parts": digests}
            positions.append(place)
        elif detail[:2] == [scene.match, scene.ply]:
            wanted, where = shown.get(detail[2]), scene
    if where is None:
        positions.sort(key=lambda place: (place["match"], place["ply"]))
        return {"positions": positions}
    return {
        "value": wanted,
        "actions": [game.format_action(action) for action in where.actions],
        "options": to_json(game.codec.options_to_data(where.options)),
        "seats": where.seats,
        "deal": f"FastDealer({where.deal!r}).stream('deal')",
    }


def _digest(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def main() -> None:
    """Answer the request on the standard input."""
    request = json.load(sys.stdin)
    sys.path[:] = request["path"]
    # What a game prints is no part of the answer.
    with contextlib.redirect_stdout(sys.stderr):
        text = json.dumps(answer(request))
    print(text)


if __name__ == "__main__":
    main()
