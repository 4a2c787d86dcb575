# ruff: noqa: ANN401 - options and actions of every game pass through
"""From a case that breaks a law to the smallest one that breaks it alike.

Smaller is, in this order: fewer plies, fewer seats, smaller options. Tried are
other random matches, short ones first; the same match with plies left out; fewer
seats; smaller values of the options; and at last all lines of play from the deal, as
far as they are few.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, TypeAlias

from fritillary.core.errors import FritillaryError, GameError
from fritillary.core.points import Act, Chance
from fritillary.testing.counting import branches
from fritillary.testing.laws import LawError
from fritillary.testing.scene import AnyGame, Scene, dealt, random_match

#: Looks at a position; raises `LawError` if the law is broken there.
Look: TypeAlias = Callable[[Scene], object]

#: So many other matches are tried with each setup.
_MATCHES: Final = 24

#: So many positions are gone through from the deal.
_POSITIONS: Final = 600

_Setup: TypeAlias = tuple[Any, int]


class _Search:
    """The smallest case so far, and the time that is left."""

    def __init__(
        self, error: LawError, scene: Scene, look: Look, seconds: float
    ) -> None:
        self.best = error
        self.law = error.law
        self.game = scene.game
        self.setup: _Setup = (scene.options, scene.seats)
        self.deal = scene.deal
        self.actions = tuple(scene.actions)
        self._look = look
        self._stop = time.monotonic() + seconds

    @property
    def size(self) -> tuple[int, int, int]:
        """The size of the smallest case."""
        return self.best.size or (0, 0, 0)

    @property
    def late(self) -> bool:
        """Whether the time is over."""
        return time.monotonic() > self._stop

    def try_scene(self, scene: Scene) -> bool:
        """Keep a position if it is smaller and breaks the law; say whether."""
        try:
            self._look(scene)
        except LawError as error:
            if error.law is self.law and (error.size or (0, 0, 0)) < self.size:
                self.best = error
                self.setup = (scene.options, scene.seats)
                self.deal = scene.deal
                self.actions = tuple(scene.actions)
                return True
        except Exception:  # noqa: BLE001 - another fault; not the one we look for
            return False
        return False

    def try_matches(self, setup: _Setup) -> bool:
        """Look along other matches, no further than a smaller case can be."""
        found = False
        for match in range(_MATCHES):
            if self.late:
                break
            most = self.size[0] - (setup == self.setup)
            try:
                for scene in random_match(self.game, *setup, match, -1):
                    if scene.ply > most:
                        break
                    if self.try_scene(scene):
                        found = True
                        break
            except FritillaryError:
                continue
        return found

    def try_line(self, setup: _Setup, actions: Sequence[Any]) -> bool:
        """Look at the end of a line of actions, if it can be played."""
        scene = _play(self.game, setup, self.deal, actions)
        return scene is not None and self.try_scene(scene)


def smallest(error: LawError, scene: Scene, look: Look, seconds: float) -> LawError:
    """Return the error of the smallest case that is found in some seconds.

    Args:
        error: of the case at hand.
        scene: where it was seen; left alone.
        look: looks again; must depend on nothing but the position.
        seconds: for the search.
    """
    if error.size is None or seconds <= 0:
        return error
    search = _Search(error, scene, look, seconds)
    search.try_matches(search.setup)
    _shorten(search)
    for seats in range(scene.game.info.min_seats, search.setup[1]):
        setup = (search.setup[0], seats)
        if search.try_line(setup, search.actions) or search.try_matches(setup):
            break
    while _simplify(search):
        pass
    _shorten(search)
    _go_through(search)
    return search.best


def _shorten(search: _Search) -> None:
    """Leave out plies, many at a time first, as long as the law stays broken."""
    chunk = max(1, len(search.actions) // 2)
    while not search.late:
        start = 0
        while start < len(search.actions) and not search.late:
            actions = search.actions
            shorter = actions[:start] + actions[start + chunk :]
            if not search.try_line(search.setup, shorter):
                start += chunk
        if chunk == 1:
            return
        chunk //= 2


def _go_through(search: _Search) -> None:
    """Try all shorter lines of play from the deal, the shortest first."""
    game, left = search.game, _POSITIONS
    lines: list[tuple[Any, ...]] = [()]
    while lines and len(lines[0]) < search.size[0]:
        longer: list[tuple[Any, ...]] = []
        for line in lines:
            left -= 1
            if left < 0 or search.late:
                return
            scene = _play(game, search.setup, search.deal, line)
            if scene is None:
                continue
            if search.try_scene(scene):
                return
            longer += [(*line, action) for action in _branches(scene)]
        lines = longer


def _branches(scene: Scene) -> Sequence[Any]:
    try:
        return branches(scene.game, scene.state)
    except Exception:  # noqa: BLE001 - only sampled, or another fault
        return ()


def _simplify(search: _Search) -> bool:
    """Try smaller values of the options; say whether one of them will do."""
    options, seats = search.setup
    for simpler in _simpler_options(search.game, options):
        setup = (simpler, seats)
        if search.late:
            return False
        if search.try_line(setup, search.actions) or search.try_matches(setup):
            return True
    return False


def _simpler_options(game: AnyGame, options: Any) -> Iterator[Any]:
    """Yield options that are smaller in one value each."""
    codec = game.codec
    data = codec.options_to_data(options)
    for candidate in [codec.options_to_data(game.info.options()), *_smaller(data)]:
        if candidate == data:
            continue
        try:
            yield codec.options_from_data(candidate)
        except GameError:
            continue


def _smaller(data: Any) -> Iterator[Any]:
    """Yield data that are smaller in one place each, the smallest first."""
    match data:
        case bool():
            if data:
                yield False
        case int():
            # As toward zero as may be, then by halves, then by one.
            tried = {data}
            for value in (0, 1, 2, data // 2, data - (data > 0)):
                if value not in tried and abs(value) < abs(data):
                    tried.add(value)
                    yield value
        case dict():
            for key, part in data.items():
                for smaller in _smaller(part):
                    yield {**data, key: smaller}
        case list():
            for index in range(len(data)):
                yield data[:index] + data[index + 1 :]
            if data and all(type(part) is int for part in data):
                yield [min(data)] * len(data)
                for value in (1, 2):
                    yield [min(part, value) for part in data]
            for index, part in enumerate(data):
                for smaller in _smaller(part):
                    yield [*data[:index], smaller, *data[index + 1 :]]
        case _:
            return


def _play(
    game: AnyGame, setup: _Setup, deal: str, actions: Sequence[Any]
) -> Scene | None:
    """Play a line of actions from a deal; ``None`` if one of them cannot be."""
    try:
        scene = dealt(game, *setup, deal)
        for action in actions:
            if isinstance(scene.point, Act):
                possible = game.legal_actions(scene.state)
            elif isinstance(scene.point, Chance):
                possible = [outcome for outcome, _ in game.chance_outcomes(scene.state)]
            else:
                return None
            if action not in possible:
                return None
            scene.advance(action)
    except Exception:  # noqa: BLE001 - another fault; not the one we look for
        return None
    return scene
