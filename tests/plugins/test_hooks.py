"""Each hook: how it is called, what it may return, and what happens without it."""

# ruff: noqa: ARG005 - hooks have all their arguments, used or not

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve, frozen
from tests.plugins import nim
from tests.plugins.nim import Take

from fritillary import (
    ACTS,
    CHANCE,
    FastDealer,
    Game,
    GameError,
    IllegalActionError,
    InvalidOptionsError,
    Over,
    PluginError,
    VariantInfo,
)
from fritillary.plugins.described import variant_info

DEALER = FastDealer(1)


def recording(name: str, calls: list[Any], result: Any = None) -> Any:
    """Return a hook that keeps what it is called with."""
    scope: dict[str, Any] = {"calls": calls, "result": result}
    arguments = ", ".join(ARGUMENTS[name])
    exec(  # noqa: S102 - our own text
        f"def {name}({arguments}):\n calls.append(({arguments},))\n return result",
        scope,
    )
    return scope[name]


ARGUMENTS = {
    "observe": ("state", "seat"),
    "observe_action": ("state", "action", "seat"),
    "explain_illegal": ("observation", "action"),
    "evaluate": ("state", "seat"),
    "draw_svg": ("observation",),
    "copy_state": ("state",),
    "rotate_seats": ("state",),
}


# ------------------------------------------------------------------ family: game


def test_describe_is_called_once_and_its_answer_kept() -> None:
    calls = []

    def describe() -> Any:
        calls.append(1)
        return nim.INFO

    game = Game(nim.plugin(describe=describe))
    assert game.info is nim.INFO
    assert calls == [1]


def test_new_state_deals_for_options_and_seats() -> None:
    game = Game(nim.plugin())
    state = game.new(DEALER, nim.Options(matches=7), 3)
    assert (state.matches, state.seats) == (7, 3)
    default = game.new(DEALER)
    assert (default.matches, default.seats) == (5, 2)


def test_new_state_may_refuse_options_that_do_not_go_together() -> None:
    game = Game(nim.plugin())
    with pytest.raises(InvalidOptionsError, match="nim: most is far more than"):
        game.new(DEALER, nim.Options(matches=1, most=20))


@pytest.mark.parametrize("rubbish", [None, 3, nim.Options()], ids=str)
def test_new_state_returns_a_state(rubbish: Any) -> None:
    game = Game(nim.plugin(new_state=lambda options, seats, dealer: rubbish))
    with pytest.raises(PluginError, match=r"new_state\(\) must return a State"):
        game.new(DEALER)


def test_new_state_refers_to_the_very_options() -> None:
    def new_state(options: Any, seats: int, dealer: Any) -> Any:
        return nim.new_state(evolve(options), seats, dealer)

    with pytest.raises(PluginError, match="refers to the options it was given"):
        Game(nim.plugin(new_state=new_state)).new(DEALER)


def test_decision_point_tells_who_acts_and_the_outcome() -> None:
    game = Game(nim.plugin())
    state = game.new(DEALER, nim.Options(matches=2))
    assert game.decision_point(state) is ACTS[0]
    assert game.outcome_of(state) is None
    game.apply(state, Take(2))
    assert type(game.decision_point(state)) is Over
    assert game.outcome_of(state).winners == (0,)


def test_copy_state_is_generated_and_independent() -> None:
    game = Game(nim.plugin())
    state = game.new(DEALER)
    copied = game.copy(state)
    assert copied == state
    assert copied.options is state.options
    game.apply(copied, Take(1))
    assert state.taken == []


def test_copy_state_of_the_game_is_used_where_there_is_one() -> None:
    calls: list[Any] = []
    game = Game(nim.plugin(copy_state=recording("copy_state", calls, "copy")))
    assert game.copy("state") == "copy"
    assert game.observe("state", None) == "copy"
    assert calls == [("state",), ("state",)]


# ---------------------------------------------------------------- family: action


def test_all_actions_make_the_table_of_each_options_and_seats() -> None:
    game = Game(nim.plugin())
    table = game.table(nim.Options(most=2), 2)
    assert table.actions == (Take(1), Take(2))
    assert game.table(nim.Options(most=2), 2) is table
    assert game.table(nim.Options(most=3), 2) is not table


