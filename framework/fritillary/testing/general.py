# ruff: noqa: ANN401 - options of every game pass through
"""The laws of every game in one go, along random play: one call for a test."""

from __future__ import annotations

from typing import Any, Final

from attrs import define

from fritillary.testing import (
    laws_chance,
    laws_match,
    laws_play,
    laws_pure,
    laws_values,
)
from fritillary.testing.checks import CHECKS, is_at, is_due, look_at, plan_of
from fritillary.testing.scene import AnyGame, scenes
from fritillary.testing.schemas import schema_checker

#: Laws that are looked at, in this order: what would mislead others comes first.
CONTRACT: Final = (
    "turn.seat",
    "legal.some",
    "legal.table-order",
    "chance.declared",
    "chance.weights",
    "chance.outcomes",
    "state.options",
    "codec.round-trip",
    "codec.canonical",
    "codec.schema",
    "notation.unique",
    "copy.equal",
    "copy.independent",
    "picture.text",
    "picture.svg",
    "picture.bytes-only",
    "play.refusal-harmless",
    "play.refuses-illegal",
    "play.accepts-legal",
    "pure.arguments",
    "state.conserved",
    "seats.exchangeable",
    "evaluate.range",
    "outcome.seats",
    "outcome.placing",
    "outcome.constant-sum",
    "outcome.reason",
    "copy.earlier",
    "observation.size",
    "seed.same-bytes",
)

#: Whose checks are registered by their import.
MODULES: Final = (laws_chance, laws_match, laws_play, laws_pure, laws_values)


@define
class ContractReport:
    """What was gone through.

    Args:
        matches: random matches played.
        positions: positions in them.
        refusals: illegal actions that were refused.
    """

    matches: int = 0
    positions: int = 0
    refusals: int = 0


def check_contract(
    game: AnyGame,
    *,
    options: Any = None,
    seats: int | None = None,
    matches: int = 6,
    seed: int = 0,
    refusals: int = 1000,
) -> ContractReport:
    """Play random matches and check the laws of every game on the way.

    `certify` checks more laws, one by one.

    Args:
        game: the rules.
        options: of the matches; ``None`` for the defaults and every preset.
        seats: how many; ``None`` for several numbers.
        matches: how many random matches; each setup gets at least one.
        seed: of everything that is drawn.
        refusals: the most illegal actions tried at one position.

    Raises:
        LawError: naming the law that is broken, and how to get there again.
        UsageError: if the library jsonschema is not installed.
    """
    schema_checker(game)
    plan = plan_of(options, seats, matches, seed, refusals=refusals)
    checks = [CHECKS[law] for law in CONTRACT if not CHECKS[law].needs(game)]
    report = ContractReport()
    seen = dict.fromkeys(CONTRACT, 0)
    for scene in scenes(game, options=options, seats=seats, matches=matches, seed=seed):
        report.matches = scene.match + 1
        report.positions += 1
        for check in checks:
            law = check.law.id
            if not is_at(scene, check.at):
                continue
            seen[law] += 1
            if not is_due(check, seen[law] - 1):
                continue
            looked = look_at(check, scene, plan)
            if law == "play.refuses-illegal" and scene.point.seat is not None:
                report.refusals += looked
    return report
