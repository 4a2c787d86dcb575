"""Whatever the game's own code raises makes the match void and blames no seat."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from tests.referee import race
from tests.referee.local import local
from tests.referee.race import Options, registry
from tests.referee.support import ILLEGAL, Do, Scripted, played, policy

from fritillary import ACTS, BaseBot, Outcome, Over
from fritillary.record.events import ActionTaken, Ended
from fritillary.record.terms import EndKind, Fault, Terms
from fritillary.referee.player import Answer, PlayerFault
from fritillary.referee.seen import Ruled

ROUNDS = 4

#: Actions that were taken when the game fails.
MOMENTS = {"first": 0, "middle": 4, "last": 7}


class Looking(Scripted):
    """Looks at the observation, as every remote player does."""

    def look(self, request):
        request.observe()


class LookingBot(BaseBot):
    light = True

    def decide(self, ask):
        assert ask.observation.options is not None
        return ask.legal[0]


class CarelessBot(LookingBot):
    """Goes on when the observation cannot be had."""

    def decide(self, ask):
        with contextlib.suppress(ZeroDivisionError):
            assert ask.observation
        return ask.legal[0]


class AsyncBot(BaseBot):
    async def decide(self, ask):
        assert ask.observation
        return ask.legal[0]


PLAYERS = {
    "asked": Looking,
    "inline": lambda: local(LookingBot()),
    "careless": lambda: local(CarelessBot()),
    "async": lambda: local(AsyncBot()),
}


def failing(hook, turn, result=None):
    """Return the game, one of whose hooks fails from some turn on."""
    sound: Any = getattr(race, hook, None)

    def check(state):
        if state is None or state.turn >= turn:
            if result is None:
                raise ZeroDivisionError
            return True
        return False

    def decision_point(state):
        return result if check(state) else sound(state)

    def legal_actions(state):
        return result if check(state) else sound(state)

    def apply_action(state, action):
        check(state)
        sound(state, action)

    def observe(state, seat):
        check(state)
        return sound(state, seat)

    def explain_illegal(observation, action):
        check(observation)
        return sound(observation, action)

    def observe_action(state, action, seat):
        check(state)
        return action

    def chance_outcomes(state):
        check(state)
        return sound(state)

    def new_state(options, seats, dealer):
        check(None)

    return registry(**{hook: locals()[hook]})


def check_void(game, plies):
    finish = game.finish
    assert finish.kind is EndKind.VOID
    assert finish.code == "referee.error"
    assert finish.outcome is None
    [ruling] = game.rulings
    assert ruling.fault is Fault.REFEREE_ERROR
    assert ruling.seat is None
    assert "ZeroDivision" not in ruling.message
    assert len(game.all(ActionTaken)) == plies
    for player in game.players:
        if isinstance(player, Scripted):
            [ruled] = [body for body in player.bodies if isinstance(body, Ruled)]
            assert ruled.seat is None
            for closure in player.closures[:-1]:
                assert closure.how == "accepted"


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("kind", PLAYERS)
@pytest.mark.parametrize(
    "hook", ["decision_point", "legal_actions", "apply_action", "observe"]
)
def test_a_hook_that_raises_makes_the_match_void(hook, kind, moment):
    turn = MOMENTS[moment]
    game = played(
        [PLAYERS[kind](), PLAYERS[kind]()], registry=failing(hook, turn), holds=False
    )
    check_void(game, turn)


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("kind", PLAYERS)
def test_so_does_one_that_shows_actions(kind, moment):
    turn = MOMENTS[moment]
    game = played(
        [PLAYERS[kind](), PLAYERS[kind]()], registry=failing("observe_action", turn)
    )
    check_void(game, turn)


@pytest.mark.parametrize("kind", PLAYERS)
def test_so_does_a_deal_that_fails(kind):
    players = [PLAYERS[kind](), PLAYERS[kind]()]
    game = played(players, registry=failing("new_state", 0), holds=False)
    check_void(game, 0)


def test_so_does_a_chance_that_fails():
    options = Options(wind=True)
    game = played(
        [Scripted(), Scripted()],
        registry=failing("chance_outcomes", 4),
        options=options,
        holds=False,
    )
    check_void(game, 4)


@pytest.mark.parametrize("moment", MOMENTS)
def test_so_does_an_explanation_that_fails(moment):
    turn = MOMENTS[moment]
    players = [Scripted(), Scripted()]
    players[turn % 2] = Scripted({turn // 2 + 1: ILLEGAL})
    terms = Terms(policy=policy(illegal="retry:2,forfeit"))
    game = played(players, registry=failing("explain_illegal", turn), terms=terms)
    check_void(game, turn)
    assert players[turn % 2].closures[-1].how == "withdrawn"


@pytest.mark.parametrize(
    ("hook", "result"),
    [
        ("decision_point", "nonsense"),
        ("decision_point", ACTS[2]),
        ("decision_point", Over(Outcome.ranked("finish", (1, 2, 3)))),
        ("legal_actions", ()),
    ],
)
@pytest.mark.parametrize("kind", PLAYERS)
def test_so_does_a_hook_that_returns_nonsense(hook, result, kind):
    players = [PLAYERS[kind](), PLAYERS[kind]()]
    game = played(players, registry=failing(hook, 4, result), holds=False)
    check_void(game, 4)


def test_so_does_a_match_of_more_plies_than_the_game_promises():
    def decision_point(state):
        return ACTS[state.turn % 2]

    game = played(
        [Scripted(), Scripted()], registry=registry(decision_point=decision_point)
    )
    check_void(game, race.GAME.info.max_plies)


def test_a_failure_while_an_action_is_substituted_is_void_too():
    terms = Terms(policy=policy(illegal="substitute"))
    game = played(
        [Scripted({2: ILLEGAL}), Scripted()],
        registry=failing("apply_action", 2),
        terms=terms,
    )
    assert game.finish.code == "referee.error"
    assert [ruling.fault for ruling in game.rulings] == [
        Fault.ILLEGAL,
        Fault.REFEREE_ERROR,
    ]


@pytest.mark.parametrize(
    "failure",
    [
        ValueError("a bug of the service"),
        TimeoutError("not the referee's"),
        PlayerFault(Fault.REFEREE_ERROR, "the service failed"),
    ],
    ids=repr,
)
def test_a_player_that_fails_otherwise_than_by_a_fault_is_our_failure(failure):
    game = played([Scripted(), Scripted({3: Do(failure, after=1)})])
    check_void(game, 5)


@pytest.mark.parametrize("failure", [ValueError("bug"), TimeoutError("bug")], ids=repr)
@pytest.mark.parametrize("accepts", [True, False])
def test_so_it_is_before_the_match(failure, accepts):
    bad = Scripted(ready=Do(failure)) if accepts else Scripted(accept=Do(failure))
    game = played([Scripted(), bad])
    assert game.finish.code == "referee.error"
    assert game.all(Ended)[0].outcome is None


class Deaf(Scripted):
    """Raises whatever it is told."""

    def __init__(self, what):
        super().__init__()
        self.what = what

    def notify(self, event):
        super().notify(event)
        if self.what == "notify":
            raise ValueError

    def closed(self, closure):
        super().closed(closure)
        if self.what == "closed":
            raise ValueError

    def end(self, result):
        super().end(result)
        if self.what == "end":
            raise ValueError


@pytest.mark.parametrize("what", ["notify", "closed", "end"])
def test_a_player_that_does_not_listen_harms_nobody(what):
    game = played([Deaf(what), Scripted({3: Do(Answer(resign=True))})])
    assert game.finish.code == "seat.resigned"
    assert game.players[1].log[-1] is game.result


def test_a_watcher_that_raises_harms_nobody_and_is_told_no_more():
    told = []

    class Bad:
        def on_event(self, event):
            told.append(event)
            raise ValueError

        def on_end(self, result):
            raise AssertionError

    async def during(match):
        match.teller.watch(Bad())

    game = played([Scripted({1: Do(after=1)}), Scripted()], during=during)
    assert game.finish.kind is EndKind.PLAYED
    assert len(told) == 1
