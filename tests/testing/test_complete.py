"""What is complete in a game that hides nothing, though it does not look so."""

import types

import attrs
import pytest
from examples.nim import nim_game
from tests.testing.mutants import info, mutant

from fritillary import (
    ACTS,
    Game,
    GameInfo,
    Information,
    Outcome,
    Over,
    Plugin,
    hookimpl,
)
from fritillary.testing import Verdict, certify

LAW = "observation.complete"

TOKENS = 80
"""More than the law follows."""


@attrs.frozen
class Heaps:
    """The heaps; whose turn it is, who is asked knows."""

    options: nim_game.Options
    heaps: tuple[int, ...]


def heaps_alone():
    def observe(state, seat):
        return Heaps(state.options, tuple(state.heaps))

    return mutant(nim_game, describe=info(nim_game, observation=Heaps), observe=observe)


@attrs.frozen
class Options:
    """None."""


@attrs.frozen(cache_hash=True)
class Move:
    """Move a token to the end of the row."""

    token: int


@attrs.define
class Row:
    """Tokens in an order that changes nothing, and the sum of those moved."""

    options: Options
    row: list[int]
    moves: int = 0
    total: int = 0


@attrs.frozen
class Total:
    """All that matters."""

    options: Options
    moves: int
    total: int


def order_alone_is_not_seen():
    def describe():
        return GameInfo(
            id="row",
            title="Row",
            summary="Move tokens to the end of the row.",
            rules_version=1,
            min_seats=2,
            max_seats=2,
            information=Information.PERFECT,
            chance=False,
            constant_sum=1,
            max_plies=6,
            options=Options,
            state=Row,
            actions=(Move,),
            observation=Total,
            reasons={"end": "Six tokens were moved."},
        )

    def new_state(options, seats, dealer):
        return Row(options, list(range(TOKENS)))

    def decision_point(state):
        if state.moves < 6:
            return ACTS[state.moves % 2]
        return Over(Outcome.ranked("end", (state.total, 1 - state.total)))

    def legal_actions(state):
        return tuple(map(Move, state.row))

    def apply_action(state, action):
        state.row.remove(action.token)
        state.row.append(action.token)
        state.moves += 1
        state.total = (state.total + action.token) % 2

    def format_action(action):
        return f"move {action.token}"

    def observe(state, seat):
        return Total(state.options, state.moves, state.total)

    def draw_text(observation):
        return f"{observation.moves}: {observation.total}"

    hooks = {name: hookimpl(hook) for name, hook in locals().items()}
    return Game(Plugin("row", types.SimpleNamespace(**hooks)))


@pytest.mark.parametrize("make", [heaps_alone, order_alone_is_not_seen])
def test_what_is_complete_is_called_so(make):
    (judgement,) = certify(make(), laws=[LAW]).judgements
    assert judgement.verdict is Verdict.HOLDS, judgement
    assert judgement.looked > 50
