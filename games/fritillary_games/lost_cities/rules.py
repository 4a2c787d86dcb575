"""The rules of Lost Cities: dealing, whose turn, what is legal, what it does."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Final

from fritillary import ACTS, Dealer, DecisionPoint, Outcome, Over, hookimpl
from fritillary_games.lost_cities.actions import (
    Action,
    Discard,
    Draw,
    notation,
    table_of,
)
from fritillary_games.lost_cities.cards import (
    BITS,
    COLOURS,
    MASK,
    UNITS,
    full_pack,
    pack,
    pile_ranks,
    ranks_in,
    score_of,
)
from fritillary_games.lost_cities.exploits import POINTS
from fritillary_games.lost_cities.layout import CARD, DRAW, DRAW_BUT
from fritillary_games.lost_cities.model import (
    HAND_SIZE,
    NOBODY,
    REASONS,
    DiscardPiles,
    NextStarter,
    Observation,
    Options,
    State,
)

PILE_EMPTY = 1
TURN_CAP = 2

#: The bits of two colours.
_TWO: Final = (1 << 2 * BITS) - 1


@hookimpl
def new_state(options: Options, seats: int, dealer: Dealer) -> State:
    """Shuffle a pack for each game of the match and deal the first one.

    The pack of game ``n``, from 1, comes from the stream ``("deck", n)``: its first
    eight cards are the hand of seat 0, the next eight that of seat 1, and the rest
    is the draw pile, next card first.
    """
    packs = []
    for game in range(1, options.games + 1):
        cards = full_pack(options.colours)
        dealer.stream("deck", game).shuffle(cards)
        packs.append(tuple(cards))
    first = packs[0]
    return State(
        options,
        options.starter,
        CARD,
        hands_of(first),
        [0, 0],
        [0, 0],
        [0] * options.colours,
        first[2 * HAND_SIZE :],
        tuple(packs[1:]),
        options.starter,
        claims=(NOBODY,) * len(options.exploits),
    )


def hands_of(cards: Sequence[int]) -> list[int]:
    """Return the hands that are dealt from a pack."""
    return [pack(cards[:HAND_SIZE]), pack(cards[HAND_SIZE : 2 * HAND_SIZE])]


@hookimpl
def decision_point(state: State) -> DecisionPoint:
    """Say whose turn it is; a turn is two actions of one seat (C-c)."""
    if state.reason:
        return _over(state.reason, state.results, state.options.tie_break)
    return ACTS[state.to_move]


@functools.lru_cache(maxsize=256)
def _over(
    reason: int, results: tuple[tuple[int, int], ...], tie_break: int | None
) -> Over:
    """Return the end of a match: totals, and who wins a tie (C-g, C-j)."""
    name = REASONS[reason] or ""
    scores = totals_of(results)
    if scores[0] == scores[1] and tie_break is not None:
        return Over(Outcome(name, scores, (1, 2) if tie_break == 0 else (2, 1)))
    return Over(Outcome.ranked(name, scores))


def totals_of(results: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """Return the sums of the scores of some games (C-g)."""
    return sum(first for first, _ in results), sum(second for _, second in results)


@hookimpl
def all_actions(options: Options, seats: int) -> Sequence[Action]:
    """List plays and discards by colour and rank, then draws: 106, or 127 with six."""
    return table_of(options.colours)


@hookimpl
def legal_actions(state: State) -> Sequence[Action]:
    """List the plays and discards (C-c, C-d), or the draws, of the seat to act."""
    layout = state.layout
    step = state.step
    if step:
        return layout.draws[step][state.stocked]
    seat = state.to_move
    hand = state.hands[seat]
    able = hand & state.playable[seat]
    # Written out, two colours to a number: a loop takes twice as long.
    if layout.colours == 5:
        drop0, drop1, drop2, drop3, drop4 = layout.discards
        first = hand & _TWO
        second = hand >> 22 & _TWO
        legal = (
            drop0[first & 2047]
            + drop1[first >> 11]
            + drop2[second & 2047]
            + drop3[second >> 11]
            + drop4[hand >> 44]
        )
        # Late in a game little can be played.
        if not able:
            return legal
        play0, play1, play2, play3, play4 = layout.plays
        rest = able >> 22
        if rest:
            second = rest & _TWO
            legal = (
                play2[second & 2047] + play3[second >> 11] + play4[rest >> 22] + legal
            )
        first = able & _TWO
        return play0[first & 2047] + play1[first >> 11] + legal if first else legal
    legal = ()
    for suits, cards in ((layout.plays, able), (layout.discards, hand)):
        for suit in suits:
            legal += suit[cards & MASK]
            cards >>= BITS  # noqa: PLW2901 - the colours of one collection
    return legal


@hookimpl
def apply_action(state: State, action: Action) -> None:
    """Play or discard a card, or draw one, which ends the turn."""
    seat = state.to_move
    if type(action) is Draw:
        number = action.number
        if number < 0:
            deck = state.deck
            state.hands[seat] += UNITS[deck[0]]
            state.deck = deck[1:]
        else:
            piles = state.piles
            pile = piles[number]
            unit = action.units[pile & 15]
            state.hands[seat] += unit
            state.known[seat] += unit
            piles[number] = pile = pile >> 4
            if not pile:
                state.stocked ^= 1 << number
        # Only a play can meet a condition.
        if state.step == DRAW and NOBODY in state.claims:
            _claim(state, seat)
        state.turns = turns = state.turns + 1
        state.step = CARD
        if not state.deck:
            _end_game(state, PILE_EMPTY)
        elif turns >= state.layout.cap:
            _end_game(state, TURN_CAP)
        else:
            state.to_move = 1 - seat
        return
    # The two below begin alike, written twice: where both kinds of action pass, Python
    # looks up attributes at half the speed.
    if type(action) is Discard:
        unit = action.unit
        state.hands[seat] -= unit
        known = state.known[seat]
        if known & action.bits:
            state.known[seat] = known - unit
        number = action.number
        piles = state.piles
        piles[number] = piles[number] * 16 + action.digit
        state.stocked |= action.place
        state.step = DRAW_BUT + number
        return
    unit = action.unit
    state.hands[seat] -= unit
    known = state.known[seat]
    if known & action.bits:
        state.known[seat] = known - unit
    state.expeditions[seat] += unit
    closes = action.closes
    if closes:
        first, second = state.playable
        state.playable = (
            (first, second & ~closes) if seat else (first & ~closes, second)
        )
    state.step = DRAW


def _claim(state: State, seat: int) -> None:
    """Give the seat the exploits that it meets and that nobody has (C-j)."""
    expeditions = state.expeditions[seat]
    state.claims = tuple(
        seat if owner == NOBODY and meets(expeditions) else owner
        for owner, meets in zip(state.claims, state.layout.conditions, strict=True)
    )


def score_now(state: State) -> tuple[int, int]:
    """Return the points of this game by seat, as it stands (C-f, C-j)."""
    first, second = state.expeditions
    claims = state.claims
    return (
        score_of(first) + POINTS * claims.count(0),
        score_of(second) + POINTS * claims.count(1),
    )


def _end_game(state: State, reason: int) -> None:
    """Score a game, and deal the next one if there is one (C-e, C-g, C-h)."""
    scores = score_now(state)
    state.results = (*state.results, scores)
    if not state.later:
        state.reason = reason
        return
    cards, *later = state.later
    options = state.options
    starter = _next_starter(options.next_starter, state)
    state.to_move = state.starter = starter
    state.hands = hands_of(cards)
    state.known = [0, 0]
    state.expeditions = [0, 0]
    state.piles = [0] * options.colours
    state.deck = cards[2 * HAND_SIZE :]
    state.later = tuple(later)
    state.turns = 0
    state.claims = (NOBODY,) * len(options.exploits)
    state.playable = (state.layout.everything, state.layout.everything)
    state.stocked = 0


def _next_starter(rule: NextStarter, state: State) -> int:
    """Return who starts the next game (C-h); if equal, not the last starter."""
    first, second = (
        totals_of(state.results)
        if rule is NextStarter.HIGHEST_TOTAL
        else state.results[-1]
    )
    if first == second:
        return 1 - state.starter
    return 0 if first > second else 1


@hookimpl
def format_action(action: Action) -> str:
    """Return the notation, such as ``play red 7`` or ``take red``."""
    return notation(action)


@hookimpl
def observe(state: State, seat: int | None) -> Observation:
    """Hide the hands of others but for what is known of them, and all packs (C-i)."""
    options = state.options
    colours = options.colours
    known0, known1 = state.known
    first, second = state.expeditions
    over = state.reason != 0
    scores = state.results if over else (*state.results, score_now(state))
    step = state.step
    piles = map(pile_ranks, state.piles)
    if options.discard_piles is DiscardPiles.TOP_ONLY:
        piles = map(_top_last, piles)
    return Observation(
        options,
        seat,
        None if over else state.to_move,
        step != CARD,
        COLOURS[step - DRAW_BUT] if step >= DRAW_BUT else None,
        ((),) * colours if seat is None else ranks_in(state.hands[seat], colours),
        (ranks_in(known0, colours), ranks_in(known1, colours)),
        (ranks_in(first, colours), ranks_in(second, colours)),
        tuple(piles),
        len(state.deck),
        options.games - len(state.later),
        state.starter,
        state.turns,
        scores,
        totals_of(scores),
        tuple([None if owner == NOBODY else owner for owner in state.claims]),
        REASONS[state.reason],
    )


def _top_last(ranks: tuple[int, ...]) -> tuple[int, ...]:
    """Return a pile with all but its top card in rising order."""
    return (*sorted(ranks[:-1]), *ranks[-1:])
