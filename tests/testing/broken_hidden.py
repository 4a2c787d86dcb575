"""Games that are broken in what they hide, and in how they sample it."""

from types import SimpleNamespace

import attrs
from examples.kuhn_poker import kuhn_poker
from tests.testing import high_card
from tests.testing.mutants import EXACT, breaks, info, mutant

# ------------------------------------------------------------------------------ leaks


def all_cards(state, seat):
    return attrs.evolve(kuhn_poker.observe(state, seat), shown=state.cards)


@attrs.frozen
class Loaded(high_card.Observation):
    """An observation with what it should not hold.

    Args:
        stock: what is left.
    """

    stock: tuple[int, ...] = ()


@breaks("leak.observation", *EXACT, "sampler.observation", "sampler.legal-actions")
def observation_holds_the_deck():
    """The hidden cards are sent along, for the client to hide."""

    def observe(state, seat):
        seen = high_card.observe(state, seat)
        fields = {f.name: getattr(seen, f.name) for f in attrs.fields(type(seen))}
        return Loaded(**fields, stock=tuple(state.stock))

    return mutant(
        high_card, describe=info(high_card, observation=Loaded), observe=observe
    )


@breaks("leak.observation", *EXACT, "leak.text", "sampler.truth")
def initial_state_is_unfiltered():
    """The filter runs after each action, and nobody filters the deal."""

    def observe(state, seat):
        return (kuhn_poker.observe if state.moves else all_cards)(state, seat)

    return mutant(kuhn_poker, observe=observe)


@breaks("leak.legal-actions", *EXACT, "sampler.legal-actions")
def legal_actions_reveal_a_card():
    def legal_actions(state):
        legal = kuhn_poker.legal_actions(state)
        strong = state.cards[1 - len(state.moves) % 2] == 2
        return legal[:1] if strong else legal

    return mutant(kuhn_poker, legal_actions=legal_actions)


def with_secret(**changes):
    """Return a mutant whose observe() keeps a secret aside for other hooks."""
    aside = SimpleNamespace(cards=())

    def observe(state, seat):
        aside.cards = tuple(state.hands)
        return high_card.observe(state, seat)

    made = {name: make(aside) for name, make in changes.items()}
    return mutant(high_card, observe=observe, **made)


@breaks("leak.explanation")
def explanation_reveals_a_card():
    def make(aside):
        def explain_illegal(observation, action):
            return f"not against {aside.cards}"

        return explain_illegal

    return with_secret(explain_illegal=make)


@breaks("leak.text")
def text_reveals_a_card():
    def make(aside):
        def draw_text(observation):
            return f"{high_card.draw_text(observation)}\n{aside.cards}"

        return draw_text

    return with_secret(draw_text=make)


@breaks("leak.svg")
def svg_reveals_a_card():
    def make(aside):
        def draw_svg(observation):
            svg = high_card.draw_svg(observation)
            return svg.replace("</svg>", f"<title>{aside.cards}</title></svg>")

        return draw_svg

    return with_secret(draw_svg=make)


@breaks("leak.seen-actions")
def seen_action_reveals_a_card():
    def reveals(state, action, seat):
        seen = high_card.observe_action(state, action, seat)
        return high_card.Drawn(max(state.hands)) if seen.rank == 0 else seen

    def observe_drawn(state, action, seat):
        drawn = isinstance(action, high_card.Drawn)
        return reveals(state, action, seat) if drawn else action

    return mutant(high_card, observe_action=observe_drawn)


@breaks("leak.vacuous", "witness.worlds", "sampler.vacuous", "sampler.distribution")
def witness_does_nothing():
    def shuffle_hidden(state, seat, dealer):
        pass

    return mutant(kuhn_poker, shuffle_hidden=shuffle_hidden)


# --------------------------------------------------------------------------- samplers


@breaks("sampler.truth", "sampler.pure", "sampler.constant", *EXACT)
def sampler_returns_the_truth():
    kept: list = []

    def observe(state, seat):
        kept[:] = [state.cards]
        return kuhn_poker.observe(state, seat)

    def sample_state(observation, dealer):
        moves = list(observation.moves)
        return kuhn_poker.State(observation.options, kept[0], moves)

    return mutant(kuhn_poker, observe=observe, sample_state=sample_state)


def lowest_card(observation, dealer):
    state = kuhn_poker.sample_state(observation, dealer)
    if not observation.shown:
        cards = [card for card in (0, 1, 2) if card != observation.card]
        if observation.seat is not None:
            cards[observation.seat] = observation.card
        state.cards = (cards[0], cards[1])
    return state


@breaks("sampler.constant", "sampler.worlds", "sampler.distribution")
def sampler_is_constant():
    return mutant(kuhn_poker, sample_state=lowest_card)


@breaks("sampler.weights", "sampler.distribution")
def sampler_weighs_ranks_instead_of_cards():
    def sample_state(observation, dealer):
        cards = high_card.unseen(observation)
        first = []
        for _ in range(2):
            if cards:
                first.append(dealer.choice(sorted(set(cards))))
                cards.remove(first[-1])
        return high_card.build(observation, first + cards)

    return mutant(high_card, sample_state=sample_state)


@breaks("sampler.conserved", "sampler.worlds", "sampler.distribution")
def sampler_deals_a_card_twice():
    def sample_state(observation, dealer):
        state = high_card.sample_state(observation, dealer)
        if observation.seat == 0 and state.hands[1] and not observation.shown:
            state.hands[1] = state.stock[0]
        return state

    return mutant(high_card, sample_state=sample_state)


@breaks("sampler.weights", "witness.weights")
def chance_in_play_is_weighed_otherwise_than_sampled():
    def chance_outcomes(state):
        return [(high_card.Drawn(rank), 1) for rank in sorted(set(state.stock))]

    return mutant(high_card, chance_outcomes=chance_outcomes)
