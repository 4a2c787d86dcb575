"""What the tests of Lepidoptery share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.games.random_play import states_of

from fritillary import Game, Plugin
from fritillary_games import lepidoptery
from fritillary_games.lepidoptery.model import Action, Combo, Options, State
from fritillary_games.lepidoptery.position import parse_position
from fritillary_games.lepidoptery.variants import no_pass

GAME: Game[Any, Any, Any] = Game(Plugin("lepidoptery", lepidoptery))
NO_PASS: Game[Any, Any, Any] = Game(
    Plugin("lepidoptery", lepidoptery), [Plugin("no-pass", no_pass)]
)

#: The types in the order of the English rules sheet, as unlike the default as can be.
BY_SIZE = (Combo.SINGLE, Combo.PAIR, Combo.RUN2, Combo.TRIPLE, Combo.RUN3)

OPTIONS = {
    "classic": Options(),
    "bga": Options(same_type_may_beat=False),
    "five rows": Options(heights=(5,) * 5),
    "uneven": Options(heights=(4, 5, 6, 5, 4), order=BY_SIZE, starter=1),
    "no draw at twelve": Options(draw_at_twelve=False, starter=1),
    "flat": Options(heights=(1, 2, 1, 3, 1), same_type_may_beat=False),
    "tall": Options(heights=(12, 3, 12, 4, 12), order=BY_SIZE, draw_at_twelve=False),
}


def action(text: str) -> Action:
    """Return the action of a notation."""
    found: Action = GAME.table(Options(), 2).parse(text)
    return found


def legal(state: State) -> list[str]:
    """Return the notations of the legal actions."""
    return [GAME.format_action(each) for each in GAME.legal_actions(state)]


def play(state: State, *texts: str) -> State:
    """Play some actions through the checked door."""
    for text in texts:
        GAME.play(state, action(text))
    return state


def position(text: str, options: Options | None = None) -> State:
    """Return a position; what the text leaves out is filled in.

    Unless they are given, seat 0 is to move, hands have 12 cards, decks have 20, and
    the last play has its token.
    """
    facts = {
        line.partition(":")[0].strip(): line.partition(":")[2].strip()
        for line in text.strip().splitlines()
    }
    if "winner" not in facts:
        facts.setdefault("to move", "0")
    last = facts.get("winner", "0")[0] if "winner" in facts else None
    for seat in "01":
        facts.setdefault(f"hand {seat}", "12 cards")
        facts.setdefault(f"deck {seat}", "20 cards")
    table = facts.get("table", "none")
    if table != "none":
        last = last or str(1 - int(facts["to move"]))
        facts.setdefault(f"column {table.split()[0]}", last)
    lines = [f"{key}: {value}" for key, value in facts.items()]
    return parse_position("\n".join(lines), options)


def states(options: Options, games: int, seed: int = 0) -> Iterator[State]:
    """Return the states of random matches, the last ones too; do not change them."""
    return states_of(GAME, options, 2, games, seed)
