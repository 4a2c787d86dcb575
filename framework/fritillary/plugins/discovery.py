"""Finding plugins: by entry point, one at a time, each harmless to the others."""

from __future__ import annotations

import difflib
import os
from importlib import metadata
from typing import Any, Final

from attrs import frozen

from fritillary.core.errors import (
    AmbiguousGameError,
    FritillaryError,
    PluginError,
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
        self._disabled: set[str] = set()
        self._built: dict[str, Game[Any, Any, Any]] = {}

    def load(self) -> None:
        """Load the plugins of all installed distributions; call it once.

        Whatever a plugin raises while it is imported or described, it is skipped and
        harms nobody; ``sys.exit`` counts as well. Only an interrupt by the user gets
        through.
        """
        names = os.environ.get(DISABLED, "").split(",")
        self._disabled = {name.strip() for name in names} - {""}
        for group, add in ((GAMES, self.add_game), (VARIANTS, self.add_variant)):
            points = sorted(
                metadata.entry_points(group=group),
                key=lambda point: (_distribution(point), point.name),
            )
            for point in points:
                if point.name in self._disabled:
                    continue
                distribution = _distribution(point)
                try:
                    add(Plugin(point.name, point.load(), distribution))
                except (Exception, SystemExit) as error:  # noqa: BLE001 - a stranger's
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
        self._add(self._games, Found(plugin, game.info))

    def add_variant(self, plugin: Plugin) -> None:
        """Add a variant.

        Raises:
            PluginError: if it breaks the contract.
        """
        self._add(self._variants, Found(plugin, variant_info(plugin)))

    def _add(self, among: list[Found], new: Found) -> None:
        where = new.plugin.distribution
        for found in among:
            if found.info.id == new.info.id and found.plugin.distribution == where:
                msg = (
                    f"{new.plugin.name}: {found.plugin.name} of the same distribution "
                    f"has the id {new.info.id!r} already; choose another"
                )
                raise PluginError(msg, code="plugin.id-twice")
        among.append(new)
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
        game_id, *variant_ids = name.split("+")
        # The order in which variants are named does not matter.
        key = "+".join([game_id, *sorted(variant_ids)])
        if key not in self._built:
            found = self._find(self._games, game_id, "game")
            variants = [
                self._find(self._variants, variant, "variant").plugin
                for variant in variant_ids
            ]
            self._built[key] = Game(found.plugin, variants)
        return self._built[key]

    def variant_plugin(self, name: str) -> Plugin:
        """Return the plugin of a variant.

        Raises:
            UnknownGameError: if there is no such variant.
            AmbiguousGameError: if several distributions have it.
        """
        return self._find(self._variants, name, "variant").plugin

    def _find(self, among: list[Found], name: str, what: str) -> Found:
        distribution, colon, plain = name.rpartition(":")
        fitting = [
            found
            for found in among
            if found.info.id == plain
            and (not colon or found.plugin.distribution == distribution)
        ]
        if len(fitting) > 1:
            names = " or ".join(f"{f.plugin.distribution}:{plain}" for f in fitting)
            msg = f"several plugins are the {what} {plain!r}; say {names}"
            raise AmbiguousGameError(msg)
        if not fitting:
            why = self._why_not(plain)
            near = difflib.get_close_matches(plain[:60], self._names(among), n=1)
            mend = f"did you mean {near[0]!r}? " if near and not why else ""
            msg = (
                f"no {what} {name[:60]!r}{why}; {mend}'fritillary games' lists what is "
                "installed"
            )
            raise UnknownGameError(msg)
        return fitting[0]

    def _why_not(self, name: str) -> str:
        if name in self._disabled:
            return f" (it is disabled by {DISABLED})"
        for problem in self.problems:
            if problem.name == name:
                return f" (it was skipped: {problem.reason})"
        return ""

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
