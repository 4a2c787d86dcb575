"""What is found out about a bot."""

from __future__ import annotations

import enum
from typing import Any

from attrs import Factory, define, frozen


class Verdict(enum.Enum):
    """What was found of one item."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_CHECKED = "not checked"


@frozen
class Shown:
    """One message, or one thing that happened to link or program.

    Args:
        at_ms: since the checker began.
        link: number of the stream, from 1; 0: none.
        sender: ``bot``, ``server`` or ``checker``.
        kind: of the message; empty for what just happened.
        text: in one line.
        data: the message as plain data.
        note: what the checker did with it.
    """

    at_ms: int
    link: int
    sender: str
    kind: str
    text: str
    data: dict[str, Any]
    note: str = ""

    def to_data(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "at_ms": self.at_ms,
            "link": self.link,
            "sender": self.sender,
            "kind": self.kind,
            "message": self.data if self.kind else self.text,
            "note": self.note,
        }

    def line(self) -> str:
        """Return it in one line."""
        arrow = {"bot": "->", "server": "<-"}.get(self.sender, "--")
        link = f" link {self.link}" if self.link else ""
        note = f"  [{self.note}]" if self.note else ""
        return f"{self.at_ms / 1000:8.3f}{link} {arrow} {self.text}{note}"


@frozen(kw_only=True)
class Finding:
    """The verdict on one item.

    Args:
        item: its id.
        verdict: on it.
        expected: of the bot, as a sentence.
        seen: what it did, or why nothing could be checked.
        mend: what to do about a failure; else empty.
        messages: around a failure, as the bot's own link saw them; else empty.
    """

    item: str
    verdict: Verdict
    expected: str
    seen: str
    mend: str = ""
    messages: tuple[Shown, ...] = ()

    def to_data(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "item": self.item,
            "verdict": self.verdict.value,
            "expected": self.expected,
            "seen": self.seen,
            "mend": self.mend,
            "messages": [one.to_data() for one in self.messages],
        }


@define
class Report:
    """All verdicts on one bot.

    Args:
        player: as it was named.
        games: that were played.
        findings: so far, in the order of the items.
        whole: whether all items that were wanted have their verdict.
    """

    player: str
    games: list[str] = Factory(list)
    findings: list[Finding] = Factory(list)
    whole: bool = False

    def of(self, verdict: Verdict) -> list[str]:
        """Return the ids of the items with that verdict."""
        return [one.item for one in self.findings if one.verdict is verdict]

    @property
    def holds(self) -> bool:
        """Whether nothing has failed."""
        return not self.of(Verdict.FAILED)

    def to_data(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "player": self.player,
            "games": list(self.games),
            "holds": self.holds,
            "whole": self.whole,
            "items": [one.to_data() for one in self.findings],
        }


class FailedError(Exception):
    """The bot did not do what was expected of it.

    Args:
        expected: of it, as a sentence.
        seen: what it did instead.
    """

    def __init__(self, expected: str, seen: str) -> None:
        super().__init__(f"expected: {expected}; seen: {seen}")
        self.expected = expected
        self.seen = seen


class NotCheckedError(Exception):
    """An item cannot be checked with this bot.

    Args:
        why: as a sentence.
    """

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why
