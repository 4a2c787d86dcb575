# ruff: noqa: ANN401 - values of every game pass through
"""Laws of values: bytes, JSON, schemas, notation, pictures."""

from __future__ import annotations

import importlib.util
import re
import unicodedata
from collections.abc import Callable, Iterator
from typing import Any, Final
from xml.etree import ElementTree as ET

from fritillary.codec.packing import from_json, pack, to_json, unpack
from fritillary.core.errors import FritillaryError
from fritillary.core.points import Act, Chance
from fritillary.testing.calls import some
from fritillary.testing.checks import Plan, position
from fritillary.testing.laws_chance import outcomes
from fritillary.testing.scene import (
    AnyGame,
    Scene,
    Viewer,
    first_difference,
    next_action,
)
from fritillary.testing.schemas import schema_checker

_WIDTH: Final = 80

#: So many plies a restored state is played on.
_AHEAD: Final = 4

#: So many actions of a large table are looked at.
_TABLE: Final = 300

#: A value with its coding: kind, viewer, value, encode, from bytes, from data.
_Coding = tuple[
    str,
    Viewer,
    Any,
    Callable[[Any], bytes],
    Callable[[bytes], Any],
    Callable[[Any], Any],
]


def _codings(scene: Scene) -> Iterator[_Coding]:
    """Yield every value that is around at a position, with its coding."""
    game, codec, options = scene.game, scene.game.codec, scene.options

    def action_of(raw: bytes) -> Any:
        return codec.action_from_data(unpack(raw))

    actions: list[Any] = []
    if not scene.actions:
        yield (
            "options",
            -1,
            options,
            codec.encode_options,
            codec.decode_options,
            codec.options_from_data,
        )
        table = game.table(options, scene.seats)
        actions += some(table.actions, _TABLE, scene.dealer("table"))
        if not table.listed and isinstance(scene.point, Act):
            actions += game.legal_actions(scene.state)
    if isinstance(scene.point, Chance):
        actions += outcomes(scene)
    for action in actions:
        yield (
            "action",
            -1,
            action,
            codec.encode_action,
            action_of,
            codec.action_from_data,
        )

    def state_of(raw: bytes) -> Any:
        return codec.decode_state(raw, options)

    def state_from(data: Any) -> Any:
        return codec.decode_state(pack(data), options)

    yield "state", -1, scene.state, codec.encode_state, state_of, state_from

    def observation_of(raw: bytes) -> Any:
        return codec.decode_observation(raw, options)

    def observation_from(data: Any) -> Any:
        return codec.observation_from_data(data, options)

    for viewer in scene.viewers:
        yield (
            "observation",
            viewer,
            game.observe(scene.state, viewer),
            codec.encode_observation,
            observation_of,
            observation_from,
        )


def _decoded(scene: Scene, coding: _Coding, law: str) -> Iterator[tuple[str, Any]]:
    """Yield what comes back from bytes and from JSON."""
    kind, viewer, value, encode, from_bytes, from_data = coding
    for way in ("bytes", "JSON"):
        try:
            raw = encode(value)
            if way == "bytes":
                yield way, from_bytes(raw)
            else:
                yield way, from_data(from_json(to_json(unpack(raw))))
        except FritillaryError as error:
            what = f"{kind} {value} does not come back from {way}: {error}"
            raise scene.broken(law, what, viewer) from error


@position("codec.round-trip")
def values_come_back(scene: Scene, plan: Plan) -> int:
    """Send every value through bytes and JSON."""
    count = 0
    for coding in _codings(scene):
        kind, viewer, value, *_ = coding
        count += 1
        for way, decoded in _decoded(scene, coding, "codec.round-trip"):
            if decoded != value:
                what = f"{kind} {value} comes back from {way} as {decoded}"
                raise scene.broken("codec.round-trip", what, viewer)
    return count


