"""Settings of a process that does nothing but serve."""

from __future__ import annotations

import gc
import sys
from typing import Final

#: Objects more than before at which the collector looks at the youngest; how often
#: until it looks at the older, and at the oldest. A match makes some thousand
#: objects, most of which go without it.
_THRESHOLDS: Final = (20_000, 20, 20)


#: More open files than that are of no use to one process.
_MOST_FILES: Final = 65_536


def settle() -> None:
    """Tell the garbage collector that what was loaded so far stays.

    Games, tables, messages and the libraries are tens of thousands of objects that
    it would look at again and again. To be called once by commands that serve, when
    all is loaded; a program that has an arena among other things decides for itself.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_THRESHOLDS)


if sys.platform == "win32":

    def open_files(*, raised: bool = False) -> int:
        """Return how many files the process may have open."""
        return _MOST_FILES

else:
    import resource

    def open_files(*, raised: bool = False) -> int:
        """Return how many files the process may have open; each connection is one.

        Args:
            raised: first raise that to what the system allows at most.
        """
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if soft == resource.RLIM_INFINITY:
            return _MOST_FILES
        most = _MOST_FILES if hard == resource.RLIM_INFINITY else hard
        wanted = min(most, _MOST_FILES)
        if raised and soft < wanted:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
            soft = wanted
        return min(soft, _MOST_FILES)
