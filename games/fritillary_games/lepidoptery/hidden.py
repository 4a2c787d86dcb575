"""What a seat cannot see: drawn anew from an observation, or shuffled in the truth.

The two functions share nothing on purpose: each is the check of the other.
"""

from __future__ import annotations

from fritillary import Dealer, hookimpl
from fritillary_games.lepidoptery.actions import NUMBERS
from fritillary_games.lepidoptery.model import (
    FULL_DECK,
    NO_TYPE,
    REASONS,
    Observation,
    State,
)
from fritillary_games.lepidoptery.tables import cards_in, pack


@hookimpl
def sample_state(observation: Observation, dealer: Dealer) -> State:
    """Draw a state as the deal would have, given the fields of an observation.

    Cards that the observer has not seen lie in the opponent's hand and in the
    decks; every arrangement of them is equally likely. For a spectator both hands
    are unseen.

    Used are the fields alone: sizes of hands and decks, the own hand, what each
    player has played. Left out is what the course of play lets one infer about a
    hidden hand: that a leader who passed had no legal play, that a follower who
    passed may have had none, which plays were preferred to others. The sampled
    state therefore is one that can arise from the fields, not always one that can
    have arisen from this very match.
    """
    options = observation.options
    hands: list[int] = []
    decks: list[tuple[int, ...]] = []
    for seat in (0, 1):
        unseen = FULL_DECK - pack(observation.played[seat])
        if seat == observation.seat:
            hand = pack(observation.hand)
            deck = cards_in(unseen - hand)
            dealer.shuffle(deck)
        else:
            deck = cards_in(unseen)
            dealer.shuffle(deck)
            size = observation.hand_sizes[seat]
            hand = sum(deck[:size])
            del deck[:size]
        hands.append(hand)
        decks.append(tuple(deck))
    stride = max(options.heights)
    tokens = [0, 0]
    filled = [0] * len(NUMBERS)
    for column, (combo, seats) in enumerate(
        zip(options.order, observation.columns, strict=True)
    ):
        filled[NUMBERS[combo]] = len(seats)
        cell = 1 << column * stride
        for seat in seats:
            tokens[seat] |= cell
            cell <<= 1
    to_move, winner = observation.to_move, observation.winner
    return State(
        options,
        # After the end, the winner.
        (winner or 0) if to_move is None else to_move,
        hands,
        decks,
        [NO_TYPE if shown is None else NUMBERS[shown] for shown in observation.markers],
        [*observation.jokers],
        tokens,
        filled,
        observation.table,
        REASONS.index(observation.reason),
    )


@hookimpl
def shuffle_hidden(state: State, seat: int | None, dealer: Dealer) -> None:
    """Shuffle every deck, and with it the hand of every player but ``seat``."""
    for player, deck in enumerate(state.decks):
        cards = list(deck)
        if player != seat:
            # Hand and deck are mixed and dealt out in the same sizes.
            held = 0
            for shift in range(0, 30, 3):
                count = state.hands[player] >> shift & 7
                cards += [1 << shift] * count
                held += count
            dealer.shuffle(cards)
            state.hands[player] = 0
            for _ in range(held):
                state.hands[player] += cards.pop()
        else:
            dealer.shuffle(cards)
        state.decks[player] = tuple(cards)