@position("codec.canonical")
def bytes_are_canonical(scene: Scene, plan: Plan) -> int:
    """Compare the bytes of equal values."""
    count = 0
    for coding in _codings(scene):
        kind, viewer, value, encode, *_ = coding
        count += 1
        raw = encode(value)
        again = list(_decoded(scene, coding, "codec.round-trip"))
        if kind == "state":
            again.append(("a copy", scene.game.copy(value)))
        for way, other in again:
            if other == value and encode(other) != raw:
                found = first_difference(unpack(raw), unpack(encode(other)))
                what = f"{kind}, here and from {way}: {found or 'the order of keys'}"
                raise scene.broken("codec.canonical", what, viewer)
    return count


@position("codec.restored")
def restored_states_go_on(scene: Scene, plan: Plan) -> None:
    """Play a restored state and the original on alike."""
    game, codec = scene.game, scene.game.codec
    one = game.copy(scene.state)
    two = codec.decode_state(codec.encode_state(scene.state), scene.options)
    choosers = scene.dealer("ahead"), scene.dealer("ahead")
    for ply in range(_AHEAD):
        found = first_difference(_view(game, one, scene), _view(game, two, scene))
        if found:
            what = f"original and restored, {ply} plies on: {found}"
            raise scene.broken("codec.restored", what)
        actions = [
            next_action(game, state, game.decision_point(state), chooser)
            for state, chooser in zip((one, two), choosers, strict=True)
        ]
        if actions[0] is None:
            return
        game.apply(one, actions[0])
        game.apply(two, actions[1])


def _view(game: AnyGame, state: Any, scene: Scene) -> dict[str, Any]:
    point = game.decision_point(state)
    legal = game.legal_actions(state) if isinstance(point, Act) else ()
    seen = [
        unpack(game.codec.encode_observation(game.observe(state, viewer)))
        for viewer in scene.viewers
    ]
    return {
        "decision point": repr(point),
        "legal actions": [game.format_action(action) for action in legal],
        "observations": seen,
        "state": unpack(game.codec.encode_state(state)),
    }


def _no_validator(game: AnyGame) -> str:
    found = importlib.util.find_spec("jsonschema")
    return "" if found else "the library jsonschema is missing: pip install jsonschema"


@position("codec.schema", thin=2, needs=_no_validator)
def data_fit_the_schemas(scene: Scene, plan: Plan) -> int:
    """Validate data against the schemas; the viewers take turns, being slow."""
    schemas = schema_checker(scene.game)
    count = 0
    for kind, viewer, value, encode, *_ in _codings(scene):
        if kind == "state" or (kind == "observation" and viewer != scene.turn_viewer):
            continue
        count += 1
        schemas.check(scene, kind, unpack(encode(value)), viewer)
    return count


# ---------------------------------------------------------------------------- notation


@position("notation.unique")
def notation_leads_back(scene: Scene, plan: Plan) -> int:
    """Read every notation back."""
    game = scene.game
    table = game.table(scene.options, scene.seats)
    legal = game.legal_actions(scene.state) if isinstance(scene.point, Act) else ()
    actions = list(legal)
    if not scene.actions:
        actions += table.actions
    for action in actions:
        text = game.format_action(action)
        try:
            back = table.parse(text, legal)
        except FritillaryError as error:
            what = f"{text!r} is not read: {error}"
            raise scene.broken("notation.unique", what, action=action) from error
        if back != action:
            what = f"{text!r} of {action} is read as {back}"
            raise scene.broken("notation.unique", what, action=action)
    if isinstance(scene.point, Chance):
        actions = outcomes(scene)
        texts: dict[str, Any] = {}
        for action in actions:
            text = game.format_action(action)
            if texts.setdefault(text, action) != action:
                what = f"{text!r} are two outcomes"
                raise scene.broken("notation.unique", what, action=action)
    return len(actions)


# ---------------------------------------------------------------------------- pictures


def _columns(line: str) -> int:
    """Return how many columns of a terminal a line takes."""
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in line)
    marks = sum(unicodedata.combining(letter) != 0 for letter in line)
    return len(line) + wide - marks


