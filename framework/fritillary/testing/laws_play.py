# ruff: noqa: ANN401 - states and actions of every game pass through
"""Laws of play: turns, legality, refusals, copies, outcomes, seats, the seed."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Mapping
from typing import Any, Final

from fritillary.codec.packing import unpack
from fritillary.core.dealer import Dealer, FastDealer, SealedDealer
from fritillary.core.errors import (
    GameError,
    IllegalActionError,
)
from fritillary.core.points import Act, Chance, Over
from fritillary.testing.calls import calls, some
from fritillary.testing.checks import Plan, Subject, position, whole
from fritillary.testing.laws import LawError
from fritillary.testing.laws_chance import outcomes
from fritillary.testing.scene import (
    AnyGame,
    Scene,
    first_difference,
    next_action,
    scenes,
)

#: So many plies a copy is played on.
_AHEAD: Final = 6


def differ(scene: Scene, before: bytes, state: Any) -> str:
    """Say where a state differs from earlier bytes."""
    return first_difference(
        unpack(before), unpack(scene.game.codec.encode_state(state))
    )


@position("hooks.sound")
def hooks_are_sound(scene: Scene, plan: Plan) -> None:
    """Call every hook."""
    for call in calls(scene):
        try:
            call.run()
        except Exception as error:
            what = f"{call.hook}() raises {type(error).__name__}: {error}"
            raise scene.broken("hooks.sound", what, call.viewer, call.action) from error


# ------------------------------------------------------------------------- whose turn


@position("turn.seat", at="act")
def seat_to_act_exists(scene: Scene, plan: Plan) -> None:
    """Compare the seat to act with the number of seats."""
    seat = scene.point.seat
    if seat is None or not 0 <= seat < scene.seats:
        raise scene.broken("turn.seat", f"{scene.point} of {scene.seats} seats")


@whole("turn.max-plies")
def matches_end(subject: Subject) -> int:
    """Play matches to the end, and none further than is declared."""
    plan = subject.plan
    plies = 0
    for scene in scenes(
        subject.game,
        options=plan.options,
        seats=plan.seats,
        matches=plan.matches,
        seed=plan.seed,
    ):
        plies = max(plies, scene.ply)
    return plies


# ------------------------------------------------------------------------ legal actions


@position("legal.some", at="act")
def something_is_legal(scene: Scene, plan: Plan) -> None:
    """Ask for legal actions."""
    if not scene.game.legal_actions(scene.state):
        what = f"legal_actions() is empty at {scene.point}"
        raise scene.broken("legal.some", what)


@position("legal.table-order", at="act")
def legal_actions_are_in_table_order(scene: Scene, plan: Plan) -> None:
    """Look up the index of every legal action."""
    game = scene.game
    legal = game.legal_actions(scene.state)
    table = game.table(scene.options, scene.seats)
    if not table.listed:
        if len(set(legal)) < len(legal):
            raise scene.broken("legal.table-order", "an action is listed twice")
        return
    places: Mapping[Any, int] = table.index
    for action in legal:
        if action not in places:
            what = f"{action} is not in the table"
            raise scene.broken("legal.table-order", what, action=action)
    order = [places[action] for action in legal]
    if order != sorted(set(order)):
        texts = ", ".join(game.format_action(action) for action in legal)
        raise scene.broken("legal.table-order", f"legal actions: {texts}")


@position("play.accepts-legal", at="act")
def legal_actions_can_be_played(scene: Scene, plan: Plan) -> int:
    """Play every legal action on a copy, through the checked door."""
    game = scene.game
    table = game.table(scene.options, scene.seats)
    legal = game.legal_actions(scene.state)
    chosen = some(legal, plan.refusals, scene.dealer("accept"))
    for action in chosen:
        after = game.copy(scene.state)
        try:
            sent = table.structure(game.codec.action_to_data(action))
            game.play(after, sent)
            point = game.decision_point(after)
        except Exception as error:
            what = f"playing it raises {type(error).__name__}: {error}"
            raise scene.broken("play.accepts-legal", what, action=action) from error
        kind: object = type(point)
        if kind not in {Act, Chance, Over}:
            what = f"after it, decision_point() gives {point!r}"
            raise scene.broken("play.accepts-legal", what, action=action)
    return len(chosen)


def _illegal(scene: Scene, most: int) -> list[Any]:
    """Return actions that are not legal: by notation, lest == deceive us."""
    table = scene.game.table(scene.options, scene.seats)
    legal = set(map(scene.game.format_action, scene.game.legal_actions(scene.state)))
    pairs = zip(table.actions, table.texts, strict=True)
    illegal = [action for action, text in pairs if text not in legal]
    return some(illegal, most, scene.dealer("illegal"))


@position("play.refuses-illegal")
def illegal_actions_are_refused(scene: Scene, plan: Plan) -> int:
    """Try actions that are not legal, also where no seat is to act."""
    game = scene.game
    acts = isinstance(scene.point, Act)
    table = game.table(scene.options, scene.seats).actions
    tried = _illegal(scene, plan.refusals) if acts else list(table[:1])
    for action in tried:
        copied = game.copy(scene.state)
        try:
            game.play(copied, action)
        except IllegalActionError as error:
            if not isinstance(error.message, str) or not error.message.strip():
                what = "there is no explanation"
                raise scene.broken(
                    "play.refuses-illegal", what, action=action
                ) from error
        except GameError:
            if acts:
                raise
        else:
            what = f"{game.format_action(action)} was played"
            raise scene.broken("play.refuses-illegal", what, action=action)
    return len(tried)


@position("play.refusal-harmless", at="act")
def refusals_change_nothing(scene: Scene, plan: Plan) -> int:
    """Compare the bytes of the state before and after a refusal."""
    game, encode = scene.game, scene.game.codec.encode_state
    tried = _illegal(scene, plan.refusals)
    copied = game.copy(scene.state)
    before = encode(copied)
    for action in tried:
        try:
            game.play(copied, action)
        except IllegalActionError:
            pass
        else:
            copied = game.copy(scene.state)
            continue
        if encode(copied) != before:
            what = differ(scene, before, copied)
            raise scene.broken("play.refusal-harmless", what, action=action)
    return len(tried)


# ------------------------------------------------------------------------------ copies


@position("copy.equal")
def copies_are_equal(scene: Scene, plan: Plan) -> None:
    """Compare a copy with its original."""
    copied = scene.game.copy(scene.state)
    encode = scene.game.codec.encode_state
    if encode(copied) != encode(scene.state) or copied != scene.state:
        found = differ(scene, encode(scene.state), copied)
        raise scene.broken("copy.equal", found or "equal in bytes, but not to ==")


@position("copy.independent")
def copies_are_independent(scene: Scene, plan: Plan) -> None:
    """Play a copy, then the original of another one, some plies on."""
    game, encode = scene.game, scene.game.codec.encode_state
    for played_is_copy in (True, False):
        original = game.codec.decode_state(encode(scene.state), scene.options)
        copied = game.copy(original)
        kept, state = (original, copied) if played_is_copy else (copied, original)
        before = encode(kept)
        chooser = scene.dealer("ahead")
        for _ in range(_AHEAD):
            action = next_action(game, state, game.decision_point(state), chooser)
            if action is None:
                break
            game.apply(state, action)
            found = differ(scene, before, kept)
            if found:
                which = "original" if played_is_copy else "copy"
                what = f"the {which} has changed: {found}"
                raise scene.broken("copy.independent", what, action=action)


@position("copy.earlier", at="end")
def earlier_copies_stay(scene: Scene, plan: Plan) -> int:
    """Keep a copy or the original of every position of a match, by turns."""
    game, encode = scene.game, scene.game.codec.encode_state
    kept: list[tuple[int, Any, bytes]] = []
    for earlier in scene.retrace():
        copied = game.copy(earlier.state)
        if earlier.ply % 2:
            earlier.state, copied = copied, earlier.state
        kept.append((earlier.ply, copied, encode(copied)))
    for ply, state, before in kept:
        found = differ(scene, before, state)
        if found:
            which = "original" if ply % 2 else "copy"
            what = f"the {which} of ply {ply} has changed: {found}"
            raise scene.broken("copy.earlier", what)
    return len(kept)


@position("state.options")
def options_are_passed_on(scene: Scene, plan: Plan) -> None:
    """Look for the very options in state, copy and observations."""
    game = scene.game
    if scene.state.options is not scene.options:
        raise scene.broken("state.options", "the state has other options")
    if game.copy(scene.state).options is not scene.options:
        raise scene.broken("state.options", "the copy has other options")
    for viewer in scene.viewers:
        if game.observe(scene.state, viewer).options is not scene.options:
            what = "the observation has other ones"
            raise scene.broken("state.options", what, viewer)


# ---------------------------------------------------------------------------- outcomes


@position("outcome.seats", at="end")
def outcome_has_a_score_for_each_seat(scene: Scene, plan: Plan) -> None:
    """Count scores."""
    outcome = scene.game.outcome_of(scene.state)
    if len(outcome.scores) != scene.seats:
        raise scene.broken("outcome.seats", str(outcome))


@position("outcome.placing", at="end")
def placing_follows_scores(scene: Scene, plan: Plan) -> None:
    """Compare places and scores of every two seats."""
    outcome = scene.game.outcome_of(scene.state)
    results = zip(outcome.placing, outcome.scores, strict=True)
    for (place, score), (worse, higher) in itertools.permutations(results, 2):
        if place < worse and score < higher:
            raise scene.broken("outcome.placing", str(outcome))


def _no_sum(game: AnyGame) -> str:
    declared = game.info.constant_sum is not None
    return "" if declared else "GameInfo.constant_sum is None"


@position("outcome.constant-sum", at="end", needs=_no_sum)
def scores_add_up(scene: Scene, plan: Plan) -> None:
    """Add up the scores."""
    expected = scene.game.info.constant_sum
    scores = scene.game.outcome_of(scene.state).scores
    if expected is not None and sum(scores) != expected:
        what = f"{scores}, not {expected} in all"
        raise scene.broken("outcome.constant-sum", what)


@position("outcome.reason", at="end")
def reasons_are_documented(scene: Scene, plan: Plan) -> None:
    """Look up the reason."""
    info, outcome = scene.game.info, scene.game.outcome_of(scene.state)
    if not info.reasons.get(outcome.reason, "").strip():
        what = f"unknown reason {outcome.reason!r}"
        raise scene.broken("outcome.reason", what)


# ------------------------------------------------------------------------ evaluations


def _no_evaluation(game: AnyGame) -> str:
    return "" if game.evaluate is not None else "the game has no evaluate()"


@position("evaluate.range", needs=_no_evaluation)
def evaluations_are_in_range(scene: Scene, plan: Plan) -> None:
    """Evaluate for every seat."""
    if scene.game.evaluate is None:
        return
    for seat in range(scene.seats):
        value = scene.game.evaluate(scene.game.copy(scene.state), seat)
        if not -1 <= value <= 1:
            raise scene.broken("evaluate.range", f"evaluate() gave {value}", seat)


# --------------------------------------------------------------- other seats, material


def _no_conserved(game: AnyGame) -> str:
    return "" if game.conserved is not None else "the game has no conserved()"


@position("state.conserved", needs=_no_conserved)
def material_is_conserved(scene: Scene, plan: Plan) -> None:
    """Compare the counts with those of the deal."""
    conserved = scene.game.conserved
    if conserved is None:
        return
    start = next(scene.retrace()).state
    found = first_difference(dict(conserved(start)), dict(conserved(scene.state)))
    if found:
        action = scene.actions[-1] if scene.actions else None
        what = f"in the deal and here: {found}"
        raise scene.broken("state.conserved", what, action=action)


def _no_rotation(game: AnyGame) -> str:
    return "" if game.rotate_seats is not None else "the game has no rotate_seats()"


@position("seats.exchangeable", needs=_no_rotation)
def seats_are_exchangeable(scene: Scene, plan: Plan) -> None:
    """Rename the seats, and compare what may be done and what comes of it."""
    game, encode, seats = scene.game, scene.game.codec.encode_state, scene.seats
    rotate = game.rotate_seats
    if rotate is None:
        return

    def broken(what: str, action: Any = None) -> LawError:
        return scene.broken("seats.exchangeable", what, action=action)

    rotated = rotate(game.copy(scene.state))
    around = rotated
    for _ in range(seats - 1):
        around = rotate(around)
    found = differ(scene, encode(scene.state), around)
    if found:
        raise broken(f"renamed {seats} times it is another position: {found}")
    one, other = scene.point, game.decision_point(rotated)
    if isinstance(one, Over) and isinstance(other, Over):
        for name in ("scores", "placing"):
            here, there = getattr(one.outcome, name), getattr(other.outcome, name)
            if (*here[-1:], *here[:-1]) != there:
                raise broken(f"{name} {here}, renamed {there}")
        return
    expected = None if one.seat is None else (one.seat + 1) % seats
    if type(one) is not type(other) or other.seat != expected:
        raise broken(f"{one}, renamed {other}")
    possible = (
        game.legal_actions(scene.state) if isinstance(one, Act) else outcomes(scene)
    )
    if isinstance(one, Act):
        found = first_difference(
            list(map(game.format_action, possible)),
            list(map(game.format_action, game.legal_actions(rotated))),
        )
        if found:
            raise broken(f"legal actions here and renamed: {found}")
    for action in some(possible, 4, scene.dealer("rotate")):
        after, renamed = game.copy(scene.state), game.copy(rotated)
        game.apply(after, action)
        game.apply(renamed, action)
        found = differ(scene, encode(rotate(after)), renamed)
        if found:
            raise broken(f"renamed before and after it: {found}", action)


# ---------------------------------------------------------------------------- the seed


@position("seed.same-bytes", at="end")
def the_same_seed_gives_the_same_match(scene: Scene, plan: Plan) -> None:
    """Deal and play the match once more; deal twice with a sealed dealer."""
    game, encode = scene.game, scene.game.codec.encode_state
    (last,) = deque(scene.retrace(), maxlen=1)
    found = differ(scene, encode(scene.state), last.state)
    if found:
        raise scene.broken("seed.same-bytes", f"at the end: {found}")
    dealers: list[tuple[Dealer, Dealer]] = [
        (FastDealer(scene.deal), FastDealer(scene.deal)),
        (SealedDealer(bytes(32)), SealedDealer(bytes(32))),
    ]
    for pair in dealers:
        deals = [encode(game.new(d, scene.options, scene.seats)) for d in pair]
        found = first_difference(*map(unpack, deals))
        if found:
            raise scene.broken("seed.same-bytes", f"in the deal: {found}")
