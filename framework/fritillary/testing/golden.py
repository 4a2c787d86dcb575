# ruff: noqa: ANN401 - options of every game pass through
"""Golden playthroughs: a seeded random match as text, kept with a game's tests.

The text shows whatever the game shows: options, table, perft numbers of the deal,
every position with the state, pictures, legal actions, and the outcome. A change
of the game changes the text, and a person reads the difference.
"""

from __future__ import annotations

import hashlib
import textwrap
from collections.abc import Iterator
from typing import Any, Final

from fritillary.codec.packing import to_json
from fritillary.core.dealer import SealedDealer
from fritillary.core.errors import GameError
from fritillary.core.points import Act, Chance, Over
from fritillary.testing.counting import counts
from fritillary.testing.scene import AnyGame, Viewer

#: So many plies are shown in full; of later ones the actions only.
_SHOWN: Final = 40

#: So many legal actions are listed; of more there is a digest.
_LISTED: Final = 40

#: Perft goes on as long as there are no more sequences than these.
_SEQUENCES: Final = 2_000

_WIDTH: Final = 96


def playthrough(game: AnyGame, *, options: Any = None, seats: int | None = None) -> str:
    """Return the playthrough of a game: the same for ever, while the game is.

    The deal is that of a sealed dealer whose seed is 32 zero bytes, by its stream
    ``deal``; its stream ``play`` chooses the actions.

    Args:
        game: the rules.
        options: of the match; ``None`` for the defaults.
        seats: how many; ``None`` for the fewest.
    """
    return "\n".join(_lines(game, options, seats)) + "\n"


def _lines(game: AnyGame, options: Any, seats: int | None) -> Iterator[str]:
    options = game.info.options() if options is None else options
    seats = game.info.min_seats if seats is None else seats
    sealed = SealedDealer(bytes(32))
    chooser = sealed.stream("play")
    state = game.new(sealed.stream("deal"), options, seats)
    table = game.table(options, seats)
    numbers = counts(game, state, most=_SEQUENCES)
    yield f"playthrough of {game.id}, rules {game.info.rules_version}, {seats} seats"
    yield f"options: {to_json(game.codec.options_to_data(options))}"
    yield f"table: {len(table)} actions, {table.digest().hex()[:16]}"
    yield f"perft: {' '.join(map(str, numbers))}"
    ply = 0
    later: list[str] = []
    while True:
        point = game.decision_point(state)
        shown = ply < _SHOWN or isinstance(point, Over)
        if shown:
            if later:
                yield ""
                yield from _wrapped("played", later)
                later.clear()
            yield ""
            yield from _position(game, state, ply)
        if isinstance(point, Over):
            outcome = point.outcome
            scores = ", ".join(map(str, outcome.scores))
            placing = ", ".join(map(str, outcome.placing))
            yield f"over: {outcome.reason}; scores {scores}; placing {placing}"
            return
        if isinstance(point, Act):
            legal = game.legal_actions(state)
            if shown:
                yield from _legal([game.format_action(a) for a in legal])
            action = chooser.choice(legal)
        else:
            action = game.draw_chance(state, chooser)
        text = game.format_action(action)
        who = "chance" if isinstance(point, Chance) else f"seat {point.seat}"
        if shown:
            yield f"> {who}: {text}"
        else:
            later.append(text)
        game.apply(state, action)
        ply += 1


def _position(game: AnyGame, state: Any, ply: int) -> Iterator[str]:
    point = game.decision_point(state)
    viewer: Viewer = point.seat
    digest = hashlib.sha256(game.codec.encode_state(state)).hexdigest()[:16]
    yield f"ply {ply}, state {digest}"
    if isinstance(point, Chance):
        outcomes = _outcomes(game, state)
        if outcomes:
            yield from _wrapped("chance", outcomes)
        return
    # As the seat to act sees it; after the end, as everybody does.
    observation = game.observe(state, viewer)
    yield from (
        f"  {line}".rstrip() for line in game.draw_text(observation).split("\n")
    )
    raw = game.codec.encode_observation(observation)
    yield f"  observation {hashlib.sha256(raw).hexdigest()[:16]}"


def _outcomes(game: AnyGame, state: Any) -> list[str]:
    try:
        pairs = game.chance_outcomes(state)
    except GameError:
        return []
    return [f"{game.format_action(action)} x{weight}" for action, weight in pairs]


def _legal(texts: list[str]) -> list[str]:
    if len(texts) <= _LISTED:
        return _wrapped("legal", texts)
    digest = hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]
    some = [*texts[: _LISTED // 2], "...", texts[-1]]
    return _wrapped(f"legal, {len(texts)}, {digest}", some)


def _wrapped(name: str, parts: list[str]) -> list[str]:
    text = f"{name}: {', '.join(parts)}"
    return textwrap.wrap(
        text, _WIDTH, subsequent_indent="    ", break_on_hyphens=False
    ) or [name]
