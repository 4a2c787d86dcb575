"""The values of Lost Cities: options, state, observation."""

from __future__ import annotations

import enum
from typing import Final

from attrs import define, field, frozen, validators

from fritillary import CardSet
from fritillary_games.lost_cities.cards import (
    MASK,
    SHIFTS,
    WAGER_BITS,
    ByColour,
    Colour,
)
from fritillary_games.lost_cities.exploits import Exploit
from fritillary_games.lost_cities.layout import CARD, Layout, layout_of

HAND_SIZE: Final = 8

#: No option makes a game longer than this, in turns.
MAX_TURN_CAP: Final = 600

#: The bits of all number cards.
_NUMBERS: Final = sum((MASK ^ WAGER_BITS) << shift for shift in SHIFTS)

#: The bits of all colours that stay in their colour when moved by 1, 2, 4 and 8.
_LOWER: Final = tuple(
    sum(MASK >> places << shift for shift in SHIFTS) for places in (1, 2, 4, 8)
)

#: The reasons of an outcome, by the number that the state uses for them.
REASONS: Final = (None, "pile-empty", "turn-cap")

#: Stands for a seat where nobody has claimed an exploit.
NOBODY: Final = 2


class NextStarter(enum.Enum):
    """Who starts a later game of a match (C-h); if equal, not the last starter."""

    HIGHEST_TOTAL = "highest-total"
    LAST_WINNER = "last-winner"


class DiscardPiles(enum.Enum):
    """What may be looked at of the discard piles (C-i)."""

    OPEN = "open"
    TOP_ONLY = "top-only"


def _check_exploits(_: object, __: object, value: tuple[Exploit, ...]) -> None:
    if len(set(value)) < len(value):
        msg = "must name each exploit at most once"
        raise ValueError(msg)


@frozen(cache_hash=True)
class Options:
    """What may differ between two matches of Lost Cities.

    Args:
        colours: 5, or 6 for the long game (C-a, C-b).
        games: how many games a match has, 1 or 3; their scores are added (C-g).
        starter: the seat that starts the first game.
        next_starter: who starts a later game: the seat with the higher total so far
            (`highest-total`) or the winner of the last game (`last-winner`); if
            equal, the seat that did not start the last one.
        tie_break: the seat that wins a match with equal totals, the "youngest" of
            the rules (C-j); nothing for a draw.
        discard_piles: whether the whole piles may be looked at (`open`), or only the
            top cards (`top-only`); then the order of the others is hidden.
        turn_cap: a game that has gone on for so many turns, one seat's go each, ends
            and is scored as it stands, 1 to 600; nothing for 300 with five colours
            and 600 with six.
        exploits: which exploits are laid out, each worth 10 points. They are this
            project's own invention, not an official list.
    """

    colours: int = field(default=5, validator=validators.in_((5, 6)))
    games: int = field(default=3, validator=validators.in_((1, 3)))
    starter: int = field(default=0, validator=validators.in_((0, 1)))
    next_starter: NextStarter = NextStarter.HIGHEST_TOTAL
    tie_break: int | None = field(default=None, validator=validators.in_((None, 0, 1)))
    discard_piles: DiscardPiles = DiscardPiles.OPEN
    turn_cap: int | None = field(
        default=None,
        validator=validators.optional(
            [validators.ge(1), validators.le(MAX_TURN_CAP)],
        ),
    )
    exploits: tuple[Exploit, ...] = field(default=(), validator=_check_exploits)


