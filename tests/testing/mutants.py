"""Games that are broken on purpose."""

import inspect
import types

import attrs

from fritillary import Game, Plugin, hookimpl
from fritillary.plugins.binding import HOOKS

#: What shows on games that are gone through as a whole, whenever what is seen, what
#: is drawn and what is shuffled do not fit together.
EXACT = ("sampler.worlds", "witness.worlds", "sampler.distribution")


def hooks_of(module):
    """Return the hooks of a game's module by name."""
    return {name: getattr(module, name) for name in HOOKS if hasattr(module, name)}


def constant(hook, value):
    """Return an implementation of a hook that always returns a value."""

    def function(*_):
        return value

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [inspect.Parameter(name, kind) for name in HOOKS[hook]]
    setattr(function, "__signature__", inspect.Signature(parameters))  # noqa: B010
    return function


def mutant(module, **changes):
    """Return the game of a module with some hooks replaced.

    Args:
        module: the game's.
        changes: functions by hook, or values that the hook always returns.
    """
    broken = types.SimpleNamespace(**hooks_of(module))
    for name, change in changes.items():
        function = change if callable(change) else constant(name, change)
        setattr(broken, name, hookimpl(function))
    return Game(Plugin("mutant", broken))


def without(module, *hooks):
    """Return the hooks of a game's module but for some."""
    kept = hooks_of(module)
    for hook in hooks:
        del kept[hook]
    return types.SimpleNamespace(**kept)


def info(module, **changes):
    """Return an implementation of describe() with some fields changed."""

    def describe():
        return attrs.evolve(module.describe(), **changes)

    return describe


def breaks(law, *others):
    """Mark a function that makes a mutant with the law meant for it.

    Args:
        law: the law.
        others: that the mutant breaks as well.
    """

    def mark(function):
        function.breaks = (law, {law, *others})
        return function

    return mark


def sound(module):
    """Return the game of a module as it is."""
    return Game(Plugin("sound", module))
