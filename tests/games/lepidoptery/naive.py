"""Deliberately naive Lepidoptery, written straight from the numbered rules.

For tests only: everything is spelled out with plain lists and brute force, so that
it can be checked by eye against the rules (L-a ... L-p).
"""

from __future__ import annotations

TYPES = ["single", "pair", "triple", "run2", "run3"]  # L-d
START_HAND = 12  # L-a
LOWEST_CARD = 1  # L-a
HIGHEST_CARD = 10  # L-a


def ranks_of(kind: str, lowest: int) -> list[int]:
    """List the ranks a combination shows, the joker counted as what it stands for."""
    if kind == "single":
        return [lowest]
    if kind == "pair":
        return [lowest, lowest]
    if kind == "triple":
        return [lowest, lowest, lowest]
    if kind == "run2":
        return [lowest, lowest + 1]
    if kind == "run3":
        return [lowest, lowest + 1, lowest + 2]
    raise ValueError(f"unknown combination type {kind!r}")


def cards_needed(kind: str, lowest: int, joker_rank: int) -> list[int]:
    """List the cards that must come from the hand (all but the joker's rank)."""
    needed = ranks_of(kind, lowest)
    if joker_rank != 0:
        needed.remove(joker_rank)
    return needed


def hand_contains(hand: list[int], needed: list[int]) -> bool:
    """Tell whether the hand holds all needed cards, counting repeats."""
    rest = list(hand)
    for card in needed:
        if card not in rest:
            return False
        rest.remove(card)
    return True


