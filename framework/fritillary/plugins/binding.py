"""Binding: from marked functions to plain callables, with every check at load.

A hook with one implementation and no wrapper becomes the plain function, called
with positional arguments: no pluggy in the hot path, since a call through it costs more
than a ply. Wrappers of variants become plain functions where they are simple enough
(`straight`); all others are driven here, as pluggy would.
"""

from __future__ import annotations

import difflib
import functools
import inspect
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import pluggy
from attrs import frozen

from fritillary.core.errors import PluginError
from fritillary.core.text import line
from fritillary.plugins import specs
from fritillary.plugins.markers import PROJECT, hookimpl, marks_of
from fritillary.plugins.straight import straightened

#: Every hook with the names of its arguments in order.
HOOKS: Final[dict[str, tuple[str, ...]]] = {
    name: tuple(inspect.signature(function).parameters)
    for name, function in vars(specs).items()
    if isinstance(function, types.FunctionType) and hasattr(function, f"{PROJECT}_spec")
}

MUST: Final = (
    "describe",
    "new_state",
    "decision_point",
    "legal_actions",
    "apply_action",
    "format_action",
    "draw_text",
)

#: What a game with hidden information must have besides.
MUST_IF_HIDDEN: Final = ("observe", "sample_state", "shuffle_hidden")

#: Hooks that every game has, since what they do by default will do for most.
DEFAULTS: Final = ("copy_state", "explain_illegal", "observe", "observe_action")

#: Hooks whose result is nothing, or may be: an action that a seat does not see.
_NO_RESULT: Final = frozenset({"apply_action", "observe_action", "shuffle_hidden"})


@frozen
class Plugin:
    """A module with hook implementations, and where it came from.

    Args:
        name: how messages call it.
        module: the module, or any object with marked functions.
        distribution: the installed distribution it belongs to, or empty.
    """

    name: str
    module: Any
    distribution: str = ""


def check_plugin(plugin: Plugin, *, variant: bool) -> dict[str, Callable[..., Any]]:
    """Check the marked functions of a plugin and return them by hook.

    Raises:
        PluginError: for an unknown hook, wrong arguments, a missing marker, or a
            wrapper where none may be; names the plugin, the hook and the mend.
    """
    marked: dict[str, Callable[..., Any]] = {}
    for name in sorted(dir(plugin.module)):
        value = getattr(plugin.module, name, None)
        mark = marks_of(value)
        if mark is None:
            if name in HOOKS and callable(value):
                msg = (
                    f"{plugin.name}: {name}() is named like a hook but not marked; "
                    "put @hookimpl before it, or rename it"
                )
                raise PluginError(msg, code="plugin.unmarked-hook")
            continue
        hook = mark.get("specname") or name
        if hook not in HOOKS:
            near = difflib.get_close_matches(hook, HOOKS, n=1)
            mend = f"did you mean {near[0]}()?" if near else "remove the marker"
            msg = f"{plugin.name}: there is no hook {line(hook, 60)}(); {mend}"
            raise PluginError(msg, code="plugin.unknown-hook")
        function: Any = value
        _check_function(plugin, hook, function, mark)
        _check_arguments(plugin, hook, function)
        _check_place(plugin, hook, mark, variant=variant)
        if hook in marked:
            msg = (
                f"{plugin.name}: {hook}() has two implementations, one of them "
                f"{line(name, 60)}(specname={hook!r}); keep one"
            )
            raise PluginError(msg, code="plugin.two-implementations")
        marked[hook] = function
    return marked


def _check_function(
    plugin: Plugin, hook: str, function: Any, mark: dict[str, Any]
) -> None:
    if mark.get("hookwrapper"):
        msg = (
            f"{plugin.name}: {hook}() is an old-style wrapper; use "
            "@hookimpl(wrapper=True) and return the result"
        )
        raise PluginError(msg, code="plugin.old-wrapper")
    # pluggy registers nothing else, without a word.
    if not inspect.isroutine(function):
        msg = f"{plugin.name}: {hook} must be a function; write 'def {hook}(...)'"
        raise PluginError(msg, code="plugin.no-function")
    if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        msg = f"{plugin.name}: {hook}() is async; rules are plain functions, use 'def'"
        raise PluginError(msg, code="plugin.no-function")
    yields = inspect.isgeneratorfunction(function)
    if mark.get("wrapper") and not yields:
        msg = (
            f"{plugin.name}: the wrapper {hook}() never yields; write "
            "'result = yield' where the wrapped function is to run"
        )
        raise PluginError(msg, code="plugin.no-yield")
    if yields and not mark.get("wrapper"):
        msg = (
            f"{plugin.name}: {hook}() yields; return a value, or mark a wrapper "
            "@hookimpl(wrapper=True)"
        )
        raise PluginError(msg, code="plugin.no-function")


def _check_arguments(plugin: Plugin, hook: str, function: Callable[..., Any]) -> None:
    parameters = inspect.signature(function).parameters.values()
    names = tuple(parameter.name for parameter in parameters)
    plain = all(
        parameter.kind is parameter.POSITIONAL_OR_KEYWORD
        and parameter.default is parameter.empty
        for parameter in parameters
    )
    if names != HOOKS[hook] or not plain:
        written = line(", ".join(names), 120)
        msg = (
            f"{plugin.name}: {hook}({written}) has the wrong arguments; "
            f"write {hook}({', '.join(HOOKS[hook])}), in this order, without defaults"
        )
        raise PluginError(msg, code="plugin.wrong-arguments")


