"""One match against the bot, as its link tells of it."""

from __future__ import annotations

from typing import Any, Final

from attrs import define

from fritillary.api.v1 import bot_pb2 as pb
from fritillary.api.v1 import common_pb2
from fritillary.service.hosted import HostedMatch
from fritillary.sparring.tape import DOWN, UP, Entry, Tape

_ANSWERS: Final = frozenset({"decision", "resign"})

#: Why a request is closed of which the time is over.
_LATE: Final = "fault.late"


@define(eq=False)
class Bout:
    """One match.

    Args:
        hosted: by the arena.
        seat: of the bot.
        since: position of the tape at which it began.
    """

    hosted: HostedMatch
    seat: int
    since: int

    @property
    def id(self) -> str:
        """Of the match."""
        return self.hosted.id

    def about(self, entry: Entry) -> bool:
        """Say whether an entry is about the match."""
        return getattr(entry.body, "match_id", "") == self.id

    def answers(self, entry: Entry, after: int = 0) -> bool:
        """Say whether an entry is a decision of the bot, or its resignation.

        Args:
            entry: of the tape.
            after: only greater ids count.
        """
        return (
            entry.sender == UP
            and entry.kind in _ANSWERS
            and self.about(entry)
            and entry.body.decision_id > after
        )

    def asks(self, entry: Entry, after: int = 0) -> bool:
        """Say whether an entry asks the bot for a decision."""
        return (
            entry.kind == "decision_request"
            and self.about(entry)
            and entry.body.decision_id > after
        )

    def closes(self, entry: Entry, decision_id: int) -> bool:
        """Say whether an entry closes a request."""
        return (
            entry.kind == "decision_closed"
            and self.about(entry)
            and entry.body.decision_id == decision_id
        )

    def times_out(self, entry: Entry, after: int) -> bool:
        """Say whether an entry closes a request, of a greater id, as late."""
        return (
            entry.kind == "decision_closed"
            and self.about(entry)
            and entry.body.decision_id > after
            and entry.body.error.code == _LATE
        )

    def ended(self, entry: Entry) -> bool:
        """Say whether an entry tells the bot how the match ended."""
        return (
            entry.sender == DOWN and entry.kind == "match_ended" and self.about(entry)
        )

    @staticmethod
    def was_played(entry: Entry) -> bool:
        """Say whether the match that has ended so was played to its end."""
        kind: common_pb2.MatchEndKind.ValueType = entry.body.result.kind
        return kind == common_pb2.MATCH_END_KIND_PLAYED

    @staticmethod
    def how(entry: Entry) -> str:
        """Say how the match ended."""
        result = entry.body.result
        return f"the match ended: {result.message} ({result.code})"

    def acknowledges(self, entry: Entry) -> bool:
        """Say whether the bot has heard of the end."""
        return (
            entry.sender == UP
            and entry.kind == "ack"
            and self.about(entry)
            and entry.body.ended
        )

    def faults(self, tape: Tape) -> list[Entry]:
        """Return the rulings against the bot."""
        return tape.all(
            lambda entry: (
                entry.kind == "event"
                and self.about(entry)
                and entry.body.WhichOneof("body") == "ruling"
                and entry.body.ruling.HasField("seat")
                and entry.body.ruling.seat == self.seat
            ),
            self.since,
        )

    def line(self, tape: Tape) -> list[Any]:
        """Return what the bot has decided, one choice for each of its requests."""
        choices = {}
        for entry in tape.all(self.answers, self.since):
            choices[entry.body.decision_id] = choice(entry)
        return [choices[key] for key in sorted(choices)]


def choice(entry: Entry) -> tuple[str, Any]:
    """Return what a decision chooses: how it is told, and what."""
    if entry.kind == "resign":
        return ("resign", None)
    decision: pb.Decision = entry.body
    how = decision.WhichOneof("choice")
    return ("nothing", None) if how is None else (how, getattr(decision, how))
