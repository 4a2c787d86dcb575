"""The terms under which a match is played; they stand in its record."""
# ruff: noqa: ANN401 - converters take anything

from __future__ import annotations

import enum
from typing import Any, Final

from attrs import Factory, field, frozen, validators

from fritillary.core.errors import UsageError
from fritillary.core.text import clip as clip  # noqa: PLC0414 - handed on

#: Longest duration, so that it fits into 31 bits of milliseconds everywhere.
MAX_MS: Final = 2**31 - 1

_MS: Final = validators.optional([validators.ge(0), validators.le(MAX_MS)])
_SOME_MS: Final = [validators.ge(0), validators.le(MAX_MS)]


class Fault(enum.Enum):
    """What a player did wrong, or what went wrong with a match."""

    ILLEGAL = "illegal"
    MALFORMED = "malformed"
    LATE = "late"
    STALLED = "stalled"
    DISCONNECTED = "disconnected"
    CRASHED = "crashed"
    FLOODING = "flooding"
    REFUSED_TO_START = "refused-to-start"
    REFEREE_ERROR = "referee-error"


class Consequence(enum.Enum):
    """What follows a fault."""

    FORFEIT = "forfeit"
    RETRY = "retry"
    SUBSTITUTE = "substitute"
    VOID = "void"


class EndKind(enum.Enum):
    """How a match ended."""

    PLAYED = "played"
    FORFEITED = "forfeited"
    ADJUDICATED = "adjudicated"
    VOID = "void"
    WITHDRAWN = "withdrawn"


class Source(enum.Enum):
    """Whose choice an action was."""

    PLAYER = "player"
    SUBSTITUTE = "substitute"
    STAND_IN = "stand-in"


#: Faults after which the same decision can be asked again.
RETRYABLE: Final = (Fault.ILLEGAL, Fault.MALFORMED)


@frozen(kw_only=True)
class ClockSettings:
    """The time a seat is given, in milliseconds; every part may be absent.

    Measured from asking to answering. A decision is late as soon as one part is
    spent. With no part the seat is untimed and only the match's ceiling holds.

    Args:
        base_ms: for the whole match, preparation not counted.
        increment_ms: added to the base after each decision.
        move_ms: for one decision.
        bank_ms: for the whole match, taken when ``move_ms`` or ``turn_ms`` is spent.
        turn_ms: for all decisions of the seat in a row.
        preparation_ms: for getting ready; absent: ``Terms.ready_ms``.
    """

    base_ms: int | None = field(default=None, validator=_MS)
    increment_ms: int | None = field(default=None, validator=_MS)
    move_ms: int | None = field(default=None, validator=_MS)
    bank_ms: int | None = field(default=None, validator=_MS)
    turn_ms: int | None = field(default=None, validator=_MS)
    preparation_ms: int | None = field(default=None, validator=_MS)

    def __attrs_post_init__(self) -> None:
        if self.increment_ms is not None and self.base_ms is None:
            msg = "an increment needs a base"
            raise ValueError(msg)
        if self.bank_ms is not None and self.move_ms is None and self.turn_ms is None:
            msg = "a bank needs a limit per move or per turn"
            raise ValueError(msg)

    @property
    def timed(self) -> bool:
        """Whether any part limits a decision."""
        parts = (self.base_ms, self.move_ms, self.turn_ms)
        return any(part is not None for part in parts)

    def longest_ms(self, decisions: int) -> int | None:
        """Return the most that so many decisions can take; ``None`` if untimed."""
        limits = []
        if self.base_ms is not None:
            limits.append(self.base_ms + (self.increment_ms or 0) * decisions)
        each = [limit for limit in (self.move_ms, self.turn_ms) if limit is not None]
        if each:
            limits.append(min(each) * decisions + (self.bank_ms or 0))
        return min(limits, default=None)


@frozen(kw_only=True)
class LinkBank:
    """How long a lost link or process is waited for before it is a fault.

    Args:
        loss_ms: at most for one loss.
        total_ms: at most for all losses of a seat in one match.
        restarts: how often a process started by the server is started again.
    """

    loss_ms: int = field(default=30_000, validator=_SOME_MS)
    total_ms: int = field(default=120_000, validator=_SOME_MS)
    restarts: int = field(default=1, validator=[validators.ge(0), validators.le(100)])


