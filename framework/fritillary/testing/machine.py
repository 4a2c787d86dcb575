# ruff: noqa: ANN401 - states and actions of every game pass through
"""A Hypothesis state machine of any game: it plays, doubts, and shrinks.

    TestPig = machine_for(game).TestCase

Hypothesis chooses deal, seats and actions, and shrinks what breaks a law to few
steps. Subclass what `machine_for` returns to compare with a second implementation:
override `dealt`, `acted` and `compare`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from fritillary.core.errors import UsageError
from fritillary.core.points import Act, Chance, Over
from fritillary.testing.checks import CHECKS, Plan, is_at
from fritillary.testing.scene import AnyGame, Scene, dealt

if TYPE_CHECKING:
    from hypothesis.stateful import RuleBasedStateMachine

#: Laws that are checked after every step.
STEP_LAWS: Final = (
    "turn.seat",
    "legal.some",
    "legal.table-order",
    "state.options",
    "state.conserved",
    "seats.exchangeable",
    "codec.round-trip",
    "codec.canonical",
    "codec.restored",
    "copy.equal",
    "copy.independent",
    "notation.unique",
    "outcome.seats",
    "outcome.placing",
    "outcome.constant-sum",
    "outcome.reason",
)

_WIDEST: Final = 1 << 16


def machine_for(
    game: AnyGame,
    *,
    options: Any = None,
    seats: int | None = None,
    laws: Sequence[str] = STEP_LAWS,
) -> type[RuleBasedStateMachine]:
    """Return a rule-based state machine that plays a game.

    Its rules: act (a legal action), chance (an outcome), refuse (an action that is
    not legal), keep (a copy, which must stay as it is). After every step the laws
    are checked; at the end the match is played again from its deal. Attributes for
    subclasses: ``scene`` (a `Scene`), and the methods ``dealt()``,
    ``acted(action)`` and ``compare()``, which do nothing.

    Args:
        game: the rules.
        options: of the matches; ``None`` for the defaults and every preset.
        seats: how many; ``None`` for every number.
        laws: checked after every step; laws of positions only.

    Raises:
        UsageError: if Hypothesis is not installed, or a law is not one of
            positions.
    """
    try:
        from hypothesis import strategies as st
        from hypothesis.stateful import (
            RuleBasedStateMachine,
            initialize,
            invariant,
            precondition,
            rule,
        )
    except ImportError as error:
        msg = "state machines need the library hypothesis: pip install hypothesis"
        raise UsageError(msg) from error
    checks = [CHECKS[law] for law in laws if law in CHECKS]
    if len(checks) < len(laws) or any(check.look is None for check in checks):
        msg = f"these are not all laws of positions: {', '.join(laws)}"
        raise UsageError(msg)
    checks = [check for check in checks if not check.needs(game)]
    plan = Plan(refusals=10)
    low, high = game.info.min_seats, game.info.max_seats
    numbers = list(range(low, high + 1)) if seats is None else [seats]
    choices = [options]
    if options is None:
        choices = [game.info.options(), *game.info.presets.values()]

    def is_point(kind: type) -> Callable[[Any], bool]:
        return lambda self: (
            self.scene is not None and isinstance(self.scene.point, kind)
        )

    class GameMachine(RuleBasedStateMachine):
        """Plays a match step by step."""

        def __init__(self) -> None:
            super().__init__()
            self.scene: Scene | None = None
            self.kept: list[tuple[int, Any, bytes]] = []

        def dealt(self) -> None:
            """Follow a deal; for subclasses."""

        def acted(self, action: Any) -> None:
            """Follow an action or a chance outcome; for subclasses."""

        def compare(self) -> None:
            """Compare after every step; for subclasses."""

        @initialize(
            choice=st.sampled_from(choices),
            number=st.sampled_from(numbers),
            deal=st.integers(0, _WIDEST),
        )
        def deal(self, choice: Any, number: int, deal: int) -> None:
            self.scene = dealt(game, choice, number, f"machine/{deal}")
            self.dealt()

        def advance(self, action: Any) -> None:
            scene: Any = self.scene
            scene.advance(action)
            self.acted(action)

        @precondition(is_point(Act))
        @rule(pick=st.integers(0, _WIDEST))
        def act(self, pick: int) -> None:
            scene: Any = self.scene
            legal = game.legal_actions(scene.state)
            self.advance(legal[pick % len(legal)])

        @precondition(is_point(Chance))
        @rule(pick=st.integers(0, _WIDEST))
        def chance(self, pick: int) -> None:
            scene: Any = self.scene
            self.advance(game.draw_chance(scene.state, scene.dealer(pick)))

        @precondition(is_point(Act))
        @rule()
        def refuse(self) -> None:
            self._check("play.refuses-illegal")
            self._check("play.refusal-harmless")

        @precondition(lambda self: self.scene is not None)
        @rule()
        def keep(self) -> None:
            scene: Any = self.scene
            copied = game.copy(scene.state)
            raw = game.codec.encode_state(copied)
            self.kept.append((scene.ply, copied, raw))

        @precondition(is_point(Over))
        @rule()
        def again(self) -> None:
            self._check("seed.same-bytes")

        @invariant()
        def laws_hold(self) -> None:
            scene = self.scene
            if scene is None:
                return
            for check in checks:
                if is_at(scene, check.at) and check.look is not None:
                    check.look(scene, plan)
            for ply, state, raw in self.kept:
                if game.codec.encode_state(state) != raw:
                    what = f"the copy of ply {ply} has changed"
                    raise scene.broken("copy.earlier", what)
            self.compare()

        def _check(self, law: str) -> None:
            look = CHECKS[law].look
            if look is not None and self.scene is not None:
                look(self.scene, plan)

    GameMachine.__name__ = GameMachine.__qualname__ = f"{game.info.title}Machine"
    return GameMachine
