"""Kuhn poker: three cards, two players, one bet. Hidden information, no chance in play.

Rules. The deck is jack, queen and king. Both players pay an ante and get a card that
only they see. Seat 0 checks or bets; after a check, seat 1 checks or bets. Who faces a
bet calls it or folds. After two checks or a call the higher card wins the pot, after
a fold the other player does. Scores are chips won or lost.
"""

import enum
from collections.abc import Sequence
from typing import Final

from attrs import define, field, frozen, validators

from fritillary import (
    ACTS,
    Act,
    Dealer,
    GameInfo,
    Information,
    Outcome,
    Over,
    hookimpl,
)

CARDS: Final = (0, 1, 2)
NAMES: Final = "JQK"

# ----------------------------------------------------------------------- the values
# attrs classes of plain fields. Their documentation goes into the JSON Schemas that
# bot authors read.


@frozen
class Options:
    """What may differ between two matches.

    Args:
        ante: chips that each player pays before the deal, 1 to 100.
        bet: chips of a bet, 1 to 100.
    """

    ante: int = field(default=1, validator=[validators.ge(1), validators.le(100)])
    bet: int = field(default=1, validator=[validators.ge(1), validators.le(100)])


class Move(enum.Enum):
    """What a player can do."""

    CHECK = "check"
    BET = "bet"
    CALL = "call"
    FOLD = "fold"


@frozen(cache_hash=True)
class Action:
    """An action.

    Args:
        move: what the player does.
    """

    move: Move


@define
class State:
    """The whole truth of a match.

    Args:
        options: of the match.
        cards: the card of each seat: 0 jack, 1 queen, 2 king.
        moves: made so far, seat 0 first, at most three.
    """

    options: Options
    cards: tuple[int, int]
    moves: list[Move]


@frozen
class Observation:
    """All that a seat may know.

    Args:
        options: of the match.
        seat: who observes; nothing for a spectator.
        card: the observer's card: 0 jack, 1 queen, 2 king; nothing for a spectator.
        moves: made so far, seat 0 first.
        shown: the card of each seat once they are shown; empty before, and for ever
            if somebody folds.
    """

    options: Options
    seat: int | None
    card: int | None
    moves: tuple[Move, ...]
    shown: tuple[int, ...]


# Made once: rules hand out table entries and never build actions while playing.
CHECK, BET, CALL, FOLD = TABLE = tuple(Action(move) for move in Move)
OPENING: Final = (CHECK, BET)
FACING_A_BET: Final = (CALL, FOLD)


# ------------------------------------------------------------------ plain functions
# Hooks never call hooks; what several of them need is a function without the marker.


def is_showdown(moves: Sequence[Move]) -> bool:
    """Say whether the cards are shown: after a call or two checks."""
    return moves[-1:] == [Move.CALL] or moves == [Move.CHECK, Move.CHECK]


def outcome(state: State) -> Outcome:
    """Return the outcome of a match that has ended."""
    last = (len(state.moves) - 1) % 2
    if state.moves[-1] is Move.FOLD:
        reason, winner, chips = "fold", 1 - last, state.options.ante
    else:
        reason, winner = "showdown", 0 if state.cards[0] > state.cards[1] else 1
        called = state.moves[-1] is Move.CALL
        chips = state.options.ante + (state.options.bet if called else 0)
    return Outcome.ranked(reason, (chips, -chips) if winner == 0 else (-chips, chips))


# ---------------------------------------------------------------------- family: game


@hookimpl
def describe() -> GameInfo:
    """Describe the game; called once, when it is loaded."""
    return GameInfo(
        id="kuhn-poker",
        title="Kuhn poker",
        summary="Poker with three cards and one bet.",
        rules_version=1,
        min_seats=2,
        max_seats=2,
        information=Information.HIDDEN,
        chance=False,  # a random deal alone does not count
        constant_sum=0,
        max_plies=3,
        options=Options,
        state=State,
        actions=(Action,),
        observation=Observation,
        reasons={
            "showdown": "The higher card won the pot.",
            "fold": "A player folded and left the pot to the other.",
        },
        credits="Harold W. Kuhn, 1950",
    )


