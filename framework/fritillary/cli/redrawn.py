"""What is redrawn in place on a terminal, whatever size it takes meanwhile."""

from __future__ import annotations

from typing import Final

from rich.console import Console, ConsoleDimensions

#: Between two looks at clocks and at the size of the terminal, in seconds: a part of a
#: second that a person takes for even.
TICK_S: Final = 0.2

#: Goes to the first row and erases all that is below. Not `Console.clear`: at that some
#: terminals push what they show up to where one can scroll back.
_WIPED: Final = "\x1b[H\x1b[J"


class Size:
    """Knows whether a terminal has another size than before.

    Nobody knows where a terminal puts what it showed when its size changes, so that all
    of it is to be drawn anew.

    Args:
        out: the terminal.

    Attributes:
        known: the size that is drawn for.
    """

    def __init__(self, out: Console) -> None:
        self._out = out
        self.known = out.size

    @property
    def changed(self) -> bool:
        """Whether the terminal has another size than is drawn for."""
        return self._out.size != self.known

    def wiped(self, size: ConsoleDimensions) -> bool:
        """Erase the terminal before it is drawn for another size than before.

        Args:
            size: that is drawn for from now on.

        Returns:
            Whether it was erased.
        """
        if size == self.known:
            return False
        self.known = size
        self._out.file.write(_WIPED)
        return True
