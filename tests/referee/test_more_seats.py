"""Three and four seats: stand-ins play on for forfeited ones, which are ranked last."""

from __future__ import annotations

import pytest
from tests.referee import race
from tests.referee.race import Options, registry
from tests.referee.support import (
    ILLEGAL,
    MALFORMED,
    NEVER,
    Do,
    Scripted,
    played,
    policy,
)

from fritillary import BaseBot, Resign
from fritillary.core.errors import UsageError
from fritillary.record.events import ActionTaken, Resigned
from fritillary.record.terms import (
    ClockSettings,
    EndKind,
    Fault,
    PlayerInfo,
    Policy,
    Source,
    Terms,
)
from fritillary.referee.player import Answer, LocalPlayer, PlayerFault

FAR = Do(Answer(index=2))

RUNNING = dict.fromkeys(range(1, 5), FAR)

STEPS = {
    Fault.ILLEGAL: ILLEGAL,
    Fault.MALFORMED: MALFORMED,
    Fault.LATE: NEVER,
    Fault.DISCONNECTED: Do(PlayerFault(Fault.DISCONNECTED, "gone")),
    Fault.CRASHED: Do(PlayerFault(Fault.CRASHED, "boom")),
    Fault.FLOODING: Do(PlayerFault(Fault.FLOODING, "too much")),
}

CLOCK = ClockSettings(base_ms=60_000)


def sources(game, seat):
    return [a.source for a in game.all(ActionTaken) if a.seat == seat]


@pytest.mark.parametrize("moment", [1, 3, 4])
@pytest.mark.parametrize("fault", STEPS)
@pytest.mark.parametrize("seats", [3, 4])
def test_a_forfeited_seat_is_played_on_and_ranked_last(fault, moment, seats):
    # It would have won.
    bad = Scripted({**RUNNING, moment: STEPS[fault]})
    players = [Scripted(), bad, *(Scripted() for _ in range(seats - 2))]
    game = played(players, clocks=CLOCK)
    finish = game.finish
    assert (finish.kind, finish.code) == (EndKind.FORFEITED, "match.forfeited")
    assert finish.outcome.reason == "finish"
    assert finish.outcome.placing[1] == seats
    assert set(finish.outcome.placing) == {1, seats}
    by_itself = moment - 1
    assert sources(game, 1) == (
        [Source.PLAYER] * by_itself + [Source.STAND_IN] * (4 - by_itself)
    )
    # It is asked nothing more, but hears everything to the end.
    assert len(bad.requests) == moment
    assert len(bad.events) == len(players[0].events)
    assert bad.log[-1] is game.result


@pytest.mark.parametrize("fault", STEPS)
def test_with_void_the_others_do_not_play_on(fault):
    terms = Terms(policy=policy(**{fault.value: "void"}))
    game = played(
        [Scripted(), Scripted({2: STEPS[fault]}), Scripted()], terms=terms, clocks=CLOCK
    )
    assert game.finish.kind is EndKind.VOID
    assert len(game.all(ActionTaken)) == 4


def test_the_last_seat_left_wins_at_once():
    players = [Scripted({2: ILLEGAL}), Scripted(), Scripted({3: MALFORMED})]
    game = played(players)
    assert game.finish.kind is EndKind.FORFEITED
    assert game.finish.code == "fault.malformed"
    assert game.finish.outcome.placing == (2, 1, 2)
    assert game.finish.outcome.scores == (0, 1, 0)


def test_several_forfeited_seats_share_the_last_place():
    players = [
        Scripted({2: ILLEGAL}),
        Scripted(),
        Scripted({3: MALFORMED}),
        Scripted(RUNNING),
    ]
    game = played(players)
    assert game.finish.code == "match.forfeited"
    assert game.finish.outcome.placing == (3, 2, 3, 1)
    assert game.finish.message == "seats forfeited: 0, 2"


def test_three_of_four_forfeited_end_the_match():
    players = [Scripted({n: ILLEGAL}) for n in (1, 2, 3)]
    game = played([*players, Scripted()])
    assert game.finish.code == "fault.illegal"
    assert game.finish.outcome.placing == (2, 2, 2, 1)


def test_who_resigns_is_ranked_last_and_played_on():
    players = [
        Scripted(),
        Scripted(RUNNING | {3: Do(Answer(resign=True), 1)}),
        Scripted(),
    ]
    game = played(players, clocks=CLOCK)
    assert game.finish.code == "match.forfeited"
    assert game.finish.outcome.placing == (1, 3, 1)
    [resigned] = game.all(Resigned)
    assert (resigned.seat, resigned.charged_ms) == (1, 1_000)
    assert sources(game, 1) == [Source.PLAYER] * 2 + [Source.STAND_IN] * 2
    assert not game.rulings


def test_with_two_seats_resigning_ends_the_match():
    game = played([Scripted({2: Do(Answer(resign=True))}), Scripted()])
    assert (game.finish.kind, game.finish.code) == (EndKind.FORFEITED, "seat.resigned")
    assert game.finish.outcome.placing == (2, 1)


