"""A seat is blamed for its own faults alone: those of the game make the match void."""

# ruff: noqa: ARG005 - hooks have all their arguments, used or not

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.referee import race
from tests.referee.race import LEGAL, STEPS, Step
from tests.referee.support import (
    ILLEGAL,
    MALFORMED,
    Do,
    Scripted,
    played,
    policy,
)

from fritillary import ACTS, BaseBot
from fritillary.core.errors import PluginError, RecordError
from fritillary.record.terms import EndKind, Fault, PlayerInfo, Terms
from fritillary.referee.lineup import make_bot, parse_player
from fritillary.referee.player import Answer, LocalPlayer, PlayerFault
from fritillary.referee.verify import verify


class First(BaseBot):
    """Takes the first legal action."""

    light = True

    def decide(self, ask: Any) -> Any:
        return next(iter(ask.legal))


class Last(First):
    def decide(self, ask: Any) -> Any:
        return ask.legal[-1]


class Looking(First):
    def decide(self, ask: Any) -> Any:
        assert ask.observation.options.rounds
        assert sum(ask.observation.totals) >= 0
        return LEGAL[0]


class Threaded(Last):
    light = False


class Waiting(BaseBot):
    async def decide(self, ask: Any) -> Any:
        return ask.legal[-1]


BOTS = [First, Last, Looking, Threaded, Waiting]


def local(bot: Any) -> LocalPlayer:
    return LocalPlayer(bot(), PlayerInfo("local"))


def check_void(game: Any) -> None:
    assert game.finish.kind is EndKind.VOID
    assert game.finish.code == "referee.error"
    [ruling] = game.rulings
    assert (ruling.fault, ruling.seat) == (Fault.REFEREE_ERROR, None)


def changing(state):
    state.totals.append(7)
    return LEGAL


def with_more(state):
    """Grow, and hand out what has grown."""
    state.blown.append(1)
    return (*LEGAL, Step(90 + len(state.blown)))


def unsteady():
    calls = []

    def legal_actions(state):
        calls.append(state)
        return LEGAL if len(calls) % 2 else LEGAL[:2]

    return legal_actions


#: Rules that hand out what no bot can answer, whatever it does.
HOPELESS = {
    "outside": lambda state: (Step(99),),
    "a str": lambda state: "abc",
    "a number": lambda state: 7,
    "none": lambda state: None,
    "a generator": lambda state: (step for step in LEGAL),
    "a set": lambda state: set(LEGAL),
    "a mapping": lambda state: dict.fromkeys(LEGAL, 1),
    "empty list": lambda state: [],
    "another class": lambda state: (race.Wind(1),),
    "unhashable": lambda state: ([], {}),
}

#: Rules whose mistakes show when a seat is about to be blamed.
WRONG = {
    **HOPELESS,
    "twice": lambda state: (*LEGAL, LEGAL[-1]),
    "out of order": lambda state: LEGAL[::-1],
    "a list with duplicates": lambda state: [*LEGAL, *LEGAL],
    "one outside": lambda state: (*LEGAL, Step(99)),
    "changing": changing,
    "growing": with_more,
    "unsteady": unsteady(),
}


@pytest.mark.parametrize("bot", BOTS)
@pytest.mark.parametrize("what", HOPELESS)
def test_no_bot_loses_by_legal_actions_that_are_none(what, bot):
    registry = race.registry(legal_actions=HOPELESS[what])
    check_void(played([local(bot), local(bot)], registry=registry, holds=False))


@pytest.mark.parametrize(
    "step",
    [
        ILLEGAL,
        MALFORMED,
        Do(Answer(index=77)),
        Do(Answer(data={"type": "step", "size": 90})),
        Do(PlayerFault(Fault.CRASHED, "it fell")),
        Do(PlayerFault(Fault.DISCONNECTED, "it went")),
        Do(PlayerFault(Fault.FLOODING, "it shouted")),
    ],
    ids=["illegal", "malformed", "index", "data", "crashed", "gone", "flooding"],
)
@pytest.mark.parametrize("what", WRONG)
def test_no_seat_is_blamed_under_rules_that_are_broken(what, step):
    game = played(
        [Scripted({1: step}), Scripted()],
        registry=race.registry(legal_actions=WRONG[what]),
        holds=False,
    )
    check_void(game)


