"""Hush, small: a game made of what others must not see.

Draws and hidden cards are masked, a look at the deck is seen by nobody else, and chance
tells one seat what the next does not hear. Two or three seats; open cards count.
"""

from __future__ import annotations

import sys
import types

from attrs import define, field, frozen, validators

from fritillary import (
    ACTS,
    CHANCE,
    GameInfo,
    Information,
    Outcome,
    Over,
    Plugin,
    hookimpl,
)

KINDS = 3
COPIES = 10

#: The steps of a turn.
BEGIN, CARD, WORD = range(3)


@frozen(cache_hash=True)
class Options:
    """What may differ.

    Args:
        turns: of all seats together, 1 to 10.
        hand: cards that a seat is dealt, 1 to 4.
    """

    turns: int = field(default=8, validator=validators.in_(range(1, 11)))
    hand: int = field(default=3, validator=validators.in_(range(1, 5)))


@frozen
class Draw:
    """Draw a card; others do not see which."""


@frozen
class Peek:
    """Look at the card on top of the deck; others do not see that anything happens."""


@frozen
class Lay:
    """Lay a card face up.

    Args:
        card: 0 to 2.
    """

    card: int


@frozen
class Hide:
    """Lay a card face down.

    Args:
        card: 0 to 2; nothing for whoever does not see it.
    """

    card: int | None


@frozen
class Word:
    """Chance tells the next seat something.

    Args:
        word: 0 or 1; nothing for the seat before. The others hear nothing at all.
    """

    word: int | None


@define
class State:
    """The truth. Lists hold one entry a seat.

    Args:
        options: of the match.
        seat: whose turn it is.
        step: 0 begin, 1 a card is to be laid, 2 chance.
        turns: that are over.
        peeked: whether the seat has looked at the deck in this turn.
        hands: the cards.
        laid: the cards face up, in order.
        hidden: the cards face down, in order.
        words: what each seat heard last.
        deck: the next one last.
    """

    options: Options
    seat: int
    step: int
    turns: int
    peeked: bool
    hands: list[tuple[int, ...]]
    laid: list[tuple[int, ...]]
    hidden: list[tuple[int, ...]]
    words: list[int]
    deck: tuple[int, ...]


@frozen
class Observation:
    """What a seat may know. Tuples hold one entry a seat.

    Args:
        options: of the match.
        seat: who observes; nothing for a spectator.
        to_move: whose turn it is.
        step: of the turn.
        turns: that are over.
        hand: of the observer.
        hidden: of the observer.
        word: that the observer heard last.
        top: of the deck, if the observer has just looked.
        laid: the cards face up.
        hidden_sizes: how many are face down.
        hand_sizes: how many are in the hands.
        deck: how many are left to draw.
    """

    options: Options
    seat: int | None
    to_move: int
    step: int
    turns: int
    hand: tuple[int, ...]
    hidden: tuple[int, ...]
    word: int | None
    top: int | None
    laid: tuple[tuple[int, ...], ...]
    hidden_sizes: tuple[int, ...]
    hand_sizes: tuple[int, ...]
    deck: int


DRAW, PEEK = Draw(), Peek()
LAYS = tuple(map(Lay, range(KINDS)))
HIDES = tuple(map(Hide, range(KINDS)))
TABLE = (DRAW, PEEK, *LAYS, *HIDES)


def _next(state):
    return (state.seat + 1) % len(state.hands)


@hookimpl
def describe():
    return GameInfo(
        id="hush",
        title="Hush",
        summary="Say nothing.",
        rules_version=1,
        min_seats=2,
        max_seats=3,
        information=Information.HIDDEN,
        chance=True,
        constant_sum=None,
        max_plies=60,
        options=Options,
        state=State,
        actions=(Draw, Peek, Lay, Hide, Word),
        observation=Observation,
        reasons={"turns": "All turns are over."},
    )


@hookimpl
def new_state(options, seats, dealer):
    deck = [kind for kind in range(KINDS) for _ in range(COPIES)]
    dealer.stream("deck").shuffle(deck)
    hands = []
    for _ in range(seats):
        hands.append(tuple(sorted(deck[: options.hand])))
        del deck[: options.hand]
    empty = [()] * seats
    return State(
        options, 0, BEGIN, 0, False, hands, [*empty], [*empty], [0] * seats, tuple(deck)
    )


@hookimpl
def decision_point(state):
    if state.step == WORD:
        return CHANCE
    if state.turns >= state.options.turns:
        return Over(Outcome.ranked("turns", tuple(map(sum, state.laid))))
    return ACTS[state.seat]


@hookimpl
def all_actions(options, seats):
    return TABLE


@hookimpl
def legal_actions(state):
    if state.step == BEGIN:
        return (DRAW,) if state.peeked else (DRAW, PEEK)
    held = sorted({*state.hands[state.seat]})
    return (*(LAYS[card] for card in held), *(HIDES[card] for card in held))


