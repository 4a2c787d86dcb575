"""Finding plugins: by entry point, one at a time, each harmless to the others."""

from __future__ import annotations

import os
from collections.abc import Iterable
from importlib import metadata
from typing import Any, Final

from attrs import frozen

from fritillary.core.errors import (
    AmbiguousGameError,
    FritillaryError,
    UnknownGameError,
)
from fritillary.core.info import GameInfo, VariantInfo
from fritillary.plugins.binding import Plugin
from fritillary.plugins.game import Game, variant_info

GAMES: Final = "fritillary.games"
VARIANTS: Final = "fritillary.variants"

#: Comma-separated names of entry points that are not loaded.
DISABLED: Final = "FRITILLARY_DISABLED_PLUGINS"


@frozen
class Problem:
    """A plugin that was skipped.

    Args:
        name: of the entry point.
        distribution: it belongs to.
        reason: why, with the mend.
    """

    name: str
    distribution: str
    reason: str


@frozen
class Found:
    """A plugin that loads."""

    plugin: Plugin
    info: Any


class Registry:
    """The games and variants at hand.

    Filled by :meth:`load` from entry points, or by hand with :meth:`add_game` and
    :meth:`add_variant`. A plugin that cannot be loaded becomes a `Problem`.
    """

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self._games: list[Found] = []
        self._variants: list[Found] = []
        self._built: dict[str, Game[Any, Any, Any]] = {}

    def load(self) -> None:
        """Load the plugins of all installed distributions."""
        disabled = {
            name.strip() for name in os.environ.get(DISABLED, "").split(",") if name
        }
        for group, add in ((GAMES, self.add_game), (VARIANTS, self.add_variant)):
            points = sorted(
                metadata.entry_points(group=group),
                key=lambda point: (_distribution(point), point.name),
            )
            for point in points:
                if point.name in disabled:
                    continue
                distribution = _distribution(point)
                try:
                    add(Plugin(point.name, point.load(), distribution))
                except Exception as error:  # noqa: BLE001 - a stranger's import
                    reason = (
                        error.message
                        if isinstance(error, FritillaryError)
                        else f"{type(error).__name__}: {error}"
                    )
                    self.problems.append(Problem(point.name, distribution, reason))

    def add_game(self, plugin: Plugin) -> None:
        """Add a game.

        Raises:
            PluginError: if it breaks the contract.
        """
        game: Game[Any, Any, Any] = Game(plugin)
        self._games.append(Found(plugin, game.info))
        self._built.clear()

    def add_variant(self, plugin: Plugin) -> None:
        """Add a variant.

        Raises:
            PluginError: if it breaks the contract.
        """
        self._variants.append(Found(plugin, variant_info(plugin)))
        self._built.clear()

    def games(self) -> list[tuple[str, GameInfo]]:
        """Return the games by the id under which each is reached, sorted."""
        return sorted(self._names(self._games).items(), key=lambda pair: pair[0])

    def variants(self) -> list[tuple[str, VariantInfo]]:
        """Return the variants by the id under which each is reached, sorted."""
        return sorted(self._names(self._variants).items(), key=lambda pair: pair[0])

    def game(self, name: str) -> Game[Any, Any, Any]:
        """Return a game by id, with variants after plus signs.

        Args:
            name: such as ``lepidoptery``, ``lepidoptery+no-pass``, or
                ``distribution:id`` where two distributions use one id.

        Raises:
            UnknownGameError: if there is no such game or variant.
            AmbiguousGameError: if several distributions have it.
            PluginError: if a variant does not fit the game.
        """
        if name not in self._built:
            game_id, *variant_ids = name.split("+")
            found = self._find(self._games, game_id, "game", "fritillary games")
            variants = [
                self._find(self._variants, variant, "variant", "fritillary games").plugin
                for variant in variant_ids
            ]
            self._built[name] = Game(found.plugin, variants)
        return self._built[name]

    def _find(
        self, among: Iterable[Found], name: str, what: str, command: str
    ) -> Found:
        distribution, _, plain = name.rpartition(":")
        fitting = [
            found
            for found in among
            if found.info.id == plain
            and (not distribution or found.plugin.distribution == distribution)
        ]
        if len(fitting) > 1:
            names = " or ".join(f"{f.plugin.distribution}:{plain}" for f in fitting)
            msg = f"several plugins are the {what} {plain!r}; say {names}"
            raise AmbiguousGameError(msg)
        if not fitting:
            broken = [problem for problem in self.problems if problem.name == plain]
            why = f" (it was skipped: {broken[0].reason})" if broken else ""
            msg = f"no {what} {name[:60]!r}{why}; '{command}' lists what is installed"
            raise UnknownGameError(msg)
        return fitting[0]

    @staticmethod
    def _names(among: list[Found]) -> dict[str, Any]:
        ids = [found.info.id for found in among]
        return {
            found.info.id
            if ids.count(found.info.id) == 1
            else f"{found.plugin.distribution}:{found.info.id}": found.info
            for found in among
        }


def _distribution(point: metadata.EntryPoint) -> str:
    return point.dist.name if point.dist is not None else ""


