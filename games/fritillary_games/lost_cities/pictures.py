"""The pictures of Lost Cities: the two hooks that draw an observation."""

from __future__ import annotations

from fritillary import hookimpl
from fritillary_games.lost_cities.model import Observation
from fritillary_games.lost_cities.pictures_svg import svg_picture
from fritillary_games.lost_cities.pictures_text import text_picture


@hookimpl
def draw_text(observation: Observation) -> str:
    """Draw an observation for a terminal, at most 80 columns wide.

    The expeditions of both seats start in the middle, beside the discard piles, and
    lead outwards; ``W`` is a wager.
    """
    return text_picture(observation)


@hookimpl
def draw_svg(observation: Observation) -> str:
    """Draw an observation as a complete SVG document, 1000 units wide.

    Nothing in it refers to anything outside, and every id starts with ``lc-``.
    """
    return svg_picture(observation)
