# ruff: noqa: ANN401 - states and actions of every game pass through
"""The laws of every game, checked along random play."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, Final

from attrs import Factory, define

from fritillary.codec.packing import unpack
from fritillary.core.dealer import FastDealer, SealedDealer
from fritillary.core.errors import FritillaryError, GameError, IllegalActionError
from fritillary.core.points import Act, Chance, Over
from fritillary.testing.scene import (
    AnyGame,
    Scene,
    Viewer,
    first_difference,
    random_match,
    scenes,
    setups,
)
from fritillary.testing.schemas import SchemaChecker

_WIDTH: Final = 80


@define
class ContractReport:
    """What was gone through.

    Args:
        matches: random matches played.
        positions: positions in them.
        refusals: illegal actions that were refused.
    """

    matches: int = 0
    positions: int = 0
    refusals: int = 0


@define
class _Kept:
    """An earlier state that must stay as it was."""

    state: Any
    raw: bytes
    ply: int


@define
class _Match:
    """What one match leaves behind."""

    kept: list[_Kept] = Factory(list)


def check_contract(
    game: AnyGame,
    *,
    options: Any = None,
    seats: int | None = None,
    matches: int = 6,
    seed: int = 0,
    refusals: int = 1000,
) -> ContractReport:
    """Play random matches and check the laws of every game on the way.

    Args:
        game: the rules.
        options: of the matches; ``None`` for the defaults and every preset.
        seats: how many; ``None`` for several numbers.
        matches: how many random matches; each setup gets at least one.
        seed: of everything that is drawn.
        refusals: the most illegal actions tried at one position.

    Raises:
        LawError: naming the law that is broken, and how to get there again.
        UsageError: if the library jsonschema is not installed.
    """
    schemas = SchemaChecker(game)
    report = ContractReport()
    for match, (choice, number) in enumerate(setups(game, options, seats)):
        scene = next(random_match(game, choice, number, match, seed))
        _check_values(scene, schemas)
    current = _Match()
    for scene in scenes(game, options=options, seats=seats, matches=matches, seed=seed):
        report.matches = scene.match + 1
        report.positions += 1
        if scene.ply == 0:
            current = _Match()
        _check_turn(scene)
        _check_state(scene, schemas)
        for viewer in scene.viewers:
            _check_observation(scene, viewer, schemas)
        if isinstance(scene.point, Act):
            _check_legal(scene)
            report.refusals += _check_refusals(scene, refusals)
        _check_evaluation(scene)
        _keep(scene, current)
        if isinstance(scene.point, Over):
            _check_outcome(scene)
            _check_kept(scene, current)
            _check_seed(scene)
    return report


# ------------------------------------------------------------------------- values


def _check_values(scene: Scene, schemas: SchemaChecker) -> None:
    """Check options, action table and notation of one setup."""
    game, codec, options = scene.game, scene.game.codec, scene.options
    raw, _ = _round_trip(scene, options, codec.encode_options, codec.decode_options)
    schemas.check(scene, "options", unpack(raw))
    table = game.table(options, scene.seats)
    for action in table.actions:
        _check_action(scene, action, schemas)
        text = game.format_action(action)
        if table.parse(text) != action:
            what = f"{text!r} of {action} is read as {table.parse(text)}"
            raise scene.broken("notation.unique", what)


def _check_action(scene: Scene, action: Any, schemas: SchemaChecker) -> None:
    codec = scene.game.codec
    raw, _ = _round_trip(
        scene,
        action,
        codec.encode_action,
        lambda raw: codec.action_from_data(unpack(raw)),
    )
    schemas.check(scene, "action", unpack(raw))


def _round_trip(
    scene: Scene,
    value: Any,
    encode: Callable[[Any], bytes],
    decode: Callable[[bytes], Any],
    viewer: Viewer = None,
) -> tuple[bytes, Any]:
    """Return the bytes of a value, and the value that comes back from them."""
    raw = encode(value)
    try:
        decoded = decode(raw)
    except FritillaryError as error:
        what = f"{value} does not come back: {error}"
        raise scene.broken("codec.round-trip", what, viewer) from error
    if decoded != value:
        what = f"{value} comes back as {decoded}"
        raise scene.broken("codec.round-trip", what, viewer)
    again = encode(decoded)
    if again != raw:
        found = first_difference(unpack(raw), unpack(again)) or "the order of keys"
        what = f"{value} comes back equal, with other bytes: {found}"
        raise scene.broken("codec.round-trip", what, viewer)
    return raw, decoded


def _check_seed(scene: Scene) -> None:
    """Deal and play the match twice more, with fast and sealed dealers."""
    game = scene.game
    encode = game.codec.encode_state
    ends = []
    for _ in range(2):
        again = random_match(game, scene.options, scene.seats, scene.match, scene.seed)
        (last,) = deque(again, maxlen=1)
        ends.append(unpack(encode(last.state)))
    found = first_difference(*ends)
    if found:
        raise scene.broken("seed.same-bytes", f"at the end: {found}")
    secret = bytes([scene.match % 256]) * 32
    deals = [
        unpack(encode(game.new(SealedDealer(secret), scene.options, scene.seats)))
        for _ in range(2)
    ]
    found = first_difference(*deals)
    if found:
        raise scene.broken("seed.same-bytes", f"in the deal: {found}")


def _check_state(scene: Scene, schemas: SchemaChecker) -> None:
    game, codec, state = scene.game, scene.game.codec, scene.state
    if state.options is not scene.options:
        raise scene.broken("state.options", "the state has other options")
    _round_trip(
        scene,
        state,
        codec.encode_state,
        lambda raw: codec.decode_state(raw, scene.options),
    )
    if isinstance(scene.point, Chance):
        texts: dict[str, Any] = {}
        for action in _outcomes(scene):
            _check_action(scene, action, schemas)
            text = game.format_action(action)
            if texts.setdefault(text, action) != action:
                raise scene.broken("notation.unique", f"{text!r} are two outcomes")


def _check_observation(scene: Scene, viewer: Viewer, schemas: SchemaChecker) -> None:
    game, codec = scene.game, scene.game.codec
    before = codec.encode_state(scene.state)
    observation = game.observe(scene.state, viewer)
    if observation.options is not scene.options:
        raise scene.broken("state.options", "the observation has other ones", viewer)
    raw, decoded = _round_trip(
        scene,
        observation,
        codec.encode_observation,
        lambda raw: codec.decode_observation(raw, scene.options),
        viewer,
    )
    # Validation is slow; the viewers take turns.
    if scene.ply % len(scene.viewers) == scene.viewers.index(viewer):
        schemas.check(scene, "observation", unpack(raw), viewer)
    _check_pictures(scene, viewer, observation, decoded)
    found = first_difference(unpack(before), unpack(codec.encode_state(scene.state)))
    if found:
        raise scene.broken("observe.harmless", f"before and after: {found}", viewer)


def _check_pictures(
    scene: Scene, viewer: Viewer, observation: Any, decoded: Any
) -> None:
    game = scene.game
    text = game.draw_text(observation)
    if not isinstance(text, str) or not text.strip():
        raise scene.broken("picture.text", f"draw_text() gave {text!r}", viewer)
    widest = max(text.splitlines(), key=len)
    if len(widest) > _WIDTH:
        what = f"{len(widest)} columns: {widest!r}"
        raise scene.broken("picture.text", what, viewer)
    found = first_difference(text, game.draw_text(decoded))
    if not found and game.draw_svg is not None:
        svg = game.draw_svg(observation)
        if not svg.startswith("<svg") or not svg.rstrip().endswith("</svg>"):
            raise scene.broken("picture.svg", f"draw_svg() gave {svg[:40]!r}", viewer)
        found = first_difference(svg, game.draw_svg(decoded))
    if found:
        what = f"before and after bytes: {found}"
        raise scene.broken("picture.bytes-only", what, viewer)


# --------------------------------------------------------------------------- play


def _check_turn(scene: Scene) -> None:
    point = scene.point
    if isinstance(point, Act) and not 0 <= point.seat < scene.seats:
        raise scene.broken("turn.seat", f"{point} of {scene.seats} seats")
    if isinstance(point, Chance) and not scene.game.info.chance:
        raise scene.broken("chance.declared", "a Chance, but GameInfo.chance is false")


def _outcomes(scene: Scene) -> list[Any]:
    """Return the chance outcomes, checked; one draw if there are too many."""
    game = scene.game
    try:
        actions = [action for action, _ in game.chance_outcomes(scene.state)]
    except GameError:
        actions = [game.draw_chance(scene.state, FastDealer(scene.ply))]
    if len(set(actions)) < len(actions):
        raise scene.broken("chance.outcomes", "an outcome is listed twice")
    for action in actions:
        if type(action) not in game.info.actions:
            what = f"{action}: its class is not in GameInfo.actions"
            raise scene.broken("chance.outcomes", what)
    return actions


def _check_legal(scene: Scene) -> None:
    game = scene.game
    legal = game.legal_actions(scene.state)
    if not legal:
        raise scene.broken("legal.some", f"legal_actions() is empty at {scene.point}")
    table = game.table(scene.options, scene.seats)
    if not table.listed:
        if len(set(legal)) < len(legal):
            raise scene.broken("legal.table-order", "an action is listed twice")
        for action in legal:
            if table.parse(game.format_action(action), legal) != action:
                what = f"{action} is read as another"
                raise scene.broken("notation.unique", what)
        return
    places: Mapping[Any, int] = getattr(table, "index", {})
    unknown = [action for action in legal if action not in places]
    if unknown:
        what = f"{unknown[0]} is not in the table"
        raise scene.broken("legal.table-order", what)
    order = [places[action] for action in legal]
    if order != sorted(set(order)):
        texts = ", ".join(game.format_action(action) for action in legal)
        raise scene.broken("legal.table-order", f"legal actions: {texts}")


def _check_refusals(scene: Scene, most: int) -> int:
    """Try illegal actions of the table; return how many."""
    game, encode = scene.game, scene.game.codec.encode_state
    legal = set(game.legal_actions(scene.state))
    table = game.table(scene.options, scene.seats).actions
    illegal = [action for action in table if action not in legal]
    if len(illegal) > most:
        start = scene.ply * most % len(illegal)
        illegal = (illegal + illegal)[start : start + most]
    before = encode(scene.state)
    for action in illegal:
        try:
            game.play(scene.state, action)
        except IllegalActionError as error:
            if not isinstance(error.message, str) or not error.message.strip():
                what = f"{game.format_action(action)}: no explanation"
                raise scene.broken("play.refuses-illegal", what) from error
        else:
            what = f"{game.format_action(action)} was played"
            raise scene.broken("play.refuses-illegal", what)
        if encode(scene.state) != before:
            found = first_difference(unpack(before), unpack(encode(scene.state)))
            what = f"{game.format_action(action)}: {found}"
            raise scene.broken("play.refusal-harmless", what)
    return len(illegal)


def _check_evaluation(scene: Scene) -> None:
    if scene.game.evaluate is None:
        return
    for seat in range(scene.seats):
        value = scene.game.evaluate(scene.game.copy(scene.state), seat)
        if not -1 <= value <= 1:
            raise scene.broken("evaluate.range", f"evaluate() gave {value}", seat)


def _keep(scene: Scene, current: _Match) -> None:
    """Keep the state or its copy, by turns, and play on with the other."""
    copied = scene.game.copy(scene.state)
    if copied.options is not scene.options:
        raise scene.broken("state.options", "the copy has other options")
    raw = scene.game.codec.encode_state(scene.state)
    if scene.game.codec.encode_state(copied) != raw or copied != scene.state:
        raise scene.broken("copy.independent", "the copy differs from the start")
    if scene.ply % 2:
        scene.state, copied = copied, scene.state
    current.kept.append(_Kept(copied, raw, scene.ply))


def _check_kept(scene: Scene, current: _Match) -> None:
    encode = scene.game.codec.encode_state
    for kept in current.kept:
        found = first_difference(unpack(kept.raw), unpack(encode(kept.state)))
        if found:
            which = "original" if kept.ply % 2 else "copy"
            what = f"the {which} of ply {kept.ply} has changed: {found}"
            raise scene.broken("copy.independent", what)


# ------------------------------------------------------------------------ outcome


def _check_outcome(scene: Scene) -> None:
    info, outcome = scene.game.info, scene.game.outcome_of(scene.state)
    if len(outcome.scores) != scene.seats:
        raise scene.broken("outcome.seats", str(outcome))
    results = zip(outcome.placing, outcome.scores, strict=True)
    for (place, score), (worse, higher) in itertools.permutations(results, 2):
        if place < worse and score < higher:
            raise scene.broken("outcome.placing", str(outcome))
    if info.constant_sum is not None and sum(outcome.scores) != info.constant_sum:
        what = f"{outcome.scores}, not {info.constant_sum} in all"
        raise scene.broken("outcome.constant-sum", what)
    if outcome.reason not in info.reasons:
        raise scene.broken("outcome.reason", f"unknown reason {outcome.reason!r}")
