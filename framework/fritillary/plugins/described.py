"""What plugins say of themselves, checked as they are loaded."""

from __future__ import annotations

import re
import types
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

import attrs

from fritillary.codec import kinds
from fritillary.codec.values import ValueCodec
from fritillary.core.errors import PluginError
from fritillary.core.info import GameInfo, VariantInfo
from fritillary.core.text import line, sentence, show
from fritillary.plugins.binding import Binding, Plugin, check_plugin, missing_hook
from fritillary.plugins.checks import called

#: Bots are named on the command line, where a colon begins their parameters.
_BOT_NAME: Final = re.compile(r"[a-z][a-z0-9-]{0,63}\Z")


def variant_info(plugin: Plugin) -> VariantInfo:
    """Return what a variant says of itself.

    Raises:
        PluginError: if it says nothing, or breaks the contract.
    """
    marked = check_plugin(plugin, variant=True)
    if "describe_variant" not in marked:
        raise missing_hook(plugin, "describe_variant")
    return _described(
        plugin, "describe_variant", marked["describe_variant"], VariantInfo
    )


def game_info(plugin: Plugin, binding: Binding) -> GameInfo:
    """Return what a game with its variants says of itself.

    Raises:
        PluginError: if it says nothing, or a variant changes what it must not.
    """
    own = binding.plain("describe")
    plain = _described(plugin, "describe", own, GameInfo)
    wrapped = binding.bind("describe")
    if wrapped is own:
        return plain
    info = _described(plugin, "describe", wrapped, GameInfo)
    # Records name the game by its id and rules version, variants beside it.
    if (info.id, info.rules_version) != (plain.id, plain.rules_version):
        msg = (
            f"{plugin.name}: a variant changes the id or the rules version in "
            "describe(); leave both, the variant has its own"
        )
        raise PluginError(msg, code="plugin.describe")
    return info


I = TypeVar("I")  # noqa: E741 - the class of a description


def _described(
    plugin: Plugin, hook: str, function: Callable[[], Any], cls: type[I]
) -> I:
    try:
        info = function()
    except (PluginError, KeyboardInterrupt):
        raise
    except BaseException as error:
        msg = (
            f"{plugin.name}: {hook}() failed: {sentence(error)}; it must return a "
            f"{cls.__name__}"
        )
        raise PluginError(msg, code="plugin.describe") from error
    if not isinstance(info, cls):
        msg = (
            f"{plugin.name}: {hook}() must return a {cls.__name__}, "
            f"not {type(info).__name__}"
        )
        raise PluginError(msg, code="plugin.describe")
    return info


def bots_of(plugin: Plugin, function: Callable[[], Any]) -> Mapping[str, Any]:
    """Return the bots of a game.

    Raises:
        PluginError: if they are no factories by name.
    """
    bots = called(plugin.name, "bots", function)
    if (
        not isinstance(bots, Mapping)
        or not all(isinstance(name, str) for name in bots)
        or not all(map(callable, bots.values()))
    ):
        msg = (
            f"{plugin.name}: bots() must return a mapping from names to classes or "
            "functions that make a bot"
        )
        raise PluginError(msg, code="plugin.bots")
    for name in bots:
        if not _BOT_NAME.match(name):
            msg = (
                f"{plugin.name}: bots() names a bot {show(name)}; use lower-case "
                "letters, digits and hyphens, such as 'greedy-2'"
            )
            raise PluginError(msg, code="plugin.bots")
    return types.MappingProxyType(dict(bots))


def codec_of(plugin: Plugin, info: GameInfo) -> ValueCodec:
    """Return the codec of a game.

    Raises:
        PluginError: if a class of the game cannot be coded, or is not as it must be.
    """
    try:
        codec = ValueCodec(info)
    except TypeError as error:
        msg = f"{plugin.name}: {line(error)}"
        raise PluginError(msg, code="plugin.class") from error
    if not attrs.inspect(info.state).is_slotted or kinds.is_frozen(info.state):
        msg = (
            f"{plugin.name}: the state class {info.state.__name__} must be a mutable "
            "class with slots; decorate it with @attrs.define"
        )
        raise PluginError(msg, code="plugin.class")
    try:
        info.options()
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        msg = (
            f"{plugin.name}: {info.options.__name__}() failed ({sentence(error)}); "
            "give every option a default"
        )
        raise PluginError(msg, code="plugin.class") from error
    for name, preset in info.presets.items():
        if type(preset) is not info.options:
            msg = (
                f"{plugin.name}: the preset {show(name)} must be an instance of "
                f"{info.options.__name__}"
            )
            raise PluginError(msg, code="plugin.class")
    return codec
