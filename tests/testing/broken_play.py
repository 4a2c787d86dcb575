"""Games that are broken in play: notation, pictures, actions, chance, outcomes."""

import attrs
from examples.kuhn_poker import kuhn_poker
from examples.nim import nim_game
from examples.pig import pig
from tests.testing import high_card
from tests.testing.mutants import EXACT, breaks, info, mutant, without

from fritillary import ACTS, CHANCE, Outcome, Over
from fritillary_games import lepidoptery

# ------------------------------------------------------------------- notation, pictures


@breaks("notation.unique")
def faces_share_a_notation():
    def format_action(action):
        return "rolled" if isinstance(action, pig.Face) else pig.format_action(action)

    return mutant(pig, format_action=format_action)


@breaks("notation.unique")
def notation_is_ambiguous_without_a_table():
    def format_action(action):
        return f"take {action.stones}"

    return mutant(without(nim_game, "all_actions"), format_action=format_action)


@breaks("picture.text")
def text_is_too_wide():
    return mutant(pig, draw_text="-" * 81)


@breaks("picture.text")
def text_has_colours():
    def draw_text(observation):
        return f"\x1b[1m{pig.draw_text(observation)}"

    return mutant(pig, draw_text=draw_text)


@breaks("picture.svg")
def svg_has_a_script():
    def draw_svg(observation):
        svg = high_card.draw_svg(observation)
        return svg.replace("<text>", "<script>alert(1)</script><text>")

    return mutant(high_card, draw_svg=draw_svg)


@breaks("picture.svg")
def svg_is_not_escaped():
    def draw_svg(observation):
        return high_card.draw_svg(observation).replace("card", "card < 3 &")

    return mutant(high_card, draw_svg=draw_svg)


@breaks("picture.svg")
def svg_ids_have_no_prefix():
    def draw_svg(observation):
        return high_card.draw_svg(observation).replace("<text>", '<text id="board">')

    return mutant(high_card, draw_svg=draw_svg)


# -------------------------------------------------------------------------------- play


@attrs.frozen(eq=False)
class Sloppy(nim_game.Take):
    """Take stones; equal to every other take from the same heap."""

    def __eq__(self, other):
        return isinstance(other, Sloppy) and other.heap == self.heap

    def __hash__(self):
        return hash((self.heap, self.stones))


@breaks("play.refuses-illegal")
def illegal_action_is_accepted():
    def all_actions(options, seats):
        return [
            Sloppy(take.heap, take.stones) for take in nim_game.takes(options.heaps)
        ]

    def legal_actions(state):
        return [Sloppy(take.heap, take.stones) for take in nim_game.takes(state.heaps)]

    return mutant(
        nim_game,
        describe=info(nim_game, actions=(Sloppy,)),
        all_actions=all_actions,
        legal_actions=legal_actions,
    )


@breaks("play.accepts-legal", "hooks.sound", "sampler.playable")
def legal_action_is_refused():
    def apply_action(state, action):
        if action is kuhn_poker.FOLD and len(state.moves) == 2:
            raise ValueError("too late to fold")
        kuhn_poker.apply_action(state, action)

    return mutant(kuhn_poker, apply_action=apply_action)


@breaks("legal.table-order")
def table_order_is_broken():
    def legal_actions(state):
        return nim_game.legal_actions(state)[::-1]

    return mutant(nim_game, legal_actions=legal_actions)


@breaks("legal.some", "sampler.playable")
def nothing_is_legal():
    def legal_actions(state):
        return () if len(state.moves) == 1 else kuhn_poker.legal_actions(state)

    return mutant(kuhn_poker, legal_actions=legal_actions)


@breaks("turn.seat")
def nobody_sits_there():
    def decision_point(state):
        point = kuhn_poker.decision_point(state)
        return ACTS[2] if point == ACTS[1] else point

    return mutant(kuhn_poker, decision_point=decision_point)


@breaks("turn.max-plies")
def match_is_endless():
    def apply_action(state, action):
        pig.apply_action(state, action)
        state.round = 0
        state.totals[:] = [min(total, 20) for total in state.totals]

    describe = info(pig, max_plies=500)
    return mutant(pig, apply_action=apply_action, describe=describe)


