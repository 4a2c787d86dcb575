# ruff: noqa: ANN401 - states of every game pass through
"""Perft: how many sequences of actions there are, ply by ply."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from fritillary.core.dealer import Dealer
from fritillary.core.errors import GameError
from fritillary.core.points import Act, Chance
from fritillary.testing.scene import AnyGame


def branches(game: AnyGame, state: Any) -> Sequence[Any]:
    """Return what can happen: legal actions, or chance outcomes; nothing at the end.

    Raises:
        GameError: if the game only samples its chance outcomes.
    """
    point = game.decision_point(state)
    if isinstance(point, Act):
        return game.legal_actions(state)
    if isinstance(point, Chance):
        return [action for action, _ in game.chance_outcomes(state)]
    return ()


def perft(game: AnyGame, state: Any, depth: int) -> Iterator[int]:
    """Yield the numbers of sequences of 0, 1, ... plies from a state.

    Chance outcomes count as plies, whatever their weight. Sequences that end the
    match early are not counted at greater depths. States that are equal in bytes
    are gone on with once.

    Args:
        game: the rules.
        state: where to start; left alone.
        depth: the most plies, 0 or more.

    Raises:
        GameError: if the game only samples its chance outcomes.
    """
    yield 1
    encode = game.codec.encode_state
    level: list[tuple[Any, int]] = [(state, 1)]
    for ply in range(1, depth + 1):
        wide = [(one, count, branches(game, one)) for one, count in level]
        yield sum(count * len(possible) for _, count, possible in wide)
        if ply == depth:
            return
        # After the yield: whoever has seen enough need not pay for it.
        after: dict[bytes, tuple[Any, int]] = {}
        for one, count, possible in wide:
            for action in possible:
                child = game.copy(one)
                game.apply(child, action)
                raw = encode(child)
                known, so_far = after.get(raw, (child, 0))
                after[raw] = (known, so_far + count)
        level = list(after.values())


def perft_slowly(
    game: AnyGame, deal: Dealer, setup: tuple[Any, int], depth: int
) -> int:
    """Count sequences of exactly so many plies, playing each from the deal.

    Args:
        game: the rules.
        deal: deals alike each time: its stream ``deal`` is opened again and again.
        setup: options and seats.
        depth: how many plies.

    Raises:
        GameError: if the game only samples its chance outcomes.
    """
    count = 0
    line: list[int] = []
    while True:
        state = game.new(deal.stream("deal"), *setup)
        widths = []
        for place in range(depth):
            possible = branches(game, state)
            widths.append(len(possible))
            if not possible:
                break
            if place == len(line):
                line.append(0)
            game.apply(state, possible[line[place]])
        else:
            count += 1
        del line[len(widths) :]
        while line and line[-1] + 1 >= widths[len(line) - 1]:
            line.pop()
        if not line:
            return count
        line[-1] += 1


def counts(game: AnyGame, state: Any, *, most: int) -> list[int]:
    """Return perft numbers until one is larger than wanted, 12 plies at most."""
    numbers: list[int] = []
    try:
        for number in perft(game, state, 12):
            if number > most or number == 0:
                break
            numbers.append(number)
    except GameError:
        pass
    return numbers
