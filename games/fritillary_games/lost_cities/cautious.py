"""The cautious bot: opens few expeditions, wastes few cards, gives little away."""

from __future__ import annotations

from typing import Final

from attrs import frozen

from fritillary import Ask, BaseBot
from fritillary_games.lost_cities.actions import Action, Discard, Draw, Play
from fritillary_games.lost_cities.cards import (
    NUMBER_RANKS,
    NUMBERS,
    WAGER,
)
from fritillary_games.lost_cities.model import Observation

# The figures below were tuned by hand in play against uniform bots and itself.

#: An unseen card of an own colour is drawn and played about this often.
_CHANCE: Final = 0.25

#: An expedition is opened if it promises so many points, and with a wager if so many
#: without one.
_OPENING: Final = 2.0
_BETTING: Final = 2.0

#: A card from the draw pile is worth about this many points.
_BLIND: Final = 4.0


class CautiousBot(BaseBot):
    """Weighs each colour by what it holds and by what is left to be drawn.

    It opens an expedition only if the cards in hand and a share of the unseen ones
    promise to earn the 20 points back in the turns that are left, plays the lowest
    card of the expedition where the fewest ranks are skipped, and discards what
    helps neither player. It takes a discard that fits one of its expeditions. It
    looks at one observation alone and draws no random numbers.
    """

    def decide(self, ask: Ask) -> Action:
        """Return the legal action it likes best; the first of equals.

        Raises:
            ValueError: if the observer is not to move.
        """
        table = _Table(ask.observation)
        best: Action = max(ask.legal, key=table.liking)
        return best


@frozen
class _Suit:
    """One colour as the bot sees it.

    Args:
        held: the ranks in hand that can still be played, rising.
        highest: of the own expedition, 0 without a number.
        factor: by which the points of the own expedition count.
        wanted: whether the bot has opened the expedition, or would now.
        betting: whether it would open it with a wager.
        unseen: the ranks that may still be drawn.
        rival: the highest of the opponent's expedition; nothing if not opened.
        rival_factor: by which the points of that one count.
    """

    held: tuple[int, ...]
    highest: int
    factor: int
    wanted: bool
    betting: bool
    unseen: tuple[int, ...]
    rival: int | None
    rival_factor: int


class _Table:
    """What the observer sees, ready to weigh actions."""

    def __init__(self, observation: Observation) -> None:
        seat = observation.seat
        if seat is None or seat != observation.to_move:
            msg = "a bot decides only when it is to move"
            raise ValueError(msg)
        self.observation = observation
        self.seat = seat
        #: Own turns left, this one included, if nobody takes a discard.
        self.turns = (observation.deck_size + 1) // 2
        self.suits = [
            self._suit(number) for number in range(observation.options.colours)
        ]
        #: Cards that the bot would like to play before the end.
        self.waiting = sum(len(suit.held) for suit in self.suits if suit.wanted)

    def _suit(self, number: int) -> _Suit:
        observation = self.observation
        own = observation.expeditions[self.seat][number]
        rival = observation.expeditions[1 - self.seat][number]
        hand = observation.hand[number]
        highest = max(own, default=WAGER)
        held = tuple(
            rank for rank in hand if rank > highest or (not rank and not highest)
        )
        gone = {
            *own,
            *rival,
            *hand,
            *observation.discards[number],
            *observation.known[1 - self.seat][number],
        }
        unseen = tuple(rank for rank in NUMBER_RANKS if rank not in gone)
        numbers = [rank for rank in held if rank][: self.turns]
        # What may be drawn counts the less, the fewer turns are left to play it.
        late = min(1.0, max(0, self.turns - len(numbers)) / 10)
        hope = sum(rank for rank in unseen if rank > highest) * _CHANCE * late
        promise = sum(own) + sum(numbers) + hope - 20
        wagers = own.count(WAGER)
        betting = promise >= _BETTING and len(numbers) + len(unseen) > 4
        return _Suit(
            held,
            highest,
            1 + wagers,
            bool(own) or promise >= _OPENING,
            bool(own) or betting,
            unseen,
            max(rival) if rival else None,
            1 + rival.count(WAGER),
        )

    def liking(self, action: Action) -> float:
        """Say how good an action looks, in points."""
        if isinstance(action, Draw):
            return self._draw(action)
        suit = self.suits[NUMBERS[action.colour]]
        if isinstance(action, Play):
            return self._play(suit, action.rank)
        return self._discard(suit, action)

    def _play(self, suit: _Suit, rank: int) -> float:
        if not suit.wanted or (rank == WAGER and not suit.betting):
            return -1000.0
        # Ranks in hand that would be skipped are lost, unseen ones perhaps.
        passed = [each for each in suit.held if each < rank]
        if rank > WAGER and not suit.betting:
            passed = [each for each in passed if each != WAGER]
        if any(passed):
            return -500.0
        lost = 8.0 * len(passed)
        if rank != WAGER:
            lost += sum(r for r in suit.unseen if suit.highest < r < rank) * _CHANCE
        lost *= suit.factor
        # With time to spare it waits for lower ranks; else high cards go first.
        if self.waiting >= self.turns - 1:
            return rank * suit.factor - 0.2 * lost
        return 1.0 - lost

    def _discard(self, suit: _Suit, action: Discard) -> float:
        rank = action.rank
        cost = 0.0
        if rank in suit.held:
            worth = rank or 5
            if not suit.wanted:
                cost += 0.2 * worth
            elif rank != WAGER or suit.betting:
                cost += worth * suit.factor
        if suit.rival is None:
            # The opponent may still open it.
            cost += 0.15 * (rank or 4)
        elif rank > suit.rival:
            cost += 0.7 * rank * suit.rival_factor
        elif rank == WAGER == suit.rival:
            cost += 6.0
        return -cost

    def _draw(self, action: Draw) -> float:
        if action.source is None:
            return _BLIND
        number = NUMBERS[action.source]
        suit = self.suits[number]
        rank = self.observation.discards[number][-1]
        started = bool(self.observation.expeditions[self.seat][number])
        if rank == WAGER:
            good = not suit.highest and suit.betting
            return 2.0 + _BLIND if good else 0.0
        if rank <= suit.highest or not suit.wanted:
            return 0.0
        worth = rank * suit.factor if started else 0.7 * rank
        # Taking it leaves the draw pile alone, which buys time.
        if self.waiting > self.turns:
            worth += 2.0
        return worth