class NaiveLepidoptery:
    """One game between seats 0 and 1; all attributes may be set directly."""

    def __init__(
        self,
        decks: list[list[int]],
        *,
        starter: int = 0,
        heights: tuple[int, ...] = (6,) * 5,
        order: tuple[str, ...] = ("run3", "run2", "single", "pair", "triple"),
        same_type_may_beat: bool = True,
        draw_at_twelve: bool = True,
    ) -> None:
        """Deal the first twelve cards of each seat's own deck."""
        self.heights = heights
        self.order = order
        self.same_type_may_beat = same_type_may_beat
        self.draw_at_twelve = draw_at_twelve
        self.to_move: int = starter
        self.winner: int | None = None
        self.reason: str | None = None
        # L-a: own deck each, start hand of twelve.
        self.hands: list[list[int]] = [list(deck[:START_HAND]) for deck in decks]
        self.decks: list[list[int]] = [list(deck[START_HAND:]) for deck in decks]
        # L-b: one joker each, ready from the start, never part of hand or deck.
        self.joker_ready: list[bool] = [True, True]
        # L-c: one marker each (the token supply is treated as unlimited).
        self.markers: list[str | None] = [None, None]
        # L-d: one column per combination type.
        self.columns: list[list[int]] = [[] for _ in order]
        self.table: tuple | None = None
        # L-p: cards played never come back; remembered per seat.
        self.played: list[list[int]] = [[], []]

    def legal(self) -> set[tuple]:
        """Return every legal action of the player to move."""
        if self.winner is not None:
            return set()
        # L-e: a turn is exactly one play or one pass.
        actions: set[tuple] = set()
        for kind in TYPES:
            for lowest in range(LOWEST_CARD, HIGHEST_CARD + 1):
                for joker_rank in range(HIGHEST_CARD + 1):
                    if self._can_play(kind, lowest, joker_rank):
                        actions.add(("play", kind, lowest, joker_rank))
        # L-i: a follower may always pass, the leader only without a legal play.
        if self.table is not None or not actions:
            actions.add(("pass",))
        return actions

    def apply(self, action: tuple) -> None:
        """Carry out one legal action."""
        if action not in self.legal():
            raise ValueError(f"illegal action {action!r}")
        if action == ("pass",):
            self._pass()
        else:
            self._play(action)

    def _can_play(self, kind: str, lowest: int, joker_rank: int) -> bool:
        """Check one combination against the rules, one after the other."""
        me = self.to_move
        ranks = ranks_of(kind, lowest)
        # Runs stay within 1..10, no wrap.
        if max(ranks) > HIGHEST_CARD:
            return False
        if joker_rank != 0:
            # L-l: only a joker that lies face up can be used, never as a single.
            if not self.joker_ready[me]:
                return False
            if kind == "single":
                return False
            # L-l: it may stand for any rank that the combination shows.
            if joker_rank not in ranks:
                return False
        if not hand_contains(self.hands[me], cards_needed(kind, lowest, joker_rank)):
            return False
        # L-f (1): not the type that the own marker shows.
        if self.markers[me] == kind:
            return False
        # L-f (2): a free cell in the column of this type.
        column = self.order.index(kind)
        if len(self.columns[column]) >= self.heights[column]:
            return False
        # L-f (3): beat the combination on the table, if there is one.
        return self.table is None or self._beats(kind, lowest)

    def _beats(self, kind: str, lowest: int) -> bool:
        """Tell whether a combination beats the one on the table."""
        assert self.table is not None
        table_kind = self.table[1]
        table_lowest = self.table[2]
        # Option: a combination of the same type may be barred from beating.
        if kind == table_kind and not self.same_type_may_beat:
            return False
        # L-g: lowest rank strictly higher ...
        if lowest > table_lowest:
            return True
        # L-g: ... or the same lowest rank with strictly more cards.
        my_size = len(ranks_of(kind, lowest))
        table_size = len(ranks_of(table_kind, table_lowest))
        return lowest == table_lowest and my_size > table_size

    def _play(self, action: tuple) -> None:
        """Play a combination and place a token."""
        me = self.to_move
        _, kind, lowest, joker_rank = action
        for card in cards_needed(kind, lowest, joker_rank):
            self.hands[me].remove(card)
            self.played[me].append(card)
        # L-l: a used joker is turned face down.
        if joker_rank != 0:
            self.joker_ready[me] = False
        self.table = action
        # L-m: first drop the token ...
        column = self.order.index(kind)
        self.columns[column].append(me)
        # L-m: ... then move the marker ...
        self.markers[me] = kind
        # L-m: ... then check for a win (L-n) ...
        if self._has_four(me):
            self.winner = me
            self.reason = "four"
            return
        if self.hands[me] == [] and self.decks[me] == []:
            self.winner = me
            self.reason = "shed"
            return
        # L-m: ... and last clear columns.
        # L-o: a newly filled column empties every other full column.
        if len(self.columns[column]) == self.heights[column]:
            for other in range(len(self.columns)):
                if other == column:
                    continue
                if len(self.columns[other]) == self.heights[other]:
                    self.columns[other] = []
        # L-e: turns strictly alternate.
        self.to_move = 1 - me

    def _pass(self) -> None:
        """Pass and refresh."""
        me = self.to_move
        # L-j: the table is cleared first (L-p: for good).
        self.table = None
        # L-j, L-h: the passer's own marker is reset, the opponent's is not.
        self.markers[me] = None
        # L-j, L-l: only the passer's joker is turned face up.
        self.joker_ready[me] = True
        # L-j: both players draw.
        self._draw(0)
        self._draw(1)
        # L-j: the other player leads next.
        self.to_move = 1 - me

    def _draw(self, seat: int) -> None:
        """Refill one hand after a pass."""
        size = len(self.hands[seat])
        # L-k: below twelve up to twelve, otherwise exactly one card.
        if size < 12:
            count = 12 - size
        elif size == 12 and not self.draw_at_twelve:
            count = 0
        else:
            count = 1
        for _ in range(count):
            # A short deck gives what is there.
            if self.decks[seat]:
                self.hands[seat].append(self.decks[seat].pop(0))

    def _owner(self, column: int, row: int) -> int | None:
        """Return the seat owning a cell, or None for empty or off the board."""
        if column < 0 or column >= len(self.columns):
            return None
        if row < 0 or row >= len(self.columns[column]):
            return None
        return self.columns[column][row]

    def _has_four(self, seat: int) -> bool:
        """Tell whether the seat owns four adjacent tokens in a line (L-n)."""
        for column in range(len(self.columns)):
            for row in range(len(self.columns[column])):
                # Up a column, along a row, and both diagonals.
                for right, up in [(0, 1), (1, 0), (1, 1), (1, -1)]:
                    owners = []
                    for step in range(4):
                        cell = self._owner(column + step * right, row + step * up)
                        owners.append(cell)
                    if owners == [seat, seat, seat, seat]:
                        return True
        return False
