"""The two hooks that draw an observation."""

from __future__ import annotations

from fritillary import hookimpl
from fritillary_games.butterfly_garden.model import Observation
from fritillary_games.butterfly_garden.pictures_svg import svg_picture
from fritillary_games.butterfly_garden.pictures_text import text_picture


@hookimpl
def draw_text(observation: Observation) -> str:
    """Draw an observation for a terminal, at most 80 columns wide.

    Cells bear their names or their tiles, the last one in capitals. Digits on the
    edges are treasures and what they are worth, capitals are exits and their owners.
    """
    return text_picture(observation)


@hookimpl
def draw_svg(observation: Observation) -> str:
    """Draw an observation as a complete SVG document, 1000 units wide.

    Nothing in it refers to anything outside, and every id starts with ``bg-``.
    """
    return svg_picture(observation)
