"""Clocks in words."""

from __future__ import annotations

from fritillary_client import ClockSettings


def clock_text(clock: ClockSettings) -> str:
    """Return a clock as `parse_clock` reads it, such as ``5min+2s``.

    Args:
        clock: what a seat is given; parts that it lacks are ``None``.
    """
    parts = {
        "base": clock.base_ms,
        "increment": clock.increment_ms,
        "move": clock.move_ms,
        "bank": clock.bank_ms,
        "turn": clock.turn_ms,
        "preparation": clock.preparation_ms,
    }
    given = {name: _span(ms) for name, ms in parts.items() if ms}
    if not given:
        return "none"
    if given.keys() <= {"base", "increment"} and "base" in given:
        return "+".join(given.values())
    return ",".join(f"{name}={span}" for name, span in given.items())


def _span(ms: int) -> str:
    for unit, size in (("h", 3_600_000), ("min", 60_000), ("s", 1_000)):
        if ms % size == 0 and (unit != "min" or ms > size):
            return f"{ms // size}{unit}"
    return f"{ms}ms"
