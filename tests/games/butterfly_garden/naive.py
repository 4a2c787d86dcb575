"""Deliberately naive Butterfly Garden (Indigo), written from the numbered rules.

For tests only: everything is spelled out with plain lists and dicts, and gems walk
one cell at a time, so that it can be checked by eye against the rules (I-a ... I-p).

Interface:

- A cell is ``(q, r)``, axial; edges are numbered clockwise 0 NW, 1 NE, 2 E, 3 SE,
  4 SW, 5 W. ``stack`` lists the 54 tile kinds "T0".."T4" in draw order; the next
  tile is ``stack[0]``. The seats 0, 1, ... in this order, whoever starts, each take
  their whole hand from the front of the stack.
- The only action is ``("place", kind, q, r, rotation)``: lay a tile of the hand on
  an empty cell. Rotation k turns every edge number e into (e + k) mod 6; of rotations
  that give the same pairing only the smallest k is legal, so T1 has one, T4 two,
  T0 and T2 three and T3 six rotations. ``legal()`` returns the set of them (empty
  when the game is over), ``apply(action)`` carries out one.
- ``board`` maps each filled cell to ``(kind, rotation)``; centre and corner cells
  are never in it.
- ``gems`` maps ``(cell, edge)`` to the kind ("amber", "emerald", "sapphire") of the
  gem that waits on that edge of that cell: a placed tile, or a corner at the start.
- ``centre`` lists the gems in the centre, the next to leave first.
- ``scores`` (points), ``gem_counts`` (number of gems) and ``hands`` (tile kinds, the
  newest last) are lists by seat.
- ``exits`` lists ``(gateway id 1..6, kind)`` of the gems that left, ``collided`` the
  kinds of the gems removed by meetings, both in order of time.
- ``to_move``, ``turns`` (tiles placed), ``over``; at the end ``result[seat]`` is the
  place of each seat (1 is best, equal seats share a place) and ``winners`` lists the
  seats on place 1; before, they are None and ``[]``.

Where the rules are silent, the plain reading is taken:

- The game ends within the turn that fulfils the condition. When the last gem goes,
  this is before the seat would draw, so its hand stays one short; ``to_move`` then
  stays with that seat, as it does after every other end.
- "stack-empty": the game is over as soon as a draw has emptied the stack; tiles in
  hand are not played any more.
- "rounds": the game is over when each seat has had ``rounds`` turns; the last seat
  still draws.
- With "stack-empty" and "rounds", the game also ends when no gem is left (I-l), since
  nothing can change any more.
- A gem that walks from a tile into the centre or a corner's gem edge is impossible
  and raises an AssertionError.
- Gems move in the order of the edges of the new tile, 0 first. The centre gem is put
  on the centre's edge first, so that it moves and meets like any other.
"""

from __future__ import annotations

OFFSETS = [(0, -1), (1, -1), (1, 0), (0, 1), (-1, 1), (-1, 0)]
CENTRE = (0, 0)

# Corner cell -> edge on which its amber waits (I-d).
CORNER_GEMS = {
    (0, -4): 3,
    (4, -4): 4,
    (4, 0): 5,
    (0, 4): 0,
    (-4, 4): 1,
    (-4, 0): 2,
}

# Corner cell -> the two edges that its U-turn joins (I-d).
CORNER_UTURNS = {
    (0, -4): [2, 4],
    (4, -4): [3, 5],
    (4, 0): [4, 0],
    (0, 4): [5, 1],
    (-4, 4): [0, 2],
    (-4, 0): [1, 3],
}

# Gateway id -> its outer edges (I-e).
GATEWAY_EDGES = {1: [0, 1], 2: [1, 2], 3: [2, 3], 4: [3, 4], 5: [4, 5], 6: [5, 0]}

# Gateway id -> its cells (I-e).
GATEWAY_CELLS = {
    1: [(1, -4), (2, -4), (3, -4)],
    2: [(4, -3), (4, -2), (4, -1)],
    3: [(3, 1), (2, 2), (1, 3)],
    4: [(-1, 4), (-2, 4), (-3, 4)],
    5: [(-4, 3), (-4, 2), (-4, 1)],
    6: [(-3, -1), (-2, -2), (-1, -3)],
}

# Kind -> the three curves as pairs of edges (I-c).
TILES = {
    "T0": [(0, 2), (1, 4), (3, 5)],
    "T1": [(0, 3), (1, 4), (2, 5)],
    "T2": [(0, 5), (1, 4), (2, 3)],
    "T3": [(0, 5), (1, 3), (2, 4)],
    "T4": [(0, 5), (1, 2), (3, 4)],
}
COUNTS = {"T0": 14, "T1": 6, "T2": 14, "T3": 14, "T4": 6}  # I-c

# Owners of the gateways 1..6 (I-f).
OWNERS_2 = [[0], [1], [0], [1], [0], [1]]
OWNERS_3_SHARED = [[0], [0, 1], [2], [2, 0], [1], [1, 2]]
OWNERS_3_EXCLUSIVE = [[0], [1], [2], [0], [1], [2]]
OWNERS_4 = [[0, 1], [1, 2], [0, 3], [3, 1], [2, 0], [2, 3]]

