"""Every fault, at every moment of a match, under every policy: two seats.

A table: each row says what must come of it, whoever is at fault.
"""

from __future__ import annotations

import pytest
from attrs import frozen
from tests.referee.support import NEVER, Do, Played, Scripted, played, policy

from fritillary.record.events import ActionTaken, Ruling
from fritillary.record.terms import (
    ClockSettings,
    Consequence,
    EndKind,
    Fault,
    Source,
    Terms,
)
from fritillary.referee.gate import GENERAL
from fritillary.referee.player import Answer, PlayerFault
from fritillary.referee.seen import Acted

#: The match has 4 rounds; the number of the seat's own request.
MOMENTS = {"first": 1, "middle": 3, "last": 4}

ROUNDS = 4


@frozen
class Case:
    """How a fault comes about, and what is written and told of it.

    Args:
        step: what the player does.
        code: of the ruling.
        told: part of what the seat at fault is told.
        offending: as in the record.
        charged_ms: for one attempt.
    """

    step: Do
    code: str
    told: str
    offending: bytes = b""
    charged_ms: int = 2_000


def _raises(fault: Fault, offending: bytes = b"") -> Do:
    return Do(PlayerFault(fault, "details for you", offending=offending), after=2)


CASES = {
    Fault.ILLEGAL: Case(
        Do(Answer(index=3), after=2),
        "action.illegal",
        "4 is too far with the secret",
        b"index:3",
    ),
    Fault.MALFORMED: Case(
        Do(Answer(text="fly"), after=2),
        "action.invalid",
        "'fly' is no action",
        b"text:fly",
    ),
    Fault.LATE: Case(NEVER, "fault.late", "the clock ran out", charged_ms=7_000),
    Fault.STALLED: Case(NEVER, "fault.stalled", "ceiling", charged_ms=20_000),
    Fault.DISCONNECTED: Case(
        _raises(Fault.DISCONNECTED), "fault.disconnected", "details for you"
    ),
    Fault.CRASHED: Case(_raises(Fault.CRASHED), "fault.crashed", "details for you"),
    Fault.FLOODING: Case(
        _raises(Fault.FLOODING, b"bytes:\xff" + b"x" * 9_000),
        "fault.flooding",
        "details for you",
        b"bytes:\xff" + b"x" * 4_089,
    ),
}

POLICIES = {
    "forfeit": ("forfeit", 0),
    "substitute": ("substitute", 0),
    "void": ("void", 0),
    "retry, forfeit": ("retry:2,forfeit", 2),
    "retry, substitute": ("retry:2,substitute", 2),
    "retry, void": ("retry:2,void", 2),
}

RETRYABLE = (Fault.ILLEGAL, Fault.MALFORMED)

ROWS = [
    pytest.param(fault, moment, name, seat, id=f"{fault.value}-{moment}-{name}-{seat}")
    for fault in CASES
    for moment in MOMENTS
    for name, (_, retries) in POLICIES.items()
    for seat in (0, 1)
    if not retries or fault in RETRYABLE
]


def play(fault: Fault, moment: str, rule: str, seat: int, attempts: int) -> Played:
    case = CASES[fault]
    first = MOMENTS[moment]
    # A retry is a request of its own.
    script = {first + attempt: case.step for attempt in range(attempts)}
    players = [Scripted(), Scripted()]
    players[seat] = Scripted(script)
    # Stalling needs a seat without a clock.
    clock = ClockSettings(base_ms=90_000, increment_ms=500, move_ms=7_000)
    if fault is Fault.STALLED:
        clock = ClockSettings()
    terms = Terms(
        policy=policy(**{fault.value.replace("-", "_"): rule}),
        margin_ms=50,
        ceiling_ms=20_000,
    )
    return played(players, clocks=clock, terms=terms)


