import sys
from typing import Any

import pytest
from examples.connect_four import connect_four
from examples.kuhn_poker import kuhn_poker
from examples.pig import pig
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test
from tests.testing import high_card
from tests.testing.broken import BROKEN, MAKERS
from tests.testing.mutants import mutant, sound

from fritillary.core.errors import UsageError
from fritillary.testing import LawError, machine_for
from fritillary_games import lepidoptery

FEW = settings(max_examples=5, stateful_step_count=20, deadline=None)
MANY = settings(
    max_examples=25,
    stateful_step_count=8,
    deadline=None,
    database=None,
    print_blob=False,
    report_multiple_bugs=False,
)


@pytest.mark.parametrize(
    "module",
    [kuhn_poker, pig, high_card, connect_four, lepidoptery],
    ids=lambda module: module.__name__.rpartition(".")[2],
)
def test_sound_games_stand_up(module):
    run_state_machine_as_test(machine_for(sound(module)), settings=FEW)


@pytest.mark.parametrize(
    "name", ["copy_shares_a_list", "material_is_lost", "sums_are_broken"]
)
def test_broken_games_fall(name):
    law, _ = BROKEN[name]
    machine = machine_for(MAKERS[name](), laws=[law])
    with pytest.raises(LawError) as caught:
        run_state_machine_as_test(machine, settings=MANY)
    assert caught.value.law.id == law


def test_what_breaks_a_law_shrinks_to_few_steps():
    def apply_action(state, action):
        kuhn_poker.apply_action(state, action)
        if action is kuhn_poker.BET:
            state.cards = (1, 1)

    def conserved(state):
        return {"kings": state.cards.count(2), "queens": state.cards.count(1)}

    game = mutant(kuhn_poker, apply_action=apply_action, conserved=conserved)
    machine = machine_for(game, laws=["state.conserved"])
    with pytest.raises(LawError) as caught:
        run_state_machine_as_test(machine, settings=MANY)
    assert caught.value.failure.actions == ("bet",)


def test_a_subclass_compares_with_a_second_implementation():
    compared = []

    base: Any = machine_for(sound(pig), seats=2)

    class Compared(base):
        def dealt(self):
            self.total = 0

        def acted(self, action):
            if isinstance(action, pig.Face):
                self.total += action.pips

        def compare(self):
            compared.append(self.scene.state)
            assert sum(self.scene.state.totals) + self.scene.state.turn <= self.total

    run_state_machine_as_test(Compared, settings=FEW)
    assert compared


def test_seats_and_options_are_those_that_are_given():
    seen = set()

    options = pig.Options(target=9)
    base: Any = machine_for(sound(pig), seats=3, options=options)

    class Seen(base):
        def compare(self):
            seen.add((self.scene.seats, self.scene.options.target))

    run_state_machine_as_test(Seen, settings=FEW)
    assert seen == {(3, 9)}


def test_laws_must_be_laws_of_positions():
    with pytest.raises(UsageError, match=r"sampler\.worlds"):
        machine_for(sound(pig), laws=["sampler.worlds"])


def test_a_missing_hypothesis_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "hypothesis", None)
    with pytest.raises(UsageError, match="pip install hypothesis"):
        machine_for(sound(pig))
