"""What the tests of Lost Cities share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.games.random_play import states_of

from fritillary import Game, Plugin
from fritillary_games import lost_cities
from fritillary_games.lost_cities.actions import Action
from fritillary_games.lost_cities.exploits import Exploit
from fritillary_games.lost_cities.model import DiscardPiles, NextStarter, Options, State
from fritillary_games.lost_cities.position import parse_position

GAME: Game[Any, Any, Any] = Game(Plugin("lost-cities", lost_cities))

ALL_EXPLOITS = tuple(Exploit)

SINGLE = Options(games=1)
SIX = Options(games=1, colours=6)
TOP_ONLY = Options(games=1, discard_piles=DiscardPiles.TOP_ONLY)

OPTIONS = {
    "match": Options(),
    "single": SINGLE,
    "long": Options(colours=6, starter=1, next_starter=NextStarter.LAST_WINNER),
    "long single, top only": Options(
        colours=6, games=1, discard_piles=DiscardPiles.TOP_ONLY, tie_break=0
    ),
    "exploits": Options(exploits=ALL_EXPLOITS, tie_break=1, starter=1),
    "capped": Options(turn_cap=37, exploits=ALL_EXPLOITS[::-1]),
    "capped, top only": Options(
        colours=6,
        turn_cap=61,
        discard_piles=DiscardPiles.TOP_ONLY,
        next_starter=NextStarter.LAST_WINNER,
        exploits=(Exploit.SUM_OF_FORTY,),
    ),
}


def action(text: str) -> Action:
    """Return the action of a notation, with six colours."""
    found: Action = GAME.table(SIX, 2).parse(text)
    return found


def legal(state: State) -> list[str]:
    """Return the notations of the legal actions."""
    return [GAME.format_action(each) for each in GAME.legal_actions(state)]


def play(state: State, *texts: str) -> State:
    """Play some actions through the checked door."""
    for text in texts:
        GAME.play(state, action(text))
    return state


def position(text: str, options: Options = SINGLE) -> State:
    """Return a position; what the text leaves out is filled in.

    Unless they are given, seat 0 is to play or discard, and hands are filled up with
    cards that are named nowhere; so is the draw pile, which takes what is left.
    """
    facts = {
        line.partition(":")[0].strip(): line.partition(":")[2].strip()
        for line in text.strip().splitlines()
    }
    if "over" not in facts:
        facts.setdefault("to move", "0")
    mover = facts.get("to move")
    for seat in "01":
        size = 8 - ("draw" in facts and seat == mover)
        hand = facts.get(f"hand {seat}", "")
        more = size - count(hand)
        filled = [hand] * bool(hand) + [f"{more} cards"] * (more > 0)
        facts[f"hand {seat}"] = ", ".join(filled)
    if "deck" not in facts:
        named = sum(
            count(facts.get(key, ""))
            for key in ("hand 0", "hand 1", "expedition 0", "expedition 1", "discards")
        )
        facts["deck"] = f"{12 * options.colours - named} cards"
    lines = [f"{key}: {value}" for key, value in facts.items()]
    return parse_position("\n".join(lines), options)


def count(cards: str) -> int:
    """Return how many cards a line of a position names."""
    groups = [group.split() for group in cards.split(",") if group.strip()]
    return sum(
        int(group[0]) if group[0].isdecimal() else len(group) - 1 for group in groups
    )


def states(options: Options, games: int, seed: int = 0) -> Iterator[State]:
    """Return the states of random matches, the last ones too; do not change them."""
    return states_of(GAME, options, 2, games, seed)


def finished(options: Options, seed: int = 0) -> State:
    """Return the last state of a random match."""
    *_, last = states(options, 1, seed)
    return last
