"""Lost Cities: two players build rising expeditions and bet on them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from fritillary import GameInfo, Information, hookimpl
from fritillary_games.lost_cities.actions import Discard, Draw, Play
from fritillary_games.lost_cities.cautious import CautiousBot
from fritillary_games.lost_cities.explain import explain_illegal
from fritillary_games.lost_cities.hidden import sample_state, shuffle_hidden
from fritillary_games.lost_cities.model import (
    MAX_TURN_CAP,
    Observation,
    Options,
    State,
)
from fritillary_games.lost_cities.pictures import draw_svg, draw_text
from fritillary_games.lost_cities.rules import (
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

#: Three games of as many turns as the cap allows, two actions each.
_MAX_PLIES: Final = 3 * MAX_TURN_CAP * 2


@hookimpl
def describe() -> GameInfo:
    """Describe Lost Cities, the base game and the long one."""
    return GameInfo(
        id="lost-cities",
        title="Lost Cities",
        summary=(
            "Play cards in rising order to expeditions that cost 20 points each, "
            "double the stakes with wagers, and mind what you discard."
        ),
        rules_version=1,
        min_seats=2,
        max_seats=2,
        information=Information.HIDDEN,
        chance=False,
        constant_sum=None,
        max_plies=_MAX_PLIES,
        options=Options,
        state=State,
        actions=(Play, Discard, Draw),
        observation=Observation,
        reasons={
            "pile-empty": "The last card of the draw pile was drawn.",
            "turn-cap": "The last game went on for as many turns as are allowed.",
        },
        presets={
            "match": Options(),
            "single": Options(games=1),
            "long": Options(colours=6),
            "long-single": Options(colours=6, games=1),
        },
        credits=(
            "Designed by Reiner Knizia, published by Kosmos, 1999; the edition of six "
            "colours in 2018."
        ),
    )


@hookimpl
def bots() -> Mapping[str, Any]:
    """Return the game's own bot."""
    return {"cautious": CautiousBot}
