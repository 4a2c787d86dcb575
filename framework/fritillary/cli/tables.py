"""Tables without a frame, which read well at every width.

Nothing is left out and no word is broken, since names and moments are copied from
here. Where a row has no room, first its prose is broken between words, then columns go
beneath it. Into a file or a pipe goes one line for each row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from attrs import frozen
from rich.cells import cell_len
from rich.text import Text

from fritillary.cli.output import console, looks_on, styled

#: Blanks between columns, between what stands beneath a row, and before it.
_GAP: Final = 2
_GAP_BENEATH: Final = 3
_INDENT: Final = 2

#: Names of rows up to so many columns have a column of their own width; longer ones
#: stand above their row where there is little room.
_WHOLE_NAME: Final = 32

#: Cells up to so many columns are never broken, and no prose is squeezed into less.
_WHOLE_CELL: Final = 20

#: Longer words than this do not make a column wide; they stand beneath their row.
_WHOLE_WORD: Final = 32


def print_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    beneath: Sequence[str] = (),
) -> None:
    """Print rows under bold headings, if there are any.

    Args:
        columns: headings, the first of what names a row.
        rows: as many cells each.
        beneath: headings of the columns that go beneath their rows first; after them
            the others, from right to left.
    """
    out = console()
    width = out.width if looks_on() else None
    for line in table_lines(columns, rows, width, beneath=beneath):
        out.print(line)


def print_filled(
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    beneath: Sequence[str] = (),
) -> None:
    """Print a table as `print_table` does, without columns that hold nothing."""
    kept = [
        number for number, _ in enumerate(columns) if any(row[number] for row in rows)
    ]
    print_table(
        [columns[number] for number in kept],
        [[row[number] for number in kept] for row in rows],
        beneath=beneath,
    )


def table_lines(
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    width: int | None,
    *,
    beneath: Sequence[str] = (),
) -> Iterator[Text]:
    """Yield the lines of a table; see `print_table`.

    Args:
        columns: headings.
        rows: their cells.
        width: of the terminal; ``None`` for one line a row, however long.
        beneath: what goes beneath the rows first.
    """
    heads = [Text(column, "bold") for column in columns]
    cells = [list(map(styled, row)) for row in rows]
    order = [columns.index(one) for one in beneath if one in columns]
    order += [n for n in reversed(range(len(columns))) if n not in order]
    grid = _laid_out([heads, *cells], width, order)
    if any(columns):
        yield from grid.lines(heads, heads, heading=True)
    for row in cells:
        yield from grid.lines(heads, row)


@frozen
class _Grid:
    """How wide columns are.

    Args:
        widths: by the number of the column, in their order; others are beneath.
        indents: so many leading blanks of all cells are left out, by column.
        room: of a line; ``None`` for any.
    """

    widths: dict[int, int]
    indents: dict[int, int]
    room: int | None

    def lines(
        self, heads: Sequence[Text], row: Sequence[Text], *, heading: bool = False
    ) -> Iterator[Text]:
        """Yield the lines of a row.

        Args:
            heads: headings of all columns.
            row: its cells.
            heading: there is nothing to be put beneath.
        """
        blocks: dict[int, list[Text]] = {}
        name, *_ = row
        above = name.cell_len > self.widths[0]
        for number, width in self.widths.items():
            cell = row[number][self.indents[number] :]
            if number and _least_word(cell) <= width:
                blocks[number] = _broken(cell, width)
            elif not number and not above:
                blocks[number] = [cell]
        if above:
            yield name
        for line in range(max((len(block) for block in blocks.values()), default=0)):
            text = Text()
            at = 0
            for number, width in self.widths.items():
                block = blocks.get(number, [])
                if line < len(block):
                    text.pad_right(at - text.cell_len)
                    text += block[line]
                at += width + _GAP
            text.rstrip()
            # Where the name stands above, or is that of the row before.
            if text:
                yield text
        if not heading:
            folded = [n for n, _ in enumerate(row) if n and n not in blocks]
            yield from self._beneath([(heads[n], row[n]) for n in folded])

    def _beneath(self, items: Iterable[tuple[Text, Text]]) -> Iterator[Text]:
        """Yield lines of cells behind their headings, side by side where they fit."""
        room = max(1, (self.room or 0) - _INDENT)
        line = Text()
        for head, cell in items:
            if not cell.plain.strip():
                continue
            item = _stripped(Text.assemble(_stripped(head), " ", _stripped(cell)))
            if line and line.cell_len + _GAP_BENEATH + item.cell_len <= room:
                line.pad_right(_GAP_BENEATH)
                line += item
                continue
            if line:
                yield _indented(line)
            *full, line = _broken(item, room)
            yield from map(_indented, full)
        if line:
            yield _indented(line)


def _laid_out(
    rows: Sequence[Sequence[Text]], room: int | None, order: Iterable[int]
) -> _Grid:
    """Return how wide columns are.

    Args:
        rows: the headings, and all cells.
        room: of a line; ``None`` for any.
        order: of columns, those first that go beneath first.
    """
    columns = list(zip(*rows, strict=True))
    longest = {n: max(one.cell_len for one in cells) for n, cells in enumerate(columns)}
    indents = dict.fromkeys(longest, 0)
    if room is None:
        return _Grid(longest, indents, None)
    widths: dict[int, int] = {}
    for names, words in ((longest[0], longest), (longest[0], {}), (_name(columns), {})):
        widths = {
            n: max(_least(cell, words.get(n, _WHOLE_WORD)) for cell in cells)
            for n, cells in enumerate(columns)
        }
        widths[0] = names
        if _total(widths) <= room:
            break
    else:
        indents |= {n: min(map(_blanks, cells)) for n, cells in enumerate(columns) if n}
    for number in widths:
        longest[number] -= indents[number]
        widths[number] -= indents[number]
    for number in order:
        if not number or _total(widths) <= room:
            continue
        left = room - widths[0] - _GAP
        if len(widths) > 2 or left < _WHOLE_CELL:
            del widths[number]
        else:
            # Long words go beneath, the rest stays.
            widths[number] = left
    spare = max(0, room - _total(widths))
    lacking = {n: longest[n] - width if n else 0 for n, width in widths.items()}
    for done, number in enumerate(sorted(lacking, key=lacking.__getitem__)):
        more = min(lacking[number], spare // (len(lacking) - done))
        widths[number] += more
        spare -= more
    return _Grid(widths, indents, room)


def _total(widths: dict[int, int]) -> int:
    return sum(widths.values()) + _GAP * (len(widths) - 1)


def _name(columns: Sequence[Sequence[Text]]) -> int:
    """Return how wide names of rows are, of those that are not too long."""
    widths = [name.cell_len for name in columns[0]]
    return max((one for one in widths if one <= _WHOLE_NAME), default=_WHOLE_NAME)


def _least(cell: Text, most: int) -> int:
    """Return which width a cell has at least where it is not beneath its row.

    Args:
        cell: whichever.
        most: longer words count as this.
    """
    if cell.cell_len <= _WHOLE_CELL:
        return cell.cell_len
    return max(min(_least_word(cell), most), _WHOLE_CELL)


def _least_word(cell: Text) -> int:
    return max(map(cell_len, cell.plain.split()), default=0)


def _stripped(text: Text) -> Text:
    found = text[_blanks(text) :]
    found.rstrip()
    return found


def _blanks(cell: Text) -> int:
    """Return how many blanks a cell begins with."""
    return len(cell.plain) - len(cell.plain.lstrip(" "))


def _broken(text: Text, width: int) -> list[Text]:
    """Return text broken between words; a longer one is left to the terminal.

    What a terminal breaks is whole when it is copied.
    """
    text.overflow = "ignore"
    lines = text.wrap(console(), width)
    for line in lines:
        line.rstrip()
    return list(lines)


def _indented(line: Text) -> Text:
    return Text(" " * _INDENT) + line