@hookimpl
def new_state(options: Options, seats: int, dealer: Dealer) -> State:
    """Deal; the dealer is the only source of chance."""
    deck = list(CARDS)
    dealer.stream("deck").shuffle(deck)
    return State(options, (deck[0], deck[1]), [])


@hookimpl
def decision_point(state: State) -> Act | Over:
    """Say whose turn it is. `ACTS[seat]` is made once, so that asking is cheap."""
    moves = state.moves
    if moves and (moves[-1] is Move.FOLD or is_showdown(moves)):
        return Over(outcome(state))
    return ACTS[len(moves) % 2]


# -------------------------------------------------------------------- family: action


@hookimpl
def all_actions(options: Options, seats: int) -> Sequence[Action]:
    """List every action there is, in a fixed order: the action table."""
    return TABLE


@hookimpl
def legal_actions(state: State) -> Sequence[Action]:
    """List what the seat to act may do, in table order."""
    return FACING_A_BET if state.moves[-1:] == [Move.BET] else OPENING


@hookimpl
def apply_action(state: State, action: Action) -> None:
    """Change the state in place; the caller has checked that this is legal."""
    state.moves.append(action.move)


@hookimpl
def explain_illegal(observation: Observation, action: Action) -> str:
    """Say why an action is illegal, from what the seat knows."""
    if observation.moves[-1:] == (Move.BET,):
        return "there is a bet: call it or fold"
    return "there is no bet yet: check or bet"


@hookimpl
def format_action(action: Action) -> str:
    """Return the notation of an action; the table reads it back."""
    return action.move.value


# --------------------------------------------------------------- family: observation


@hookimpl
def observe(state: State, seat: int | None) -> Observation:
    """Return what a seat may know, field by field; `None` is a spectator."""
    return Observation(
        options=state.options,
        seat=seat,
        card=None if seat is None else state.cards[seat],
        moves=tuple(state.moves),
        shown=state.cards if is_showdown(state.moves) else (),
    )


@hookimpl
def sample_state(observation: Observation, dealer: Dealer) -> State:
    """Draw a state as the deal would have, given what the observation holds."""
    cards = list(observation.shown)
    if not cards:
        cards = [card for card in CARDS if card != observation.card]
        dealer.shuffle(cards)
        if observation.seat is not None and observation.card is not None:
            cards[observation.seat] = observation.card
    return State(observation.options, (cards[0], cards[1]), list(observation.moves))


@hookimpl
def shuffle_hidden(state: State, seat: int | None, dealer: Dealer) -> None:
    """Rearrange what a seat cannot know: the witness that finds leaks.

    It works on the truth and shares nothing with `observe` and `sample_state`, so
    that a mistake there cannot hide here.
    """
    if is_showdown(state.moves):
        return
    if seat is None:
        deck = list(CARDS)
        dealer.shuffle(deck)
        state.cards = (deck[0], deck[1])
    else:
        own = state.cards[seat]
        other = dealer.choice([card for card in CARDS if card != own])
        state.cards = (own, other) if seat == 0 else (other, own)


# ------------------------------------------------------------------- family: picture
# A game may also have draw_svg(), for pages and reports.


@hookimpl
def draw_text(observation: Observation) -> str:
    """Draw an observation for a terminal."""
    cards = ["?", "?"]
    if observation.seat is not None and observation.card is not None:
        cards[observation.seat] = NAMES[observation.card]
    for seat, card in enumerate(observation.shown):
        cards[seat] = NAMES[card]
    lines = [f"seat {seat}: {card}" for seat, card in enumerate(cards)]
    moves = ", ".join(move.value for move in observation.moves)
    return "\n".join([*lines, f"moves: {moves or 'none'}"])