VALUES = {"amber": 1, "emerald": 2, "sapphire": 3}  # I-b

Cell = tuple[int, int]


def on_board(cell: Cell) -> bool:
    """Tell whether a cell is one of the 61 of the hexagon (I-a)."""
    q, r = cell
    return abs(q) <= 4 and abs(r) <= 4 and abs(q + r) <= 4


def path_cells() -> list[Cell]:
    """List the 54 cells that take path tiles (I-a)."""
    cells = []
    for q in range(-4, 5):
        for r in range(-4, 5):
            cell = (q, r)
            if on_board(cell) and cell != CENTRE and cell not in CORNER_GEMS:
                cells.append(cell)
    return cells


def neighbour(cell: Cell, edge: int) -> Cell:
    """Return the cell across an edge, on the board or not."""
    return (cell[0] + OFFSETS[edge][0], cell[1] + OFFSETS[edge][1])


def opposite(edge: int) -> int:
    """Return the number that an edge has in the cell across it."""
    return (edge + 3) % 6


def turned(kind: str, rotation: int) -> list[tuple[int, int]]:
    """List the pairs of edges that a turned tile joins."""
    return [((a + rotation) % 6, (b + rotation) % 6) for a, b in TILES[kind]]


def same_pairing(
    pairs: list[tuple[int, int]], other_pairs: list[tuple[int, int]]
) -> bool:
    """Tell whether two lists of pairs join the same edges."""
    for a, b in pairs:
        if (a, b) not in other_pairs and (b, a) not in other_pairs:
            return False
    return True


def rotations(kind: str) -> list[int]:
    """List the rotations of a kind that look different, the smallest of each."""
    different: list[int] = []
    for rotation in range(6):
        seen = False
        for earlier in different:
            if same_pairing(turned(kind, rotation), turned(kind, earlier)):
                seen = True
        if not seen:
            different.append(rotation)
    return different


def other_end(pairs: list[tuple[int, int]], edge: int) -> int:
    """Return the edge that a curve joins to the given edge."""
    for a, b in pairs:
        if a == edge:
            return b
        if b == edge:
            return a
    raise AssertionError("every edge of a tile has a curve")


def gateway_of(cell: Cell, edge: int) -> int:
    """Return the id of the gateway that lies outside an outer edge (I-e)."""
    for number in range(1, 7):
        if cell in GATEWAY_CELLS[number] and edge in GATEWAY_EDGES[number]:
            return number
    raise AssertionError("every way off the board is a gateway")


def joins_two_exits(cell: Cell, kind: str, rotation: int) -> bool:
    """Tell whether one curve of the tile would lead from exit to exit (I-h)."""
    for a, b in turned(kind, rotation):
        if not on_board(neighbour(cell, a)) and not on_board(neighbour(cell, b)):
            return True
    return False