def test_without_all_actions_indices_count_in_the_legal_actions() -> None:
    game = Game(nim.plugin(all_actions=None))
    table = game.table(nim.Options(), 2)
    assert not table.listed
    assert table.at(1, game.legal_actions(game.new(DEALER))) == Take(2)


def test_legal_actions_decide_what_may_be_played() -> None:
    game = Game(nim.plugin())
    state = game.new(DEALER, nim.Options(matches=2))
    assert list(game.legal_actions(state)) == [Take(1), Take(2)]
    with pytest.raises(IllegalActionError):
        game.play(state, Take(3))
    assert state == game.new(DEALER, nim.Options(matches=2))
    game.play(state, Take(1), game.legal_actions(state))
    assert state.matches == 1


def test_apply_action_changes_the_state_in_place() -> None:
    game = Game(nim.plugin())
    state = game.new(DEALER)
    game.play(state, Take(3))
    assert (state.matches, state.to_move, state.taken) == (2, 1, [3])


def test_explain_illegal_gets_what_the_seat_knows() -> None:
    calls: list[Any] = []
    hook = recording("explain_illegal", calls, "not now")
    game = Game(nim.hidden(explain_illegal=hook))
    state = game.new(DEALER)
    state.to_move = 1
    with pytest.raises(IllegalActionError, match=r"^not now$"):
        game.play(state, Take(9))
    assert calls == [(nim.Seen(state.options, None), Take(9))]


def test_without_explain_illegal_there_is_a_general_sentence() -> None:
    game = Game(nim.plugin())
    state = game.new(DEALER)
    with pytest.raises(
        IllegalActionError, match=r"Take\(number=9\) is not among the leg"
    ):
        game.play(state, Take(9))


def chancy(**hooks: Any) -> Game[Any, Any, Any]:
    return Game(
        nim.plugin(
            decision_point=lambda state: CHANCE,
            **nim.described(chance=True),
            **hooks,
        )
    )


def test_chance_outcomes_become_integer_weights() -> None:
    pairs = [(Take(1), 2), (Take(2), (1, 2)), (Take(3), [1, 3])]
    game = chancy(chance_outcomes=lambda state: pairs)
    assert game.chance_outcomes(None) == [(Take(1), 12), (Take(2), 3), (Take(3), 2)]
    drawn = {game.draw_chance(None, DEALER) for _ in range(99)}
    assert drawn == {Take(1), Take(2), Take(3)}
    with pytest.raises(GameError, match="chance is to act") as caught:
        game.play(game.new(DEALER), Take(1))
    assert caught.value.code == "action.not-your-turn"


@pytest.mark.parametrize(
    "pairs",
    [
        [],
        [(Take(1), 0)],
        [(Take(1), -1)],
        [(Take(1), 0.5)],
        [(Take(1), (1, 0))],
        [(Take(1), (1,))],
        [(Take(1), (1, 2, 3))],
        [(Take(1), (0.5, 1))],
        [(Take(1), None)],
    ],
    ids=str,
)
def test_chance_outcomes_need_exact_positive_weights(pairs: Any) -> None:
    game = chancy(chance_outcomes=lambda state: pairs)
    with pytest.raises(PluginError, match=r"chance_outcomes\(\) needs at least one"):
        game.draw_chance(None, DEALER)


def test_sample_chance_goes_first_and_does_for_large_spaces() -> None:
    game = chancy(sample_chance=lambda state, dealer: Take(1 + dealer.below(2)))
    assert {game.draw_chance(None, DEALER) for _ in range(50)} == {Take(1), Take(2)}
    with pytest.raises(GameError, match="too many chance outcomes"):
        game.chance_outcomes(None)


def test_format_action_writes_the_notation() -> None:
    game = Game(nim.plugin())
    assert game.format_action(Take(2)) == "take 2"
    assert game.table(nim.Options(), 2).parse(" TAKE  2") == Take(2)


def test_parse_action_reads_notation_where_there_is_no_table() -> None:
    game = Game(nim.plugin(all_actions=None, parse_action=lambda text: Take(int(text))))
    assert game.table(nim.Options(), 2).parse("7") == Take(7)