def test_a_turn_of_several_actions_is_finished_by_the_stand_in():
    options = Options(rounds=2, in_a_row=3)
    game = played([Scripted(), Scripted({2: ILLEGAL}), Scripted()], options=options)
    assert sources(game, 1) == [Source.PLAYER] + [Source.STAND_IN] * 5


@pytest.mark.parametrize(
    ("refusing", "kind", "placing"),
    [
        ((1,), EndKind.FORFEITED, (1, 3, 1)),
        ((0, 2), EndKind.FORFEITED, (2, 1, 2)),
        ((0, 1, 2), EndKind.VOID, None),
    ],
)
def test_seats_that_refuse_to_start(refusing, kind, placing):
    players = [
        Scripted(accept=Do(PlayerFault(Fault.REFUSED_TO_START, "no")))
        if seat in refusing
        else Scripted()
        for seat in range(3)
    ]
    game = played(players)
    assert game.finish.kind is kind
    assert [ruling.seat for ruling in game.rulings] == list(refusing)
    if placing:
        assert game.finish.outcome.placing == placing
    else:
        assert game.finish.outcome is None


def test_a_void_for_one_that_refuses_ends_it_at_the_first():
    no = Do(PlayerFault(Fault.REFUSED_TO_START, "no"))
    terms = Terms(policy=policy(refused_to_start="void"))
    game = played([Scripted(accept=no), Scripted(), Scripted(accept=no)], terms=terms)
    assert game.finish.kind is EndKind.VOID
    assert [ruling.seat for ruling in game.rulings] == [0]


def test_after_a_stalled_seat_the_ceiling_begins_anew_for_the_others():
    terms = Terms(ceiling_ms=10_000, margin_ms=0)
    players = [
        Scripted({2: Do(after=6)}),
        Scripted({2: NEVER}),
        Scripted({2: Do(after=6)}),
    ]
    game = played(players, terms=terms)
    assert [(r.seat, r.fault) for r in game.rulings] == [(1, Fault.STALLED)]
    assert game.finish.outcome.placing == (1, 3, 1)


# ------------------------------------------------------------------- other stand-ins


class Farthest(BaseBot):
    """Sees what its seat may see, and goes as far as it can."""

    made: list[Farthest] = []  # noqa: RUF012 - of the test

    def __init__(self):
        self.made.append(self)
        self.starts = []
        self.looks = []

    def start(self, info):
        self.starts.append(info)

    def decide(self, ask):
        self.looks.append(ask.observation)
        return ask.legal[-1]


def named(bots):
    return registry(bots=lambda: bots)


def standing_in(name):
    return Terms(policy=Policy(stand_in=name), margin_ms=0)


def test_the_policy_may_name_a_bot_of_the_game_as_stand_in():
    Farthest.made.clear()
    game = played(
        [Scripted(), Scripted({3: ILLEGAL}), Scripted({4: ILLEGAL}), Scripted()],
        registry=named({"farthest": Farthest}),
        terms=standing_in("farthest"),
    )
    taken = [a for a in game.all(ActionTaken) if a.source is Source.STAND_IN]
    assert [(a.seat, a.index) for a in taken] == [(1, 2), (1, 2), (2, 2)]
    playing = [bot for bot in Farthest.made if bot.starts]
    assert [bot.starts[0].seat for bot in playing] == [1, 2]
    assert playing[0].looks[0].seat == 1
    assert playing[0].starts[0].seed != playing[1].starts[0].seed


class AsyncBot(BaseBot):
    async def decide(self, ask):
        return ask.legal[0]


@pytest.mark.parametrize("name", ["nobody", "exec:rm", "slow"])
def test_a_stand_in_that_cannot_serve_is_refused_before_the_match(name):
    with pytest.raises(UsageError):
        played(
            [Scripted(), Scripted(), Scripted()],
            registry=named({"slow": AsyncBot}),
            terms=standing_in(name),
        )


@pytest.mark.parametrize("answer", [None, race.STEPS[3], Resign(), ZeroDivisionError])
def test_a_stand_in_that_fails_makes_the_match_void(answer):
    def choose(ask):
        if isinstance(answer, type):
            raise answer
        return answer

    game = played([Scripted(), Scripted({3: ILLEGAL}), Scripted()], stand_in=choose)
    assert game.finish.code == "referee.error"


def test_local_bots_are_played_on_as_well():
    class Quitter(BaseBot):
        light = True

        def decide(self, ask):
            return Resign() if ask.observation.turn > 3 else ask.legal[0]

    class First(BaseBot):
        light = True

        def decide(self, ask):
            return ask.legal[0]

    players = [
        LocalPlayer(bot, PlayerInfo("x")) for bot in (First(), Quitter(), First())
    ]
    game = played(players)
    assert game.finish.outcome.placing == (1, 3, 1)
    assert sources(game, 1) == [Source.PLAYER] + [Source.STAND_IN] * 3
