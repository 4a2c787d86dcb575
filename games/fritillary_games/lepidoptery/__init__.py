"""Lepidoptery: a shedding game of combinations that also plays four in a line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from fritillary import GameInfo, Information, hookimpl
from fritillary_games.lepidoptery.explain import explain_illegal
from fritillary_games.lepidoptery.greedy import GreedyBot
from fritillary_games.lepidoptery.hidden import sample_state, shuffle_hidden
from fritillary_games.lepidoptery.invariants import conserved, rotate_seats
from fritillary_games.lepidoptery.model import (
    Observation,
    Options,
    Pass,
    Play,
    State,
)
from fritillary_games.lepidoptery.pictures import draw_svg, draw_text
from fritillary_games.lepidoptery.rules import (
    all_actions,
    apply_action,
    decision_point,
    format_action,
    legal_actions,
    new_state,
    observe,
)

__all__ = [
    "all_actions",
    "apply_action",
    "bots",
    "conserved",
    "decision_point",
    "describe",
    "draw_svg",
    "draw_text",
    "explain_illegal",
    "format_action",
    "legal_actions",
    "new_state",
    "observe",
    "rotate_seats",
    "sample_state",
    "shuffle_hidden",
]

#: Every play sheds a card of a hand (the joker is never alone), so there are at
#: most 76 plays. Between two plays there are at most two passes: after an own pass
#: a player has a card, the joker and no type ban, and at most one column is full,
#: so that a single or a pair can be led. Before the first play there is no pass.
#: 76 + 2 * 75 = 226.
_MAX_PLIES: Final = 230


@hookimpl
def describe() -> GameInfo:
    """Describe Lepidoptery and its two published rule sets."""
    return GameInfo(
        id="lepidoptery",
        title="Lepidoptery",
        summary=(
            "Shed your cards in combinations that beat each other, and drop a token "
            "for each into the column of its type: four in a line win as well."
        ),
        rules_version=1,
        min_seats=2,
        max_seats=2,
        information=Information.HIDDEN,
        chance=False,
        constant_sum=1,
        max_plies=_MAX_PLIES,
        options=Options,
        state=State,
        actions=(Play, Pass),
        observation=Observation,
        reasons={
            "four-in-line": "The winner has four adjacent tokens in a line.",
            "all-shed": "The winner has no card left in hand and deck.",
        },
        presets={
            "classic": Options(),
            "bga": Options(same_type_may_beat=False),
        },
        credits=(
            "Designed by David Karesh and Srinivas Vasudevan, published by New Mill "
            "Industries, 2025."
        ),
    )


@hookimpl
def bots() -> Mapping[str, Any]:
    """Return the game's own bot."""
    return {"greedy": GreedyBot}