@hookimpl
def chance_outcomes(state):
    return [(Word(word), 1) for word in (0, 1)]


@hookimpl
def apply_action(state, action):
    seat = state.seat
    kind = type(action)
    if kind is Word:
        state.seat = _next(state)
        state.words[state.seat] = action.word
        state.turns += 1
        state.step = BEGIN
    elif kind is Peek:
        state.peeked = True
    elif kind is Draw:
        state.hands[seat] = tuple(sorted((*state.hands[seat], state.deck[-1])))
        state.deck = state.deck[:-1]
        state.peeked = False
        state.step = CARD
    else:
        hand = [*state.hands[seat]]
        hand.remove(action.card)
        state.hands[seat] = tuple(hand)
        pile = state.laid if kind is Lay else state.hidden
        pile[seat] += (action.card,)
        state.step = WORD


@hookimpl
def explain_illegal(observation, action):
    if observation.step == BEGIN:
        return "draw first, and look at the deck once at most"
    if isinstance(action, (Lay, Hide)):
        return f"you hold no {action.card}, only {observation.hand}"
    return "lay a card of your hand"


@hookimpl
def format_action(action):
    value = getattr(action, "card", getattr(action, "word", ""))
    name = type(action).__name__.lower()
    return f"{name} {'?' if value is None else value}".strip()


@hookimpl
def observe(state, seat):
    mine = seat is not None
    looking = mine and state.peeked and seat == state.seat
    return Observation(
        options=state.options,
        seat=seat,
        to_move=state.seat,
        step=state.step,
        turns=state.turns,
        hand=state.hands[seat] if mine else (),
        hidden=state.hidden[seat] if mine else (),
        word=state.words[seat] if mine else None,
        top=state.deck[-1] if looking else None,
        laid=tuple(state.laid),
        hidden_sizes=tuple(map(len, state.hidden)),
        hand_sizes=tuple(map(len, state.hands)),
        deck=len(state.deck),
    )


@hookimpl
def observe_action(state, action, seat):
    kind = type(action)
    if kind is Peek:
        return None
    if kind is Hide:
        return Hide(None)
    if kind is Word and seat != _next(state):
        return Word(None) if seat == state.seat else None
    return action


@hookimpl
def sample_state(observation, dealer):
    unseen = [kind for kind in range(KINDS) for _ in range(COPIES)]
    seen = [*observation.hand, *observation.hidden]
    for laid in observation.laid:
        seen += laid
    top = () if observation.top is None else (observation.top,)
    for card in (*seen, *top):
        unseen.remove(card)
    dealer.shuffle(unseen)
    hands, hidden, words = [], [], []
    for seat, sizes in enumerate(
        zip(observation.hand_sizes, observation.hidden_sizes, strict=True)
    ):
        if seat == observation.seat:
            hands.append(observation.hand)
            hidden.append(observation.hidden)
            words.append(observation.word)
            continue
        held = tuple(unseen.pop() for _ in range(sizes[0]))
        hands.append(tuple(sorted(held)))
        hidden.append(tuple(unseen.pop() for _ in range(sizes[1])))
        words.append(dealer.choice((0, 1)))
    peeked = observation.top is not None
    if observation.seat != observation.to_move and observation.step == BEGIN:
        peeked = dealer.choice((False, True))
    return State(
        observation.options,
        observation.to_move,
        observation.step,
        observation.turns,
        peeked,
        hands,
        [*observation.laid],
        hidden,
        words,
        (*unseen, *top),
    )


@hookimpl
def shuffle_hidden(state, seat, dealer):
    others = [other for other in range(len(state.hands)) if other != seat]
    cards = [*state.deck]
    known = [cards.pop()] if state.peeked and state.seat == seat else []
    for other in others:
        cards += state.hands[other]
        cards += state.hidden[other]
    dealer.shuffle(cards)
    for other in others:
        for piles in (state.hands, state.hidden):
            size = len(piles[other])
            taken, cards = cards[:size], cards[size:]
            # A hand has no order; what lies face down has the one it was laid in.
            piles[other] = tuple(sorted(taken) if piles is state.hands else taken)
        state.words[other] = dealer.below(2)
    state.deck = (*cards, *known)
    if seat != state.seat and state.step == BEGIN:
        state.peeked = bool(dealer.below(2))


@hookimpl
def draw_text(observation):
    return f"laid {observation.laid}, hand {observation.hand}"


def plugin():
    """Return the game."""
    return Plugin("hush", sys.modules[__name__])


def plugin_without_table():
    """Return the same rules without an action table: legal actions come expanded."""

    @hookimpl
    def parse_action(text):
        for action in TABLE:
            if format_action(action) == text:
                return action
        msg = f"{text!r} is no action"
        raise ValueError(msg)

    hooks = {
        name: value
        for name, value in vars(sys.modules[__name__]).items()
        if hasattr(value, "fritillary_impl") and name != "all_actions"
    }
    return Plugin("hush", types.SimpleNamespace(**hooks, parse_action=parse_action))
