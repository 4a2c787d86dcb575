"""No pass: whoever can play must play, leader or not.

A house rule of this project's own; no published rule set has it. It replaces the
second half of L-i: a follower, too, may pass only without a legal play.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence

from fritillary import VariantInfo, hookimpl
from fritillary_games.lepidoptery.actions import Action, Pass, notation
from fritillary_games.lepidoptery.explain import any_play, not_to_move
from fritillary_games.lepidoptery.model import Observation, State


@hookimpl
def describe_variant() -> VariantInfo:
    """Describe the house rule."""
    return VariantInfo(
        id="no-pass",
        title="No pass",
        summary="Who can play may not pass: a house rule of this project's own.",
        version=1,
        games=("lepidoptery",),
    )


@hookimpl(wrapper=True)
def legal_actions(
    state: State,
) -> Generator[None, Sequence[Action], Sequence[Action]]:
    """Take the pass away where there is a play; it is the last in the table."""
    legal = yield
    if len(legal) > 1 and isinstance(legal[-1], Pass):
        return legal[:-1]
    return legal


@hookimpl(wrapper=True)
def explain_illegal(
    observation: Observation, action: Action
) -> Generator[None, str, str]:
    """Name a play where a pass is refused; the rest is the game's to explain."""
    text = yield
    if isinstance(action, Pass) and not_to_move(observation) is None:
        example = any_play(observation)
        if example is not None:
            return (
                "you may not pass while you can play, and you can play "
                f"{notation(example)}"
            )
    return text
