"""What a seat cannot see: drawn anew from an observation, or shuffled in the truth.

The two functions share nothing on purpose: each is the check of the other.
"""

from __future__ import annotations

from fritillary import Dealer, hookimpl
from fritillary_games.lost_cities.cards import (
    NUMBERS,
    cards_in,
    full_pack,
    pack,
    pack_ranks,
    pile_of,
)
from fritillary_games.lost_cities.layout import CARD, DRAW, DRAW_BUT
from fritillary_games.lost_cities.model import (
    HAND_SIZE,
    NOBODY,
    REASONS,
    DiscardPiles,
    Observation,
    State,
)
from fritillary_games.lost_cities.observed import check_observation


@hookimpl
def sample_state(observation: Observation, dealer: Dealer) -> State:
    """Draw a state as the deal would have, given the fields of an observation.

    Known cards stay in the hand they are known to be in. All other cards that the
    observer has not seen lie in the opponent's hand and in the draw pile; every
    arrangement of them is equally likely, the wagers of a colour being different
    cards. For a spectator both hands are unseen. The packs of later games are
    shuffled, and with ``top-only`` piles the cards below the tops.

    Left out is what the course of play lets one infer about a hidden hand, such as
    why a card was not played.

    Raises:
        InvalidPositionError: if no deal gives the observation.
    """
    check_observation(observation)
    options = observation.options
    colours = options.colours
    known = [pack_ranks(cards) for cards in observation.known]
    expeditions = [pack_ranks(cards) for cards in observation.expeditions]
    unseen = pack(full_pack(colours)) - sum(expeditions)
    unseen -= pack_ranks(observation.discards)
    hands = [*known]
    if observation.seat is not None:
        hands[observation.seat] = pack_ranks(observation.hand)
    cards = cards_in(unseen - sum(hands))
    dealer.shuffle(cards)
    for seat in (0, 1):
        if seat != observation.seat:
            size = HAND_SIZE - len(cards_in(hands[seat]))
            if observation.must_draw and seat == observation.to_move:
                size -= 1
            hands[seat] += pack(cards[:size])
            del cards[:size]
    piles = []
    for ranks in observation.discards:
        below, top = list(ranks[:-1]), ranks[-1:]
        if options.discard_piles is DiscardPiles.TOP_ONLY:
            dealer.shuffle(below)
        piles.append(pile_of((*below, *top)))
    later = []
    for _ in range(options.games - observation.game):
        following = full_pack(colours)
        dealer.shuffle(following)
        later.append(tuple(following))
    reason = REASONS.index(observation.reason)
    if observation.barred is not None:
        step = DRAW_BUT + NUMBERS[observation.barred]
    else:
        step = DRAW if observation.must_draw else CARD
    to_move = observation.to_move
    if to_move is None:
        # The seat that acted last: turns alternate from the starter on.
        to_move = (observation.starter + observation.turns - 1) % 2
    return State(
        options,
        to_move,
        step,
        hands,
        known,
        expeditions,
        piles,
        tuple(cards),
        tuple(later),
        observation.starter,
        observation.turns,
        observation.scores if reason else observation.scores[:-1],
        tuple(NOBODY if seat is None else seat for seat in observation.exploits),
        reason,
    )


@hookimpl
def shuffle_hidden(state: State, seat: int | None, dealer: Dealer) -> None:
    """Mix the draw pile with the unknown cards of all hands but that of ``seat``.

    Shuffles the packs of later games as well, and the cards below the tops of the
    discard piles if only those are to be seen.
    """
    unknown: list[int] = []
    held = [0, 0]
    for player in (0, 1):
        if player == seat:
            continue
        for shift in range(0, 66, 11):
            hand = state.hands[player] >> shift & 2047
            known = state.known[player] >> shift & 2047
            wagers = (hand & 3) - (known & 3)
            cards = [shift] * wagers
            cards += [
                shift + rank
                for rank in range(2, 11)
                if hand >> rank & 1 and not known >> rank & 1
            ]
            unknown += cards
            held[player] += len(cards)
        state.hands[player] = state.known[player]
    unknown += state.deck
    dealer.shuffle(unknown)
    for player in (0, 1):
        for _ in range(held[player]):
            state.hands[player] += 1 << unknown.pop()
    state.deck = tuple(unknown)
    packs = []
    for following in state.later:
        cards = list(following)
        dealer.shuffle(cards)
        packs.append(tuple(cards))
    state.later = tuple(packs)
    if state.options.discard_piles is DiscardPiles.TOP_ONLY:
        for number, pile in enumerate(state.piles):
            digits = list(f"{pile >> 4:x}")
            if pile >> 4:
                dealer.shuffle(digits)
                state.piles[number] = int("".join(digits) + f"{pile & 15:x}", 16)
