"""The search bots: settings, legality in every game, reproducibility, the clock."""

from __future__ import annotations

import time

import pytest
from tests.bots.boards import (
    BUNDLED,
    CONNECT_FOUR,
    GAMES,
    KUHN_POKER,
    TIC_TAC_TOE,
    Told,
    ask,
    play,
    seated,
)

from fritillary import FastDealer, Game, Plugin, UniformBot, hookimpl
from fritillary.bots.protocol import Clock
from fritillary.bots.search import FlatMcBot, IsmctsBot, MctsBot
from fritillary.core.errors import GameError, UsageError
from fritillary.referee.lineup import make_bot, parse_player

LEPIDOPTERY = BUNDLED["lepidoptery"]
BOTS = {"mcts": MctsBot, "ismcts": IsmctsBot, "flat-mc": FlatMcBot}


def bot_of(text, game):
    return make_bot(parse_player(text), game)


# -------------------------------------------------------------------- every game


@pytest.mark.parametrize("name", GAMES)
def test_ismcts_plays_every_game_from_its_hooks_alone(name):
    game = GAMES[name]
    assert play(game, [IsmctsBot(iterations=4), UniformBot()], seed=3).placing


@pytest.mark.parametrize("name", GAMES)
def test_flat_monte_carlo_plays_every_game(name):
    game = GAMES[name]
    assert play(game, [UniformBot(), FlatMcBot(iterations=3)], seed=4).placing


@pytest.mark.parametrize("name", ["connect-four", "pig", "tic-tac-toe"])
def test_mcts_plays_games_of_perfect_information_chance_included(name):
    bots = [MctsBot(iterations=30), MctsBot(iterations=30, reuse=False)]
    assert play(GAMES[name], bots, seed=5).placing


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_ismcts_plays_with_more_than_two_seats(seats):
    bots = [IsmctsBot(iterations=4) for _ in range(seats)]
    outcome = play(BUNDLED["butterfly-garden"], bots, seed=seats)
    assert len(outcome.placing) == seats


@pytest.mark.parametrize("objective", ["place", "score", "both"])
def test_each_objective_can_be_searched_for(objective):
    bots = [IsmctsBot(iterations=20, objective=objective), UniformBot()]
    assert play(LEPIDOPTERY, bots).placing


def test_rollouts_by_a_bot_of_the_game():
    bots = [IsmctsBot(iterations=20, rollout="greedy"), UniformBot()]
    assert play(LEPIDOPTERY, bots).placing


# ------------------------------------------------------------------------ settings


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("ismcts:iterations=0", "iterations must be an integer from 1, not 0"),
        ("ismcts:iterations=many", "iterations must be an integer from 1, not 'many'"),
        ("ismcts:iterations=true", "iterations must be an integer from 1, not True"),
        ("ismcts:time=soon", "'soon' is no duration; write 250ms"),
        ("ismcts:exploration=-1", "exploration must be a number from 0"),
        ("ismcts:exploration=nan", "exploration must be a number from 0"),
        ("ismcts:exploration=much", "exploration must be a number from 0"),
        ("ismcts:depth=-1", "depth must be an integer from 0, not -1"),
        ("ismcts:depth=3", "lepidoptery has no evaluate, which rollouts of 3 plies"),
        (
            "ismcts:rollout=wild",
            "no bot 'wild' to play rollouts; known: uniform",
        ),
        ("ismcts:objective=fame", "objective must be one of place, score, both"),
        ("ismcts:seed=x", "seed must be an integer, not 'x'"),
        ("ismcts:probabilities=yes", "probabilities must be true or false, not 'yes'"),
        ("ismcts:reuse=true", "unexpected keyword argument 'reuse'"),
        ("ismcts:speed=9", "unexpected keyword argument 'speed'"),
        ("mcts", "mcts cannot play lepidoptery: something is hidden in it; ismcts"),
    ],
)
def test_a_setting_that_makes_no_sense_is_told_in_one_line(text, says):
    with pytest.raises(UsageError) as caught:
        bot_of(text, LEPIDOPTERY)
    assert says in caught.value.message
    assert "\n" not in caught.value.message


def test_settings_of_mcts_alone():
    with pytest.raises(UsageError, match="reuse must be true or false, not 3"):
        bot_of("mcts:reuse=3", CONNECT_FOUR)
    assert isinstance(bot_of("mcts:reuse=false,time=10ms", CONNECT_FOUR), MctsBot)


def test_a_bot_made_by_hand_says_the_same_at_the_start():
    state = LEPIDOPTERY.new(FastDealer(0))
    with pytest.raises(GameError, match="mcts cannot play lepidoptery"):
        seated(MctsBot(), LEPIDOPTERY, state, 0)


# -------------------------------------------------------------- the same once more


