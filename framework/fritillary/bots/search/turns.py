"""Searches of one process take turns, since one of them runs at a time anyway.

Were each thread to search as it likes, whatever else the process does - reading what
has arrived, sending what was decided - would wait for all of them each time.
"""

from __future__ import annotations

import threading
from collections import deque
from typing import Final

#: How long a turn is waited for, in seconds: who has it may hang.
_PATIENCE: Final = 1.0

#: How long a turn is where others wait, in seconds; one iteration at least.
TURN: Final = 0.005


class Turns:
    """A lock that is handed on in the order in which it was asked for.

    Attributes:
        wanted: who waits; empty if nobody does.
    """

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._holder: int | None = None
        #: Of each that waits its thread, and a lock that is released to wake it.
        self.wanted: deque[tuple[int, threading.Lock]] = deque()

    def take(self, seconds: float | None = None) -> bool:
        """Wait for a turn; return whether it is now this thread's to give back.

        It is not if time ran out, or within a turn of the same thread. Whoever has
        time then may go on without: a turn is a courtesy.

        Args:
            seconds: to wait at most, but never longer than a second.
        """
        me = threading.get_ident()
        with self._mutex:
            if self._holder is None:
                self._holder = me
                return True
            if self._holder == me:
                return False
            gate = threading.Lock()
            gate.acquire()
            waiting = (me, gate)
            self.wanted.append(waiting)
        taken = False
        try:
            longest = _PATIENCE if seconds is None else min(seconds, _PATIENCE)
            taken = gate.acquire(timeout=max(longest, 0.0))
        finally:
            if not taken:
                with self._mutex:
                    taken = waiting not in self.wanted
                    if not taken:
                        self.wanted.remove(waiting)
        return taken

    def give(self) -> None:
        """Hand the turn on to whoever has waited longest."""
        with self._mutex:
            if self.wanted:
                self._holder, gate = self.wanted.popleft()
                gate.release()
            else:
                self._holder = None


#: Of this process.
TURNS: Final = Turns()
