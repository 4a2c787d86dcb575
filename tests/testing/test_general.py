import itertools
import sys
from types import SimpleNamespace
from typing import cast

import attrs
import pytest
from examples.kuhn_poker import kuhn_poker
from examples.pig import pig
from tests.testing import high_card
from tests.testing.mutants import hooks_of, mutant, sound

from fritillary import ACTS, CHANCE, Outcome, Over
from fritillary.core.errors import UsageError
from fritillary.testing import LawError, check_contract
from fritillary.testing.scene import first_difference

SHORT = pig.Options(target=10, rounds=4)


@pytest.mark.parametrize("module", [kuhn_poker, high_card, pig])
def test_a_sound_game_keeps_every_law(module):
    report = check_contract(sound(module))
    assert report.matches == 6
    assert report.refusals > 0


def info(module, **changes):
    def describe():
        return attrs.evolve(module.describe(), **changes)

    return describe


def ended(outcome):
    def decision_point(state):
        point = kuhn_poker.decision_point(state)
        return Over(outcome) if isinstance(point, Over) else point

    return decision_point


COUNT = itertools.count()


def counts_deals(options, seats, dealer):
    number = next(COUNT) % 2
    return kuhn_poker.State(options, (number, 2), [])


def other_options(state, seat):
    observation = kuhn_poker.observe(state, seat)
    return attrs.evolve(observation, options=attrs.evolve(state.options))


def copies_options(state):
    options = attrs.evolve(state.options)
    return kuhn_poker.State(options, state.cards, list(state.moves))


def shallow_copy(state):
    return kuhn_poker.State(state.options, state.cards, state.moves)


def restless_observe(state, seat):
    state.turn += state.turn > 0
    return pig.State(
        **{f.name: getattr(state, f.name) for f in attrs.fields(pig.State)}
    )


def lends_the_state(state, seat):
    return state


def meddling_explanation(observation, action):
    observation.turn += 1
    return "no"


def observes_a_list(state, seat):
    return attrs.evolve(kuhn_poker.observe(state, seat), moves=state.moves)


def observes_nonsense(state, seat):
    return attrs.evolve(kuhn_poker.observe(state, seat), card=cast("int", "jack"))


BROKEN = [
    ("seed.same-bytes", kuhn_poker, {"new_state": counts_deals}),
    ("state.options", kuhn_poker, {"observe": other_options}),
    ("state.options", kuhn_poker, {"copy_state": copies_options}),
    (
        "turn.seat",
        kuhn_poker,
        {"decision_point": ACTS[5]},
    ),
    ("turn.max-plies", kuhn_poker, {"describe": info(kuhn_poker, max_plies=1)}),
    ("legal.some", kuhn_poker, {"legal_actions": ()}),
    (
        "legal.table-order",
        kuhn_poker,
        {"legal_actions": lambda state: kuhn_poker.legal_actions(state)[::-1]},
    ),
    (
        "legal.table-order",
        kuhn_poker,
        {"legal_actions": lambda state: list(kuhn_poker.legal_actions(state)[:1]) * 2},
    ),
    (
        "legal.table-order",
        kuhn_poker,
        {"all_actions": kuhn_poker.OPENING},
    ),
    (
        "play.refuses-illegal",
        kuhn_poker,
        {"explain_illegal": " "},
    ),
    (
        "play.refusal-harmless",
        pig,
        {"observe": lends_the_state, "explain_illegal": meddling_explanation},
    ),
    ("copy.independent", kuhn_poker, {"copy_state": shallow_copy}),
    ("pure.arguments", pig, {"observe": restless_observe}),
    ("codec.round-trip", kuhn_poker, {"observe": observes_a_list}),
    ("codec.round-trip", kuhn_poker, {"observe": observes_nonsense}),
    ("notation.unique", pig, {"format_action": lambda action: type(action).__name__}),
    ("picture.text", kuhn_poker, {"draw_text": "-" * 81}),
    ("picture.text", kuhn_poker, {"draw_text": "\n"}),
    ("picture.svg", high_card, {"draw_svg": "<p>no</p>"}),
    (
        "picture.bytes-only",
        kuhn_poker,
        {"draw_text": lambda observation: f"at {id(observation)}"},
    ),
    ("chance.declared", kuhn_poker, {"decision_point": CHANCE}),
    ("chance.outcomes", pig, {"chance_outcomes": pig.DIE * 2}),
    (
        "chance.outcomes",
        pig,
        {"describe": info(pig, actions=(pig.Roll, pig.Hold))},
    ),
    ("evaluate.range", pig, {"evaluate": 1.5}),
    (
        "outcome.seats",
        kuhn_poker,
        {"decision_point": ended(Outcome.ranked("fold", (1, 0, -1)))},
    ),
    (
        "outcome.placing",
        kuhn_poker,
        {"decision_point": ended(Outcome("fold", (1, -1), (2, 1)))},
    ),
    (
        "outcome.constant-sum",
        kuhn_poker,
        {"decision_point": ended(Outcome.ranked("fold", (2, -1)))},
    ),
    (
        "outcome.reason",
        kuhn_poker,
        {"decision_point": ended(Outcome.ranked("boredom", (1, -1)))},
    ),
]


