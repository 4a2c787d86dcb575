"""Callbacks that keep nobody, so that what is over goes without the collector."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import ParamSpec

P = ParamSpec("P")


def weakly(method: Callable[P, None]) -> Callable[P, None]:
    """Return what calls a bound method for as long as its object is kept elsewhere.

    For an object that gives a method of its own to one that it keeps: the two would
    keep each other, and wait for the garbage collector with all that hangs on them.
    """
    found = weakref.WeakMethod(method)

    def call(*args: P.args, **kwargs: P.kwargs) -> None:
        there = found()
        if there is not None:
            there(*args, **kwargs)

    return call
