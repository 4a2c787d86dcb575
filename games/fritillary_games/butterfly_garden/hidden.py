"""What a seat cannot see: drawn anew from an observation, or shuffled in the truth.

The two functions share nothing on purpose: each is the check of the other.
"""

from __future__ import annotations

from fritillary import Dealer, hookimpl
from fritillary_games.butterfly_garden.actions import TILE_NUMBERS, UNITS, Place
from fritillary_games.butterfly_garden.board import EMPTY, NUMBERS, PLACES, entry_of
from fritillary_games.butterfly_garden.model import (
    REASONS,
    VALUE_BITS,
    Observation,
    State,
)
from fritillary_games.butterfly_garden.observed import check_observation, play_again


@hookimpl
def sample_state(observation: Observation, dealer: Dealer) -> State:
    """Draw a state as the deal would have, given the fields of an observation.

    Tiles that the observer does not see lie in the hidden hands and in the stack;
    every arrangement of them is equally likely, tiles of one kind being distinct
    things. For a spectator all hands are unseen unless hands are open.

    Left out is what the course of play lets one infer about a hidden hand: that
    another tile was preferred to the one a seat kept.

    Raises:
        InvalidPositionError: if no deal gives the observation.
    """
    check_observation(observation)
    unseen = [
        kind for kind, count in enumerate(observation.unplaced) for _ in range(count)
    ]
    for shown in observation.hands:
        for tile in shown or ():
            unseen.remove(TILE_NUMBERS[tile])
    dealer.shuffle(unseen)
    hands: list[int] = []
    for shown, size in zip(observation.hands, observation.hand_sizes, strict=True):
        if shown is None:
            hands.append(sum(UNITS[unseen.pop()] for _ in range(size)))
        else:
            hands.append(sum(UNITS[TILE_NUMBERS[tile]] for tile in shown))
    board = [EMPTY] * PLACES
    places = [Place(*placed) for placed in observation.placed]
    for place in places:
        board[place.cell] = place.orientation
    waiting = [0, 0, 0]
    for each in observation.waiting:
        waiting[each.value - 1] |= 1 << entry_of((each.q, each.r), each.edge)
    reason = REASONS.index(observation.reason)
    to_move = observation.to_move
    if to_move is None:
        # After the end, the seat that acted last.
        last = observation.options.starter + len(places) - 1
        to_move = last % len(hands)
    return State(
        observation.options,
        to_move,
        hands,
        unseen,
        board,
        waiting,
        len(observation.centre),
        -1 if observation.released is None else NUMBERS[observation.released],
        _taken(observation),
        observation.last,
        reason,
    )


def _taken(observation: Observation) -> list[int]:
    """Return what each seat has collected, as stated, else by following the routes."""
    taken: list[int] = []
    for counts in observation.taken:
        if counts is None:
            break
        ones, twos, threes = counts
        taken.append(ones + (twos << VALUE_BITS) + (threes << 2 * VALUE_BITS))
    if len(taken) == len(observation.hands):
        return taken
    return play_again(observation).taken


@hookimpl
def shuffle_hidden(state: State, seat: int | None, dealer: Dealer) -> None:
    """Mix the stack with the hands of the others, and deal out the same sizes.

    With open hands only the stack is mixed.
    """
    tiles = state.stack
    sizes = [0] * len(state.hands)
    if not state.options.open_hands:
        for player, hand in enumerate(state.hands):
            if player == seat:
                continue
            for kind in range(5):
                count = hand >> 2 * kind & 3
                tiles += [kind] * count
                sizes[player] += count
            state.hands[player] = 0
    dealer.shuffle(tiles)
    for player, size in enumerate(sizes):
        for _ in range(size):
            state.hands[player] += 1 << 2 * tiles.pop()
