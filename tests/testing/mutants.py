"""Games that are broken on purpose."""

import inspect
import types

from fritillary import Game, Plugin, hookimpl
from fritillary.plugins.binding import HOOKS


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


def sound(module):
    """Return the game of a module as it is."""
    return Game(Plugin("sound", module))