@pytest.mark.parametrize(
    ("law", "module", "changes"),
    BROKEN,
    ids=[f"{law}-{number}" for number, (law, _, _) in enumerate(BROKEN)],
)
def test_a_broken_game_is_caught_by_the_law_it_breaks(law, module, changes):
    with pytest.raises(LawError) as caught:
        check_contract(mutant(module, **changes))
    assert caught.value.law.id == law
    assert caught.value.code == f"law.{law}"


def test_data_that_do_not_fit_the_schema_are_caught():
    game = sound(kuhn_poker)
    schemas = game.codec.schemas()
    record = schemas["observation"]["$defs"]["observation"]
    record["properties"]["shown"]["maxItems"] = 0
    game.codec.schemas = lambda: schemas
    with pytest.raises(LawError, match=r"observation\.shown: ") as caught:
        check_contract(game)
    assert caught.value.law.id == "codec.schema"


def test_every_preset_and_several_numbers_of_seats_are_played():
    seen = []

    def new_state(options, seats, dealer):
        seen.append((options.target, seats))
        return pig.new_state(options, seats, dealer)

    check_contract(mutant(pig, new_state=new_state))
    assert set(seen) == {(target, seats) for target in (100, 30) for seats in (2, 3, 4)}


def test_given_options_and_seats_are_the_only_ones():
    seen = set()

    def new_state(options, seats, dealer):
        seen.add((options, seats))
        return pig.new_state(options, seats, dealer)

    check_contract(mutant(pig, new_state=new_state), options=SHORT, seats=3)
    assert seen == {(SHORT, 3)}


def test_games_without_a_table_are_checked_too():
    hooks = hooks_of(kuhn_poker)
    del hooks["all_actions"]
    game = mutant(SimpleNamespace(**hooks))
    assert check_contract(game).matches == 6
    assert check_contract(game).refusals == 0


def test_an_action_listed_twice_by_a_game_without_a_table_is_caught():
    hooks = hooks_of(kuhn_poker)
    del hooks["all_actions"]
    game = mutant(SimpleNamespace(**hooks), legal_actions=kuhn_poker.OPENING * 2)
    with pytest.raises(LawError) as caught:
        check_contract(game)
    assert caught.value.law.id == "legal.table-order"


@pytest.mark.parametrize(
    ("one", "other", "found"),
    [
        ({"a": [1, 2]}, {"a": [1, 2]}, ""),
        ({"a": [1, 2]}, {"a": [1, 3]}, "$.a[1]: 2 is not 3"),
        ([1], [1, 2], "$: 1 items are not 2"),
        ({"a": 1}, {"b": 1}, "$.a: in one only"),
        ({}, {"b": 1}, "$.b: in one only"),
        (1, True, "$: 1 is not True"),
        ("a\nb", "a\nc", "$, line 2: 'b' is not 'c'"),
        ("a", "a\nc", "$: 'a' is not 'a\\nc'"),
    ],
)
def test_the_first_difference_is_named(one, other, found):
    assert first_difference(one, other) == found


def test_chance_that_is_only_sampled_is_checked_too():
    hooks = hooks_of(pig)
    del hooks["chance_outcomes"]
    module = SimpleNamespace(**hooks)

    def sample_chance(state, dealer):
        return pig.DIE[dealer.below(6)][0]

    def sample_data(state, dealer):
        return "six"

    assert check_contract(mutant(module, sample_chance=sample_chance)).positions
    with pytest.raises(LawError) as caught:
        check_contract(mutant(module, sample_chance=sample_data))
    assert caught.value.law.id == "chance.outcomes"


def test_so_many_refusals_are_tried_at_a_position():
    report = check_contract(sound(kuhn_poker), refusals=1)
    acts = report.positions - report.matches
    assert report.refusals == acts


def test_a_copy_that_differs_from_its_original_is_caught():
    def copy_state(state):
        return kuhn_poker.State(state.options, state.cards[::-1], [*state.moves])

    with pytest.raises(LawError, match=r"cards\[0\]") as caught:
        check_contract(mutant(kuhn_poker, copy_state=copy_state))
    assert caught.value.law.id == "copy.equal"


def test_a_missing_schema_library_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "jsonschema", None)
    with pytest.raises(UsageError, match="pip install jsonschema"):
        check_contract(sound(kuhn_poker))
