"""The things on the table of Lost Cities, drawn as SVG: cards, backs, signs."""

from __future__ import annotations

import functools
from typing import Final

from fritillary_games.lost_cities.cards import COLOURS, WAGER, Colour
from fritillary_games.lost_cities.pictures_facts import mark
from fritillary_games.svg import (
    SERIF,
    box,
    element,
    group,
    number,
    text,
    use,
)

INK: Final = "#2b2118"
FADED: Final = "#6f6353"
PAPER: Final = "#efe4cd"
SHEET: Final = "#fbf6ea"
LINE: Final = "#cdbb97"
GOLD: Final = "#e9b93a"

#: The seats' colours: for their names, not for cards.
SEAT: Final = ("#1f5f6b", "#8a4b1f")

_EDGE: Final = "#8b7a5c"

#: What fills the cards of a colour, what is written upon it, and its shade.
_FILL: Final = {
    Colour.YELLOW: ("#f3c63f", "#4a3700", "#d9a514"),
    Colour.BLUE: ("#2f6fb3", "#ffffff", "#1f5590"),
    Colour.WHITE: ("#f4f4f0", "#3d4650", "#bfc6cc"),
    Colour.GREEN: ("#3d8a4e", "#ffffff", "#2a6a39"),
    Colour.RED: ("#c0392f", "#ffffff", "#962720"),
    Colour.PURPLE: ("#7a4aa3", "#ffffff", "#5b3380"),
}

# A motif for each colour, in a box from -50 to 50 both ways.
_MOTIFS: Final = {
    # A sun over dunes.
    Colour.YELLOW: (
        "M0-36a18 18 0 1 0 .1 0Z"
        "M-48 18C-30 2-14 2 0 12C14 22 30 20 48 8V26C30 36 12 36 0 30"
        "C-14 22-30 24-48 36Z"
        "M-48 42C-28 30-12 34 2 40C18 47 34 44 48 36V48H-48Z"
    ),
    # Three waves.
    Colour.BLUE: (
        "M-48-20C-36-38-20-38-8-24C4-10 18-12 26-22C34-32 44-32 48-28V-14"
        "C40-18 36-16 28-8C14 4 0 0-12-12C-22-22-34-20-48-6Z"
        "M-48 8C-36-10-20-10-8 4C4 18 18 16 26 6C34-4 44-4 48 0V14"
        "C40 10 36 12 28 20C14 32 0 28-12 16C-22 6-34 8-48 22Z"
        "M-48 36C-36 18-20 18-8 32C4 46 18 44 26 34C34 24 44 24 48 28V42"
        "C40 38 36 40 28 46C14 52-2 52-12 44C-22 34-34 36-48 48Z"
    ),
    # Two peaks with snow: the snow is what is left out.
    Colour.WHITE: (
        "M-50 44L-14-34L6 8L18-12L50 44Z"
        "M-14-22L-24 0L-17-4L-12 4L-6-3L-3 1Z"
        "M18-2L12 9L18 7L22 12L26 12Z"
    ),
    # A leaf with its vein.
    Colour.GREEN: (
        "M-40 44C-46-2-18-40 42-44C46 8 16 42-26 36L-34 48Z"
        "M-28 28C-14 4 4-12 26-28C6-8-10 10-22 32Z"
    ),
    # A flame.
    Colour.RED: (
        "M2-48C10-26 36-12 36 16C36 36 20 48 0 48C-20 48-36 36-36 14"
        "C-36 0-28-10-20-18C-18-8-14-4-8-2C-12-20-8-36 2-48Z"
        "M2 8C8 16 16 20 16 30C16 40 8 44 0 44C-8 44-16 38-16 30C-16 22-4 18 2 8Z"
    ),
    # A cut stone.
    Colour.PURPLE: (
        "M-26-36H26L48-8L0 46L-48-8Z"
        "M-22-30L-36-11H-18L-10-30ZM-4-30L-11-11H11L4-30ZM10-30L18-11H36L22-30Z"
        "M-36-5L-8 28L-18-5ZM-11-5L0 32L11-5ZM18-5L8 28L36-5Z"
    ),
}


