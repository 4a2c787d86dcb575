"""The `Game`: one set of rules, bound and ready to play."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from fritillary.core.dealer import Dealer, FastDealer
from fritillary.core.errors import (
    FritillaryError,
    GameError,
    IllegalActionError,
    InvalidOptionsError,
    MatchOverError,
    PluginError,
)
from fritillary.core.info import GameInfo, Information, VariantInfo
from fritillary.core.points import Act, Chance, DecisionPoint, Over
from fritillary.core.text import line
from fritillary.plugins.binding import MUST_IF_HIDDEN, Binding, Plugin, missing_hook
from fritillary.plugins.checks import (
    called,
    check_seen,
    failed,
    legal_from,
    point_from,
    text_from,
    wrong,
)
from fritillary.plugins.copier import make_copier
from fritillary.plugins.described import bots_of, codec_of, game_info, variant_info
from fritillary.plugins.table import ActionTable, OpenTable

if TYPE_CHECKING:
    # With defaults nobody has to name the three for a game that is only played.
    from typing_extensions import TypeVar as _TypeVar

    S = _TypeVar("S", default=Any)
    A = _TypeVar("A", default=Any)
    O = _TypeVar("O", default=Any)  # noqa: E741 - state, action, observation
else:
    S = TypeVar("S")
    A = TypeVar("A")
    O = TypeVar("O")  # noqa: E741

#: So many action tables (one per options and seats) are kept ready.
_TABLES = 32


class Game(Generic[S, A, O]):
    """One set of rules with its variants, immutable once built.

    Two doors lead in. The *trusted* one (`legal_actions`, `apply`, `copy`) is the
    plugin's own functions without checks, for search and training. The *checked*
    one (`new`, `play`, `point`, `legal`, `seen`, `text`, `svg`, `notation`, `value`)
    turns whatever a hook gives that it must not into a `PluginError`.

    Args:
        plugin: the game's plugin.
        variants: plugins that wrap its hooks; they apply in the order of their
            ids, the first innermost.

    Raises:
        PluginError: if a plugin breaks the contract; names plugin, hook and mend.

    Attributes:
        info: what the game says of itself.
        variants: what its variants say of themselves, in order.
        id: the game's id followed by ``+variant`` for each variant.
        codec: codes options, states, actions and observations.
        decision_point: ``(state) -> DecisionPoint``.
        legal_actions: ``(state) -> Sequence[action]``, trusted.
        apply: ``(state, action) -> None`` in place, trusted.
        copy: ``(state) -> state``, independent.
        observe: ``(state, seat | None) -> observation``.
        observe_action: ``(state, action, seat | None) -> action as seen``.
        format_action: ``(action) -> notation``.
        masks_actions: whether a seat may see an action otherwise than it is.
        draw_text: ``(observation) -> text``.
        draw_svg: ``(observation) -> SVG``, or ``None``.
        sample_state: ``(observation, dealer) -> state``, or ``None``.
        shuffle_hidden: ``(state, seat | None, dealer) -> None``, or ``None``.
        evaluate: ``(state, seat) -> float``, or ``None``.
        conserved: ``(state) -> counts by name``, or ``None``.
        rotate_seats: ``(state) -> state``, or ``None``.
    """

    __slots__ = (
        "_chance_outcomes",
        "_explain",
        "_new_state",
        "_parse_action",
        "_sample_chance",
        "apply",
        "bots",
        "codec",
        "conserved",
        "copy",
        "decision_point",
        "distribution",
        "draw_svg",
        "draw_text",
        "evaluate",
        "format_action",
        "id",
        "info",
        "legal_actions",
        "masks_actions",
        "observe",
        "observe_action",
        "rotate_seats",
        "sample_state",
        "shuffle_hidden",
        "table",
        "variants",
    )

    def __init__(self, plugin: Plugin, variants: Sequence[Plugin] = ()) -> None:
        described = sorted(
            ((variant_info(variant), variant) for variant in variants),
            key=lambda pair: pair[0].id,
        )
        self.variants: tuple[VariantInfo, ...] = tuple(info for info, _ in described)
        self._check_twice()
        binding = Binding(plugin, [variant for _, variant in described])
        self.distribution = plugin.distribution
        self.info: GameInfo = game_info(plugin, binding)
        self.id = "+".join([self.info.id, *(info.id for info in self.variants)])
        self._check_for()
        self.codec = codec_of(plugin, self.info)
        self._check_conditional(plugin, binding)
        bind = binding.bind
        self._new_state: Callable[[Any, int, Dealer], S] = bind("new_state")
        self.decision_point: Callable[[S], DecisionPoint] = bind("decision_point")
        self.copy: Callable[[S], S] = bind("copy_state", make_copier(self.info.state))
        self.legal_actions: Callable[[S], Sequence[A]] = bind("legal_actions")
        self.apply: Callable[[S, A], None] = bind("apply_action")
        self._explain: Callable[[O, A], str] = bind("explain_illegal", _explain)
        self._chance_outcomes: Callable[[S], Any] | None = bind("chance_outcomes")
        self._sample_chance: Callable[[S, Dealer], A] | None = bind("sample_chance")
        self.format_action: Callable[[A], str] = bind("format_action")
        self._parse_action: Callable[[str], A] | None = bind("parse_action")
        self.observe: Callable[[S, int | None], O] = bind(
            "observe", _observing(self.copy)
        )
        self.observe_action: Callable[[S, A, int | None], A] = bind(
            "observe_action", _as_it_is
        )
        self.masks_actions: bool = self.observe_action is not _as_it_is
        self.sample_state: Callable[[O, Dealer], S] | None = bind("sample_state")
        self.shuffle_hidden: Callable[[S, int | None, Dealer], None] | None = bind(
            "shuffle_hidden"
        )
        self.draw_text: Callable[[O], str] = bind("draw_text")
        self.draw_svg: Callable[[O], str] | None = bind("draw_svg")
        self.evaluate: Callable[[S, int], float] | None = bind("evaluate")
        self.conserved: Callable[[S], Mapping[str, int]] | None = bind("conserved")
        self.rotate_seats: Callable[[S], S] | None = bind("rotate_seats")
        bots = bind("bots")
        self.bots: Mapping[str, Callable[[], Any]] = (
            bots_of(plugin, bots) if bots else {}
        )
        all_actions = bind("all_actions")
        self.table: Callable[[Any, int], ActionTable[A] | OpenTable[A]] = (
            functools.lru_cache(_TABLES)(
                functools.partial(self._build_table, all_actions)
            )
        )

    def __repr__(self) -> str:
        return f"<Game {self.id} rules {self.info.rules_version}>"

    # ------------------------------------------------------------ the checked door

    def options(self, data: Mapping[str, Any] | None = None, preset: str = "") -> Any:
        """Return options from plain data, over a preset or the defaults.

        Raises:
            InvalidOptionsError: naming what is wrong.
        """
        base: dict[str, Any] = {}
        if preset:
            if preset not in self.info.presets:
                known = ", ".join(self.info.presets) or "none"
                msg = f"{self.info.id}: no preset {preset!r}; known: {known}"
                raise InvalidOptionsError(msg)
            base = self.codec.options_to_data(self.info.presets[preset])
        try:
            merged = {**base, **(data or {})}
        except TypeError as error:
            msg = f"{self.info.id}: options are a map, not {type(data).__name__}"
            raise InvalidOptionsError(msg) from error
        cls = self.info.options.__name__
        return called(self.info.id, cls, self.codec.options_from_data, merged)

    def check_seats(self, seats: int) -> None:
        """Check a number of seats.

        Raises:
            InvalidOptionsError: if the game cannot be played by so many.
        """
        low, high = self.info.min_seats, self.info.max_seats
        if type(seats) is not int or not low <= seats <= high:
            span = f"{low}" if low == high else f"{low} to {high}"
            msg = f"{self.info.id} is played by {span} seats, not {seats}"
            raise InvalidOptionsError(msg)

    def new(self, dealer: Dealer, options: Any = None, seats: int | None = None) -> S:
        """Deal a new state.

        Args:
            dealer: the source of randomness.
            options: an instance of the options class; ``None`` for the defaults.
            seats: how many; ``None`` for the fewest.

        Raises:
            InvalidOptionsError: if options or seats are out of range.
            PluginError: if dealing fails, or gives something else than a state.
        """
        info = self.info
        if options is None:
            options = info.options()
        elif type(options) is not info.options:
            msg = f"{info.id}: options are {info.options.__name__} values"
            raise InvalidOptionsError(msg)
        if seats is None:
            seats = info.min_seats
        elif type(seats) is not int or not info.min_seats <= seats <= info.max_seats:
            self.check_seats(seats)
        try:
            state = self._new_state(options, seats, dealer)
        except ValueError as error:
            msg = f"{self.info.id}: {line(error)}"
            raise InvalidOptionsError(msg) from error
        except (FritillaryError, KeyboardInterrupt):
            raise
        except BaseException as error:
            raise failed(self.info.id, "new_state", error) from error
        cls = info.state
        if not isinstance(state, cls) or getattr(state, "options", 0) is not options:
            msg = (
                f"{self.info.id}: new_state() must return a {cls.__name__} that refers "
                "to the options it was given"
            )
            raise PluginError(msg, code="plugin.state")
        return state

    def check_options(self, options: Any, seats: int) -> None:
        """Check that options go together with a number of seats.

        Deals once, from a dealer of its own, and throws the deal away.

        Raises:
            InvalidOptionsError: if the game cannot be dealt so.
            PluginError: if the game fails to deal.
        """
        self.new(FastDealer(0), options, seats)

    def play(self, state: S, action: A, legal: Sequence[A] | None = None) -> None:
        """Apply an action if it is legal; else leave the state untouched.

        Args:
            state: changed in place.
            action: an action of the seat to act.
            legal: the legal actions, where they are at hand already.

        Raises:
            IllegalActionError: with the explanation, from what the seat knows.
            MatchOverError: after the end.
            GameError: where chance is to act.
            PluginError: if the game gives no decision point, or no legal actions.
        """
        if legal is None:
            legal = self.legal(state)
        if action not in legal:
            seat = self.decision_point(state).seat
            raise IllegalActionError(self.explain(self.observe(state, seat), action))
        self.apply(state, action)

    def point(self, state: S) -> DecisionPoint:
        """Return whose turn it is.

        Raises:
            PluginError: if the game says nothing of the kind.
        """
        return point_from(self.info.id, self.decision_point(state))

    def legal(self, state: S) -> tuple[A, ...]:
        """Return what the seat to act may do, at least one action.

        Raises:
            MatchOverError: after the end.
            GameError: where chance is to act.
            PluginError: if the game gives no sequence, or an empty one.
        """
        point = self.point(state)
        if type(point) is not Act:
            raise _not_an_act(point)
        return legal_from(self.info.id, self.legal_actions(state))

    def outcome_of(self, state: S) -> Any:
        """Return the outcome, or ``None`` while the match goes on.

        Raises:
            PluginError: if the game gives no decision point.
        """
        point = self.point(state)
        return point.outcome if type(point) is Over else None

    def explain(self, observation: O, action: A) -> str:
        """Say why the seat of an observation may not do that.

        Raises:
            PluginError: if the game fails to say it.
        """
        return text_from(
            self.info.id, "explain_illegal", self._explain, observation, action
        )

    # -------------------------------------------------------------------- to people

    def seen(self, state: S, seat: int | None) -> O:
        """Return the observation of a seat, or of a spectator.

        Raises:
            PluginError: if the game fails to build it.
        """
        seen: O = called(self.info.id, "observe", self.observe, state, seat)
        check_seen(self.info, seen)
        return seen

    def text(self, observation: O) -> str:
        """Return the picture of an observation for a terminal.

        Raises:
            PluginError: if the game fails to draw it.
        """
        return text_from(self.info.id, "draw_text", self.draw_text, observation)

    def svg(self, observation: O) -> str | None:
        """Return the picture of an observation as SVG; ``None`` if it has none.

        Raises:
            PluginError: if the game fails to draw it.
        """
        if self.draw_svg is None:
            return None
        return text_from(self.info.id, "draw_svg", self.draw_svg, observation)

    def notation(self, action: A) -> str:
        """Return the notation of an action, chance actions included.

        Raises:
            PluginError: if the game fails to write it.
        """
        return text_from(self.info.id, "format_action", self.format_action, action)

    def value(self, state: S, seat: int) -> float | None:
        """Return how good a state is for a seat; ``None`` if the game cannot say.

        Raises:
            PluginError: if the game gives no number from -1 to 1.
        """
        if self.evaluate is None:
            return None
        value = called(self.info.id, "evaluate", self.evaluate, state, seat)
        if not isinstance(value, (int, float)) or not -1 <= value <= 1:
            raise wrong(self.info.id, "evaluate", value, "a number from -1 to 1")
        return float(value)

    # --------------------------------------------------------------------- chance

    def chance_outcomes(self, state: S) -> list[tuple[A, int]]:
        """Return the chance actions with integer weights.

        Raises:
            GameError: if there are too many to list.
            PluginError: if a weight is not positive, or there are no pairs.
        """
        if self._chance_outcomes is None:
            msg = f"{self.info.id} has too many chance outcomes to list them"
            raise GameError(msg)
        given = self._chance_outcomes(state)
        try:
            pairs = [(action, *_fraction(weight)) for action, weight in given]
        except (TypeError, ValueError) as error:
            must = "a sequence of pairs of an action and its weight"
            raise wrong(self.info.id, "chance_outcomes", given, must) from error
        if not pairs or any(num < 1 or den < 1 for _, num, den in pairs):
            msg = (
                f"{self.info.id}: chance_outcomes() needs at least one outcome, each "
                "with a weight that is a positive integer or a pair of them"
            )
            raise PluginError(msg, code="plugin.weight")
        scale = math.lcm(*(den for _, _, den in pairs))
        return [(action, num * (scale // den)) for action, num, den in pairs]

    def draw_chance(self, state: S, dealer: Dealer) -> A:
        """Draw one chance action, each in proportion to its weight."""
        if self._sample_chance is not None:
            return self._sample_chance(state, dealer)
        pairs = self.chance_outcomes(state)
        return pairs[dealer.weighted([weight for _, weight in pairs])][0]

    # --------------------------------------------------------------------- inside

    def _build_table(
        self, all_actions: Any, options: Any, seats: int
    ) -> ActionTable[A] | OpenTable[A]:
        if all_actions is None:
            return OpenTable(self.codec, self.format_action, self._parse_action)
        actions = called(self.id, "all_actions", all_actions, options, seats)
        return ActionTable(actions, self.codec, self.format_action, game=self.id)

    def _check_twice(self) -> None:
        ids = [info.id for info in self.variants]
        for info_id in ids:
            if ids.count(info_id) > 1:
                msg = f"variant {info_id} is named twice; name it once"
                raise PluginError(msg, code="plugin.variant-twice")

    def _check_for(self) -> None:
        for info in self.variants:
            if self.info.id not in info.games:
                games = line(", ".join(info.games), 200)
                msg = (
                    f"variant {info.id} is not for {self.info.id}, but for "
                    f"{games}; add it to VariantInfo.games, or leave "
                    "the variant out"
                )
                raise PluginError(msg, code="plugin.wrong-game")

    def _check_conditional(self, plugin: Plugin, binding: Binding) -> None:
        info = self.info
        if info.information is Information.HIDDEN:
            for hook in MUST_IF_HIDDEN:
                if not binding.has(hook):
                    raise missing_hook(plugin, hook, "information is hidden")
        elif not binding.has("observe") and info.observation is not info.state:
            msg = (
                f"{plugin.name}: without observe(), GameInfo.observation must be the "
                "state class; set it so, or add the hook"
            )
            raise PluginError(msg, code="plugin.missing-hook")
        draws = [h for h in ("chance_outcomes", "sample_chance") if binding.has(h)]
        if info.chance and not draws:
            raise missing_hook(plugin, "chance_outcomes", "GameInfo.chance is true")
        if draws and not info.chance:
            msg = (
                f"{plugin.name}: {draws[0]}() is never asked; set GameInfo.chance, or "
                "remove the hook"
            )
            raise PluginError(msg, code="plugin.useless-hook")
        if binding.has("all_actions") and binding.has("parse_action"):
            msg = (
                f"{plugin.name}: parse_action() is never asked, since all_actions() "
                "gives a table; remove one of them"
            )
            raise PluginError(msg, code="plugin.useless-hook")


def _fraction(weight: object) -> tuple[int, int]:
    """Return a weight as numerator and denominator; ``(0, 0)`` if it is none."""
    match weight:
        case int():
            return int(weight), 1
        case [int(numerator), int(denominator)]:
            return numerator, denominator
        case _:
            return 0, 0


def _explain(observation: Any, action: Any) -> str:
    return f"{action} is not among the legal actions"


def _observing(copy: Callable[[Any], Any]) -> Callable[[Any, int | None], Any]:
    def observe(state: Any, seat: int | None) -> Any:
        return copy(state)

    return observe


def _as_it_is(state: Any, action: Any, seat: int | None) -> Any:
    return action


def _not_an_act(point: DecisionPoint) -> GameError:
    if type(point) is Chance:
        return GameError("chance is to act, no seat", code="action.not-your-turn")
    return MatchOverError("the match is over")
