"""Games whose states, bytes and hooks are broken: copies, codec, purity."""

import itertools
import os
import random
import sys
import threading
import time
from datetime import datetime
from pathlib import Path

import attrs
from examples.kuhn_poker import kuhn_poker
from examples.nim import nim_game
from examples.pig import pig
from tests.testing.mutants import EXACT, breaks, info, mutant

from fritillary import ACTS, Outcome, Over

# ------------------------------------------------------------------- copies and bytes


@breaks("copy.independent", "copy.earlier", "perft.counts", "pure.memory", *EXACT)
def copy_shares_a_list():
    def copy_state(state):
        return kuhn_poker.State(state.options, state.cards, state.moves)

    return mutant(kuhn_poker, copy_state=copy_state)


@attrs.define
class Marked(pig.State):
    """A state with names.

    Args:
        names: of the seats.
    """

    names: list[str] = attrs.Factory(list)


@breaks("seed.other-process")
def set_order_gets_into_the_bytes():
    """A list is filled from a set of strings."""

    def new_state(options, seats, dealer):
        names = {"anna", "ben", "cleo", "dora", "emil"}
        return Marked(options, [0] * seats, names=list(names))

    describe = info(pig, state=Marked, observation=Marked)
    return mutant(pig, new_state=new_state, describe=describe)


@breaks("seed.other-process")
def hash_order_decides_who_begins():
    def new_state(options, seats, dealer):
        return pig.State(options, [0] * seats, seat=hash("who begins") % seats)

    return mutant(pig, new_state=new_state)


@attrs.define
class Derived(nim_game.State):
    """A state with a field that follows from the others, but not at once."""

    left: int = attrs.field(init=False, eq=False, repr=False)

    def __attrs_post_init__(self):
        self.left = sum(self.options.heaps)


@breaks("codec.restored", "perft.counts", "copy.independent")
def derived_field_is_not_restored():
    def new_state(options, seats, dealer):
        return Derived(options, list(options.heaps))

    def apply_action(state, action):
        nim_game.apply_action(state, action)
        state.left -= action.stones

    def decision_point(state):
        if state.left > 0:
            return ACTS[state.seat]
        return Over(Outcome.ranked("last-stone", (state.seat, 1 - state.seat)))

    def legal_actions(state):
        return nim_game.takes(state.heaps) or (nim_game.Take(0, 1),)

    return mutant(
        nim_game,
        describe=info(nim_game, state=Derived, observation=Derived),
        new_state=new_state,
        apply_action=apply_action,
        decision_point=decision_point,
        legal_actions=legal_actions,
    )


@breaks("codec.round-trip")
def tuple_field_holds_a_list():
    def observe(state, seat):
        return attrs.evolve(kuhn_poker.observe(state, seat), moves=state.moves)

    return mutant(kuhn_poker, observe=observe)


@attrs.define
class Counting(pig.State):
    """A state that counts something which does not matter to ==.

    Args:
        looks: so many.
    """

    looks: int = attrs.field(default=0, eq=False)


@breaks("codec.canonical", "copy.equal", "codec.restored")
def equal_states_have_other_bytes():
    def new_state(options, seats, dealer):
        return Counting(options, [0] * seats, looks=1)

    def copy_state(state):
        return attrs.evolve(state, totals=list(state.totals), looks=2)

    describe = info(pig, state=Counting, observation=Counting)
    return mutant(pig, new_state=new_state, copy_state=copy_state, describe=describe)


# ------------------------------------------------------------------------------ purity


@breaks("pure.random", "seed.same-bytes", "pure.memory", "perft.counts")
def global_random_is_used():
    def new_state(options, seats, dealer):
        return pig.State(options, [0] * seats, seat=random.randrange(seats))

    return mutant(pig, new_state=new_state)


@breaks("pure.random")
def generator_without_a_seed_is_used():
    def evaluate(state, seat):
        return random.Random().random() * 0

    return mutant(pig, evaluate=evaluate)


@breaks("pure.clock")
def clock_is_used():
    """Imported by name, as people do."""
    from time import monotonic

    def evaluate(state, seat):
        stop = monotonic() + 0.00001
        while monotonic() < stop:
            pass
        return 0.0

    return mutant(pig, evaluate=evaluate)


@breaks("pure.clock")
def date_is_used():
    def draw_text(observation):
        spring = datetime.now().year > 1900  # noqa: DTZ005 - the fault
        return pig.draw_text(observation) + (" spring" if spring else "")

    return mutant(pig, draw_text=draw_text)


@breaks("pure.clock")
def date_is_written_out():
    def draw_text(observation):
        spring = time.strftime("%Y") > "1900"
        return pig.draw_text(observation) + (" spring" if spring else "")

    return mutant(pig, draw_text=draw_text)


@breaks("pure.io")
def terminal_is_written_to():
    def legal_actions(state):
        sys.stderr.write("")
        return pig.legal_actions(state)

    return mutant(pig, legal_actions=legal_actions)


@breaks("pure.io")
def what_is_done_is_printed():
    def legal_actions(state):
        print("legal")
        return pig.legal_actions(state)

    return mutant(pig, legal_actions=legal_actions)


@breaks("pure.io", "pure.clock")
def another_thread_works():
    def legal_actions(state):
        found: list[object] = []
        thread = threading.Thread(target=lambda: found.extend(pig.legal_actions(state)))
        thread.start()
        thread.join()
        return tuple(found)

    return mutant(pig, legal_actions=legal_actions)


@breaks("pure.io")
def file_is_read():
    def explain_illegal(observation, action):
        return Path(__file__).read_text("utf-8").splitlines()[0]

    return mutant(pig, explain_illegal=explain_illegal)


@breaks("pure.io")
def environment_is_read():
    def draw_text(observation):
        return pig.draw_text(observation) + os.environ.get("NOTHING_OF_THE_KIND", "")

    return mutant(pig, draw_text=draw_text)


@breaks("pure.arguments")
def picture_sorts_the_observation():
    def draw_text(observation):
        text = pig.draw_text(observation)
        observation.totals.sort(reverse=True)
        return text

    return mutant(pig, draw_text=draw_text)


@breaks("pure.arguments", "play.refusal-harmless")
def explanation_changes_the_state():
    def observe(state, seat):
        return state

    def explain_illegal(observation, action):
        observation.turn += 1
        return "no"

    return mutant(pig, observe=observe, explain_illegal=explain_illegal)


@breaks("seed.other-process")
def cache_has_the_wrong_key():
    """Kept by seat, though it depends on the points as well."""
    cache: dict = {}

    def draw_text(observation):
        return cache.setdefault(observation.seat, pig.draw_text(observation))

    return mutant(pig, draw_text=draw_text)


@breaks("pure.memory", "picture.bytes-only")
def picture_counts_how_often_it_is_drawn():
    drawn = itertools.count()

    def draw_text(observation):
        return f"{pig.draw_text(observation)}\n{next(drawn)}"

    return mutant(pig, draw_text=draw_text)


@breaks("seed.same-bytes")
def deals_alternate():
    calls = []

    def new_state(options, seats, dealer):
        calls.append(1)
        return pig.State(options, [0] * seats, seat=len(calls) % 2)

    return mutant(pig, new_state=new_state)
