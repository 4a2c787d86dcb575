"""The values of Butterfly Garden: options, state, observation."""

from __future__ import annotations

import enum
import functools
from typing import Annotated, Final, TypeAlias

from attrs import define, field, frozen, validators

from fritillary import Packed
from fritillary_games.butterfly_garden.actions import COUNT_BITS, TILES, Place, Tile
from fritillary_games.butterfly_garden.board import EMPTY, ENTRIES, PLACES
from fritillary_games.butterfly_garden.geometry import OWNERS, OWNERS_EXCLUSIVE

#: Six treasures lie in the centre: five worth 2, then one worth 3 (I-b, I-k).
CENTRE_STOCK: Final = (2, 2, 2, 2, 2, 3)

#: The most points that a treasure is worth; the values are 1, 2 and 3.
VALUES: Final = (1, 2, 3)

#: Bits of a collection that count the treasures of one value.
VALUE_BITS: Final = 4

#: More rounds than this there are in no match: 54 tiles for two seats.
MAX_ROUNDS: Final = PLACES // 2

#: A multiset of kinds of tile in one integer; a rising list of their numbers in
#: bytes.
Tiles: TypeAlias = Annotated[int, Packed(bits=COUNT_BITS, size=len(TILES))]

#: A set of entries in one integer.
Entries: TypeAlias = Annotated[int, Packed(size=ENTRIES)]

#: A multiset of values in one integer; a rising list of values in bytes.
Treasures: TypeAlias = Annotated[int, Packed(bits=VALUE_BITS, lowest=1, size=3)]

#: The binary digit, as ASCII, that stands for a cell with or without a tile.
_EMPTY_DIGITS: Final = bytes(b"01"[tile == EMPTY] for tile in range(256))

#: The reasons of an outcome, by the number that the state uses for them.
REASONS: Final = (None, "no-treasures", "stack-empty", "rounds")
NO_TREASURES: Final = 1
STACK_EMPTY: Final = 2
ROUNDS_PLAYED: Final = 3


class Edition(enum.Enum):
    """The published editions, which differ in the hand and in what is collected."""

    #: A hand of two tiles; blue, pink and purple butterflies.
    BUTTERFLY_GARDEN = "butterfly-garden"
    #: A hand of one tile; amber, emerald and sapphire gems.
    INDIGO = "indigo"


class Sharing(enum.Enum):
    """Who owns the gateways where three seats play (I-f)."""

    #: Each seat owns one alone, and one with each of the others.
    SHARED = "shared"
    #: Each seat owns two alone.
    EXCLUSIVE = "exclusive"


class End(enum.Enum):
    """What ends a match."""

    #: No treasure is left on the board (I-l).
    NO_TREASURES = "no-treasures"
    #: That, or the last tile of the stack is drawn.
    STACK_EMPTY = "stack-empty"


#: How many tiles a seat holds (I-n).
HAND_SIZES: Final = {Edition.BUTTERFLY_GARDEN: 2, Edition.INDIGO: 1}


@frozen(cache_hash=True)
class Options:
    """What may differ between two matches.

    Args:
        edition: decides how many tiles a seat holds, 2 in `butterfly-garden` and 1
            in `indigo`, and what the treasures are called and look like.
        three_players: whether three seats share gateways; without meaning for two
            and four seats.
        end: what ends a match; in any case it ends when no treasure is left.
        max_rounds: the match also ends when each seat has placed so many tiles, 1
            to 27; 0 for no limit.
        open_hands: whether all see the tiles in all hands.
        hide_scores: whether observations leave out what the other seats have
            collected until the end, as if behind a screen. It is not secret: every
            capture is public, and whoever follows the routes can work it out.
        starter: the seat that places the first tile; one of those that play.
    """

    edition: Edition = Edition.BUTTERFLY_GARDEN
    three_players: Sharing = Sharing.SHARED
    end: End = End.NO_TREASURES
    max_rounds: int = field(
        default=0, validator=[validators.ge(0), validators.le(MAX_ROUNDS)]
    )
    open_hands: bool = False
    hide_scores: bool = False
    starter: int = field(default=0, validator=validators.in_((0, 1, 2, 3)))

    @property
    def hand_size(self) -> int:
        """How many tiles a seat holds (I-n)."""
        return HAND_SIZES[self.edition]


@frozen
class Layout:
    """What follows from the options and the number of seats; shared by states.

    Args:
        owners: the seats that own each gateway, 1 to 6.
        ends_with_stack: whether drawing the last tile ends the match.
        empty_at_limit: how many cells are empty when the last round is over; -1 if
            there is no limit.
    """

    owners: tuple[tuple[int, ...], ...]
    ends_with_stack: bool
    empty_at_limit: int


