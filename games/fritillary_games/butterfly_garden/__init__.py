"""Butterfly Garden, also known as Indigo: routes of tiles lead treasures home."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from fritillary import GameInfo, Information, hookimpl
from fritillary_games.butterfly_garden.actions import Place
from fritillary_games.butterfly_garden.board import PLACES
from fritillary_games.butterfly_garden.explain import explain_illegal
from fritillary_games.butterfly_garden.greedy import GreedyBot
from fritillary_games.butterfly_garden.hidden import sample_state, shuffle_hidden
from fritillary_games.butterfly_garden.invariants import conserved
from fritillary_games.butterfly_garden.model import (
    Edition,
    Observation,
    Options,
    State,
)
from fritillary_games.butterfly_garden.pictures import draw_svg, draw_text
from fritillary_games.butterfly_garden.rules import (
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
    "sample_state",
    "shuffle_hidden",
]

#: A ply places a tile, and no tile ever leaves the board (I-a).
_MAX_PLIES: Final = PLACES


@hookimpl
def describe() -> GameInfo:
    """Describe the game and its two editions."""
    return GameInfo(
        id="butterfly-garden",
        title="Butterfly Garden",
        summary=(
            "Place tiles whose routes lead the treasures from the corners and the "
            "centre of a hexagon to your own gateways. Also known as Indigo."
        ),
        rules_version=1,
        min_seats=2,
        max_seats=4,
        information=Information.HIDDEN,
        chance=False,
        constant_sum=None,
        max_plies=_MAX_PLIES,
        options=Options,
        state=State,
        actions=(Place,),
        observation=Observation,
        reasons={
            "no-treasures": "No treasure is left on the board.",
            "stack-empty": "The last tile of the stack has been drawn.",
            "rounds": "The rounds agreed on have been played.",
        },
        presets={
            "butterfly-garden": Options(),
            "indigo": Options(edition=Edition.INDIGO),
        },
        credits="Designed by Reiner Knizia, published as Indigo by Ravensburger, 2012.",
    )


@hookimpl
def bots() -> Mapping[str, Any]:
    """Return the game's own bot."""
    return {"greedy": GreedyBot}