@pytest.mark.parametrize("step", [ILLEGAL, MALFORMED], ids=["illegal", "malformed"])
def test_a_retry_is_no_other_case(step):
    game = played(
        [Scripted({1: step}), Scripted()],
        registry=race.registry(legal_actions=WRONG["twice"]),
        terms=Terms(policy=policy(illegal="retry:2,forfeit", malformed="substitute")),
        holds=False,
    )
    check_void(game)


def wrong_class(state, seat):
    return state


def wrong_fields(state, seat):
    return race.Observation(None, seat, 5, "abc", "x")  # type: ignore[arg-type]


def no_totals(state, seat):
    return race.Observation(state.options, seat, 5, None, 1)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "observe", [wrong_class, wrong_fields, no_totals, lambda state, seat: None]
)
def test_no_bot_loses_by_an_observation_that_is_none(observe):
    registry = race.registry(observe=observe)
    check_void(played([local(Looking), local(Looking)], registry=registry, holds=False))


def test_no_bot_loses_by_an_observation_that_differs_each_time():
    count = iter(range(10**6))

    def observe(state, seat):
        return race.Observation(state.options, seat, next(count), (0, 0), state.turn)

    registry = race.registry(observe=observe)
    check_void(played([Scripted({1: ILLEGAL}), Scripted()], registry=registry))


def test_no_seat_is_blamed_when_it_was_another_ones_turn():
    count = iter(range(10**6))

    def decision_point(state):
        return ACTS[0] if next(count) == 0 else ACTS[1]

    registry = race.registry(decision_point=decision_point)
    check_void(
        played([Scripted({1: ILLEGAL}), Scripted()], registry=registry, holds=False)
    )


@pytest.mark.parametrize("result", [7, "step 1", STEPS, STEPS[0].size], ids=repr)
def test_what_shows_actions_gives_actions(result):
    registry = race.registry(observe_action=lambda state, action, seat: result)
    check_void(played([Scripted(), Scripted()], registry=registry))


@pytest.mark.parametrize("result", [7, None, b"no"], ids=repr)
def test_an_explanation_is_text(result):
    registry = race.registry(explain_illegal=lambda observation, action: result)
    check_void(played([Scripted({1: ILLEGAL}), Scripted()], registry=registry))


# ----------------------------------------------------------------- rules that are sound


@pytest.mark.parametrize(
    "legal_actions",
    [lambda state: list(LEGAL), lambda state: tuple(Step(size) for size in (1, 2, 3))],
    ids=["a list", "equal entries"],
)
@pytest.mark.parametrize(
    ("step", "fault"), [(ILLEGAL, Fault.ILLEGAL), (MALFORMED, Fault.MALFORMED)]
)
def test_sound_rules_blame_who_is_at_fault(legal_actions, step, fault):
    game = played(
        [Scripted({2: step}), Scripted()],
        registry=race.registry(legal_actions=legal_actions),
    )
    assert game.finish.kind is EndKind.FORFEITED
    [ruling] = game.rulings
    assert (ruling.fault, ruling.seat) == (fault, 0)


def test_a_bot_cannot_spoil_the_list_of_the_game():
    class Spoiling(First):
        def decide(self, ask):
            shared = list(ask.legal)
            shared.reverse()
            ask.legal.reverse()
            return shared[0]

    kept = list(LEGAL)
    registry = race.registry(legal_actions=lambda state: kept)
    game = played([local(Spoiling), local(First)], registry=registry)
    assert kept == list(LEGAL)
    [ruling] = game.rulings
    assert (ruling.fault, ruling.seat) == (Fault.CRASHED, 0)


# ------------------------------------------------------------------- exits and the like


class Panic(BaseException):
    """As an extension module or a test runner raises it."""


EXITS = [SystemExit(0), SystemExit(5), Panic("help"), asyncio.CancelledError()]

HOOKS = [
    "decision_point",
    "legal_actions",
    "apply_action",
    "observe",
    "observe_action",
    "new_state",
    "chance_outcomes",
    "explain_illegal",
]


def exiting(hook, error):
    def decision_point(state):
        raise error

    def legal_actions(state):
        raise error

    def apply_action(state, action):
        raise error

    def observe(state, seat):
        raise error

    def observe_action(state, action, seat):
        raise error

    def new_state(options, seats, dealer):
        raise error

    def chance_outcomes(state):
        raise error

    def explain_illegal(observation, action):
        raise error

    return race.registry(**{hook: locals()[hook]})


class Sees(Scripted):
    def look(self, request):
        request.observe()


PLAYERS: dict[str, Any] = {
    "asked": lambda: Sees({1: ILLEGAL}),
    "inline": lambda: local(Looking),
    "threaded": lambda: local(Threaded),
}


