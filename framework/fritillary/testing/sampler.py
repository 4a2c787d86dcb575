# ruff: noqa: ANN401 - states and actions of every game pass through
"""The laws of ``sample_state``, along random play and in distribution.

``shuffle_hidden`` is the witness: it rearranges the truth, the sampler builds from
the observation alone, and both must draw from the same distribution: that of the
deal, given what the observation holds. On games small enough to go through as a
whole, `fritillary.testing.check_sampler_exact` compares exact weights.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any, Final

from attrs import define

from fritillary.codec.packing import unpack
from fritillary.core.dealer import Dealer
from fritillary.core.errors import UsageError
from fritillary.testing.checks import (
    CHECKS,
    Plan,
    Subject,
    is_at,
    look_at,
    needs_hidden,
    plan_of,
    position,
    walk,
    whole,
)
from fritillary.testing.laws import LawError
from fritillary.testing.scene import (
    AnyGame,
    Scene,
    Viewer,
    first_difference,
    law_error,
    next_action,
    scenes,
)
from fritillary.testing.statistics import (
    CLEAR,
    significantly_more,
)

_SAMPLES: Final = 4


@define
class _Tally:
    """Counts for one viewer, over all positions."""

    witness_varied: int = 0
    sampler_varied: int = 0
    witness_true: int = 0
    sampler_true: int = 0


@define
class SamplerReport:
    """What the sampler laws went through.

    Args:
        matches: random matches played.
        positions: positions in them.
        samples: states sampled.
        tests: statistical tests made.
    """

    matches: int = 0
    positions: int = 0
    samples: int = 0
    tests: int = 0

    def __str__(self) -> str:
        return (
            f"{self.matches} matches, {self.positions} positions, "
            f"{self.samples} samples, {self.tests} tests"
        )


def check_sampler(
    game: AnyGame,
    *,
    options: Any = None,
    seats: int | None = None,
    matches: int = 30,
    seed: int = 0,
) -> SamplerReport:
    """Check the sampler at every position of random matches, for every viewer.

    Args:
        game: the rules, with hidden information.
        options: of the matches; ``None`` for the defaults and every preset.
        seats: how many; ``None`` for several numbers.
        matches: how many random matches; each setup gets at least one.
        seed: of everything that is drawn.

    Raises:
        LawError: a law whose id begins with ``sampler.``.
        UsageError: if the game hides nothing.
    """
    need_sampler(game)
    report = SamplerReport()
    plan = plan_of(options, seats, matches, seed)
    tallies: dict[Viewer, _Tally] = {}
    impure: LawError | None = None
    for scene in scenes(game, options=options, seats=seats, matches=matches, seed=seed):
        report.matches = scene.match + 1
        report.positions += 1
        for law in _ALONG_PLAY:
            if not CHECKS[law].needs(game) and is_at(scene, CHECKS[law].at):
                looked = look_at(CHECKS[law], scene, plan)
                report.samples += looked if law == "sampler.observation" else 0
        _tally(scene, tallies)
        if impure is None:
            try:
                look_at(CHECKS["sampler.pure"], scene, plan)
            except LawError as error:
                impure = error
        if not scene.ply % 8:
            look_at(CHECKS["sampler.playable"], scene, plan)
    _judge_truth(game, tallies)
    _judge_constant(game, tallies)
    _judge_vacuous(game, tallies)
    # Last: a sampler that looks elsewhere than at the observation mostly looks at
    # the truth, and that is the clearer message.
    if impure is not None:
        raise impure
    return report


_ALONG_PLAY: Final = (
    "sampler.decision-point",
    "sampler.observation",
    "sampler.legal-actions",
    "sampler.conserved",
)


def need_sampler(game: AnyGame) -> None:
    """Check that a game hides something.

    Raises:
        UsageError: if it does not.
    """
    if game.sample_state is None or game.shuffle_hidden is None:
        msg = f"{game.id} has no sampler with a witness: nothing is hidden"
        raise UsageError(msg)


def from_bytes(scene: Scene, viewer: Viewer) -> Any:
    """Return the observation as a bot far away has it."""
    codec = scene.game.codec
    raw = codec.encode_observation(scene.game.observe(scene.state, viewer))
    return codec.decode_observation(raw, scene.options)


def sample(game: AnyGame, observation: Any, dealer: Dealer) -> Any:
    """Draw a state, by the sampler."""
    assert game.sample_state is not None  # noqa: S101 - need_sampler() has checked
    return game.sample_state(observation, dealer)


def shuffled(game: AnyGame, state: Any, viewer: Viewer, dealer: Dealer) -> Any:
    """Return a world that a viewer cannot tell from the truth, by the witness."""
    assert game.shuffle_hidden is not None  # noqa: S101 - need_sampler() has checked
    world = game.copy(state)
    game.shuffle_hidden(world, viewer, dealer)
    return world


def _label(viewer: Viewer) -> int:
    return -1 if viewer is None else viewer


def _samples(scene: Scene, law: str) -> Iterator[tuple[Viewer, Any]]:
    """Yield samples for every viewer, the same each time; other ones for each law."""
    for viewer in scene.viewers:
        observation = from_bytes(scene, viewer)
        dealer = scene.dealer(law, _label(viewer))
        for _ in range(_SAMPLES):
            yield viewer, sample(scene.game, observation, dealer)


# ------------------------------------------------------------- laws of single samples


@position("sampler.decision-point", needs=needs_hidden)
def samples_have_the_same_turn(scene: Scene, plan: Plan) -> None:
    """Compare decision points."""
    game = scene.game
    for viewer, sample in _samples(scene, "turn"):
        point = game.decision_point(sample)
        if point != scene.point:
            what = f"{point} in the sample, {scene.point} in truth"
            raise scene.broken("sampler.decision-point", what, viewer)


@position("sampler.observation", needs=needs_hidden)
def samples_look_the_same(scene: Scene, plan: Plan) -> int:
    """Observe samples as the truth was observed."""
    game, encode = scene.game, scene.game.codec.encode_observation
    for viewer, sample in _samples(scene, "observation"):
        truth = encode(game.observe(scene.state, viewer))
        again = encode(game.observe(sample, viewer))
        if truth != again:
            found = first_difference(unpack(truth), unpack(again))
            what = f"in truth and again: {found}"
            raise scene.broken("sampler.observation", what, viewer)
    return _SAMPLES * len(scene.viewers)


@position("sampler.legal-actions", at="act", needs=needs_hidden)
def samples_have_the_same_legal_actions(scene: Scene, plan: Plan) -> int:
    """Compare legal actions of the seat to act."""
    game = scene.game
    legal = [game.format_action(a) for a in game.legal_actions(scene.state)]
    for viewer, sample in _samples(scene, "legal"):
        if viewer != scene.point.seat or game.decision_point(sample) != scene.point:
            continue
        found = first_difference(
            legal, [game.format_action(a) for a in game.legal_actions(sample)]
        )
        if found:
            what = f"in truth and in the sample: {found}"
            raise scene.broken("sampler.legal-actions", what, viewer)
    return _SAMPLES


def _no_material(game: AnyGame) -> str:
    if game.conserved is None:
        return "the game has no conserved()"
    return needs_hidden(game)


@position("sampler.conserved", needs=_no_material)
def samples_hold_the_same_material(scene: Scene, plan: Plan) -> int:
    """Count material in samples and in shuffled states."""
    game = scene.game
    if game.conserved is None:
        return 0
    truth = dict(game.conserved(scene.state))

    def check(who: str, state: Any, viewer: Viewer) -> None:
        counts = dict(game.conserved(state)) if game.conserved is not None else {}
        found = first_difference(truth, counts)
        if found:
            what = f"in truth and {who}: {found}"
            raise scene.broken("sampler.conserved", what, viewer)

    for viewer, sample in _samples(scene, "material"):
        check("in a sample", sample, viewer)
    for viewer in scene.viewers:
        dealer = scene.dealer("material of worlds", _label(viewer))
        check("shuffled", shuffled(game, scene.state, viewer, dealer), viewer)
    return _SAMPLES * len(scene.viewers)


@position("sampler.pure", needs=needs_hidden)
def samples_follow_from_the_observation(scene: Scene, plan: Plan) -> None:
    """Sample twice alike, with another world observed in between."""
    game = scene.game
    for viewer in scene.viewers:
        label = _label(viewer)
        one = sample(game, from_bytes(scene, viewer), scene.dealer("pure", label))
        observation = from_bytes(scene, viewer)
        other = shuffled(game, scene.state, viewer, scene.dealer("between", label))
        game.observe(other, viewer)
        two = sample(game, observation, scene.dealer("pure", label))
        raw = [unpack(game.codec.encode_state(state)) for state in (one, two)]
        found = first_difference(*raw)
        if found:
            raise scene.broken("sampler.pure", found, viewer)


@position("sampler.playable", thin=4, needs=needs_hidden)
def samples_can_be_played(scene: Scene, plan: Plan) -> None:
    """Play a sample to the end at random; the viewers take turns."""
    game = scene.game
    viewer = scene.turn_viewer
    dealer = scene.dealer("playable")
    state = sample(game, from_bytes(scene, viewer), dealer)
    try:
        for _ in range(game.info.max_plies + 1):
            action = next_action(game, state, game.decision_point(state), dealer)
            if action is None:
                return
            game.apply(state, action)
    except Exception as error:
        what = f"{type(error).__name__} while playing on: {error}"
        raise scene.broken("sampler.playable", what, viewer) from error
    what = f"no end within {game.info.max_plies} plies"
    raise scene.broken("sampler.playable", what, viewer)


# --------------------------------------------------------------- laws of many samples


def _tally(scene: Scene, tallies: dict[Viewer, _Tally]) -> None:
    """Count, for every viewer, what varies and what equals the truth."""
    game, encode = scene.game, scene.game.codec.encode_state
    truth = encode(scene.state)
    for viewer in scene.viewers:
        tally = tallies.setdefault(viewer, _Tally())
        observation = from_bytes(scene, viewer)
        dealer = scene.dealer("tally", _label(viewer))
        samples = [encode(sample(game, observation, dealer)) for _ in range(_SAMPLES)]
        worlds = [
            encode(shuffled(game, scene.state, viewer, dealer)) for _ in range(_SAMPLES)
        ]
        tally.sampler_varied += len(set(samples)) > 1
        tally.witness_varied += len(set(worlds)) > 1
        # Other draws decide whether the position counts: were it those that are
        # counted, the choice would favour one side.
        others = [encode(shuffled(game, scene.state, viewer, dealer)) for _ in (0, 1)]
        if any(other != truth for other in others):
            tally.sampler_true += samples.count(truth)
            tally.witness_true += worlds.count(truth)


def _tallies(subject: Subject) -> dict[Viewer, _Tally]:
    """Return the tallies of a game, counted once for all laws."""
    if "tallies" not in subject.cache:
        tallies: dict[Viewer, _Tally] = {}
        plan = subject.plan
        stop = time.monotonic() + plan.seconds
        for scene in walk(subject.game, plan, matches=plan.sampler_matches):
            _tally(scene, tallies)
            varied = sum(tally.witness_varied for tally in tallies.values())
            if varied > 2 * CLEAR and time.monotonic() > stop:
                break
        subject.cache["tallies"] = tallies
    found: dict[Viewer, _Tally] = subject.cache["tallies"]
    return found


def _who(viewer: Viewer) -> str:
    return "a spectator" if viewer is None else f"seat {viewer}"


def _judge_truth(game: AnyGame, tallies: Mapping[Viewer, _Tally]) -> None:
    for viewer, tally in tallies.items():
        if significantly_more(tally.sampler_true, tally.witness_true):
            what = (
                f"{tally.sampler_true} samples equal the truth, and "
                f"{tally.witness_true} worlds of the witness"
            )
            raise law_error("sampler.truth", [what, _who(viewer)], game.id)


def _judge_constant(game: AnyGame, tallies: Mapping[Viewer, _Tally]) -> None:
    for viewer, tally in tallies.items():
        if significantly_more(tally.witness_varied, tally.sampler_varied):
            what = (
                f"the witness varied at {tally.witness_varied} positions, the "
                f"sampler at {tally.sampler_varied}"
            )
            raise law_error("sampler.constant", [what, _who(viewer)], game.id)


def _judge_vacuous(game: AnyGame, tallies: Mapping[Viewer, _Tally]) -> None:
    varied = sum(tally.witness_varied for tally in tallies.values())
    if varied < CLEAR:
        what = f"something was hidden at {varied} positions, {CLEAR} are needed"
        raise law_error("sampler.vacuous", [f"{what}; play more matches"], game.id)


@whole("sampler.truth", needs=needs_hidden)
def samples_are_not_the_truth(subject: Subject) -> int:
    """Count samples that equal the truth."""
    tallies = _tallies(subject)
    _judge_truth(subject.game, tallies)
    return sum(tally.witness_varied for tally in tallies.values())


@whole("sampler.constant", needs=needs_hidden)
def samples_vary(subject: Subject) -> int:
    """Count positions at which samples vary."""
    tallies = _tallies(subject)
    _judge_constant(subject.game, tallies)
    return sum(tally.sampler_varied for tally in tallies.values())


@whole("sampler.vacuous", needs=needs_hidden)
def enough_is_hidden(subject: Subject) -> int:
    """Count positions at which something is hidden."""
    tallies = _tallies(subject)
    _judge_vacuous(subject.game, tallies)
    return sum(tally.witness_varied for tally in tallies.values())
