"""Finding plugins: by entry point, one at a time, each harmless to the others."""

from __future__ import annotations

import difflib
import functools
import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final, TypeVar

from attrs import field, frozen

from fritillary.core.errors import (
    AmbiguousGameError,
    FritillaryError,
    PluginError,
    UnknownGameError,
)
from fritillary.core.info import GameInfo, VariantInfo
from fritillary.core.text import line, show, told
from fritillary.plugins.binding import Plugin
from fritillary.plugins.described import variant_info
from fritillary.plugins.game import Game

if TYPE_CHECKING:
    from importlib import metadata

GAMES: Final = "fritillary.games"
VARIANTS: Final = "fritillary.variants"

#: Comma-separated names of entry points that are not loaded.
DISABLED: Final = "FRITILLARY_DISABLED_PLUGINS"

#: So many games with variants are kept ready: each more variant doubles what may be
#: asked for. Of games without there are no more than plugins.
_KEPT_VARIED: Final = 64


T = TypeVar("T")


def _line(limit: int) -> Any:
    return field(converter=lambda text: line(text, limit))


@frozen
class Problem:
    """A plugin that was skipped. Each text is one line, cut where it is too long.

    Args:
        name: of the entry point; empty if all of a distribution were skipped.
        distribution: it belongs to.
        reason: why, with the mend.
    """

    name: str = _line(100)
    distribution: str = _line(100)
    reason: str = _line(1_000)


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
        self._plain: dict[str, Game[Any, Any, Any]] = {}
        self._varied = functools.lru_cache(_KEPT_VARIED)(self._build)

    def load(self) -> None:
        """Load the plugins of all installed distributions; call it once.

        Whatever a plugin raises while it is imported or described, and whatever stands
        in its entry point, it is skipped and harms nobody; ``sys.exit`` counts as well.
        Only an interrupt by the user gets through.
        """
        names = os.environ.get(DISABLED, "").split(",")
        self._disabled = {name.strip() for name in names} - {""}
        for group, add in ((GAMES, self.add_game), (VARIANTS, self.add_variant)):
            points = sorted(
                self._points(group),
                key=lambda point: (_distribution(point), point.name),
            )
            for point in points:
                if point.name not in self._disabled:
                    self._try(point.name, _distribution(point), self._load, point, add)

    def _try(
        self, name: str, where: str, work: Callable[..., T], *arguments: object
    ) -> T | None:
        """Return what some work for a plugin gives; note a problem if it raises."""
        try:
            return work(*arguments)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - a stranger's
            problem = Problem(name, where, _reason(error))
            # One broken file is met in each group.
            if problem not in self.problems:
                self.problems.append(problem)
            return None

    def _points(self, group: str) -> list[metadata.EntryPoint]:
        """Return the entry points of a group."""
        # A fifth of what importing all the rest takes.
        from importlib import metadata

        try:
            return list(metadata.entry_points(group=group))
        except KeyboardInterrupt:
            raise
        except BaseException:  # noqa: BLE001 - a stranger's file
            # One file that cannot be read hides all others: take each by itself.
            found: list[metadata.EntryPoint] = []
            for place in metadata.distributions():
                points: Iterable[metadata.EntryPoint] | None = self._try(
                    "", _name_of(place), _points_of, place, group
                )
                found += points or ()
            return list({(_distribution(one), one.name): one for one in found}.values())

    @staticmethod
    def _load(point: metadata.EntryPoint, add: Callable[[Plugin], None]) -> None:
        from importlib import metadata

        if not metadata.EntryPoint.pattern.match(point.value):
            msg = (
                f"{point.name}: the entry point {show(point.value)} cannot be read; "
                "write 'package.module'"
            )
            raise PluginError(msg, code="plugin.entry-point")
        add(Plugin(point.name, point.load(), _distribution(point)))

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
        self._plain.clear()
        self._varied.cache_clear()

    def games(self) -> list[tuple[str, GameInfo]]:
        """Return the games by the id under which each is reached, sorted."""
        return sorted(self._names(self._games).items(), key=lambda pair: pair[0])

    def plugins(self) -> tuple[list[Plugin], list[Plugin]]:
        """Return the plugins of all games, and of all variants, as they were added."""
        games, variants = (
            [found.plugin for found in among] for among in (self._games, self._variants)
        )
        return games, variants

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
        if variant_ids:
            # The order in which variants are named does not matter.
            return self._varied("+".join([game_id, *sorted(variant_ids)]))
        if name not in self._plain:
            self._plain[name] = self._build(name)
        return self._plain[name]

    def _build(self, name: str) -> Game[Any, Any, Any]:
        game_id, *variant_ids = name.split("+")
        plugin = self._find(self._games, game_id, "game").plugin
        variants = [
            self._find(self._variants, variant, "variant").plugin
            for variant in variant_ids
        ]
        try:
            return Game(plugin, variants)
        except (FritillaryError, KeyboardInterrupt):
            raise
        except BaseException as error:
            msg = f"{line(name, 100)} cannot be built: {told(error)}"
            raise PluginError(msg) from error

    def name_of(self, game_id: str, distribution: str) -> str:
        """Return the id under which a game is reached, without variants.

        Args:
            game_id: of the game; it need not be installed.
            distribution: that it is from.

        Returns:
            The id; after its distribution and a colon where several have that id.
        """
        return _reached_by(self._games, game_id, distribution)

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
        return {
            _reached_by(among, found.info.id, found.plugin.distribution): found.info
            for found in among
        }


def _reached_by(among: list[Found], plugin_id: str, distribution: str) -> str:
    """Return the id under which a game or variant is reached."""
    several = sum(found.info.id == plugin_id for found in among) > 1
    return f"{distribution}:{plugin_id}" if several else plugin_id


def _reason(error: BaseException) -> str:
    """Return why a plugin was skipped."""
    return error.message if isinstance(error, PluginError) else told(error)


def _points_of(place: metadata.Distribution, group: str) -> list[metadata.EntryPoint]:
    try:
        return [point for point in place.entry_points if point.group == group]
    except Exception as error:
        msg = (
            f"the file entry_points.txt of {line(_name_of(place), 100)} cannot be read "
            f"({told(error, 100)}); install it anew"
        )
        raise PluginError(msg, code="plugin.entry-point") from error


def _distribution(point: metadata.EntryPoint) -> str:
    return _name_of(point.dist)


def _name_of(place: metadata.Distribution | None) -> str:
    """Return the name of a distribution; empty if it has none."""
    try:
        return str(place.name or "") if place is not None else ""
    except Exception:  # noqa: BLE001 - its files may be gone
        return ""