@pytest.mark.parametrize(("fault", "moment", "name", "seat"), ROWS)
def test_a_fault_has_the_consequence_that_the_policy_names(fault, moment, name, seat):
    rule, retries = POLICIES[name]
    case = CASES[fault]
    consequence = Consequence(rule.split(",")[-1])
    first = MOMENTS[moment]
    game = play(fault, moment, rule, seat, retries + 1)

    # The record: one ruling for each attempt, with what was received.
    rulings = game.rulings
    if fault is not Fault.STALLED:
        assert len(rulings) == retries + 1
    for attempt, ruling in enumerate(rulings[: retries + 1], 1):
        last = attempt == retries + 1
        assert ruling.seat == seat
        assert ruling.fault is fault
        assert ruling.code == case.code
        assert case.told in ruling.message
        assert bytes.fromhex(ruling.offending) == case.offending
        assert ruling.attempt == attempt
        assert ruling.consequence is (consequence if last else Consequence.RETRY)

    # The clock: what was spent, in whole milliseconds, and nothing of the margin.
    left = 7_000
    for ruling in rulings[: retries + 1]:
        if ruling.fault is Fault.STALLED:
            assert ruling.left_ms is None
        else:
            assert ruling.charged_ms == case.charged_ms
            left -= case.charged_ms
            assert ruling.left_ms == left

    # What each was told: the seat the details, all others a general sentence.
    own, other = game.players[seat], game.players[1 - seat]
    seen = [event.body for event in game.watching.events]
    for bodies, open_to in ((own.bodies, True), (other.bodies, False), (seen, False)):
        told = [body for body in bodies if getattr(body, "fault", None) is fault]
        assert len(told) >= retries + 1
        for number, ruled in enumerate(told[: retries + 1], 1):
            assert ruled.seat == seat
            assert ruled.retries_left == max(0, retries - number)
            if open_to:
                assert case.told in ruled.problem.message
            else:
                assert ruled.problem.message == GENERAL[fault]
    assert "details for you" not in repr(other.log)
    assert "secret" not in repr([*other.bodies, *seen])

    # The request is closed as ruled, with what was charged.
    closure = own.closures[first - 1]
    assert closure.how == "ruled"
    assert closure.problem.code == case.code
    assert closure.charged_ms == rulings[0].charged_ms == case.charged_ms

    # The end.
    finish = game.finish
    if consequence is Consequence.VOID:
        assert finish.kind is EndKind.VOID
        assert finish.code == f"fault.{fault.value}"
        assert finish.outcome is None
    elif consequence is Consequence.FORFEIT:
        assert finish.kind is EndKind.FORFEITED
        assert finish.code == f"fault.{fault.value}"
        assert finish.outcome.reason == "forfeit"
        assert finish.outcome.placing == ((2, 1) if seat == 0 else (1, 2))
        assert finish.outcome.scores == ((0, 1) if seat == 0 else (1, 0))
    else:
        assert finish.kind is EndKind.PLAYED
        actions = game.all(ActionTaken)
        assert len(actions) == 2 * ROUNDS
        substituted = [a for a in actions if a.source is Source.SUBSTITUTE]
        ply = 2 * (first - 1) + seat
        assert substituted[0] is actions[ply]
        assert all(a.charged_ms == 0 and a.server_ms is None for a in substituted)
        seen_as = [b for b in other.bodies if isinstance(b, Acted)]
        assert seen_as[ply].source is Source.SUBSTITUTE
        # After the ceiling nobody is waited for any more.
        expected = 2 * ROUNDS - ply if fault is Fault.STALLED else 1
        assert len(substituted) == expected
        assert len(rulings) == expected + retries


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("fault", RETRYABLE)
@pytest.mark.parametrize("faults", [1, 2])
def test_a_mended_decision_counts_and_the_clock_ran_on(fault, moment, faults):
    game = play(fault, moment, "retry:2,forfeit", 1, faults)
    assert game.finish.kind is EndKind.PLAYED
    assert [ruling.consequence for ruling in game.rulings] == (
        [Consequence.RETRY] * faults
    )
    ply = 2 * (MOMENTS[moment] - 1) + 1
    action = game.all(ActionTaken)[ply]
    assert action.source is Source.PLAYER
    # The mended answer came at once; before, each attempt took two seconds.
    assert action.charged_ms == 0
    assert sum(ruling.charged_ms for ruling in game.rulings) == 2_000 * faults
    request = game.players[1].requests[MOMENTS[moment] - 1 + faults]
    assert request.attempt == faults + 1
    assert request.problem.code == CASES[fault].code
    assert game.match.clocks[1].base_ms == 90_000 + 4 * 500 - 2_000 * faults


START = {
    "declined": Scripted(accept=Do(PlayerFault(Fault.REFUSED_TO_START, "no time"))),
    "lost before": Scripted(accept=Do(PlayerFault(Fault.DISCONNECTED, "gone"))),
    "silent": Scripted(accept=NEVER),
    "declined later": Scripted(ready=Do(PlayerFault(Fault.CRASHED, "no memory"))),
    "never ready": Scripted(ready=NEVER),
    "lost while ready": Scripted(
        ready=Do(PlayerFault(Fault.DISCONNECTED, "g"), after=3)
    ),
}


@pytest.mark.parametrize("rule", ["forfeit", "void"])
@pytest.mark.parametrize("how", START)
@pytest.mark.parametrize("seat", [0, 1])
def test_a_seat_that_refuses_to_start_has_that_fault(how, rule, seat):
    players = [Scripted(), Scripted()]
    refusing = START[how]
    players[seat] = refusing
    refusing.log.clear()
    terms = Terms(policy=policy(refused_to_start=rule), margin_ms=50)
    game = played(players, terms=terms)
    [ruling] = game.rulings
    assert (ruling.seat, ruling.fault) == (seat, Fault.REFUSED_TO_START)
    assert ruling.consequence.value == rule
    assert game.finish.code == "fault.refused-to-start"
    assert not any(player.requests for player in players)
    if rule == "void":
        assert game.finish.kind is EndKind.VOID
    else:
        assert game.finish.kind is EndKind.FORFEITED
        assert game.finish.outcome.placing[seat] == 2


def test_a_match_for_which_nobody_gets_ready_is_void_whatever_the_policy():
    players = [Scripted(accept=NEVER), Scripted(ready=NEVER)]
    game = played(players)
    assert game.finish.kind is EndKind.VOID
    assert game.finish.code == "fault.refused-to-start"
    assert [ruling.seat for ruling in game.rulings] == [0, 1]
    assert {ruling.consequence for ruling in game.rulings} == {Consequence.VOID}


def test_rulings_stand_between_request_and_next_request():
    game = play(Fault.ILLEGAL, "middle", "retry:2,substitute", 1, 3)
    kinds = [type(event) for event in game.record.events]
    at = kinds.index(Ruling)
    assert kinds[at : at + 4] == [Ruling, Ruling, Ruling, ActionTaken]