@frozen
class FaultRule:
    """What follows one kind of fault.

    Args:
        fault: the fault.
        consequence: what follows, once the retries are used up.
        retries: how often the same decision is asked again while the clock runs
            on; only for faults in `RETRYABLE`.
    """

    fault: Fault
    consequence: Consequence
    retries: int = field(default=0, validator=[validators.ge(0), validators.le(100)])

    def __attrs_post_init__(self) -> None:
        if self.retries and self.fault not in RETRYABLE:
            msg = f"a decision cannot be asked again after {self.fault.value!r}"
            raise ValueError(msg)
        if self.consequence is Consequence.RETRY:
            msg = "name what follows the retries: forfeit, substitute or void"
            raise ValueError(msg)
        if self.consequence is Consequence.SUBSTITUTE and self.fault in (
            Fault.REFUSED_TO_START,
            Fault.REFEREE_ERROR,
        ):
            msg = f"nothing can be substituted after {self.fault.value!r}"
            raise ValueError(msg)
        if self.fault is Fault.REFEREE_ERROR and (
            self.consequence is not Consequence.VOID
        ):
            msg = "a match in which the referee failed is void"
            raise ValueError(msg)


def _default_rules() -> tuple[FaultRule, ...]:
    return tuple(
        FaultRule(
            fault,
            Consequence.VOID if fault is Fault.REFEREE_ERROR else Consequence.FORFEIT,
        )
        for fault in Fault
    )


@frozen
class Policy:
    """What follows each fault, fixed before the match.

    Args:
        rules: one for each fault, in the order of `Fault`.
        stand_in: the bot that plays on for a forfeited seat where there are more
            than two.
        link: how long lost links are waited for.
    """

    rules: tuple[FaultRule, ...] = Factory(_default_rules)
    stand_in: str = "uniform"
    link: LinkBank = LinkBank()

    def __attrs_post_init__(self) -> None:
        if [rule.fault for rule in self.rules] != list(Fault):
            msg = "a policy needs one rule for each fault, in their order"
            raise ValueError(msg)

    @classmethod
    def of(
        cls,
        *rules: FaultRule,
        stand_in: str = "uniform",
        link: LinkBank | None = None,
    ) -> Policy:
        """Return the default policy with some rules replaced.

        Raises:
            ValueError: if two of them are for the same fault.
        """
        special = {rule.fault: rule for rule in rules}
        if len(special) < len(rules):
            msg = "a policy needs one rule for each fault, not two"
            raise ValueError(msg)
        merged = tuple(special.get(r.fault, r) for r in _default_rules())
        return cls(merged, stand_in, link or LinkBank())

    def rule(self, fault: Fault) -> FaultRule:
        """Return the rule for a fault."""
        return next(rule for rule in self.rules if rule.fault is fault)


@frozen(kw_only=True)
class Terms:
    """The terms that are the same for all seats, in milliseconds.

    Args:
        policy: what follows each fault.
        margin_ms: added to every deadline to absorb the link; never charged.
        ceiling_ms: for the whole match, pauses not counted.
        offer_ms: to answer an offer.
        ready_ms: to get ready, where the seat's clock does not say.
    """

    policy: Policy = Policy()
    margin_ms: int = field(default=50, validator=_SOME_MS)
    ceiling_ms: int = field(default=3_600_000, validator=_SOME_MS)
    offer_ms: int = field(default=10_000, validator=_SOME_MS)
    ready_ms: int = field(default=60_000, validator=_SOME_MS)

    def ready_within_ms(self, clock: ClockSettings) -> int:
        """Return how long a seat with some clock may take to get ready."""
        own = clock.preparation_ms
        return self.ready_ms if own is None else own


#: Added to a computed ceiling for all that is not thinking.
_SLACK_MS: Final = 60_000

UNTIMED_CEILING_MS: Final = 3_600_000


def ceiling_ms(clocks: list[ClockSettings], max_plies: int, margin_ms: int) -> int:
    """Return a ceiling that no match within its clocks can reach.

    One hour when a seat is untimed.
    """
    total = _SLACK_MS + margin_ms * max_plies
    for clock in clocks:
        longest = clock.longest_ms(max_plies)
        if longest is None:
            return UNTIMED_CEILING_MS
        total += longest
    return min(total, MAX_MS)


def _text(limit: int) -> Any:
    return field(default="", converter=lambda text: clip(text, limit))


@frozen
class PlayerInfo:
    """Who occupies a seat, as it describes itself.

    Args:
        name: to show, at most 64 characters.
        version: as its author counts, at most 64 characters.
        build: what tells two builds apart, at most 128 characters.
        author: person or team, at most 128 characters.
        player: the string that named the player, such as ``uniform``.
    """

    name: str = _text(64)
    version: str = _text(64)
    build: str = _text(128)
    author: str = _text(128)
    player: str = _text(500)


