"""The things on the table of Lepidoptery, drawn as SVG: tokens, cards, markers."""

from __future__ import annotations

from typing import Final

from fritillary_games.lepidoptery.model import Combo
from fritillary_games.lepidoptery.pictures_facts import STEPS
from fritillary_games.svg import SERIF, box, element, group, text, use

INK: Final = "#22303c"
FADED: Final = "#5d6772"
PAPER: Final = "#f4eedf"
SHEET: Final = "#fffdf7"
LINE: Final = "#d8ccb0"
GOLD: Final = "#f5b800"
JOKER: Final = "#6a3d9a"

#: The seats' colours, apart in lightness and hue for any kind of colour vision.
#: Seat 0 is a dark disc with a light butterfly, seat 1 a light hexagon with a dark
#: spotted one.
SEAT: Final = ("#1c5d99", "#f2a541")
#: What is written upon a seat's colour.
ON_SEAT: Final = ("#ffffff", "#3a2206")

#: The butterflies of the cards, rank 1 first.
_RANK_TINTS: Final = (
    "#7a5aa8",
    "#4f68b8",
    "#2f86b8",
    "#1d938c",
    "#4c9a58",
    "#84962f",
    "#b8921f",
    "#cc7a2a",
    "#c4573f",
    "#a8456f",
)

# The right half of each butterfly; its box reaches from -50 to 50 both ways.
_ROUND_WINGS: Final = (
    "M2-8C8-30 34-46 45-34C54-22 38-2 4 3ZM3 5C24 2 40 12 37 26C33 42 10 38 2 12Z"
)
_SPOTTED_WINGS: Final = (
    "M2-8L18-34L46-40L44-16L30 0L4 3Z"
    "M3 5L28 4L40 14L34 34L22 30L18 42L2 14Z"
    # The spots are holes: drawn again inside, they count as outside.
    "M29-25a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0Z"
    "M18-14a4 4 0 1 0 8 0a4 4 0 1 0-8 0Z"
    "M19 16a5 5 0 1 0 10 0a5 5 0 1 0-10 0Z"
)
_BODY: Final = "M0-14C4-12 4 18 0 26C-4 18-4-12 0-14Z"
_FEELERS: Final = "M0-13C3-24 7-30 13-34M0-13C-3-24-7-30-13-34"


def _butterfly(name: str, wings: str) -> str:
    half = {"d": wings, "fill_rule": "evenodd"}
    return group(
        element("path", **half),
        element("path", transform="scale(-1 1)", **half),
        element("path", d=_BODY),
        element(
            "path",
            d=_FEELERS,
            fill="none",
            stroke="currentColor",
            stroke_width=2.5,
            stroke_linecap="round",
        ),
        id=name,
    )


def definitions() -> str:
    """Return what all pictures share; the same for every observation.

    So several pictures may stand in one page, although their ids are alike.
    """
    tokens = (
        group(
            element("circle", r=48, fill=SEAT[0], stroke="#0f3558", stroke_width=3),
            use("lep-round", 0, 1, 0.84, fill=ON_SEAT[0], color=ON_SEAT[0]),
            id="lep-token-0",
        ),
        group(
            element(
                "path",
                d="M-26-46H26L50 0L26 46H-26L-50 0Z",
                fill=SEAT[1],
                stroke="#7a4505",
                stroke_width=3,
                stroke_linejoin="round",
            ),
            use("lep-spotted", 0, 1, 0.84, fill=ON_SEAT[1], color=ON_SEAT[1]),
            id="lep-token-1",
        ),
    )
    backs = (
        group(
            box(0, 0, 40, 56, rx=5, fill="#ffffff", stroke="#8d8368"),
            box(3, 3, 34, 50, rx=3, fill=SEAT[seat]),
            use(wings, 20, 29, 0.28, fill=ON_SEAT[seat], color=ON_SEAT[seat]),
            id=f"lep-back-{seat}",
        )
        for seat, wings in enumerate(("lep-round", "lep-spotted"))
    )
    wood = element(
        "linearGradient",
        element("stop", offset="0", stop_color="#8a5f3c"),
        element("stop", offset="1", stop_color="#6d4728"),
        id="lep-wood",
        x1="0",
        y1="0",
        x2="0",
        y2="1",
    )
    return element(
        "defs",
        "\n",
        "\n".join(
            (
                _butterfly("lep-round", _ROUND_WINGS),
                _butterfly("lep-spotted", _SPOTTED_WINGS),
                *tokens,
                *backs,
                wood,
            )
        ),
        "\n",
    )