@functools.cache
def layout_of(options: Options, seats: int) -> Layout:
    """Return the layout, cached."""
    exclusive = seats == 3 and options.three_players is Sharing.EXCLUSIVE
    limit = PLACES - options.max_rounds * seats if options.max_rounds else -1
    return Layout(
        OWNERS_EXCLUSIVE if exclusive else OWNERS[seats],
        options.end is End.STACK_EMPTY,
        max(limit, -1),
    )


@define
class State:
    """The whole truth of a match. Lists hold one entry a seat unless they say else.

    Numbers 0 to 4 stand for the kinds of tile in the order of `Tile`, numbers 0 to
    53 for the cells of path tiles, row by row from the top left.

    Args:
        options: of the match.
        to_move: the seat to act; after the end, the seat that acted last.
        hands: the kinds of tile in each hand.
        stack: the kinds of the tiles not drawn yet, the next one last.
        board: for each cell the orientation of its tile, 0 to 14, or 15 for none.
        waiting: for the values 1, 2 and 3 the entries of the treasures that wait at
            the edge of a tile: ``6 * cell + edge`` of the empty cell beyond.
        centre: how many treasures are in the centre.
        released: the cell whose tile released the last treasure of the centre, the
            one worth 3; -1 while it is there.
        taken: the values of the treasures that each seat has collected.
        last: the last placement, if there is one.
        reason: how it ended: 0 not yet, 1 no treasure left, 2 stack empty, 3 rounds
            played.
    """

    options: Options
    to_move: int
    hands: list[Tiles]
    stack: list[int]
    board: list[int]
    waiting: list[Entries]
    centre: int
    released: int
    taken: list[Treasures]
    last: Place | None = None
    reason: int = 0
    #: The empty cells as a bitmask; follows from the board.
    empty: int = field(init=False, eq=False, repr=False)
    #: Follows from the options and the number of seats.
    layout: Layout = field(init=False, eq=False, repr=False)

    def __attrs_post_init__(self) -> None:
        self.layout = layout_of(self.options, len(self.hands))
        # A binary number, its digits read off the board: a loop takes twice as long.
        self.empty = int(bytes(self.board).translate(_EMPTY_DIGITS)[::-1], 2)


@frozen
class Waiting:
    """A treasure that waits at the edge of a tile, facing an empty cell.

    Args:
        value: what it is worth: 1, 2 or 3.
        q: axial column of the tile, a path tile or a corner.
        r: axial row of the tile.
        edge: at which of its edges: 0 NW, 1 NE, 2 E, 3 SE, 4 SW, 5 W.
    """

    value: int
    q: int
    r: int
    edge: int


@frozen
class Observation:
    """All that a seat may know. Tuples hold one entry a seat unless they say else.

    Args:
        options: of the match.
        seat: who observes; nothing for a spectator.
        to_move: the seat to act; nothing after the end.
        placed: the tiles on the board, by row from the top left, each as tile, q, r
            and turn like the fields of a placement.
        last: the last placement; nothing before the first.
        waiting: the treasures that wait at the edges of tiles, by value and cell.
        centre: the values of the treasures in the centre, in the order in which
            they will be released.
        released: q and r of the cell whose tile released the treasure worth 3;
            nothing while it is in the centre.
        owners: for the gateways 1 to 6 the seats that own them.
        hands: the tiles in each hand, in the order of `Tile`; nothing for a hand
            that is hidden from the observer.
        hand_sizes: how many tiles each seat holds.
        stack: how many tiles are left to draw.
        unplaced: for each kind of tile, in the order of `Tile`, how many are in the
            stack and all hands together.
        taken: how many treasures worth 1, 2 and 3 each seat has collected; nothing
            if that is hidden from the observer.
        scores: the points of each seat; nothing if they are hidden.
        reason: why the match ended, `no-treasures`, `stack-empty` or `rounds`;
            nothing before.
    """

    options: Options
    seat: int | None
    to_move: int | None
    placed: tuple[tuple[Tile, int, int, int], ...]
    last: Place | None
    waiting: tuple[Waiting, ...]
    centre: tuple[int, ...]
    released: tuple[int, int] | None
    owners: tuple[tuple[int, ...], ...]
    hands: tuple[tuple[Tile, ...] | None, ...]
    hand_sizes: tuple[int, ...]
    stack: int
    unplaced: tuple[int, ...]
    taken: tuple[tuple[int, int, int] | None, ...]
    scores: tuple[int | None, ...]
    reason: str | None