# ----------------------------------------------------------- family: observation


def test_observe_gets_the_seat_or_nobody() -> None:
    calls: list[Any] = []
    game = Game(nim.plugin(observe=recording("observe", calls, "seen")))
    assert game.observe("state", 1) == "seen"
    assert game.observe("state", None) == "seen"
    assert calls == [("state", 1), ("state", None)]


def test_without_observe_an_observation_is_a_copy() -> None:
    game = Game(nim.plugin())
    state = game.new(DEALER)
    seen = game.observe(state, 0)
    assert seen == state
    assert seen is not state
    assert seen.taken is not state.taken


def test_observe_action_shows_an_action_as_it_is_by_default() -> None:
    game = Game(nim.plugin())
    action = Take(1)
    assert game.observe_action(game.new(DEALER), action, None) is action


def test_observe_action_of_the_game_is_used_where_there_is_one() -> None:
    calls: list[Any] = []
    hook = recording("observe_action", calls, Take(0))
    game = Game(nim.plugin(observe_action=hook))
    assert game.observe_action("state", Take(1), 2) == Take(0)
    assert calls == [("state", Take(1), 2)]


def test_sample_state_draws_from_the_observation_alone() -> None:
    game = Game(nim.hidden())
    assert game.sample_state is not None
    state = game.sample_state(nim.Seen(nim.Options(), 3), DEALER)
    assert state.matches == 3
    assert Game(nim.plugin()).sample_state is None


def test_shuffle_hidden_rearranges_the_truth() -> None:
    game = Game(nim.hidden())
    assert game.shuffle_hidden is not None
    state = game.new(DEALER)
    for _ in range(20):
        game.shuffle_hidden(state, 1, DEALER)
    assert 1 <= state.matches <= 5
    assert Game(nim.plugin()).shuffle_hidden is None


# ------------------------------------------- families: picture, search, checks, bots


def test_draw_text_draws_an_observation() -> None:
    assert Game(nim.hidden()).draw_text(nim.Seen(nim.Options(), 2)) == "||"


def test_draw_svg_is_there_or_none() -> None:
    calls: list[Any] = []
    game = Game(nim.plugin(draw_svg=recording("draw_svg", calls, "<svg/>")))
    assert game.draw_svg is not None
    assert game.draw_svg("seen") == "<svg/>"
    assert Game(nim.plugin()).draw_svg is None


def test_evaluate_is_there_or_none() -> None:
    calls: list[Any] = []
    game = Game(nim.plugin(evaluate=recording("evaluate", calls, 0.5)))
    assert game.evaluate is not None
    assert game.evaluate("state", 1) == 0.5
    assert calls == [("state", 1)]
    assert Game(nim.plugin()).evaluate is None


def test_conserved_is_there_or_none() -> None:
    game = Game(nim.plugin(conserved=lambda state: {"matches": 5}))
    assert game.conserved is not None
    assert game.conserved("state") == {"matches": 5}
    assert Game(nim.plugin()).conserved is None


def test_rotate_seats_is_there_or_none() -> None:
    calls: list[Any] = []
    hook = recording("rotate_seats", calls, "rotated")
    game = Game(nim.plugin(rotate_seats=hook))
    assert game.rotate_seats is not None
    assert game.rotate_seats("state") == "rotated"
    assert calls == [("state",)]
    assert Game(nim.plugin()).rotate_seats is None


@frozen
class Greedy:
    pass


def test_bots_are_offered_by_name() -> None:
    game = Game(nim.plugin(bots=lambda: {"greedy": Greedy}))
    assert game.bots["greedy"]() == Greedy()
    with pytest.raises(TypeError):
        game.bots["mine"] = Greedy  # type: ignore[index]
    assert Game(nim.plugin()).bots == {}


# ---------------------------------------------------------------------- variants


def test_describe_variant_tells_what_the_variant_changes() -> None:
    info = variant_info(nim.variant("no-pass", ["nim", "chess"]))
    assert info == VariantInfo(
        id="no-pass", title="no-pass", summary="-", version=2, games=("nim", "chess")
    )
