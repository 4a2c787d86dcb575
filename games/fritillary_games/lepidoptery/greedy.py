"""The greedy bot: wins if it can, blocks, and sheds as many cards as it can."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from fritillary import Ask, BaseBot
from fritillary_games.lepidoptery.actions import SIZES, Action, Pass
from fritillary_games.lepidoptery.model import Observation

#: What a bot likes, in the order in which it matters: a win, no gift to the
#: opponent, the weight of the move.
_Liking = tuple[bool, bool, float]

#: Steps along the row and both diagonals: columns to the right, cells up for each.
_LINES: Final = ((1, 0), (1, 1), (1, -1))


class GreedyBot(BaseBot):
    """Looks one move ahead and one answer, at the board alone.

    It wins at once if it can. Else it avoids what leaves the opponent a cell that
    completes four, as far as the opponent's marker and the full column let the cell
    be reached. Among the rest it prefers long lines of its own and many cards shed,
    then low ranks and keeping the joker. It passes when nothing else is as good.
    """

    def decide(self, ask: Ask) -> Action:
        """Return the legal action it likes best; the first of equals."""
        observation: Observation = ask.observation
        board = _Board(observation)
        best: Action = max(ask.legal, key=board.liking)
        return best


class _Board:
    """What the observer sees, ready to try actions on.

    Raises:
        ValueError: if the observer is not to move.
    """

    def __init__(self, observation: Observation) -> None:
        if observation.seat is None or observation.seat != observation.to_move:
            msg = "a bot decides only when it is to move"
            raise ValueError(msg)
        options = observation.options
        self.me = observation.seat
        self.opponent = 1 - observation.seat
        self.place = {combo: column for column, combo in enumerate(options.order)}
        self.heights = options.heights
        self.columns = observation.columns
        self.shedding = (
            observation.hand_sizes[self.me]
            if not observation.deck_sizes[self.me]
            else 0
        )
        #: The column that the opponent's own marker bars, if any.
        shown = observation.markers[self.opponent]
        self.barred = None if shown is None else self.place[shown]

    def liking(self, action: Action) -> _Liking:
        """Say how good an action looks."""
        if isinstance(action, Pass):
            safe = not self.threatened(self.columns)
            return False, safe, 0.0
        column = self.place[action.combo]
        columns = [*self.columns]
        columns[column] = (*columns[column], self.me)
        cards = SIZES[action.number] - bool(action.joker)
        line = self.line_at(columns, column)
        wins = cards == self.shedding or line >= 4
        if len(columns[column]) == self.heights[column]:
            for other, height in enumerate(self.heights):
                if other != column and len(columns[other]) == height:
                    columns[other] = ()
        # The weights were tuned by hand against random play.
        weight = line + cards - 0.05 * action.rank - (0.3 if action.joker else 0.0)
        return wins, not self.threatened(columns), weight

    def threatened(self, columns: Sequence[tuple[int, ...]]) -> bool:
        """Say whether the opponent's next token could complete four."""
        for column, tokens in enumerate(columns):
            if column != self.barred and len(tokens) < self.heights[column]:
                tried = [*columns]
                tried[column] = (*tokens, self.opponent)
                if self.line_at(tried, column) >= 4:
                    return True
        return False

    @staticmethod
    def line_at(columns: Sequence[tuple[int, ...]], column: int) -> int:
        """Return the length of the longest line through the top of a column (L-n)."""
        tokens = columns[column]
        top = len(tokens) - 1
        seat = tokens[top]
        longest = 0
        for step, climb in _LINES:
            count = 1
            for way in (step, -step):
                place, row = column + way, top + way * climb
                while (
                    0 <= place < len(columns)
                    and 0 <= row < len(columns[place])
                    and columns[place][row] == seat
                ):
                    count += 1
                    place += way
                    row += way * climb
            longest = max(longest, count)
        upright = 1
        while upright <= top and tokens[top - upright] == seat:
            upright += 1
        return max(longest, upright)
