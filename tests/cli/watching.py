"""What those who watch a match are told, made up."""

from __future__ import annotations

from typing import Any

import attrs

from fritillary_client import (
    Clock,
    ClockSettings,
    Event,
    LinkError,
    Match,
    MatchResult,
    MatchStatus,
    Player,
)

GAME = "lepidoptery"

LINK = LinkError("the link to 127.0.0.1:1 was lost (UNAVAILABLE: Socket closed)")


def a_match(**changes: Any) -> Match:
    clock = ClockSettings(base_ms=60_000, increment_ms=1_000)
    match = Match(
        match_id="m-1",
        game=GAME,
        full_id=GAME,
        rules_version=1,
        options={},
        seats=(
            Player(seat=0, name="ann", clock=clock),
            Player(seat=1, name="bob\x1b[31m", clock=clock),
        ),
        phase="running",
    )
    return attrs.evolve(match, **changes)


def action(number: int, seat: int = 0, text: str = "pass") -> Event:
    return Event(
        number=number, ply=number, kind="action", seat=seat, text=text, source="player"
    )


def status(phase: str = "running", **more: Any) -> MatchStatus:
    clocks = (
        Clock(left_ms=50_000, base_left_ms=50_000),
        Clock(left_ms=9_500, base_left_ms=9_500),
    )
    return MatchStatus(phase=phase, clocks=clocks, **more)


RESULT = MatchResult(
    kind="played", reason="four-in-line", scores=(1, 0), placing=(1, 2)
)
