"""``fritillary games``."""

from __future__ import annotations

from fritillary.app.application import Application
from fritillary.cli.output import print_json, print_note
from fritillary.cli.tables import print_table
from fritillary.cli.values import Json
from fritillary.core.info import GameInfo


def seats_text(info: GameInfo) -> str:
    """Return the number of seats as people write it."""
    low, high = info.min_seats, info.max_seats
    return f"{low}" if low == high else f"{low}-{high}"


def games(as_json: Json = False) -> None:
    """List the installed games and variants.

    Example: fritillary games
    """
    registry = Application().registry
    if as_json:
        print_json(
            {
                "games": [
                    {
                        "id": name,
                        "title": info.title,
                        "summary": info.summary,
                        "seats": [info.min_seats, info.max_seats],
                        "rules_version": info.rules_version,
                    }
                    for name, info in registry.games()
                ],
                "variants": [
                    {
                        "id": name,
                        "title": info.title,
                        "summary": info.summary,
                        "games": list(info.games),
                        "version": info.version,
                    }
                    for name, info in registry.variants()
                ],
                "skipped": [
                    {
                        "name": problem.name,
                        "distribution": problem.distribution,
                        "reason": problem.reason,
                    }
                    for problem in registry.problems
                ],
            }
        )
        return
    print_table(
        ("GAME", "SEATS", "WHAT IT IS"),
        [(name, seats_text(info), info.summary) for name, info in registry.games()],
    )
    variants = registry.variants()
    if variants:
        print()
        print_table(
            ("VARIANT", "OF", "WHAT IT CHANGES"),
            [(name, ", ".join(info.games), info.summary) for name, info in variants],
        )
    for problem in registry.problems:
        print_note(f"skipped {problem.name}: {problem.reason}")
