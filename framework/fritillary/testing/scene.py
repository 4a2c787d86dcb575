# ruff: noqa: ANN401 - states and actions of every game pass through
"""Random play for the laws: where a check looks, and how it tells what it saw."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from attrs import define

from fritillary.codec.packing import to_json
from fritillary.core.dealer import Dealer, FastDealer
from fritillary.core.points import Act, Chance, DecisionPoint
from fritillary.plugins.game import Game
from fritillary.testing.laws import LAWS, LawError

#: A game of any state, action and observation class.
AnyGame: TypeAlias = Game[Any, Any, Any]

#: Who looks: a seat, or ``None`` for a spectator.
Viewer: TypeAlias = int | None

_NO_VIEWER: Final = -1


@define
class Scene:
    """One position of one random match.

    Args:
        game: the rules.
        options: of the match.
        seats: how many there are.
        seed: of the whole check.
        match: number of the match within the check, from 0.
        ply: how many actions and chance outcomes came before, from 0.
        actions: those actions, in order; grows with the match.
        state: the live state; checks copy it before they change anything.
        point: its decision point.
    """

    game: AnyGame
    options: Any
    seats: int
    seed: int
    match: int
    ply: int
    actions: list[Any]
    state: Any
    point: DecisionPoint

    @property
    def viewers(self) -> tuple[Viewer, ...]:
        """The spectator and every seat."""
        return (None, *range(self.seats))

    def broken(self, law: str, what: str, viewer: Viewer = _NO_VIEWER) -> LawError:
        """Return the error of a law that is broken here.

        Args:
            law: its id.
            what: what was seen, one or more lines.
            viewer: who sees it, if that matters.
        """
        lines = [what, f"game: {self.game.id}, {self.seats} seats"]
        options = to_json(self.game.codec.options_to_data(self.options))
        lines.append(f"options: {options}")
        if viewer != _NO_VIEWER:
            lines.append(f"seat: {'spectator' if viewer is None else viewer}")
        texts = [self.game.format_action(action) for action in self.actions]
        lines.append(f"seed {self.seed}, match {self.match}, ply {self.ply}")
        lines.append(f"actions so far: {', '.join(texts) or 'none'}")
        return law_error(law, lines)


def law_error(law: str, lines: Sequence[str]) -> LawError:
    """Return the error of a broken law, with indented lines of detail."""
    entry = LAWS[law]
    head = f"law {entry.id} is broken: {entry.sentence}"
    return LawError(entry, "\n  ".join([head, *lines]))


def setups(game: AnyGame, options: Any, seats: int | None) -> list[tuple[Any, int]]:
    """Return the pairs of options and seats that a check plays.

    Args:
        game: the rules.
        options: the only ones; ``None`` for the defaults and every preset.
        seats: the only number; ``None`` for the fewest, one more, and the most.
    """
    choices = [options]
    if options is None:
        choices = [game.info.options()]
        for preset in game.info.presets.values():
            if preset not in choices:
                choices.append(preset)
    low, high = game.info.min_seats, game.info.max_seats
    numbers = [seats] if seats is not None else sorted({low, min(low + 1, high), high})
    return [(choice, number) for choice in choices for number in numbers]


def scenes(
    game: AnyGame,
    *,
    options: Any = None,
    seats: int | None = None,
    matches: int,
    seed: int,
) -> Iterator[Scene]:
    """Yield every position of random matches, the first and the last included.

    The setups of :func:`setups` take turns; each is played at least once.

    Raises:
        LawError: ``turn.max-plies``.
    """
    pairs = setups(game, options, seats)
    for match in range(max(matches, len(pairs))):
        yield from random_match(game, *pairs[match % len(pairs)], match, seed)


def random_match(
    game: AnyGame, options: Any, seats: int, match: int, seed: int
) -> Iterator[Scene]:
    """Yield every position of one match of uniformly random actions.

    A caller may set ``scene.state`` to another object of the same value; the match
    goes on with it.

    Raises:
        LawError: ``turn.max-plies``.
    """
    dealer = FastDealer(f"{seed}/{match}")
    chooser = dealer.stream("play")
    state = game.new(dealer.stream("deal"), options, seats)
    point = game.decision_point(state)
    scene = Scene(game, options, seats, seed, match, 0, [], state, point)
    while True:
        yield scene
        action = next_action(game, scene.state, scene.point, chooser)
        if action is None:
            return
        game.apply(scene.state, action)
        scene.actions.append(action)
        scene.ply += 1
        scene.point = game.decision_point(scene.state)
        if scene.ply > game.info.max_plies:
            raise scene.broken("turn.max-plies", f"max_plies: {game.info.max_plies}")


def next_action(
    game: AnyGame, state: Any, point: DecisionPoint, chooser: Dealer
) -> Any:
    """Return a random legal action or chance outcome; ``None`` after the end."""
    if isinstance(point, Act):
        return chooser.choice(game.legal_actions(state))
    if isinstance(point, Chance):
        return game.draw_chance(state, chooser)
    return None


def first_difference(one: Any, other: Any, path: str = "$") -> str:
    """Say where two plain data differ first; empty if they are equal."""
    if type(one) is not type(other):
        return f"{path}: {one!r} is not {other!r}"
    if isinstance(one, Mapping):
        for key in [*one, *(key for key in other if key not in one)]:
            if key not in one or key not in other:
                return f"{path}.{key}: in one only"
            found = first_difference(one[key], other[key], f"{path}.{key}")
            if found:
                return found
        return ""
    if isinstance(one, list | tuple):
        for index, (a, b) in enumerate(zip(one, other, strict=False)):
            found = first_difference(a, b, f"{path}[{index}]")
            if found:
                return found
        if len(one) != len(other):
            return f"{path}: {len(one)} items are not {len(other)}"
        return ""
    if isinstance(one, str) and one != other and "\n" in one + other:
        for number, (a, b) in enumerate(
            zip(one.splitlines(), other.splitlines(), strict=False), 1
        ):
            if a != b:
                return f"{path}, line {number}: {a!r} is not {b!r}"
    return "" if one == other else f"{path}: {one!r} is not {other!r}"