@define
class State:
    """The whole truth of a match. Lists hold one entry a player, by seat.

    Collections of cards are packed as told in `fritillary_games.lost_cities.cards`;
    in bytes they are lists of their bits.

    Args:
        options: of the match.
        to_move: the seat to act; after the end, the one that acted last.
        step: 0 if a card is to be played or discarded, 1 if one is to be drawn, and
            ``2 + c`` if one is to be drawn, but not from the pile of colour ``c``.
        hands: the cards in each hand.
        known: the cards of each hand that were taken from a discard pile and so are
            known to everybody. Equal cards cannot be told apart: the known one of
            several wagers is taken to be the first to leave the hand.
        expeditions: the cards each seat has played.
        piles: the discard pile of each colour, four bits a card, the top lowest.
        deck: the cards of the draw pile, the next one first.
        later: the packs of the games that follow, as they will be dealt.
        starter: the seat that started this game.
        turns: how many turns of this game are over.
        results: the scores of the games that are over, by seat.
        claims: for each exploit of the options, the seat that has it, or 2.
        reason: how the last game ended: 0 not yet, 1 pile empty, 2 turn cap.
    """

    options: Options
    to_move: int
    step: int
    hands: list[CardSet]
    known: list[CardSet]
    expeditions: list[CardSet]
    piles: list[int]
    deck: tuple[int, ...]
    later: tuple[tuple[int, ...], ...]
    starter: int
    turns: int = 0
    results: tuple[tuple[int, int], ...] = ()
    claims: tuple[int, ...] = ()
    reason: int = 0
    #: Follows from the options.
    layout: Layout = field(init=False, eq=False, repr=False)
    #: For each seat, the bits of a hand that may still be played (C-d).
    playable: tuple[int, int] = field(init=False, eq=False, repr=False)
    #: A bit for each colour whose discard pile has a card.
    stocked: int = field(init=False, eq=False, repr=False)

    def __attrs_post_init__(self) -> None:
        self.layout = layout = layout_of(self.options)
        first, second = self.expeditions
        self.playable = (_playable(first, layout), _playable(second, layout))
        self.stocked = 0
        bit = 1
        for pile in self.piles:
            if pile:
                self.stocked |= bit
            bit <<= 1

    @property
    def must_draw(self) -> bool:
        """Whether the seat to act has played or discarded and has to draw."""
        return self.step != CARD


def _playable(expeditions: int, layout: Layout) -> int:
    """Return the bits of a hand that may be played on some expeditions (C-d)."""
    closed = expeditions & _NUMBERS
    # Every bit is spread to the lower ones of its colour, in all colours at once.
    closed |= closed >> 1 & _LOWER[0]
    closed |= closed >> 2 & _LOWER[1]
    closed |= closed >> 4 & _LOWER[2]
    closed |= closed >> 8 & _LOWER[3]
    return layout.everything & ~closed


@frozen
class Observation:
    """All that a seat may know.

    Cards are listed by colour, in the order yellow, blue, white, green, red, purple:
    for each colour the ranks, 2 to 10, or 0 for a wager. Unless said otherwise ranks
    are in rising order. Lists by seat hold the entry of seat 0 first.

    The seat that has to draw holds 7 cards, everyone else 8.

    Args:
        options: of the match.
        seat: who observes; nothing for a spectator.
        to_move: the seat to act; nothing after the end.
        must_draw: whether that seat has played or discarded and now has to draw.
        barred: the colour it may not take from, since it has just discarded there.
        hand: the observer's cards by colour; all empty for a spectator.
        known: by seat, the cards of its hand that everybody knows by colour: taken
            from a discard pile, and neither played nor discarded since. Of several
            equal wagers, a known one counts as the first to leave the hand.
        expeditions: by seat, the cards it has played by colour.
        discards: the discard pile of each colour, the top card last. With open piles
            the others are in their order, from the bottom up; with `top-only` they
            are in rising order, as somebody would know who has noted what was
            discarded and taken, but not in which order.
        deck_size: how many cards the draw pile has.
        game: the number of the game being played, 1 to 3; after the end, the last.
        starter: the seat that started this game.
        turns: how many turns of this game are over.
        scores: for each game so far the points by seat; the last entry is this
            game's, as the expeditions and exploits stand.
        totals: the sums of the scores by seat.
        exploits: for each exploit of the options, the seat that has claimed it in
            this game, or nothing.
        reason: why the last game ended, `pile-empty` or `turn-cap`; nothing before.
    """

    options: Options
    seat: int | None
    to_move: int | None
    must_draw: bool
    barred: Colour | None
    hand: ByColour
    known: tuple[ByColour, ...]
    expeditions: tuple[ByColour, ...]
    discards: ByColour
    deck_size: int
    game: int
    starter: int
    turns: int
    scores: tuple[tuple[int, int], ...]
    totals: tuple[int, int]
    exploits: tuple[int | None, ...]
    reason: str | None
