# ruff: noqa: ANN401 - arguments and results of every game pass through
"""Every hook call that makes sense at a position, for laws about all hooks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from attrs import frozen

from fritillary.codec.packing import unpack
from fritillary.core.dealer import Dealer, FastDealer
from fritillary.core.errors import GameError
from fritillary.core.points import Act, Chance
from fritillary.plugins.table import ActionTable, OpenTable
from fritillary.testing.scene import AnyGame, Scene, Viewer

#: So many actions are played, shown and explained at a position.
_ACTIONS: Final = 4


@frozen
class Call:
    """One hook with arguments that nobody else holds.

    Args:
        hook: its name.
        function: what to call.
        arguments: in order.
        viewer: for whom, if that matters.
        action: which is played or shown, if that matters.
        changes: index of the argument that may be changed, or -1.
    """

    hook: str
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    viewer: Viewer = -1
    action: Any = None
    changes: int = -1

    def run(self) -> Any:
        """Call the hook and return its result, or what it has changed."""
        result = self.function(*self.arguments)
        return self.arguments[self.changes] if self.changes >= 0 else result


def calls(scene: Scene) -> Iterator[Call]:
    """Yield calls of every hook at a position, for every viewer."""
    game = scene.game
    copy = game.copy
    if not scene.actions:
        yield from _at_the_start(scene)
    yield Call("decision_point", game.decision_point, (copy(scene.state),))
    yield Call("copy_state", game.copy, (copy(scene.state),))
    for action in _possible(scene):
        yield Call("format_action", game.format_action, (action,), action=action)
        yield Call(
            "apply_action",
            game.apply,
            (copy(scene.state), action),
            action=action,
            changes=0,
        )
    if isinstance(scene.point, Act):
        yield Call("legal_actions", game.legal_actions, (copy(scene.state),))
    if isinstance(scene.point, Chance):
        if lists_chance(scene):
            yield Call("chance_outcomes", game.chance_outcomes, (copy(scene.state),))
        arguments = (copy(scene.state), scene.dealer("chance"))
        yield Call("sample_chance", game.draw_chance, arguments)
    for viewer in scene.viewers:
        yield from _for_viewer(scene, viewer)
    if game.conserved is not None:
        yield Call("conserved", game.conserved, (copy(scene.state),))
    if game.rotate_seats is not None:
        yield Call("rotate_seats", game.rotate_seats, (copy(scene.state),))


def _at_the_start(scene: Scene) -> Iterator[Call]:
    game, setup = scene.game, (scene.options, scene.seats)
    build: Any = game.table
    # The table as it is built afresh, not the one that is kept.
    yield Call("all_actions", build.__wrapped__, setup)
    yield Call(
        "new_state",
        lambda options, seats, dealer: game.new(dealer, options, seats),
        (*setup, FastDealer(scene.deal).stream("deal")),
    )


def _for_viewer(scene: Scene, viewer: Viewer) -> Iterator[Call]:
    game = scene.game
    copy = game.copy
    yield Call("observe", game.observe, (copy(scene.state), viewer), viewer)

    def seen() -> Any:
        return game.observe(copy(scene.state), viewer)

    for action in _possible(scene):
        given: tuple[Any, ...] = (copy(scene.state), action, viewer)
        yield Call("observe_action", game.observe_action, given, viewer, action)
    if scene.point.seat is not None and scene.point.seat == viewer:
        for action in illegal(scene, _ACTIONS):
            yield Call(
                "explain_illegal", game.explain, (seen(), action), viewer, action
            )
    yield Call("draw_text", game.draw_text, (seen(),), viewer)
    if game.draw_svg is not None:
        yield Call("draw_svg", game.draw_svg, (seen(),), viewer)
    if game.sample_state is not None:
        given = (seen(), scene.dealer("sample"))
        yield Call("sample_state", game.sample_state, given, viewer)
    if game.shuffle_hidden is not None:
        given = (copy(scene.state), viewer, scene.dealer("shuffle"))
        yield Call("shuffle_hidden", game.shuffle_hidden, given, viewer, changes=0)
    if game.evaluate is not None and viewer is not None:
        yield Call("evaluate", game.evaluate, (copy(scene.state), viewer), viewer)


def lists_chance(scene: Scene) -> bool:
    """Say whether the game lists the chance outcomes here."""
    try:
        scene.game.chance_outcomes(scene.state)
    except GameError:
        return False
    return True


def _possible(scene: Scene) -> Sequence[Any]:
    """Return some actions or chance outcomes that are possible here."""
    game = scene.game
    if isinstance(scene.point, Act):
        return some(game.legal_actions(scene.state), _ACTIONS, scene.dealer("some"))
    if isinstance(scene.point, Chance):
        if lists_chance(scene):
            pairs = game.chance_outcomes(scene.state)
            return some([a for a, _ in pairs], _ACTIONS, scene.dealer("some"))
        return [game.draw_chance(scene.state, scene.dealer("some"))]
    return ()


def illegal(scene: Scene, most: int) -> list[Any]:
    """Return some actions of the table that are not legal here."""
    table = scene.game.table(scene.options, scene.seats).actions
    legal = set(scene.game.legal_actions(scene.state))
    rest = [action for action in table if action not in legal]
    return some(rest, most, scene.dealer("illegal"))


def some(items: Sequence[Any], most: int, dealer: Dealer) -> list[Any]:
    """Return some of the items, or all of them if they are few; the last too."""
    if len(items) <= most:
        return list(items)
    chosen = {len(items) - 1}
    while len(chosen) < most:
        chosen.add(dealer.below(len(items)))
    return [items[index] for index in sorted(chosen)]


def plain(game: AnyGame, value: Any) -> Any:
    """Return the result or an argument of a hook as data that can be compared."""
    codec, info = game.codec, game.info
    kind = type(value)
    if kind is info.state:
        return unpack(codec.encode_state(value))
    if kind is info.observation:
        return unpack(codec.encode_observation(value))
    if kind is info.options:
        return codec.options_to_data(value)
    if kind in info.actions:
        return codec.action_to_data(value)
    match value:
        case Dealer():
            return None
        case str() | int() | float() | None:
            return value
        case list() | tuple():
            return [plain(game, part) for part in value]
        case dict():
            return {str(key): plain(game, part) for key, part in value.items()}
        case ActionTable() | OpenTable():
            return [*value.texts, value.digest().hex()]
    return repr(value)