def token(seat: int, x: float, y: float, size: float) -> str:
    """Draw a token of a seat around a centre; ``size`` is its height."""
    return use(f"lep-token-{seat}", x, y, size / 100)


def card(
    x: float, y: float, width: float, height: float, rank: int, *, joker: bool = False
) -> str:
    """Draw a card face up; its rank is also in the left top corner."""
    tint = JOKER if joker else _RANK_TINTS[rank - 1]
    middle = x + width / 2
    centre = y + height * (0.52 if joker else 0.56)
    parts = [
        box(
            x,
            y,
            width,
            height,
            rx=width / 9,
            fill="#efe6f8" if joker else "#ffffff",
            stroke=JOKER if joker else "#8d8368",
            stroke_width=2.5 if joker else 1.2,
        ),
        use(
            "lep-spotted" if joker else "lep-round",
            middle,
            centre,
            width / 100 * 0.9,
            fill=tint,
            color=tint,
            opacity=0.28,
        ),
        text(
            x + width * 0.07,
            y + width * 0.27,
            rank,
            width * 0.24,
            anchor="start",
            bold=True,
        ),
        text(
            middle,
            centre + width * 0.18,
            rank,
            width * 0.52,
            bold=True,
            family=SERIF,
        ),
    ]
    if joker:
        parts += [
            box(x, y + height * 0.82, width, height * 0.12, fill=JOKER),
            text(
                middle,
                y + height * 0.82 + width * 0.125,
                "JOKER",
                width * 0.15,
                bold=True,
                fill="#ffffff",
            ),
        ]
    return group(*parts)


def joker_card(seat: int, x: float, y: float, *, ready: bool) -> str:
    """Draw a player's joker, 40 by 56, face up if it is ready to be used."""
    if not ready:
        return use(f"lep-back-{seat}", x, y, opacity=0.55)
    return group(
        box(x, y, 40, 56, rx=5, fill="#efe6f8", stroke=JOKER, stroke_width=2),
        use("lep-spotted", x + 20, y + 25, 0.34, fill=JOKER, color=JOKER),
        text(x + 20, y + 51, "joker", 9.5, bold=True, fill=JOKER),
    )


def combo_icon(combo: Combo, x: float, y: float) -> str:
    """Draw a type as small cards around a centre, at most 54 wide and 28 high.

    Cards of a run climb, equal cards stand level.
    """
    steps = STEPS[combo]
    left = x - (len(steps) * 18 - 2) / 2
    top = y - 10 + 3 * steps[-1] / 2
    parts = []
    for place, step in enumerate(steps):
        card_x = left + 18 * place
        card_y = top - 3 * step
        parts += [
            box(card_x, card_y, 16, 20, rx=2.5, fill="#ffffff", stroke="#8d8368"),
            text(card_x + 8, card_y + 14.5, 1 + step, 12, bold=True),
        ]
    return group(*parts)


def crossed(x: float, y: float, size: float) -> str:
    """Draw a small sign for "not allowed" around a centre."""
    radius = size / 2 - 1
    reach = radius * 0.7
    return group(
        element("circle", cx=x, cy=y, r=radius),
        element(
            "path",
            d=f"M{x - reach:.2f} {y - reach:.2f}l{reach * 2:.2f} {reach * 2:.2f}",
        ),
        fill="none",
        stroke="#a3152a",
        stroke_width=size / 7,
    )
