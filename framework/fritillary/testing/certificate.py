# ruff: noqa: ANN401 - options of every game pass through
"""Certifying a game: every law by itself, a verdict on each, a certificate."""

from __future__ import annotations

import enum
import platform
import time
from collections.abc import Callable, Iterable
from importlib import metadata
from pathlib import Path
from typing import Any, Final

from attrs import Factory, asdict, define, evolve, frozen

import fritillary
from fritillary.core.errors import UsageError
from fritillary.testing import comparing, exact, general, leaks, sampler
from fritillary.testing.checks import (
    CHECKS,
    PROFILES,
    Check,
    NotApplicableError,
    Plan,
    Subject,
)
from fritillary.testing.laws import LAWS, Failure, LawError
from fritillary.testing.scene import AnyGame

#: Whose checks are registered by their import.
MODULES: Final = (general, leaks, sampler, comparing, exact)

#: A law may take so many times its share of the time, and always so many seconds.
_GENEROUS: Final = 3
_LEAST: Final = 0.1

#: Of the certificate as data.
FORMAT: Final = 1


class Verdict(enum.Enum):
    """What is said of one law."""

    HOLDS = "holds"
    BROKEN = "broken"
    #: Something else went wrong while looking, so that nothing can be said.
    UNCLEAR = "unclear"
    #: The law has nothing to say of this game.
    SKIPPED = "skipped"


@frozen
class Judgement:
    """What became of one law.

    Args:
        law: its id.
        verdict: the verdict.
        looked: at how many things: positions, actions, worlds, as the law counts.
        seconds: how long it took.
        reason: why it is unclear or skipped, or empty.
        failure: where it is broken, or nothing.
    """

    law: str
    verdict: Verdict
    looked: int = 0
    seconds: float = 0.0
    reason: str = ""
    failure: Failure | None = None

    @property
    def good(self) -> bool:
        """Whether nothing speaks against the game."""
        return self.verdict in {Verdict.HOLDS, Verdict.SKIPPED}

    def __str__(self) -> str:
        """Say what is wrong, or the verdict."""
        if self.failure is not None:
            return f"{self.failure}\n  mend: {LAWS[self.law].mend}"
        reason = f": {self.reason}" if self.reason else ""
        return f"law {self.law} {self.verdict.value}{reason}"


@define
class Certificate:
    """What was found out about a game.

    Args:
        game: its id, with variants.
        rules_version: of the game.
        variants: id and version of each.
        distribution: which the game belongs to, or empty.
        distribution_version: of that, or empty.
        options: as data; ``None`` for the defaults and every preset.
        seats: how many; ``None`` for several numbers.
        profile: how thoroughly it was looked.
        seed: of everything that was drawn.
        date: when, as the caller says, or empty.
        framework_version: of this framework.
        python: which Python it was.
        judgements: one for each law.
    """

    game: str
    rules_version: int
    variants: dict[str, int]
    distribution: str
    distribution_version: str
    options: Any
    seats: int | None
    profile: str
    seed: int
    date: str = ""
    framework_version: str = fritillary.__version__
    python: str = f"{platform.python_implementation()} {platform.python_version()}"
    judgements: list[Judgement] = Factory(list)

    @property
    def holds(self) -> bool:
        """Whether no law is broken or unclear."""
        return all(judgement.good for judgement in self.judgements)

    def laws(self, verdict: Verdict) -> list[str]:
        """Return the laws of a verdict."""
        return [each.law for each in self.judgements if each.verdict is verdict]

    def to_data(self) -> dict[str, Any]:
        """Return the certificate as plain data, for JSON."""
        laws = []
        for each in self.judgements:
            law: dict[str, Any] = {
                "law": each.law,
                "sentence": LAWS[each.law].sentence,
                "verdict": each.verdict.value,
                "looked": each.looked,
                "milliseconds": round(each.seconds * 1000),
            }
            if each.reason:
                law["reason"] = each.reason
            if each.failure is not None:
                law["failure"] = asdict(each.failure)
            laws.append(law)
        data = asdict(self, filter=lambda field, _: field.name != "judgements")
        return {
            "format": FORMAT,
            "holds": self.holds,
            **data,
            "passed": self.laws(Verdict.HOLDS),
            "laws": laws,
        }