@pytest.mark.parametrize("error", EXITS, ids=repr)
@pytest.mark.parametrize("hook", HOOKS)
def test_a_hook_that_asks_for_an_exit_makes_the_match_void(hook, error):
    game = played(
        [Sees({2: ILLEGAL}), Sees()],
        registry=exiting(hook, error),
        options=race.Options(wind=True),
        holds=False,
    )
    check_void(game)


@pytest.mark.parametrize("error", EXITS, ids=repr)
@pytest.mark.parametrize("kind", PLAYERS)
def test_no_seat_is_blamed_for_an_exit_while_it_looks(kind, error):
    registry = exiting("observe", error)
    check_void(played([PLAYERS[kind](), PLAYERS[kind]()], registry=registry))


@pytest.mark.parametrize("hook", ["decision_point", "legal_actions", "observe"])
def test_an_interrupt_by_the_user_gets_through(hook):
    registry = exiting(hook, KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        played([Sees(), Sees()], registry=registry)


@pytest.mark.parametrize("error", EXITS[:3], ids=repr)
@pytest.mark.parametrize("method", ["start", "decide", "end"])
@pytest.mark.parametrize("base", [First, Threaded, Waiting])
def test_a_bot_that_asks_for_an_exit_harms_itself_alone(base, method, error):
    def fail(self, _):
        raise error

    bot = type("Bot", (base,), {method: fail})
    game = played([local(bot), local(First)])
    faults = {"start": [Fault.REFUSED_TO_START], "decide": [Fault.CRASHED], "end": []}
    assert [ruling.fault for ruling in game.rulings] == faults[method]
    assert all(ruling.seat == 0 for ruling in game.rulings)


@pytest.mark.parametrize("error", EXITS[:3], ids=repr)
@pytest.mark.parametrize("what", ["notify", "closed", "end"])
def test_a_listener_that_asks_for_an_exit_harms_nobody(what, error):
    class Deaf(Scripted):
        pass

    def fail(self, *_):
        raise error

    setattr(Deaf, what, fail)
    game = played([Deaf(), Scripted()], sound=False)
    assert game.finish.kind is EndKind.PLAYED


def test_the_error_of_the_log_names_the_game_the_hook_and_the_mend(caplog):
    registry = race.registry(legal_actions=WRONG["one outside"])
    check_void(
        played([Scripted({1: ILLEGAL}), Scripted()], registry=registry, holds=False)
    )
    [error] = [
        entry.exc_info[1] for entry in caplog.records if entry.exc_info is not None
    ]
    assert isinstance(error, PluginError)
    assert error.code == "plugin.legal"
    assert "race: legal_actions() gave Step(size=99), which is not" in error.message
    assert "add it to all_actions()" in error.message


@pytest.mark.parametrize("error", [*EXITS[:3], ZeroDivisionError()], ids=repr)
@pytest.mark.parametrize("text", ["odd", "odd:a=1"])
def test_a_bot_that_cannot_be_made_is_an_error_of_the_game(text, error):
    def odd(**_):
        raise error

    game = race.registry(bots=lambda: {"odd": odd}).game("race")
    with pytest.raises(PluginError, match=r"race: bots\(\) failed: "):
        make_bot(parse_player(text), game)


@pytest.mark.parametrize(
    "made", [None, 5, object()], ids=lambda made: type(made).__name__
)
def test_what_bots_makes_is_a_bot(made):
    game = race.registry(bots=lambda: {"odd": lambda: made}).game("race")
    with pytest.raises(PluginError, match="derive its class from BaseBot"):
        make_bot(parse_player("odd"), game)


# -------------------------------------------------------------------------- verifying


@pytest.mark.parametrize("error", EXITS[:3], ids=repr)
@pytest.mark.parametrize("hook", ["decision_point", "legal_actions", "apply_action"])
def test_rules_that_ask_for_an_exit_do_not_end_who_verifies(hook, error):
    game = played([Scripted(), Scripted()])
    with pytest.raises(RecordError, match=r"event 2: .*the rules fail"):
        verify(game.raw, exiting(hook, error))


@pytest.mark.parametrize("what", ["twice", "out of order", "changing"])
def test_a_ruling_under_broken_rules_does_not_verify(what):
    game = played([Scripted({1: ILLEGAL}), Scripted()])
    with pytest.raises(RecordError, match="event 2: the rules fail: race: ") as caught:
        verify(game.raw, race.registry(legal_actions=WRONG[what]))
    assert caught.value.code == "record.rules"
