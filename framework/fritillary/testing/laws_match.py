"""Laws of whole matches and whole processes: growth, counts, hash seeds, golden."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Final

from fritillary.core.dealer import FastDealer
from fritillary.core.info import Information
from fritillary.core.points import Act
from fritillary.record.whole import put
from fritillary.testing.checks import (
    NotApplicableError,
    Plan,
    Subject,
    position,
    walk,
    whole,
)
from fritillary.testing.counting import branches, counts, perft_slowly
from fritillary.testing.golden import playthrough
from fritillary.testing.scene import (
    AnyGame,
    Scene,
    first_difference,
    law_error,
    setups,
)

#: A match is measured at so many positions.
_MEASURED: Final = 40

#: Shorter matches say nothing about growth.
_SHORTEST: Final = 16

#: Bytes by which an observation may grow in the second half of a match.
_NOTHING: Final = 64

#: Bytes by which it may have grown by ``GameInfo.max_plies``, at that rate.
_MOST: Final = 2_048

#: So many actions are tried at positions that look alike.
_FOLLOWED: Final = 20

#: Perft goes on as long as there are no more sequences than these.
_SEQUENCES: Final = 300


@position("observation.size", at="end")
def observations_stay_small(scene: Scene, plan: Plan) -> int:
    """Measure observations along a match, and think its second half prolonged."""
    game, length = scene.game, scene.ply
    if length < _SHORTEST:
        return 1
    step = max(1, length // _MEASURED)
    points: list[tuple[int, int]] = []
    for earlier in scene.retrace():
        if earlier.ply % step == 0 and 2 * earlier.ply >= length:
            sizes = [
                len(game.codec.encode_observation(game.observe(earlier.state, viewer)))
                for viewer in earlier.viewers
            ]
            points.append((earlier.ply, max(sizes)))
    rate = _slope(points)
    grown, extrapolated = rate * length / 2, rate * game.info.max_plies
    if grown >= _NOTHING and extrapolated > _MOST:
        what = (
            f"in a match of {length} plies it grows by {rate:.1f} bytes a ply, from "
            f"{points[0][1]} to {points[-1][1]} bytes in the second half; by "
            f"max_plies {game.info.max_plies} that makes {extrapolated:.0f}"
        )
        raise scene.broken("observation.size", what)
    return len(points)


def _slope(points: list[tuple[int, int]]) -> float:
    """Return the slope of the line through points, by least squares."""
    n = len(points)
    mean_x = sum(x for x, _ in points) / n
    mean_y = sum(y for _, y in points) / n
    spread = sum((x - mean_x) ** 2 for x, _ in points)
    return sum((x - mean_x) * (y - mean_y) for x, y in points) / spread if spread else 0


def _hides(game: AnyGame) -> str:
    return "" if game.info.information is Information.PERFECT else "something is hidden"


@whole("observation.complete", needs=_hides)
def what_looks_alike_goes_on_alike(subject: Subject) -> int:
    """Compare each decision with one before that looks the same to the same seat."""
    game, plan = subject.game, subject.plan
    stop = time.monotonic() + plan.seconds
    known: dict[tuple[Any, ...], tuple[bytes, tuple[str, ...]]] = {}
    looked = 0
    for scene in walk(game, plan):
        if time.monotonic() > stop:
            break
        if not isinstance(scene.point, Act):
            continue
        seat = scene.point.seat
        seen = game.codec.encode_observation(game.observe(scene.state, seat))
        raw = game.codec.encode_state(scene.state)
        setup = game.codec.encode_options(scene.options), scene.seats
        other, actions = known.setdefault(
            (setup, seat, seen),
            (raw, tuple(map(game.format_action, scene.actions))),
        )
        looked += 1
        if other != raw:
            state = game.codec.decode_state(other, scene.options)
            one, two = (_going_on(game, each, seat) for each in (scene.state, state))
            difference = first_difference(one, two)
            if difference:
                before = " ".join(actions) or "the deal"
                what = f"it looks as it did after {before}, but {difference}"
                raise scene.broken("observation.complete", what, seat)
    return looked


def _going_on(game: AnyGame, state: Any, seat: int) -> dict[str, Any]:  # noqa: ANN401 - a state
    """Return what can follow, and how that looks to a seat, as plain data."""
    legal = {game.format_action(action): action for action in branches(game, state)}
    # Where there is no table, rules may list them in any order.
    texts = sorted(legal)
    after = {}
    for text in texts[:_FOLLOWED]:
        child = game.copy(state)
        game.apply(child, legal[text])
        shown = game.codec.encode_observation(game.observe(child, seat))
        after[text] = [repr(game.decision_point(child)), shown.hex()]
    return {"legal actions": texts, "after": after}


@whole("perft.counts")
def counts_agree(subject: Subject) -> int:
    """Count by copies, on restored states, and by playing from the deal."""
    game, plan = subject.game, subject.plan
    stop = time.monotonic() + plan.seconds
    total = 0
    for options, seats in setups(game, plan.options, plan.seats)[:4]:
        deal = FastDealer(f"{plan.seed}/perft")
        state = game.new(deal.stream("deal"), options, seats)
        numbers = counts(game, state, most=_SEQUENCES)
        restored = game.codec.decode_state(game.codec.encode_state(state), options)
        for depth, number in enumerate(numbers):
            others = {
                "played from the deal": perft_slowly(
                    game, deal, (options, seats), depth
                ),
                "on restored states": _restoring(game, restored, depth),
            }
            for how, other in others.items():
                if other != number:
                    what = (
                        f"{depth} plies: {number} sequences on copies, {other} {how}; "
                        f"{seats} seats, {options}"
                    )
                    raise law_error("perft.counts", [what], game.id)
            total += number
        if time.monotonic() > stop:
            break
    return total


def _restoring(game: AnyGame, state: Any, depth: int) -> int:  # noqa: ANN401 - a state
    if depth == 0:
        return 1
    count = 0
    raw = game.codec.encode_state(state)
    for action in branches(game, state):
        after = game.codec.decode_state(raw, state.options)
        game.apply(after, action)
        count += _restoring(game, after, depth - 1)
    return count


# --------------------------------------------------------------------- other processes


@whole("seed.other-process")
def other_processes_play_alike(subject: Subject) -> int:
    """Play the same matches in processes with hash seeds 0, 1 and a random one.

    One of them looks at the positions in the reverse order, which shows what is kept
    from one to the next.
    """
    if not subject.source:
        msg = "nobody said how another process finds the game"
        raise NotApplicableError(msg)
    plan = subject.plan
    options = plan.options
    request = {
        "game": subject.source,
        "path": sys.path,
        "options": None
        if options is None
        else subject.game.codec.options_to_data(options),
        "seats": plan.seats,
        "matches": plan.processes,
        "seed": plan.seed,
        "positions": max(4, plan.positions // 3),
    }
    seeds = ("0", "1", "random")
    answers = _ask(seeds, {**request, "detail": None})
    reference = answers[0]
    for hash_seed, answer in zip(seeds[1:], answers[1:], strict=True):
        found = _first_other(reference, answer)
        if found is None:
            continue
        match, ply, part = found
        detail = {**request, "detail": [match, ply, part]}
        one, other = _ask(("0", hash_seed), detail)
        where = first_difference(one["value"], other["value"])
        what = (
            f"{part} at ply {ply} of match {match}, in processes with hash seeds 0 "
            f"and {hash_seed}: {where or 'it depends on what was asked before'}"
        )
        played = ", ".join(one["actions"]) or "none"
        lines = [what, f"options: {one['options']}, {one['seats']} seats"]
        lines += [f"deal: {one['deal']}", f"actions so far: {played}"]
        raise law_error("seed.other-process", lines, subject.game.id)
    return len(reference["positions"])


def _ask(hash_seeds: tuple[str, ...], request: dict[str, Any]) -> list[Any]:
    """Ask a fresh process for each hash seed."""
    running = []
    texts = []
    for hash_seed in hash_seeds:
        text = json.dumps({**request, "reverse": hash_seed == "1"})
        texts.append(text)
        running.append(
            subprocess.Popen(
                [sys.executable, "-m", "fritillary.testing.fresh"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                encoding="utf-8",
                env={
                    **os.environ,
                    "PYTHONHASHSEED": hash_seed,
                    "PYTHONIOENCODING": "utf-8",
                    "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
                },
            )
        )
    # All of them to the end, before one of them is complained about.
    said = [p.communicate(text) for p, text in zip(running, texts, strict=True)]
    answers = []
    for process, (out, err) in zip(running, said, strict=True):
        if process.returncode:
            lines = err.strip().splitlines() or ["no message"]
            msg = f"another process cannot play {request['game']}: {lines[-1]}"
            raise RuntimeError(msg)
        answers.append(json.loads(out))
    return answers


def _first_other(one: Any, other: Any) -> tuple[int, int, str] | None:  # noqa: ANN401
    for mine, its in zip(one["positions"], other["positions"], strict=False):
        for part, digest in mine["parts"].items():
            if its["parts"].get(part) != digest:
                return mine["match"], mine["ply"], part
    return None


# ------------------------------------------------------------------------------ golden


@whole("playthrough.current")
def the_playthrough_is_current(subject: Subject) -> int:
    """Compare the golden playthrough with what the game does, or write it."""
    if subject.golden is None:
        msg = "no golden playthrough was named"
        raise NotApplicableError(msg)
    path = Path(subject.golden)
    _, seats = setups(subject.game, subject.plan.options, None)[0]
    now = playthrough(subject.game, options=subject.plan.options, seats=seats)
    if subject.update_golden:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            put(path, now.encode())
        except OSError as error:
            what = f"{path} cannot be written: {error.strerror}"
            raise law_error("playthrough.current", [what], subject.game.id) from None
        return now.count("\n")
    if not path.is_file():
        what = f"there is no file {path.name}; write it with --update-golden"
        raise law_error("playthrough.current", [what], subject.game.id)
    try:
        then = path.read_text("utf-8")
    except UnicodeDecodeError:
        what = f"{path.name} is no text in UTF-8; write it with --update-golden"
        raise law_error("playthrough.current", [what], subject.game.id) from None
    if then != now:
        found = first_difference(then, now) or "the end of the file"
        what = f"the file and the game: {found.removeprefix('$, ')}"
        raise law_error("playthrough.current", [what], subject.game.id)
    return now.count("\n")