@pytest.mark.parametrize("kind", BOTS)
def test_the_same_seed_and_iterations_give_the_same_choice(kind):
    game = CONNECT_FOUR
    state = game.new(FastDealer(0))

    def choose(match_seed, **settings):
        bot = seated(BOTS[kind](iterations=60, **settings), game, state, 0)
        decision = bot.decide(ask(game, state, seed=match_seed))
        return decision.action, decision.probabilities

    own = {choose(n, seed=7, probabilities=True) for n in range(5)}
    assert len(own) == 1
    assert choose(1, probabilities=True) == choose(1, probabilities=True)


def test_probabilities_are_shares_of_the_visits_and_only_told_if_wanted():
    state = CONNECT_FOUR.new(FastDealer(0))
    for wanted in (True, False):
        bot = MctsBot(iterations=50, probabilities=wanted)
        decision = seated(bot, CONNECT_FOUR, state, 0).decide(ask(CONNECT_FOUR, state))
        assert len(decision.probabilities) == (7 if wanted else 0)
        assert sum(decision.probabilities) == pytest.approx(1.0 if wanted else 0.0)


def test_a_forced_action_costs_no_search():
    state = KUHN_POKER.new(FastDealer(0))
    question = ask(KUHN_POKER, state)
    forced = type(question)(
        KUHN_POKER, 0, question.observation, question.legal[:1], None, Clock()
    )
    bot = seated(IsmctsBot(iterations=10**12), KUHN_POKER, state, 0)
    assert bot.decide(forced).action == question.legal[0]


# ------------------------------------------------------------------------ the clock


@pytest.mark.parametrize("kind", ["ismcts", "flat-mc"])
def test_a_search_ends_before_its_clock_does(kind):
    game = BUNDLED["butterfly-garden"]
    state = game.new(FastDealer(0))
    bot = seated(BOTS[kind](time="10min"), game, state, 0)
    begun = time.monotonic()
    bot.decide(ask(game, state, clock=Clock(move_ms=400)))
    # 400 ms are a promise of the bot; the rest is for the machine.
    assert time.monotonic() - begun < 60


def test_an_action_is_chosen_when_no_time_is_left():
    state = CONNECT_FOUR.new(FastDealer(0))
    bot = seated(MctsBot(time="1h"), CONNECT_FOUR, state, 0)
    legal = CONNECT_FOUR.legal_actions(state)
    question = ask(CONNECT_FOUR, state, clock=Clock(move_ms=0, left_ms=0))
    assert bot.decide(question).action in legal


# ------------------------------------------------------------------- the kept tree


def test_a_kept_tree_goes_on_with_what_it_knows():
    state = TIC_TAC_TOE.new(FastDealer(0))
    bot = seated(MctsBot(iterations=200), TIC_TAC_TOE, state, 0)
    mine = bot.decide(ask(TIC_TAC_TOE, state)).action
    TIC_TAC_TOE.apply(state, mine)
    reply = TIC_TAC_TOE.legal_actions(state)[0]
    TIC_TAC_TOE.apply(state, reply)
    question = ask(TIC_TAC_TOE, state, events=[Told(mine), Told(reply)])
    search = bot.searching(question, question.rng)
    found = search.found()
    assert found.iterations > 0
    assert [each.action for each in found.candidates] == list(question.legal)
    search.iterate()
    assert search.found().iterations == found.iterations + 1


@pytest.mark.parametrize("events", [(), ("nonsense",), (Told("no action"),)])
def test_a_tree_that_cannot_be_kept_is_made_anew(events):
    state = TIC_TAC_TOE.new(FastDealer(0))
    bot = seated(MctsBot(iterations=50), TIC_TAC_TOE, state, 0)
    bot.decide(ask(TIC_TAC_TOE, state))
    for _ in range(2):
        TIC_TAC_TOE.apply(state, TIC_TAC_TOE.legal_actions(state)[0])
    question = ask(TIC_TAC_TOE, state, events=events)
    assert bot.searching(question, question.rng).found().iterations == 0
    assert bot.decide(question).action in question.legal


# ----------------------------------------------------------- truncated rollouts


class Evaluated:
    """Tic-tac-toe that says how good a position is: the centre is all that counts."""

    def __init__(self):
        from examples.tic_tac_toe import tic_tac_toe

        for name, each in vars(tic_tac_toe).items():
            setattr(self, name, each)
        self.asked = 0

    @hookimpl
    def evaluate(self, state, seat):
        self.asked += 1
        return 0.5 if seat == 0 else -0.5


def test_a_truncated_rollout_asks_the_game():
    plugin = Evaluated()
    game = Game(Plugin("tic-tac-toe", plugin))
    state = game.new(FastDealer(0))
    bot = seated(bot_of("mcts:depth=0,iterations=20", game), game, state, 0)
    search = bot.searching(ask(game, state), ask(game, state).rng)
    for _ in range(20):
        search.iterate()
    assert plugin.asked == 40
    assert {each.value for each in search.found().candidates} == {0.75}
