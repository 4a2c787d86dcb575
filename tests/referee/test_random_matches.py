"""Random faults, times, pauses and aborts: what must be true holds all the same."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from typing import Any

import pytest
from tests.referee import race
from tests.referee.race import Options
from tests.referee.support import Do, Scripted, referee, run
from tests.referee.virtual_loop import sleep

from fritillary import BaseBot
from fritillary.record.events import Paused, Resigned, Ruling
from fritillary.record.terms import (
    RETRYABLE,
    ClockSettings,
    Consequence,
    EndKind,
    Fault,
    FaultRule,
    PlayerInfo,
    Policy,
    Terms,
)
from fritillary.referee.player import Answer, LocalPlayer, PlayerFault

MATCHES = 400

#: Faults that follow from nothing but what a player does.
RAISED = (Fault.MALFORMED, Fault.DISCONNECTED, Fault.CRASHED, Fault.FLOODING)


def random_step(rng):
    after = rng.choice([0, 0, 0.0015, 0.2, 1, 3, 30])
    what: Any
    match rng.randrange(14):
        case 0:
            what = Answer(index=3)
        case 1:
            what = Answer(text="fly")
        case 2:
            what = PlayerFault(rng.choice(RAISED), "hidden", offending=b"bytes:x")
        case 3:
            what = Answer(resign=True) if rng.random() < 0.3 else None
        case 4:
            what = Answer(data={"type": "step", "size": rng.randrange(6)})
        case 5:
            what = Answer(text=f"Step {rng.randrange(1, 5)}", note="hm", think_ms=5)
        case _:
            what = Answer(index=rng.randrange(3))
    return Do(what, after)


class RandomBot(BaseBot):
    light = True

    def __init__(self, rng):
        self.rng = rng

    def decide(self, ask):
        sleep(self.rng.choice([0, 0, 0.3, 2]))
        if self.rng.random() < 0.08:
            raise ValueError
        if self.rng.random() < 0.1:
            return race.STEPS[3]
        if self.rng.random() < 0.3:
            assert ask.observation.seat == ask.seat
        return self.rng.choice(ask.legal)


def random_player(rng):
    if rng.random() < 0.25:
        return LocalPlayer(RandomBot(rng), PlayerInfo("random"))
    start = Do()
    if rng.random() < 0.08:
        start = Do(PlayerFault(Fault.REFUSED_TO_START, "no"), rng.choice([0, 5]))
    elif rng.random() < 0.05:
        start = Do(after=1e6)
    script = {n: random_step(rng) for n in range(1, 40) if rng.random() < 0.6}
    accept, ready = rng.choice([(start, None), (None, start)])
    nonce = bytes([rng.randrange(256)])
    return Scripted(script, nonce=nonce, accept=accept, ready=ready)


def random_clock(rng):
    def some(*values):
        return rng.choice([None, None, *values])

    base, move, turn = some(2_000, 9_000), some(500, 4_000), some(3_000)
    return ClockSettings(
        base_ms=base,
        increment_ms=None if base is None else some(10, 1_000),
        move_ms=move,
        turn_ms=turn,
        bank_ms=None if move is turn is None else some(1_500),
        preparation_ms=some(3_000),
    )


def random_policy(rng):
    rules = []
    for fault in Fault:
        allowed = [Consequence.FORFEIT, Consequence.SUBSTITUTE, Consequence.SUBSTITUTE]
        if rng.random() < 0.2:
            allowed = [Consequence.VOID]
        if fault is Fault.REFUSED_TO_START:
            allowed = [Consequence.FORFEIT, Consequence.VOID]
        if fault is Fault.REFEREE_ERROR:
            continue
        retries = rng.randrange(3) if fault in RETRYABLE else 0
        rules.append(FaultRule(fault, rng.choice(allowed), retries))
    return Policy.of(*rules)


def during(rng):
    async def calls(match):
        while match.phase != "ended":
            await asyncio.sleep(rng.choice([0.1, 1, 5, 20]))
            match rng.randrange(12):
                case 0:
                    match.abort(EndKind.VOID, "match.aborted", "enough")
                case 1 | 2 | 3:
                    match.pause("lunch")
                case _:
                    match.resume()

    return calls if rng.random() < 0.5 else None


async def random_match(seed):
    rng = random.Random(seed)
    seats = rng.choice([2, 2, 3, 4])
    options = Options(
        rounds=rng.randrange(1, 6),
        in_a_row=rng.randrange(1, 3),
        wind=rng.random() < 0.4,
    )
    registry = race.masked() if rng.random() < 0.2 else race.REGISTRY
    terms = Terms(
        policy=random_policy(rng),
        margin_ms=rng.choice([0, 50]),
        ceiling_ms=rng.choice([15_000, 10**6]),
    )
    return await referee(
        [random_player(rng) for _ in range(seats)],
        registry=registry,
        options=options,
        clocks=[random_clock(rng) for _ in range(seats)],
        terms=terms,
        during=during(rng),
        seed=seed.to_bytes(32, "big"),
        nonces_wanted=rng.random() < 0.3,
    )


def check_secrets(game):
    """No seat and no spectator is told what another seat holds."""
    state = game.match.state
    if state is None:
        return
    for seat, player in enumerate(game.players):
        if isinstance(player, Scripted):
            told = repr(player.bodies)
            assert "hidden" not in told or any(
                ruling.seat == seat for ruling in game.rulings
            )
            for other, secret in enumerate(state.secrets):
                if other != seat and secret != state.secrets[seat]:
                    assert f"secret {secret}" not in told
    assert "hidden" not in repr(game.watching.events)
    assert "secret" not in repr(game.watching.events)


def test_what_must_be_true_of_every_match_holds_in_random_ones():
    seen: Counter[Any] = Counter()
    for seed in range(MATCHES):
        try:
            game = run(random_match(seed))
            check_secrets(game)
        except BaseException as error:
            error.add_note(f"seed {seed}")
            raise
        seen[game.finish.kind] += 1
        seen.update({type(event) for event in game.record.events})
        seen.update({(r.fault, r.consequence) for r in game.rulings})
        seen.update({ruling.fault for ruling in game.rulings})
        for clock in game.match.clocks:
            assert clock.base_ms is None or clock.base_ms >= 0
            assert clock.bank_ms >= 0
        assert game.finish.code != "referee.error"
    # Else the test would say little.
    kinds = {EndKind.PLAYED, EndKind.FORFEITED, EndKind.VOID}
    assert all(seen[kind] >= 10 for kind in kinds)
    assert all(seen[event] >= 5 for event in (Paused, Resigned, Ruling))
    assert all(seen[fault] >= 5 for fault in Fault if fault is not Fault.REFEREE_ERROR)
    for fault in RETRYABLE:
        assert all(seen[fault, consequence] >= 3 for consequence in Consequence)


def test_a_random_match_is_the_same_again():
    for seed in range(20):
        one, other = (run(random_match(seed)) for _ in range(2))
        assert one.raw == other.raw


@pytest.mark.parametrize("seed", [3])
def test_whoever_is_asked_again_is_asked_the_same(seed):
    game = run(random_match(seed))
    for player in game.players:
        if isinstance(player, Scripted):
            for request in player.requests:
                assert request.legal == race.LEGAL