@attrs.define
class Remembering(pig.State):
    """A state with its history.

    Args:
        history: notations of all that was played.
    """

    history: list[str] = attrs.Factory(list)


@breaks("observation.complete")
def nothing_is_seen_though_nothing_is_hidden():
    @attrs.frozen
    class Blind:
        """Nothing but the options."""

        options: nim_game.Options

    def observe(state, seat):
        return Blind(state.options)

    return mutant(
        nim_game,
        describe=info(nim_game, observation=Blind),
        observe=observe,
        draw_text="stones",
    )


@breaks("observation.complete")
def one_heap_is_not_seen():
    def observe(state, seat):
        return attrs.evolve(state, heaps=[0, *state.heaps[1:]])

    return mutant(nim_game, observe=observe)


@breaks("observation.size")
def observation_grows():
    def new_state(options, seats, dealer):
        return Remembering(options, [0] * seats)

    def apply_action(state, action):
        state.history.append(pig.format_action(action))
        pig.apply_action(state, action)

    return mutant(
        pig,
        describe=info(pig, state=Remembering, observation=Remembering),
        new_state=new_state,
        apply_action=apply_action,
    )


@breaks("state.conserved", *EXACT, "sampler.conserved")
def material_is_lost():
    def apply_action(state, action):
        high_card.apply_action(state, action)
        if isinstance(action, high_card.Drawn):
            state.discards[:] = [0]

    return mutant(high_card, apply_action=apply_action)


@breaks("seats.exchangeable")
def one_field_does_not_change_seats():
    def rotate_seats(state):
        rotated = lepidoptery.rotate_seats(state)
        rotated.markers = [*state.markers]
        return rotated

    return mutant(lepidoptery, rotate_seats=rotate_seats)


# ------------------------------------------------------------------------------ chance


@breaks("chance.sampled")
def chance_is_sampled_with_other_weights():
    def sample_chance(state, dealer):
        # Two dice, and the lower one counts.
        return pig.DIE[min(dealer.below(6), dealer.below(6))][0]

    return mutant(pig, sample_chance=sample_chance)


@breaks("chance.weights")
def weight_is_zero():
    return mutant(pig, chance_outcomes=(*pig.DIE[:5], (pig.DIE[5][0], 0)))


@breaks("chance.outcomes")
def outcome_is_listed_twice():
    return mutant(pig, chance_outcomes=pig.DIE * 2)


@breaks("chance.declared")
def chance_is_not_declared():
    hooks = without(pig, "chance_outcomes")

    def decision_point(state):
        return CHANCE if state.rolling else pig.decision_point(state)

    describe = info(pig, chance=False)
    return mutant(hooks, describe=describe, decision_point=decision_point)


# ---------------------------------------------------------------------------- outcomes


def ended(outcome):
    def decision_point(state):
        point = kuhn_poker.decision_point(state)
        return Over(outcome(point.outcome)) if isinstance(point, Over) else point

    return mutant(kuhn_poker, decision_point=decision_point)


@breaks("outcome.constant-sum")
def sums_are_broken():
    return ended(lambda o: Outcome.ranked(o.reason, [score + 1 for score in o.scores]))


@breaks("outcome.placing")
def placing_contradicts_the_scores():
    return ended(lambda o: Outcome(o.reason, o.scores, o.placing[::-1]))


@breaks("outcome.reason")
def reason_is_not_documented():
    return ended(lambda o: attrs.evolve(o, reason="boredom"))


@breaks("outcome.seats", "outcome.constant-sum")
def outcome_has_a_seat_too_many():
    return ended(lambda o: Outcome.ranked(o.reason, (*o.scores, 5)))


@breaks("evaluate.range")
def evaluation_is_out_of_range():
    return mutant(pig, evaluate=lambda state, seat: state.totals[seat] * 1.0)


@breaks("state.options")
def observation_has_other_options():
    def observe(state, seat):
        seen = kuhn_poker.observe(state, seat)
        return attrs.evolve(seen, options=attrs.evolve(state.options))

    return mutant(kuhn_poker, observe=observe)


@breaks("hooks.sound")
def spectators_are_forgotten():
    def draw_text(observation):
        return kuhn_poker.NAMES[observation.card]

    return mutant(kuhn_poker, draw_text=draw_text)
