"""The tables of strength: for the terminal, for machines, for docs/strength.md."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks import report
from benchmarks.strength_run import ALPHA, HYPOTHESES, Row
from fritillary.statistics import Verdict, estimate

PAGE: Final = Path(__file__).parents[1] / "docs" / "strength.md"

#: What a test has come to, for people.
VERDICTS: Final = {
    Verdict.HIGH: "stronger",
    Verdict.LOW: "not stronger",
    Verdict.UNDECIDED: "undecided at the cap",
    Verdict.OPEN: "not finished",
}

_HEAD: Final = (
    "| player | against | blocks | score (s.e.) | 95 % | Elo (95 %) | test |",
    "|---|---|---|---|---|---|---|",
)


def _elo(value: float) -> str:
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    return f"{round(value):+d}".replace("-", "−")


def _line(row: Row) -> str:
    pairing, test = row.pairing, row.test
    names = f"| `{pairing.player}` | `{pairing.against}`"
    blocks = f"{test.blocks.number} of {test.most}"
    if not test.blocks.number:
        return f"{names} | {blocks} | | | | {VERDICTS[test.verdict]} |"
    found = estimate(test.blocks)
    score = f"{100 * found.score:.1f} % ({100 * found.error:.1f})"
    span = f"{100 * found.low:.0f}–{100 * found.high:.0f}"
    elo = f"{_elo(found.elo)} ({_elo(found.elo_low)} to {_elo(found.elo_high)})"
    verdict = VERDICTS[test.verdict]
    return f"{names} | {blocks} | {score} | {span} | {elo} | {verdict} |"


def games_of(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """Return the rows of each game, with its options."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        title = " ".join((row.pairing.game, *row.pairing.options))
        found.setdefault(title, []).append(row)
    return found


def table(rows: Sequence[Row]) -> str:
    """Return the rows of one game as a table."""
    return "\n".join((*_HEAD, *map(_line, rows)))


def settings(rows: Sequence[Row]) -> str:
    """Return what the tests ask, in one line."""
    low, high = (100 * value for value in (HYPOTHESES.low, HYPOTHESES.high))
    halves = all(row.test.least == (row.test.most + 1) // 2 for row in rows)
    least = "half of the cap" if halves else f"{rows[0].test.least} blocks"
    return (
        f"Seed {rows[0].seed}; H0 {low:g} %, H1 {high:g} %, both errors "
        f"{100 * ALPHA:g} %, decided after {least} at the earliest."
    )


def as_text(rows: Sequence[Row]) -> str:
    """Return all tables."""
    parts = [settings(rows)]
    for title, own in games_of(rows).items():
        parts += [title, table(own)]
    return "\n\n".join(parts)


def as_json(rows: Sequence[Row]) -> dict[str, Any]:
    """Return all rows as plain data; see docs/strength.md."""
    return {
        "format": 1,
        "machine": report.machine(),
        "versions": report.versions(),
        "seed": rows[0].seed,
        "h0": HYPOTHESES.low,
        "h1": HYPOTHESES.high,
        "alpha": ALPHA,
        "beta": ALPHA,
        "rows": [_row(row) for row in rows],
    }


def _row(row: Row) -> dict[str, Any]:
    pairing, test = row.pairing, row.test
    found = estimate(test.blocks) if test.blocks.number else None

    def finite(value: float) -> float | None:
        # JSON has no infinity.
        return value if math.isfinite(value) else None

    return {
        "game": pairing.game,
        "options": list(pairing.options),
        "player": pairing.player,
        "against": pairing.against,
        "counts": [
            [score, count] for score, count in test.blocks.counts.items() if count
        ],
        "blocks": test.blocks.number,
        "least": test.least,
        "cap": test.most,
        "score": found and found.score,
        "error": found and found.error,
        "low": found and found.low,
        "high": found and found.high,
        "elo": found and finite(found.elo),
        "elo_low": found and finite(found.elo_low),
        "elo_high": found and finite(found.elo_high),
        "ratio": test.ratio,
        "verdict": VERDICTS[test.verdict],
        "seconds_of_a_match": row.seconds / row.matches if row.matches else None,
    }


def filled(text: str, rows: Sequence[Row]) -> str:
    """Return the page with these rows.

    Raises:
        ValueError: if it has no place for a game.
    """
    text = report.put(text, "settings", settings(rows))
    for title, own in games_of(rows).items():
        text = report.put(text, title, table(own))
    return text
