"""The pictures of Lepidoptery: the two hooks that draw an observation."""

from __future__ import annotations

from fritillary import hookimpl
from fritillary_games.lepidoptery.model import Observation
from fritillary_games.lepidoptery.pictures_svg import svg_picture
from fritillary_games.lepidoptery.pictures_text import text_picture


@hookimpl
def draw_text(observation: Observation) -> str:
    """Draw an observation for a terminal, at most 80 columns wide.

    Tokens are ``X`` for seat 0 and ``O`` for seat 1; ``(X)`` is the newest token
    and ``[X]`` lies in the winning line.
    """
    return text_picture(observation)


@hookimpl
def draw_svg(observation: Observation) -> str:
    """Draw an observation as a complete SVG document, 1000 units wide.

    Nothing in it refers to anything outside, and every id starts with ``lep-``.
    """
    return svg_picture(observation)