@functools.cache
def definitions() -> str:
    """Return what all pictures share; the same for every observation.

    So several pictures may stand in one page, although their ids are alike.
    """
    parts = [
        element("path", d=_MOTIFS[colour], fill_rule="evenodd", id=_motif(colour))
        for colour in COLOURS
    ]
    parts += [
        # A compass rose: the sign of the game, and the back of its cards.
        group(
            element("circle", r=46, fill="none", stroke="currentColor", stroke_width=4),
            element("path", d="M0-42L9-9L0 0L-9-9ZM0 42L9 9L0 0L-9 9Z"),
            element("path", d="M-42 0L-9-9L0 0L-9 9ZM42 0L9-9L0 0L9 9Z", opacity=0.6),
            id="lc-rose",
        ),
        group(
            box(0, 0, 76, 104, rx=8, fill="#f7ecd2", stroke=_EDGE, stroke_width=1.5),
            box(5, 5, 66, 94, rx=5, fill="#5a4632"),
            use("lc-rose", 38, 52, 0.52, fill="#e2c48d", color="#e2c48d"),
            id="lc-back",
        ),
    ]
    return element("defs", "\n", "\n".join(parts), "\n")


def _motif(colour: Colour) -> str:
    return f"lc-{colour.value}"


def card(x: float, y: float, width: float, colour: Colour, rank: int) -> str:
    """Draw a card face up, its height 26/19 of its width."""
    where = f"translate({number(x)} {number(y)})"
    return element("g", _face(width, colour, rank), transform=where)


@functools.cache
def _face(width: float, colour: Colour, rank: int) -> str:
    """Draw the face of a card with its left top corner at the origin.

    Its rank is in the top left and the bottom right corner, so that one of them
    can be seen under a card that lies below or above it.
    """
    fill, ink, shade = _FILL[colour]
    height = card_height(width)
    middle = width / 2
    size = width * 0.27
    parts = [
        box(
            0,
            0,
            width,
            height,
            rx=width / 9.5,
            fill=fill,
            stroke=INK,
            stroke_width=width / 60,
        ),
        use(
            _motif(colour),
            middle,
            height / 2,
            width * 0.0074,
            fill=shade,
            color=shade,
        ),
    ]
    if rank == WAGER:
        parts += [
            element(
                "circle",
                cx=middle,
                cy=height / 2,
                r=width * 0.29,
                fill=GOLD,
                stroke="#8a6410",
                stroke_width=width / 30,
            ),
            text(
                middle,
                height / 2 + width * 0.125,
                mark(rank),
                width * 0.36,
                bold=True,
                fill="#5c4108",
                family=SERIF,
            ),
        ]
    else:
        parts.append(
            text(
                middle,
                height / 2 + width * 0.17,
                rank,
                width * 0.5,
                bold=True,
                fill=ink,
                family=SERIF,
            )
        )
    parts += [
        text(
            width * 0.09,
            width * 0.28,
            mark(rank),
            size,
            anchor="start",
            bold=True,
            fill=ink,
        ),
        text(
            width * 0.91,
            height - width * 0.09,
            mark(rank),
            size,
            anchor="end",
            bold=True,
            fill=ink,
        ),
    ]
    return "".join(parts)


def card_height(width: float) -> float:
    """Return the height of a card."""
    return width * 104 / 76


@functools.cache
def back(x: float, y: float, width: float) -> str:
    """Draw a card face down."""
    return use("lc-back", x, y, width / 76)


def slot(x: float, y: float, width: float, colour: Colour) -> str:
    """Draw the empty place of a colour's discard pile."""
    fill = _FILL[colour][0]
    return group(
        box(
            x,
            y,
            width,
            card_height(width),
            rx=width / 9.5,
            fill=SHEET,
            stroke=_EDGE,
            stroke_width=1.5,
            stroke_dasharray="5 4",
        ),
        use(
            _motif(colour),
            x + width / 2,
            y + card_height(width) / 2,
            width * 0.0066,
            fill=fill if colour is not Colour.WHITE else _FILL[colour][2],
            color=fill,
            opacity=0.55,
        ),
    )


def crossed(x: float, y: float, size: float) -> str:
    """Draw a sign for "not allowed" around a centre."""
    radius = size / 2 - 1
    reach = radius * 0.7
    return group(
        element("circle", cx=x, cy=y, r=radius, fill="#ffffff"),
        element(
            "path",
            d=f"M{x - reach:.2f} {y - reach:.2f}l{reach * 2:.2f} {reach * 2:.2f}",
        ),
        fill="none",
        stroke="#a3152a",
        stroke_width=size / 7,
    )


def chip(x: float, y: float, content: str, *, good: bool | None) -> str:
    """Draw points around a centre, 54 wide and 26 high: gains, losses or neither."""
    fills = {True: ("#dcecd3", "#245c2c"), False: ("#f4d9d2", "#8c2318")}
    fill, ink = (SHEET, FADED) if good is None else fills[good]
    return group(
        box(x - 27, y - 13, 54, 26, rx=13, fill=fill, stroke=LINE, stroke_width=1.2),
        text(x, y + 6, content, 17, bold=True, fill=ink),
    )