_CLOCK_WORDS: Final = {
    "base": "base_ms",
    "increment": "increment_ms",
    "move": "move_ms",
    "bank": "bank_ms",
    "turn": "turn_ms",
    "preparation": "preparation_ms",
}

_UNITS: Final = {"ms": 1, "s": 1_000, "m": 60_000, "min": 60_000, "h": 3_600_000}


def parse_duration(text: str) -> int:
    """Return milliseconds of a text such as ``250ms``, ``1.5s``, ``2min``.

    Raises:
        UsageError: if it is not a duration up to 24 days.
    """
    stripped = text.strip().lower()
    number = stripped.rstrip("abcdefghijklmnopqrstuvwxyz")
    unit = stripped[len(number) :] or "s"
    try:
        value = float(number) * _UNITS[unit]
    except (ValueError, KeyError):
        value = -1
    if not 0 <= value <= MAX_MS:
        msg = f"{text[:40]!r} is no duration; write 250ms, 1.5s, 2min or 1h"
        raise UsageError(msg, code="usage.duration")
    return round(value)


def parse_clock(text: str) -> ClockSettings:
    """Return the clock of a text: ``5min+2s``, or ``base=60s,move=5s,bank=10s``.

    ``none`` is untimed.

    Raises:
        UsageError: if it is no clock.
    """
    stripped = text.strip()
    if stripped in {"", "none"}:
        return ClockSettings()
    if "=" not in stripped:
        base, plus, increment = stripped.partition("+")
        parts = {"base_ms": parse_duration(base)}
        if plus:
            parts["increment_ms"] = parse_duration(increment)
        return ClockSettings(**parts)
    settings: dict[str, int] = {}
    for part in stripped.split(","):
        word, _, value = part.partition("=")
        name = _CLOCK_WORDS.get(word.strip())
        if name is None or name in settings:
            what = "repeats" if name else "does not know"
            known = ", ".join(_CLOCK_WORDS)
            msg = f"clock {text[:60]!r} {what} {word.strip()!r}; its parts are {known}"
            raise UsageError(msg, code="usage.clock")
        settings[name] = parse_duration(value)
    try:
        return ClockSettings(**settings)
    except ValueError as error:
        msg = f"clock {text[:60]!r}: {error}"
        raise UsageError(msg, code="usage.clock") from error


def parse_policy(texts: list[str]) -> Policy:
    """Return the policy of texts such as ``illegal=retry:2,substitute``.

    Each text names a fault and what follows it: ``forfeit``, ``substitute`` or
    ``void``, after ``retry:K`` where K retries are given first. Two more words set
    ``stand-in=BOT`` and ``restarts=N``.

    Raises:
        UsageError: if one cannot be read, or says what another one has said.
    """
    rules = []
    named = set()
    stand_in = "uniform"
    link = LinkBank()
    for text in texts:
        name, equals, value = text.partition("=")
        try:
            if not equals:
                msg = "write FAULT=CONSEQUENCE"
                raise ValueError(msg)
            if name in named:
                msg = f"{name} is given twice"
                raise ValueError(msg)
            named.add(name)
            if name == "stand-in":
                if not value:
                    msg = "name a bot"
                    raise ValueError(msg)
                stand_in = value
            elif name == "restarts":
                link = LinkBank(restarts=int(value))
            else:
                rules.append(FaultRule(Fault(name), *_consequence(value)))
        except ValueError as error:
            msg = (
                f"policy {text[:60]!r}: {error}; an example is "
                "illegal=retry:2,substitute"
            )
            raise UsageError(msg, code="usage.policy") from error
    return Policy.of(*rules, stand_in=stand_in, link=link)


def _consequence(text: str) -> tuple[Consequence, int]:
    """Return what follows a fault, and after how many retries.

    Raises:
        ValueError: if it cannot be read.
    """
    first, *more = text.split(",")
    if not first.startswith("retry:"):
        if more:
            msg = f"{first!r} is not of the form retry:K"
            raise ValueError(msg)
        return Consequence(first), 0
    if len(more) > 1 or (more and more[0].startswith("retry:")):
        msg = f"behind {first} stands one of forfeit, substitute and void"
        raise ValueError(msg)
    consequence = more[0] if more else Consequence.FORFEIT.value
    return Consequence(consequence), int(first.removeprefix("retry:"))