class NaiveButterflyGarden:
    """One game of 2 to 4 seats; all attributes may be set directly."""

    def __init__(
        self,
        stack: list[str],
        seats: int,
        *,
        edition: str = "butterfly-garden",
        three: str = "shared",
        end: str = "no-gems",
        rounds: int | None = None,
        starter: int = 0,
    ) -> None:
        """Set up the board and deal the hands.

        Args:
            stack: The 54 tile kinds in draw order.
            seats: Number of players, 2..4.
            edition: "butterfly-garden" (hands of two) or "indigo" (hands of one).
            three: "shared" or "exclusive" gateways with three players.
            end: "no-gems", "stack-empty" or "rounds".
            rounds: Turns per seat, at least 1, with "rounds" only.
            starter: Seat that begins.

        Raises:
            ValueError: An option is unknown or does not fit the others.
        """
        if seats not in (2, 3, 4):
            raise ValueError("two to four seats")
        if edition not in ("butterfly-garden", "indigo"):
            raise ValueError(f"unknown edition {edition!r}")
        if three not in ("shared", "exclusive"):
            raise ValueError(f"unknown sharing {three!r}")
        if end not in ("no-gems", "stack-empty", "rounds"):
            raise ValueError(f"unknown end {end!r}")
        if (end == "rounds") != (rounds is not None):
            raise ValueError("the number of rounds belongs to the end by rounds")
        self.seats = seats
        self.end = end
        self.rounds = rounds
        # I-f: the owners depend on the number of players.
        if seats == 2:
            self.owners = OWNERS_2
        elif seats == 4:
            self.owners = OWNERS_4
        elif three == "shared":
            self.owners = OWNERS_3_SHARED
        else:
            self.owners = OWNERS_3_EXCLUSIVE
        # I-n: the editions differ in the hand.
        hand_size = 2 if edition == "butterfly-garden" else 1
        self.stack: list[str] = list(stack)
        self.hands: list[list[str]] = []
        for _ in range(seats):
            self.hands.append(self.stack[:hand_size])
            self.stack = self.stack[hand_size:]
        self.board: dict[Cell, tuple[str, int]] = {}
        # I-b, I-d: one amber on each corner tile, on the edge facing the centre.
        self.gems: dict[tuple[Cell, int], str] = {}
        for cell, edge in CORNER_GEMS.items():
            self.gems[cell, edge] = "amber"
        # I-b, I-k: five emeralds leave first, the sapphire last.
        self.centre: list[str] = ["emerald"] * 5 + ["sapphire"]
        self.scores: list[int] = [0] * seats
        self.gem_counts: list[int] = [0] * seats
        self.exits: list[tuple[int, str]] = []
        self.collided: list[str] = []
        # I-o: the starter is given.
        self.to_move = starter
        self.turns = 0
        self.over = False
        self.result: list[int] | None = None
        self.winners: list[int] = []

    def legal(self) -> set[tuple]:
        """Return every legal action of the seat to move."""
        actions: set[tuple] = set()
        if self.over:
            return actions
        for kind in set(self.hands[self.to_move]):
            for rotation in rotations(kind):
                # I-g: any empty cell; it need not touch another tile.
                for q, r in path_cells():
                    if (q, r) in self.board:
                        continue
                    # I-h: the only ban.
                    if joins_two_exits((q, r), kind, rotation):
                        continue
                    actions.add(("place", kind, q, r, rotation))
        return actions

    def apply(self, action: tuple) -> None:
        """Carry out one legal action.

        Raises:
            ValueError: The action is not legal.
        """
        if action not in self.legal():
            raise ValueError(f"illegal action {action!r}")
        _, kind, q, r, rotation = action
        # I-g: place the tile ...
        self.hands[self.to_move].remove(kind)
        self.board[q, r] = (kind, rotation)
        self.turns = self.turns + 1
        # I-g: ... move gems ...
        self._move_gems((q, r))
        # I-l: nothing left to win.
        if len(self.gems) == 0 and len(self.centre) == 0:
            self._finish()
            return
        # I-g: ... and draw. I-p: without a stack play on with the hand.
        if self.stack:
            self.hands[self.to_move].append(self.stack.pop(0))
        if self.end == "stack-empty" and self.stack == []:
            self._finish()
            return
        if self.rounds is not None and self.turns == self.rounds * self.seats:
            self._finish()
            return
        # I-o: clockwise.
        self.to_move = (self.to_move + 1) % self.seats

    def _move_gems(self, cell: Cell) -> None:
        """Move every gem next to a new tile."""
        for edge in range(6):
            # I-k: a tile next to the centre releases exactly one gem.
            if neighbour(cell, edge) == CENTRE:
                self.gems[CENTRE, opposite(edge)] = self.centre.pop(0)
        for edge in range(6):
            place = (neighbour(cell, edge), opposite(edge))
            # I-i: gems next to the new tile run. (A meeting may have removed one.)
            if place in self.gems:
                self._run(self.gems.pop(place), place)

    def _run(self, kind: str, place: tuple[Cell, int]) -> None:
        """Move one gem from an edge of a cell as far as its route goes (I-i)."""
        cell, edge = place
        while True:
            ahead = neighbour(cell, edge)
            # I-i: an exit.
            if not on_board(ahead):
                self._leave(kind, gateway_of(cell, edge))
                return
            # I-j: a gem on the other side of the edge is met: both are removed.
            facing = (ahead, opposite(edge))
            if facing in self.gems:
                self.collided.append(kind)
                self.collided.append(self.gems.pop(facing))
                return
            assert ahead != CENTRE, "no route leads into the centre"
            # I-d: a corner sends the gem back by its U-turn.
            if ahead in CORNER_UTURNS:
                first, second = CORNER_UTURNS[ahead]
                assert opposite(edge) in (first, second), "no way to a corner's gem"
                edge = second if opposite(edge) == first else first
                cell = ahead
                continue
            # I-i: an empty cell; the gem waits before it.
            if ahead not in self.board:
                self.gems[cell, edge] = kind
                return
            ahead_kind, ahead_rotation = self.board[ahead]
            edge = other_end(turned(ahead_kind, ahead_rotation), opposite(edge))
            cell = ahead

    def _leave(self, kind: str, gateway: int) -> None:
        """Credit a gem that leaves by a gateway."""
        self.exits.append((gateway, kind))
        # I-f: every owner of the gateway gets a gem of that kind.
        for seat in self.owners[gateway - 1]:
            self.scores[seat] = self.scores[seat] + VALUES[kind]
            self.gem_counts[seat] = self.gem_counts[seat] + 1

    def _finish(self) -> None:
        """End the game and rank the seats."""
        self.over = True
        self.result = []
        for seat in range(self.seats):
            place = 1
            for other in range(self.seats):
                # I-l: more points are better.
                more_points = self.scores[other] > self.scores[seat]
                # I-m: with equal points more gems are better, else all is shared.
                same_points = self.scores[other] == self.scores[seat]
                more_gems = self.gem_counts[other] > self.gem_counts[seat]
                if more_points or (same_points and more_gems):
                    place = place + 1
            self.result.append(place)
        self.winners = [seat for seat in range(self.seats) if self.result[seat] == 1]