def _check_place(
    plugin: Plugin, hook: str, mark: dict[str, Any], *, variant: bool
) -> None:
    wrapper = bool(mark.get("wrapper"))
    if wrapper and not variant:
        msg = (
            f"{plugin.name}: {hook}() is a wrapper, but this plugin is a game; "
            "put it into a variant of its own (group fritillary.variants)"
        )
        raise PluginError(msg, code="plugin.wrapper-in-game")
    if variant and not wrapper and hook != "describe_variant":
        msg = (
            f"{plugin.name}: {hook}() of a variant would be a second plain "
            "implementation; mark it @hookimpl(wrapper=True)"
        )
        raise PluginError(msg, code="plugin.two-implementations")
    if mark.get("tryfirst") or mark.get("trylast"):
        msg = (
            f"{plugin.name}: {hook}() asks for a place in the order; variants apply in "
            "the order of their ids, so leave out tryfirst and trylast"
        )
        raise PluginError(msg, code="plugin.order")
    if not variant and hook == "describe_variant":
        msg = (
            f"{plugin.name}: describe_variant() belongs to variants; a game has "
            "describe() instead"
        )
        raise PluginError(msg, code="plugin.not-a-variant")


class Binding:
    """The hooks of one game with its variants, bound once.

    Args:
        game: the game's plugin.
        variants: wrapper plugins in the order in which they apply, the first
            innermost.

    Raises:
        PluginError: see :func:`check_plugin`; also for a missing must-hook.
    """

    def __init__(self, game: Plugin, variants: Sequence[Plugin] = ()) -> None:
        self._manager = pluggy.PluginManager(PROJECT)
        self._manager.add_hookspecs(specs)
        self._plain = check_plugin(game, variant=False)
        for hook in MUST:
            if hook not in self._plain:
                raise missing_hook(game, hook)
        self._wrappers: dict[str, list[tuple[str, Callable[..., Any]]]] = {}
        self._register("game", self._plain)
        for position, variant in enumerate(variants):
            wrappers = check_plugin(variant, variant=True)
            for hook, wrapper in wrappers.items():
                if hook == "describe_variant":
                    continue
                if hook not in self._plain and hook not in DEFAULTS:
                    msg = (
                        f"{variant.name}: wraps {hook}(), which {game.name} does not "
                        "implement; wrap a hook that it has"
                    )
                    raise PluginError(msg, code="plugin.nothing-to-wrap")
                self._wrappers.setdefault(hook, []).append((variant.name, wrapper))
            self._register(f"variant {position}", wrappers)

    def _register(self, name: str, functions: Mapping[str, Any]) -> None:
        # pluggy passes over methods, cached and compiled functions without a word.
        plain = {
            hook: function
            if isinstance(function, types.FunctionType)
            else _as_function(function)
            for hook, function in functions.items()
        }
        self._manager.register(types.SimpleNamespace(**plain), name=name)

    def has(self, hook: str) -> bool:
        """Say whether the game implements a hook."""
        return hook in self._plain

    def plain(self, hook: str) -> Callable[..., Any]:
        """Return the game's own function for a must-hook, without the variants."""
        return self._plain[hook]

    def bind(self, hook: str, default: Callable[..., Any] | None = None) -> Any:
        """Return what to call for a hook, with positional arguments.

        Args:
            hook: its name.
            default: called when the game does not implement it; its arguments are
                named as the hook's.
        """
        bound = self._plain.get(hook, default)
        for name, wrapper in self._wrappers.get(hook, ()):
            bound = _wrapped(hook, name, wrapper, bound)
        return bound


def _wrapped(
    hook: str, name: str, wrapper: Callable[..., Any], inner: Any
) -> Callable[..., Any]:
    """Return a hook with one more wrapper around it.

    Args:
        hook: its name.
        name: of the variant.
        wrapper: a generator function; what it returns is the result. What ``inner``
            raises is raised at its ``yield``.
        inner: what it wraps.
    """
    must_return = hook not in _NO_RESULT

    def no_result() -> PluginError:
        msg = (
            f"{hook}() came back without a result; a wrapper ({name}) "
            "must end with 'return result'"
        )
        return PluginError(msg, code="plugin.no-result")

    straight = straightened(wrapper, inner, no_result if must_return else None)
    if straight is not None:
        return straight

    def call(*arguments: Any) -> Any:
        running = wrapper(*arguments)
        try:
            next(running)
        except StopIteration:
            raise _misled(name, hook, "did not yield") from None
        try:
            result = inner(*arguments)
        except BaseException as error:  # noqa: BLE001 - the wrapper's to see
            try:
                running.throw(error)
            except StopIteration as stop:
                result = stop.value
            else:
                running.close()
                raise _misled(name, hook, "yielded twice") from error
        else:
            try:
                running.send(result)
            except StopIteration as stop:
                result = stop.value
            else:
                running.close()
                raise _misled(name, hook, "yielded twice")
        if result is None and must_return:
            raise no_result()
        return result

    return call


def _misled(name: str, hook: str, what: str) -> PluginError:
    msg = (
        f"{name}: the wrapper {hook}() {what}; write 'result = yield' once, on "
        "every way through it"
    )
    return PluginError(msg, code="plugin.no-yield")


def _as_function(callee: Any) -> Callable[..., Any]:
    if inspect.isgeneratorfunction(callee):

        @functools.wraps(callee)
        def function(*arguments: Any) -> Any:
            return (yield from callee(*arguments))

    else:

        @functools.wraps(callee)
        def function(*arguments: Any) -> Any:
            return callee(*arguments)

    return function if marks_of(function) else hookimpl(function)


def missing_hook(game: Plugin, hook: str, why: str = "") -> PluginError:
    """Return the error of a game that lacks a hook it must have."""
    arguments = ", ".join(HOOKS[hook])
    because = f" ({why})" if why else ""
    msg = (
        f"{game.name}: the hook {hook}() is missing{because}; add "
        f"'@hookimpl def {hook}({arguments})'"
    )
    return PluginError(msg, code="plugin.missing-hook")
