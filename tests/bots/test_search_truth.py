"""The searches where the truth is known."""

from __future__ import annotations

import functools
import itertools
import random

import pytest
from examples.kuhn_poker.kuhn_poker import CALL, Options, State
from tests.bots.boards import CONNECT_FOUR, KUHN_POKER, TIC_TAC_TOE, ask, seated
from tests.examples.test_kuhn_poker import JACK, KING

from fritillary import FastDealer, Over
from fritillary.bots.search import IsmctsBot, MctsBot

# ----------------------------------------------------------------- tic-tac-toe


@pytest.mark.parametrize("make", [MctsBot, IsmctsBot])
@pytest.mark.parametrize("seat", [0, 1])
def test_tic_tac_toe_is_never_lost_whatever_the_other_seat_does(make, seat):
    game = TIC_TAC_TOE
    results, met = set(), set()

    def go_on(state):
        point = game.decision_point(state)
        if repr(state) in met:
            return
        met.add(repr(state))
        if isinstance(point, Over):
            results.add(point.outcome.placing)
            return
        if point.seat == seat:
            bot = seated(make(iterations=1_500, seed=1), game, state, seat)
            actions = (bot.decide(ask(game, state)).action,)
        else:
            actions = tuple(game.legal_actions(state))
        for action in actions:
            after = game.copy(state)
            game.apply(after, action)
            go_on(after)

    go_on(game.new(FastDealer(0)))
    won = (1, 2) if seat == 0 else (2, 1)
    assert results <= {won, (1, 1)}
    assert won in results


# ---------------------------------------------------------------- Connect Four


def solved(state, cache):
    """Return the value for the seat to act: 1 won, 0 drawn, -1 lost."""
    game = CONNECT_FOUR
    key = repr(state)
    if key not in cache:
        seat = game.decision_point(state).seat
        best = -1
        for action in game.legal_actions(state):
            best = max(best, worth(state, action, seat, cache))
            if best == 1:
                break
        cache[key] = best
    return cache[key]


def worth(state, action, seat, cache):
    game = CONNECT_FOUR
    after = game.copy(state)
    game.apply(after, action)
    point = game.decision_point(after)
    if isinstance(point, Over):
        first, second = point.outcome.placing
        return 0 if first == second else 1 if point.outcome.placing[seat] == 1 else -1
    return -solved(after, cache)


def end_games(wanted, empty):
    """Yield positions with so many empty cells in which some actions are mistakes."""
    rng = random.Random(20)
    game = CONNECT_FOUR
    found = 0
    while found < wanted:
        state = game.new(FastDealer(0))
        for _ in range(42 - empty):
            game.apply(state, rng.choice(game.legal_actions(state)))
            if isinstance(game.decision_point(state), Over):
                break
        else:
            seat = game.decision_point(state).seat
            cache: dict[str, int] = {}
            values = {
                action: worth(state, action, seat, cache)
                for action in game.legal_actions(state)
            }
            if len(set(values.values())) > 1:
                found += 1
                yield state, values


@pytest.mark.parametrize("empty", [8, 12])
def test_connect_four_end_games_are_solved(empty):
    for state, values in end_games(12, empty):
        bot = MctsBot(iterations=3_000, seed=1)
        seat = CONNECT_FOUR.decision_point(state).seat
        decision = seated(bot, CONNECT_FOUR, state, seat).decide(
            ask(CONNECT_FOUR, state)
        )
        assert values[decision.action] == max(values.values()), state


# ------------------------------------------------------------------ Kuhn poker

#: Kuhn (1950): the first seat loses so much of the ante in each deal.
KUHN_VALUE = -1 / 18


def strategy(seed):
    """Return what ISMCTS does, as probabilities, wherever a seat can get."""
    game, known = KUHN_POKER, {}

    def go_on(state):
        point = game.decision_point(state)
        if isinstance(point, Over):
            return
        seat, legal = point.seat, game.legal_actions(state)
        key = state.cards[seat], tuple(state.moves)
        if key not in known:
            bot = IsmctsBot(iterations=1_000, objective="score", probabilities=True)
            decision = seated(bot, game, state, seat).decide(
                ask(game, state, seed=f"{seed}/{key}")
            )
            known[key] = dict(zip(legal, decision.probabilities, strict=True))
        for action in legal:
            after = game.copy(state)
            game.apply(after, action)
            go_on(after)

    for cards in itertools.permutations(range(3), 2):
        go_on(State(Options(), cards, []))
    return known


def value(first, second):
    """Return the first seat's mean score, exactly."""
    game = KUHN_POKER

    def below(state):
        point = game.decision_point(state)
        if isinstance(point, Over):
            return point.outcome.scores[0]
        key = state.cards[point.seat], tuple(state.moves)
        total = 0.0
        shares = (first if point.seat == 0 else second)[key]
        for action, share in shares.items():
            after = game.copy(state)
            game.apply(after, action)
            total += share * below(after)
        return total

    deals = list(itertools.permutations(range(3), 2))
    return sum(below(State(Options(), cards, [])) for cards in deals) / len(deals)


def best_reply(known, seat):
    """Return the most that a seat that knows the other's strategy can get."""
    own = [key for key in known if len(key[1]) % 2 == seat]
    most = -9.0
    for choices in itertools.product(*(known[key] for key in own)):
        pure = {key: {action: 1.0} for key, action in zip(own, choices, strict=True)}
        mixed = {**known, **pure}
        got = value(mixed, known) if seat == 0 else -value(known, mixed)
        most = max(most, got)
    return most


@functools.cache
def strategies():
    return [strategy(seed) for seed in range(4)]


def test_kuhn_poker_against_itself_comes_near_the_value_of_the_game():
    values = [value(each, each) for each in strategies()]
    assert sum(values) / len(values) == pytest.approx(KUHN_VALUE, abs=0.05)


def test_in_kuhn_poker_little_can_be_won_from_it():
    lost = [(best_reply(one, 0) + best_reply(one, 1)) / 2 for one in strategies()]
    # Uniform play loses 0.458. Information-set MCTS does not converge to an
    # equilibrium (Cowling, Powley and Whitehouse 2012), so this is no small number.
    assert sum(lost) / len(lost) < 0.22


def test_a_king_always_calls_and_a_jack_never_does():
    for each in strategies():
        for (card, _), shares in each.items():
            if CALL in shares:
                if card == KING:
                    assert shares[CALL] > 0.95
                if card == JACK:
                    assert shares[CALL] < 0.1
