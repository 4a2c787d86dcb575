"""The checked door of a game: what a hook gives that it must not goes no further."""

# ruff: noqa: ARG005 - hooks have all their arguments, used or not

from __future__ import annotations

from typing import Any

import pytest
from tests.ids import steady
from tests.plugins import nim
from tests.plugins.nim import Options, Take

from fritillary import Game, PluginError, SealedDealer
from fritillary.core.errors import MatchOverError
from fritillary.plugins.checks import check_legal, legal_from

OPTIONS = Options()


def dealer() -> SealedDealer:
    return SealedDealer(bytes(32))


class Panic(BaseException):
    """As an extension module raises it."""


def ask(name: str, game: Game[Any, Any, Any], state: Any) -> Any:
    """Ask a game through its checked door."""
    return {
        "draw_text": lambda: game.text(state),
        "draw_svg": lambda: game.svg(state),
        "format_action": lambda: game.notation(Take(1)),
        "observe": lambda: game.seen(state, 0),
        "evaluate": lambda: game.value(state, 0),
        "explain_illegal": lambda: game.explain(state, Take(1)),
        "decision_point": lambda: game.outcome_of(state),
        "legal_actions": lambda: game.play(state, Take(1)),
    }[name]()


HOOKS: dict[str, Any] = {
    "draw_text": lambda result: lambda observation: result(),
    "draw_svg": lambda result: lambda observation: result(),
    "format_action": lambda result: lambda action: result(),
    "observe": lambda result: lambda state, seat: result(),
    "evaluate": lambda result: lambda state, seat: result(),
    "explain_illegal": lambda result: lambda observation, action: result(),
    "decision_point": lambda result: lambda state: result(),
    "legal_actions": lambda result: lambda state: result(),
}

WRONG: dict[str, list[Any]] = {
    "draw_text": [None, b"|||", 5],
    "draw_svg": [b"<svg", 5],
    "format_action": [None, b"take", 5],
    "observe": [None, "seen", Options()],
    "evaluate": ["good", 1.5, float("nan")],
    "explain_illegal": [None, 5],
    "decision_point": [None, "x", 0],
    "legal_actions": [None, "abc", {Take(1)}, iter([Take(1)]), (), []],
}

CASES = [(hook, value) for hook, values in WRONG.items() for value in values]


def told(hook: str, value: Any) -> PluginError:
    game: Game[Any, Any, Any] = Game(nim.plugin(**{hook: HOOKS[hook](value)}))
    with pytest.raises(PluginError) as caught:
        ask(hook, game, nim.State(OPTIONS, 5, 0, 2, []))
    return caught.value


@pytest.mark.parametrize(("hook", "value"), CASES, ids=lambda one: steady(one)[:30])
def test_a_wrong_result_names_the_game_the_hook_and_the_mend(
    hook: str, value: Any
) -> None:
    error = told(hook, lambda: value)
    assert f"nim: {hook}() " in error.message
    assert "must return" in error.message or "at least one" in error.message
    assert error.code in {"plugin.result", "plugin.legal"}


def test_a_picture_that_is_missing_is_none() -> None:
    game = Game(nim.plugin())
    state = game.new(dealer())
    assert game.svg(state) is None
    assert game.value(state, 0) is None


def test_sound_results_come_through() -> None:
    game = Game(
        nim.plugin(
            draw_svg=lambda observation: "<svg/>", evaluate=lambda state, seat: 1
        )
    )
    state = game.new(dealer())
    assert game.text(state) == "|||||"
    assert game.svg(state) == "<svg/>"
    assert game.notation(Take(2)) == "take 2"
    assert game.seen(state, None) == state
    assert game.value(state, 0) == 1.0
    assert game.legal(state) == (Take(1), Take(2), Take(3))
    assert game.point(state).seat == 0
    with pytest.raises(MatchOverError):
        game.legal(
            game.new(dealer(), Options(matches=1)).__class__(OPTIONS, 0, 1, 2, [])
        )


@pytest.mark.parametrize(
    "error", [ZeroDivisionError("x\x1b\n"), SystemExit(0), Panic("help")], ids=repr
)
@pytest.mark.parametrize(
    "hook", sorted(set(HOOKS) - {"decision_point", "legal_actions"})
)
def test_a_hook_that_raises_becomes_an_error_of_the_plugin(
    hook: str, error: BaseException
) -> None:
    def fail() -> Any:
        raise error

    found = told(hook, fail)
    assert found.code == "plugin.failed"
    assert found.__cause__ is error
    assert f"nim: {hook}() failed: {type(error).__name__}: " in found.message
    assert found.message.isprintable()


def test_an_interrupt_by_the_user_gets_through() -> None:
    def fail(observation: Any) -> str:
        raise KeyboardInterrupt

    game = Game(nim.plugin(draw_text=fail))
    with pytest.raises(KeyboardInterrupt):
        game.text(game.new(dealer()))


@pytest.mark.parametrize("error", [KeyError("k"), SystemExit(0), Panic()], ids=repr)
def test_a_deal_that_fails_is_an_error_of_the_plugin(error: BaseException) -> None:
    def new_state(options: Any, seats: int, dealer: Any) -> Any:
        raise error

    game = Game(nim.plugin(new_state=new_state))
    with pytest.raises(PluginError, match=r"nim: new_state\(\) failed: "):
        game.new(dealer())


@pytest.mark.parametrize("pairs", [None, 5, [Take(1)], [(1, 2, 3)], "ab"], ids=repr)
def test_chance_outcomes_are_pairs(pairs: Any) -> None:
    game = Game(
        nim.plugin(chance_outcomes=lambda state: pairs, **nim.described(chance=True))
    )
    with pytest.raises(PluginError, match=r"nim: chance_outcomes\(\) "):
        game.chance_outcomes(game.new(dealer()))


# ------------------------------------------------------------------- legal actions

GAME = Game(nim.plugin())
TABLE = GAME.table(OPTIONS, 2)
OPEN_GAME = Game(nim.plugin(all_actions=None))
OPEN = OPEN_GAME.table(OPTIONS, 2)


@pytest.mark.parametrize(
    ("legal", "words"),
    [
        ((Take(9),), "gave Take(number=9), which is not in the table"),
        ((Take(1), Take(1)), "gave Take(number=1), twice"),
        ((Take(2), Take(1)), "gave Take(number=1), twice, or after a later one"),
        (("take 1",), "gave 'take 1', which is no action of nim"),
        ((None,), "gave None, which is no action of nim"),
        (([],), "gave [], which is no action of nim"),
    ],
)
def test_legal_actions_are_entries_in_table_order(legal: Any, words: str) -> None:
    with pytest.raises(PluginError) as caught:
        check_legal("nim", GAME.codec, TABLE, legal)
    assert words in caught.value.message
    check_legal("nim", GAME.codec, TABLE, (Take(1), Take(3)))


@pytest.mark.parametrize(
    ("legal", "words"),
    [
        ((Take(1), Take(1)), "twice; give it once"),
        ((1,), "which is no action of nim"),
    ],
)
def test_without_a_table_they_are_actions_once_each(legal: Any, words: str) -> None:
    with pytest.raises(PluginError) as caught:
        check_legal("nim", OPEN_GAME.codec, OPEN, legal)
    assert words in caught.value.message
    check_legal("nim", OPEN_GAME.codec, OPEN, (Take(3), Take(1)))


def test_a_list_becomes_a_tuple() -> None:
    legal = (Take(1),)
    assert legal_from("nim", legal) is legal
    assert legal_from("nim", [Take(1)]) == legal
