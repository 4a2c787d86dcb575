"""The hooks of a game, documented in place.

A game is a module that implements these functions, each marked ``@hookimpl``,
with exactly these argument names in exactly this order. A variant is a module
that wraps some of them. Hooks marked *must* have no default.

Rules are pure: no I/O, no clock, no randomness but the dealer's. Hooks never call
hooks, since that would bypass the wrappers of variants; share a plain helper
function instead.
"""
# The bodies are documentation; pluggy reads the signatures only.

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fritillary.plugins.markers import hookspec

if TYPE_CHECKING:
    from fritillary.core.dealer import Dealer
    from fritillary.core.info import GameInfo, VariantInfo
    from fritillary.core.points import DecisionPoint

# ------------------------------------------------------------------ family: game


@hookspec(firstresult=True)
def describe() -> GameInfo:  # type: ignore[empty-body]
    """Describe the game.

    *Must.* Called once, when the plugin is loaded.
    """


@hookspec(firstresult=True)
def new_state(options: Any, seats: int, dealer: Dealer) -> Any:
    """Deal and set up.

    *Must.*

    Args:
        options: an instance of the options class, in range.
        seats: how many seats, within ``GameInfo.min_seats`` and ``max_seats``.
        dealer: the only source of randomness; draw from named streams.

    Returns:
        A new state, which refers to ``options`` in its field of that name.

    Raises:
        ValueError: if options that are each in range do not go together.
    """


@hookspec(firstresult=True)
def decision_point(state: Any) -> DecisionPoint:  # type: ignore[empty-body]
    """Say whose turn it is: `Act`, `Chance` or `Over`.

    *Must.* Called all the time: return interned values (``ACTS[seat]``, ``CHANCE``).
    """


@hookspec(firstresult=True)
def copy_state(state: Any) -> Any:
    """Return an independent copy.

    Default: generated from the attrs fields.
    """


# ---------------------------------------------------------------- family: action


@hookspec(firstresult=True)
def all_actions(options: Any, seats: int) -> Sequence[Any]:  # type: ignore[empty-body]
    """List every action any seat can ever take, in a fixed order: the table.

    *Must* if there are at most 65,536. The position of an action in the table is
    its index. Chance actions are not in the table. The same options always give
    the same order.
    """


@hookspec(firstresult=True)
def legal_actions(state: Any) -> Sequence[Any]:  # type: ignore[empty-body]
    """List what the seat to act may do now.

    *Must.* Called at an `Act` only.

    Returns:
        Entries of the table in table order, no duplicates, never empty; a tuple,
        cached or put together from tables.
    """


@hookspec(firstresult=True)
def apply_action(state: Any, action: Any) -> None:
    """Change ``state`` in place by a legal action or a chance action.

    *Must.* Need not check legality: the caller has.
    """


@hookspec(firstresult=True)
def explain_illegal(observation: Any, action: Any) -> str:  # type: ignore[empty-body]
    """Say in one sentence why the seat of ``observation`` may not do that.

    Uses nothing but what the seat knows. Default: a general sentence.
    """


@hookspec(firstresult=True)
def chance_outcomes(state: Any) -> Sequence[tuple[Any, int | tuple[int, int]]]:  # type: ignore[empty-body]
    """List the chance actions with exact weights, at a `Chance`.

    *Must* if ``GameInfo.chance``, unless ``sample_chance`` is there.

    Returns:
        Pairs of action and weight; a weight is a positive integer, or a pair of
        numerator and denominator.
    """


@hookspec(firstresult=True)
def sample_chance(state: Any, dealer: Dealer) -> Any:
    """Draw one chance action where there are too many to list."""


@hookspec(firstresult=True)
def format_action(action: Any) -> str:  # type: ignore[empty-body]
    """Return the notation of an action: short, for people, unique.

    *Must.* Two notations of one table differ in more than case and spacing.
    """


@hookspec(firstresult=True)
def parse_action(text: str) -> Any:
    """Return the action of a notation, only for games without a table.

    Raises:
        ValueError: if the text is not a notation of this game.
    """


# ----------------------------------------------------------- family: observation


@hookspec(firstresult=True)
def observe(state: Any, seat: int | None) -> Any:
    """Return all that ``seat`` may know; ``None`` is a spectator.

    *Must* for hidden information; default otherwise: a copy of the state. Build
    it field by field, never by deleting from the truth. It is complete, so that a
    bot can go on without memory, and does not grow with the length of the match.
    """


@hookspec(firstresult=True)
def observe_action(state: Any, action: Any, seat: int | None) -> Any:
    """Return how ``seat`` sees an action of another seat or of chance.

    ``state`` is the one before the action. Default: the action as it is.
    """


@hookspec(firstresult=True)
def sample_state(observation: Any, dealer: Dealer) -> Any:
    """Draw a full state as the deal would have, given the observation's fields.

    *Must* for hidden information. Each physical arrangement of distinct cards
    weighs the same. The observation is the only input: this runs on the bot's
    side. The sampled state observes to the same observation.
    """


@hookspec(firstresult=True)
def shuffle_hidden(state: Any, seat: int | None, dealer: Dealer) -> None:
    """Rearrange, in the truth, everything that ``seat`` cannot know.

    *Must* for hidden information. The witness of the leak gate: written without
    ``observe`` or ``sample_state``.
    """


# --------------------------------------------------------------- family: picture


@hookspec(firstresult=True)
def draw_text(observation: Any) -> str:  # type: ignore[empty-body]
    """Draw an observation for a terminal, at most 80 columns wide.

    *Must.*
    """


@hookspec(firstresult=True)
def draw_svg(observation: Any) -> str:  # type: ignore[empty-body]
    """Draw an observation as a complete, plain SVG document."""


# ---------------------------------------------------------------- family: search


@hookspec(firstresult=True)
def evaluate(state: Any, seat: int) -> float:  # type: ignore[empty-body]
    """Estimate how good a (sampled) state is for ``seat``, from -1 to 1."""


# ----------------------------------------------------------------- family: checks


@hookspec(firstresult=True)
def conserved(state: Any) -> Mapping[str, int]:  # type: ignore[empty-body]
    """Count what no action and no chance outcome makes or destroys.

    The conformance kit compares: each count is the same at every position of a
    match, in sampled states and in shuffled ones. Count cards wherever they can be.

    Returns:
        Counts by name; a count of faults stays 0.
    """


@hookspec(firstresult=True)
def rotate_seats(state: Any) -> Any:
    """Return the state with every seat renamed: ``k`` to ``k + 1``, the last to 0.

    A game that has this hook declares its seats exchangeable, and the conformance
    kit checks it: the renamed position has the same legal actions and goes on
    alike. Not for games whose actions name seats.

    Returns:
        A new state; the one given is left alone.
    """


# ------------------------------------------------------------------ family: bots


@hookspec(firstresult=True)
def bots() -> Mapping[str, Any]:  # type: ignore[empty-body]
    """Return the game's own bots: name to a factory called without arguments."""


# ------------------------------------------------------------------ the variants


@hookspec(firstresult=True)
def describe_variant() -> VariantInfo:  # type: ignore[empty-body]
    """Describe a variant.

    *Must* for variants; games do not have it.
    """