@position("picture.text")
def text_pictures_are_plain(scene: Scene, plan: Plan) -> int:
    """Measure the text picture of every viewer."""
    game = scene.game
    for viewer in scene.viewers:
        text = game.draw_text(game.observe(scene.state, viewer))
        if not isinstance(text, str) or not text.strip():
            raise scene.broken("picture.text", f"draw_text() gave {text!r}", viewer)
        for line in text.split("\n"):
            if _columns(line) > _WIDTH:
                what = f"{_columns(line)} columns: {line!r}"
                raise scene.broken("picture.text", what, viewer)
            if any(unicodedata.category(letter) == "Cc" for letter in line):
                what = f"a control character: {line!r}"
                raise scene.broken("picture.text", what, viewer)
    return scene.seats + 1


def no_svg(game: AnyGame) -> str:
    """Say that the game has no SVG picture, if so."""
    return "" if game.draw_svg is not None else "the game has no draw_svg()"


_SVG: Final = "http://www.w3.org/2000/svg"
_FORBIDDEN: Final = frozenset({"script", "foreignObject", "iframe", "a", "image"})
_OUTSIDE: Final = re.compile(r"url\(\s*['\"]?(?!#)|@import|javascript:", re.IGNORECASE)
_PREFIX: Final = re.compile(r"[A-Za-z][A-Za-z0-9]*-")


@position("picture.svg", thin=2, needs=no_svg)
def svg_pictures_are_documents(scene: Scene, plan: Plan) -> int:
    """Parse the SVG picture of every viewer and look at every element."""
    game = scene.game
    if game.draw_svg is None:
        return 0
    for viewer in scene.viewers:
        svg = game.draw_svg(game.observe(scene.state, viewer))
        fault = svg_fault(svg)
        if fault:
            raise scene.broken("picture.svg", fault, viewer)
    return scene.seats + 1


def svg_fault(svg: Any) -> str:
    """Say what is wrong with an SVG picture; empty if nothing is."""
    if not isinstance(svg, str) or not svg.startswith("<svg"):
        return f"draw_svg() gave {str(svg)[:40]!r}; it must begin with <svg"
    if "<!DOCTYPE" in svg or "<!ENTITY" in svg:
        return "it declares a document type"
    try:
        root = ET.fromstring(svg)  # noqa: S314 - no entities, see above
    except ET.ParseError as error:
        return f"it is not well-formed: {error}"
    if root.tag != f"{{{_SVG}}}svg":
        return f'the outermost element is {root.tag}; write xmlns="{_SVG}"'
    ids: list[str] = []
    for element in root.iter():
        name = str(element.tag).rpartition("}")[2]
        if name in _FORBIDDEN:
            return f"there is a <{name}>"
        if element.text and _OUTSIDE.search(element.text) and name == "style":
            return "its style refers to the outside"
        for key, value in element.attrib.items():
            plain = key.rpartition("}")[2]
            if plain.lower().startswith("on"):
                return f"<{name}> has the attribute {plain}"
            if plain in {"href", "src"} and not value.startswith("#"):
                return f"<{name}> links to {value[:40]!r}"
            if _OUTSIDE.search(value):
                return f"{plain} of <{name}> refers to {value[:40]!r}"
            if plain == "id":
                ids.append(value)
    return _id_fault(ids)


def _id_fault(ids: list[str]) -> str:
    for name in ids:
        if ids.count(name) > 1:
            return f"the id {name!r} occurs twice"
    prefixes = {match[0] if (match := _PREFIX.match(name)) else "" for name in ids}
    if len(prefixes) > 1 or "" in prefixes:
        shown = ", ".join(sorted(ids)[:6])
        return f"ids need one prefix of letters and a hyphen: {shown}"
    return ""


@position("picture.bytes-only", thin=3)
def pictures_follow_from_bytes(scene: Scene, plan: Plan) -> int:
    """Draw observations as they are, and as they come from bytes."""
    game, codec = scene.game, scene.game.codec
    for viewer in scene.viewers:
        observation = game.observe(scene.state, viewer)
        raw = codec.encode_observation(observation)
        decoded = codec.decode_observation(raw, scene.options)
        found = first_difference(game.draw_text(observation), game.draw_text(decoded))
        if not found and game.draw_svg is not None:
            found = first_difference(game.draw_svg(observation), game.draw_svg(decoded))
        if found:
            what = f"before and after bytes: {found}"
            raise scene.broken("picture.bytes-only", what, viewer)
    return scene.seats + 1
