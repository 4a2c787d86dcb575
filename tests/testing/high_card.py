"""A tiny game for tests: high card with duplicates, a swap, and hidden chance.

The deck holds 1, 1, 2, 2, 3. Each of two seats gets a card. In turn, each keeps it,
or discards it face up and draws a card that the other does not see. The higher card
wins.
"""

from collections.abc import Sequence

import attrs

from fritillary import (
    ACTS,
    CHANCE,
    Dealer,
    GameInfo,
    Information,
    Outcome,
    Over,
    hookimpl,
)

DECK = (1, 1, 2, 2, 3)


@attrs.frozen
class Options:
    """Nothing to choose."""


@attrs.frozen
class Keep:
    """Keep the card."""


@attrs.frozen
class Swap:
    """Discard the card and draw another."""


@attrs.frozen
class Drawn:
    """A card is drawn.

    Args:
        rank: 1 to 3, or 0 for a card one does not see.
    """

    rank: int


@attrs.define
class State:
    """The truth.

    Args:
        options: of the match.
        hands: a card for each seat, 0 while it is drawn.
        stock: what is left, in rising order.
        discards: face up, in rising order.
        done: seats that have chosen.
        drawing: whether a card is being drawn.
    """

    options: Options
    hands: list[int]
    stock: list[int]
    discards: list[int]
    done: int = 0
    drawing: bool = False


@attrs.frozen
class Observation:
    """What a seat may know.

    Args:
        options: of the match.
        seat: who observes.
        card: the observer's own.
        discards: face up.
        done: seats that have chosen.
        drawing: whether a card is being drawn.
        shown: both cards at the end.
    """

    options: Options
    seat: int | None
    card: int | None
    discards: tuple[int, ...]
    done: int
    drawing: bool
    shown: tuple[int, ...]


TABLE = (Keep(), Swap())


def is_over(state):
    return state.done == 2 and not state.drawing


@hookimpl
def describe():
    return GameInfo(
        id="high-card",
        title="High card",
        summary="The higher card wins.",
        rules_version=1,
        min_seats=2,
        max_seats=2,
        information=Information.HIDDEN,
        chance=True,
        constant_sum=0,
        max_plies=4,
        options=Options,
        state=State,
        actions=(Keep, Swap, Drawn),
        observation=Observation,
        reasons={"cards": "The cards were compared."},
    )


@hookimpl
def new_state(options: Options, seats: int, dealer: Dealer):
    deck = list(DECK)
    dealer.stream("deck").shuffle(deck)
    return State(options, deck[:2], sorted(deck[2:]), [])


@hookimpl
def decision_point(state):
    if state.drawing:
        return CHANCE
    if state.done < 2:
        return ACTS[state.done]
    one, other = state.hands
    sign = (one > other) - (one < other)
    return Over(Outcome.ranked("cards", (sign, -sign)))


@hookimpl
def all_actions(options, seats) -> Sequence:
    return TABLE


@hookimpl
def legal_actions(state) -> Sequence:
    return TABLE if not state.discards else TABLE[:1]


@hookimpl
def apply_action(state, action):
    if isinstance(action, Drawn):
        state.drawing = False
        state.stock.remove(action.rank)
        state.hands[state.done - 1] = action.rank
        return
    if isinstance(action, Swap):
        state.discards.append(state.hands[state.done])
        state.hands[state.done] = 0
        state.drawing = True
    state.done += 1


@hookimpl
def explain_illegal(observation, action):
    return "the other seat has swapped already"


@hookimpl
def chance_outcomes(state):
    return [(Drawn(rank), state.stock.count(rank)) for rank in sorted(set(state.stock))]


@hookimpl
def format_action(action):
    if isinstance(action, Drawn):
        return f"draws {action.rank or '?'}"
    return type(action).__name__.lower()


@hookimpl
def observe(state, seat):
    return Observation(
        state.options,
        seat,
        None if seat is None else state.hands[seat],
        tuple(state.discards),
        state.done,
        state.drawing,
        tuple(state.hands) if is_over(state) else (),
    )


@hookimpl
def observe_action(state, action, seat):
    if isinstance(action, Drawn) and seat != state.done - 1:
        return Drawn(0)
    return action


def unseen(observation):
    """Return the cards that are somewhere hidden."""
    cards = list(DECK)
    known = observation.shown or (observation.card,)
    for card in (*observation.discards, *known):
        if card:
            cards.remove(card)
    return cards


def build(observation, cards):
    """Return the state in which hidden hands get the first of the cards."""
    hands = list(observation.shown)
    if not hands:
        drawer = observation.done - 1 if observation.drawing else None
        for seat in (0, 1):
            if seat == drawer:
                hands.append(0)
            elif seat == observation.seat:
                hands.append(observation.card)
            else:
                hands.append(cards.pop(0))
    return State(
        observation.options,
        hands,
        sorted(cards),
        list(observation.discards),
        observation.done,
        observation.drawing,
    )


@hookimpl
def sample_state(observation, dealer):
    cards = unseen(observation)
    dealer.shuffle(cards)
    return build(observation, cards)


@hookimpl
def shuffle_hidden(state, seat, dealer):
    if is_over(state):
        return
    hidden = [s for s in (0, 1) if s != seat and state.hands[s]]
    pool = state.stock + [state.hands[s] for s in hidden]
    dealer.shuffle(pool)
    for s in hidden:
        state.hands[s] = pool.pop()
    state.stock = sorted(pool)


@hookimpl
def conserved(state):
    cards = [*state.hands, *state.stock, *state.discards]
    return {f"cards of rank {rank}": cards.count(rank) for rank in (1, 2, 3)}


@hookimpl
def draw_text(observation):
    return words(observation)


@hookimpl
def draw_svg(observation):
    text = words(observation)
    return f'<svg xmlns="http://www.w3.org/2000/svg"><text>{text}</text></svg>'


def words(observation):
    return f"card {observation.card}, discards {observation.discards}"
