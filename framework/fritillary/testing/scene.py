# ruff: noqa: ANN401 - states and actions of every game pass through
"""Random play for the laws: where a check looks, and how it tells what it saw."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from attrs import define

from fritillary.core.dealer import Dealer, FastDealer
from fritillary.core.errors import InvalidOptionsError, PluginError
from fritillary.core.points import Act, Chance, DecisionPoint, Over
from fritillary.plugins.game import Game
from fritillary.testing.laws import Failure, LawError

#: A game of any state, action and observation class.
AnyGame: TypeAlias = Game[Any, Any, Any]

#: Who looks: a seat, or ``None`` for a spectator.
Viewer: TypeAlias = int | None

_NO_VIEWER: Final = -1

#: So much of a picture is shown in a message.
_PICTURE_LINES: Final = 40


@define
class Scene:
    """One position of one match.

    Args:
        game: the rules.
        options: of the match.
        seats: how many there are.
        deal: the seed of its dealer: `FastDealer(deal).stream("deal")` has dealt.
        match: number of the match within the check, from 0.
        actions: what was played, in order; grows with the match.
        state: the live state; checks copy it before they change anything.
        point: its decision point.
    """

    game: AnyGame
    options: Any
    seats: int
    deal: str
    match: int
    actions: list[Any]
    state: Any
    point: DecisionPoint

    @property
    def ply(self) -> int:
        """How many actions and chance outcomes came before, from 0."""
        return len(self.actions)

    @property
    def viewers(self) -> tuple[Viewer, ...]:
        """The spectator and every seat."""
        return (None, *range(self.seats))

    @property
    def turn_viewer(self) -> Viewer:
        """One of the viewers: they take turns from ply to ply."""
        return self.viewers[self.ply % len(self.viewers)]

    def dealer(self, *labels: str | int) -> FastDealer:
        """Return a dealer for looking around here, the same each time."""
        return FastDealer(f"{self.deal}/look/{self.ply}").stream(*labels)

    def advance(self, action: Any) -> None:
        """Apply an action or a chance outcome.

        Raises:
            LawError: ``hooks.sound`` or ``turn.max-plies``.
        """
        game = self.game
        try:
            game.apply(self.state, action)
            self.actions.append(action)
            self.point = game.decision_point(self.state)
        except Exception as error:
            text = game.format_action(action)
            raise self.broken("hooks.sound", f"after {text}: {_said(error)}") from error
        kind: object = type(self.point)
        if kind not in {Act, Chance, Over}:
            what = f"decision_point() gave {self.point!r}"
            raise self.broken("hooks.sound", what)
        if self.ply > game.info.max_plies:
            raise self.broken("turn.max-plies", f"max_plies: {game.info.max_plies}")

    def retrace(self) -> Iterator[Scene]:
        """Yield every position of this match up to here again, from the deal."""
        again = dealt(self.game, self.options, self.seats, self.deal, self.match)
        yield again
        for action in tuple(self.actions):
            again.advance(action)
            yield again

    def broken(
        self,
        law: str,
        what: str,
        viewer: Viewer = _NO_VIEWER,
        action: Any = None,
    ) -> LawError:
        """Return the error of a law that is broken here.

        Args:
            law: its id.
            what: what was seen, one or more lines.
            viewer: who sees it, if that matters.
            action: what is played or shown, if that matters.
        """
        game = self.game
        seat = f"seat {viewer}" if viewer is not None else "spectator"
        failure = Failure(
            law=law,
            what=what,
            game=game.id,
            seats=self.seats,
            options=game.codec.options_to_data(self.options),
            deal=f"FastDealer({self.deal!r}).stream('deal')",
            actions=tuple(map(self._notation, self.actions)),
            seat="" if viewer == _NO_VIEWER else seat,
            action="" if action is None else self._notation(action),
            picture=self._picture(viewer),
        )
        complexity = len(game.codec.encode_options(self.options)) * 1000
        complexity += _weight(failure.options)
        return LawError(failure, (self.ply, self.seats, complexity))

    def _notation(self, action: Any) -> str:
        try:
            return str(self.game.format_action(action))
        except Exception:  # noqa: BLE001 - the message must come out
            return repr(action)

    def _picture(self, viewer: Viewer) -> str:
        if viewer == _NO_VIEWER:
            viewer = self.point.seat if isinstance(self.point, Act) else None
        try:
            observation = self.game.observe(self.game.copy(self.state), viewer)
            lines = str(self.game.draw_text(observation)).splitlines()
        except Exception:  # noqa: BLE001 - the message must come out
            return ""
        return "\n".join(lines[:_PICTURE_LINES])


def _weight(data: Any) -> int:
    """Say how large the values of plain data are, in all."""
    match data:
        case bool():
            return int(data)
        case int():
            return min(abs(data), 999)
        case dict():
            return sum(map(_weight, data.values()))
        case list():
            return sum(map(_weight, data))
        case _:
            return 0


def _said(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"


def law_error(law: str, lines: Sequence[str], game: str = "") -> LawError:
    """Return the error of a broken law that belongs to no one position."""
    return LawError(Failure(law, "\n".join(lines), game=game))


def setups(game: AnyGame, options: Any, seats: int | None) -> list[tuple[Any, int]]:
    """Return the pairs of options and seats that a check plays.

    Args:
        game: the rules.
        options: the only ones; ``None`` for the defaults and every preset.
        seats: the only number; ``None`` for the fewest, one more, and the most.
            Of those, the ones with which ``new_state`` refuses options that were
            given, or a preset, are left out; if none is left, others are tried.

    Raises:
        InvalidOptionsError: if options that were given go with no number of seats.
    """
    choices = [options]
    if options is None:
        choices = [game.info.options()]
        for preset in game.info.presets.values():
            if preset not in choices:
                choices.append(preset)
    low, high = game.info.min_seats, game.info.max_seats
    numbers = [seats] if seats is not None else sorted({low, min(low + 1, high), high})
    pairs = []
    for index, choice in enumerate(choices):
        if options is None and not index:
            # The defaults are for every number of seats.
            fit = numbers
        else:
            fit = [number for number in numbers if _goes(game, choice, number)]
            if not fit and seats is None:
                others = range(low + 2, high)
                fit = [number for number in others if _goes(game, choice, number)][:1]
        if not fit and options is not None:
            # Says what is wrong.
            game.new(FastDealer("setups"), choice, numbers[0])
        if not fit and seats is None:
            # Nobody can play this preset: a fault, which the deal will show.
            fit = numbers
        pairs += [(choice, number) for number in fit]
    return pairs


def _goes(game: AnyGame, options: Any, seats: int) -> bool:
    """Say whether options go with a number of seats; other faults are for the laws."""
    try:
        game.new(FastDealer("setups"), options, seats)
    except InvalidOptionsError:
        return False
    except Exception:  # noqa: BLE001 - a stranger's game; the laws will show it
        return True
    return True


def dealt(game: AnyGame, options: Any, seats: int, deal: str, match: int = 0) -> Scene:
    """Return the first position of a match.

    Raises:
        LawError: ``hooks.sound``, if it cannot be dealt.
    """
    try:
        state = game.new(FastDealer(deal).stream("deal"), options, seats)
        point = game.decision_point(state)
    except Exception as error:
        what = f"{_said(error)} in the deal of FastDealer({deal!r}), {seats} seats"
        raise law_error("hooks.sound", [what], game.id) from error
    return Scene(game, options, seats, deal, match, [], state, point)


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
        LawError: ``turn.max-plies``, ``hooks.sound``, ``chance.weights``.
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
        LawError: ``turn.max-plies``, ``hooks.sound``, ``chance.weights``.
    """
    deal = f"{seed}/{match}"
    chooser = FastDealer(deal).stream("play")
    scene = dealt(game, options, seats, deal, match)
    while True:
        yield scene
        try:
            action = next_action(game, scene.state, scene.point, chooser)
        except PluginError as error:
            law = "chance.weights" if error.code == "plugin.weight" else "hooks.sound"
            raise scene.broken(law, error.message) from error
        except Exception as error:
            law = "hooks.sound" if _some(scene) else "legal.some"
            raise scene.broken(law, _said(error)) from error
        if action is None:
            return
        scene.advance(action)


def _some(scene: Scene) -> bool:
    try:
        return scene.point.seat is None or bool(scene.game.legal_actions(scene.state))
    except Exception:  # noqa: BLE001 - the caller reports it
        return True


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
