"""ErrorNotices: what a bot is told of a message that has changed nothing."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

from fritillary.api.v1 import bot_pb2 as pb
from fritillary.service import framing
from fritillary.service.errors import error_info
from fritillary.service.framing import framed
from fritillary.service.hub import UnusableMessageError

if TYPE_CHECKING:
    from fritillary.service.session import Session

_log = logging.getLogger(__name__)

_OTHER_BUILD = "seat.other-build"


def notice_entry(message: pb.BotMessage, error: UnusableMessageError) -> bytes:
    """Return the entry of a frame that tells what was wrong with a message."""
    notice = pb.ErrorNotice(
        message_id=message.message_id, error=error_info(error.code, error.message)
    )
    kind = message.WhichOneof("message")
    if kind in {"accept", "decline", "ready", "decision", "resign", "ack"}:
        body = getattr(message, kind)
        notice.match_id = body.match_id[:64]
        if body.HasField("seat"):
            notice.seat = body.seat
        if kind in {"decision", "resign"}:
            notice.decision_id = body.decision_id
    return framed(framing.ERROR, notice.SerializeToString())


def over(*, comes: bool) -> UnusableMessageError:
    """Return what is wrong with a decision in a match that is not going on.

    Args:
        comes: it has not ended, and may be taken up after a restart; then what is open
            is asked again.
    """
    why = "is not taken up since the server was restarted" if comes else "has ended"
    msg = f"the match {why}; no decision is open"
    return UnusableMessageError(msg, code="decision.stale")


def not_held() -> UnusableMessageError:
    """Return what is wrong with a message about the seat of another build."""
    msg = "the seat is kept for another build of the bot; nothing has changed"
    return UnusableMessageError(msg, code=_OTHER_BUILD)


class SeatKeeper:
    """Tells why a seat that is kept is not given to who dials in under its name.

    Args:
        bot: its name.
        match_id: of the match.
        seat: which.
        trouble: told in a sentence what the referee should know.
    """

    def __init__(
        self, bot: str, match_id: str, seat: int, trouble: Callable[[str], None]
    ) -> None:
        self._bot = bot
        self._match_id = match_id
        self._seat = seat
        self._trouble = trouble
        #: What was told last; empty: the seat was given.
        self._told = ""

    def given(self) -> None:
        """Note that the seat was given to its bot."""
        self._told = ""

    def refuse(self, session: Session, build: str) -> None:
        """Tell a session of another build, and the referee, that the seat is kept.

        Args:
            session: of the bot.
            build: that the seat is kept for, as in Hello.
        """
        msg = (
            f"the seat is kept for {_build(build)} of the bot, and this is "
            f"{_build(session.info.build)}; start that one again and it plays on"
        )
        # As of a Ready, with which it would take the seat again.
        ready = pb.Ready(match_id=self._match_id, seat=self._seat)
        error = UnusableMessageError(msg, code=_OTHER_BUILD)
        session.send(notice_entry(pb.BotMessage(ready=ready), error))
        what = f"bot {self._bot!r} does not get its seat: {msg}"
        if what != self._told:
            # Not each time that it dials in.
            self._told = what
            self._trouble(what)
            _log.warning(
                "match %s, seat %d: %s",
                self._match_id,
                self._seat,
                what,
                extra={"source": self._bot},
            )


def _build(build: str) -> str:
    return f"build {build[:128]!r}" if build else "a build without a name"
