import random

import pytest
from examples.kuhn_poker import kuhn_poker
from tests.testing.mutants import sound

from fritillary import Ask, Bot, Clock, FastDealer, MatchStart, Outcome, Resign
from fritillary.core.errors import UsageError
from fritillary.testing import ScriptedBot

GAME = sound(kuhn_poker)


def ask():
    state = GAME.new(FastDealer(1))
    observation = GAME.observe(state, 0)
    legal = GAME.legal_actions(state)
    return Ask(GAME, 0, observation, legal, random.Random(1), Clock())


def test_it_is_a_bot_and_remembers_what_it_was_told():
    bot = ScriptedBot([])
    assert isinstance(bot, Bot)
    start = MatchStart("m", GAME, GAME.options(), 0, 2)
    outcome = Outcome.ranked("fold", (1, -1))
    bot.start(start)
    bot.end(outcome)
    assert (bot.started, bot.ended, bot.outcome) == (start, True, outcome)


def test_it_answers_in_order_with_actions_notations_and_functions():
    resign = Resign()
    script = [kuhn_poker.BET, "check", lambda ask: ask.legal[1], resign]
    bot = ScriptedBot(script)
    answers = [bot.decide(ask()) for _ in script]
    assert answers == [kuhn_poker.BET, kuhn_poker.CHECK, kuhn_poker.BET, resign]
    assert len(bot.asks) == 4


def test_it_calls_a_function_for_ever():
    bot = ScriptedBot(lambda ask: ask.legal[0])
    assert [bot.decide(ask()) for _ in range(3)] == [kuhn_poker.CHECK] * 3


def test_it_raises_an_exception_of_the_script():
    bot = ScriptedBot([RuntimeError("boom"), KeyError])
    with pytest.raises(RuntimeError, match="boom"):
        bot.decide(ask())
    with pytest.raises(KeyError):
        bot.decide(ask())


def test_a_used_up_script_is_an_error_unless_something_follows():
    with pytest.raises(UsageError, match="0 answers is used up"):
        ScriptedBot([]).decide(ask())
    bot = ScriptedBot(["bet"], then=lambda ask: ask.legal[0])
    assert [bot.decide(ask()) for _ in range(2)] == [kuhn_poker.BET, kuhn_poker.CHECK]


def test_a_notation_that_is_not_legal_is_an_error():
    with pytest.raises(UsageError, match="'fold', but legal are: check, bet"):
        ScriptedBot(["fold"]).decide(ask())
