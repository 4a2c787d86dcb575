"""Classes with every kind of field the codec knows, and strategies for them."""

from __future__ import annotations

import enum
from typing import Annotated, Any, Final

from attrs import define, field, frozen, validators
from hypothesis import strategies as st

from fritillary.codec.values import ValueCodec
from fritillary.core.info import GameInfo, Information
from fritillary.core.packed import CardSet, Packed

Ranks = Annotated[int, Packed(bits=3, lowest=1, size=10)]

MAX: Final = 2**53 - 1


class Colour(enum.Enum):
    """A colour of the zoo."""

    RED = "red"
    BLUE = "blue"


class Size(enum.IntEnum):
    SMALL = 1
    LARGE = 2


class Shade(enum.StrEnum):
    LIGHT = "light"
    DARK = "dark"


class Mixed(str, enum.Enum):  # noqa: UP042 - the older way must work as well
    ONE = "one"
    TWO = "two"


@frozen
class Options:
    """What may differ.

    Args:
        width: of the board, 1 to 9.
        colours: in play,
            in their order.
        label: any text, at most five letters.
        size: of the pieces.
        shade: of the board.
        mixed: anything.
    """

    width: int = field(default=3, validator=validators.in_(range(1, 10)))
    colours: tuple[Colour, ...] = (Colour.RED,)
    label: str = field(default="", validator=validators.max_len(5))
    size: Size = Size.SMALL
    shade: Shade = Shade.LIGHT
    mixed: Mixed | None = None


@frozen
class Move:
    """Move a piece.

    Args:
        piece: its number.
        by: how far.
    """

    piece: int
    by: int = 1


@frozen
class Swap:
    """Swap two pieces."""

    pieces: tuple[int, int]


@frozen
class GiveUp:
    """Give up."""


@frozen(kw_only=True)
class Cage:
    """A cage.

    Args:
        animals: their numbers.
        keeper: who is in charge; nobody at night.
        last: what was done last.
    """

    animals: CardSet
    keeper: str | None = None
    last: Move | Swap | GiveUp | None = None


@define
class Heap:
    """A heap.

    Args:
        cards: from the bottom.
        _hidden: whether it is face down.
    """

    cards: list[int]
    _hidden: bool


@define
class State:
    """The whole truth.

    Args:
        options: of the match.
        to_move: the seat to act.
        over: whether it is.
        note: any text.
        colour: on top.
        size: of the top piece.
        hand: the ranks held.
        table: the cards on the table.
        hands: the ranks of each seat.
        deck: from the top.
        flags: one a seat.
        words: said so far.
        rows: of the board.
        pair: two things.
        scores: by name.
        heaps: by name.
        cages: all of them.
        spare: a cage that may not be there.
        moves: made so far.
        last: the last one.
    """

    options: Options
    to_move: int
    over: bool
    note: str
    colour: Colour
    size: Size
    hand: Ranks
    table: CardSet
    hands: list[Ranks]
    deck: tuple[int, ...]
    flags: list[bool]
    words: tuple[str, ...]
    rows: list[tuple[int, ...]]
    pair: tuple[int, Colour]
    scores: dict[str, int]
    heaps: dict[str, list[Heap]]
    cages: tuple[Cage, ...]
    spare: Cage | None
    moves: list[Move | Swap | GiveUp]
    last: Move | Swap | GiveUp | None = None
    derived: int = field(init=False, eq=False, repr=False)

    def __attrs_post_init__(self) -> None:
        self.derived = self.options.width * 2


INFO = GameInfo(
    id="zoo",
    title="Zoo",
    summary="Every kind of field.",
    rules_version=1,
    min_seats=1,
    max_seats=4,
    information=Information.PERFECT,
    chance=False,
    constant_sum=None,
    max_plies=10,
    options=Options,
    state=State,
    actions=(Move, Swap, GiveUp),
    observation=State,
    reasons={},
)

CODEC = ValueCodec(INFO)

ints = st.integers(-MAX, MAX) | st.integers(-3, 3)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
colours = st.sampled_from(Colour)
ranks = st.lists(st.integers(1, 10), unique=True).map(
    Packed(bits=3, lowest=1, size=10).pack
)
cards = st.sets(st.integers(0, 70)).map(Packed().pack)
moves = (
    st.builds(Move, ints, ints)
    | st.builds(Swap, st.tuples(ints, ints))
    | st.just(GiveUp())
)


def dicts(values: Any) -> Any:
    return st.dictionaries(texts, values, max_size=3)


cages = st.builds(Cage, animals=cards, keeper=st.none() | texts, last=st.none() | moves)
heaps = st.builds(Heap, cards=st.lists(ints, max_size=5), hidden=st.booleans())
options = st.builds(
    Options,
    width=st.integers(1, 9),
    colours=st.lists(colours, max_size=3).map(tuple),
    label=texts.map(lambda text: text[:5]),
    size=st.sampled_from(Size),
    shade=st.sampled_from(Shade),
    mixed=st.none() | st.sampled_from(Mixed),
)
states = st.builds(
    State,
    options=options,
    to_move=ints,
    over=st.booleans(),
    note=texts,
    colour=colours,
    size=st.sampled_from(Size),
    hand=ranks,
    table=cards,
    hands=st.lists(ranks, max_size=3),
    deck=st.lists(ints, max_size=9).map(tuple),
    flags=st.lists(st.booleans(), max_size=4),
    words=st.lists(texts, max_size=3).map(tuple),
    rows=st.lists(st.lists(ints, max_size=3).map(tuple), max_size=3),
    pair=st.tuples(ints, colours),
    scores=dicts(ints),
    heaps=dicts(st.lists(heaps, max_size=2)),
    cages=st.lists(cages, max_size=2).map(tuple),
    spare=st.none() | cages,
    moves=st.lists(moves, max_size=3),
    last=st.none() | moves,
)


def some_state() -> State:
    """Return a state in which every field holds something."""
    return State(
        options=Options(width=4),
        to_move=1,
        over=False,
        note="ähem",
        colour=Colour.BLUE,
        size=Size.LARGE,
        hand=Packed(bits=3, lowest=1, size=10).pack([1, 1, 10]),
        table=0b1011,
        hands=[0, 1],
        deck=(5, 4, 300, -7),
        flags=[True, False],
        words=("one", "two"),
        rows=[(1, 2), ()],
        pair=(3, Colour.RED),
        scores={"b": 2, "a": -1},
        heaps={"left": [Heap([1, 2], True)], "": []},
        cages=(Cage(animals=6, last=Swap((1, 2))), Cage(animals=0, keeper="Jo")),
        spare=Cage(animals=1),
        moves=[Move(1, 2), GiveUp()],
        last=Move(3),
    )
