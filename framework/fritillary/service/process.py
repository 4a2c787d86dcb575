"""Settings of a process that does nothing but serve."""

from __future__ import annotations

import gc
from typing import Final

#: Objects more than before at which the collector looks at the youngest; how often
#: until it looks at the older, and at the oldest. A match makes some thousand
#: objects, most of which go without it.
_THRESHOLDS: Final = (20_000, 20, 20)


def settle() -> None:
    """Tell the garbage collector that what was loaded so far stays.

    Games, tables, messages and the libraries are tens of thousands of objects that
    it would look at again and again. To be called once by commands that serve, when
    all is loaded; a program that has an arena among other things decides for itself.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_THRESHOLDS)
