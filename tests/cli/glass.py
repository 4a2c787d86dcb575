"""What a terminal shows, of as much as the screens of commands write."""

from __future__ import annotations

import re

#: What moves the cursor or erases, a line feed or a return, or text.
_PIECES = re.compile(r"\x1b\[([0-9;?]*)([A-Za-z])|(\n)|(\r)|([^\x1b\n\r]+)")


class Glass:
    """A terminal that keeps no history.

    Args:
        width: in columns.
        height: in rows.

    Attributes:
        rows: that are shown, without blanks at their ends.
    """

    def __init__(self, width: int, height: int) -> None:
        self.width = width
        self.height = height
        self.rows = [""] * height
        self._row = 0
        self._column = 0

    def resize(self, width: int, height: int) -> None:
        """Take another size, as terminals do: what the cursor is on stays."""
        self.rows = [row[:width] for row in self.rows]
        while self._row >= height:
            self.rows.pop(0)
            self._row -= 1
        self.rows = [*self.rows, *[""] * height][:height]
        self.width, self.height = width, height

    def feed(self, text: str) -> None:
        """Show what is written to it.

        Raises:
            AssertionError: at what it does not know.
        """
        at = 0
        for piece in _PIECES.finditer(text):
            assert piece.start() == at, text[at : piece.start()]
            at = piece.end()
            number, letter, feed, back, words = piece.groups()
            if words:
                self._write(words)
            elif feed:
                self._down()
            elif back:
                self._column = 0
            else:
                self._do(number, letter)
        assert at == len(text)

    def _write(self, words: str) -> None:
        while words:
            if self._column == self.width:
                self._down()
            room = self.width - self._column
            here, words = words[:room], words[room:]
            row = self.rows[self._row].ljust(self._column)
            end = self._column + len(here)
            self.rows[self._row] = f"{row[: self._column]}{here}{row[end:]}".rstrip()
            self._column = end

    def _down(self) -> None:
        # A terminal turns a line feed into the beginning of the next row.
        self._column = 0
        self._row += 1
        if self._row == self.height:
            self.rows = [*self.rows[1:], ""]
            self._row -= 1

    def _do(self, number: str, letter: str) -> None:
        match letter:
            case "A":
                self._row = max(0, self._row - int(number or 1))
            case "H":
                assert not number
                self._row = self._column = 0
            case "J":
                assert not number
                self._erase(self._row, self._column)
                for row in range(self._row + 1, self.height):
                    self._erase(row)
            case "K":
                assert number == "2"
                self._erase(self._row)
            case "h" | "l" | "m":
                pass
            case _:
                raise AssertionError(letter)

    def _erase(self, row: int, start: int = 0) -> None:
        self.rows[row] = self.rows[row][:start].rstrip()