def plan_for(
    profile: str = "quick",
    *,
    options: Any = None,
    seats: int | None = None,
    seed: int = 0,
) -> Plan:
    """Return the plan of a profile.

    Args:
        profile: ``quick`` (seconds) or ``thorough`` (minutes).
        options: of the matches; ``None`` for the defaults and every preset.
        seats: how many; ``None`` for several numbers.
        seed: of everything that is drawn.

    Raises:
        UsageError: if there is no such profile.
    """
    if profile not in PROFILES:
        msg = f"no profile {profile!r}; known: {', '.join(PROFILES)}"
        raise UsageError(msg)
    return evolve(PROFILES[profile], options=options, seats=seats, seed=seed)


def check_of(law: str) -> Check:
    """Return the check of a law.

    Raises:
        UsageError: if there is no such law.
    """
    if law not in CHECKS:
        msg = f"there is no law {law!r}; docs/certify.md lists them"
        raise UsageError(msg)
    return CHECKS[law]


def judge(subject: Subject, law: str) -> Judgement:
    """Check one law of a game.

    Raises:
        UsageError: if there is no such law.
    """
    check = check_of(law)
    begin = time.monotonic()

    def judged(verdict: Verdict, **more: Any) -> Judgement:
        return Judgement(law, verdict, seconds=time.monotonic() - begin, **more)

    try:
        reason = check.needs(subject.game)
        if reason:
            return judged(Verdict.SKIPPED, reason=reason)
        looked = check.run(subject)
    except NotApplicableError as error:
        return judged(Verdict.SKIPPED, reason=error.message)
    except LawError as error:
        if error.law.id == law:
            return judged(Verdict.BROKEN, failure=error.failure)
        return judged(Verdict.UNCLEAR, reason=f"the law {error.law.id} is broken")
    except Exception as error:  # noqa: BLE001 - a stranger's game
        return judged(Verdict.UNCLEAR, reason=f"{type(error).__name__}: {error}")
    if not looked:
        return judged(Verdict.SKIPPED, reason="it did not come up")
    return judged(Verdict.HOLDS, looked=looked)


def certify(
    game: AnyGame,
    *,
    profile: str = "quick",
    plan: Plan | None = None,
    laws: Iterable[str] | None = None,
    source: str = "",
    golden: Path | str | None = None,
    update_golden: bool = False,
    date: str = "",
    progress: Callable[[str], object] | None = None,
    judged: Callable[[Judgement], object] | None = None,
) -> Certificate:
    """Check every law of a game.

    Args:
        game: the rules.
        profile: ``quick`` or ``thorough``.
        plan: how thoroughly to look, instead of what the profile says.
        laws: which; ``None`` for all.
        source: how another process finds the game: an id, or
            ``python:module:attribute``; empty to leave that law out.
        golden: the file of the golden playthrough; ``None`` if there is none.
        update_golden: write that file instead of comparing.
        date: when this is, for the certificate.
        progress: called with each law before it is checked.
        judged: called with each judgement.

    Raises:
        UsageError: if there is no such law or profile.
    """
    plan = plan or plan_for(profile)
    chosen = list(LAWS) if laws is None else list(laws)
    for law in chosen:
        check_of(law)
    subject = Subject(game, plan, source, golden, update_golden)
    certificate = new_certificate(subject, profile, date)
    stop = time.monotonic() + plan.total
    for number, law in enumerate(chosen):
        if progress is not None:
            progress(law)
        # Most laws need less than their share, so that the slow ones may have more.
        share = _GENEROUS * (stop - time.monotonic()) / (len(chosen) - number)
        seconds = min(plan.seconds, max(share, _LEAST))
        subject.plan = evolve(plan, seconds=seconds)
        judgement = judge(subject, law)
        certificate.judgements.append(judgement)
        if judged is not None:
            judged(judgement)
    return certificate


def new_certificate(subject: Subject, profile: str, date: str = "") -> Certificate:
    """Return a certificate without judgements."""
    game, plan = subject.game, subject.plan
    version = ""
    if game.distribution:
        try:
            version = metadata.version(game.distribution)
        except metadata.PackageNotFoundError:
            version = ""
    codec = game.codec
    return Certificate(
        game=game.id,
        rules_version=game.info.rules_version,
        variants={variant.id: variant.version for variant in game.variants},
        distribution=game.distribution,
        distribution_version=version,
        options=None if plan.options is None else codec.options_to_data(plan.options),
        seats=plan.seats,
        profile=profile,
        seed=plan.seed,
        date=date,
    )
